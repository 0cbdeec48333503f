//! Real directories: who may use them, and what is in them after an accident.

use std::{fs, path::Path};

use hyperplane_store::{Directory, DirectoryError, FormatError, Limits, OpenError, Store, fsck};
use tempfile::tempdir;

use crate::{
    running::{Running, key},
    text::Text,
};

fn running(path: &Path) -> Running {
    Running::on(Directory::open(path).unwrap(), Limits::default())
}

fn open(path: &Path) -> Result<Store<Text>, OpenError> {
    Store::open(Directory::open(path).unwrap(), Limits::default(), Vec::new()).map(|(store, _)| store)
}

fn segments(path: &Path) -> Vec<String> {
    let names = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("log-")).collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn a_store_in_real_files_comes_back() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("made/when/needed");
    let long = "y".repeat(300_000);
    let first = running(&path);
    first.put("c", "n/a", "1").await;
    first.put("c", "n/b", &long).await;
    first.put("c", "n/a", "3").await;
    first.close().await;
    let second = running(&path);
    assert_eq!(second.store.snapshot().get(&key("c", "n/a")).unwrap().payload.0, "3");
    assert_eq!(second.store.snapshot().get(&key("c", "n/b")).unwrap().payload.0, long);
    second.delete("c", "n/b").await;
    second.close().await;
    let store = open(&path).unwrap();
    assert_eq!((store.snapshot().revision().0, store.snapshot().count("c")), (4, 1));
    drop(store);
    let report = fsck(&mut Directory::open(&path).unwrap());
    assert!(report.is_clean(), "{report}");
    assert_eq!((report.revision.0, report.entries), (4, 1));
}

#[tokio::test]
async fn a_real_directory_is_used_by_one_at_a_time() {
    let directory = tempdir().unwrap();
    let held = Directory::open(directory.path()).unwrap();
    let error = Directory::open(directory.path()).unwrap_err();
    assert!(matches!(&error, DirectoryError::Locked(path) if path == directory.path()));
    assert!(error.to_string().contains("stop that one first"), "{error}");
    drop(held);
    let running = running(directory.path());
    running.put("c", "a", "1").await;
    assert!(matches!(
        Directory::open(directory.path()),
        Err(DirectoryError::Locked(_))
    ));
    // The lock goes with the writer, which holds the disk.
    let store = running.close().await;
    assert!(Directory::open(directory.path()).is_ok());
    drop(store);
}

#[test]
fn a_real_directory_of_somebody_else_is_left_alone() {
    let directory = tempdir().unwrap();
    fs::create_dir(directory.path().join("lost+found")).unwrap();
    fs::write(directory.path().join("thesis.tex"), "precious").unwrap();
    let error = Directory::open(directory.path()).unwrap_err();
    assert!(
        matches!(&error, DirectoryError::Foreign { foreign, .. } if foreign == "thesis.tex"),
        "{error}"
    );
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "nothing was added");
    fs::remove_file(directory.path().join("thesis.tex")).unwrap();
    assert!(open(directory.path()).is_ok());
    fs::write(directory.path().join("README"), "added later by the owner").unwrap();
    assert!(open(directory.path()).is_ok(), "ours may hold other files");
}

#[test]
fn real_files_of_another_format_are_refused() {
    let directory = tempdir().unwrap();
    open(directory.path()).unwrap();
    let format = directory.path().join("FORMAT");
    let product = env!("CARGO_PKG_VERSION");
    assert_eq!(
        fs::read_to_string(&format).unwrap(),
        format!("{{\"format\":1,\"product\":\"{product}\"}}\n")
    );
    fs::write(&format, r#"{"format":2,"product":"9.8.7","more":true}"#).unwrap();
    let error = open(directory.path()).unwrap_err();
    assert!(matches!(
        &error,
        OpenError::Format(FormatError::Newer { format: 2, .. })
    ));
    assert!(
        error.to_string().contains("start release 9.8.7 or a newer one"),
        "{error}"
    );
    fs::write(&format, r#"{"format":0,"product":"0.0.1"}"#).unwrap();
    assert!(matches!(
        open(directory.path()),
        Err(OpenError::Format(FormatError::Older { format: 0, .. }))
    ));
    fs::write(&format, "{").unwrap();
    assert!(matches!(
        open(directory.path()),
        Err(OpenError::Format(FormatError::Unreadable(_)))
    ));
    fs::write(&format, r#"{"format":1,"product":"0.0.1"}"#).unwrap();
    open(directory.path()).unwrap();
    assert!(
        fs::read_to_string(&format).unwrap().contains(product),
        "the release that writes now is named"
    );
}

#[tokio::test]
async fn a_torn_real_file_loses_only_its_last_write() {
    let directory = tempdir().unwrap();
    let first = running(directory.path());
    first.put("c", "a", "1").await;
    first.put("c", "a", &"z".repeat(5000)).await;
    // As a process that is killed: the lock goes, nothing is closed.
    first.writer.abort();
    assert!(first.writer.await.unwrap_err().is_cancelled());
    drop(first.store);
    let newest = directory.path().join(segments(directory.path()).pop().unwrap());
    let bytes = fs::read(&newest).unwrap();
    let content = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    fs::write(&newest, &bytes[..content - 100]).unwrap();
    let report = fsck(&mut Directory::open(directory.path()).unwrap());
    assert!(report.is_clean() && report.torn_bytes > 4000, "{report}");
    let (_, writer) = Store::<Text>::open(
        Directory::open(directory.path()).unwrap(),
        Limits::default(),
        Vec::new(),
    )
    .unwrap();
    assert!(writer.torn_bytes() > 4000);
    drop(writer);
    let second = running(directory.path());
    assert_eq!(second.store.snapshot().get(&key("c", "a")).unwrap().payload.0, "1");
    second.put("c", "a", "2").await;
    second.close().await;
    assert_eq!(open(directory.path()).unwrap().snapshot().revision().0, 2);
}
