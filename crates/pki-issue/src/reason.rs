//! Why something is issued or written. The order is that in which things are looked at: the first reason counts.

use std::fmt;

/// Why something is issued or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// There is none.
    Missing,
    /// It cannot be read.
    Unreadable,
    /// Key and certificate do not belong together.
    Mismatch,
    /// It was signed by another key than the signer has now.
    Signer,
    /// It is for somebody else.
    Subject,
    /// It is for other names.
    Names,
    /// It is for other purposes.
    Usages,
    /// It lasts longer or shorter than it should.
    Validity,
    /// Its time has not come: clocks were set back.
    NotBegun,
    /// Its time is nearly over.
    Renewal,
    /// What it is made of has changed.
    Content,
    /// Its labels, annotations or owners were changed; its content stays.
    Metadata,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Missing => "there is none",
            Self::Unreadable => "it cannot be read",
            Self::Mismatch => "key and certificate do not belong together",
            Self::Signer => "the signer has another key now",
            Self::Subject => "it is for somebody else",
            Self::Names => "it is for other names",
            Self::Usages => "it is for other purposes",
            Self::Validity => "it lasts longer or shorter than asked for",
            Self::NotBegun => "its time has not come",
            Self::Renewal => "its time is nearly over",
            Self::Content => "what it is made of has changed",
            Self::Metadata => "its labels, annotations or owners were changed",
        })
    }
}
