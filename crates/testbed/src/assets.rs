//! Where the Kubernetes and etcd binaries are, and which version they have. Shared with xtask, which builds them;
//! it must stay on the standard library alone and never start or build anything.

use std::{env, ffi::OsString, fmt, path::PathBuf};

use crate::parts::Part;

/// The Kubernetes that tests run against unless they say otherwise.
pub const KUBERNETES_VERSION: &str = "1.36.4";

/// The Kubernetes from which tests upgrade to that one: a patch of the minor before.
pub const PREVIOUS_KUBERNETES_VERSION: &str = "1.35.8";

/// Written last into a cache directory: where it is missing, the directory is half built and is not used.
pub const MANIFEST: &str = "manifest.json";

/// A program that the test bed can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Program {
    /// The store below the API server.
    Etcd,
    /// The API server.
    ApiServer,
    /// The controllers: namespaces, service accounts, garbage collection, workloads.
    ControllerManager,
    /// The scheduler.
    Scheduler,
    /// The command-line client.
    Kubectl,
    /// The way of an API server into the network of its nodes.
    KonnectivityServer,
    /// Ignition's own judgement of configs.
    IgnitionValidator,
    /// Runs pods on a node.
    Kubelet,
    /// Service addresses on a node.
    KubeProxy,
}

impl Program {
    /// What is built of the Kubernetes that tests run against.
    pub const ALL: [Self; 7] = [
        Self::Etcd,
        Self::ApiServer,
        Self::ControllerManager,
        Self::Scheduler,
        Self::Kubectl,
        Self::KonnectivityServer,
        Self::IgnitionValidator,
    ];

    /// What is built of the Kubernetes from which tests upgrade.
    pub const PREVIOUS: [Self; 3] = [Self::ApiServer, Self::ControllerManager, Self::Scheduler];

    /// What is built besides, of both versions, for tests with real pods.
    pub const NODE: [Self; 2] = [Self::Kubelet, Self::KubeProxy];

    /// What a directory that the user points at must hold; common bundles carry no more than these.
    const REQUIRED: [Self; 3] = [Self::Etcd, Self::ApiServer, Self::Kubectl];

    /// The name of the executable.
    pub fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::ApiServer => "kube-apiserver",
            Self::ControllerManager => "kube-controller-manager",
            Self::Scheduler => "kube-scheduler",
            Self::Kubectl => "kubectl",
            Self::KonnectivityServer => "proxy-server",
            Self::IgnitionValidator => "ignition-validate",
            Self::Kubelet => "kubelet",
            Self::KubeProxy => "kube-proxy",
        }
    }
}

/// A directory that holds the programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assets {
    /// The directory.
    pub directory: PathBuf,
}

impl Assets {
    /// The programs of `KUBEBUILDER_ASSETS` if it is set, else those that `cargo xtask kube-assets` built.
    pub fn locate() -> Result<Self, Error> {
        Environment::read().locate(KUBERNETES_VERSION)
    }

    /// The programs from which tests upgrade, which nobody brings.
    pub fn locate_previous() -> Result<Self, Error> {
        Environment::read().cached(PREVIOUS_KUBERNETES_VERSION)
    }

    /// The programs that were built of a version. Tests with real pods take no others: what users bring has no kubelet.
    pub fn locate_built(version: &str) -> Result<Self, Error> {
        Environment::read().cached(version)
    }

    /// The path of one program, which must exist.
    pub fn path(&self, program: Program) -> Result<PathBuf, Error> {
        let path = self.directory.join(program.name());
        if path.is_file() {
            Ok(path)
        } else {
            Err(Error::NoProgram {
                directory: self.directory.clone(),
                program,
            })
        }
    }
}

/// The part of the process environment that says where programs are.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `KUBEBUILDER_ASSETS`: a directory of programs that the user brings.
    pub kubebuilder_assets: Option<PathBuf>,
    /// `XDG_CACHE_HOME`: where this user's caches are.
    pub cache_home: Option<PathBuf>,
    /// `HOME`: below it lies `.cache` when no cache directory is named.
    pub home: Option<PathBuf>,
}

impl Environment {
    /// Reads the environment of this process. An empty variable counts as unset, as shells make them.
    pub fn read() -> Self {
        let path = |name| {
            env::var_os(name)
                .filter(|value: &OsString| !value.is_empty())
                .map(PathBuf::from)
        };
        Self {
            kubebuilder_assets: path("KUBEBUILDER_ASSETS"),
            cache_home: path("XDG_CACHE_HOME"),
            home: path("HOME"),
        }
    }

    /// The programs of the user if there are any, else the cached ones of this version.
    pub fn locate(&self, version: &str) -> Result<Assets, Error> {
        match &self.kubebuilder_assets {
            Some(directory) => brought(directory.clone()),
            None => self.cached(version),
        }
    }

    /// The programs that were built for this version, if their build was finished.
    pub fn cached(&self, version: &str) -> Result<Assets, Error> {
        let directory = self.cache_directory(version)?;
        if directory.join(MANIFEST).is_file() {
            Ok(Assets { directory })
        } else {
            Err(Error::NotBuilt {
                directory,
                version: version.to_owned(),
            })
        }
    }

