//! The programs that run beside the components of a hosted control plane, as subcommands. Owns which there are; how
//! each is called is in a file of its own, how it ends in `ending`, and what it does in the crate
//! `hyperplane-sidecars`.

mod availability;
mod etcd;
mod konnectivity;
mod router;
mod tail;
#[cfg(test)]
mod tests;
mod tls;
mod token;
mod wait;

use clap::Subcommand;
use tracing_subscriber::filter::LevelFilter;

use crate::{signals::Signals, system};

/// A program that a container of a control plane runs. People have no use for them, so the help does not list them.
#[derive(Subcommand)]
pub enum Command {
    /// Wait until a hosted API server is ready and serves what a component needs.
    #[command(hide = true)]
    AvailabilityProber(availability::Arguments),
    /// Give back what members of etcd hold and do not use, one member at a time.
    #[command(hide = true)]
    EtcdDefrag(etcd::DefragmentArguments),
    /// Take away the data of a member of etcd that keeps failing, so that it starts empty and joins the others again.
    #[command(hide = true)]
    EtcdRecoverMember(etcd::RecoverArguments),
    /// Write the configuration with which a member of etcd starts, and bring the member back if its data is gone.
    #[command(hide = true)]
    EtcdResetMember(etcd::ResetArguments),
    /// Lead HTTP CONNECT from programs in the same pod into the network of the hosted cluster.
    #[command(hide = true)]
    KonnectivityHttpsProxy(konnectivity::Arguments),
    /// Lead SOCKS5 from programs in the same pod into the network of the hosted cluster.
    #[command(hide = true, name = "konnectivity-socks5-proxy")]
    KonnectivitySocks5Proxy(konnectivity::Arguments),
    /// Pass TLS connections on by the name that a client asks for.
    #[command(hide = true)]
    Router(router::Arguments),
    /// Copy a log to standard output as it grows, through rotation and truncation.
    #[command(hide = true)]
    Tail(tail::Arguments),
    /// Keep a token of a service account of the hosted cluster in a file.
    #[command(hide = true)]
    TokenMinter(token::Arguments),
    /// Wait until a name has an address, a port is open, or an HTTPS server answers with success.
    #[command(hide = true)]
    WaitFor(wait::Arguments),
}

/// Runs a program until it is done or is told to end.
pub fn run(command: &Command) -> anyhow::Result<()> {
    // The log of a container is where people look for what it waits for.
    system::log_from(LevelFilter::INFO);
    let runtime = match command {
        Command::Router(_) => system::runtime()?,
        // The others do little, and there are many of them: one thread is enough.
        _ => tokio::runtime::Builder::new_current_thread().enable_all().build()?,
    };
    runtime.block_on(async {
        let signals = Signals::new()?;
        match command {
            Command::AvailabilityProber(arguments) => availability::run(arguments, signals).await,
            Command::EtcdDefrag(arguments) => etcd::defragment(arguments, signals).await,
            Command::EtcdRecoverMember(arguments) => etcd::recover(arguments, signals).await,
            Command::EtcdResetMember(arguments) => etcd::reset(arguments, signals).await,
            Command::KonnectivityHttpsProxy(arguments) => konnectivity::http(arguments, signals).await,
            Command::KonnectivitySocks5Proxy(arguments) => konnectivity::socks(arguments, signals).await,
            Command::Router(arguments) => router::run(arguments, signals).await,
            Command::Tail(arguments) => tail::run(arguments, signals).await,
            Command::TokenMinter(arguments) => token::run(arguments, signals).await,
            Command::WaitFor(arguments) => wait::run(arguments, signals).await,
        }
    })
}
