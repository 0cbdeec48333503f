//! Where else images are found: from sources and mirrors, as users give them, to what containerd can be told.
//!
//! Users name repositories; containerd knows registries. A source with a path has a mirror that ends with the same path,
//! so that a request for any image of the registry can be turned into one to the mirror. Others cannot be told it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{document::Document, problem::Problem};

/// A source and its mirrors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mirrors {
    /// Where a problem with it is.
    pub place: String,
    /// The repository as image references name it.
    pub source: String,
    /// Repositories with the same images, tried in this order.
    pub mirrors: Vec<String>,
    /// The source itself is never asked.
    pub is_exclusive: bool,
}

/// A mirror as containerd is told it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mirror {
    /// Its host, with a port where it has one.
    pub(crate) host: String,
    /// Its URL.
    pub(crate) url: String,
    /// The URL says the whole path, and nothing is put behind it.
    pub(crate) is_whole: bool,
    /// Its certificate is not looked at.
    pub(crate) is_insecure: bool,
}

/// What containerd is told of one registry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Registry {
    /// Its mirrors, in the order in which they are tried.
    pub(crate) mirrors: Vec<Mirror>,
    /// The registry itself is never asked.
    pub(crate) is_exclusive: bool,
    /// Its certificate is not looked at.
    pub(crate) is_insecure: bool,
}

/// What the cluster says of single registries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfCluster<'a> {
    /// Hosts whose certificates are not looked at.
    pub(crate) insecure: &'a [String],
    /// Hosts with authorities of their own.
    pub(crate) authorities: &'a BTreeMap<String, String>,
}

/// The sources of a document.
pub(crate) fn of(document: &Document, list: &str) -> Result<Vec<Mirrors>, Vec<Problem>> {
    let place = document.place();
    let entries = match &document.spec()[list] {
        Value::Null => return Ok(Vec::new()),
        Value::Array(entries) => entries,
        _ => return Err(vec![Problem::new(place, format!("spec.{list}"), "must be a list")]),
    };
    let mut all = Vec::new();
    let mut problems = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let texts = entry["mirrors"].as_array().into_iter().flatten().map(Value::as_str);
        let mirrors: Option<Vec<String>> = texts.map(|text| text.map(str::to_owned)).collect();
        if let (Some(source), Some(mirrors)) = (entry["source"].as_str(), mirrors) {
            all.push(Mirrors {
                place: format!("{place}: spec.{list}[{index}]"),
                source: source.to_owned(),
                mirrors,
                is_exclusive: entry["mirrorSourcePolicy"] == "NeverContactSource",
            });
        } else {
            let path = format!("spec.{list}[{index}]");
            problems.push(Problem::new(
                place.clone(),
                path,
                "must have a source and a list of mirrors",
            ));
        }
    }
    if problems.is_empty() { Ok(all) } else { Err(problems) }
}

/// Registries by their host.
pub(crate) fn registries(
    sources: &[Mirrors],
    of_cluster: OfCluster<'_>,
) -> Result<BTreeMap<String, Registry>, Vec<Problem>> {
    let mut registries: BTreeMap<String, Registry> = BTreeMap::new();
    let mut problems = Vec::new();
    for source in sources {
        match resolve(source, of_cluster.insecure) {
            Ok((host, mirrors)) => {
                let registry = registries.entry(host).or_default();
                let news = mirrors.into_iter().filter(|one| !registry.mirrors.contains(one));
                let news: Vec<_> = news.collect();
                registry.mirrors.extend(news);
                registry.is_exclusive |= source.is_exclusive;
            }
            Err(problem) => problems.push(Problem::new(source.place.clone(), "", problem)),
        }
    }
    for host in of_cluster.insecure {
        if is_host(host) {
            registries.entry(host.clone()).or_default().is_insecure = true;
        } else {
            problems.push(no_host("registrySources.insecureRegistries"));
        }
    }
    for host in of_cluster.authorities.keys() {
        if is_host(host) {
            registries.entry(host.clone()).or_default();
        } else {
            problems.push(no_host("additionalTrustedCA"));
        }
    }
    if problems.is_empty() {
        Ok(registries)
    } else {
        Err(problems)
    }
}

/// The registry of a source, and its mirrors.
fn resolve(source: &Mirrors, insecure: &[String]) -> Result<(String, Vec<Mirror>), &'static str> {
    if !is_repository(&source.source) || !source.mirrors.iter().all(|mirror| is_repository(mirror)) {
        return Err("source and mirrors must be registries or repositories in them, without tags and wildcards");
    }
    let (host, path) = split(&source.source);
    if source.is_exclusive && !path.is_empty() {
        return Err("containerd can leave out whole registries only: NeverContactSource needs a source without a path");
    }
    if source.is_exclusive && source.mirrors.is_empty() {
        return Err("NeverContactSource needs a mirror: there would be nobody to ask");
    }
    let mut mirrors = Vec::new();
    for mirror in &source.mirrors {
        let (host, whole) = split(mirror);
        let prefix = prefix(whole, path).ok_or(
            "containerd knows mirrors of whole registries only: let the path of each mirror end with the path of the source",
        )?;
        let is_whole = !prefix.is_empty();
        mirrors.push(Mirror {
            host: host.to_owned(),
            url: if is_whole {
                format!("https://{host}/v2/{prefix}")
            } else {
                format!("https://{host}")
            },
            is_whole,
            is_insecure: insecure.iter().any(|insecure| insecure == host),
        });
    }
    Ok((host.to_owned(), mirrors))
}

