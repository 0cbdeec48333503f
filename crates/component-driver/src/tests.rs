//! Components of a test, driven on the embedded API server and on virtual time.

use std::{sync::Arc, time::Duration};

use hyperplane_access::User;
use hyperplane_api::{
    crd,
    hypershift::{control_plane_component::ControlPlaneComponent, hosted_control_plane::HostedControlPlane},
    schema::FeatureSet,
};
use hyperplane_apiserver::{Entropy, Server, Settings, Shared};
use hyperplane_components::{Asset, Component, Infrastructure, Inputs, RENDER_REVISION, Traits, WorkloadKind};
use hyperplane_planner::{
    catalogue::releases,
    version::{Scheme, Version},
};
use hyperplane_runtime::{Context, Failure, Manager, Next, Reconciler, Scope};
use hyperplane_seams::Clock;
use hyperplane_store::Memory;
use k8s_openapi::{
    api::{
        batch::v1::{CronJob, Job},
        core::v1::Namespace,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, ResourceExt as _,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    Driver, Facts, Owners, revision,
    testing::{NAMESPACE, control_plane},
};

const START: &str = "2027-01-15T08:00:00Z";
/// Longer than anything takes that is triggered by a change.
const SETTLED: Duration = Duration::from_secs(5);

const fn of_a_test(name: &'static str, kind: WorkloadKind, assets: &'static [Asset]) -> Component {
    Component {
        traits: Traits {
            precedes_api_server: true,
            ..Traits::ORDINARY
        },
        ..Component::new(name, kind, assets)
    }
}

const JOB: Component = of_a_test("once", WorkloadKind::Job, &[Asset::new("once.yaml", JOB_TEXT)]);

const JOB_TEXT: &str = "
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: once, image: hyperplane, command: [hyperplane]}]
";

const CRON_JOB: Component = of_a_test(
    "often",
    WorkloadKind::CronJob,
    &[Asset::new("often.yaml", CRON_JOB_TEXT)],
);

const CRON_JOB_TEXT: &str = "
apiVersion: batch/v1
kind: CronJob
metadata: {name: often}
spec:
  schedule: '0 * * * *'
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: often, image: hyperplane, command: [hyperplane]}]
";

struct Driving {
    driver: Driver,
    facts: Facts,
}

impl Reconciler for Driving {
    type Object = HostedControlPlane;

    async fn reconcile(&self, context: &Context, control_plane: Arc<HostedControlPlane>) -> Result<Next, Failure> {
        let release = releases().last().unwrap();
        let inputs = Inputs {
            control_plane: &control_plane,
            release,
            cluster_release: release,
            infrastructure: &Infrastructure::default(),
            management: &self.facts.management(&control_plane),
            objects: &self.driver.objects(NAMESPACE),
            revision: revision(&control_plane),
            newest_revision: RENDER_REVISION,
        };
        for outcome in self.driver.drive(context, &[&JOB, &CRON_JOB], &inputs).await {
            if let Some(failure) = outcome.failure {
                return Err(failure);
            }
        }
        Ok(Next::OnChange)
    }
}

struct World {
    client: Client,
    clock: Clock,
}

impl World {
    /// A server with a control plane, and a process that drives its components.
    async fn settled(annotations: Value) -> Self {
        let clock = Clock::anchored(START.parse().unwrap());
        let settings = Settings::new(clock.clone(), Entropy::seeded(1));
        let (server, writer, controllers) = Server::open(&Shared::new(), settings, Memory).unwrap();
        tokio::spawn(writer.run());
        tokio::spawn(controllers.run(CancellationToken::new()));
        server.bootstrap().await.unwrap();
        let client = Client::new(server.in_process(User::admin()), NAMESPACE);
        let world = Self { client, clock };
        world.define().await;
        let namespace: Namespace = hyperplane_objects::read(json!({"metadata": {"name": NAMESPACE}})).unwrap();
        let namespaces: Api<Namespace> = Api::all(world.client.clone());
        namespaces.create(&PostParams::default(), &namespace).await.unwrap();
        let object = control_plane(&annotations);
        let api: Api<HostedControlPlane> = world.api();
        api.create(&PostParams::default(), &object).await.unwrap();
        world.start();
        world.settle().await;
        world
    }