    /// Where the programs of this version are kept once they are built.
    pub fn cache_directory(&self, version: &str) -> Result<PathBuf, Error> {
        Ok(self.our_cache()?.join("kube").join(version))
    }

    /// Where what is built beside Kubernetes is kept, a directory for each.
    pub fn parts_directory(&self) -> Result<PathBuf, Error> {
        Ok(self.our_cache()?.join("parts"))
    }

    fn our_cache(&self) -> Result<PathBuf, Error> {
        let cache = match (&self.cache_home, &self.home) {
            (Some(cache), _) => cache.clone(),
            (None, Some(home)) => home.join(".cache"),
            (None, None) => return Err(Error::NoCacheDirectory),
        };
        Ok(cache.join("hyperplane"))
    }
}

/// Why no programs were found. Each says what to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Error {
    /// Neither the user nor the cache has them.
    NotBuilt {
        /// Where they would be.
        directory: PathBuf,
        /// The version that was asked for.
        version: String,
    },
    /// A directory lacks a program.
    NoProgram {
        /// The directory.
        directory: PathBuf,
        /// The program.
        program: Program,
    },
    /// A program beside Kubernetes was not built.
    NoPart {
        /// Where it would be.
        path: PathBuf,
        /// The program.
        part: Part,
    },
    /// The environment names no place for caches.
    NoCacheDirectory,
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotBuilt { directory, version } => write!(
                formatter,
                "no Kubernetes {version} in {}: run `cargo xtask kube-assets --version {version}`, \
                 or set KUBEBUILDER_ASSETS to a directory that holds etcd, kube-apiserver and kubectl",
                directory.display()
            ),
            Self::NoProgram { directory, program } if Program::NODE.contains(program) => write!(
                formatter,
                "{} holds no {}: run `cargo xtask kube-assets --pods`",
                directory.display(),
                program.name()
            ),
            Self::NoPart { path, part } => write!(
                formatter,
                "no {} in {}: run `cargo xtask kube-assets --pods`",
                part.name(),
                path.display()
            ),
            Self::NoProgram { directory, program } => write!(
                formatter,
                "{} holds no {}: add it, or unset KUBEBUILDER_ASSETS and run `cargo xtask kube-assets`",
                directory.display(),
                program.name()
            ),
            Self::NoCacheDirectory => {
                write!(
                    formatter,
                    "neither XDG_CACHE_HOME nor HOME is set: set one, or KUBEBUILDER_ASSETS"
                )
            }
        }
    }
}

impl std::error::Error for Error {}

fn brought(directory: PathBuf) -> Result<Assets, Error> {
    let assets = Assets { directory };
    for program in Program::REQUIRED {
        assets.path(program)?;
    }
    Ok(assets)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn environment(root: &std::path::Path) -> Environment {
        Environment {
            cache_home: Some(root.to_owned()),
            ..Environment::default()
        }
    }

    #[test]
    fn a_half_built_directory_is_not_used() {
        let root = tempfile::tempdir().unwrap();
        let environment = environment(root.path());
        let directory = environment.cache_directory("1.2.3").unwrap();
        fs::create_dir_all(&directory).unwrap();
        for program in Program::ALL {
            fs::write(directory.join(program.name()), "").unwrap();
        }
        let refused = environment.locate("1.2.3").unwrap_err();
        assert!(
            refused.to_string().contains("cargo xtask kube-assets --version 1.2.3"),
            "{refused}"
        );

        fs::write(directory.join(MANIFEST), "{}").unwrap();
        assert_eq!(environment.locate("1.2.3"), Ok(Assets { directory }));
    }

    #[test]
    fn what_the_user_brings_comes_first_and_must_be_complete() {
        let root = tempfile::tempdir().unwrap();
        let brought = root.path().join("brought");
        fs::create_dir_all(&brought).unwrap();
        let environment = Environment {
            kubebuilder_assets: Some(brought.clone()),
            ..environment(root.path())
        };
        for program in Program::REQUIRED {
            let refused = environment.locate("1.2.3").unwrap_err();
            assert_eq!(
                refused,
                Error::NoProgram {
                    directory: brought.clone(),
                    program
                }
            );
            fs::write(brought.join(program.name()), "").unwrap();
        }
        assert_eq!(environment.locate("1.2.3"), Ok(Assets { directory: brought }));
    }

    #[test]
    fn caches_lie_in_the_cache_directory_or_below_home() {
        let home = Environment {
            home: Some("/home/ada".into()),
            ..Environment::default()
        };
        assert_eq!(
            home.cache_directory("1").unwrap(),
            PathBuf::from("/home/ada/.cache/hyperplane/kube/1")
        );
        let both = Environment {
            cache_home: Some("/cache".into()),
            ..home
        };
        assert_eq!(
            both.cache_directory("1").unwrap(),
            PathBuf::from("/cache/hyperplane/kube/1")
        );
        assert_eq!(
            Environment::default().cache_directory("1"),
            Err(Error::NoCacheDirectory)
        );
    }
}