fn is_host(text: &str) -> bool {
    is_repository(text) && !text.contains('/')
}

fn no_host(path: &str) -> Problem {
    let problem = "must name the hosts of registries, without paths and wildcards";
    Problem::new("", format!("spec.configuration.image.{path}"), problem)
}

fn split(repository: &str) -> (&str, &str) {
    repository.split_once('/').unwrap_or((repository, ""))
}

/// What stands before a path in the path of a mirror.
fn prefix<'a>(whole: &'a str, path: &str) -> Option<&'a str> {
    if path.is_empty() {
        return Some(whole);
    }
    let prefix = whole.strip_suffix(path)?;
    if prefix.is_empty() {
        Some(prefix)
    } else {
        prefix.strip_suffix('/')
    }
}

/// Whether a text is the host of a registry, with or without a path behind it. It becomes a part of files and of their
/// names.
fn is_repository(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let (host, path) = split(text);
    let (name, port) = host.split_once(':').unwrap_or((host, "0"));
    let is_host = !name.is_empty() && !name.starts_with('.') && name.bytes().all(is_allowed);
    let is_port = port.parse::<u16>().is_ok();
    let is_part = |part: &str| !part.is_empty() && part.bytes().all(is_allowed) && !part.starts_with('.');
    text.len() <= 512 && is_host && is_port && (!text.contains('/') || path.split('/').all(is_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sources: &[Mirrors], insecure: &[&str]) -> Result<BTreeMap<String, Registry>, Vec<Problem>> {
        let insecure: Vec<String> = insecure.iter().map(|host| (*host).to_owned()).collect();
        let of_cluster = OfCluster {
            insecure: &insecure,
            authorities: &BTreeMap::new(),
        };
        registries(sources, of_cluster)
    }

    fn mirrors(source: &str, mirror: &str, is_exclusive: bool) -> Mirrors {
        Mirrors {
            source: source.to_owned(),
            mirrors: vec![mirror.to_owned()],
            is_exclusive,
            ..Mirrors::default()
        }
    }

    #[test]
    fn repositories_become_read() {
        let cases = [
            (
                "quay.io",
                "mirror.example.com:5000",
                Some(("quay.io", "https://mirror.example.com:5000", false)),
            ),
            (
                "quay.io",
                "m.example.com/cache",
                Some(("quay.io", "https://m.example.com/v2/cache", true)),
            ),
            (
                "quay.io/a/b",
                "m.example.com/a/b",
                Some(("quay.io", "https://m.example.com", false)),
            ),
            (
                "quay.io/a/b",
                "m.example.com/x/y/a/b",
                Some(("quay.io", "https://m.example.com/v2/x/y", true)),
            ),
            ("quay.io/a/b", "m.example.com/xa/b", None),
            ("quay.io/a/b", "m.example.com/c", None),
            ("*.quay.io", "m.example.com", None),
            ("quay.io", "m.example.com/..", None),
            ("quay.io", "m.example.com:port", None),
            ("", "m.example.com", None),
        ];
        for (source, mirror, expected) in cases {
            let found = read(&[mirrors(source, mirror, false)], &[]).ok();
            let mirror_host = mirror.split('/').next().unwrap_or_default().to_owned();
            let expected = expected.map(|(host, url, is_whole)| {
                let registry = Registry {
                    mirrors: vec![Mirror {
                        host: mirror_host,
                        url: url.to_owned(),
                        is_whole,
                        is_insecure: false,
                    }],
                    ..Registry::default()
                };
                BTreeMap::from([(host.to_owned(), registry)])
            });
            assert_eq!(found, expected, "{source} {mirror}");
        }
    }

    #[test]
    fn sources_of_one_registry_are_put_together() {
        let sources = [
            mirrors("quay.io/a", "m.example.com/a", false),
            mirrors("quay.io/b", "m.example.com/b", false),
            mirrors("quay.io", "n.example.com", true),
        ];
        let found = read(&sources, &["quay.io"]).unwrap();
        assert_eq!(found.len(), 1);
        let registry = &found["quay.io"];
        assert_eq!(registry.mirrors.len(), 2);
        assert!(registry.is_exclusive && registry.is_insecure);
        assert!(!registry.mirrors[0].is_insecure);
        let found = read(&sources, &["m.example.com"]).unwrap();
        assert!(found["quay.io"].mirrors[0].is_insecure && !found["quay.io"].is_insecure);
        assert!(read(&[mirrors("quay.io/a", "m.example.com/a", true)], &[]).is_err());
        let nobody = Mirrors {
            source: "quay.io".to_owned(),
            is_exclusive: true,
            ..Mirrors::default()
        };
        assert!(read(&[nobody], &[]).is_err());
        assert!(read(&[], &["a/b"]).is_err());
    }
    #[test]
    fn authorities_are_of_hosts() {
        for (host, expected) in [
            ("r.example.com:5000", true),
            ("r.example.com/a", false),
            ("*.example.com", false),
        ] {
            let of_cluster = OfCluster {
                insecure: &[],
                authorities: &BTreeMap::from([(host.to_owned(), "PEM".to_owned())]),
            };
            let found = registries(&[], of_cluster);
            assert_eq!(found.is_ok_and(|found| found.contains_key(host)), expected, "{host}");
        }
    }
}
