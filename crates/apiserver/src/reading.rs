//! From the bytes of a body to an object of a kind: decoded, freed of what the kind does not know, with its defaults.

use hyperplane_wire::{
    Failure, Reason,
    decode::{self, DecodeError, Decoded, Expected},
    negotiate::BodyFormat,
    options::FieldValidation,
};
use serde_json::Value;

use crate::{call::Call, metadata};

/// The object in a body.
pub(crate) fn object(call: &Call, body: &[u8], format: BodyFormat) -> Result<Value, Failure> {
    let Decoded { mut value, duplicates } = decode::decode_object(body, format, &expected(call), call.served.origin())?;
    let mut complaints = unknown(call, &mut value, duplicates)?;
    if !call.served.is_custom {
        decode::sort_complaints(body, format, &mut complaints);
    }
    tell(call, &complaints)?;
    call.served.resource.behaviour.default(&mut value);
    Ok(value)
}

/// Makes a value an object of the kind: what the kind does not know is removed, refused or warned of, as the client
/// wishes; what the client left open is filled in. `complaints` are those about the text from which it came.
pub(crate) fn settle(call: &Call, value: &mut Value, complaints: Vec<String>) -> Result<(), Failure> {
    let complaints = unknown(call, value, complaints)?;
    tell(call, &complaints)?;
    call.served.resource.behaviour.default(value);
    Ok(())
}

/// Removes what the kind does not know, and complains about it too.
fn unknown(call: &Call, value: &mut Value, mut complaints: Vec<String>) -> Result<Vec<String>, Failure> {
    let read = call.served.resource.behaviour.read(value);
    let unknown = read.map_err(|malformed| expected(call).mishandled(&malformed.0))?;
    complaints.extend(unknown.into_iter().map(|path| format!("unknown field {path:?}")));
    Ok(complaints)
}

fn tell(call: &Call, complaints: &[String]) -> Result<(), Failure> {
    match call.field_validation {
        FieldValidation::Strict if !complaints.is_empty() => return Err(expected(call).strict_failure(complaints)),
        FieldValidation::Warn => complaints.iter().for_each(|complaint| call.warnings.add(complaint)),
        FieldValidation::Ignore | FieldValidation::Strict => {}
    }
    Ok(())
}

/// The same for the outcome of a patch, which must still be of the kind.
pub(crate) fn settle_patched(call: &Call, value: &mut Value, complaints: Vec<String>) -> Result<(), Failure> {
    let outcome = value.to_string();
    decode::check_object(value, &expected(call), call.served.origin(), outcome.as_bytes())?;
    let patched = value.clone();
    settle(call, value, complaints).map_err(|failure| match failure.reason {
        Reason::BadRequest if call.field_validation == FieldValidation::Strict => {
            decode::invalid_patch(patched.to_string(), complaint_of(&failure))
        }
        _ => failure,
    })
}

/// The same for the outcome of a strategic merge patch, of which the client is shown the patch. What it says of the kind
/// counts for nothing: upstream reads it into an object of the kind, which forgets it.
pub(crate) fn settle_strategic(
    call: &Call,
    value: &mut Value,
    complaints: Vec<String>,
    patch: &str,
) -> Result<(), Failure> {
    value["apiVersion"] = call.served.api_version.as_str().into();
    value["kind"] = call.served.resource.kind.as_str().into();
    settle(call, value, complaints).map_err(|failure| match failure.reason {
        Reason::BadRequest => decode::invalid_patch(patch.to_owned(), complaint_of(&failure)),
        _ => failure,
    })
}

/// What is wrong, without the words about the kind.
fn complaint_of(failure: &Failure) -> &str {
    let message = failure.message.as_str();
    message.split_once(": ").map_or(message, |(_, complaint)| complaint)
}

fn expected(call: &Call) -> Expected<'_> {
    Expected::of_resource(&call.served.resource)
}

/// The intent in the body of an apply. It names the object that the path names, and says nothing of who owns what.
pub(crate) fn intent(call: &Call, body: &[u8], format: BodyFormat) -> Result<Value, Failure> {
    let Decoded { mut value, duplicates } = decode::decode(body, format).map_err(|error| {
        let conversion = matches!(error, DecodeError::Yaml(_)).then_some("error converting YAML to JSON: ");
        Failure::bad_request(format!(
            "error decoding YAML: {}{error}",
            conversion.unwrap_or_default()
        ))
    })?;
    let of = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (of("apiVersion"), of("kind"));
    if api_version != call.served.api_version || kind != call.served.resource.kind {
        let group_version = if api_version.contains('/') {
            api_version.to_owned()
        } else {
            format!("/{api_version}")
        };
        return Err(Failure::bad_request(format!(
            "invalid object type: {group_version}, Kind={kind}"
        )));
    }
    // What the kind does not know has no owner: the merge refuses it. Only what cannot be decoded is refused here.
    let mut trial = value.clone();
    call.served
        .resource
        .behaviour
        .read(&mut trial)
        .map_err(|malformed| expected(call).mishandled(&malformed.0))?;
    if call.field_validation == FieldValidation::Strict && !duplicates.is_empty() {
        return Err(Failure::bad_request(format!(
            "error strict decoding YAML: {}",
            duplicates.join(", ")
        )));
    }
    if metadata::of(&value).contains_key("managedFields") {
        return Err(Failure::bad_request("metadata.managedFields must be nil"));
    }
    if metadata::text(&value, "name").is_empty() {
        metadata::set(&mut value, "name", call.name.as_str());
    }
    check_name(call, &value)?;
    Ok(value)
}

/// The name in a body is the one in the path.
pub(crate) fn check_name(call: &Call, object: &Value) -> Result<(), Failure> {
    let name = metadata::text(object, "name");
    if name == call.name {
        return Ok(());
    }
    Err(Failure::bad_request(format!(
        "the name of the object ({name}) does not match the name on the URL ({})",
        call.name
    )))
}
