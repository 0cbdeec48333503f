//! Making a plan: every row of the table is compared with what is there. Writes nothing and signs nothing.

use std::collections::{BTreeMap, BTreeSet};

use hyperplane_api::constants::{
    labels,
    objects::{bundles, certificates, keys},
};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::{
    authority, bundle,
    existing::{Existing, carries},
    inspect::Certificate,
    judge::{Standing, judge},
    key,
    kubeconfig::Content,
    kubeconfigs::{self, Kubeconfig, User},
    lifetime::AUTHORITY_WARNING,
    names::Host,
    plan::{Item, Plan, Problem, Step},
    reason::Reason,
    table::{self, LEAVES, Layout, Leaf},
    wanted::{Etcd, ServiceAccountKey, Wanted},
};

/// What is said of a damaged authority. Whoever trusts it would refuse a new one.
const AUTHORITY_REMEDY: &str = "restore the Secret from a backup; if it is lost, delete it, and a new authority is made \
    beside the old one in every bundle, which every client from outside has to be told of";
/// What is said of an authority that ends.
const REPLACE_REMEDY: &str = "what it signs ends with it; delete the Secret to have a new authority made, which every \
    client from outside has to be told of";
/// What is said of a damaged key.
const KEY_REMEDY: &str = "restore the Secret from a backup; if it is lost, delete it, and a new key is made, which makes \
    every token of a service account invalid";

/// What is said of a name that is taken.
const CLASH_REMEDY: &str = "choose another place for the administrator's kubeconfig, or make the cluster anew with \
    another infraID";

/// What is known of an authority.
enum Authority {
    Known(Box<Certificate>),
    /// It will be made.
    New,
    /// It cannot sign.
    Broken,
}

/// What is known of a leaf.
enum Verdict {
    Keep(Standing),
    Issue(Reason, BTreeSet<Host>),
    /// It needs a name that nobody knows yet.
    Waiting(String),
    /// Its signer cannot sign.
    Blocked,
}

/// A plan that is being made.
pub(crate) struct Planner<'a> {
    wanted: &'a Wanted,
    existing: &'a Existing,
    now: Timestamp,
    plan: Plan,
    authorities: BTreeMap<&'static str, Authority>,
    /// Bundles that will be written.
    bundles: BTreeSet<&'static str>,
    /// Leaves, by the Secret that they stand in.
    leaves: BTreeMap<String, Verdict>,
}

impl<'a> Planner<'a> {
    pub(crate) fn new(wanted: &'a Wanted, existing: &'a Existing, now: Timestamp) -> Self {
        Self {
            wanted,
            existing,
            now,
            plan: Plan {
                keep: Vec::new(),
                issue: Vec::new(),
                unwanted: Vec::new(),
                waiting: Vec::new(),
                problems: Vec::new(),
                next_look: Timestamp::MAX,
            },
            authorities: BTreeMap::new(),
            bundles: BTreeSet::new(),
            leaves: BTreeMap::new(),
        }
    }

    pub(crate) fn plan(mut self) -> Plan {
        let (kubeconfigs, clashes) = kubeconfigs::kubeconfigs(self.wanted);
        for secret in clashes {
            let fault = "something else of the control plane stands in it, so no kubeconfig can";
            self.problem(&secret, fault.to_owned(), CLASH_REMEDY);
        }
        self.signers();
        self.service_account_keys();
        self.etcd_client();
        self.bundles();
        self.judge_leaves(&kubeconfigs);
        let is_early = |kubeconfig: &Kubeconfig| self.comes_before_leaves(kubeconfig);
        let (early, late): (Vec<Kubeconfig>, Vec<Kubeconfig>) = kubeconfigs.into_iter().partition(is_early);
        for kubeconfig in early {
            self.kubeconfig(kubeconfig);
        }
        self.leaves();
        for kubeconfig in late {
            self.kubeconfig(kubeconfig);
        }
        self.unwanted();
        self.plan
    }

    fn signers(&mut self) {
        for row in table::signers(self.wanted) {
            let authority = self.signer(row);
            self.authorities.insert(row.secret, authority);
        }
    }

