//! What a payload is made from: the Secret of a token, and the objects beside it. Reads only, and only from caches.

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc};

use aws_lc_rs::digest::{Context, SHA256};
use hyperplane_api::{
    constants::{
        objects::{bundles, copies, keys, kubeconfigs},
        ours,
    },
    hyperplane::distribution_release::DistributionRelease,
    hypershift::{endpoint::ApiEndpoint, hosted_control_plane::HostedControlPlane},
};
use hyperplane_ignition_render::{
    Problem, document, gzip,
    proxy::Proxy,
    worker::{Endpoint, WorkerInputs, render},
};
use hyperplane_planner::release::{Resolved, Shelf};
use hyperplane_runtime::{Manager, Store, Watch};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};

use crate::{payload::NotMade, token};

/// Bytes of the documents of a token once they are unpacked: what ten ConfigMaps may hold, and ours.
const MOST_DOCUMENT_BYTES: usize = 16 << 20;

/// The revision of payloads whose token names none.
const FIRST_REVISION: u32 = 1;

/// The caches of one namespace.
#[derive(Clone, Debug)]
pub struct Sources {
    namespace: String,
    pub(crate) secrets: Store<Secret>,
    pub(crate) config_maps: Store<ConfigMap>,
    pub(crate) control_planes: Store<HostedControlPlane>,
    pub(crate) releases: Store<DistributionRelease>,
    shelf: Arc<Shelf>,
}

impl Sources {
    /// Watches what payloads of one namespace are made from. All Secrets that are ours are, because the mark of a token is
    /// an annotation, which no selection can ask for.
    pub fn watch(manager: &Manager, namespace: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            secrets: manager.store(secrets(namespace)),
            config_maps: manager.store(config_maps(namespace)),
            control_planes: manager.store(control_planes(namespace)),
            releases: manager.store(releases()),
            shelf: Arc::default(),
        }
    }

    /// Everything that the payload of a token is made from.
    pub(crate) fn gather(&self, token: &Secret) -> Result<Gathered, NotMade> {
        let control_planes = self.control_planes.namespace(&self.namespace).all();
        let control_plane = control_planes.into_iter().next();
        let control_plane = control_plane.ok_or_else(|| NotMade::waiting("the HostedControlPlane"))?;
        let spec = &control_plane.spec;
        let image = token::data(token, keys::RELEASE).and_then(|image| str::from_utf8(image).ok());
        let image = image.ok_or_else(|| NotMade::Broken("the Secret of the token names no release".to_owned()))?;
        let objects = self.releases.all();
        let release = self.shelf.resolve(image, objects.iter().map(AsRef::as_ref));
        let release = release.map_err(|error| NotMade::Broken(error.to_string()))?;
        let networking = spec.networking.clone().unwrap_or_default();
        let proxy = Proxy::of(spec.configuration.as_deref(), &networking, &spec.platform.type_);
        let proxy = proxy.map_err(|problem| NotMade::Broken(problem.to_string()))?;
        let status = control_plane.status.as_ref();
        let endpoint = status.and_then(|status| status.control_plane_endpoint.clone());
        let mut trust_bundles = Vec::new();
        if spec.additional_trust_bundle.is_some() {
            trust_bundles.push(self.bundle(copies::USER_CA_BUNDLE, keys::USER_CA_BUNDLE)?);
        }
        if let Some(name) = proxy.and_then(|proxy| proxy.trusted_authorities) {
            trust_bundles.push(self.bundle(&name, keys::USER_CA_BUNDLE)?);
        }
        let image = spec.configuration.as_deref().and_then(|all| all.image.as_ref());
        let registries = image.and_then(|image| image.additional_trusted_ca.as_ref());
        let registry_authorities = match registries.filter(|registries| !registries.name.is_empty()) {
            Some(registries) => self.config_map(&registries.name)?.data.clone().unwrap_or_default(),
            None => BTreeMap::new(),
        };
        let (_, client_authority) = self.bundle(bundles::KUBELET_CLIENT, keys::CA_CERTIFICATE)?;
        let ssh_keys = if spec.ssh_key.name.is_empty() {
            Vec::new()
        } else {
            self.secret(copies::SSH_KEY, keys::SSH_KEY)?
        };
        Ok(Gathered {
            revision: revision(token)?,
            documents: token::data(token, keys::CONFIG).unwrap_or_default().to_vec(),
            release,
            endpoint: endpoint.ok_or_else(|| NotMade::waiting("the address of the API server"))?,
            kubeconfig: self.secret(kubeconfigs::BOOTSTRAP, keys::KUBECONFIG)?,
            pull_secret: self.secret(copies::PULL_SECRET, keys::PULL_SECRET)?,
            client_authority,
            trust_bundles,
            registry_authorities,
            ssh_keys,
            control_plane,
        })
    }

    fn secret(&self, name: &str, key: &str) -> Result<Vec<u8>, NotMade> {
        let secret = self.secrets.namespace(&self.namespace).get(name);
        let value = secret.as_ref().and_then(|secret| token::data(secret, key));
        value
            .map(<[u8]>::to_vec)
            .ok_or_else(|| NotMade::waiting(&format!("key {key} of Secret {name}")))
    }

    /// A bundle of authorities, with its name.
    fn bundle(&self, name: &str, key: &str) -> Result<(String, String), NotMade> {
        let found = self.config_map(name)?;
        let text = found.data.as_ref().and_then(|data| data.get(key).cloned());
        let text = text.ok_or_else(|| NotMade::waiting(&format!("key {key} of ConfigMap {name}")))?;
        Ok((name.to_owned(), text))
    }

    fn config_map(&self, name: &str) -> Result<Arc<ConfigMap>, NotMade> {
        let found = self.config_maps.namespace(&self.namespace).get(name);
        found.ok_or_else(|| NotMade::waiting(&format!("ConfigMap {name}")))
    }
}

