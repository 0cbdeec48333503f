//! The infrastructure provider: every infrastructure machine has an instance, which is driven from here. Owns the
//! identity, the addresses and the word `provisioned` of infrastructure machines, and nothing else of them.

use std::{marker::PhantomData, sync::Arc, time::Duration};

use hyperplane_runtime::{Context, EventType, Failure, Next, ObjectKey, Reconciler, Store};
use jiff::Timestamp;
use kube::ResourceExt;
use serde_json::{Value, json};

use super::{
    Shared,
    fetch::fetch,
    floor::{Beginning, Instance, Size, told_address},
    instance::{Due, Phase, Seen, Trouble, look},
    join::{Joiner, join},
    kinds::{InfrastructureMachine, Machine, Provided, machine_of},
    obey::{Host, obey},
    stub::Stub,
};
use crate::{faults::FaultKind, moment, settings::drawn, write};

/// Keeps an infrastructure machine until its instance has ended.
const FINALIZER: &str = "hyperplane.dev/twin-instance";
/// Under which key a Secret has the data that a machine boots with; Cluster API's.
const VALUE: &str = "value";
/// Exchanges of one look: recalling, fetching and joining follow each other.
const STEPS: usize = 4;
/// The pause after as many.
const PAUSE: Duration = Duration::from_secs(1);

/// Provides the machines of one kind.
pub(super) struct Provider<K> {
    shared: Arc<Shared>,
    machines: Store<Machine>,
    kind: PhantomData<K>,
}

impl<K: Provided> Reconciler for Provider<K> {
    type Object = InfrastructureMachine<K>;

    const FINALIZER: Option<&'static str> = Some(FINALIZER);
    const SWEEPS: bool = true;

    async fn reconcile(&self, context: &Context, object: Arc<InfrastructureMachine<K>>) -> Result<Next, Failure> {
        let machine = self.machine(&object);
        let key = ObjectKey::of(object.as_ref());
        let mut is_announced = false;
        for _ in 0..STEPS {
            let now = context.now();
            let (instance, due) = self.look(&object, machine.as_deref(), now);
            if instance.phase.is_up() && !is_announced {
                announce(context, &object, &instance).await?;
                is_announced = true;
            }
            match due {
                Due::Change => {
                    match &instance.phase {
                        Phase::Running { .. } => self.shared.inside.keep(&key.namespace),
                        Phase::Stuck { why } => tracing::debug!(machine = %key, why, "A machine goes no further."),
                        _ => {}
                    }
                    return Ok(Next::OnChange);
                }
                Due::At(at) => return Ok(Next::After(moment::until(at, now))),
                Due::Recall => self.recall(context, &key, &instance).await,
                Due::Fetch => self.fetch(context, &object, machine.as_deref(), &instance).await,
                Due::Join => self.join(context, &key, &instance).await,
            }
        }
        Ok(Next::After(PAUSE))
    }

    async fn cleanup(&self, _: &Context, object: Arc<InfrastructureMachine<K>>) -> Result<(), Failure> {
        let key = ObjectKey::of(object.as_ref());
        // From here on nothing is heard of it.
        if self.shared.floor.remove(&key) {
            let half = self.shared.settings.stop / 2;
            tokio::time::sleep(half + drawn(self.shared.seed, &format!("machine/{key}/stop"), half)).await;
        }
        Ok(())
    }

    async fn sweep(&self, _: &Context, key: &ObjectKey) -> Result<(), Failure> {
        // Somebody took the finalizer away. If the cache is only behind, the instance wakes as one that was there before.
        self.shared.floor.remove(key);
        Ok(())
    }
}

impl<K: Provided> Provider<K> {
    pub(super) const fn new(shared: Arc<Shared>, machines: Store<Machine>) -> Self {
        Self {
            shared,
            machines,
            kind: PhantomData,
        }
    }

    /// The Machine that an infrastructure machine stands for.
    fn machine(&self, object: &InfrastructureMachine<K>) -> Option<Arc<Machine>> {
        let owner = machine_of(object)?;
        let namespace = object.namespace().unwrap_or_default();
        let machine = self.machines.namespace(namespace).get(&owner.name)?;
        (machine.uid().as_deref() == Some(owner.uid.as_str())).then_some(machine)
    }

    /// The data that a machine boots with.
    fn data(&self, namespace: &str, machine: Option<&Machine>) -> Option<Vec<u8>> {
        let secret = self.shared.secrets.namespace(namespace).get(machine?.data_secret()?)?;
        secret.data.as_ref()?.get(VALUE).map(|value| value.0.clone())
    }

    /// Where the instance is now, and what is due for it.
    fn look(&self, object: &InfrastructureMachine<K>, machine: Option<&Machine>, now: Timestamp) -> (Instance, Due) {
        let (shared, key) = (&self.shared, ObjectKey::of(object));
        let faults = shared.faults.of_machine(&key.namespace, &key.name, object.labels());
        let seen = Seen {
            now,
            about: &key.to_string(),
            // That the Secret itself is there is seen when it is read: it may only be late.
            has_data: machine.and_then(Machine::data_secret).is_some(),
            was_up: object.status["initialization"]["provisioned"] == true,
            faults: &faults,
            settings: &shared.settings,
            seed: shared.seed,
        };
        let beginning = Beginning {
            uid: &object.uid().unwrap_or_default(),
            labels: object.labels(),
            address: told_address(&object.status),
            size: Size::of(&object.spec, &shared.settings),
            seed: shared.seed,
        };
        shared.floor.look(&key, beginning, |phase| look(phase, &seen))
    }

