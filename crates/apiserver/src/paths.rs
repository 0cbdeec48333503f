//! What is served besides resources: discovery, OpenAPI, the version, health and metrics.

use http::{HeaderValue, Method, Response, StatusCode, header};
use hyperplane_wire::{
    Failure, Query, encode,
    negotiate::{DiscoveryFormat, Encoding, MEDIA_TYPES, page_not_found},
    openapi,
};
use serde_json::{Value, json};

use crate::{
    body::Body,
    call::Warnings,
    documents::Document,
    render::{UNCACHED, respond, unsniffed},
    service::{Asked, Server},
};

const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";
const JWKS: &str = "application/jwk-set+json";
/// The escaping is that of names that old readers would not understand.
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";
/// Content that is asked for again with its tag.
const PUBLIC: &str = "public";
/// Content that is named by its hash never changes.
const IMMUTABLE: &str = "public, immutable";
/// A day that no cache outlives.
const FAR: &str = "Fri, 31 Dec 2099 23:59:59 GMT";

/// Answers a request about a path that is no resource.
pub(crate) fn answer(server: &Server, asked: &Asked<'_>) -> Result<Response<Body>, Failure> {
    let path = asked.info.path.as_str();
    let is_exact = !path.ends_with('/');
    let parts: Vec<&str> = path.trim_end_matches('/').split('/').skip(1).collect();
    if is_routed(server, &parts) && asked.parts.method != Method::GET {
        return Err(Failure::generic_method_not_allowed());
    }
    match parts.as_slice() {
        ["index.html"] if is_exact => Ok(indented(&index(server))),
        [] => Ok(indented(&index(server))),
        ["version"] => {
            asked.wishes().check_route(&[JSON])?;
            Ok(indented(&json!(server.front.version)))
        }
        ["api"] => discovery_root(server, asked, true),
        ["apis"] => discovery_root(server, asked, false),
        ["api", version] => resource_list(server, asked, "", version),
        ["apis", group] => group_document(server, asked, group),
        ["apis", group, version] => resource_list(server, asked, group, version),
        ["openapi", "v3"] if is_exact => Ok(openapi_index(server)),
        ["openapi", "v3", "api", version] if is_exact => Ok(openapi_document(server, asked, "", version)),
        ["openapi", "v3", "apis", group, version] if is_exact => Ok(openapi_document(server, asked, group, version)),
        ["openapi", "v3", ..] => Ok(no_document()),
        ["healthz" | "livez" | "readyz", rest @ ..] if is_exact => Ok(health(server, asked, rest)),
        ["metrics"] if is_exact => {
            let text = server.front.metrics.text(server).into_bytes();
            Ok(respond(StatusCode::OK, METRICS, text, &Warnings::default()))
        }
        [".well-known", "openid-configuration"] => {
            asked.wishes().check_route(&[JSON])?;
            Ok(server.front.openid_configuration())
        }
        ["openid", "v1", "jwks"] => {
            asked.wishes().check_route(&[JWKS])?;
            Ok(server.front.jwks())
        }
        ["api" | "version", ..] => Err(Failure::generic_path_not_found()),
        ["apis", group, ..] if is_built_in(server, group) => Err(Failure::generic_path_not_found()),
        _ => Ok(not_found()),
    }
}

/// Upstream serves these paths by a router that knows GET and nothing else, not even HEAD. Others do not look at the
/// method.
fn is_routed(server: &Server, parts: &[&str]) -> bool {
    match parts {
        ["version" | "api"] | [".well-known", "openid-configuration"] | ["openid", "v1", "jwks"] => true,
        ["api", version] => server.core.registry.get().is_built_in("", version),
        ["apis", group, version] => server.core.registry.get().is_built_in(group, version),
        _ => false,
    }
}

fn is_built_in(server: &Server, group: &str) -> bool {
    !group.is_empty() && server.core.registry.get().has_built_in(group)
}

/// The plain answer where nothing is served.
pub(crate) fn not_found() -> Response<Body> {
    let (status, content_type, body) = page_not_found();
    unsniffed(respond(status, content_type, body.into(), &Warnings::default()))
}

