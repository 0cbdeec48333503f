//! Query strings as Go's `net/url` reads them. Knows nothing of what the parameters mean.

use std::borrow::Cow;

/// A query string, decoded. What cannot be decoded is left out, as upstream does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    /// Reads a query string, the question mark not included.
    pub fn parse(query: &str) -> Self {
        let pairs = query
            .split('&')
            .filter(|part| !part.is_empty())
            .filter_map(pair)
            .collect();
        Self { pairs }
    }

    /// The first value of a parameter.
    pub fn first(&self, name: &str) -> Option<&str> {
        let found = self.pairs.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Every value of a parameter.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs
            .iter()
            .filter(move |(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// A flag as upstream's conversion reads it: everything but `false` and `0` is true, the empty value included.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.first(name)
            .map(|value| !(value.eq_ignore_ascii_case("false") || value == "0"))
    }
}

/// A semicolon was a separator once and is refused since.
fn pair(part: &str) -> Option<(String, String)> {
    if part.contains(';') {
        return None;
    }
    let (key, value) = part.split_once('=').unwrap_or((part, ""));
    Some((
        percent_decode(key, Plus::IsSpace)?.into_owned(),
        percent_decode(value, Plus::IsSpace)?.into_owned(),
    ))
}

/// What a plus sign stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plus {
    /// A space, in queries.
    IsSpace,
    /// Itself, in paths.
    IsPlus,
}

/// Decodes percent signs; nothing if one is not followed by two hexadecimal digits. Bytes that are no UTF-8 become
/// replacement characters, which is how they reach clients in upstream's JSON too.
pub(crate) fn percent_decode(text: &str, plus: Plus) -> Option<Cow<'_, str>> {
    let has_plus = plus == Plus::IsSpace && text.contains('+');
    if !has_plus && !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = match byte {
            b'%' => {
                let (high, low) = (hex_digit(*tail.first()?)?, hex_digit(*tail.get(1)?)?);
                bytes.push(high << 4 | low);
                &tail[2..]
            }
            b'+' if has_plus => {
                bytes.push(b' ');
                tail
            }
            other => {
                bytes.push(other);
                tail
            }
        };
    }
    Some(Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()))
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_read_as_go_reads_them() {
        let query = Query::parse("a=1&a=2&b=x+y%2Cz&c&&d=%zz&e=1;f=2&g=%ff");
        assert_eq!(query.all("a").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(query.first("b"), Some("x y,z"));
        assert_eq!(query.first("c"), Some(""));
        assert_eq!(query.first("d"), None, "a broken escape drops the parameter");
        assert_eq!(query.first("e"), None, "a semicolon drops the parameter");
        assert_eq!(query.first("g"), Some("\u{fffd}"));
    }

    #[test]
    fn flags_are_true_unless_they_say_false() {
        let query = Query::parse("a=true&b=0&c=False&d=&e=maybe");
        let flags = ["a", "b", "c", "d", "e", "f"].map(|name| query.flag(name));
        assert_eq!(
            flags,
            [Some(true), Some(false), Some(false), Some(true), Some(true), None]
        );
    }

    #[test]
    fn paths_keep_their_plus_signs() {
        assert_eq!(percent_decode("a+b%2Fc", Plus::IsPlus).as_deref(), Some("a+b/c"));
        assert_eq!(percent_decode("a%2", Plus::IsPlus), None);
    }
}
