//! Reads a state file. Its fields are a contract: new ones may come, none changes its meaning.

use serde_json::Value;

use super::{
    ControlPlane, Distribution, Extension, Health, IpPool, Modification, Nodes, Past, Pool, State, StateError,
    Upgradeable,
    reader::{Fields, Reader},
};
use crate::version::{Scheme, Version};

impl State {
    /// Reads a state from JSON, or from YAML that was read as JSON. Also says which fields nobody knows. Everything that
    /// is wrong is told at once.
    pub fn read(value: &Value) -> Result<(Self, Vec<String>), Vec<StateError>> {
        Self::read_as(value, Scheme::Kubernetes)
    }

    /// Reads the state that comes after another: what it leaves out stays as it is.
    pub fn read_after(value: &Value, before: &Self) -> Result<(Self, Vec<String>), Vec<StateError>> {
        let (mut state, unread) = Self::read_as(value, before.distribution.scheme)?;
        let is_local = state.control_plane.is_local;
        state.complete_from(before);
        let said = value.pointer("/controlPlane/behindLoadBalancer");
        if said.is_some_and(|said| !said.is_null()) {
            state.control_plane.is_local = is_local;
        }
        Ok((state, unread))
    }

    /// Reads a state whose scheme is this unless it says another.
    fn read_as(value: &Value, scheme: Scheme) -> Result<(Self, Vec<String>), Vec<StateError>> {
        let mut reader = Reader::new(scheme);
        let mut state = Self::default();
        if value.is_null() {
            reader.wrong("the file", "is empty: describe at least controlPlane.kubeApiServers");
        } else if let Some(fields) = reader.object("", value) {
            state = reader.state(fields);
        }
        if reader.errors.is_empty() {
            Ok((state, reader.unread))
        } else {
            Err(reader.errors)
        }
    }
}

/// Components of Kubernetes carry the marks of their distribution, except in OpenShift.
fn component_scheme(scheme: Scheme) -> Scheme {
    match scheme {
        Scheme::OpenShift => Scheme::Kubernetes,
        other => other,
    }
}

/// The most pools: far more than a cluster has, few enough to compare them with each other.
const MOST_POOLS: usize = 1000;

/// Releases of etcd are tagged with a number behind a dash, which is later than the plain version.
const ETCD_SCHEME: Scheme = Scheme::Acp;

impl Reader {
    fn state(&mut self, mut fields: Fields) -> State {
        let (path, value) = fields.take("distribution");
        let distribution = self.distribution(&path, &value);
        let scheme = distribution.scheme;
        let (path, value) = fields.take("acks");
        let acks = self.acks(&path, &value);
        let open_gates = acks.iter().flatten().filter(|(_, given)| !given);
        let open_gates = open_gates.map(|(name, _)| name.clone()).collect();
        let acks = acks.map(|acks| acks.into_iter().filter(|(_, given)| *given).map(|(name, _)| name));
        let state = State {
            control_plane: self.control_plane(scheme, &mut fields),
            pools: self.pools(scheme, &mut fields),
            kubectl: self.clients(scheme, &mut fields),
            health: self.health(&mut fields),
            ip_pools: self.optional_list(&mut fields, "ipPools", Self::ip_pool),
            extensions: self.optional_list(&mut fields, "extensions", Self::extension),
            modifications: self.optional_list(&mut fields, "modifications", Self::modification),
            acks: acks.map(Iterator::collect),
            open_gates,
            artifacts: self
                .optional_list(&mut fields, "artifacts", Self::text)
                .map(|artifacts| artifacts.into_iter().collect()),
            backup: self.backup(&mut fields),
            providers: self.providers(&mut fields),
            nodes: self.nodes(&mut fields),
            manager: self.manager(scheme, &mut fields, "manager"),
            standby_manager: self.manager(scheme, &mut fields, "standbyManager"),
            exact_webhooks: self.exact_webhooks(&mut fields),
            offered: self.offered(scheme, &mut fields),
            distribution,
        };
        // A moment is for people to read; no rule of this check looks at it.
        fields.take("now");
        self.finish(fields);
        state
    }