/// The answer to a path that cannot be decoded, which upstream's connections give before anything else is looked at.
pub(crate) fn malformed() -> Response<Body> {
    let mut response = Response::new(Body::whole(b"400 Bad Request".to_vec()));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(TEXT));
    response
}

fn value(asked: &Asked<'_>, value: &Value) -> Result<Response<Body>, Failure> {
    let encoding = asked.wishes().document_encoding()?;
    Ok(encoded(value, encoding))
}

/// An answer that upstream writes without looking at what the client accepts.
fn indented(value: &Value) -> Response<Body> {
    encoded(value, Encoding::Json { pretty: true })
}

fn encoded(value: &Value, encoding: Encoding) -> Response<Body> {
    respond(
        StatusCode::OK,
        encoding.content_type(),
        encode::encode(value, encoding),
        &Warnings::default(),
    )
}

fn text(status: StatusCode, text: String) -> Response<Body> {
    unsniffed(respond(status, TEXT, text.into_bytes(), &Warnings::default()))
}

/// The paths that there are.
fn index(server: &Server) -> Value {
    let registry = server.core.registry.get();
    let mut paths = vec!["/api".to_owned(), "/apis".to_owned()];
    for (group, version) in registry.catalogue().group_versions() {
        if group.is_empty() {
            paths.push(format!("/api/{version}"));
        } else {
            paths.push(format!("/apis/{group}"));
            paths.push(format!("/apis/{group}/{version}"));
        }
    }
    for path in [
        "/healthz",
        "/livez",
        "/metrics",
        "/openapi/v3",
        "/openid/v1/jwks",
        "/readyz",
        "/version",
    ] {
        paths.push(path.to_owned());
    }
    paths.push("/.well-known/openid-configuration".to_owned());
    paths.sort();
    paths.dedup();
    json!({"paths": paths})
}

fn discovery_root(server: &Server, asked: &Asked<'_>, is_core: bool) -> Result<Response<Body>, Failure> {
    let registry = server.core.registry.get();
    if is_core {
        asked.wishes().check_route(&MEDIA_TYPES)?;
    }
    let format = asked.wishes().discovery_format()?;
    if let DiscoveryFormat::Legacy { encoding } = format {
        let document = if is_core {
            registry.catalogue().core_versions(&server.front.address)
        } else {
            registry.catalogue().group_list()
        };
        return Ok(encoded(&document, encoding));
    }
    let document = registry.aggregated(is_core);
    let tag = format!("\"{}\"", document.hash);
    let response = if asked.header("if-none-match") == tag {
        empty(StatusCode::NOT_MODIFIED)
    } else {
        respond(
            StatusCode::OK,
            format.content_type(),
            document.bytes.to_vec(),
            &Warnings::default(),
        )
    };
    Ok(tagged(varying(cached(response, PUBLIC)), &tag))
}

/// A response without a body.
fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::whole(Vec::new()));
    *response.status_mut() = status;
    cached(response, UNCACHED)
}

/// The same response, with another word to caches.
pub(crate) fn cached(mut response: Response<Body>, policy: &'static str) -> Response<Body> {
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static(policy));
    response
}

fn varying(mut response: Response<Body>) -> Response<Body> {
    response
        .headers_mut()
        .insert(header::VARY, HeaderValue::from_static("Accept"));
    response
}

