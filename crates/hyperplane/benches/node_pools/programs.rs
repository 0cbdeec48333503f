//! The programs of a control plane that machines need to join: the ignition server and the approver of their certificates, in
//! this process. What they ask of the API server is not counted: it is not the operators who ask.

use std::sync::{Arc, OnceLock};

use futures::FutureExt as _;
use hyperplane_twin::{Network, Programs, TwinSettings};
use hyperplane_world::{approver, ignition};
use kube::Client;

/// What programs do while their containers run.
pub fn all(settings: &TwinSettings, client: Client, network: Arc<OnceLock<Network>>) -> Programs {
    let (clock, seed) = (settings.clock.clone(), settings.seed);
    Programs::default().run_by(move |program| {
        let network = network.get()?.clone();
        if let Some(settings) = ignition::settings(program, &clock, seed) {
            return Some(ignition::run(settings, client.clone(), network).boxed());
        }
        let settings = approver::settings(program, &clock, seed)?;
        Some(approver::run(settings, client.clone(), client.clone(), network).boxed())
    })
}