    fn distribution(&mut self, path: &str, value: &Value) -> Distribution {
        let mut distribution = Distribution {
            scheme: self.scheme,
            ..Distribution::default()
        };
        let Some(mut fields) = self.object(path, value) else {
            return distribution;
        };
        let (path, value) = fields.take("scheme");
        if let Some(word) = self.text(&path, &value) {
            match word.parse() {
                Ok(scheme) => distribution.scheme = scheme,
                Err(_) => self.wrong(&path, format!("{word:?} is none of {}", scheme_names())),
            }
        }
        let scheme = distribution.scheme;
        distribution.version = self.optional_version(scheme, &mut fields, "version");
        distribution.row = self.optional_text(&mut fields, "row");
        distribution.channel = self.optional_text(&mut fields, "channel");
        distribution.architecture = self.optional_text(&mut fields, "architecture");
        distribution.is_forced = self.optional_truth(&mut fields, "force").unwrap_or_default();
        distribution.is_core_complete = self.optional_truth(&mut fields, "coreComplete");
        let (path, value) = fields.take("availableUpdates");
        if !value.is_null() {
            distribution.available_updates = Some(self.versions(scheme, &path, &value));
        }
        let (path, value) = fields.take("upgradeable");
        distribution.upgradeable = self.upgradeable(&path, &value);
        let (path, value) = fields.take("history");
        for (path, entry) in self.list(&path, &value) {
            distribution.history.extend(self.past(scheme, &path, &entry));
        }
        self.finish(fields);
        distribution
    }

    fn past(&mut self, scheme: Scheme, path: &str, value: &Value) -> Option<Past> {
        if !value.is_object() {
            let version = self.version(scheme, path, value)?;
            return Some(Past {
                version,
                is_complete: true,
            });
        }
        let mut fields = self.object(path, value)?;
        let version = self.optional_version(scheme, &mut fields, "version");
        let word = self.optional_text(&mut fields, "state");
        self.finish(fields);
        Some(Past {
            version: version?,
            is_complete: word.is_none_or(|word| word != "Partial"),
        })
    }

    fn upgradeable(&mut self, path: &str, value: &Value) -> Option<Upgradeable> {
        if !value.is_object() {
            let is_upgradeable = self.truth(path, value)?;
            return Some(Upgradeable {
                is_upgradeable,
                reason: None,
            });
        }
        let mut fields = self.object(path, value)?;
        let is_upgradeable = self.optional_truth(&mut fields, "status");
        let reason = self.optional_text(&mut fields, "reason");
        let message = self.optional_text(&mut fields, "message");
        self.finish(fields);
        Some(Upgradeable {
            is_upgradeable: is_upgradeable?,
            reason: reason.or(message),
        })
    }

    fn control_plane(&mut self, scheme: Scheme, fields: &mut Fields) -> ControlPlane {
        let (path, value) = fields.take("controlPlane");
        let Some(mut fields) = self.object(&path, &value) else {
            return ControlPlane::default();
        };
        let scheme = component_scheme(scheme);
        let mut of = |name: &str, scheme: Scheme| {
            let (path, value) = fields.take(name);
            self.versions(scheme, &path, &value)
        };
        let control_plane = ControlPlane {
            kube_api_servers: of("kubeApiServers", scheme),
            kube_controller_manager: of("kubeControllerManager", scheme),
            kube_scheduler: of("kubeScheduler", scheme),
            cloud_controller_manager: of("cloudControllerManager", scheme),
            etcd: Vec::new(),
            is_local: false,
        };
        let (path, value) = fields.take("etcd");
        let etcd = self.etcd(&path, &value);
        let is_behind = self.optional_truth(&mut fields, "behindLoadBalancer");
        self.finish(fields);
        ControlPlane {
            etcd,
            is_local: is_behind == Some(false),
            ..control_plane
        }
    }

