//! The ignition server of a control plane, where no pod has files or sockets: machines come in over the network of the
//! twin, and certificates are read from the Secret that the files of its pod would be. Everything else is the program as it
//! is.

use std::net::SocketAddr;

use futures::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use hyperplane_api::constants::objects::certificates;
use hyperplane_ignition::{Installed, install, serve_machine, tls::CertificateFiles};
use hyperplane_runtime::{Clock, Manager, Settings as ManagerSettings};
use hyperplane_twin::{Connection, Listener, Network, Program};
use kube::Client;
use tokio_util::sync::CancellationToken;

use crate::arguments::flag;

/// Machines that are served at the same time; a whole pool may start at once, and further ones wait at the door.
const CONNECTIONS: usize = 512;

/// What the server is told by its command line and by its pod.
#[derive(Clone, Debug)]
pub struct Settings {
    namespace: String,
    pod: String,
    port: u16,
    files: CertificateFiles,
    clock: Clock,
    seed: u64,
}

/// What a program is told, if it is this one.
pub fn settings(program: &Program, clock: &Clock, seed: u64) -> Option<Settings> {
    let (subcommand, flags) = program.arguments.split_first()?;
    let flag = |name: &str| flag(flags, name);
    if subcommand != "ignition-server" {
        return None;
    }
    let listen: SocketAddr = flag("--listen")?.parse().ok()?;
    Some(Settings {
        namespace: flag("--namespace")?.to_owned(),
        pod: program.pod.clone(),
        port: listen.port(),
        files: CertificateFiles {
            certificate: flag("--cert-file")?.into(),
            key: flag("--key-file")?.into(),
        },
        clock: clock.clone(),
        seed,
    })
}

/// Serves machines with the rights of the account that its pod has, until it is dropped.
pub async fn run(settings: Settings, client: Client, network: Network) -> Result<(), String> {
    let of_manager = ManagerSettings::new("hyperplane", &settings.pod, settings.clock.clone(), settings.seed);
    let mut manager = Manager::new(client.clone(), of_manager);
    let installed = install(&mut manager, &settings.namespace, settings.clock.clone());
    let listener = network.listen(&settings.namespace, &settings.pod, settings.port);
    let ended = tokio::select! {
        biased;
        ended = manager.run(CancellationToken::new()) => ended.map_err(|error| error.to_string()),
        () = accept(listener, &installed, &settings) => Err("another program took the port".to_owned()),
        never = installed.write_marks(&client) => match never {},
    };
    if let Err(error) = &ended {
        tracing::error!(namespace = settings.namespace, pod = settings.pod, %error, "An ignition server ended.");
    }
    ended
}

/// Serves whoever comes, until the port is somebody else's.
async fn accept(mut listener: Listener, installed: &Installed, settings: &Settings) {
    let mut serving: FuturesUnordered<BoxFuture<'static, ()>> = FuturesUnordered::new();
    loop {
        tokio::select! {
            // Which of two comes first must not be chance.
            biased;
            connection = listener.accept(), if serving.len() < CONNECTIONS => match connection {
                Some(connection) => serving.extend(serve(connection, installed, settings)),
                None => return,
            },
            Some(()) = serving.next() => {}
        }
    }
}

/// The certificate is looked up for each connection: the files of a pod follow their Secret, too. While there is none, the
/// connection ends, and its machine comes again.
fn serve(connection: Connection, installed: &Installed, settings: &Settings) -> Option<BoxFuture<'static, ()>> {
    match installed.certificate(certificates::IGNITION_SERVER, &settings.files)? {
        Ok(certificate) => {
            let service = installed.service.clone();
            Some(serve_machine(connection.io, certificate, service, CancellationToken::new()).boxed())
        }
        Err(error) => {
            tracing::warn!(namespace = settings.namespace, %error, "A machine cannot be served.");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_known_by_its_arguments() {
        let clock = Clock::anchored("2027-01-15T08:00:00Z".parse().unwrap());
        let found = |line: &str| {
            let program = Program {
                pod: "ignition-server-1".to_owned(),
                namespace: "clusters-one".to_owned(),
                service_account: "ignition-server".to_owned(),
                arguments: line.split_whitespace().map(str::to_owned).collect(),
            };
            settings(&program, &clock, 1)
        };
        let whole = "ignition-server --namespace=clusters-one --listen=[::]:9090 --health=[::]:8081 --cert-file=/a/tls.crt \
                     --key-file=/a/tls.key";
        let settings = found(whole).unwrap();
        assert_eq!((settings.namespace.as_str(), settings.port), ("clusters-one", 9090));
        assert_eq!(settings.files.key.to_str(), Some("/a/tls.key"));
        for line in [
            "",
            "ignition-server",
            "ignition-server --namespace=clusters-one --listen=:9090 --cert-file=/a --key-file=/b",
            "router --namespace=clusters-one --listen=[::]:9090 --cert-file=/a --key-file=/b",
        ] {
            assert!(found(line).is_none(), "{line}");
        }
    }
}
