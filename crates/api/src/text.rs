//! Strings with rules: [`string_enum!`] for closed sets of words, [`string_type!`] for patterns.
//!
//! Reading is lenient and building is strict. What an API server has stored was judged by the schema
//! of its day, and a controller must be able to read it back even when a newer release wrote a word that
//! this one does not know. A value that *we* make goes through `parse`, which applies the rules.

/// Why a text is not a value of its type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not a valid {type_name}: {rule}")]
pub struct InvalidText {
    /// The type that refused the text.
    pub type_name: &'static str,
    /// The text, shortened when it is long.
    pub text: String,
    /// The rule that the text breaks.
    pub rule: String,
}

/// The longest text that an error repeats; a longer one is cut, because errors end up in statuses.
const MAX_TEXT_IN_ERROR: usize = 80;

impl InvalidText {
    /// An error that names the type, the text and the rule.
    pub fn new(type_name: &'static str, text: &str, rule: impl Into<String>) -> Self {
        Self {
            type_name,
            text: text.chars().take(MAX_TEXT_IN_ERROR).collect(),
            rule: rule.into(),
        }
    }
}

/// A closed set of words on the wire. An unknown word is kept as it is, so that nothing is lost when
/// an older release reads what a newer one wrote; `parse` refuses it.
macro_rules! string_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident $(= $wire:literal)? ),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $( $(#[$variant_meta])* $variant, )+
            /// A word that this release does not know.
            Unrecognised(String),
        }

        impl $name {
            /// The words of the schema, in its order.
            pub const WORDS: &[&str] = &[$( $crate::text::string_enum!(@wire $variant $($wire)?) ),+];

            /// The word on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $crate::text::string_enum!(@wire $variant $($wire)?), )+
                    Self::Unrecognised(word) => word,
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                $( if word == $crate::text::string_enum!(@wire $variant $($wire)?) {
                    return Self::$variant;
                } )+
                Self::Unrecognised(word.to_owned())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::text::InvalidText;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match Self::from(word) {
                    Self::Unrecognised(_) => Err($crate::text::InvalidText::new(
                        stringify!($name),
                        word,
                        format!("must be one of {}", Self::WORDS.join(", ")),
                    )),
                    known => Ok(known),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(|word| Self::from(word.as_str()))
            }
        }

        #[cfg(test)]
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string", "enum": Self::WORDS})
            }
        }
    };
    (@wire $variant:ident $wire:literal) => { $wire };
    (@wire $variant:ident) => { stringify!($variant) };
}

/// A string with a length and rules. `pattern` takes one regular expression that goes, as it is, both into the
/// schema (as its plain keyword) and into `parse`; `matches` takes any number that become CEL there, and so have a
/// message of their own. `rule` takes CEL together with the same check in Rust.
macro_rules! string_type {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            length: $minimum:literal ..= $maximum:literal
            $(, pattern: $keyword:literal => $keyword_message:literal )?
            $(, matches: $pattern:literal => $pattern_message:literal )*
            $(, rule: $expression:literal => $rule_message:literal, check: $check:expr )*
            $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(
            Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Takes a text that an API server has already judged.
            pub fn stored(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            fn check(text: &str) -> Result<(), String> {
                let length = text.chars().count();
                if !($minimum..=$maximum).contains(&length) {
                    return Err(format!("must have {} to {} characters", $minimum, $maximum));
                }
                $({
                    static KEYWORD: std::sync::LazyLock<regex::Regex> = std::sync::LazyLock::new(|| {
                        regex::Regex::new($keyword).expect("patterns are literals that a test compiles")
                    });
                    if !KEYWORD.is_match(text) {
                        return Err($keyword_message.to_owned());
                    }
                })?
                $({
                    static PATTERN: std::sync::LazyLock<regex::Regex> = std::sync::LazyLock::new(|| {
                        regex::Regex::new($pattern).expect("patterns are literals that a test compiles")
                    });
                    if !PATTERN.is_match(text) {
                        return Err($pattern_message.to_owned());
                    }
                })*
                $({
                    let check: fn(&str) -> bool = $check;
                    if !check(text) {
                        return Err($rule_message.to_owned());
                    }
                })*
                Ok(())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::text::InvalidText;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::check(text)
                    .map(|()| Self(text.to_owned()))
                    .map_err(|rule| $crate::text::InvalidText::new(stringify!($name), text, rule))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(&self.0)
            }
        }

        #[cfg(test)]
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                #[allow(unused_mut, reason = "a type may have no rules beside its length")]
                let mut schema = $crate::text::bounded_string($minimum, $maximum);
                $( schema.insert("pattern".to_owned(), $keyword.into()); )?
                $( schemars::transform::Transform::transform(
                    &mut $crate::schema::rule($crate::schema::matches_expression($pattern), $pattern_message),
                    &mut schema,
                ); )*
                $( schemars::transform::Transform::transform(
                    &mut $crate::schema::rule($expression, $rule_message),
                    &mut schema,
                ); )*
                schema
            }
        }
    };
}

pub(crate) use {string_enum, string_type};

/// The schema of a string with a length; a minimum of zero is not written.
pub(crate) fn bounded_string(minimum: u32, maximum: u32) -> schemars::Schema {
    let mut schema = schemars::json_schema!({"type": "string", "maxLength": maximum});
    if minimum > 0 {
        schema.insert("minLength".to_owned(), minimum.into());
    }
    schema
}