    /// The members of etcd. What is wrong is said of etcd, by whose scheme nobody else writes.
    fn etcd(&mut self, path: &str, value: &Value) -> Vec<Version> {
        let known = self.errors.len();
        let versions = self.versions(ETCD_SCHEME, path, value);
        for error in &mut self.errors[known..] {
            error.problem = error.problem.replace("a version of acp", "a version of etcd");
            error.problem = error.problem.replace("like v1.33.7-3", "like 3.5.26");
        }
        versions
    }

    fn pools(&mut self, scheme: Scheme, fields: &mut Fields) -> Vec<Pool> {
        let (path, value) = fields.take("pools");
        let mut pools: Vec<Pool> = Vec::new();
        if value.as_array().is_some_and(|entries| entries.len() > MOST_POOLS) {
            self.wrong(&path, format!("has more than {MOST_POOLS} entries"));
            return pools;
        }
        for (index, (path, entry)) in self.list(&path, &value).into_iter().enumerate() {
            let Some(pool) = self.pool(scheme, index, &path, &entry) else {
                continue;
            };
            if pools.iter().any(|other| other.name == pool.name) {
                self.wrong(
                    &path,
                    format!("there is another pool {:?}: names are unique", pool.name),
                );
            }
            pools.push(pool);
        }
        pools
    }

    fn pool(&mut self, scheme: Scheme, index: usize, path: &str, value: &Value) -> Option<Pool> {
        let mut fields = self.object(path, value)?;
        let mut versions = |name: &str, scheme: Scheme| {
            let (path, value) = fields.take(name);
            self.versions(scheme, &path, &value)
        };
        let mut pool = Pool {
            versions: versions("versions", scheme),
            kubelets: versions("kubelets", component_scheme(scheme)),
            kube_proxies: versions("kubeProxies", component_scheme(scheme)),
            ..Pool::default()
        };
        // Where Kubernetes is the distribution, its version is the kubelet's.
        if pool.kubelets.is_empty() && !matches!(scheme, Scheme::OpenShift | Scheme::Acp) {
            pool.kubelets.clone_from(&pool.versions);
        }
        let name = self.optional_text(&mut fields, "name");
        let pool = Pool {
            name: name.unwrap_or_else(|| format!("#{index}")),
            is_paused: self.optional_truth(&mut fields, "paused").unwrap_or_default(),
            drains: self.optional_truth(&mut fields, "drain"),
            upgrade_type: self.optional_text(&mut fields, "upgradeType"),
            max_surge: self.optional_text(&mut fields, "maxSurge"),
            max_unavailable: self.optional_text(&mut fields, "maxUnavailable"),
            has_fixed_slots: self.optional_truth(&mut fields, "fixedSlots").unwrap_or_default(),
            kubelet_fields: self
                .optional_list(&mut fields, "kubeletFields", Self::text)
                .map(|names| names.into_iter().collect()),
            ..pool
        };
        self.finish(fields);
        Some(pool)
    }

    fn clients(&mut self, scheme: Scheme, fields: &mut Fields) -> Vec<Version> {
        let (path, value) = fields.take("clients");
        let Some(mut fields) = self.object(&path, &value) else {
            return Vec::new();
        };
        let (path, value) = fields.take("kubectl");
        self.finish(fields);
        self.versions(component_scheme(scheme), &path, &value)
    }

    fn health(&mut self, fields: &mut Fields) -> Health {
        let (path, value) = fields.take("health");
        let Some(mut fields) = self.object(&path, &value) else {
            return Health::default();
        };
        let control_plane = self.optional_truth(&mut fields, "controlPlane");
        let (path, value) = fields.take("nodesReady");
        self.finish(fields);
        let ratio = value.as_str().and_then(|text| text.split_once('/'));
        let nodes_ready = match ratio {
            Some((ready, all)) => Some(ready.trim() == all.trim()),
            None => self.truth(&path, &value),
        };
        Health {
            control_plane,
            nodes_ready,
        }
    }

