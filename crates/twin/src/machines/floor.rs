//! The instances that there are. Owns their state in memory; where each goes next is decided in `instance`.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    net::Ipv4Addr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hyperplane_runtime::ObjectKey;
use jiff::Timestamp;
use serde_json::Value;

use super::{
    instance::{Due, Phase},
    obey::Host,
    settings::MachineSettings,
};
use crate::{faults::FaultKind, kubelet::choose, selector::Labels};

/// The addresses of machines: 10.64.0.0/10, beside those of pods.
const POOL: u32 = 0x0a40_0000;
const POOL_SIZE: u64 = 1 << 22;

/// One instance.
#[derive(Clone)]
pub(crate) struct Instance {
    /// The uid of its infrastructure machine: another one of the same name is another instance.
    pub(crate) uid: String,
    /// The labels of that, by which faults are selected.
    pub(crate) labels: Labels,
    /// Where it is.
    pub(crate) phase: Phase,
    /// What it was configured to be.
    pub(crate) host: Option<Arc<Host>>,
    /// The version of its kubelet.
    pub(crate) version: Option<String>,
    /// What it has.
    pub(crate) size: Size,
    /// Its address.
    pub(crate) address: Ipv4Addr,
    /// What goes wrong with it, and when that was first seen.
    pub(crate) faults: Vec<(FaultKind, Timestamp)>,
}

/// Processors and memory, as quantities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) cpu: String,
    pub(crate) memory: String,
}

/// What is known of an instance before it is one.
pub(crate) struct Beginning<'a> {
    /// The uid of its infrastructure machine.
    pub(crate) uid: &'a str,
    /// The labels of that.
    pub(crate) labels: &'a Labels,
    /// The address that it was told to have.
    pub(crate) address: Option<Ipv4Addr>,
    /// What it is to have.
    pub(crate) size: Size,
    /// All chance follows from it.
    pub(crate) seed: u64,
}

/// Every instance.
#[derive(Default)]
pub(crate) struct Floor(Mutex<All>);

#[derive(Default)]
struct All {
    /// By infrastructure machine.
    instances: BTreeMap<ObjectKey, Instance>,
    /// How many instances have an address. More than one only if somebody told them so.
    addresses: BTreeMap<Ipv4Addr, usize>,
}

impl Floor {
    /// Looks at an instance, which is made if it is not there, and says what is due for it.
    pub(crate) fn look(
        &self,
        key: &ObjectKey,
        beginning: Beginning<'_>,
        decide: impl FnOnce(Phase) -> (Phase, Due),
    ) -> (Instance, Due) {
        let mut all = self.all();
        let known = all.instances.get_mut(key);
        if let Some(instance) = known.filter(|instance| instance.uid == beginning.uid) {
            instance.labels.clone_from(beginning.labels);
        } else {
            all.remove(key);
            all.begin(key, beginning);
        }
        let known = all.instances.get_mut(key);
        let instance = known.expect("it is there, or was just put there");
        let (phase, due) = decide(instance.phase.clone());
        instance.phase = phase;
        (instance.clone(), due)
    }

    /// Changes an instance, if it is still the same.
    pub(crate) fn change(&self, key: &ObjectKey, uid: &str, change: impl FnOnce(&mut Instance)) {
        if let Some(instance) = self.all().instances.get_mut(key).filter(|instance| instance.uid == uid) {
            change(instance);
        }
    }

    /// One instance, with what goes wrong with it now by its labels.
    pub(crate) fn see(
        &self,
        key: &ObjectKey,
        now: Timestamp,
        faults: impl FnOnce(&Labels) -> Vec<FaultKind>,
    ) -> Option<Instance> {
        let mut all = self.all();
        let instance = all.instances.get_mut(key)?;
        let known = std::mem::take(&mut instance.faults);
        let since = |fault: &FaultKind| {
            known
                .iter()
                .find(|(known, _)| known == fault)
                .map_or(now, |(_, seen)| *seen)
        };
        instance.faults = faults(&instance.labels)
            .into_iter()
            .map(|fault| (fault.clone(), since(&fault)))
            .collect();
        Some(instance.clone())
    }

    /// Ends an instance. Says whether there was one.
    pub(crate) fn remove(&self, key: &ObjectKey) -> bool {
        self.all().remove(key)
    }

