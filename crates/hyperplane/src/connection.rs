//! How commands find a management cluster: a file, what any client finds, or the account of this pod.

use std::{
    error::Error as StdError,
    path::{Path, PathBuf},
};

use clap::Args;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig, KubeconfigError},
};

use crate::failing::wrong_use;

/// What to do where no cluster is known.
const UNKNOWN: &str = "use --kubeconfig FILE or set KUBECONFIG (hyperplane up writes .hyperplane/kubeconfig)";

/// The namespace of HostedClusters and NodePools if nothing else is asked for, as HyperShift's users have it.
pub(crate) const CLUSTERS: &str = "clusters";

/// The management cluster of a command.
#[derive(Args, Clone)]
pub(crate) struct Connection {
    /// The kubeconfig of the management cluster [default: as kubectl finds it].
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context in it.
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
}

impl Connection {
    /// The cluster of a file.
    pub(crate) fn of(kubeconfig: &Path, context: Option<&str>) -> Self {
        Self {
            kubeconfig: Some(kubeconfig.to_owned()),
            context: context.map(str::to_owned),
        }
    }

    /// A client, which has asked for nothing yet.
    pub(crate) async fn client(&self) -> anyhow::Result<Client> {
        connect(self.kubeconfig.as_deref(), self.context.as_deref()).await
    }

    /// What a client needs.
    pub(crate) async fn config(&self) -> anyhow::Result<Config> {
        config(self.kubeconfig.as_deref(), self.context.as_deref()).await
    }
}

/// A client for the cluster that a kubeconfig names; without one, for the cluster that this machine is set up for, or
/// that this pod runs on.
pub(crate) async fn connect(kubeconfig: Option<&Path>, context: Option<&str>) -> anyhow::Result<Client> {
    Ok(Client::try_from(config(kubeconfig, context).await?)?)
}

async fn config(kubeconfig: Option<&Path>, context: Option<&str>) -> anyhow::Result<Config> {
    let mut config = match (kubeconfig, context) {
        (Some(path), _) => from_file(path, context).await?,
        (None, Some(_)) => {
            let found = Config::from_kubeconfig(&options(context)).await;
            found.map_err(|error| unknown(Some(&error)))?
        }
        (None, None) => Config::infer().await.map_err(|error| {
            let cause = StdError::source(&error).and_then(|cause| cause.downcast_ref());
            unknown(cause)
        })?,
    };
    // Commands and the runner say themselves what they do about failures.
    config.default_retry = false;
    Ok(config)
}

fn options(context: Option<&str>) -> KubeConfigOptions {
    KubeConfigOptions {
        context: context.map(str::to_owned),
        ..KubeConfigOptions::default()
    }
}

async fn from_file(path: &Path, context: Option<&str>) -> anyhow::Result<Config> {
    let wrong = |error: KubeconfigError| {
        let remedy = "look at the file, at --kubeconfig and at --context";
        wrong_use(path.display().to_string(), cause(&error), remedy)
    };
    let kubeconfig = Kubeconfig::read_from(path).map_err(wrong)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &options(context)).await;
    config.map_err(wrong)
}

/// Nothing leads to a cluster.
fn unknown(error: Option<&KubeconfigError>) -> anyhow::Error {
    let cause = error.map_or_else(|| "this is no pod, and there is no kubeconfig".to_owned(), cause);
    wrong_use("no cluster is known", cause, UNKNOWN)
}

/// What is wrong with a kubeconfig. What it holds is not shown: it may be a key.
fn cause(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::FindPath => "there is no kubeconfig".to_owned(),
        KubeconfigError::ReadConfig(error, path) => format!("{} cannot be read: {error}", path.display()),
        KubeconfigError::CurrentContextNotSet => "no context is chosen in it".to_owned(),
        KubeconfigError::LoadContext(name) => format!("it has no context {name:?}"),
        KubeconfigError::LoadClusterOfContext(name) => format!("it has no cluster {name:?}, which a context names"),
        KubeconfigError::MissingClusterUrl | KubeconfigError::ParseClusterUrl(_) => {
            "its cluster has no address that can be read".to_owned()
        }
        KubeconfigError::LoadCertificateAuthority(_) | KubeconfigError::ParseCertificates(_) => {
            "its certificate authority cannot be read".to_owned()
        }
        KubeconfigError::LoadClientCertificate(_) => "its client certificate cannot be read".to_owned(),
        KubeconfigError::LoadClientKey(_) => "its client key cannot be read".to_owned(),
        _ => "it cannot be read as a kubeconfig".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failing::told;

    /// A text that must never be seen.
    const KEY: &str = "c2VjcmV0LWtleQ";

    async fn complaint(text: &str) -> String {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config");
        std::fs::write(&path, text).unwrap();
        let told = told(&connect(Some(&path), None).await.err().unwrap());
        assert_eq!(told.exit_code, 2, "{}", told.sentence);
        told.sentence
    }

    #[tokio::test]
    async fn what_is_wrong_is_told_and_what_it_holds_is_not() {
        let named = "contexts: [{name: a, context: {cluster: c, user: u}}]\ncurrent-context: a";
        let served = format!(
            "clusters: [{{name: c, cluster: {{server: 'https://127.0.0.1:1', certificate-authority-data: '!{KEY}'}}}}]"
        );
        for (text, part) in [
            (String::new(), "no context is chosen"),
            (
                format!("users: [{{name: u, user: {{token: {KEY}}}}}\n  : ["),
                "cannot be read as a kubeconfig",
            ),
            (format!("{named}\nusers: {KEY}"), "cannot be read as a kubeconfig"),
            (named.to_owned(), "no cluster"),
            (format!("{named}\n{served}"), "certificate authority cannot be read"),
        ] {
            let said = complaint(&text).await;
            assert!(said.contains(part), "{said}");
            assert!(!said.contains(KEY), "{said}");
            assert!(
                said.ends_with("look at the file, at --kubeconfig and at --context"),
                "{said}"
            );
        }
    }

    #[test]
    fn without_a_file_the_way_to_one_is_told() {
        let parse =
            serde_saphyr::from_str::<Kubeconfig>(&format!("users: [{{name: u, user: {{token: {KEY}}}}}\n  : ["));
        let parse = KubeconfigError::Parse(Box::new(parse.unwrap_err()));
        for error in [None, Some(&KubeconfigError::FindPath), Some(&parse)] {
            let said = told(&unknown(error));
            assert!(said.exit_code == 2 && said.sentence.ends_with(UNKNOWN), "{said:?}");
            assert!(!said.sentence.contains(KEY), "{said:?}");
        }
    }
}
