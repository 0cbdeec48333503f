//! Puts a dump where its owner alone reads it: into a directory, or into one archive.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use flate2::{Compression, write::GzEncoder};

use super::Dump;

/// Only their owner reads files, and looks into directories.
const FILE: u32 = 0o600;
const DIRECTORY: u32 = 0o700;

/// A directory with everything in it. One that is there is not added to: two dumps in one would mislead.
pub(super) fn directory(dump: &Dump, place: &Path, title: &str) -> anyhow::Result<PathBuf> {
    let root = place.join(title);
    write_directory(dump, &root).with_context(|| told(&root))?;
    Ok(root)
}

/// An archive with everything in it.
pub(super) fn archive(dump: &Dump, place: &Path, title: &str) -> anyhow::Result<PathBuf> {
    let path = place.join(format!("{title}.tar.gz"));
    write_archive(dump, place, &path, title).with_context(|| told(&path))?;
    Ok(path)
}

fn told(path: &Path) -> String {
    format!(
        "{} cannot be written: remove what is there, or give another --artifact-dir",
        path.display()
    )
}

fn write_directory(dump: &Dump, root: &Path) -> io::Result<()> {
    if let Some(parent) = root.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::DirBuilder::new().mode(DIRECTORY).create(root)?;
    for (name, text) in &dump.files {
        let path = root.join(name);
        if let Some(parent) = path.parent() {
            fs::DirBuilder::new().recursive(true).mode(DIRECTORY).create(parent)?;
        }
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(FILE)
            .open(path)?
            .write_all(text.as_bytes())?;
    }
    Ok(())
}

fn write_archive(dump: &Dump, place: &Path, path: &Path, title: &str) -> io::Result<()> {
    fs::create_dir_all(place)?;
    let file = OpenOptions::new().write(true).create_new(true).mode(FILE).open(path)?;
    let mut archive = tar::Builder::new(GzEncoder::new(file, Compression::default()));
    for (name, text) in &dump.files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(FILE);
        archive.append_data(&mut header, format!("{title}/{name}"), text.as_bytes())?;
    }
    archive.into_inner()?.finish()?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn a_directory_and_an_archive_hold_the_same_and_are_private() {
        use std::os::unix::fs::PermissionsExt as _;

        let place = tempfile::tempdir().unwrap();
        let mut dump = Dump::default();
        dump.files.insert("summary.txt".to_owned(), "all is well\n".to_owned());
        dump.files.insert(
            format!("namespaces/{}/pods.yaml", "n".repeat(150)),
            "items: []\n".to_owned(),
        );
        let root = directory(&dump, place.path(), "dump").unwrap();
        let path = archive(&dump, place.path(), "dump").unwrap();
        for path in [&root.join("summary.txt"), &path] {
            assert_eq!(
                fs::metadata(path).unwrap().permissions().mode() & 0o077,
                0,
                "{}",
                path.display()
            );
        }
        let mut read = tar::Archive::new(flate2::read::GzDecoder::new(fs::File::open(&path).unwrap()));
        for entry in read.entries().unwrap() {
            let mut entry = entry.unwrap();
            let name = entry.path().unwrap().into_owned();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            assert_eq!(
                fs::read_to_string(place.path().join(&name)).unwrap(),
                text,
                "{}",
                name.display()
            );
        }
        assert!(
            directory(&dump, place.path(), "dump")
                .unwrap_err()
                .to_string()
                .contains("--artifact-dir")
        );
    }
}
