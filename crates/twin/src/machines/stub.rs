//! What an instance boots with: a small Ignition config that says where the real one is, and how to ask for it. Pure.

use http::{HeaderName, HeaderValue, Uri};
use serde::Deserialize;

use super::{data_url, obey::VERSIONS};
use crate::programs::Address;

/// The port of HTTPS.
const HTTPS: u16 = 443;

/// Where the configuration of an instance is. It holds a token, and is never printed.
#[derive(Clone)]
pub(crate) struct Stub {
    /// Whom to ask.
    pub(crate) address: Address,
    /// What to ask for: path and query.
    pub(crate) path: String,
    /// What to say with it.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// Whose certificates are trusted, as PEM.
    pub(crate) authorities: Vec<u8>,
}

#[derive(Deserialize)]
struct Config {
    ignition: Ignition,
}

#[derive(Deserialize)]
struct Ignition {
    version: String,
    #[serde(default)]
    config: Sources,
    #[serde(default)]
    security: Security,
}

#[derive(Default, Deserialize)]
struct Sources {
    #[serde(default)]
    merge: Vec<Source>,
    replace: Option<Source>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Source {
    source: Option<String>,
    #[serde(default)]
    http_headers: Vec<Header>,
}

#[derive(Deserialize)]
struct Header {
    name: String,
    value: Option<String>,
}

#[derive(Default, Deserialize)]
struct Security {
    #[serde(default)]
    tls: Tls,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tls {
    #[serde(default)]
    certificate_authorities: Vec<Source>,
}

impl Stub {
    /// Reads it, or says what Ignition would say. Nothing of it is quoted.
    pub(crate) fn read(data: &[u8]) -> Result<Self, String> {
        let config: Config = serde_json::from_slice(data)
            .map_err(|_| "the data that it boots with is no Ignition config in JSON".to_owned())?;
        let ignition = config.ignition;
        if !VERSIONS.contains(&ignition.version.as_str()) {
            return Err("the data that it boots with is not of Ignition version 3".to_owned());
        }
        let mut sources = ignition.config.replace.into_iter().chain(ignition.config.merge);
        let (url, source) = sources
            .find_map(|mut source| Some((source.source.take()?, source)))
            .ok_or("the data that it boots with names no configuration to merge")?;
        let uri: Uri = url
            .parse()
            .map_err(|_| "the configuration to merge has no URL that can be read".to_owned())?;
        let host = uri.host().filter(|_| uri.scheme_str() == Some("https"));
        let host = host.ok_or("the configuration to merge is not at an https URL with a host")?;
        let headers = source.http_headers.into_iter().map(header).collect::<Result<_, _>>()?;
        Ok(Self {
            address: Address {
                host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
                port: uri.port_u16().unwrap_or(HTTPS),
            },
            path: uri.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
            headers,
            authorities: authorities(&ignition.security.tls.certificate_authorities)?,
        })
    }
}

fn header(header: Header) -> Result<(HeaderName, HeaderValue), String> {
    let refused = || "the configuration to merge is asked for with a header that is none".to_owned();
    let name = HeaderName::try_from(header.name).map_err(|_| refused())?;
    let mut value = HeaderValue::try_from(header.value.unwrap_or_default()).map_err(|_| refused())?;
    value.set_sensitive(true);
    Ok((name, value))
}

fn authorities(sources: &[Source]) -> Result<Vec<u8>, String> {
    let mut all = Vec::new();
    for url in sources.iter().filter_map(|source| source.source.as_ref()) {
        let pem = data_url::decode(url).map_err(|why| format!("a certificate authority cannot be read: {why}"))?;
        all.extend(pem);
        all.push(b'\n');
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn stub(url: &str) -> Value {
        json!({"ignition": {
            "version": "3.2.0",
            "config": {"merge": [{"source": url, "httpHeaders": [
                {"name": "Authorization", "value": "Bearer c2VjcmV0"}, {"name": "NodePool", "value": "clusters/a"}]}]},
            "security": {"tls": {"certificateAuthorities": [{"source": "data:text/plain;base64,UEVN"}]}},
        }})
    }

    #[test]
    fn a_stub_says_where_to_ask_and_how() {
        let read = |url: &str| Stub::read(stub(url).to_string().as_bytes());
        let found = read("https://ignition.a.example/ignition?x=1").ok().unwrap();
        assert_eq!(
            (found.address.host.as_str(), found.address.port),
            ("ignition.a.example", 443)
        );
        assert_eq!(found.path, "/ignition?x=1");
        assert_eq!(found.authorities, b"PEM\n");
        assert_eq!(found.headers[0].0, "authorization");
        assert_eq!(found.headers[1].1, "clusters/a");
        let found = read("https://[fd00::1]:31234").ok().unwrap();
        assert_eq!((found.address.host.as_str(), found.address.port), ("fd00::1", 31234));
        assert_eq!(found.path, "/");
    }

    #[test]
    fn what_is_wrong_is_said_without_the_token() {
        let mut old = stub("https://a.example");
        old["ignition"]["version"] = json!("3.9.0");
        let mut bare = stub("https://a.example");
        bare["ignition"]["config"] = json!({});
        let mut damaged = stub("https://a.example");
        damaged["ignition"]["security"]["tls"]["certificateAuthorities"][0]["source"] = json!("data:;base64,!");
        for (data, words) in [
            ("Bearer c2VjcmV0".to_owned(), "no Ignition config"),
            (old.to_string(), "version 3"),
            (bare.to_string(), "no configuration to merge"),
            (damaged.to_string(), "not base64"),
            (stub("http://a.example").to_string(), "https"),
            (stub("https:// a").to_string(), "URL"),
        ] {
            let error = Stub::read(data.as_bytes()).err().unwrap();
            assert!(error.contains(words) && !error.contains("c2VjcmV0"), "{error}");
        }
    }
}
