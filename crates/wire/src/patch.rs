//! JSON patch and merge patch as upstream applies them, oddities included: negative indices count from the end,
//! `replace` of an absent field adds it, and why an operation failed is never told. Strategic merge patches are only read
//! here; what they do, and apply, is elsewhere.

use serde_json::{Map, Value};

use crate::{
    Failure,
    decode::{self, DecodeError, type_word},
    json_patch::{self, Budget, Malformed, Operation},
    options::FieldValidation,
};

/// How many operations a JSON patch may have; upstream has the same limit.
pub const MAXIMUM_OPERATIONS: usize = 10_000;
/// How much the `copy` operations of a JSON patch may add; upstream limits it to the size of a request.
pub const MAXIMUM_COPIED_BYTES: usize = 3 * 1024 * 1024;
/// How many items of lists a JSON patch may shift by one place. Without a limit 10,000 operations at the head of a long
/// list keep a core busy for many seconds; this many take a fraction of one.
pub const MAXIMUM_MOVED_ITEMS: usize = 20_000_000;

/// What a patch made of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Patched {
    /// The object.
    pub value: Value,
    /// Complaints about the patch itself, for field validation.
    pub complaints: Vec<String>,
}

/// Applies an RFC 6902 patch.
pub fn json_patch(document: &Value, body: &[u8], validation: FieldValidation) -> Result<Patched, Failure> {
    let is_checked = validation != FieldValidation::Ignore;
    let decoded = decode::decode_json(body).map_err(|error| undecodable(&error, is_checked))?;
    let operations = match decoded.value {
        Value::Null => Vec::new(),
        Value::Array(operations) => operations,
        other => {
            return Err(mistyped(
                &other,
                ["[]handlers.jsonPatchOp", "jsonpatch.Patch"],
                is_checked,
            ));
        }
    };
    let mut complaints = Vec::new();
    if is_checked {
        complaints.extend(decoded.duplicates.iter().map(|text| format!("json patch {text}")));
        complaints.extend(unknown_fields(&operations));
    }
    let operations = operations
        .into_iter()
        .map(|operation| Operation::read(operation, is_checked).map_err(|cause| malformed(&cause, is_checked)))
        .collect::<Result<Vec<_>, _>>()?;
    if operations.len() > MAXIMUM_OPERATIONS {
        return Err(Failure::too_large(format_args!(
            "The allowed maximum operations in a JSON patch is {MAXIMUM_OPERATIONS}, got {}",
            operations.len()
        )));
    }
    let budget = Budget {
        copied_bytes: MAXIMUM_COPIED_BYTES,
        moved_items: MAXIMUM_MOVED_ITEMS,
    };
    let value = json_patch::apply(document.clone(), operations, budget).ok_or_else(Failure::unprocessable)?;
    Ok(Patched { value, complaints })
}

/// Applies an RFC 7386 patch.
pub fn merge_patch(document: &Value, body: &[u8], validation: FieldValidation) -> Result<Patched, Failure> {
    let is_checked = validation != FieldValidation::Ignore;
    let bad_patch = || Failure::bad_request("Invalid JSON Patch");
    let decoded = decode::decode_json(body).map_err(|error| {
        if is_checked {
            undecodable(&error, true)
        } else {
            bad_patch()
        }
    })?;
    match &decoded.value {
        Value::Object(_) => {}
        Value::Null => return Err(bad_patch()),
        other if is_checked => return Err(mistyped(other, ["map[string]interface {}"; 2], true)),
        Value::Array(_) => {
            return Err(decode::invalid_patch(
                decoded.value.to_string(),
                &decode::no_object(&decoded.value),
            ));
        }
        _ => return Err(bad_patch()),
    }
    let mut value = document.clone();
    merge(&mut value, decoded.value);
    let complaints = if is_checked { decoded.duplicates } else { Vec::new() };
    Ok(Patched { value, complaints })
}

/// Reads the body of a strategic merge patch, which says nothing where it is `null`, with complaints about it.
pub fn strategic_patch(body: &[u8], validation: FieldValidation) -> Result<(Map<String, Value>, Vec<String>), Failure> {
    let is_checked = validation != FieldValidation::Ignore;
    let decoded = decode::decode_json(body).map_err(|error| Failure::bad_request(error.message()))?;
    let patch = match decoded.value {
        Value::Object(patch) => patch,
        Value::Null => Map::new(),
        other => {
            let found = type_word(&other);
            let message = format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}");
            return Err(Failure::bad_request(message));
        }
    };
    let complaints = if is_checked { decoded.duplicates } else { Vec::new() };
    Ok((patch, complaints))
}

/// Merges a patch into a target. Nulls remove; in what is new they vanish, inside of lists too, where upstream prunes
/// objects but keeps a null that is an item itself.
pub fn merge(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = pruned(patch);
        return;
    };
    if !target.is_object() {
        *target = pruned(Value::Object(patch));
        return;
    }
    let Value::Object(fields) = target else { return };
    for (name, value) in patch {
        if value.is_null() {
            fields.remove(&name);
        } else if let Some(old) = fields.get_mut(&name) {
            merge(old, value);
        } else {
            fields.insert(name, pruned(value));
        }
    }
}

fn pruned(value: Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| (name, pruned(value)))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.into_iter().map(pruned).collect()),
        other => other,
    }
}

fn unknown_fields(operations: &[Value]) -> Vec<String> {
    let mut complaints = Vec::new();
    for (index, operation) in operations.iter().enumerate() {
        let fields = operation.as_object().into_iter().flatten();
        for (name, _) in fields.filter(|(name, _)| !json_patch::FIELDS.contains(&name.as_str())) {
            complaints.push(format!("json patch unknown field \"[{index}].{name}\""));
        }
    }
    complaints.truncate(decode::MAXIMUM_DUPLICATES);
    complaints
}

fn undecodable(error: &DecodeError, is_checked: bool) -> Failure {
    prefixed(&error.message(), is_checked)
}

fn malformed(cause: &Malformed, is_checked: bool) -> Failure {
    match cause {
        Malformed::Operation(value) => mistyped(value, ["handlers.jsonPatchOp", "jsonpatch.Operation"], is_checked),
        Malformed::Field(name, value) => {
            let found = type_word(value);
            let message =
                format!("json: cannot unmarshal {found} into Go struct field jsonPatchOp.{name} of type string");
            prefixed(&message, is_checked)
        }
    }
}

/// A body of the wrong type. Upstream decodes it once more to check its fields, into a type of another name.
fn mistyped(value: &Value, [checked, unchecked]: [&str; 2], is_checked: bool) -> Failure {
    let wanted = if is_checked { checked } else { unchecked };
    let message = format!(
        "json: cannot unmarshal {} into Go value of type {wanted}",
        type_word(value)
    );
    prefixed(&message, is_checked)
}

fn prefixed(message: &str, is_checked: bool) -> Failure {
    if is_checked {
        Failure::bad_request(format!("error decoding patch: {message}"))
    } else {
        Failure::bad_request(message)
    }
}

#[cfg(test)]
mod tests;
