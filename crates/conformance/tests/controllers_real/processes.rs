//! kube-controller-manager and kube-scheduler as processes, with the flags that they need and no other. Knows nothing of
//! the server that they are pointed at but a kubeconfig.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use hyperplane_conformance::klog;
use hyperplane_testbed::{
    Authority, Identity, Server,
    assets::{Assets, Program},
};
use serde_json::{Value, json};

/// The programs and the users that they are.
const PROGRAMS: [(Program, &str); 2] = [
    (Program::ControllerManager, "system:kube-controller-manager"),
    (Program::Scheduler, "system:kube-scheduler"),
];

/// Both programs, which end with this value.
pub(super) struct Programs(Vec<Server>);

impl Programs {
    /// Starts them on the server of an administrator's kubeconfig; their files go into a directory.
    pub(super) fn start(administrator: &Path, directory: &Path) -> Result<Self> {
        let assets = Assets::locate()?;
        let authority = Identity::in_directory(directory, "signer");
        Authority::create("kubernetes", &authority)?;
        let start = |(program, user): (Program, &str)| -> Result<Server> {
            let name = program.name();
            let kubeconfig = kubeconfig_as(administrator, user, directory, name)?;
            let mut arguments = common(&kubeconfig, &directory.join(name))?;
            if program == Program::ControllerManager {
                arguments.extend(of_controller_manager(&authority, directory));
            }
            let log = directory.join(format!("{name}.log"));
            Ok(Server::start(name, &assets.path(program)?, &arguments, log)?)
        };
        PROGRAMS.into_iter().map(start).collect::<Result<_>>().map(Self)
    }

    /// That none of them has ended, or how.
    pub(super) fn check(&mut self) -> Result<()> {
        for server in &mut self.0 {
            if let Some(status) = server.ended()? {
                anyhow::bail!("{} ended with {status}:\n{}", server.name, server.log_tail());
            }
        }
        Ok(())
    }

    /// The last lines of their logs, for whoever asks why something does not happen.
    pub(super) fn log_tails(&self) -> String {
        let tails = self
            .0
            .iter()
            .map(|server| format!("{}:\n{}", server.name, server.log_tail()));
        tails.collect::<Vec<_>>().join("\n")
    }

    /// The errors that they have told so far, each after the name of its program.
    pub(super) fn errors(&self) -> Result<Vec<String>> {
        let mut all = Vec::new();
        for server in &self.0 {
            let errors = klog::errors(&fs::read_to_string(&server.log)?);
            all.extend(errors.into_iter().map(|error| format!("{}: {error}", server.name)));
        }
        Ok(all)
    }
}

/// The administrator's kubeconfig, in the name of another user.
fn kubeconfig_as(administrator: &Path, user: &str, directory: &Path, name: &str) -> Result<PathBuf> {
    let text = fs::read_to_string(administrator)?;
    let mut kubeconfig: Value = serde_saphyr::from_str(&text).context("the administrator's kubeconfig")?;
    kubeconfig["users"][0]["user"]["as"] = json!(user);
    let path = directory.join(format!("{name}.kubeconfig"));
    fs::write(&path, kubeconfig.to_string())?;
    Ok(path)
}

fn common(kubeconfig: &Path, certificates: &Path) -> Result<Vec<String>> {
    let kubeconfig = kubeconfig.display();
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    Ok(vec![
        format!("--kubeconfig={kubeconfig}"),
        format!("--authentication-kubeconfig={kubeconfig}"),
        format!("--authorization-kubeconfig={kubeconfig}"),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--secure-port={port}"),
        format!("--cert-dir={}", certificates.display()),
    ])
}

/// Every controller with an identity of its own, and somebody who signs: as kubeadm starts it. Without a directory for
/// plug-ins it would make one in the system.
fn of_controller_manager(authority: &Identity, directory: &Path) -> Vec<String> {
    let (certificate, key) = (authority.certificate.display(), authority.key.display());
    vec![
        "--use-service-account-credentials=true".to_owned(),
        format!("--service-account-private-key-file={key}"),
        format!("--root-ca-file={certificate}"),
        format!("--cluster-signing-cert-file={certificate}"),
        format!("--cluster-signing-key-file={key}"),
        format!("--flex-volume-plugin-dir={}", directory.join("flex").display()),
    ]
}
