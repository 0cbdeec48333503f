//! The configuration file of a member: a template that is the same for all of them, completed with what is true of one.
//! Pure.

use hyperplane_objects::YamlError;
use serde_json::{Map, Value};
use thiserror::Error;

use super::{membership::Start, topology::Topology, wire::Member};

/// Whether a cluster begins, or goes on.
const STATE: &str = "initial-cluster-state";
const STATE_NEW: &str = "new";
const STATE_EXISTING: &str = "existing";

/// Whether the text of a file says that no cluster has been there yet. What cannot be understood lets none begin.
pub fn is_first(state: &str) -> bool {
    state.trim() == STATE_NEW
}

/// What makes clusters with equal addresses different from each other.
const TOKEN: &str = "initial-cluster-token";

/// What only this program may say.
const OURS: [&str; 4] = [
    "name",
    "initial-advertise-peer-urls",
    "advertise-client-urls",
    "initial-cluster",
];

/// A template that was read.
#[derive(Clone, Debug)]
pub struct Template {
    settings: Map<String, Value>,
}

/// Why a template cannot be used.
#[derive(Debug, Error)]
pub enum TemplateError {
    /// It is no configuration.
    #[error("the template is no YAML with settings of etcd: look at the ConfigMap that is mounted there")]
    Form(#[source] YamlError),
    /// It says what differs from member to member.
    #[error("the template sets {key}, which differs from member to member: remove it from the ConfigMap")]
    Ours {
        /// The setting.
        key: &'static str,
    },
    /// It keeps data elsewhere than where this program looks for it.
    #[error("the template has {key} {found:?}, and --data-dir is {expected:?}: let both name the same directory")]
    Directory {
        /// The setting.
        key: &'static str,
        /// What the template says.
        found: String,
        /// What the flag says.
        expected: String,
    },
}

impl Template {
    /// Reads a template, and sees that it keeps the data where the flag says.
    pub fn read(text: &str, data_directory: &str) -> Result<Self, TemplateError> {
        let settings: Map<String, Value> = hyperplane_objects::read_yaml(text).map_err(TemplateError::Form)?;
        if let Some(key) = OURS.into_iter().find(|key| settings.contains_key(*key)) {
            return Err(TemplateError::Ours { key });
        }
        let elsewhere = |key, found: Option<&Value>| TemplateError::Directory {
            key,
            found: found.map(ToString::to_string).unwrap_or_default(),
            expected: data_directory.to_owned(),
        };
        // A log that is kept elsewhere would make a directory with data look like one without.
        if let Some(found) = settings.get("wal-dir") {
            return Err(elsewhere("wal-dir", Some(found)));
        }
        let found = settings.get("data-dir");
        let plain = |path: &str| path.trim_end_matches('/').to_owned();
        if found.and_then(Value::as_str).map(plain) != Some(plain(data_directory)) {
            return Err(elsewhere("data-dir", found));
        }
        Ok(Self { settings })
    }

    /// Whether a cluster may begin: not if the template says that there is one.
    pub fn may_begin(&self) -> bool {
        self.settings.get(STATE).and_then(Value::as_str) != Some(STATE_EXISTING)
    }

