//! Content negotiation: from `Accept` to the format of an answer, from `Content-Type` to the format of a body
//! (apiserver, endpoints/handlers/negotiation). Knows names of formats, never how to write them.

use http::StatusCode;

use crate::{
    Failure, Origin, Query, Reason,
    accept::{Clause, clauses, trimmed},
    status::{Details, PAGE_NOT_FOUND},
};

/// What upstream says it can write and read. Protobuf is on the list for custom resources too, although they never
/// speak it; clients that prefer it name JSON as well.
pub const MEDIA_TYPES: [&str; 3] = [
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
];
/// The same for watches.
const STREAM_MEDIA_TYPES: [&str; 2] = [
    "application/json;stream=watch",
    "application/vnd.kubernetes.protobuf;stream=watch",
];
/// User agents of people, who get indented JSON.
const HUMAN_AGENTS: [&str; 3] = ["curl", "Wget", "Mozilla/5.0"];

/// A version of the group `meta.k8s.io`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetaVersion {
    /// `v1`.
    V1,
    /// `v1beta1`, still asked for by old clients.
    V1Beta1,
}

impl MetaVersion {
    /// The `apiVersion` of such objects.
    pub const fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1Beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

/// What an answer shows of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// All of them.
    Object,
    /// Rows of a table.
    Table(MetaVersion),
    /// The metadata of one object.
    PartialObjectMetadata(MetaVersion),
    /// The metadata of a list.
    PartialObjectMetadataList(MetaVersion),
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// JSON.
    Json {
        /// Whether it is indented.
        pretty: bool,
    },
    /// YAML.
    Yaml,
}

impl Encoding {
    /// The `Content-Type` of the answer.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Json { .. } => "application/json",
            Self::Yaml => "application/yaml",
        }
    }
}

/// The format of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// How it is written.
    pub encoding: Encoding,
    /// What it shows.
    pub shape: Shape,
}

/// The parts of a request that decide the format of its answer; a header that is absent is empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wishes<'a> {
    /// The `Accept` header.
    pub accept: &'a str,
    /// The query string.
    pub query: &'a str,
    /// The `User-Agent` header.
    pub user_agent: &'a str,
}

impl Wishes<'_> {
    /// The format of an answer about objects, or 406.
    pub fn format(&self, origin: Origin) -> Result<Format, Failure> {
        if origin == Origin::BuiltIn {
            self.check_route(&MEDIA_TYPES)?;
        }
        self.first_accepted(transform)
            .ok_or_else(|| Failure::not_acceptable(&MEDIA_TYPES))
    }

    /// The format of the events of a watch, or 406: YAML has no stream.
    pub fn stream_format(&self, origin: Origin) -> Result<Format, Failure> {
        let format = self.format(origin)?;
        match format.encoding {
            Encoding::Json { .. } => Ok(Format {
                encoding: Encoding::Json { pretty: false },
                ..format
            }),
            Encoding::Yaml => Err(Failure::not_acceptable(&STREAM_MEDIA_TYPES)),
        }
    }

    /// How a Status is written, which is always possible: indented where the client accepts none of our formats.
    pub fn error_encoding(&self) -> Encoding {
        self.plain_encoding().unwrap_or(Encoding::Json { pretty: true })
    }

    /// How a document of discovery is written, or 406.
    pub fn document_encoding(&self) -> Result<Encoding, Failure> {
        self.plain_encoding()
            .ok_or_else(|| Failure::not_acceptable(&MEDIA_TYPES))
    }

    fn plain_encoding(&self) -> Option<Encoding> {
        let plain = |clause: &Clause<'_>| clause.target().eq(&[None; 3]).then_some(Shape::Object);
        self.first_accepted(plain).map(|format| format.encoding)
    }

    /// Whether JSON is accepted at all, in whatever shape.
    pub fn accepts_json(&self) -> bool {
        let is_json = |clause: &Clause<'_>| matches!(clause.encoding(), Some(Encoding::Json { .. }));
        self.accept.is_empty() || clauses(self.accept).iter().any(is_json)
    }

    /// 406 unless the client names one of the types of a route. What is built in is routed by a library that looks at
    /// `Accept` first, and knows no wildcard of the subtype.
    pub fn check_route(&self, offered: &[&str]) -> Result<(), Failure> {
        let mut named = self
            .accept
            .split(',')
            .map(|clause| trimmed(clause.split(';').next().unwrap_or_default()));
        if self.accept.is_empty() || named.any(|name| name == "*/*" || offered.contains(&name)) {
            return Ok(());
        }
        let message = format!(
            "406: Not Acceptable\n\nAvailable representations: {}",
            offered.join(", ")
        );
        Err(Failure::new(Reason::NotAcceptable, message).with_details(Details::default()))
    }

    /// The first clause that names a format we write and a shape that `shape` knows.
    fn first_accepted(&self, shape: impl Fn(&Clause<'_>) -> Option<Shape>) -> Option<Format> {
        if self.accept.is_empty() {
            return Some(self.with_pretty(Encoding::Json { pretty: false }, Shape::Object, false));
        }
        clauses(self.accept).iter().find_map(|clause| {
            let encoding = clause.encoding()?;
            if !clause.is_allowed() {
                return None;
            }
            let is_pretty = clause.parameter("pretty") == Some("1");
            Some(self.with_pretty(encoding, shape(clause)?, is_pretty))
        })
    }

    fn with_pretty(&self, encoding: Encoding, shape: Shape, is_asked: bool) -> Format {
        let encoding = match encoding {
            Encoding::Json { .. } => Encoding::Json {
                pretty: is_asked || self.is_pretty(),
            },
            Encoding::Yaml => Encoding::Yaml,
        };
        Format { encoding, shape }
    }

    /// Whether the query asks for indentation, or else whether a person asks.
    fn is_pretty(&self) -> bool {
        if self.query.contains("pretty") {
            let query = Query::parse(self.query);
            if let Some(word) = query.first("pretty").filter(|word| !word.is_empty()) {
                return matches!(word, "1" | "t" | "T" | "true" | "TRUE" | "True");
            }
        }
        HUMAN_AGENTS.iter().any(|agent| self.user_agent.starts_with(agent))
    }
}

