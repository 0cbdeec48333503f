//! Reads the archive of an image as a container runtime does: every document and every layer is what its digest says.

use std::{
    collections::BTreeMap,
    io::{Read as _, copy},
    path::Path,
};

use anyhow::{Context as _, Result, ensure};
use flate2::read::GzDecoder;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tar::Archive;

/// An image whose files are in a directory.
pub struct Unpacked {
    /// The name under which it is imported.
    pub name: String,
    /// How it is run.
    pub configuration: Value,
}

impl Unpacked {
    /// Unpacks the only image of an archive into a directory.
    pub fn read(archive: &[u8], root: &Path) -> Result<Self> {
        let files = files(archive)?;
        let document = |name: &str| -> Result<Value> {
            let bytes = files.get(name).with_context(|| format!("there is no {name}"))?;
            Ok(serde_json::from_slice(bytes)?)
        };
        assert_eq!(document("oci-layout")?["imageLayoutVersion"], "1.0.0");
        let index = document("index.json")?;
        let [descriptor] = list(&index["manifests"])? else {
            anyhow::bail!("there is more than one image in {index}");
        };
        let name = descriptor["annotations"]["io.containerd.image.name"].as_str();
        let manifest: Value = serde_json::from_slice(blob(&files, descriptor)?)?;
        let configuration: Value = serde_json::from_slice(blob(&files, &manifest["config"])?)?;
        let layers = list(&manifest["layers"])?;
        let plain = list(&configuration["rootfs"]["diff_ids"])?;
        ensure!(layers.len() == plain.len(), "layers and their digests differ in number");
        for (layer, digest_of_plain) in layers.iter().zip(plain) {
            let mut bytes = Vec::new();
            copy(&mut GzDecoder::new(blob(&files, layer)?), &mut bytes)?;
            assert_eq!(digest_of_plain, &digest(&bytes));
            Archive::new(bytes.as_slice()).unpack(root)?;
        }
        Ok(Self {
            name: name.context("the image has no name")?.to_owned(),
            configuration,
        })
    }
}

fn files(archive: &[u8]) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in Archive::new(archive).entries()? {
        let mut entry = entry?;
        let path = entry.path()?.display().to_string();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        files.insert(path, bytes);
    }
    Ok(files)
}

fn list(value: &Value) -> Result<&[Value]> {
    value
        .as_array()
        .map(Vec::as_slice)
        .with_context(|| format!("{value} is no list"))
}

/// What a descriptor refers to, which has to be what it says.
fn blob<'a>(files: &'a BTreeMap<String, Vec<u8>>, descriptor: &Value) -> Result<&'a [u8]> {
    let named = descriptor["digest"].as_str().context("a descriptor without a digest")?;
    let path = format!("blobs/{}", named.replace(':', "/"));
    let bytes = files.get(&path).with_context(|| format!("there is no {path}"))?;
    assert_eq!(named, digest(bytes));
    assert_eq!(descriptor["size"], bytes.len());
    Ok(bytes)
}

fn digest(bytes: &[u8]) -> String {
    let digits: Vec<String> = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{}", digits.concat())
}
