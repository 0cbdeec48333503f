//! The proxy through which nodes reach the outside, and what is reached without it.

use std::collections::BTreeSet;

use hyperplane_api::hypershift::{
    configuration::ClusterConfiguration, networking::ClusterNetworking, platform_type::PlatformType,
};

use crate::{
    ignition::{DropIn, File},
    parts::{PRIVATE, file, variable},
    problem::Problem,
    source,
};

/// Variables of programs that reach the outside. They are not in the units themselves: Ignition refuses lines of units that
/// are as long as a list of exceptions may become, and a password is nothing for a file that everybody may read.
const ENVIRONMENT: &str = "/etc/hyperplane/proxy.env";

/// What is never reached through a proxy.
const DIRECT: &[&str] = &["127.0.0.1", "localhost", ".svc", ".cluster.local", ".local"];
/// Where clouds tell a machine about itself.
const METADATA_SERVICE: &str = "169.254.169.254";

/// How nodes reach the outside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxy {
    /// For HTTP.
    pub http: Option<String>,
    /// For HTTPS.
    pub https: Option<String>,
    /// What is reached without: names, suffixes and networks, in order.
    pub direct: Vec<String>,
    /// The ConfigMap with further authorities that the proxy signs with.
    pub trusted_authorities: Option<String>,
}

impl Proxy {
    /// The proxy of a cluster; none where it has none.
    pub fn of(
        configuration: Option<&ClusterConfiguration>,
        networking: &ClusterNetworking,
        platform: &PlatformType,
    ) -> Result<Option<Self>, Problem> {
        let Some(settings) = configuration.and_then(|configuration| configuration.proxy.as_ref()) else {
            return Ok(None);
        };
        let http = address(settings.http_proxy.as_deref(), "httpProxy")?;
        let https = address(settings.https_proxy.as_deref(), "httpsProxy")?;
        let without = exceptions(settings.no_proxy.as_deref())?;
        let trusted = settings.trusted_ca.as_ref().map(|reference| reference.name.clone());
        let trusted_authorities = trusted.filter(|name| !name.is_empty());
        if http.is_none() && https.is_none() {
            let proxy = Self {
                trusted_authorities,
                ..Self::default()
            };
            return Ok(proxy.trusted_authorities.is_some().then_some(proxy));
        }
        Ok(Some(Self {
            http,
            https,
            direct: direct(without, networking, platform),
            trusted_authorities,
        }))
    }

    /// The file with its variables, and what units are told of that; none where nothing goes through a proxy.
    pub(crate) fn environment(&self) -> Option<(File, DropIn)> {
        if self.http.is_none() && self.https.is_none() {
            return None;
        }
        let direct = self.direct.join(",");
        let variables = [
            ("HTTP_PROXY", self.http.as_deref()),
            ("HTTPS_PROXY", self.https.as_deref()),
            ("NO_PROXY", Some(direct.as_str())),
        ];
        let given = variables.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let lines: String = given.map(|(name, value)| variable(name, value)).collect();
        let addition = DropIn {
            name: "10-proxy.conf".to_owned(),
            contents: Some(format!("[Service]\nEnvironmentFile={ENVIRONMENT}\n")),
            ..DropIn::default()
        };
        Some((file(ENVIRONMENT, PRIVATE, lines), addition))
    }
}

/// What users want to be reached without a proxy; spaces around commas are nobody's.
fn exceptions(text: Option<&str>) -> Result<Vec<String>, Problem> {
    let entries = text.unwrap_or_default().split(',').map(str::trim);
    let entries: Vec<&str> = entries.filter(|one| !one.is_empty()).collect();
    line(Some(&entries.join(",")), "noProxy")?;
    Ok(entries.into_iter().map(str::to_owned).collect())
}

/// The address of a proxy. Programs differ in what they make of one without a scheme, and Ignition refuses it.
fn address(text: Option<&str>, key: &str) -> Result<Option<String>, Problem> {
    let address = line(text, key)?;
    if address.is_none_or(source::is_remote) {
        Ok(address.map(str::to_owned))
    } else {
        Err(Problem::new(
            "",
            format!("spec.configuration.proxy.{key}"),
            source::NOT_REMOTE,
        ))
    }
}

/// A setting that is one line; what is empty is not there. It may hold a password, so it is not quoted.
fn line<'a>(text: Option<&'a str>, key: &str) -> Result<Option<&'a str>, Problem> {
    let text = text.filter(|text| !text.is_empty());
    if text.is_none_or(|text| text.chars().all(|one| !one.is_whitespace() && !one.is_control())) {
        Ok(text)
    } else {
        let path = format!("spec.configuration.proxy.{key}");
        Err(Problem::new("", path, "must be one line of text without spaces"))
    }
}