    /// The whole configuration of a member that starts in this way.
    pub fn complete(&self, topology: &Topology, namespace: &str, start: &Start) -> String {
        let (state, cluster) = match start {
            Start::New => (STATE_NEW, topology.initial_cluster()),
            Start::WithData => (STATE_EXISTING, topology.initial_cluster()),
            Start::Join(members) => (STATE_EXISTING, initial_cluster(members, topology)),
        };
        let own = &topology.own;
        let mut settings = self.settings.clone();
        let mut set = |key: &str, value: Value| settings.insert(key.to_owned(), value);
        set(OURS[0], own.name.clone().into());
        set(OURS[1], own.peer_url.clone().into());
        set(OURS[2], own.client_url.clone().into());
        set(OURS[3], cluster.into());
        set(STATE, state.into());
        // With a configuration file the gateway is off unless it is asked for, and these programs speak to it.
        set("enable-grpc-gateway", true.into());
        settings
            .entry(TOKEN)
            .or_insert_with(|| Value::String(namespace.to_owned()));
        write(&settings)
    }
}

fn write(settings: &Map<String, Value>) -> String {
    hyperplane_objects::yaml_text(settings).expect("settings that were read can be written")
}

/// The members of a cluster that is there. etcd compares addresses and wants some name for each.
fn initial_cluster(members: &[Member], topology: &Topology) -> String {
    let name = |member: &Member| {
        if member.peer_urls.contains(&topology.own.peer_url) {
            topology.own.name.clone()
        } else if member.name.is_empty() {
            format!("{:x}", member.id)
        } else {
            member.name.clone()
        }
    };
    let pairs = members.iter().flat_map(|member| {
        let name = name(member);
        member.peer_urls.iter().map(move |url| format!("{name}={url}"))
    });
    pairs.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = "\
data-dir: /var/lib/data
listen-peer-urls: https://0.0.0.0:2380
quota-backend-bytes: 8589934592
client-transport-security:
  client-cert-auth: true
  cert-file: /etc/etcd/tls/server/server.crt
experimental-initial-corrupt-check: true
";

    fn topology() -> Topology {
        Topology::in_namespace("etcd-1", "ns", 3).unwrap()
    }

    fn completed(start: &Start) -> Value {
        let template = Template::read(TEMPLATE, "/var/lib/data/").unwrap();
        let text = template.complete(&topology(), "ns", start);
        hyperplane_objects::read_yaml(&text).unwrap()
    }

    #[test]
    fn what_is_true_of_one_member_is_added() {
        let config = completed(&Start::New);
        assert_eq!(config["name"], "etcd-1");
        assert_eq!(
            config["initial-advertise-peer-urls"],
            "https://etcd-1.etcd-discovery.ns.svc:2380"
        );
        assert_eq!(
            config["advertise-client-urls"],
            "https://etcd-1.etcd-discovery.ns.svc:2379"
        );
        assert_eq!(config["initial-cluster-state"], "new");
        assert_eq!(config["initial-cluster-token"], "ns");
        assert_eq!(
            config["initial-cluster"],
            "etcd-0=https://etcd-0.etcd-discovery.ns.svc:2380,\
             etcd-1=https://etcd-1.etcd-discovery.ns.svc:2380,\
             etcd-2=https://etcd-2.etcd-discovery.ns.svc:2380"
        );
        assert_eq!(config["quota-backend-bytes"], 8_589_934_592_u64);
        assert_eq!(config["client-transport-security"]["client-cert-auth"], true);
        assert_eq!(completed(&Start::WithData)["initial-cluster-state"], "existing");
    }

    #[test]
    fn who_joins_names_the_members_that_there_are() {
        let member = |id, name: &str, url: &str| Member {
            id,
            name: name.to_owned(),
            peer_urls: vec![url.to_owned()],
            ..Member::default()
        };
        let members = vec![
            member(1, "etcd-0", "https://zero:2380"),
            member(2, "", &topology().own.peer_url),
            member(0xabc, "", "https://other:2380"),
        ];
        let config = completed(&Start::Join(members));
        assert_eq!(config["initial-cluster-state"], "existing");
        assert_eq!(
            config["initial-cluster"],
            "etcd-0=https://zero:2380,etcd-1=https://etcd-1.etcd-discovery.ns.svc:2380,abc=https://other:2380"
        );
    }

    #[test]
    fn a_template_that_contradicts_is_refused() {
        let cases = [
            ("data-dir: /elsewhere", "let both name the same directory"),
            ("listen-peer-urls: x", "let both name the same directory"),
            ("{data-dir: /var/lib/data, wal-dir: /wal}", "wal-dir"),
            ("{data-dir: /var/lib/data, name: me}", "sets name"),
            ("- a list", "no YAML with settings"),
            ("a: [", "no YAML with settings"),
        ];
        for (text, expected) in cases {
            let refused = Template::read(text, "/var/lib/data").unwrap_err().to_string();
            assert!(refused.contains(expected), "{text}: {refused}");
        }
    }

    #[test]
    fn only_one_word_lets_a_cluster_begin() {
        for (state, expected) in [
            ("new", true),
            ("new\n", true),
            ("existing", false),
            ("", false),
            ("New", false),
        ] {
            assert_eq!(is_first(state), expected, "{state:?}");
        }
    }

    #[test]
    fn a_template_may_forbid_a_beginning() {
        let read = |text: &str| Template::read(text, "/d").unwrap().may_begin();
        assert!(read("data-dir: /d"));
        assert!(read("{data-dir: /d, initial-cluster-state: new}"));
        assert!(!read("{data-dir: /d, initial-cluster-state: existing}"));
    }
}
