//! What is in the image that `hyperplane install` names. Certificates of public authorities are not: whatever the operators
//! call is named by a kubeconfig or a Secret that brings its own.

use std::{collections::BTreeMap, io, path::Path, process::Command};

use serde_json::Value;

use super::content::{Entry, Image};

/// Under which name releases are published; `hyperplane install` takes the same one by default.
pub const NAME: &str = "hyperplane.dev/hyperplane";

/// Where the binary is. Rendered manifests call it by its name, so its directory is all of the path.
pub const BINARY: &str = "usr/bin/hyperplane";

const PATH: &str = "/usr/bin";

/// Nobody in particular: the number that images without an operating system use for it.
const USER: &str = "65532:65532";

/// What stands before the name of a capability in the label that declares it, as managers of HyperShift read it.
const CAPABILITY: &str = "io.openshift.hypershift.";

/// What a program says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Its version.
    pub version: String,
    /// What the control-plane operator in it can do.
    pub capabilities: Vec<String>,
}

impl Facts {
    /// Asks a program.
    pub fn read(binary: &Path) -> io::Result<Self> {
        let output = Command::new(binary)
            .args(["version", "--client", "-o", "json"])
            .output()?;
        let said: Value = serde_json::from_slice(&output.stdout)?;
        let version = said["clientVersion"].as_str();
        let listed = said["operatorCapabilities"].as_array();
        let listed = listed.ok_or_else(|| io::Error::other("the program does not say what its operator can do"))?;
        Ok(Self {
            version: version
                .ok_or_else(|| io::Error::other("the program does not say its version"))?
                .to_owned(),
            capabilities: listed.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        })
    }
}

/// The image of a binary that needs no library. The resolver of the C library is in the binary and needs no configuration
/// but what a pod brings.
pub fn hyperplane<'a>(facts: &Facts, binary: &'a [u8]) -> Image<'a> {
    Image {
        names: vec![format!("{NAME}:v{}", facts.version)],
        user: USER.to_owned(),
        path: PATH.to_owned(),
        entrypoint: vec![format!("/{BINARY}")],
        labels: labels(facts),
        entries: vec![Entry::temporary_directory(), Entry::program(BINARY, binary)],
    }
}

fn labels(facts: &Facts) -> BTreeMap<String, String> {
    let label = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut labels = BTreeMap::from([
        label("org.opencontainers.image.title", "hyperplane"),
        label(
            "org.opencontainers.image.description",
            "Kubernetes control planes as workloads, and upgrades of whole fleets of them",
        ),
        label("org.opencontainers.image.version", &facts.version),
        label("org.opencontainers.image.licenses", "Apache-2.0"),
    ]);
    labels.extend(
        facts
            .capabilities
            .iter()
            .map(|name| label(&format!("{CAPABILITY}{name}"), "true")),
    );
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_image_declares_what_its_operator_can_do() {
        let facts = Facts {
            version: "0.1.0".to_owned(),
            capabilities: vec!["restricted-psa".to_owned()],
        };
        let image = hyperplane(&facts, b"binary");
        assert_eq!(image.names, ["hyperplane.dev/hyperplane:v0.1.0"]);
        assert_eq!(image.labels["io.openshift.hypershift.restricted-psa"], "true");
        let paths: Vec<&str> = image.entries.iter().map(|entry| entry.path.as_str()).collect();
        assert_eq!(paths, ["tmp", "usr/bin/hyperplane"]);
    }
}
