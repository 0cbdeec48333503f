//! The format of an OCI image as one archive: a tar with three documents and a layer, each named by its digest. The same
//! content gives the same bytes.

use std::io::Write as _;

use anyhow::Result;
use flate2::{Compression, GzBuilder};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};

use super::content::{Entry, Image};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIGURATION: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// Something that is referred to by its digest.
struct Blob {
    media_type: &'static str,
    content: Vec<u8>,
}

impl Blob {
    fn document(media_type: &'static str, document: &Value) -> Self {
        Self {
            media_type,
            content: document.to_string().into_bytes(),
        }
    }

    /// How others refer to it.
    fn descriptor(&self) -> Value {
        json!({"mediaType": self.media_type, "digest": digest(&self.content), "size": self.content.len()})
    }
}

/// The archive of an image.
pub(super) fn archive(image: &Image) -> Result<Vec<u8>> {
    let files = packed(&image.entries())?;
    let layer = Blob {
        media_type: LAYER,
        content: compressed(&files)?,
    };
    let configuration = Blob::document(CONFIGURATION, &image.configuration(&digest(&files)));
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": configuration.descriptor(),
        "layers": [layer.descriptor()],
    });
    let manifest = Blob::document(MANIFEST, &manifest);
    let index = index(image, &manifest).to_string();
    let mut blobs: Vec<(String, Vec<u8>)> = [layer, configuration, manifest]
        .into_iter()
        .map(|blob| (digest(&blob.content).replace(':', "/"), blob.content))
        .collect();
    blobs.sort();
    let blobs: Vec<(String, Vec<u8>)> = blobs
        .into_iter()
        .map(|(name, content)| (format!("blobs/{name}"), content))
        .collect();
    let mut entries = vec![
        file("oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#),
        file("index.json", index.as_bytes()),
        directory("blobs/"),
        directory("blobs/sha256/"),
    ];
    entries.extend(blobs.iter().map(|(path, content)| file(path, content)));
    packed(&entries)
}

/// The document with which every reader begins. Readers differ in where they look for the name.
fn index(image: &Image, manifest: &Blob) -> Value {
    let mut descriptor = manifest.descriptor();
    descriptor["platform"] = json!({"architecture": "amd64", "os": "linux"});
    descriptor["annotations"] = json!({
        "io.containerd.image.name": image.name,
        "org.opencontainers.image.ref.name": image.tag(),
    });
    json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [descriptor]})
}

fn file<'a>(path: &'a str, content: &'a [u8]) -> Entry<'a> {
    Entry {
        path,
        mode: 0o644,
        content,
    }
}

fn directory(path: &str) -> Entry<'_> {
    Entry {
        path,
        mode: 0o755,
        content: &[],
    }
}

/// A tar that says nothing of who made it and when.
fn packed(entries: &[Entry<'_>]) -> Result<Vec<u8>> {
    let mut builder = Builder::new(Vec::new());
    for entry in entries {
        let mut header = Header::new_gnu();
        header.set_entry_type(if entry.path.ends_with('/') {
            EntryType::Directory
        } else {
            EntryType::Regular
        });
        header.set_mode(entry.mode);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_size(entry.content.len() as u64);
        builder.append_data(&mut header, entry.path, entry.content)?;
    }
    Ok(builder.into_inner()?)
}

fn compressed(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzBuilder::new().write(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

fn digest(bytes: &[u8]) -> String {
    let digits: Vec<String> = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{}", digits.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_binary_gives_the_same_archive() {
        let of = |binary: &[u8]| archive(&Image::of_version("0.1.0", binary.to_vec(), Vec::new())).unwrap();
        assert_eq!(of(b"one"), of(b"one"));
        assert_ne!(of(b"one"), of(b"two"));
    }

    #[test]
    fn digests_are_those_of_sha_256() {
        let expected = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(digest(b""), expected);
    }
}
