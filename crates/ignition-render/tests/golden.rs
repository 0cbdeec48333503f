//! What machines are told, as files. Pools keep their revision until they roll, so these files change only with a revision
//! of their own; `cargo xtask bless` writes them.

mod support;

use std::{env, fmt::Write as _, fs, path::PathBuf};

use hyperplane_api::hypershift::platform_type::PlatformType;
use hyperplane_ignition_render::{
    source::{self, Source},
    worker::RENDER_REVISION,
};
use serde_json::{Value, json};
use support::{World, configuration};

const CONFIG: &str = "\
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata: {name: 50-motd}
spec:
  kernelArguments: [quiet]
  config:
    ignition: {version: 3.2.0}
    storage:
      files:
        - path: /etc/motd
          mode: 0644
          contents: {source: 'data:,hello%0A'}
---
apiVersion: machineconfiguration.openshift.io/v1
kind: KubeletConfig
metadata: {name: big-pods}
spec:
  kubeletConfig: {maxPods: 500}
---
apiVersion: config.openshift.io/v1
kind: ImageDigestMirrorSet
metadata: {name: mirrors}
spec:
  imageDigestMirrors:
    - {source: quay.io, mirrors: [mirror.example.com/quay]}
";

fn cases() -> Vec<(&'static str, World)> {
    let mut full = World::new(PlatformType::KubeVirt);
    full.configuration = configuration(json!({
        "proxy": {"httpsProxy": "http://user:100%25@proxy.example.com:3128", "noProxy": "example.com"},
        "apiServer": {"tlsSecurityProfile": {"type": "Modern"}},
        "image": {"registrySources": {"insecureRegistries": ["lab.example.com:5000"]}},
    }));
    "AUTHORITY\n".clone_into(&mut full.trust_bundle);
    let authority = ("mirror.example.com".to_owned(), "AUTHORITY OF THE MIRROR\n".to_owned());
    full.registry_authorities.extend([authority]);
    "ssh-ed25519 AAAA admin@example.com\n".clone_into(&mut full.ssh_keys);
    full.config = vec![("config".to_owned(), CONFIG.to_owned())];
    vec![
        ("agent", World::new(PlatformType::Agent)),
        ("kubevirt", World::new(PlatformType::KubeVirt)),
        ("kubevirt-full", full),
        ("none", World::new(PlatformType::None)),
    ]
}

#[test]
fn the_revision_renders_as_recorded() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/revision-{RENDER_REVISION}"));
    #[allow(
        clippy::disallowed_methods,
        reason = "the switch that writes golden files is a variable, as in every crate"
    )]
    let is_blessed = env::var_os("HYPERPLANE_BLESS").is_some();
    let mut wrong = Vec::new();
    for (name, world) in cases() {
        let path = folder.join(format!("{name}.txt"));
        let text = shown(&world.payload());
        if is_blessed {
            fs::create_dir_all(&folder).expect("the folder can be made");
            fs::write(&path, text).expect("the golden file can be written");
        } else if fs::read_to_string(&path).ok().as_deref() != Some(text.as_str()) {
            wrong.push(name);
        }
    }
    assert!(
        wrong.is_empty(),
        "{wrong:?} are rendered otherwise than recorded. Give the change a revision of its own, or, before the first \
         release, `cargo xtask bless` and read the difference"
    );
}

/// A payload as people read it: the config with the content of files and units below it.
fn shown(payload: &Value) -> String {
    let mut payload = payload.clone();
    let mut text = String::new();
    for file in payload["storage"]["files"].as_array_mut().into_iter().flatten() {
        let url = file["contents"]["source"].take();
        let Ok(Source::Data(content)) = source::parse(url.as_str().unwrap_or_default()) else {
            panic!("{url} holds no content");
        };
        let content = String::from_utf8(content).expect("every file is text");
        writeln!(text, "=== {}\n{content}", file["path"].as_str().unwrap_or_default())
            .expect("memory can be written to");
    }
    for unit in payload["systemd"]["units"].as_array_mut().into_iter().flatten() {
        let contents = unit["contents"].take();
        let contents = contents.as_str().unwrap_or_default();
        writeln!(text, "=== {}\n{contents}", unit["name"].as_str().unwrap_or_default())
            .expect("memory can be written to");
    }
    format!("{payload:#}\n\n{text}")
}
