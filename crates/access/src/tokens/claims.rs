//! What a service-account token says, written and read. Knows nothing of keys or of what exists.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::object::{at, text};

/// An object that a token names: by name, and by uid so that a namesake does not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reference {
    /// The name.
    pub name: String,
    /// The identity over time.
    pub uid: String,
}

/// The claims of a service-account token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claims {
    /// Who made it.
    pub issuer: String,
    /// For whom it is; the API server when empty, which only old tokens are.
    pub audiences: Vec<String>,
    /// The user name of the service account.
    pub subject: String,
    /// Unique among tokens.
    pub id: String,
    /// When it was made.
    pub issued: Option<Timestamp>,
    /// When it begins to be valid.
    pub begins: Option<Timestamp>,
    /// When it ends to be valid.
    pub expires: Option<Timestamp>,
    /// From when on its use is noted, although it is still valid.
    pub warn_after: Option<Timestamp>,
    /// The namespace of the service account.
    pub namespace: String,
    /// The service account.
    pub account: Reference,
    /// The pod without which it is void.
    pub pod: Option<Reference>,
    /// The Secret without which it is void.
    pub secret: Option<Reference>,
    /// The node without which it is void; where the pod runs, if there is a pod.
    pub node: Option<Reference>,
}

impl Claims {
    pub(super) fn to_value(&self) -> Value {
        let mut private = Map::new();
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                private.insert(key.to_owned(), value);
            }
        };
        set("namespace", Some(json!(self.namespace)));
        set("serviceaccount", Some(self.account.to_value()));
        set("pod", self.pod.as_ref().map(Reference::to_value));
        set("secret", self.secret.as_ref().map(Reference::to_value));
        set("node", self.node.as_ref().map(Reference::to_value));
        set("warnafter", self.warn_after.map(|time| json!(time.as_second())));
        let second = |time: Option<Timestamp>| time.map(Timestamp::as_second);
        json!({
            "iss": self.issuer,
            "aud": self.audiences,
            "sub": self.subject,
            "jti": self.id,
            "iat": second(self.issued),
            "nbf": second(self.begins),
            "exp": second(self.expires),
            "kubernetes.io": private,
        })
    }

    pub(super) fn from_value(claims: &Value) -> Self {
        let private = at(claims, &["kubernetes.io"]);
        let time = |claim: &Value| {
            let seconds = claim.as_f64().filter(|seconds| *seconds != 0.0)?;
            Timestamp::UNIX_EPOCH
                .checked_add(jiff::SignedDuration::try_from_secs_f64(seconds).ok()?)
                .ok()
        };
        let reference = |key: &str| {
            private
                .get(key)
                .filter(|value| value.is_object())
                .map(Reference::from_value)
        };
        let audience = at(claims, &["aud"]);
        Self {
            issuer: text(claims, &["iss"]).to_owned(),
            audiences: audience
                .as_str()
                .map_or_else(|| crate::object::texts(audience, &[]), |one| vec![one.to_owned()]),
            subject: text(claims, &["sub"]).to_owned(),
            id: text(claims, &["jti"]).to_owned(),
            issued: time(at(claims, &["iat"])),
            begins: time(at(claims, &["nbf"])),
            expires: time(at(claims, &["exp"])),
            warn_after: time(at(private, &["warnafter"])),
            namespace: text(private, &["namespace"]).to_owned(),
            account: reference("serviceaccount").unwrap_or_default(),
            pod: reference("pod"),
            secret: reference("secret"),
            node: reference("node"),
        }
    }
}

impl Reference {
    /// The reference to an object.
    pub fn to(object: &Value) -> Self {
        Self {
            name: crate::object::name(object).to_owned(),
            uid: crate::object::uid(object).to_owned(),
        }
    }

    fn from_value(value: &Value) -> Self {
        Self {
            name: text(value, &["name"]).to_owned(),
            uid: text(value, &["uid"]).to_owned(),
        }
    }

    fn to_value(&self) -> Value {
        let mut value = json!({"name": self.name});
        if !self.uid.is_empty() {
            value["uid"] = json!(self.uid);
        }
        value
    }
}
