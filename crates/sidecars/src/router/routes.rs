//! Which name leads where, as a file says. Pure.

use std::{collections::BTreeMap, io, path::PathBuf};

use hyperplane_objects::YamlError;
use serde::Deserialize;
use thiserror::Error;

use crate::place::{Place, is_name};

/// Routes in a file: more than any control plane has.
const ROUTES: usize = 1024;

/// Why routes cannot be used.
#[derive(Debug, Error)]
pub enum RoutesError {
    /// The file cannot be read.
    #[error("{} cannot be read: look at the ConfigMap that is mounted there", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The file is too large.
    #[error("{} has more than {limit} bytes: this is no file with routes", path.display())]
    Large {
        /// The file.
        path: PathBuf,
        /// How many it may have.
        limit: u64,
    },
    /// It is not what it should be.
    #[error("the routes are no YAML like routes: [{{hostname: NAME, backend: HOST:PORT}}]")]
    Form(#[source] YamlError),
    /// A name is none.
    #[error("hostname {hostname:?} of a route is no DNS name")]
    Name {
        /// The name.
        hostname: String,
    },
    /// A name leads to two places.
    #[error("hostname {hostname:?} has two routes: remove one of them")]
    Twice {
        /// The name.
        hostname: String,
    },
    /// There are too many.
    #[error("there are {found} routes, and {ROUTES} are the limit: serve the rest by another router")]
    TooMany {
        /// How many there are.
        found: usize,
    },
}

/// Names, and where they lead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes(BTreeMap<String, Place>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    routes: Vec<Route>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Route {
    hostname: String,
    backend: Place,
}

impl Routes {
    /// Reads the text of a file.
    pub fn read(text: &str) -> Result<Self, RoutesError> {
        let file: File = hyperplane_objects::read_yaml(text).map_err(RoutesError::Form)?;
        if file.routes.len() > ROUTES {
            return Err(RoutesError::TooMany {
                found: file.routes.len(),
            });
        }
        let mut routes = BTreeMap::new();
        for Route { hostname, backend } in file.routes {
            if !is_name(&hostname) {
                return Err(RoutesError::Name { hostname });
            }
            if routes.insert(canonical(&hostname), backend).is_some() {
                return Err(RoutesError::Twice { hostname });
            }
        }
        Ok(Self(routes))
    }

    /// Where a name leads.
    pub fn backend(&self, name: &str) -> Option<&Place> {
        self.0.get(&canonical(name))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Names are equal whatever their case, and with or without the dot at their end.
fn canonical(name: &str) -> String {
    name.trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "
routes:
- {hostname: API.example.com, backend: 'kube-apiserver.clusters-a.svc:6443'}
- {hostname: ignition.example.com, backend: 'ignition-server:443'}
";

    #[test]
    fn names_lead_to_places() {
        let routes = Routes::read(TEXT).unwrap();
        let backend = |name: &str| routes.backend(name).map(ToString::to_string);
        assert_eq!(
            backend("api.example.com").as_deref(),
            Some("kube-apiserver.clusters-a.svc:6443")
        );
        assert_eq!(
            backend("api.EXAMPLE.com.").as_deref(),
            Some("kube-apiserver.clusters-a.svc:6443")
        );
        assert_eq!(backend("x.api.example.com"), None);
        assert_eq!(backend(""), None);
        assert_eq!(routes.len(), 2);
        assert!(Routes::read("routes: []").unwrap().is_empty());
        assert!(Routes::read("{}").unwrap().is_empty());
    }

    #[test]
    fn mistakes_are_named() {
        let cases = [
            ("routes: 1", "no YAML like"),
            ("routes: [{hostname: a}]", "no YAML like"),
            ("routes: [{hostname: a, backend: b}]", "no YAML like"),
            ("routes: [{hostname: a, backend: 'b:1', port: 2}]", "no YAML like"),
            ("routes: [{hostname: '*.a', backend: 'b:1'}]", "no DNS name"),
            (
                "routes: [{hostname: a, backend: 'b:1'}, {hostname: A, backend: 'c:1'}]",
                "two routes",
            ),
        ];
        for (text, expected) in cases {
            let refused = Routes::read(text).unwrap_err().to_string();
            assert!(refused.contains(expected), "{text}: {refused}");
        }
        let many = (0..=ROUTES).map(|number| format!("- {{hostname: n{number}, backend: 'b:1'}}\n"));
        let many = format!("routes:\n{}", many.collect::<String>());
        assert!(matches!(Routes::read(&many), Err(RoutesError::TooMany { found: 1025 })));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
            drop(Routes::read(&text));
            drop(Routes::read(&format!("routes: [{text}]")));
        }
    }
}