fn direct(without: Vec<String>, networking: &ClusterNetworking, platform: &PlatformType) -> Vec<String> {
    let mut all: BTreeSet<String> = DIRECT.iter().map(|one| (*one).to_owned()).collect();
    all.extend(
        networking
            .machine_network
            .iter()
            .map(|network| network.cidr.as_str().to_owned()),
    );
    all.extend(
        networking
            .cluster_network
            .iter()
            .map(|network| network.cidr.as_str().to_owned()),
    );
    all.extend(
        networking
            .service_network
            .iter()
            .map(|network| network.cidr.as_str().to_owned()),
    );
    if matches!(platform, PlatformType::Aws | PlatformType::Azure) {
        all.insert(METADATA_SERVICE.to_owned());
    }
    all.extend(without);
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::source::Source;

    fn proxy(settings: &Value, platform: &PlatformType) -> Result<Option<Proxy>, Problem> {
        let configuration: ClusterConfiguration = hyperplane_objects::read(json!({"proxy": settings})).unwrap();
        Proxy::of(Some(&configuration), &ClusterNetworking::default(), platform)
    }

    #[test]
    fn what_is_near_is_reached_without() {
        let settings = json!({"httpsProxy": "http://proxy:3128", "noProxy": "example.com,, .a.example.com"});
        let found = proxy(&settings, &PlatformType::Aws).unwrap().unwrap();
        assert_eq!(
            found.direct.join(","),
            ".a.example.com,.cluster.local,.local,.svc,10.132.0.0/14,127.0.0.1,169.254.169.254,172.31.0.0/16,example.com,\
             localhost"
        );
        let (variables, addition) = found.environment().unwrap();
        let url = variables.contents.unwrap().source.unwrap();
        let Ok(Source::Data(content)) = source::parse(&url) else {
            panic!("{url}")
        };
        let text = String::from_utf8(content).unwrap();
        assert!(
            text.starts_with("HTTPS_PROXY=\"http://proxy:3128\"\nNO_PROXY=\".a.example.com,"),
            "{text}"
        );
        assert_eq!(variables.mode, Some(0o600));
        assert_eq!(
            addition.contents.unwrap(),
            "[Service]\nEnvironmentFile=/etc/hyperplane/proxy.env\n"
        );
    }

    /// A line of a unit may not have 2048 bytes, and a list of exceptions easily has more.
    #[test]
    fn no_list_of_exceptions_is_too_long() {
        let names: Vec<String> = (0..500).map(|one| format!("host-{one}.example.com")).collect();
        let settings = json!({"httpProxy": "http://proxy:3128", "noProxy": names.join(",")});
        let found = proxy(&settings, &PlatformType::None).unwrap().unwrap();
        let (_, addition) = found.environment().unwrap();
        assert!(addition.contents.unwrap().len() < 100);
    }

    #[test]
    fn without_a_proxy_nothing_is_told() {
        for settings in [json!({}), json!({"noProxy": "example.com"}), json!({"httpProxy": ""})] {
            assert_eq!(proxy(&settings, &PlatformType::None).unwrap(), None, "{settings}");
        }
        let found = proxy(&json!({"trustedCA": {"name": "bundle"}}), &PlatformType::None)
            .unwrap()
            .unwrap();
        assert_eq!(
            (found.trusted_authorities.as_deref(), found.environment()),
            (Some("bundle"), None)
        );
    }

    #[test]
    fn lines_that_would_break_out_are_refused() {
        let bad = [
            json!("http://a\nExecStart=x"),
            json!("a b"),
            json!("proxy.example.com:3128"),
            json!("socks5://proxy.example.com"),
            json!("http://"),
        ];
        for bad in bad {
            let problem = proxy(&json!({"httpProxy": bad}), &PlatformType::None).unwrap_err();
            assert_eq!(problem.path, "spec.configuration.proxy.httpProxy");
            assert!(!problem.to_string().contains("ExecStart"));
        }
        for bad in [json!("a b"), json!("a,b\nc")] {
            let settings = json!({"httpProxy": "http://proxy", "noProxy": bad});
            let problem = proxy(&settings, &PlatformType::None).unwrap_err();
            assert_eq!(problem.path, "spec.configuration.proxy.noProxy");
        }
    }
}
