//! Units and additions to them.

use super::{
    unit,
    walk::{Fields, Walk},
};

/// What the names of units end with.
const SUFFIXES: &[&str] = &[
    "automount",
    "device",
    "mount",
    "path",
    "scope",
    "service",
    "slice",
    "socket",
    "swap",
    "target",
    "timer",
];

/// The longest name of a unit, as systemd has it.
const LONGEST: usize = 255;

pub(super) fn check(walk: &mut Walk, config: &Fields<'_>) {
    let Some(systemd) = config.object("systemd") else {
        return;
    };
    let mut names = Vec::new();
    for unit in systemd.objects("units") {
        match unit.text("name").filter(|name| is_unit(name)) {
            Some(name) => names.push((name.to_owned(), unit.path("name"))),
            None => walk.wrong(
                &unit.path("name"),
                "must be the name of a unit, such as kubelet.service",
            ),
        }
        unit::check(walk, &unit);
        let mut additions = Vec::new();
        for addition in unit.objects("dropins") {
            unit::check(walk, &addition);
            match addition.text("name").filter(|name| is_addition(name)) {
                Some(name) => additions.push((name.to_owned(), addition.path("name"))),
                None => walk.wrong(&addition.path("name"), "must be a file name that ends with .conf"),
            }
        }
        walk.unique(additions, "is the name of another addition to this unit");
    }
    walk.unique(names, "is the name of another unit: put both into one");
}

fn is_unit(name: &str) -> bool {
    let Some((stem, suffix)) = name.rsplit_once('.') else {
        return false;
    };
    let is_allowed =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'-' | b'_' | b'.' | b'\\' | b'@');
    let is_short = !stem.is_empty() && name.len() <= LONGEST;
    is_short && SUFFIXES.contains(&suffix) && stem.bytes().all(is_allowed)
}

fn is_addition(name: &str) -> bool {
    let stem = name.strip_suffix(".conf").unwrap_or_default();
    !stem.is_empty() && name.len() <= LONGEST && !name.contains(['/', '\0', '\n'])
}