    fn signer(&mut self, row: &'static table::Signer) -> Authority {
        if !self.existing.secrets.contains_key(row.secret) {
            self.issue(row.secret, Reason::Missing, Item::Signer(row));
            return Authority::New;
        }
        let (certificate, key) = self.existing.authority(row.secret);
        let certificate = match authority::inspect(certificate, key) {
            Ok(certificate) => certificate,
            Err(damage) => {
                self.problem(row.secret, damage.to_string(), AUTHORITY_REMEDY);
                return Authority::Broken;
            }
        };
        let warning = certificate
            .end
            .saturating_sub(AUTHORITY_WARNING)
            .unwrap_or(Timestamp::MIN);
        if warning <= self.now {
            let fault = format!("the authority is valid until {} only", certificate.end);
            self.problem(row.secret, fault, REPLACE_REMEDY);
        }
        self.look_at(warning);
        self.look_at(certificate.end);
        self.keep_secret(row.secret, Item::Signer(row));
        if certificate.end <= self.now {
            return Authority::Broken;
        }
        Authority::Known(Box::new(certificate))
    }

    fn service_account_keys(&mut self) {
        let name = certificates::SERVICE_ACCOUNT_KEYS;
        let is_there = self.existing.secrets.contains_key(name);
        let bytes = |key: &str| self.existing.bytes(name, key);
        let (private, public) = (
            bytes(keys::SERVICE_ACCOUNT_KEY),
            bytes(keys::SERVICE_ACCOUNT_PUBLIC_KEY),
        );
        if self.wanted.service_account_key == ServiceAccountKey::Given {
            let is_whole = !private.is_empty() && !public.is_empty();
            return self.given(
                name,
                is_whole,
                "the copy of the key of service accounts that the user gave",
            );
        }
        match key::read(private) {
            _ if !is_there => self.issue(name, Reason::Missing, Item::ServiceAccountKeys),
            None => self.problem(name, "its key is missing or cannot be read".to_owned(), KEY_REMEDY),
            Some(key) if !key::has_public_half(public, &key) => {
                self.issue(name, Reason::Content, Item::ServiceAccountKeys);
            }
            Some(_) => self.keep_secret(name, Item::ServiceAccountKeys),
        }
    }

    /// What a client of an etcd of the user's own shows is the user's, too.
    fn etcd_client(&mut self) {
        if self.wanted.etcd == Etcd::Given {
            let name = certificates::ETCD_CLIENT;
            let parts = [
                keys::ETCD_CLIENT_CA,
                keys::ETCD_CLIENT_CERTIFICATE,
                keys::ETCD_CLIENT_KEY,
            ];
            let is_whole = parts.iter().all(|part| !self.existing.bytes(name, part).is_empty());
            self.given(name, is_whole, "the copy of what the user's etcd is reached with");
        }
    }

    /// What a user gave is kept as it is, and waited for.
    fn given(&mut self, name: &str, is_whole: bool, what: &str) {
        if is_whole {
            self.plan.keep.push(name.to_owned());
        } else {
            self.plan.waiting.push(format!("Secret {name}: {what}"));
        }
    }

    fn bundles(&mut self) {
        for row in table::bundles(self.wanted) {
            if let Some(reason) = self.bundle(row) {
                self.bundles.insert(row.config_map);
                self.issue(row.config_map, reason, Item::Bundle(row));
            }
        }
    }

    /// Why a bundle is to be written.
    fn bundle(&mut self, row: &'static table::Bundle) -> Option<Reason> {
        let mut signers = Vec::new();
        let mut is_new = false;
        for signer in row.signers {
            match &self.authorities[signer] {
                Authority::Known(certificate) => signers.push(&**certificate),
                Authority::New => is_new = true,
                // Who trusts it already goes on, from what the bundle had before.
                Authority::Broken => {}
            }
        }
        let Some(found) = self.existing.config_maps.get(row.config_map) else {
            return (is_new || !signers.is_empty()).then_some(Reason::Missing);
        };
        if is_new {
            return Some(Reason::Signer);
        }
        let Some(before) = self.existing.trusted(row.config_map) else {
            return (!signers.is_empty()).then_some(Reason::Unreadable);
        };
        let composed = bundle::compose(signers, &before, self.now);
        if composed.is_empty() {
            // Everybody in it is over or damaged, which is reported. A server does not start with an empty one.
            return None;
        }
        let composed = bundle::write(&composed);
        let next_end = bundle::next_end(&before, self.now);
        if self.existing.bundle(row.config_map) != Some(&composed) {
            return Some(Reason::Content);
        }
        if !carries(&found.metadata, &self.wanted.metadata(row.config_map)) {
            return Some(Reason::Metadata);
        }
        self.plan.keep.push(row.config_map.to_owned());
        self.look_at(next_end.unwrap_or(Timestamp::MAX));
        None
    }

