//! The command line of `wait-for`.

use std::{convert::Infallible, path::PathBuf};

use anyhow::Context as _;
use clap::Args;
use http::Uri;
use hyperplane_sidecars::{
    place::Place,
    tls::{IdentityFiles, TlsFiles},
    wait::{self, Target},
};

use crate::ending;
use crate::signals::Signals;

/// What is waited for.
#[derive(Args)]
#[command(group = clap::ArgGroup::new("target").required(true))]
pub struct Arguments {
    /// A URL that is to answer with success.
    #[arg(long, value_name = "URL", group = "target", requires = "ca_file")]
    https: Option<Uri>,
    /// A port that is to be open.
    #[arg(long, value_name = "HOST:PORT", group = "target")]
    tcp: Option<Place>,
    /// A name that is to have an address.
    #[arg(long, value_name = "NAME", group = "target")]
    dns: Option<String>,
    /// The certificates of those who may have signed for the HTTPS server.
    #[arg(long, value_name = "FILE", requires = "https")]
    ca_file: Option<PathBuf>,
    /// The certificate of this client, where the server asks for one.
    #[arg(long, value_name = "FILE", requires = "https", requires = "key_file")]
    cert_file: Option<PathBuf>,
    /// The private key of this client.
    #[arg(long, value_name = "FILE", requires = "cert_file")]
    key_file: Option<PathBuf>,
}

pub(super) async fn run(arguments: &Arguments, signals: Signals) -> anyhow::Result<()> {
    let target = target(arguments)?;
    let waiting = async {
        wait::run(&target).await;
        Ok::<(), Infallible>(())
    };
    ending::finish(waiting, signals).await
}

fn target(arguments: &Arguments) -> anyhow::Result<Target> {
    match (&arguments.https, &arguments.tcp, &arguments.dns) {
        (Some(url), ..) => Ok(Target::Https {
            url: url.clone(),
            tls: tls(arguments)?,
        }),
        (_, Some(place), _) => Ok(Target::Tcp(place.clone())),
        (_, _, name) => Ok(Target::Dns(name.clone().context("there is nothing to wait for")?)),
    }
}

fn tls(arguments: &Arguments) -> anyhow::Result<TlsFiles> {
    let identity = arguments.cert_file.clone().zip(arguments.key_file.clone());
    Ok(TlsFiles {
        authority: arguments.ca_file.clone().context("--ca-file is missing")?,
        identity: identity.map(|(certificate, key)| IdentityFiles { certificate, key }),
    })
}
