//! A kubelet and service-account tokens: only for pods that run on it, and for audiences that those pods ask for.

use serde_json::Value;

use super::{Operation, Restriction};
use crate::{
    Attributes, Refusal,
    object::{self, at, list, text, texts},
    references,
    text::{join_errors, quote},
};

impl Restriction<'_> {
    pub(super) fn service_account(&self) -> Result<(), Refusal> {
        if self.write.operation() != Operation::Create || self.write.attributes.subresource != "token" {
            return Ok(());
        }
        let reference = at(self.write.object(), &["spec", "boundObjectRef"]);
        let field = |name: &str| text(reference, &[name]);
        if field("apiVersion") != "v1" || field("kind") != "Pod" || field("name").is_empty() {
            return self.refuse("node requested token not bound to a pod");
        }
        if field("uid").is_empty() {
            return self.refuse("node requested token with a pod binding without a uid");
        }
        let pod = self.find_pod(field("name"))?;
        if field("uid") != object::uid(&pod) {
            return self.refuse(&format!(
                "the UID in the bound object reference ({}) does not match the UID in record. The object might have been deleted and then recreated",
                field("uid")
            ));
        }
        if !self.runs_here(&pod) {
            return self.refuse("node requested token bound to a pod scheduled on a different node");
        }
        self.audience(&pod).or_else(|complaint| self.refuse(&complaint))
    }

    fn audience(&self, pod: &Value) -> Result<(), String> {
        let audiences = texts(self.write.object(), &["spec", "audiences"]);
        let audience = match audiences.as_slice() {
            [] => "",
            [audience] => audience.as_str(),
            _ => return Err("node may only request 0 or 1 audiences".to_owned()),
        };
        if self.pod_asks_for(pod, audience)? {
            return Ok(());
        }
        let Attributes {
            user, namespace, name, ..
        } = *self.write.attributes;
        let verb = "request-serviceaccounts-token-audience";
        let ask = Attributes {
            version: "v1",
            ..Attributes::resource(user, verb, "", audience, namespace, name)
        };
        if self.write.policy.authorize(&ask).is_allowed() {
            return Ok(());
        }
        Err(format!(
            "audience {} not found in pod spec volume, {} is not authorized to request tokens for this audience",
            quote(audience),
            user.name
        ))
    }

    /// Whether a projected volume of the pod, or the driver behind one of its volumes, asks for the audience.
    fn pod_asks_for(&self, pod: &Value, audience: &str) -> Result<bool, String> {
        let mut errors = Vec::new();
        for volume in list(pod, &["spec", "volumes"]) {
            let mut projected = list(volume, &["projected", "sources"]).iter();
            if projected.any(|source| is_for(at(source, &["serviceAccountToken"]), audience)) {
                return Ok(true);
            }
            match self.driver_asks_for(pod, volume, audience) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() {
            return Ok(false);
        }
        Err(format!(
            "error validating audience {}: {}",
            quote(audience),
            join_errors(&errors)
        ))
    }

    fn driver_asks_for(&self, pod: &Value, volume: &Value, audience: &str) -> Result<bool, String> {
        let claim = references::claim_of_volume(pod, volume);
        let driver = if claim.is_empty() {
            text(volume, &["csi", "driver"]).to_owned()
        } else {
            self.driver_of_claim(object::namespace(pod), &claim)?
        };
        if driver.is_empty() {
            return Ok(false);
        }
        let found = self.write.objects.get("storage.k8s.io", "csidrivers", "", &driver);
        let found = found.ok_or_else(|| format!("csidriver.storage.k8s.io {} not found", quote(&driver)))?;
        Ok(list(&found, &["spec", "tokenRequests"])
            .iter()
            .any(|request| is_for(request, audience)))
    }

    fn driver_of_claim(&self, namespace: &str, claim: &str) -> Result<String, String> {
        let objects = self.write.objects;
        let found = objects.get("", "persistentvolumeclaims", namespace, claim);
        let found = found.ok_or_else(|| format!("persistentvolumeclaim {} not found", quote(claim)))?;
        let volume = text(&found, &["spec", "volumeName"]);
        let found = objects.get("", "persistentvolumes", "", volume);
        let found = found.ok_or_else(|| format!("persistentvolume {} not found", quote(volume)))?;
        Ok(text(&found, &["spec", "csi", "driver"]).to_owned())
    }
}

/// An entry without an audience means the API server, which a request writes as no audience.
fn is_for(entry: &Value, audience: &str) -> bool {
    entry.is_object() && text(entry, &["audience"]) == audience
}