    fn all(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl All {
    fn begin(&mut self, key: &ObjectKey, beginning: Beginning<'_>) {
        let is_taken = |address: Ipv4Addr| self.addresses.contains_key(&address);
        let address = beginning
            .address
            .unwrap_or_else(|| choose((POOL, POOL_SIZE), beginning.seed, beginning.uid, is_taken));
        let instance = Instance {
            uid: beginning.uid.to_owned(),
            labels: beginning.labels.clone(),
            phase: Phase::Off,
            host: None,
            version: None,
            size: beginning.size,
            address,
            faults: Vec::new(),
        };
        self.instances.insert(key.clone(), instance);
        *self.addresses.entry(address).or_default() += 1;
    }

    fn remove(&mut self, key: &ObjectKey) -> bool {
        let Some(instance) = self.instances.remove(key) else {
            return false;
        };
        if let Entry::Occupied(mut count) = self.addresses.entry(instance.address) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
        true
    }
}

impl Size {
    /// What a virtual machine asks for, in the words of KubeVirt; where it says nothing, what is usual.
    pub(crate) fn of(spec: &Value, settings: &MachineSettings) -> Self {
        let domain = &spec["virtualMachineTemplate"]["spec"]["template"]["spec"]["domain"];
        let requests = &domain["resources"]["requests"];
        let cores = domain["cpu"]["cores"].as_u64().map(|cores| cores.to_string());
        let cpu = cores.or_else(|| quantity(&requests["cpu"]));
        let memory = quantity(&domain["memory"]["guest"]).or_else(|| quantity(&requests["memory"]));
        Self {
            cpu: cpu.unwrap_or_else(|| settings.cpu.clone()),
            memory: memory.unwrap_or_else(|| settings.memory.clone()),
        }
    }
}

/// A quantity as JSON has it: a text, or a whole number.
fn quantity(value: &Value) -> Option<String> {
    let text = value.as_str().map(str::to_owned);
    text.or_else(|| value.as_u64().map(|number| number.to_string()))
}

/// The address that the status of an infrastructure machine tells.
pub(crate) fn told_address(status: &Value) -> Option<Ipv4Addr> {
    let mut addresses = status["addresses"].as_array()?.iter();
    let internal = addresses.find(|address| address["type"] == "InternalIP")?;
    internal["address"].as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn beginning<'a>(uid: &'a str, labels: &'a Labels) -> Beginning<'a> {
        Beginning {
            uid,
            labels,
            address: None,
            size: Size::of(&Value::Null, &MachineSettings::default()),
            seed: 7,
        }
    }

    #[test]
    fn another_machine_of_the_same_name_is_another_instance() {
        let (floor, labels) = (Floor::default(), Labels::new());
        let key = ObjectKey::namespaced("clusters-a", "one");
        let stuck = |_| (Phase::Stuck { why: "no".to_owned() }, Due::Change);
        let same = |phase| (phase, Due::Change);
        let (first, _) = floor.look(&key, beginning("1", &labels), stuck);
        let (again, _) = floor.look(&key, beginning("1", &labels), same);
        assert_eq!(again.phase, first.phase);
        floor.change(&key, "2", |instance| instance.phase = Phase::Off);
        assert_eq!(
            floor.all().instances[&key].phase,
            first.phase,
            "it is not the one that was meant"
        );
        let (other, _) = floor.look(&key, beginning("2", &labels), same);
        assert_eq!(other.phase, Phase::Off);
        assert!(floor.remove(&key) && !floor.remove(&key));
        assert!(floor.all().addresses.is_empty(), "addresses come back");
    }

    #[test]
    fn a_fault_counts_from_when_it_is_first_seen() {
        let (floor, labels) = (Floor::default(), Labels::new());
        let key = ObjectKey::namespaced("clusters-a", "one");
        let at = |seconds| Timestamp::constant(seconds, 0);
        assert!(floor.see(&key, at(0), |_| Vec::new()).is_none());
        floor.look(&key, beginning("1", &labels), |phase| (phase, Due::Change));
        let (one, other) = (FaultKind::NodeGone, FaultKind::NeverJoins);
        let seen = |now, faults: &[FaultKind]| floor.see(&key, at(now), |_| faults.to_vec()).unwrap().faults;
        assert_eq!(seen(1, std::slice::from_ref(&one)), [(one.clone(), at(1))]);
        let both = [other.clone(), one.clone()];
        assert_eq!(seen(2, &both), [(other.clone(), at(2)), (one.clone(), at(1))]);
        assert_eq!(seen(3, std::slice::from_ref(&other)), [(other, at(2))]);
        assert_eq!(seen(4, std::slice::from_ref(&one)), [(one, at(4))]);
    }

    #[test]
    fn addresses_follow_from_the_seed_and_are_nobody_elses() {
        let labels = Labels::new();
        let addresses = || -> Vec<Ipv4Addr> {
            let floor = Floor::default();
            let address = |number: usize| {
                let (uid, key) = (number.to_string(), ObjectKey::cluster(number.to_string()));
                let same = |phase| (phase, Due::Change);
                floor.look(&key, beginning(&uid, &labels), same).0.address
            };
            (0..200).map(address).collect()
        };
        let (first, second) = (addresses(), addresses());
        assert_eq!(first, second);
        let distinct: std::collections::BTreeSet<_> = first.iter().collect();
        assert_eq!(distinct.len(), first.len());
    }

    #[test]
    fn machines_have_what_they_ask_for() {
        let domain =
            |domain: Value| json!({"virtualMachineTemplate": {"spec": {"template": {"spec": {"domain": domain}}}}});
        let settings = MachineSettings::default();
        for (spec, cpu, memory) in [
            (Value::Null, "4", "16Gi"),
            (
                domain(json!({"cpu": {"cores": 8}, "memory": {"guest": "32Gi"}})),
                "8",
                "32Gi",
            ),
            (
                domain(json!({"resources": {"requests": {"cpu": "2", "memory": "8Gi"}}})),
                "2",
                "8Gi",
            ),
        ] {
            let size = Size::of(&spec, &settings);
            assert_eq!((size.cpu.as_str(), size.memory.as_str()), (cpu, memory));
        }
        let status = json!({"addresses": [
            {"type": "Hostname", "address": "a"}, {"type": "InternalIP", "address": "10.64.1.2"}]});
        assert_eq!(told_address(&status), Some(Ipv4Addr::new(10, 64, 1, 2)));
        assert_eq!(told_address(&Value::Null), None);
    }
}
