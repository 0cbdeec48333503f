//! Pieces of a config: files and units, and text that systemd reads back as it was meant.

use crate::{
    ignition::{File, Resource, Unit},
    source::data_url,
};

/// Everybody may read it.
pub(crate) const PUBLIC: u32 = 0o644;
/// Only root may read it: it holds credentials.
pub(crate) const PRIVATE: u32 = 0o600;

/// A file that takes the place of what is there.
pub(crate) fn file(path: impl Into<String>, mode: u32, content: impl AsRef<[u8]>) -> File {
    File {
        path: path.into(),
        mode: Some(mode),
        overwrite: Some(true),
        contents: Some(Resource {
            source: Some(data_url(content.as_ref())),
            ..Resource::default()
        }),
        ..File::default()
    }
}

/// A unit that starts with the machine.
pub(crate) fn unit(name: &str, contents: String) -> Unit {
    Unit {
        name: name.to_owned(),
        enabled: Some(true),
        contents: Some(contents),
        ..Unit::default()
    }
}

/// A line of a file of variables, as systemd reads one. The value is one line.
pub(crate) fn variable(name: &str, value: &str) -> String {
    format!("{name}=\"{}\"\n", escaped(value))
}

/// Text between double quotes in a file of variables. A percent sign is only one, other than in a unit.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for character in value.chars() {
        if matches!(character, '\\' | '"' | '`' | '$') {
            text.push('\\');
        }
        text.push(character);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_systemd() {
        assert_eq!(
            variable("HTTP_PROXY", r#"http://a:$b%20"\@c`"#),
            "HTTP_PROXY=\"http://a:\\$b%20\\\"\\\\@c\\`\"\n"
        );
    }
}
