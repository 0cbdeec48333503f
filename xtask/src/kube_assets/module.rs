//! The Go module from which the programs are built, as text. Pure: it is told what Kubernetes requires.

use anyhow::{Context, Result};
use hyperplane_testbed::{assets::Program, parts::KONNECTIVITY_VERSION};
use serde_json::Value;

use super::version::Version;

/// The module that holds most of the programs.
pub(crate) const KUBERNETES: &str = "k8s.io/kubernetes";

/// The module that holds etcd.
const ETCD: &str = "go.etcd.io/etcd/server/v3";

/// The module that holds both ends of konnectivity.
pub(crate) const KONNECTIVITY: &str = "sigs.k8s.io/apiserver-network-proxy";

/// The version of Go that it asks for.
const KONNECTIVITY_GO: &str = "1.26.2";

/// The module that holds Ignition, its version, and the version of Go that it asks for. Machines have Ignition from their
/// image; the newest is at least as strict as those.
const IGNITION: &str = "github.com/coreos/ignition/v2";
const IGNITION_VERSION: &str = "v2.24.0";
const IGNITION_GO: &str = "1.24.0";

/// From which module file a program is built. Each has what it requires for itself: what one program requires would change
/// what another is built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// That of Kubernetes and etcd.
    Kubernetes,
    /// That of konnectivity.
    Konnectivity,
    /// That of Ignition.
    Ignition,
}

impl Home {
    /// Those whose module file follows from nothing else.
    pub(crate) const APART: [Self; 2] = [Self::Konnectivity, Self::Ignition];

    /// The home of a program.
    pub(crate) fn of(program: Program) -> Self {
        match program {
            Program::KonnectivityServer => Self::Konnectivity,
            Program::IgnitionValidator => Self::Ignition,
            Program::Etcd
            | Program::ApiServer
            | Program::ControllerManager
            | Program::Scheduler
            | Program::Kubectl
            | Program::Kubelet
            | Program::KubeProxy => Self::Kubernetes,
        }
    }

    /// The directory that it is built in.
    pub(crate) fn directory(self) -> &'static str {
        match self {
            Self::Kubernetes => "kubernetes",
            Self::Konnectivity => "konnectivity",
            Self::Ignition => "ignition",
        }
    }

    /// The module file of one that stands apart.
    pub(crate) fn module_file(self) -> Option<String> {
        match self {
            Self::Kubernetes => None,
            Self::Konnectivity => Some(konnectivity_file()),
            Self::Ignition => Some(format!(
                "module kubeassets\n\ngo {IGNITION_GO}\n\nrequire {IGNITION} {IGNITION_VERSION}\n"
            )),
        }
    }
}

/// What Kubernetes' own module file says, as far as it matters here.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The Go language version.
    go: String,
    /// The version of etcd that Kubernetes is built and tested with.
    pub(crate) etcd: String,
    /// The modules that Kubernetes publishes beside itself.
    staging: Vec<String>,
}

impl Facts {
    /// Reads what `go mod edit -json` prints of Kubernetes' module file.
    pub(crate) fn read(module_file: &Value) -> Result<Self> {
        let requirements = module_file["Require"]
            .as_array()
            .context("Kubernetes' go.mod requires nothing")?;
        let required = |it: &Value| Some((it["Path"].as_str()?.to_owned(), it["Version"].as_str()?.to_owned()));
        let required: Vec<_> = requirements.iter().filter_map(required).collect();
        let etcd = required
            .iter()
            .find(|(path, _)| path == ETCD)
            .context("Kubernetes' go.mod requires no etcd")?;
        // Inside of Kubernetes' own repository those lie beside it, and v0.0.0 stands in for their version. Other
        // modules of k8s.io have real versions, some of which begin with v0.0.0 as well.
        let staging = required.iter().filter(|(_, version)| version == "v0.0.0");
        Ok(Self {
            go: module_file["Go"]
                .as_str()
                .context("Kubernetes' go.mod names no version of Go")?
                .to_owned(),
            etcd: etcd.1.clone(),
            staging: staging.map(|(path, _)| path.clone()).collect(),
        })
    }

    /// The module file for some programs.
    pub(crate) fn module_file(&self, version: Version, programs: &[Program]) -> String {
        let staging_version = version.staging();
        let replacement = |path: &String| format!("\t{path} => {path} {staging_version}\n");
        let replacements = self.staging.iter().map(replacement).collect::<Vec<_>>().concat();
        let etcd = if programs.contains(&Program::Etcd) {
            format!("\t{ETCD} {}\n", self.etcd)
        } else {
            String::new()
        };
        format!(
            "module kubeassets\n\n\
             go {}\n\n\
             require (\n{etcd}\t{KUBERNETES} v{version}\n)\n\n\
             replace (\n{replacements})\n",
            self.go
        )
    }
}