fn tagged(mut response: Response<Body>, tag: &str) -> Response<Body> {
    if let Ok(tag) = HeaderValue::from_str(tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

fn group_document(server: &Server, asked: &Asked<'_>, group: &str) -> Result<Response<Body>, Failure> {
    let registry = server.core.registry.get();
    match registry.catalogue().group(group) {
        Some(document) => value(asked, &document),
        None => Ok(not_found()),
    }
}

fn resource_list(server: &Server, asked: &Asked<'_>, group: &str, version: &str) -> Result<Response<Body>, Failure> {
    let registry = server.core.registry.get();
    let is_core = asked.info.path.starts_with("/api/");
    if registry.is_built_in(group, version) && is_core == group.is_empty() {
        asked.wishes().check_route(&MEDIA_TYPES)?;
    }
    match registry.catalogue().resource_list(group, version) {
        Some(document) if is_core == group.is_empty() => value(asked, &document),
        _ if is_core || is_built_in(server, group) => Err(Failure::generic_path_not_found()),
        _ => Ok(not_found()),
    }
}

fn openapi_index(server: &Server) -> Response<Body> {
    let registry = server.core.registry.get();
    let versions: Vec<(String, String)> = registry
        .catalogue()
        .group_versions()
        .map(|(group, version)| (group.to_owned(), version.to_owned()))
        .collect();
    let documents: Vec<(String, Document)> = versions
        .iter()
        .filter_map(|(group, version)| {
            Some((
                openapi::document_path(group, version),
                registry.openapi(group, version)?,
            ))
        })
        .collect();
    let index = openapi::index(documents.iter().map(|(path, document)| (path.clone(), &*document.hash)));
    // Upstream calls it text; clients parse it as JSON all the same.
    respond(
        StatusCode::OK,
        TEXT,
        index.to_string().into_bytes(),
        &Warnings::default(),
    )
}

fn openapi_document(server: &Server, asked: &Asked<'_>, group: &str, version: &str) -> Response<Body> {
    let registry = server.core.registry.get();
    let Some(document) = registry.openapi(group, version) else {
        return no_document();
    };
    let tag = format!("\"{}\"", document.hash);
    if !asked.wishes().accepts_json() {
        return varying(empty(StatusCode::NOT_ACCEPTABLE));
    }
    let hash = Query::parse(asked.query()).first("hash").unwrap_or_default().to_owned();
    if !hash.is_empty() && hash != *document.hash {
        let path = openapi::document_path(group, version);
        let response = moved(&format!("/openapi/v3/{path}?hash={}", document.hash));
        return tagged(varying(response), &tag);
    }
    let mut response = if asked.header("if-none-match") == tag {
        empty(StatusCode::NOT_MODIFIED)
    } else {
        respond(StatusCode::OK, JSON, document.bytes.to_vec(), &Warnings::default())
    };
    if !hash.is_empty() {
        response = cached(response, IMMUTABLE);
        response
            .headers_mut()
            .insert(header::EXPIRES, HeaderValue::from_static(FAR));
    }
    tagged(varying(response), &tag)
}

/// The answer where no document is.
fn no_document() -> Response<Body> {
    empty(StatusCode::NOT_FOUND)
}

/// Where a document is now that its content changed.
fn moved(location: &str) -> Response<Body> {
    let mut response = respond(StatusCode::MOVED_PERMANENTLY, JSON, Vec::new(), &Warnings::default());
    if let Ok(location) = HeaderValue::from_str(location) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// Whether the server works: it answers, and its store takes writes.
fn health(server: &Server, asked: &Asked<'_>, rest: &[&str]) -> Response<Body> {
    let checks = [("ping", true), ("etcd", server.core.store.is_writable())];
    if let [name, below @ ..] = rest {
        return match checks.iter().find(|(known, _)| known == name) {
            _ if !below.is_empty() => not_found(),
            Some((_, true)) => respond(StatusCode::OK, TEXT, b"ok".to_vec(), &Warnings::default()),
            Some((_, false)) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("{name} failed")),
            None => not_found(),
        };
    }
    let is_well = checks.iter().all(|(_, is_well)| *is_well);
    let status = if is_well {
        StatusCode::OK
    } else {
        StatusCode::INTERNAL_SERVER_ERROR
    };
    let is_verbose = asked
        .query()
        .split('&')
        .any(|part| part == "verbose" || part.starts_with("verbose="));
    if is_well && !is_verbose {
        return text(status, "ok".to_owned());
    }
    let lines: String = checks
        .iter()
        .map(|(name, is_well)| {
            if *is_well {
                format!("[+]{name} ok\n")
            } else {
                format!("[-]{name} failed: the store takes no writes\n")
            }
        })
        .collect();
    let name = asked.info.path.trim_matches('/');
    text(
        status,
        format!("{lines}{name} check {}\n", if is_well { "passed" } else { "failed" }),
    )
}
