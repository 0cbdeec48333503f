//! What is installed, as files: with everything as usual, and with a process of its own for machines. Definitions are
//! named only; their content is frozen where the kinds are. `cargo xtask bless` writes the files.

use std::{env, fs, path::PathBuf};

use hyperplane_install::{MachineManager, Options, manifests};
use serde_json::{Value, json};

/// Every file: its name, and what it is made from.
fn cases() -> [(&'static str, Options); 2] {
    let image = "hyperplane.dev/hyperplane:v0.0.0".to_owned();
    let usual = Options {
        image,
        ..Options::default()
    };
    let separate = Options {
        machines: MachineManager::Separate,
        monitoring: true,
        scope: Some("east".to_owned()),
        namespace: "east".to_owned(),
        ..usual.clone()
    };
    [("usual", usual), ("separate", separate)]
}

/// A definition without what it says, and nothing that changes with every release.
fn masked(mut object: Value) -> Value {
    if object["kind"] == "CustomResourceDefinition" {
        return json!({"kind": object["kind"], "name": object["metadata"]["name"]});
    }
    if let Some(version) = object.pointer_mut("/data/server-version") {
        *version = "masked".into();
    }
    object
}

#[test]
fn what_is_installed_is_as_recorded() {
    #[allow(
        clippy::disallowed_methods,
        reason = "the switch that writes golden files is a variable, as in every crate"
    )]
    let is_blessed = env::var_os("HYPERPLANE_BLESS").is_some();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for (name, options) in cases() {
        let documents = manifests(&options).into_iter().map(masked);
        let documents: Vec<String> = documents
            .map(|object| format!("---\n{}", serde_saphyr::to_string(&object).expect("JSON is YAML")))
            .collect();
        let text = documents.concat();
        let path = folder.join(format!("{name}.yaml"));
        if is_blessed {
            fs::write(&path, text).expect("the golden file can be written");
        } else {
            let recorded = fs::read_to_string(&path).unwrap_or_default();
            assert!(
                recorded == text,
                "{} differs from what is installed: `cargo xtask bless`, and read the difference",
                path.display()
            );
        }
    }
}
