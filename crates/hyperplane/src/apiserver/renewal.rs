//! Certificates of a server that runs for long: issued anew before they expire, without a restart.

use std::{path::PathBuf, time::Duration};

use hyperplane_apiserver::{
    Entropy,
    pki::{self, Credentials, ServingNames},
    serve::TlsSettings,
};
use hyperplane_seams::Clock;

use super::data;

/// How often to look. Renewal is due a month before the end: there is time for many attempts.
const INTERVAL: Duration = Duration::from_hours(1);

/// What is renewed, and where it goes.
pub(super) struct Renewal {
    pub(super) credentials: Credentials,
    pub(super) names: ServingNames,
    pub(super) directory: Option<PathBuf>,
    pub(super) server: String,
    pub(super) kubeconfig: PathBuf,
    pub(super) tls: TlsSettings,
    pub(super) clock: Clock,
    pub(super) entropy: Entropy,
}

impl Renewal {
    /// Writes the administrator's kubeconfig.
    pub(super) fn write_kubeconfig(&self) -> anyhow::Result<()> {
        let Credentials {
            cluster, administrator, ..
        } = &self.credentials;
        let content = pki::kubeconfig(&self.server, &cluster.certificate, administrator);
        data::write_kubeconfig(&self.kubeconfig, &content)
    }

    /// Renews for ever.
    pub(super) async fn run(mut self) {
        loop {
            tokio::time::sleep(INTERVAL).await;
            if let Err(error) = self.renew() {
                let error = format!("{error:#}");
                tracing::error!(error, "Certificates could not be renewed; they will expire.");
            }
        }
    }

    fn renew(&mut self) -> anyhow::Result<()> {
        let (now, credentials) = (self.clock.now(), &mut self.credentials);
        let renewed = match &self.directory {
            Some(directory) => pki::renew(directory, credentials, &self.names, now, &self.entropy)?,
            None => credentials.renew(&self.names, now, &self.entropy)?,
        };
        if renewed.serving {
            self.tls.replace_certificate(&self.credentials.serving)?;
            tracing::info!("The serving certificate was renewed.");
        }
        if renewed.administrator {
            self.write_kubeconfig()?;
            tracing::info!("The administrator's certificate was renewed; their kubeconfig was written again.");
        }
        Ok(())
    }
}
