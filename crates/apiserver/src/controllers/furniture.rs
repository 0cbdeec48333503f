//! What every namespace has from its first moment, and gets back when it is changed or removed: a service account and
//! the certificates by which pods know the server.

use hyperplane_store::Key;
use hyperplane_wire::{Failure, Reason};
use serde_json::{Value, json};

use super::{Means, change};
use crate::{call::Call, core::Core, metadata};

const ACCOUNTS: &str = "serviceaccounts";
const CONFIG_MAPS: &str = "configmaps";
/// The service account of pods that name none.
const ACCOUNT: &str = "default";
/// The ConfigMap with which pods check who the server is.
const ROOT_CERTIFICATES: &str = "kube-root-ca.crt";
/// The annotation that says what the certificate is for.
const DESCRIPTION: &str = "kubernetes.io/description";
/// What the certificate is for, as upstream says it.
const ROOT_CERTIFICATES_NOTE: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using \
                                      internal endpoints such as the internal service IP or kubernetes.default.svc. No \
                                      other usage is guaranteed across distributions of Kubernetes clusters.";

/// Whether an object is one of those.
pub(super) fn is_ours(key: &Key) -> bool {
    match &*key.collection {
        ACCOUNTS => &*key.name == ACCOUNT,
        CONFIG_MAPS => &*key.name == ROOT_CERTIFICATES,
        _ => false,
    }
}

/// Gives a namespace what it has to have.
pub(super) async fn furnish(core: &Core, namespace: &str, means: &Means) -> Result<(), Failure> {
    let account =
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNT, "namespace": namespace}});
    ensure(core, ACCOUNTS, account).await?;
    let bundle = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {
            "name": ROOT_CERTIFICATES, "namespace": namespace,
            "annotations": {DESCRIPTION: ROOT_CERTIFICATES_NOTE},
        },
        "data": {"ca.crt": means.root_certificates},
    });
    ensure(core, CONFIG_MAPS, bundle).await
}

/// Creates an object of the core group, or puts its data right. All else about it belongs to others.
pub(super) async fn ensure(core: &Core, plural: &str, object: Value) -> Result<(), Failure> {
    let Some(served) = core.registry.get().find("", "v1", plural).cloned() else {
        return Ok(());
    };
    let (namespace, name) = (
        metadata::text(&object, "namespace").to_owned(),
        metadata::text(&object, "name").to_owned(),
    );
    let call = Call::internal(&served, &namespace, &name, "");
    let Some(entry) = Core::find(&core.store.snapshot(), &served, &namespace, &name) else {
        return match core.create(&call, object).await {
            Err(failure) if failure.reason != Reason::AlreadyExists => Err(failure),
            _ => Ok(()),
        };
    };
    let put_right = |found: &mut Value| {
        if let Some(data) = object.get("data") {
            found["data"] = data.clone();
        }
        let annotations = object["metadata"]["annotations"].as_object();
        for (name, value) in annotations.into_iter().flatten() {
            if found["metadata"]["annotations"][name]
                .as_str()
                .unwrap_or_default()
                .is_empty()
            {
                found["metadata"]["annotations"][name] = value.clone();
            }
        }
    };
    let found = served.show(&entry, entry.revision);
    let mut wanted = found.clone();
    put_right(&mut wanted);
    if wanted == found {
        return Ok(());
    }
    change(core, &call, None, &put_right).await
}
