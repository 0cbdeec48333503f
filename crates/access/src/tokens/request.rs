//! The `token` subresource of service accounts: a TokenRequest in, the same with its token out
//! (kubernetes, pkg/registry/core/serviceaccount/storage/token.go). Knows nothing of who may ask.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{Claims, Issuer, Reference};
use crate::{
    Objects, Refusal,
    names::service_account_user,
    object::{self, at, text, texts},
    refusal::{Cause, Subject},
    text::quote,
};

/// The shortest life of a token.
pub const MIN_SECONDS: i64 = 10 * 60;
/// The longest life of a token.
pub const MAX_SECONDS: i64 = 1 << 32;
/// The life that kubelets ask for in tokens that old clients do not reread; they live longer, and late use is noted.
pub const WARN_ONLY_SECONDS: i64 = 60 * 60 + 7;
/// How long those live.
pub const EXTENDED_SECONDS: i64 = 365 * 24 * 60 * 60;
/// The life of a token for which nobody asked a life.
pub const DEFAULT_SECONDS: i64 = 60 * 60;

const GROUP: &str = "authentication.k8s.io";
const KIND: &str = "TokenRequest";

/// A token that was made.
#[derive(Debug)]
pub struct Issued {
    /// The answer.
    pub object: Value,
    /// What the audit line says of the token: its id, never the token.
    pub credential_id: String,
}

/// Answers a TokenRequest for the service account at this address. `id` becomes the unique id of the token.
pub fn request(
    issuer: &Issuer,
    request: &Value,
    (namespace, name): (&str, &str),
    objects: &dyn Objects,
    now: Timestamp,
    id: &str,
) -> Result<Issued, Refusal> {
    check_address(request, namespace, name)?;
    let account = find(objects, "serviceaccounts", namespace, name)?;
    let wanted = text(request, &["metadata", "uid"]);
    if !wanted.is_empty() && wanted != object::uid(&account) {
        let uid = object::uid(&account);
        let complaint =
            format!("the UID in the token request ({wanted}) does not match the UID of the service account ({uid})");
        return Err(Refusal::Conflict {
            subject: Subject::new(GROUP, KIND, name),
            complaint,
        });
    }
    let seconds = at(request, &["spec", "expirationSeconds"])
        .as_i64()
        .unwrap_or(DEFAULT_SECONDS);
    check_seconds(seconds)?;
    let bound = Bound::find(at(request, &["spec", "boundObjectRef"]), objects, namespace, name)?;
    let audiences = Some(texts(request, &["spec", "audiences"])).filter(|audiences| !audiences.is_empty());
    let audiences = audiences.unwrap_or_else(|| issuer.audiences.clone());
    let is_extended = bound.pod.is_some()
        && seconds == WARN_ONLY_SECONDS
        && audiences.iter().all(|audience| issuer.audiences.contains(audience));
    let later = |seconds: i64| now.checked_add(SignedDuration::from_secs(seconds)).ok();
    let claims = Claims {
        issuer: issuer.url.clone(),
        audiences: audiences.clone(),
        subject: service_account_user(namespace, name),
        id: id.to_owned(),
        issued: Some(now),
        begins: Some(now),
        expires: later(if is_extended { EXTENDED_SECONDS } else { seconds }),
        warn_after: later(seconds).filter(|_| is_extended),
        namespace: namespace.to_owned(),
        account: Reference::to(&account),
        pod: bound.pod,
        secret: bound.secret,
        node: bound.node,
    };
    let token = issuer
        .sign(&claims)
        .map_err(|error| Refusal::Internal(format!("failed to generate token: {error}")))?;
    let mut answer = answer(request, &account, seconds, &audiences, now);
    answer["status"] = json!({"token": token, "expirationTimestamp": later(seconds).map(whole_seconds)});
    Ok(Issued {
        object: answer,
        credential_id: format!("JTI={id}"),
    })
}

fn answer(request: &Value, account: &Value, seconds: i64, audiences: &[String], now: Timestamp) -> Value {
    let mut answer = request.clone();
    answer["apiVersion"] = json!("authentication.k8s.io/v1");
    answer["kind"] = json!(KIND);
    for field in ["name", "namespace", "uid"] {
        answer["metadata"][field] = account["metadata"][field].clone();
    }
    answer["metadata"]["creationTimestamp"] = json!(whole_seconds(now));
    answer["spec"]["audiences"] = json!(audiences);
    answer["spec"]["expirationSeconds"] = json!(seconds);
    answer["spec"]["boundObjectRef"] = at(request, &["spec", "boundObjectRef"]).clone();
    answer
}