    async fn define(&self) {
        let api: Api<CustomResourceDefinition> = Api::all(self.client.clone());
        let names = ["hostedcontrolplanes", "controlplanecomponents"];
        for definition in crd::definitions(FeatureSet::Default) {
            if names.contains(&definition["spec"]["names"]["plural"].as_str().unwrap()) {
                let definition = hyperplane_objects::read(&definition).unwrap();
                api.create(&PostParams::default(), &definition).await.unwrap();
            }
        }
        self.settle().await;
    }

    fn start(&self) {
        let settings = hyperplane_runtime::Settings::new("hyperplane", "test", self.clock.clone(), 1);
        let mut manager = Manager::new(self.client.clone(), settings);
        let scope = Scope::Everywhere;
        let driver = Driver::new(&manager, &scope, false);
        let facts = Facts {
            kubernetes: Version::parse(Scheme::Kubernetes, "1.36.4").unwrap(),
            image: "registry.example.com/hyperplane:1".to_owned(),
            ingress_domain: None,
            has_monitors: false,
            runs_machines: false,
        };
        let driving = Driving {
            driver: driver.clone(),
            facts,
        };
        let builder = manager.controller("driving", scope.watch::<HostedControlPlane>(), driving);
        driver.watched(builder, Owners::References).register();
        tokio::spawn(manager.run(CancellationToken::new()));
    }

    async fn settle(&self) {
        tokio::time::sleep(SETTLED).await;
    }

    fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    async fn restart(&self, date: &str) {
        let change = json!({"metadata": {"annotations": {"hypershift.openshift.io/restart-date": date}}});
        let api: Api<HostedControlPlane> = self.api();
        let patch = Patch::Merge(change);
        api.patch("example", &PatchParams::default(), &patch).await.unwrap();
        self.settle().await;
    }

    async fn told(&self, component: &str) -> String {
        let api: Api<ControlPlaneComponent> = self.api();
        let conditions = api.get(component).await.unwrap().status.unwrap().conditions;
        let found = conditions.into_iter().find(|one| one.type_ == "RolloutComplete");
        found.unwrap().message
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_that_is_asked_for_differently_makes_place_for_another() {
    let world = World::settled(json!({})).await;
    let (jobs, cron_jobs): (Api<Job>, Api<CronJob>) = (world.api(), world.api());
    let (job, cron_job) = (jobs.get("once").await.unwrap(), cron_jobs.get("often").await.unwrap());
    world.settle().await;
    let again = jobs.get("once").await.unwrap();
    assert_eq!(again.resource_version(), job.resource_version(), "it is left alone");

    world.restart("2027-01-15").await;
    let other = jobs.get("once").await.unwrap();
    assert_ne!(other.uid(), job.uid(), "{}", world.told("once").await);
    let spec = other.spec.unwrap();
    let annotations = spec.template.metadata.unwrap().annotations.unwrap();
    assert_eq!(annotations["hypershift.openshift.io/restart-date"], "2027-01-15");
    // What makes Jobs is changed in place.
    let changed = cron_jobs.get("often").await.unwrap();
    assert_eq!(changed.uid(), cron_job.uid());
    assert_ne!(changed.resource_version(), cron_job.resource_version());
}

#[tokio::test(start_paused = true)]
async fn a_control_plane_of_a_newer_program_is_left_alone() {
    let world = World::settled(json!({"hyperplane.dev/render-revision": "99"})).await;
    assert!(world.told("once").await.contains("run a newer one"));
    let jobs: Api<Job> = world.api();
    assert!(jobs.get_opt("once").await.unwrap().is_none());
}