    /// Asks whether an instance that was there before this twin was has joined.
    async fn recall(&self, context: &Context, key: &ObjectKey, instance: &Instance) {
        let has_joined = self
            .shared
            .inside
            .has(&key.namespace, &key.name, &provider_id::<K>(&key.name))
            .await;
        let phase = Phase::after_recall(has_joined.ok(), context.now(), self.shared.settings.retry);
        self.shared
            .floor
            .change(key, &instance.uid, |instance| instance.phase = phase);
    }

    /// Fetches the configuration of an instance and obeys it.
    async fn fetch(
        &self,
        context: &Context,
        object: &InfrastructureMachine<K>,
        machine: Option<&Machine>,
        instance: &Instance,
    ) {
        let key = ObjectKey::of(object);
        let outcome = self.configure(object, machine).await;
        let phase = Phase::after_fetch(outcome.as_ref().err(), context.now(), self.shared.settings.retry);
        let (host, trouble) = match outcome {
            Ok(host) => (Some(host), None),
            Err(trouble) => (None, Some(trouble)),
        };
        tell(context, "IgnitionFailed", trouble);
        let wanted = machine.and_then(Machine::version);
        self.shared.floor.change(&key, &instance.uid, |instance| {
            instance.version = host.as_ref().and_then(|host| host.version.clone()).or(wanted);
            instance.host = host.map(Arc::new);
            instance.phase = phase;
        });
    }

    async fn configure(&self, object: &InfrastructureMachine<K>, machine: Option<&Machine>) -> Result<Host, Trouble> {
        let namespace = object.namespace().unwrap_or_default();
        let data = self.data(&namespace, machine);
        let data = data.ok_or_else(|| Trouble::Again("the data that it boots with is not there".to_owned()))?;
        let stub = Stub::read(&data).map_err(Trouble::Final)?;
        let mut payload = fetch(&self.shared.network, &stub).await?;
        let name = object.name_any();
        let faults = self.shared.faults.of_machine(&namespace, &name, object.labels());
        if faults.contains(&FaultKind::BrokenIgnition) {
            payload.truncate(payload.len() / 2);
        }
        obey(&payload, &name).map_err(Trouble::Final)
    }

    /// Goes on with joining.
    async fn join(&self, context: &Context, key: &ObjectKey, instance: &Instance) {
        let Some(host) = &instance.host else {
            // It was configured by no twin that is left.
            let phase = Phase::Fetching { again: context.now() };
            self.shared
                .floor
                .change(key, &instance.uid, |instance| instance.phase = phase);
            return;
        };
        let identity = provider_id::<K>(&key.name);
        let joiner = Joiner {
            twin: &self.shared.twin,
            name: &key.name,
            uid: &instance.uid,
            provider_id: (K::NAMES_NODES || host.has_cloud).then_some(identity.as_str()),
            address: instance.address,
            host,
            seed: self.shared.seed,
        };
        let outcome = join(&self.shared.reach, &joiner).await;
        let phase = instance.phase.clone().after_join(&outcome, context.now());
        tell(context, "JoinFailed", outcome.err());
        self.shared
            .floor
            .change(key, &instance.uid, |instance| instance.phase = phase);
    }
}

/// The identity of a machine.
fn provider_id<K: Provided>(name: &str) -> String {
    format!("{}://{name}", K::SCHEME)
}

/// Tells what went wrong, as the console of the machine would.
fn tell(context: &Context, reason: &'static str, trouble: Option<Trouble>) {
    match trouble {
        None => {}
        Some(Trouble::Again(why)) => context.event(EventType::Warning, reason, format!("{why}: it is tried again")),
        Some(Trouble::Final(why)) => context.event(EventType::Warning, reason, why),
    }
}

/// Says that a machine is there, and where.
async fn announce<K: Provided>(
    context: &Context,
    object: &InfrastructureMachine<K>,
    instance: &Instance,
) -> Result<(), Failure> {
    let key = ObjectKey::of(object);
    let provider_id = provider_id::<K>(&key.name);
    if object.spec["providerID"] != provider_id.as_str() {
        let change = json!({"metadata": {"uid": instance.uid}, "spec": {"providerID": provider_id}});
        write::patch::<InfrastructureMachine<K>>(context, &key, &change).await?;
    }
    context
        .apply_status(object, &status(&key.name, &instance.address.to_string()))
        .await?;
    Ok(())
}

fn status(name: &str, address: &str) -> Value {
    json!({
        "initialization": {"provisioned": true},
        "addresses": [
            {"type": "Hostname", "address": name},
            {"type": "InternalDNS", "address": name},
            {"type": "InternalIP", "address": address},
        ],
    })
}