/// The module file of a program of konnectivity. It has one of its own: what it requires would change what Kubernetes is
/// built with. Inside of its own repository its client lies beside it, so a version of that is named.
pub(crate) fn konnectivity_file() -> String {
    format!(
        "module kubeassets\n\n\
         go {KONNECTIVITY_GO}\n\n\
         require (\n\t{KONNECTIVITY} {KONNECTIVITY_VERSION}\n\t{KONNECTIVITY}/konnectivity-client {KONNECTIVITY_VERSION}\n)\n"
    )
}

/// A source file that imports programs, so that Go keeps what they need.
pub(crate) fn source_file(programs: &[Program]) -> String {
    let packages: Vec<String> = programs.iter().map(|program| package(*program)).collect();
    importing(packages.iter().map(String::as_str))
}

/// A source file that imports packages.
pub(crate) fn importing<'a>(packages: impl IntoIterator<Item = &'a str>) -> String {
    let import = |package: &str| format!("\t_ \"{package}\"\n");
    let imports = packages.into_iter().map(import).collect::<Vec<_>>().concat();
    format!("//go:build tools\n\npackage kubeassets\n\nimport (\n{imports})\n")
}

/// The Go package of a program.
pub(crate) fn package(program: Program) -> String {
    match program {
        Program::Etcd => ETCD.to_owned(),
        Program::KonnectivityServer => format!("{KONNECTIVITY}/cmd/server"),
        Program::IgnitionValidator => format!("{IGNITION}/validate"),
        kubernetes => format!("{KUBERNETES}/cmd/{}", kubernetes.name()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn facts() -> Facts {
        Facts::read(&json!({
            "Go": "1.26.0",
            "Require": [
                {"Path": "go.etcd.io/etcd/server/v3", "Version": "v3.6.8", "Indirect": true},
                {"Path": "k8s.io/api", "Version": "v0.0.0"},
                {"Path": "k8s.io/klog/v2", "Version": "v2.140.0"},
                {"Path": "k8s.io/kubectl", "Version": "v0.0.0"},
                {"Path": "k8s.io/utils", "Version": "v0.0.0-20260210185600-b8788abfbbc2"},
            ],
        }))
        .unwrap()
    }

    #[test]
    fn exactly_the_staging_modules_are_replaced() {
        let expected = "module kubeassets\n\n\
            go 1.26.0\n\n\
            require (\n\tgo.etcd.io/etcd/server/v3 v3.6.8\n\tk8s.io/kubernetes v1.36.4\n)\n\n\
            replace (\n\tk8s.io/api => k8s.io/api v0.36.4\n\tk8s.io/kubectl => k8s.io/kubectl v0.36.4\n)\n";
        assert_eq!(facts().module_file("1.36.4".parse().unwrap(), &Program::ALL), expected);
    }

    #[test]
    fn only_modules_of_the_programs_are_required() {
        let text = facts().module_file("1.35.8".parse().unwrap(), &Program::PREVIOUS);
        assert!(text.contains("require (\n\tk8s.io/kubernetes v1.35.8\n)\n"), "{text}");
    }

    #[test]
    fn a_module_file_without_etcd_is_refused() {
        let refused = Facts::read(&json!({"Go": "1.26.0", "Require": []})).unwrap_err();
        assert_eq!(refused.to_string(), "Kubernetes' go.mod requires no etcd");
    }

    #[test]
    fn programs_apart_have_module_files_of_their_own() {
        for home in Home::APART {
            let programs: Vec<_> = Program::ALL.into_iter().filter(|it| Home::of(*it) == home).collect();
            assert_eq!(programs.len(), 1, "{home:?}");
            let text = home.module_file().unwrap();
            let module = [KONNECTIVITY, IGNITION]
                .into_iter()
                .find(|module| text.contains(module))
                .unwrap();
            assert!(package(programs[0]).starts_with(module), "{text}");
        }
        assert_eq!(Home::Kubernetes.module_file(), None);
    }

    #[test]
    fn all_programs_are_imported() {
        let source = source_file(&Program::ALL);
        for package in ["go.etcd.io/etcd/server/v3", "k8s.io/kubernetes/cmd/kube-apiserver"] {
            assert!(source.contains(&format!("\t_ \"{package}\"\n")), "{source}");
        }
        assert_eq!(source.matches("\t_ ").count(), Program::ALL.len());
    }
}