    /// Judges every leaf. When one must be renewed, all that may be are: each renewal restarts whoever has it, and once
    /// is enough.
    fn judge_leaves(&mut self, kubeconfigs: &[Kubeconfig]) {
        for row in table::leaves(self.wanted) {
            let verdict = self.judge(row.secret, self.existing.leaf(row), &row.leaf(self.wanted));
            self.leaves.insert(row.secret.to_owned(), verdict);
        }
        for kubeconfig in kubeconfigs {
            if let User::Own(leaf) = &kubeconfig.user {
                let content = Content::read(self.existing.kubeconfig(&kubeconfig.place));
                let verdict = match &content {
                    Some(content) => self.judge(&kubeconfig.place.name, content.client.bytes(), leaf),
                    None => self.judge(&kubeconfig.place.name, (&[], &[]), leaf),
                };
                self.leaves.insert(kubeconfig.place.name.clone(), verdict);
            }
        }
        let now = self.now;
        let is_due = |verdict: &Verdict| matches!(verdict, Verdict::Keep(standing) if standing.due <= now);
        let is_time = self.leaves.values().any(is_due);
        for (name, verdict) in &mut self.leaves {
            match verdict {
                Verdict::Keep(standing) if is_time && standing.window <= now => {
                    let row = LEAVES.iter().find(|row| row.secret == name);
                    let names = row.map(|row| names(&row.leaf(self.wanted), self.existing.leaf(row).0));
                    *verdict = Verdict::Issue(Reason::Renewal, names.unwrap_or_default());
                }
                Verdict::Keep(standing) => self.plan.next_look = self.plan.next_look.min(standing.due),
                _ => {}
            }
        }
    }

    fn judge(&self, secret: &str, pair: (&[u8], &[u8]), leaf: &Leaf) -> Verdict {
        let is_there = self.existing.secrets.contains_key(secret);
        let judged = match &self.authorities[leaf.signer] {
            Authority::Broken => return Verdict::Blocked,
            _ if !is_there => Err(Reason::Missing),
            Authority::New => Err(Reason::Signer),
            Authority::Known(authority) => judge(pair, leaf, authority, self.wanted, self.now),
        };
        match (judged, leaf.names.awaited) {
            (Ok(standing), _) => Verdict::Keep(standing),
            (Err(Reason::Missing | Reason::Unreadable), Some(what)) => {
                Verdict::Waiting(format!("Secret {secret}: {what}"))
            }
            (Err(reason), _) => Verdict::Issue(reason, names(leaf, pair.0)),
        }
    }

    fn leaves(&mut self) {
        for row in table::leaves(self.wanted) {
            match &self.leaves[row.secret] {
                Verdict::Issue(reason, names) => {
                    let (reason, item) = (*reason, Item::Leaf(row, names.clone()));
                    self.issue(row.secret, reason, item);
                }
                Verdict::Waiting(what) => self.plan.waiting.push(what.clone()),
                Verdict::Blocked => {}
                Verdict::Keep(_) => {
                    let item = Item::Leaf(row, BTreeSet::new());
                    let trusts = self.existing.bytes(row.secret, keys::ETCD_CLIENT_CA);
                    let bundle = self.existing.bundle(bundles::ETCD).unwrap_or_default();
                    let is_stale = self.bundles.contains(bundles::ETCD) || trusts != bundle.as_bytes();
                    if row.layout == Layout::EtcdClient && is_stale {
                        self.issue(row.secret, Reason::Content, item);
                    } else {
                        self.keep_secret(row.secret, item);
                    }
                }
            }
        }
    }

    /// Whether a kubeconfig is written before the leaves are: it is about to trust one more authority of servers, and must
    /// not meet a server of that authority before. One whose own certificate changes has to wait for that.
    fn comes_before_leaves(&self, kubeconfig: &Kubeconfig) -> bool {
        let is_issued = |verdict: &Verdict| matches!(verdict, Verdict::Issue(..));
        let secret = match &kubeconfig.user {
            User::Row(row) => row.secret,
            User::Own(_) => kubeconfig.place.name.as_str(),
        };
        if !self.leaves.values().any(is_issued) || is_issued(&self.leaves[secret]) {
            return false;
        }
        let found = Content::read(self.existing.kubeconfig(&kubeconfig.place));
        let trusts = found.as_ref().map(|found| found.authority.as_str());
        self.bundles.contains(bundles::ROOT) || trusts != self.existing.bundle(bundles::ROOT)
    }