    fn ip_pool(&mut self, path: &str, value: &Value) -> Option<IpPool> {
        let mut fields = self.object(path, value)?;
        let name = self.optional_text(&mut fields, "name");
        let (path, value) = fields.take("free");
        let free = self.count(&path, &value);
        self.finish(fields);
        Some(IpPool {
            name: name.unwrap_or_default(),
            free: free?,
        })
    }

    fn extension(&mut self, path: &str, value: &Value) -> Option<Extension> {
        let mut fields = self.object(path, value)?;
        let name = self.optional_text(&mut fields, "name");
        let extension = Extension {
            version: self.optional_text(&mut fields, "version"),
            impact: self.optional_text(&mut fields, "impact"),
            phase: self.optional_text(&mut fields, "phase"),
            is_acknowledged: self.optional_truth(&mut fields, "acknowledged").unwrap_or_default(),
            name: name.unwrap_or_else(|| path.to_owned()),
        };
        self.finish(fields);
        Some(extension)
    }

    fn modification(&mut self, path: &str, value: &Value) -> Option<Modification> {
        if !value.is_object() {
            let name = self.text(path, value)?;
            return Some(Modification {
                name,
                is_reviewed: false,
                exempt_for: None,
            });
        }
        let mut fields = self.object(path, value)?;
        let name = self.optional_text(&mut fields, "name");
        let modification = Modification {
            is_reviewed: self.optional_truth(&mut fields, "reviewed").unwrap_or_default(),
            exempt_for: self.optional_text(&mut fields, "exemptFor"),
            name: name.unwrap_or_else(|| path.to_owned()),
        };
        self.finish(fields);
        Some(modification)
    }

    /// Names with whether they are given. A name alone is given; a map says it for each.
    fn acks(&mut self, path: &str, value: &Value) -> Option<Vec<(String, bool)>> {
        match value {
            Value::Null => None,
            Value::Object(_) => {
                let entries = self.map(path, value).into_iter();
                let is_given = |value: Value| value == true || value == "true";
                Some(entries.map(|(name, value)| (name, is_given(value))).collect())
            }
            _ => {
                let entries = self.list(path, value);
                let acks = entries.iter().map(|(path, entry)| self.ack(path, entry));
                Some(acks.collect::<Vec<_>>().into_iter().flatten().collect())
            }
        }
    }

    fn ack(&mut self, path: &str, value: &Value) -> Option<(String, bool)> {
        if !value.is_object() {
            return Some((self.text(path, value)?, true));
        }
        let mut fields = self.object(path, value)?;
        let name = self.optional_text(&mut fields, "name");
        let is_given = self.optional_truth(&mut fields, "acknowledged").unwrap_or_default();
        self.finish(fields);
        Some((name?, is_given))
    }

    fn backup(&mut self, fields: &mut Fields) -> Option<String> {
        let (path, value) = fields.take("backup");
        let mut fields = self.object(&path, &value)?;
        let result = self.optional_text(&mut fields, "result");
        self.finish(fields);
        result
    }

    fn providers(&mut self, fields: &mut Fields) -> std::collections::BTreeMap<String, Version> {
        let (path, value) = fields.take("providers");
        let entries = self.map(&path, &value).into_iter();
        let entries = entries.filter(|(_, value)| !value.is_null());
        let providers = entries.map(|(name, value)| {
            let version = self.version(Scheme::Kubernetes, &format!("{path}.{name}"), &value);
            version.map(|version| (provider_name(&name), version))
        });
        providers.collect::<Vec<_>>().into_iter().flatten().collect()
    }