fn whole_seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn check_address(request: &Value, namespace: &str, name: &str) -> Result<(), Refusal> {
    for (field, expected) in [("name", name), ("namespace", namespace)] {
        let given = text(request, &["metadata", field]);
        if !given.is_empty() && given != expected {
            let complaint = format!("must match the service account {field} if specified");
            let causes = vec![Cause::invalid(&format!("metadata.{field}"), &quote(given), &complaint)];
            return Err(Refusal::Invalid {
                subject: Subject::new(GROUP, KIND, name),
                causes,
            });
        }
    }
    Ok(())
}

fn check_seconds(seconds: i64) -> Result<(), Refusal> {
    let complaint = match seconds {
        ..MIN_SECONDS => "may not specify a duration less than 10 minutes",
        MIN_SECONDS..=MAX_SECONDS => return Ok(()),
        _ => "may not specify a duration larger than 2^32 seconds",
    };
    let causes = vec![Cause::invalid(
        "spec.expirationSeconds",
        &seconds.to_string(),
        complaint,
    )];
    Err(Refusal::Invalid {
        subject: Subject::new(GROUP, KIND, ""),
        causes,
    })
}

/// What the token is bound to.
#[derive(Default)]
struct Bound {
    pod: Option<Reference>,
    secret: Option<Reference>,
    node: Option<Reference>,
}

impl Bound {
    fn find(reference: &Value, objects: &dyn Objects, namespace: &str, account: &str) -> Result<Self, Refusal> {
        if reference.is_null() {
            return Ok(Self::default());
        }
        let (version, kind) = (text(reference, &["apiVersion"]), text(reference, &["kind"]));
        let name = text(reference, &["name"]);
        if version.contains('/') {
            return Err(Refusal::BadRequest(format!(
                "cannot bind token to object of type {version}, Kind={kind}"
            )));
        }
        let object = match kind {
            "Pod" => find(objects, "pods", namespace, name)?,
            "Node" => find(objects, "nodes", "", name)?,
            "Secret" => find(objects, "secrets", namespace, name)?,
            _ => {
                return Err(Refusal::BadRequest(format!(
                    "cannot bind token to object of type /{version}, Kind={kind}"
                )));
            }
        };
        if kind == "Pod" && text(&object, &["spec", "serviceAccountName"]) != account {
            return Err(Refusal::BadRequest(format!(
                "cannot bind token for serviceaccount {} to pod running with different serviceaccount name.",
                quote(account)
            )));
        }
        check_uid(reference, kind, &object)?;
        Ok(Self::of(kind, &object, objects))
    }

    fn of(kind: &str, object: &Value, objects: &dyn Objects) -> Self {
        let own = Some(Reference::to(object));
        match kind {
            "Pod" => Self {
                pod: own,
                node: node_of_pod(object, objects),
                secret: None,
            },
            "Node" => Self {
                node: own,
                ..Self::default()
            },
            _ => Self {
                secret: own,
                ..Self::default()
            },
        }
    }
}

/// A node that is not registered yet is still named.
fn node_of_pod(pod: &Value, objects: &dyn Objects) -> Option<Reference> {
    let name = Some(text(pod, &["spec", "nodeName"])).filter(|name| !name.is_empty())?;
    let node = objects.get("", "nodes", "", name);
    Some(node.map_or_else(
        || Reference {
            name: name.to_owned(),
            uid: String::new(),
        },
        |node| Reference::to(&node),
    ))
}

fn check_uid(reference: &Value, kind: &str, object: &Value) -> Result<(), Refusal> {
    let wanted = text(reference, &["uid"]);
    if wanted.is_empty() || wanted == object::uid(object) {
        return Ok(());
    }
    let complaint = format!(
        "the UID in the bound object reference ({wanted}) does not match the UID in record. The object might have been deleted and then recreated"
    );
    Err(Refusal::Conflict {
        subject: Subject::new("", kind, object::name(object)),
        complaint,
    })
}

fn find(objects: &dyn Objects, resource: &str, namespace: &str, name: &str) -> Result<Arc<Value>, Refusal> {
    objects
        .get("", resource, namespace, name)
        .ok_or_else(|| Refusal::not_found("", resource, name))
}