    fn kubeconfig(&mut self, kubeconfig: Kubeconfig) {
        let name = kubeconfig.place.name.clone();
        let found = Content::read(self.existing.kubeconfig(&kubeconfig.place));
        let server = kubeconfig.server.clone();
        let Some(server) = server.or_else(|| found.as_ref().map(|found| found.server.clone())) else {
            let what = format!("Secret {name}: the address under which the API server is published");
            self.plan.waiting.push(what);
            return;
        };
        match self.kubeconfig_reason(&kubeconfig, found.as_ref(), &server) {
            Some(reason) => self.issue(&name, reason, Item::Kubeconfig(Box::new(kubeconfig), server)),
            None if found.is_some() => self.keep_secret(&name, Item::Kubeconfig(Box::new(kubeconfig), server)),
            None => {}
        }
    }

    /// Why a kubeconfig is to be written. None also where it cannot be.
    fn kubeconfig_reason(&self, kubeconfig: &Kubeconfig, found: Option<&Content>, server: &str) -> Option<Reason> {
        let is_there = self.existing.secrets.contains_key(&kubeconfig.place.name);
        let otherwise = |reason| Some(if is_there { reason } else { Reason::Missing });
        let root_changes = self.bundles.contains(bundles::ROOT);
        let root = self
            .existing
            .trusted(bundles::ROOT)
            .and(self.existing.bundle(bundles::ROOT));
        if root.is_none() && !root_changes {
            return None;
        }
        let client = match &kubeconfig.user {
            User::Own(_) => match &self.leaves[&kubeconfig.place.name] {
                Verdict::Issue(reason, _) => return Some(*reason),
                Verdict::Waiting(_) => return None,
                Verdict::Keep(_) | Verdict::Blocked => found?.client.clone(),
            },
            User::Row(row) => match &self.leaves[row.secret] {
                Verdict::Issue(..) => return otherwise(Reason::Content),
                Verdict::Waiting(_) => return None,
                Verdict::Keep(_) => self.existing.pair(row)?,
                Verdict::Blocked => self.existing.pair(row).filter(|pair| !pair.certificate.is_empty())?,
            },
        };
        if root_changes {
            return otherwise(Reason::Content);
        }
        let content = Content {
            server: server.to_owned(),
            authority: root.unwrap_or_default().to_owned(),
            client,
        };
        match found {
            None => otherwise(Reason::Unreadable),
            Some(found) if !found.is_same(&content) => Some(Reason::Content),
            Some(_) => None,
        }
    }

    fn unwanted(&mut self) {
        for name in kubeconfigs::unwanted(self.wanted) {
            let secret = self.existing.secrets.get(name);
            // What somebody else made under this name is not ours to remove.
            if secret.is_some_and(|secret| carries(&secret.metadata, &self.wanted.metadata(name))) {
                self.plan.unwanted.push(name.to_owned());
            }
        }
    }

    fn keep_secret(&mut self, name: &str, item: Item) {
        let found = self.existing.secrets.get(name).map(|secret| &secret.metadata);
        if found.is_none_or(|found| carries(found, &metadata(self.wanted, name, &item))) {
            self.plan.keep.push(name.to_owned());
        } else {
            self.issue(name, Reason::Metadata, item);
        }
    }

    fn issue(&mut self, name: &str, reason: Reason, item: Item) {
        let name = name.to_owned();
        self.plan.issue.push(Step { name, reason, item });
    }

    fn problem(&mut self, secret: &str, fault: String, remedy: &'static str) {
        let secret = secret.to_owned();
        self.plan.problems.push(Problem { secret, fault, remedy });
    }

    fn look_at(&mut self, time: Timestamp) {
        if time > self.now {
            self.plan.next_look = self.plan.next_look.min(time);
        }
    }
}

/// The metadata of what an item is written to.
pub(crate) fn metadata(wanted: &Wanted, name: &str, item: &Item) -> ObjectMeta {
    let mut metadata = wanted.metadata(name);
    if matches!(item, Item::Kubeconfig(kubeconfig, _) if kubeconfig.is_cluster_api) {
        let label = labels::CAPI_CLUSTER_NAME.as_str().to_owned();
        let labels = metadata.labels.get_or_insert_default();
        labels.insert(label, wanted.infra_id.clone());
    }
    metadata
}

/// The names that a leaf gets: while one is not known, those that it had.
fn names(leaf: &Leaf, certificate: &[u8]) -> BTreeSet<Host> {
    let mut names = leaf.names.known.clone();
    if leaf.names.awaited.is_some()
        && let Some(certificate) = Certificate::read(certificate)
    {
        names.extend(certificate.names.into_iter().flatten());
    }
    names
}
