//! The format of an OCI image as one archive: a tar with documents and a layer, each named by its digest. The same
//! content gives the same bytes.

use std::io::{self, Write};

use flate2::{Compression, GzBuilder};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};

use super::content::{Capability, Content, Entry, Image};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIGURATION: &str = "application/vnd.oci.image.config.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// How extended attributes are called in a tar; what containerd and Docker write and read.
const ATTRIBUTE_PREFIX: &str = "SCHILY.xattr.";

/// Whether a layer is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerFormat {
    /// For what is sent somewhere.
    Gzip,
    /// For what stays on this machine: compressing takes longer than everything else.
    Plain,
}

impl LayerFormat {
    fn media_type(self) -> &'static str {
        match self {
            Self::Gzip => "application/vnd.oci.image.layer.v1.tar+gzip",
            Self::Plain => "application/vnd.oci.image.layer.v1.tar",
        }
    }
}

/// Something that is referred to by its digest.
struct Blob {
    media_type: &'static str,
    digest: String,
    content: Vec<u8>,
}

impl Blob {
    fn new(media_type: &'static str, content: Vec<u8>) -> Self {
        let digest = digest(&content);
        Self {
            media_type,
            digest,
            content,
        }
    }

    fn document(media_type: &'static str, document: &Value) -> Self {
        Self::new(media_type, document.to_string().into_bytes())
    }

    /// How others refer to it.
    fn descriptor(&self) -> Value {
        json!({"mediaType": self.media_type, "digest": self.digest, "size": self.content.len()})
    }

    fn path(&self) -> String {
        format!("blobs/{}", self.digest.replace(':', "/"))
    }
}

/// Writes the archive of an image.
pub fn write(image: &Image<'_>, format: LayerFormat, output: impl Write) -> io::Result<()> {
    let files = layer(image)?;
    let (layer, digest_of_files) = match format {
        LayerFormat::Gzip => {
            let digest_of_files = digest(&files);
            (Blob::new(format.media_type(), compressed(&files)?), digest_of_files)
        }
        LayerFormat::Plain => {
            let layer = Blob::new(format.media_type(), files);
            let digest_of_files = layer.digest.clone();
            (layer, digest_of_files)
        }
    };
    let configuration = Blob::document(CONFIGURATION, &image.configuration(&digest_of_files));
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": configuration.descriptor(),
        "layers": [layer.descriptor()],
    });
    let manifest = Blob::document(MANIFEST, &manifest);
    let index = index(image, &manifest).to_string();
    let mut blobs = [layer, configuration, manifest];
    blobs.sort_by(|one, other| one.digest.cmp(&other.digest));

    let mut builder = Builder::new(output);
    append(
        &mut builder,
        &Entry::file("oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#.as_slice()),
    )?;
    append(&mut builder, &Entry::file("index.json", index.as_bytes()))?;
    append(&mut builder, &Entry::directory("blobs"))?;
    append(&mut builder, &Entry::directory("blobs/sha256"))?;
    for blob in &blobs {
        append(&mut builder, &Entry::file(&blob.path(), blob.content.as_slice()))?;
    }
    builder.into_inner()?.flush()
}

/// The document with which every reader begins: the image once for each of its names. Readers differ in where they look
/// for the name.
fn index(image: &Image<'_>, manifest: &Blob) -> Value {
    let named = |name: &String| {
        let mut descriptor = manifest.descriptor();
        descriptor["platform"] = json!({"architecture": "amd64", "os": "linux"});
        descriptor["annotations"] = json!({
            "io.containerd.image.name": name,
            "org.opencontainers.image.ref.name": tag(name),
        });
        descriptor
    };
    let manifests: Vec<Value> = image.names.iter().map(named).collect();
    json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests})
}

/// The part of a name behind the colon; a port of a registry stands before a slash.
fn tag(name: &str) -> &str {
    let last = name.rsplit('/').next().unwrap_or(name);
    last.split_once(':').map_or("latest", |(_, tag)| tag)
}

fn layer(image: &Image<'_>) -> io::Result<Vec<u8>> {
    let mut builder = Builder::new(Vec::new());
    for entry in image.all_entries() {
        append(&mut builder, &entry)?;
    }
    builder.into_inner()
}

/// Adds one entry, which says nothing of who made it and when.
fn append(builder: &mut Builder<impl Write>, entry: &Entry<'_>) -> io::Result<()> {
    // The dialect that extended attributes may stand before.
    let mut header = Header::new_ustar();
    header.set_mode(entry.mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(0);
    match &entry.content {
        Content::Directory => {
            header.set_entry_type(EntryType::Directory);
            builder.append_data(&mut header, format!("{}/", entry.path), io::empty())
        }
        Content::Link(target) => {
            header.set_entry_type(EntryType::Symlink);
            builder.append_link(&mut header, &entry.path, target)
        }
        Content::File { bytes, capability } => {
            if let Some(capability) = capability {
                let name = format!("{ATTRIBUTE_PREFIX}{}", Capability::ATTRIBUTE);
                builder.append_pax_extensions([(name.as_str(), capability.attribute_value().as_slice())])?;
            }
            header.set_entry_type(EntryType::Regular);
            header.set_size(bytes.len() as u64);
            builder.append_data(&mut header, &entry.path, bytes.as_ref())
        }
    }
}

fn compressed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzBuilder::new().write(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn digest(bytes: &[u8]) -> String {
    let digits: Vec<String> = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{}", digits.concat())
}

#[cfg(test)]
#[path = "archive_tests.rs"]
mod tests;
