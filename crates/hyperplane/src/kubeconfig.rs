//! `hyperplane kubeconfig`: the kubeconfig of the administrator of a hosted cluster, on standard output or in a file that
//! only its owner reads. It is given as it is; nothing is merged.

use std::{
    fs,
    io::{self, Write},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::Args;
use hyperplane_api::{constants::objects::keys, hypershift::hosted_cluster::HostedCluster};
use hyperplane_runtime::Api;
use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use tokio::time::sleep;

use crate::{
    connection::{CLUSTERS, Connection},
    failing::{not_yet, wrong_use},
    limit::Limit,
    system,
};

/// Only its owner reads and writes it.
const PRIVATE: u32 = 0o600;
/// How often it is looked.
const LOOK: Duration = Duration::from_secs(1);

/// Which kubeconfig, and where to.
#[derive(Args)]
pub struct Arguments {
    /// The hosted cluster
    #[arg(value_name = "CLUSTER", required_unless_present = "name", conflicts_with = "name")]
    cluster: Option<String>,
    /// The hosted cluster, in place of CLUSTER
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Its namespace
    #[arg(short, long, value_name = "NAME", default_value = CLUSTERS)]
    namespace: String,
    #[command(flatten)]
    connection: Connection,
    /// Write it into this file, which only you can read [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Wait until there is one
    #[arg(long)]
    wait: bool,
    /// How long to wait, such as 30m; 0 means for ever
    #[arg(long, value_name = "DURATION", default_value = "30m")]
    timeout: Limit,
}

/// Prints or writes it.
pub fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<ExitCode> {
    system::log();
    let text = system::small_runtime()?.block_on(read(arguments))?;
    match &arguments.output {
        Some(path) => write(path, &text).map_err(|error| {
            let what = format!("{} cannot be written", path.display());
            wrong_use(what, error.to_string(), "look at the path given with -o")
        })?,
        None => output.write_all(&text).and_then(|()| output.flush())?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn read(arguments: &Arguments) -> anyhow::Result<Vec<u8>> {
    let client = arguments.connection.client().await?;
    let name = arguments
        .name
        .as_deref()
        .or(arguments.cluster.as_deref())
        .unwrap_or_default();
    let missing = || {
        not_yet(format!(
            "the kubeconfig of cluster {name}, which comes with its API server; try again, or use --wait"
        ))
    };
    let looking = async {
        loop {
            match admin(&client, &arguments.namespace, name).await? {
                None if arguments.wait => sleep(LOOK).await,
                found => return Ok(found),
            }
        }
    };
    let found: Option<anyhow::Result<_>> = arguments.timeout.within(looking).await;
    found.transpose()?.flatten().ok_or_else(missing)
}

/// The kubeconfig of the administrator of a cluster, once there is one.
pub(crate) async fn admin(client: &Client, namespace: &str, name: &str) -> anyhow::Result<Option<Vec<u8>>> {
    let clusters: Api<HostedCluster> = Api::namespaced(client.clone(), namespace);
    let cluster = clusters.get(name).await?;
    let Some(secret) = cluster.status.and_then(|status| status.kubeconfig) else {
        return Ok(None);
    };
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let secret = secrets.get_opt(&secret.name).await?;
    let mut data = secret.and_then(|secret| secret.data).unwrap_or_default();
    Ok(data.remove(keys::KUBECONFIG).map(|value| value.0))
}

/// Writes beside the file first, so that nobody ever sees half of it, and nobody else any of it.
pub(crate) fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    // A terminal or a pipe is written to, and not replaced by a file.
    if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return fs::OpenOptions::new().write(true).open(path)?.write_all(text);
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(PRIVATE)
        .open(&beside)?;
    // One that was there before kept its mode.
    file.set_permissions(fs::Permissions::from_mode(PRIVATE))?;
    file.write_all(text)?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_private_even_where_another_was_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kubeconfig");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, PRIVATE);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