/// The revision that a token asks for. One that says nothing is from before there were two.
fn revision(token: &Secret) -> Result<u32, NotMade> {
    let Some(text) = token::data(token, keys::RENDER_REVISION) else {
        return Ok(FIRST_REVISION);
    };
    let number = str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    number.ok_or_else(|| {
        let key = keys::RENDER_REVISION;
        NotMade::Broken(format!("key {key} of the Secret of the token must be a number"))
    })
}

/// Secrets that are ours.
pub(crate) fn secrets(namespace: &str) -> Watch<Secret> {
    Watch::namespace(namespace).labels(&ours::selector())
}

/// ConfigMaps that are ours.
pub(crate) fn config_maps(namespace: &str) -> Watch<ConfigMap> {
    Watch::namespace(namespace).labels(&ours::selector())
}

/// The control plane.
pub(crate) fn control_planes(namespace: &str) -> Watch<HostedControlPlane> {
    Watch::namespace(namespace)
}

/// Releases that somebody wrote.
pub(crate) fn releases() -> Watch<DistributionRelease> {
    Watch::all()
}

/// What one payload is made from. Most of it is secret, so it is never printed.
pub(crate) struct Gathered {
    pub(crate) revision: u32,
    pub(crate) documents: Vec<u8>,
    pub(crate) release: Resolved,
    pub(crate) endpoint: ApiEndpoint,
    pub(crate) kubeconfig: Vec<u8>,
    pub(crate) pull_secret: Vec<u8>,
    pub(crate) client_authority: String,
    pub(crate) trust_bundles: Vec<(String, String)>,
    pub(crate) registry_authorities: BTreeMap<String, String>,
    pub(crate) ssh_keys: Vec<u8>,
    pub(crate) control_plane: Arc<HostedControlPlane>,
}

impl Gathered {
    /// What tells these inputs from any others: each with its length before it.
    pub(crate) fn digest(&self) -> Vec<u8> {
        let spec = &self.control_plane.spec;
        let of_cluster = (&spec.platform, &spec.networking, &spec.configuration);
        let of_cluster = serde_json::to_vec(&of_cluster).expect("a spec has only text keys and finite numbers");
        let endpoint = format!("{}:{}", self.endpoint.host, self.endpoint.port);
        let revision = self.revision.to_le_bytes();
        let mut parts: Vec<&[u8]> = vec![
            revision.as_slice(),
            &self.documents,
            self.release.pin.as_bytes(),
            endpoint.as_bytes(),
            &self.kubeconfig,
            &self.pull_secret,
            self.client_authority.as_bytes(),
            &self.ssh_keys,
            &of_cluster,
        ];
        // How many there are comes first: what ends one list must not begin the other.
        let count = self.trust_bundles.len().to_le_bytes();
        parts.push(&count);
        let bundles = self.trust_bundles.iter().map(|(name, text)| (name, text));
        for (name, text) in bundles.chain(&self.registry_authorities) {
            parts.extend([name.as_bytes(), text.as_bytes()]);
        }
        let mut digest = Context::new(&SHA256);
        for part in parts {
            digest.update(&part.len().to_le_bytes());
            digest.update(part);
        }
        digest.finish().as_ref().to_vec()
    }

    /// The payload, or everything that stops it.
    pub(crate) fn render(&self) -> Result<Vec<u8>, Vec<Problem>> {
        let spec = &self.control_plane.spec;
        let documents = self.documents()?;
        let networking = spec.networking.clone().unwrap_or_default();
        let wrong = |path: &str, problem: &str| vec![Problem::new("", path, problem)];
        let trust_bundles: Vec<(&str, &str)> = self
            .trust_bundles
            .iter()
            .map(|(name, text)| (&**name, &**text))
            .collect();
        render(&WorkerInputs {
            revision: self.revision,
            release: &self.release.release,
            platform: &spec.platform.type_,
            networking: &networking,
            configuration: spec.configuration.as_deref(),
            api_server: Endpoint {
                host: &self.endpoint.host,
                port: u16::try_from(self.endpoint.port)
                    .map_err(|_| wrong("status.controlPlaneEndpoint.port", "must be a port"))?,
            },
            bootstrap_kubeconfig: &self.kubeconfig,
            kubelet_client_authority: &self.client_authority,
            trust_bundles: &trust_bundles,
            registry_authorities: &self.registry_authorities,
            ssh_keys: str::from_utf8(&self.ssh_keys).map_err(|_| wrong("spec.sshKey", "must lead to text"))?,
            pull_secret: &self.pull_secret,
            documents: &documents,
        })
    }

    fn documents(&self) -> Result<Vec<document::Document>, Vec<Problem>> {
        let wrong = |problem: String| vec![Problem::new("the documents of the token", "", problem)];
        let bytes = if gzip::is_gzip(&self.documents) {
            gzip::decompress(&self.documents, MOST_DOCUMENT_BYTES).map_err(|error| wrong(error.to_string()))?
        } else {
            self.documents.clone()
        };
        let text = String::from_utf8(bytes).map_err(|_| wrong("must be text".to_owned()))?;
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        document::read(&[("of the pool", text)])
    }
}
