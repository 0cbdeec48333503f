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

/// A line that sets a variable of what a unit runs. The value is one line.
pub(crate) fn environment(name: &str, value: &str) -> String {
    format!("Environment=\"{name}={}\"\n", escaped(value))
}

/// Text between double quotes, as systemd reads it: a percent sign would begin a specifier.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for character in value.chars() {
        match character {
            '\\' | '"' => text.extend(['\\', character]),
            '%' => text.push_str("%%"),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_systemd() {
        assert_eq!(
            environment("HTTP_PROXY", r#"http://a:b%20"\@c"#),
            "Environment=\"HTTP_PROXY=http://a:b%%20\\\"\\\\@c\"\n"
        );
    }
}
