//! Users and groups.

use super::{
    TWICE, keyed, lines,
    walk::{Fields, Walk},
};

/// The longest name of a user, as Linux has it.
const LONGEST: usize = 32;

pub(super) fn check(walk: &mut Walk, config: &Fields<'_>) {
    let Some(passwd) = config.object("passwd") else {
        return;
    };
    let mut names = Vec::new();
    for user in passwd.objects("users") {
        match user.text("name").filter(|name| is_user(name)) {
            Some(name) => names.push((name.to_owned(), user.path("name"))),
            None => walk.wrong(&user.path("name"), "must be the name of a user, such as core"),
        }
        lines(walk, &user, "sshAuthorizedKeys");
        walk.unique(user.texts("groups"), TWICE);
    }
    walk.unique(names, "is the name of another user: put both into one");
    keyed(walk, &passwd.objects("groups"), "name");
}

fn is_user(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let starts = name
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    starts && name.len() <= LONGEST && name.bytes().all(is_inner)
}
