//! What is served besides resources: discovery, OpenAPI, the version, health and metrics.

use http::{HeaderValue, Method, Response, StatusCode, header};
use hyperplane_wire::{
    Failure, Query, encode,
    negotiate::{DiscoveryFormat, page_not_found},
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
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Content that is named by its hash never changes.
const IMMUTABLE: &str = "public, immutable";
/// A day that no cache outlives.
const FAR: &str = "Fri, 31 Dec 2099 23:59:59 GMT";

/// Answers a request about a path that is no resource.
pub(crate) fn answer(server: &Server, asked: &Asked<'_>) -> Result<Response<Body>, Failure> {
    let path = asked.info.path.trim_end_matches('/');
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    if !matches!(asked.parts.method, Method::GET | Method::HEAD) && is_known(&parts) {
        return Err(Failure::generic_method_not_allowed());
    }
    match parts.as_slice() {
        [] | [""] => Ok(value(asked, &index(server))),
        ["version"] => Ok(value(asked, &json!(server.front.version))),
        ["api"] => discovery_root(server, asked, true),
        ["apis"] => discovery_root(server, asked, false),
        ["api", version] => Ok(resource_list(server, asked, "", version)),
        ["apis", group] => Ok(group_document(server, asked, group)),
        ["apis", group, version] => Ok(resource_list(server, asked, group, version)),
        ["openapi", "v3"] => Ok(openapi_index(server)),
        ["openapi", "v3", "api", version] => Ok(openapi_document(server, asked, "", version)),
        ["openapi", "v3", "apis", group, version] => Ok(openapi_document(server, asked, group, version)),
        ["healthz" | "livez" | "readyz", rest @ ..] => Ok(health(server, asked, rest)),
        ["metrics"] => {
            let text = server.front.metrics.text(server).into_bytes();
            Ok(respond(StatusCode::OK, METRICS, text, &Warnings::default()))
        }
        [".well-known", "openid-configuration"] => Ok(server.front.openid_configuration()),
        ["openid", "v1", "jwks"] => Ok(server.front.jwks()),
        _ => Ok(not_found()),
    }
}

fn is_known(parts: &[&str]) -> bool {
    matches!(
        parts.first(),
        Some(&("" | "version" | "api" | "apis" | "openapi" | "healthz" | "livez" | "readyz" | "metrics"))
    )
}

/// The plain answer where nothing is served.
pub(crate) fn not_found() -> Response<Body> {
    let (status, content_type, body) = page_not_found();
    unsniffed(respond(status, content_type, body.into(), &Warnings::default()))
}

fn value(asked: &Asked<'_>, value: &Value) -> Response<Body> {
    let encoding = asked.wishes().error_encoding();
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
    let format = asked.wishes().discovery_format()?;
    if let DiscoveryFormat::Legacy { encoding } = format {
        let document = if is_core {
            registry.catalogue().core_versions(&server.front.address)
        } else {
            registry.catalogue().group_list()
        };
        let bytes = encode::encode(&document, encoding);
        return Ok(varying(respond(
            StatusCode::OK,
            encoding.content_type(),
            bytes,
            &Warnings::default(),
        )));
    }
    let document = registry.aggregated(is_core);
    let tag = format!("\"{}\"", document.hash);
    if asked.header("if-none-match") == tag {
        let mut response = Response::new(Body::whole(Vec::new()));
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return Ok(tagged(varying(response), &tag));
    }
    let response = respond(
        StatusCode::OK,
        format.content_type(),
        document.bytes.to_vec(),
        &Warnings::default(),
    );
    Ok(tagged(varying(response), &tag))
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

fn group_document(server: &Server, asked: &Asked<'_>, group: &str) -> Response<Body> {
    let registry = server.core.registry.get();
    match registry.catalogue().group(group) {
        Some(document) => value(asked, &document),
        None => not_found(),
    }
}

fn resource_list(server: &Server, asked: &Asked<'_>, group: &str, version: &str) -> Response<Body> {
    let registry = server.core.registry.get();
    match registry.catalogue().resource_list(group, version) {
        Some(document) => value(asked, &document),
        None => not_found(),
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
        let mut response = Response::new(Body::whole(Vec::new()));
        *response.status_mut() = StatusCode::NOT_FOUND;
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, HeaderValue::from_static(UNCACHED));
        return response;
    };
    let hash = Query::parse(asked.query()).first("hash").unwrap_or_default().to_owned();
    if !hash.is_empty() && hash != *document.hash {
        return moved(&format!(
            "/openapi/v3/{}?hash={}",
            openapi::document_path(group, version),
            document.hash
        ));
    }
    let tag = format!("\"{}\"", document.hash);
    let mut response = if asked.header("if-none-match") == tag {
        let mut response = Response::new(Body::whole(Vec::new()));
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        respond(StatusCode::OK, JSON, document.bytes.to_vec(), &Warnings::default())
    };
    if !hash.is_empty() {
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, HeaderValue::from_static(IMMUTABLE));
        response
            .headers_mut()
            .insert(header::EXPIRES, HeaderValue::from_static(FAR));
    }
    tagged(response, &tag)
}

/// Where a document is now that its content changed.
fn moved(location: &str) -> Response<Body> {
    let mut response = respond(StatusCode::MOVED_PERMANENTLY, TEXT, Vec::new(), &Warnings::default());
    if let Ok(location) = HeaderValue::from_str(location) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// Whether the server works: it answers, and its store takes writes.
fn health(server: &Server, asked: &Asked<'_>, rest: &[&str]) -> Response<Body> {
    let checks = [("ping", true), ("etcd", server.core.store.is_writable())];
    if let [name] = rest {
        return match checks.iter().find(|(known, _)| known == name) {
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