    fn nodes(&mut self, fields: &mut Fields) -> Nodes {
        let (path, value) = fields.take("nodes");
        let Some(mut fields) = self.object(&path, &value) else {
            return Nodes::default();
        };
        let (path, value) = fields.take("minKernel");
        let min_kernel = self.text(&path, &value).and_then(|text| {
            let kernel = kernel(&text);
            if kernel.is_none() {
                self.wrong(&path, "must be a kernel's version in quotes, such as \"5.14\"");
            }
            kernel
        });
        let cgroup = self.level(&mut fields, "cgroup");
        let cpu_level = self.level(&mut fields, "cpuLevel");
        self.finish(fields);
        Nodes {
            min_kernel,
            cgroup,
            cpu_level,
        }
    }

    /// A number that may be the end of a word, as in x86-64-v2.
    fn level(&mut self, fields: &mut Fields, name: &str) -> Option<u64> {
        let (path, value) = fields.take(name);
        let text = self.text(&path, &value)?;
        let digits = text.trim_start_matches(|character: char| character != 'v');
        let digits = digits.trim_start_matches('v');
        let level = if digits.is_empty() { &text } else { digits }.parse().ok();
        if level.is_none() {
            self.wrong(&path, "must be a level, such as 2 or v2");
        }
        level
    }

    fn manager(&mut self, scheme: Scheme, fields: &mut Fields, name: &str) -> Option<Version> {
        let (path, value) = fields.take(name);
        let mut fields = self.object(&path, &value)?;
        let version = self.optional_version(scheme, &mut fields, "version");
        self.finish(fields);
        version
    }

    /// Webhooks whose matchPolicy is Exact.
    fn exact_webhooks(&mut self, fields: &mut Fields) -> Vec<String> {
        let (path, value) = fields.take("webhooks");
        let mut exact = Vec::new();
        for (path, entry) in self.list(&path, &value) {
            let Some(mut fields) = self.object(&path, &entry) else {
                continue;
            };
            let name = self.optional_text(&mut fields, "name").unwrap_or(path);
            let policy = self.optional_text(&mut fields, "matchPolicy");
            self.finish(fields);
            exact.extend((policy.as_deref() == Some("Exact")).then_some(name));
        }
        exact
    }

    fn offered(&mut self, scheme: Scheme, fields: &mut Fields) -> Option<Vec<Version>> {
        let (path, value) = fields.take("kubernetesVersions");
        (!value.is_null()).then(|| self.versions(component_scheme(scheme), &path, &value))
    }

    fn optional_version(&mut self, scheme: Scheme, fields: &mut Fields, name: &str) -> Option<Version> {
        let (path, value) = fields.take(name);
        match value {
            Value::Null => None,
            value => self.version(scheme, &path, &value),
        }
    }

    fn optional_text(&mut self, fields: &mut Fields, name: &str) -> Option<String> {
        let (path, value) = fields.take(name);
        self.text(&path, &value)
    }

    fn optional_truth(&mut self, fields: &mut Fields, name: &str) -> Option<bool> {
        let (path, value) = fields.take(name);
        self.truth(&path, &value)
    }

    /// A list that may be absent, which is another thing than empty.
    fn optional_list<T>(
        &mut self,
        fields: &mut Fields,
        name: &str,
        entry: impl Fn(&mut Self, &str, &Value) -> Option<T>,
    ) -> Option<Vec<T>> {
        let (path, value) = fields.take(name);
        if value.is_null() {
            return None;
        }
        let entries = self.list(&path, &value);
        let entries = entries.iter().map(|(path, value)| entry(self, path, value));
        Some(entries.collect::<Vec<_>>().into_iter().flatten().collect())
    }
}

fn kernel(text: &str) -> Option<(u64, u64)> {
    let mut parts = text.split(['.', '-']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Providers are written in many ways.
fn provider_name(name: &str) -> String {
    match &*name.to_ascii_lowercase() {
        "bm" | "bare-metal" => "baremetal".to_owned(),
        name => name.to_owned(),
    }
}

fn scheme_names() -> String {
    let names: Vec<String> = Scheme::ALL.iter().map(ToString::to_string).collect();
    names.join(", ")
}
