//! Fields that an apply would change although others own them, in upstream's words.
//! Must not decide what a conflict is.

use std::{collections::BTreeMap, fmt::Write as _};

use crate::go;

/// How a manager came to own fields.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Operation {
    /// By server-side apply.
    Apply,
    /// By any other write.
    Update,
}

impl Operation {
    /// The operation as managedFields name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

/// A field that an apply would change and another manager owns.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Conflict {
    /// The owner.
    pub manager: String,
    /// How it became the owner.
    pub operation: Operation,
    /// The version in which it did.
    pub api_version: String,
    /// The subresource through which it did; empty for the main resource.
    pub subresource: String,
    /// When it last wrote.
    pub time: Option<String>,
    /// The path of the field.
    pub field: String,
}

impl Conflict {
    /// The message of the conflict's cause, whose type is `FieldManagerConflict`.
    pub fn message(&self) -> String {
        format!("conflict with {}", self.owner())
    }

    fn owner(&self) -> String {
        let mut owner = go::quote(&self.manager);
        if !self.subresource.is_empty() {
            write!(owner, " with subresource {}", go::quote(&self.subresource))
                .expect("writing to a string cannot fail");
        }
        if self.operation == Operation::Update {
            write!(owner, " using {}", self.api_version).expect("writing to a string cannot fail");
        }
        owner
    }

    /// What upstream sorts owners by.
    fn identity(&self) -> String {
        let api_version = if self.operation == Operation::Update {
            self.api_version.as_str()
        } else {
            ""
        };
        identity_text(&self.manager, self.operation, api_version, &self.subresource)
    }
}

/// The message of the error that lists all conflicts.
pub fn describe_conflicts(conflicts: &[Conflict]) -> String {
    if let [only] = conflicts {
        return format!("Apply failed with 1 conflict: {}: {}", only.message(), only.field);
    }
    let mut by_owner: BTreeMap<String, Vec<&Conflict>> = BTreeMap::new();
    for conflict in conflicts {
        by_owner.entry(conflict.identity()).or_default().push(conflict);
    }
    let mut lines = Vec::new();
    for owned in by_owner.values() {
        lines.push(format!("conflicts with {}:", owned[0].owner()));
        lines.extend(owned.iter().map(|conflict| format!("- {}", conflict.field)));
    }
    format!("Apply failed with {} conflicts: {}", conflicts.len(), lines.join("\n"))
}

/// The text by which upstream knows a manager; its order shows in messages and in which managers are forgotten first.
pub(crate) fn identity_text(manager: &str, operation: Operation, api_version: &str, subresource: &str) -> String {
    let mut text = String::from("{");
    let fields = [
        ("manager", manager),
        ("operation", operation.as_str()),
        ("apiVersion", api_version),
        ("subresource", subresource),
    ];
    for (name, content) in fields.iter().filter(|(_, content)| !content.is_empty()) {
        if text.len() > 1 {
            text.push(',');
        }
        write!(text, "\"{name}\":").expect("writing to a string cannot fail");
        go::write_json_string(&mut text, content, true);
    }
    text.push('}');
    text
}
