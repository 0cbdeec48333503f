//! Who writes, and in which scope: what a request tells about ownership.
//! Plain data; the rules are elsewhere.

use jiff::Timestamp;

use crate::{reset::ResetFields, types::Types};

/// The writer of one request.
#[derive(Clone, Copy, Debug)]
pub struct Author<'a> {
    /// The field manager; empty becomes `unknown`, as upstream has it.
    pub manager: &'a str,
    /// The version in which the request was made, and in which its objects are given.
    pub api_version: &'a str,
    /// The subresource that was written to; empty for the main resource.
    pub subresource: &'a str,
    /// When the request was made.
    pub time: Timestamp,
}

/// What is known of the resource that is written to.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The types of each version that is still served. Entries of other versions are dropped.
    pub types: &'a dyn Fn(&str) -> Option<&'a Types>,
    /// Which fields a write through this resource or subresource cannot own.
    pub reset: &'a ResetFields,
}

impl<'a> Author<'a> {
    pub(crate) fn name(&self) -> &'a str {
        if self.manager.is_empty() {
            "unknown"
        } else {
            self.manager
        }
    }

    /// The time as managedFields hold it: UTC, whole seconds.
    pub(crate) fn stamp(&self) -> String {
        format_time(self.time)
    }
}

pub(crate) fn format_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
