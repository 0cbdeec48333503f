//! Credentials in real directories.

use std::{
    collections::BTreeMap,
    error::Error,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use super::*;

/// A place for credentials that goes away.
struct Place {
    path: PathBuf,
    _parent: TempDir,
}

impl Place {
    fn new() -> Self {
        let parent = tempfile::tempdir().unwrap();
        Self {
            path: parent.path().join("pki"),
            _parent: parent,
        }
    }

    fn open(&self, names: &ServingNames, now: Timestamp) -> Result<Credentials, DirectoryError> {
        open(&self.path, names, now, &counting())
    }

    /// All files with what is in them.
    fn files(&self) -> BTreeMap<String, String> {
        let entries = fs::read_dir(&self.path).unwrap().map(Result::unwrap);
        let content = |path: PathBuf| fs::read_to_string(path).unwrap();
        entries
            .map(|entry| (entry.file_name().into_string().unwrap(), content(entry.path())))
            .collect()
    }

    /// Which files differ from before.
    fn changed(&self, before: &BTreeMap<String, String>) -> Vec<String> {
        let now = self.files();
        assert!(now.keys().eq(before.keys()));
        now.into_iter()
            .filter(|(name, text)| before[name] != *text)
            .map(|(name, _)| name)
            .collect()
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_new_directory_is_private_on_disk() {
    let place = Place::new();
    let credentials = place.open(&names(), BIRTH).unwrap();
    assert_eq!(mode(&place.path), 0o700);
    let files = place.files();
    let expected = [
        "admin.crt",
        "admin.key",
        "apiserver.crt",
        "apiserver.key",
        "ca.crt",
        "ca.key",
        "front-proxy-ca.crt",
        "front-proxy-ca.key",
        "sa.key",
    ];
    assert_eq!(files.keys().collect::<Vec<_>>(), expected);
    for name in files.keys() {
        assert_eq!(mode(&place.path.join(name)), 0o600, "{name}");
    }
    assert_eq!(files["sa.key"], credentials.service_account_key.expose_secret());
}

#[test]
fn credentials_are_used_again_from_disk() {
    let place = Place::new();
    let first = place.open(&names(), BIRTH).unwrap();
    let files = place.files();
    let second = place.open(&names(), BIRTH + DAY).unwrap();
    assert_eq!(first.cluster.certificate, second.cluster.certificate);
    assert_eq!(place.changed(&files), Vec::<String>::new());
}

#[test]
fn renewal_exchanges_certificates_alone_on_disk() {
    let place = Place::new();
    place.open(&names(), BIRTH).unwrap();
    let files = place.files();
    place.open(&ServingNames::default(), BIRTH + DAY).unwrap();
    assert_eq!(place.changed(&files), ["apiserver.crt"]);
    place.open(&ServingNames::default(), BIRTH + 400 * DAY).unwrap();
    assert_eq!(place.changed(&files), ["admin.crt", "apiserver.crt"]);
    assert_eq!(mode(&place.path.join("admin.crt")), 0o600);
}

#[test]
fn a_start_that_was_cut_short_leaves_nothing_on_disk() {
    let place = Place::new();
    let draft = place.path.with_extension("new");
    fs::create_dir(&draft).unwrap();
    fs::write(draft.join("ca.key"), "half a key").unwrap();
    place.open(&names(), BIRTH).unwrap();
    assert!(!draft.exists());
    assert!(place.files()["ca.key"].contains("END PRIVATE KEY"));
}

#[test]
fn a_draft_that_others_could_read_is_not_written_into_on_disk() {
    let place = Place::new();
    place.open(&names(), BIRTH).unwrap();
    let draft = place.path.join("apiserver.crt.new");
    fs::write(&draft, "").unwrap();
    fs::set_permissions(&draft, fs::Permissions::from_mode(0o666)).unwrap();
    place.open(&ServingNames::default(), BIRTH).unwrap();
    assert_eq!(mode(&place.path.join("apiserver.crt")), 0o600);
    assert!(!draft.exists());
}

/// An error with all its sources.
fn whole(error: &dyn Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", whole(source)),
        None => error.to_string(),
    }
}

fn refusal_after(damage: impl FnOnce(&Path)) -> String {
    let place = Place::new();
    place.open(&names(), BIRTH).unwrap();
    damage(&place.path);
    let error = place.open(&names(), BIRTH).unwrap_err();
    whole(&error).replace(place.path.to_str().unwrap(), "PKI")
}

#[test]
fn a_missing_file_is_named_on_disk() {
    let error = refusal_after(|path| fs::remove_file(path.join("sa.key")).unwrap());
    assert!(
        error.starts_with("PKI/sa.key is missing: bring it back from a backup, or remove PKI"),
        "{error}"
    );
}

#[test]
fn a_damaged_file_is_named_on_disk() {
    let error = refusal_after(|path| fs::write(path.join("ca.crt"), "").unwrap());
    assert!(
        error.starts_with("the credentials in PKI cannot be used: bring them back"),
        "{error}"
    );
    assert!(
        error.ends_with("the cluster's certificate authority is damaged: it is no certificate in PEM"),
        "{error}"
    );
}

#[test]
fn what_is_no_text_or_too_long_is_not_read_on_disk() {
    for content in [vec![0xff; 10], vec![b'a'; 300 << 10]] {
        let error = refusal_after(|path| fs::write(path.join("ca.crt"), content).unwrap());
        assert!(error.starts_with("PKI/ca.crt cannot be read or written"), "{error}");
    }
}

#[test]
fn a_place_that_cannot_be_made_is_named_on_disk() {
    let parent = tempfile::tempdir().unwrap();
    let file = parent.path().join("file");
    fs::write(&file, "").unwrap();
    let error = open(&file.join("pki"), &names(), BIRTH, &counting())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("cannot be read or written: look at its owner and mode"),
        "{error}"
    );
}
