//! The files with which programs speak TLS as clients, as flags.

use std::path::PathBuf;

use clap::Args;
use hyperplane_sidecars::tls::{IdentityFiles, TlsFiles};

/// Files of a client that a server asks for its certificate.
#[derive(Args)]
#[expect(clippy::struct_field_names, reason = "fields are called as their flags are")]
pub(super) struct MutualTls {
    /// The certificates of those who may have signed for the server.
    #[arg(long, value_name = "FILE")]
    ca_file: PathBuf,
    /// The certificate of this client.
    #[arg(long, value_name = "FILE")]
    cert_file: PathBuf,
    /// The private key of this client.
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
}

impl MutualTls {
    /// Where the files are.
    pub(super) fn files(&self) -> TlsFiles {
        TlsFiles {
            authority: self.ca_file.clone(),
            identity: Some(IdentityFiles {
                certificate: self.cert_file.clone(),
                key: self.key_file.clone(),
            }),
        }
    }
}
