//! Tokens of service accounts: the right audience, the right time, and everything that the token names still there
//! (kubernetes, pkg/serviceaccount/claims.go). Signatures are checked by [`crate::tokens`].

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::Authenticated;
use crate::{
    Objects, User, names,
    object::{self, at},
    text::{quote, quote_list},
    tokens::{Claims, Issuer, Reference, TokenError},
};

/// How far clocks may differ, and how long what is being deleted still counts.
const LEEWAY: SignedDuration = SignedDuration::from_secs(60);

/// The user behind a token of this issuer, and for which of the wanted audiences it is; nothing if it is no such token.
pub fn service_account(
    token: &str,
    issuer: &Issuer,
    wanted: &[String],
    objects: &dyn Objects,
    now: Timestamp,
) -> Result<Option<Authenticated>, TokenError> {
    let Some(claims) = issuer.verify(token)? else {
        return Ok(None);
    };
    let own = if claims.audiences.is_empty() {
        &issuer.audiences
    } else {
        &claims.audiences
    };
    let audiences: Vec<String> = own
        .iter()
        .filter(|audience| wanted.contains(audience))
        .cloned()
        .collect();
    if audiences.is_empty() && !issuer.audiences.is_empty() {
        return Err(TokenError::Audience {
            token: quote_list(own),
            wanted: quote_list(wanted),
        });
    }
    check_time(&claims, now)?;
    check_objects(&claims, objects, now)?;
    Ok(Some(Authenticated {
        user: user(&claims),
        audiences,
    }))
}

fn check_time(claims: &Claims, now: Timestamp) -> Result<(), TokenError> {
    let is_later = |time: Option<Timestamp>| time.is_some_and(|time| now.duration_until(time) > LEEWAY);
    let complaint = if is_later(claims.begins) {
        "service account token is not valid yet"
    } else if claims.expires.is_some_and(|end| end.duration_until(now) > LEEWAY) {
        "service account token has expired"
    } else if is_later(claims.issued) {
        "service account token is issued in the future"
    } else {
        return Ok(());
    };
    Err(void(complaint))
}

fn check_objects(claims: &Claims, objects: &dyn Objects, now: Timestamp) -> Result<(), TokenError> {
    let namespace = claims.namespace.as_str();
    let account = objects.get("", "serviceaccounts", namespace, &claims.account.name);
    let account = account.ok_or_else(|| void(&format!("serviceaccounts {} not found", quote(&claims.account.name))))?;
    if object::uid(&account) != claims.account.uid {
        let (found, claimed) = (object::uid(&account), &claims.account.uid);
        return Err(void(&format!(
            "service account UID ({found}) does not match claim ({claimed})"
        )));
    }
    if is_deleted(&account, now) {
        return Err(void(&format!(
            "service account {namespace}/{} has been deleted",
            claims.account.name
        )));
    }
    // The node of a bound pod is only remembered; a token that is bound to a node alone depends on it.
    let node = claims.node.as_ref().filter(|_| claims.pod.is_none());
    let bound = [
        ("secret", "secrets", namespace, claims.secret.as_ref()),
        ("pod", "pods", namespace, claims.pod.as_ref()),
        ("node", "nodes", "", node),
    ];
    for (kind, resource, namespace, reference) in bound {
        if let Some(reference) = reference {
            check_bound(
                kind,
                reference,
                objects.get("", resource, namespace, &reference.name).as_deref(),
                now,
            )?;
        }
    }
    Ok(())
}

fn check_bound(kind: &str, reference: &Reference, object: Option<&Value>, now: Timestamp) -> Result<(), TokenError> {
    const INVALIDATED: &str = "service account token has been invalidated";
    let object = object.ok_or_else(|| void(INVALIDATED))?;
    if object::uid(object) != reference.uid {
        let (found, claimed) = (object::uid(object), &reference.uid);
        return Err(void(&format!(
            "{kind} UID ({found}) does not match service account {kind} ref claim ({claimed})"
        )));
    }
    if is_deleted(object, now) {
        Err(void(INVALIDATED))
    } else {
        Ok(())
    }
}

fn is_deleted(object: &Value, now: Timestamp) -> bool {
    let deletion = at(object, &["metadata", "deletionTimestamp"]).as_str();
    let deletion = deletion.and_then(|time| time.parse::<Timestamp>().ok());
    deletion.is_some_and(|time| time.duration_until(now) > LEEWAY)
}

fn user(claims: &Claims) -> User {
    let mut user = User::service_account(&claims.namespace, &claims.account.name, &claims.account.uid);
    let mut set = |key: &str, value: String| user.extra.insert(key.to_owned(), vec![value]);
    if !claims.id.is_empty() {
        set(names::CREDENTIAL_ID, format!("JTI={}", claims.id));
    }
    if let Some(pod) = &claims.pod {
        set(names::POD_NAME, pod.name.clone());
        set(names::POD_UID, pod.uid.clone());
    }
    if let Some(node) = &claims.node {
        set(names::NODE_NAME, node.name.clone());
        if !node.uid.is_empty() {
            set(names::NODE_UID, node.uid.clone());
        }
    }
    user
}

fn void(complaint: &str) -> TokenError {
    TokenError::Void(complaint.to_owned())
}
