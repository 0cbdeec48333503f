//! The command line of `token-minter`.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use hyperplane_sidecars::{
    span,
    token::{self, Settings},
};

use crate::ending;
use crate::{signals::Signals, system};

/// Whose token, and where it goes.
#[derive(Args)]
pub struct Arguments {
    /// The API server, and as whom it is asked.
    #[arg(long, value_name = "FILE")]
    kubeconfig: PathBuf,
    /// The namespace of the service account.
    #[arg(long, value_name = "NAME")]
    service_account_namespace: String,
    /// The service account.
    #[arg(long, value_name = "NAME")]
    service_account_name: String,
    /// For whom the token is.
    #[arg(long, value_name = "AUDIENCE")]
    token_audience: String,
    /// Where the token goes.
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,
    /// How long before its end a token is replaced [default: a fifth of its life].
    #[arg(long, value_name = "TIME", value_parser = span::parse)]
    renew_before: Option<Duration>,
}

pub(super) async fn run(arguments: &Arguments, signals: Signals) -> anyhow::Result<()> {
    let settings = Settings {
        kubeconfig: arguments.kubeconfig.clone(),
        namespace: arguments.service_account_namespace.clone(),
        name: arguments.service_account_name.clone(),
        audience: arguments.token_audience.clone(),
        file: arguments.token_file.clone(),
        renew_before: arguments.renew_before,
    };
    let clock = system::clock();
    ending::until_told(token::run(&settings, &clock), signals).await;
    Ok(())
}
