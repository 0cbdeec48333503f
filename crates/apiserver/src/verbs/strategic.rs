//! Strategic merge patches: the seam between bodies and the merge, which knows no requests.

use http::StatusCode;
use hyperplane_merge::{StrategicError, Types, printed_patch, strategic_merge};
use hyperplane_wire::{Failure, options::FieldValidation, patch::strategic_patch};
use serde_json::Value;

/// What a patch made of an object.
pub(crate) struct Outcome {
    /// The object.
    pub value: Value,
    /// Complaints about the patch itself, for field validation.
    pub complaints: Vec<String>,
    /// The patch, as messages show it.
    pub printed: String,
}

/// Applies a strategic merge patch.
pub(crate) fn patch(
    document: &Value,
    body: &[u8],
    validation: FieldValidation,
    types: &Types,
) -> Result<Outcome, Failure> {
    let (patch, complaints) = strategic_patch(body, validation)?;
    let printed = printed_patch(&patch);
    let merged = strategic_merge(document, patch, types).map_err(|error| refused(&error))?;
    Ok(Outcome {
        value: Value::Object(merged),
        complaints,
        printed,
    })
}

fn refused(error: &StrategicError) -> Failure {
    let message = error.to_string();
    match error {
        StrategicError::Format(_) => Failure::bad_request(message),
        StrategicError::ListOfLists => Failure {
            code: StatusCode::UNPROCESSABLE_ENTITY,
            ..Failure::unclassified(message)
        },
        StrategicError::Mismatch(_) => Failure::unclassified(message),
    }
}