/// The shape that a clause asks for; nothing if there is no such shape.
fn transform(clause: &Clause<'_>) -> Option<Shape> {
    let [kind, group, version] = clause.target();
    let version = match (group, version) {
        (None, None) if kind.is_none() => return Some(Shape::Object),
        (Some("meta.k8s.io"), Some("v1")) => MetaVersion::V1,
        (Some("meta.k8s.io"), Some("v1beta1")) => MetaVersion::V1Beta1,
        _ => return None,
    };
    match kind {
        Some("Table") => Some(Shape::Table(version)),
        Some("PartialObjectMetadata") => Some(Shape::PartialObjectMetadata(version)),
        Some("PartialObjectMetadataList") => Some(Shape::PartialObjectMetadataList(version)),
        _ => None,
    }
}

/// The format of a discovery document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiscoveryFormat {
    /// One document for everything.
    Aggregated {
        /// How it is written.
        encoding: Encoding,
    },
    /// One document for each group and version.
    Legacy {
        /// How it is written.
        encoding: Encoding,
    },
}

impl DiscoveryFormat {
    /// The `Content-Type` of the answer, by which clients tell the two apart.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Aggregated {
                encoding: Encoding::Json { .. },
            } => "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
            Self::Aggregated {
                encoding: Encoding::Yaml,
            } => "application/yaml;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
            Self::Legacy { encoding } => encoding.content_type(),
        }
    }
}

impl Wishes<'_> {
    /// The format of `/api` and `/apis`, or 406.
    pub fn discovery_format(&self) -> Result<DiscoveryFormat, Failure> {
        if self.accept.is_empty() {
            let encoding = Encoding::Json {
                pretty: self.is_pretty(),
            };
            return Ok(DiscoveryFormat::Legacy { encoding });
        }
        let found = clauses(self.accept).iter().find_map(|clause| {
            let is_pretty = clause.parameter("pretty") == Some("1");
            let encoding = self.with_pretty(clause.encoding()?, Shape::Object, is_pretty).encoding;
            match clause.target() {
                [None, None, None] => Some(DiscoveryFormat::Legacy { encoding }),
                [Some("APIGroupDiscoveryList"), Some("apidiscovery.k8s.io"), Some("v2")] => {
                    Some(DiscoveryFormat::Aggregated { encoding })
                }
                _ => None,
            }
        });
        found.ok_or_else(|| Failure::not_acceptable(&MEDIA_TYPES))
    }
}

/// The format of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyFormat {
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// Protobuf, which built-in kinds and options take.
    Protobuf,
}

impl BodyFormat {
    /// Reads a `Content-Type` header, empty if it is absent, or fails with 415.
    pub fn parse(content_type: &str) -> Result<Self, Failure> {
        let unsupported = || Failure::unsupported_media_type(&MEDIA_TYPES);
        if content_type.is_empty() {
            return Ok(Self::Json);
        }
        let mut parts = content_type.split(';');
        let media_type = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        if parts.any(|parameter| !parameter.trim().is_empty() && !parameter.contains('=')) {
            return Err(unsupported());
        }
        match media_type.as_str() {
            "application/json" => Ok(Self::Json),
            "application/yaml" => Ok(Self::Yaml),
            "application/vnd.kubernetes.protobuf" => Ok(Self::Protobuf),
            _ => Err(unsupported()),
        }
    }
}

/// The type of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchType {
    /// RFC 6902.
    Json,
    /// RFC 7386.
    Merge,
    /// By the merge keys of built-in kinds.
    Strategic,
    /// Server-side apply.
    Apply,
}

impl PatchType {
    const NAMES: [(&'static str, Self); 4] = [
        ("application/json-patch+json", Self::Json),
        ("application/merge-patch+json", Self::Merge),
        ("application/strategic-merge-patch+json", Self::Strategic),
        ("application/apply-patch+yaml", Self::Apply),
    ];

    /// Reads a `Content-Type` header, or fails with 415. Custom resources have no strategic merge.
    pub fn parse(content_type: &str, origin: Origin) -> Result<Self, Failure> {
        let name = match content_type.find(';') {
            Some(at) if at > 0 => &content_type[..at],
            _ => content_type,
        };
        let is_offered = |kind: Self| origin == Origin::BuiltIn || kind != Self::Strategic;
        let mut offered = Self::NAMES.into_iter().filter(|(_, kind)| is_offered(*kind));
        let found = offered.clone().find(|(known, _)| *known == name);
        found.map(|(_, kind)| kind).ok_or_else(|| match origin {
            Origin::BuiltIn => unsupported_by_route(),
            Origin::Custom => {
                let names: Vec<&str> = offered.by_ref().map(|(name, _)| name).collect();
                Failure::unsupported_media_type(&names)
            }
        })
    }
}

fn unsupported_by_route() -> Failure {
    Failure::new(Reason::UnsupportedMediaType, "415: Unsupported Media Type").with_details(Details::default())
}

/// The plain answer to a path below which nothing is served: code, `Content-Type` and body.
pub const fn page_not_found() -> (StatusCode, &'static str, &'static str) {
    (StatusCode::NOT_FOUND, "text/plain; charset=utf-8", PAGE_NOT_FOUND)
}

#[cfg(test)]
mod tests;
