//! Where a value stands in its object, as a chain on the stack that becomes text only when something is wrong.

use std::fmt::{self, Write as _};

use crate::field_error::ROOT_PATH;

/// One step down from the root, or the root.
#[derive(Clone, Copy)]
pub(crate) enum Path<'a> {
    /// The object itself; what stands before it when the object is a part of something else.
    Root(&'a str),
    /// A field of an object: `.name`.
    Field(&'a Path<'a>, &'a str),
    /// An entry of a map: `[key]`.
    Key(&'a Path<'a>, &'a str),
    /// An entry of a list: `[3]`.
    Index(&'a Path<'a>, usize),
}

impl Path<'_> {
    /// The path as upstream writes it in a cause.
    pub(crate) fn text(&self) -> String {
        let text = self.name();
        if text.is_empty() { ROOT_PATH.to_owned() } else { text }
    }

    /// The path as it stands inside of a message, where the root is nothing.
    pub(crate) fn name(&self) -> String {
        let mut text = String::new();
        write!(text, "{self}").expect("writing to a string cannot fail");
        text
    }

    /// The path of a field below this one.
    pub(crate) fn child(&self, name: &str) -> String {
        Path::Field(self, name).text()
    }

    fn is_nothing(&self) -> bool {
        matches!(self, Path::Root(""))
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(text) => formatter.write_str(text),
            Self::Field(parent, name) if parent.is_nothing() => formatter.write_str(name),
            Self::Field(parent, name) => write!(formatter, "{parent}.{name}"),
            Self::Key(parent, key) => write!(formatter, "{parent}[{key}]"),
            Self::Index(parent, index) => write!(formatter, "{parent}[{index}]"),
        }
    }
}
