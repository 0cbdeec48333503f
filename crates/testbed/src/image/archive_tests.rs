//! Archives are read back as container runtimes read them.

use std::{collections::BTreeMap, io::Read as _};

use tar::Archive;

use super::*;

const NAMES: [&str; 2] = ["registry.example.com:5000/tools/probe:v1.2.3", "probe:v1"];

fn image() -> Image<'static> {
    Image {
        names: NAMES.map(str::to_owned).to_vec(),
        user: "65532:65532".to_owned(),
        path: "/usr/bin".to_owned(),
        entrypoint: vec!["/usr/bin/probe".to_owned()],
        labels: BTreeMap::from([("title".to_owned(), "probe".to_owned())]),
        entries: vec![
            Entry::temporary_directory(),
            Entry::program("usr/bin/probe", b"program".as_slice()).with_capability(Capability::NetBindService),
            Entry::link("usr/bin/other", "probe"),
            Entry::file("etc/passwd", b"root:x:0:0::/:/\n".as_slice()),
        ],
    }
}

fn archive(image: &Image<'_>, format: LayerFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(image, format, &mut bytes).unwrap();
    bytes
}

fn files(archive: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in Archive::new(archive).entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        files.insert(entry.path().unwrap().display().to_string(), bytes);
    }
    files
}

/// What a descriptor refers to, which has to be what it says.
fn blob<'a>(files: &'a BTreeMap<String, Vec<u8>>, descriptor: &Value) -> &'a [u8] {
    let named = descriptor["digest"].as_str().unwrap();
    let bytes = &files[&format!("blobs/{}", named.replace(':', "/"))];
    assert_eq!(
        (named, &descriptor["size"]),
        (digest(bytes).as_str(), &json!(bytes.len()))
    );
    bytes
}

fn document(files: &BTreeMap<String, Vec<u8>>, descriptor: &Value) -> Value {
    serde_json::from_slice(blob(files, descriptor)).unwrap()
}

#[test]
fn every_name_leads_to_the_same_image() {
    let files = files(&archive(&image(), LayerFormat::Plain));
    let index: Value = serde_json::from_slice(&files["index.json"]).unwrap();
    let manifests = index["manifests"].as_array().unwrap();
    let names: Vec<_> = manifests
        .iter()
        .map(|it| it["annotations"]["io.containerd.image.name"].as_str().unwrap())
        .collect();
    assert_eq!(names, NAMES);
    assert_eq!(manifests[0]["digest"], manifests[1]["digest"]);
    let tags = manifests
        .iter()
        .map(|it| &it["annotations"]["org.opencontainers.image.ref.name"]);
    assert_eq!(tags.collect::<Vec<_>>(), ["v1.2.3", "v1"]);
    let configuration = document(&files, &document(&files, &manifests[0])["config"]);
    assert_eq!(
        configuration["config"],
        json!({
            "User": "65532:65532", "Env": ["PATH=/usr/bin"], "Entrypoint": ["/usr/bin/probe"], "WorkingDir": "/",
            "Labels": {"title": "probe"},
        })
    );
}

#[test]
fn both_formats_hold_the_same_layer() {
    let plain_layer = |format: LayerFormat| {
        let files = files(&archive(&image(), format));
        let index: Value = serde_json::from_slice(&files["index.json"]).unwrap();
        let manifest = document(&files, &index["manifests"][0]);
        let [layer] = manifest["layers"].as_array().unwrap().as_slice() else {
            panic!("{manifest}");
        };
        assert_eq!(layer["mediaType"], format.media_type());
        let mut bytes = blob(&files, layer).to_vec();
        if format == LayerFormat::Gzip {
            let mut plain = Vec::new();
            flate2::read::GzDecoder::new(bytes.as_slice())
                .read_to_end(&mut plain)
                .unwrap();
            bytes = plain;
        }
        let configuration = document(&files, &manifest["config"]);
        assert_eq!(configuration["rootfs"]["diff_ids"], json!([digest(&bytes)]));
        bytes
    };
    assert_eq!(plain_layer(LayerFormat::Gzip), plain_layer(LayerFormat::Plain));
}

#[test]
fn a_layer_holds_files_links_and_capabilities() {
    let bytes = layer(&image()).unwrap();
    let mut seen = Vec::new();
    for entry in Archive::new(bytes.as_slice()).entries().unwrap() {
        let mut entry = entry.unwrap();
        let attributes: Vec<(String, Vec<u8>)> = entry
            .pax_extensions()
            .unwrap()
            .into_iter()
            .flatten()
            .map(|it| it.unwrap())
            .map(|it| (it.key().unwrap().to_owned(), it.value_bytes().to_vec()))
            .collect();
        let (header, path) = (entry.header(), entry.path().unwrap().display().to_string());
        let target = entry.link_name().unwrap().map(|it| it.display().to_string());
        seen.push((path, header.mode().unwrap(), target, attributes));
    }
    let capability = (
        "SCHILY.xattr.security.capability".to_owned(),
        Capability::NetBindService.attribute_value().to_vec(),
    );
    let plain = |path: &str, mode| (path.to_owned(), mode, None, Vec::new());
    let expected = vec![
        plain("tmp/", 0o1777),
        plain("usr/", 0o755),
        plain("usr/bin/", 0o755),
        ("usr/bin/probe".to_owned(), 0o755, None, vec![capability]),
        ("usr/bin/other".to_owned(), 0o777, Some("probe".to_owned()), Vec::new()),
        plain("etc/", 0o755),
        plain("etc/passwd", 0o644),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn the_same_files_give_the_same_archive() {
    let other = || {
        let mut other = image();
        other.entries.push(Entry::file("etc/group", b"root:x:0:\n".as_slice()));
        other
    };
    for format in [LayerFormat::Gzip, LayerFormat::Plain] {
        assert_eq!(archive(&image(), format), archive(&image(), format));
        assert_ne!(archive(&image(), format), archive(&other(), format));
    }
}

#[test]
fn digests_are_those_of_sha_256() {
    let expected = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(digest(b""), expected);
}

#[test]
fn a_name_without_a_tag_is_the_latest() {
    assert_eq!(tag("localhost:5000/probe"), "latest");
    assert_eq!(tag("localhost:5000/probe:v1"), "v1");
}
