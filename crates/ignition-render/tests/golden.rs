//! What machines are told, as files. Pools keep their revision until they roll, so these files change only with a revision
//! of their own; `cargo xtask bless` writes them.

use std::{env, fmt::Write as _, fs, path::PathBuf};

use hyperplane_ignition_render::{
    source::{self, Source},
    worker::RENDER_REVISION,
};
use serde_json::Value;

use crate::support::cases;

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
