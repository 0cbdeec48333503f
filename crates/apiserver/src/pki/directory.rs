//! Credentials in a directory, under the names that kubeadm gives them. Owns which file holds what, and that a directory
//! has all of them or is not there.

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use thiserror::Error;

use super::{Credentials, Pair, PkiError, Renewed, ServingNames, files};
use hyperplane_seams::Entropy;

/// The owner may enter, nobody else.
const PRIVATE: u32 = 0o700;

const CLUSTER: &str = "ca";
const FRONT_PROXY: &str = "front-proxy-ca";
const SERVING: &str = "apiserver";
const ADMINISTRATOR: &str = "admin";
const SERVICE_ACCOUNTS: &str = "sa.key";

/// Why credentials cannot be kept or used.
#[derive(Debug, Error)]
pub enum DirectoryError {
    /// A file is missing beside others that are there.
    #[error(
        "{} is missing: bring it back from a backup, or remove {} to make new credentials (then kubeconfigs and tokens \
         that were given out before no longer work)",
        .file.display(), .directory.display()
    )]
    Missing {
        /// The file.
        file: PathBuf,
        /// Where it should be.
        directory: PathBuf,
    },
    /// What is there cannot be used.
    #[error(
        "the credentials in {} cannot be used: bring them back from a backup, or remove the directory to make new ones \
         (then kubeconfigs and tokens that were given out before no longer work)",
        .directory.display()
    )]
    Unusable {
        /// The directory.
        directory: PathBuf,
        /// What is wrong.
        #[source]
        source: PkiError,
    },
    /// None can be made.
    #[error("new credentials cannot be made")]
    Generate(#[source] PkiError),
    /// The operating system refused.
    #[error("{} cannot be read or written: look at its owner and mode, and whether the disk is full", .path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What it said.
        #[source]
        source: io::Error,
    },
}

/// The credentials in a directory. Where there is none they are made; where some are about to expire, or the names have
/// changed, those are issued anew. The caller makes sure that nobody else does the same at the same time.
pub fn open(
    directory: &Path,
    names: &ServingNames,
    now: Timestamp,
    entropy: &Entropy,
) -> Result<Credentials, DirectoryError> {
    if directory.try_exists().map_err(|source| failed(directory, source))? {
        let mut credentials = load(directory)?;
        renew(directory, &mut credentials, names, now, entropy)?;
        return Ok(credentials);
    }
    let credentials = Credentials::generate(names, now, entropy).map_err(DirectoryError::Generate)?;
    create(directory, &credentials)?;
    Ok(credentials)
}

/// Issues anew what is about to expire, and keeps it. Says what changed.
pub fn renew(
    directory: &Path,
    credentials: &mut Credentials,
    names: &ServingNames,
    now: Timestamp,
    entropy: &Entropy,
) -> Result<Renewed, DirectoryError> {
    let renewed = credentials
        .renew(names, now, entropy)
        .map_err(|source| DirectoryError::Unusable {
            directory: directory.to_owned(),
            source,
        })?;
    // Keys stay as they are, so that a certificate is exchanged by exchanging one file.
    for (is_new, name, pair) in [
        (renewed.serving, SERVING, &credentials.serving),
        (renewed.administrator, ADMINISTRATOR, &credentials.administrator),
    ] {
        if is_new {
            let file = certificate(directory, name);
            files::write_private(&file, &pair.certificate).map_err(|source| failed(&file, source))?;
        }
    }
    Ok(renewed)
}

/// Writes all files beside the directory's place, then moves them there in one step.
fn create(directory: &Path, credentials: &Credentials) -> Result<(), DirectoryError> {
    let draft = files::draft(directory);
    match fs::remove_dir_all(&draft) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => return Err(failed(&draft, source)),
        _ => {}
    }
    let created = DirBuilder::new().recursive(true).mode(PRIVATE).create(&draft);
    created.map_err(|source| failed(&draft, source))?;
    fill(&draft, credentials)?;
    let moved = files::sync_directory(&draft)
        .and_then(|()| fs::rename(&draft, directory))
        .and_then(|()| files::sync_parent(directory));
    moved.map_err(|source| failed(directory, source))
}

fn fill(directory: &Path, credentials: &Credentials) -> Result<(), DirectoryError> {
    let write =
        |file: PathBuf, content: &str| files::create_private(&file, content).map_err(|source| failed(&file, source));
    for (name, pair) in [
        (CLUSTER, &credentials.cluster),
        (FRONT_PROXY, &credentials.front_proxy),
        (SERVING, &credentials.serving),
        (ADMINISTRATOR, &credentials.administrator),
    ] {
        write(key(directory, name), pair.key.expose_secret())?;
        write(certificate(directory, name), &pair.certificate)?;
    }
    let service_accounts = credentials.service_account_key.expose_secret();
    write(directory.join(SERVICE_ACCOUNTS), service_accounts)
}

fn load(directory: &Path) -> Result<Credentials, DirectoryError> {
    let pair = |name: &str| {
        Ok(Pair {
            certificate: read(directory, certificate(directory, name))?,
            key: secret(directory, key(directory, name))?,
        })
    };
    Ok(Credentials {
        cluster: pair(CLUSTER)?,
        front_proxy: pair(FRONT_PROXY)?,
        serving: pair(SERVING)?,
        administrator: pair(ADMINISTRATOR)?,
        service_account_key: secret(directory, directory.join(SERVICE_ACCOUNTS))?,
    })
}

fn certificate(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("{name}.crt"))
}

fn key(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("{name}.key"))
}

fn secret(directory: &Path, file: PathBuf) -> Result<SecretString, DirectoryError> {
    read(directory, file).map(SecretString::from)
}

fn read(directory: &Path, file: PathBuf) -> Result<String, DirectoryError> {
    files::read(&file).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => DirectoryError::Missing {
            file,
            directory: directory.to_owned(),
        },
        _ => failed(&file, source),
    })
}

fn failed(path: &Path, source: io::Error) -> DirectoryError {
    DirectoryError::Io {
        path: path.to_owned(),
        source,
    }
}
