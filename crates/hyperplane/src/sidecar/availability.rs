//! The command line of `availability-prober`.

use std::{convert::Infallible, path::PathBuf};

use clap::Args;
use hyperplane_sidecars::availability::{self, RequiredApi, Settings};

use crate::ending;
use crate::signals::Signals;

/// What is waited for.
#[derive(Args)]
pub struct Arguments {
    /// The API server, and as whom it is asked.
    #[arg(long, value_name = "FILE")]
    kubeconfig: PathBuf,
    /// A kind that it must serve, such as apps/v1/Deployment or v1/Pod; repeatable.
    #[arg(long, value_name = "GROUP/VERSION/KIND")]
    required_api: Vec<RequiredApi>,
}

pub(super) async fn run(arguments: &Arguments, signals: Signals) -> anyhow::Result<()> {
    let settings = Settings {
        kubeconfig: arguments.kubeconfig.clone(),
        required: arguments.required_api.clone(),
    };
    let waiting = async {
        availability::run(&settings).await;
        Ok::<(), Infallible>(())
    };
    ending::finish(waiting, signals).await
}
