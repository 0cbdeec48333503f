//! Holds the files in `schemas/` equal to what the types derive.

use std::{collections::BTreeSet, env, fs, path::Path};

use serde_json::Value;

use crate::{KINDS, PROVIDER_KINDS, resource::KindDefinition};

/// `cargo xtask bless` sets it.
const BLESS: &str = "HYPERPLANE_BLESS";

fn kinds() -> impl Iterator<Item = KindDefinition> {
    KINDS.iter().chain(PROVIDER_KINDS).map(|definition| definition())
}

fn directory() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/schemas"))
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the switch of `cargo xtask bless`")]
fn schemas_are_what_the_types_derive() {
    let is_blessing = env::var_os(BLESS).is_some();
    for kind in kinds() {
        let derived = (kind.derive_schemas)();
        if is_blessing {
            fs::write(
                directory().join(format!("{}.json", kind.name())),
                format!("{derived:#}\n"),
            )
            .unwrap();
            continue;
        }
        let written: Value = serde_json::from_str(kind.schemas).unwrap();
        assert!(
            written == derived,
            "the schema of {} is not what its types derive: run `cargo xtask bless`",
            kind.name()
        );
        assert_eq!(written.get("status").is_some(), kind.has_status, "{}", kind.name());
    }
}

#[test]
fn every_file_belongs_to_a_kind() {
    let expected: BTreeSet<String> = kinds().map(|kind| format!("{}.json", kind.name())).collect();
    let files = fs::read_dir(directory()).unwrap();
    let files: BTreeSet<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(files, expected);
}
