//! The words for rules that could not be evaluated.

use crate::field_error::FieldError;
use crate::path::Path;

/// Where a rule stands.
pub(super) struct Complaint<'a> {
    /// The type of the value, which upstream shows in place of the value.
    pub(super) kind: &'static str,
    pub(super) path: &'a Path<'a>,
}

impl Complaint<'_> {
    fn complain(&self, detail: String) -> FieldError {
        FieldError::invalid(self.path.text(), self.kind, detail)
    }

    /// All rules together cost too much.
    pub(super) fn out_of_budget(&self) -> FieldError {
        self.complain(
            "validation failed due to running out of cost budget, no further validation rules will be run".to_owned(),
        )
    }

    /// One rule costs too much.
    pub(super) fn too_costly(&self, words: &str) -> FieldError {
        self.complain(format!(
            "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: {words}"
        ))
    }

    /// A rule has no value.
    pub(super) fn failed(&self, error: &str, words: &str) -> FieldError {
        if error.starts_with("no such overload") {
            return self.complain(format!(
                "'{error}': call arguments did not match a supported operator, function or macro signature for rule: {words}"
            ));
        }
        self.complain(format!("{error} evaluating rule: {words}"))
    }
}
