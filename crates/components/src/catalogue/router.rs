//! The router: everything that is published by host name comes in here and is passed on by the name that the client asks
//! for, without being decrypted.

use hyperplane_api::constants::objects::components;
use serde_json::{Value, json};

use crate::{
    component::{Asset, Component, Traits, WorkloadKind, asset},
    configuration::file,
    infrastructure::{route_hostname, routed},
    inputs::Inputs,
    manifest::Manifest,
};

const ASSETS: &[Asset] = &[
    asset!("router/config.yaml").adapted(adapt_config),
    asset!("router/pod-disruption-budget.yaml"),
    asset!("router/pod-monitor.yaml"),
    asset!("router/deployment.yaml"),
];

pub(super) const COMPONENT: Component = Component {
    traits: Traits {
        is_request_serving: true,
        is_spread: true,
        precedes_api_server: true,
        has_three_replicas: true,
        ..Traits::ORDINARY
    },
    predicate: has_routes,
    ..Component::new(components::ROUTER, WorkloadKind::Deployment, ASSETS)
};

fn has_routes(inputs: &Inputs<'_>) -> bool {
    routed(inputs.control_plane).next().is_some()
}

/// The router reads its routes anew when they change, so a change restarts nothing.
fn adapt_config(inputs: &Inputs<'_>, manifest: &mut Manifest) {
    let routes = routed(inputs.control_plane).filter_map(|publishable| {
        let hostname = route_hostname(inputs.control_plane, inputs.management, publishable)?;
        let backend = format!("{}.{}.svc:{}", publishable.name, inputs.namespace(), publishable.port);
        Some(json!({"hostname": hostname.to_lowercase(), "backend": backend}))
    });
    let routes: Vec<Value> = routes.collect();
    if let Manifest::ConfigMap(map) = manifest {
        let text = file(&json!({"routes": routes}));
        map.data.get_or_insert_default().insert("router.yaml".to_owned(), text);
    }
}
