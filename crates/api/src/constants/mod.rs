//! The words that controllers and users exchange through statuses and metadata: condition types, reasons,
//! annotations, labels and finalizers; and the names and groups of objects. Each kind of word has one file, and each
//! word one line of meaning.
//!
//! The words are those of the wire, odd spellings included; nothing here says when a controller writes them.

pub mod annotations;
pub mod conditions;
pub mod finalizers;
pub mod groups;
pub mod labels;
pub mod objects;
pub mod operator_capabilities;
pub mod ours;
pub mod reasons;

#[cfg(test)]
mod tests;

use std::fmt;

macro_rules! words {
    ($($(#[doc = $doc:literal])+ $name:ident;)+) => {
        $(
            $(#[doc = $doc])+
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct $name(&'static str);

            impl $name {
                /// The word on the wire.
                pub const fn as_str(self) -> &'static str {
                    self.0
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                    formatter.pad(self.0)
                }
            }
        )+
    };
}

words! {
    /// The type of a condition: which aspect of an object it speaks of.
    ConditionType;
    /// The reason of a condition: why it has its status, in one word for programs.
    Reason;
    /// The key of an annotation.
    Annotation;
    /// The key of a label; where it says so, also of a taint.
    Label;
    /// A finalizer: who has to clean up before an object may go.
    Finalizer;
    /// What keys of a family start with; the rest of each key carries information.
    KeyPrefix;
}

impl Annotation {
    /// Its value on an object; an empty one counts as absent.
    pub fn of<K: kube::Resource>(self, object: &K) -> Option<&str> {
        let annotations = object.meta().annotations.as_ref()?;
        let value = annotations.get(self.0).map(String::as_str);
        value.filter(|value| !value.is_empty())
    }

    /// Whether it says yes on an object.
    pub fn is_true<K: kube::Resource>(self, object: &K) -> bool {
        self.of(object) == Some("true")
    }
}

impl KeyPrefix {
    /// The key of the family that carries `rest`.
    pub fn key(self, rest: &str) -> String {
        format!("{}{rest}", self.0)
    }

    /// What a key of the family carries, or nothing when it belongs to another.
    pub fn rest_of(self, key: &str) -> Option<&str> {
        key.strip_prefix(self.0)
    }
}

/// Declares constants of one type, and the table of all of them.
macro_rules! constants {
    ($type:ident in $table:ident: $($(#[doc = $doc:literal])+ $name:ident = $text:literal;)+) => {
        $(
            $(#[doc = $doc])+
            pub const $name: $crate::constants::$type = $crate::constants::$type($text);
        )+

        /// Every constant of the table, in its order.
        pub const $table: &[$crate::constants::$type] = &[$($name),+];
    };
}

use constants;
