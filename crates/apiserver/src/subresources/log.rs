//! What a container has written. Only its kubelet knows: whoever runs the pods of a cluster is asked, and answers for
//! kubelets. Owns which container is meant and how much of its log is wanted (pkg/registry/core/pod/strategy.go).

use std::sync::Arc;

use hyperplane_wire::{Failure, Query};
use serde_json::Value;

use crate::{call::Call, core::Core};

/// Whose log is asked for.
#[derive(Clone, Debug)]
pub struct LogRequest {
    /// The pod as it is stored. It has a node.
    pub pod: Value,
    /// A container of it, or an init container.
    pub container: String,
    /// Whether the container before the last restart is meant.
    pub is_previous: bool,
}

/// Why there is no log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogFailure {
    /// The kubelet answers that there is none, and why.
    Refused(String),
    /// The kubelet does not answer, in the words of whoever tried to reach it.
    Unreachable(String),
}

/// Answers for kubelets.
pub type Logs = Arc<dyn Fn(&LogRequest) -> Result<String, LogFailure> + Send + Sync>;

/// The log that a call asks for. Following one ends with what there is: nothing here tells when there is more.
pub(crate) fn get(core: &Core, logs: &Logs, call: &Call, query: &str) -> Result<Vec<u8>, Failure> {
    let options = Options::parse(query)?;
    let found = Core::find(&core.store.snapshot(), &call.served, &call.namespace, &call.name);
    let found = found.ok_or_else(|| call.not_found())?;
    let pod = call.served.show(&found, found.revision);
    let container = container(&pod, &call.name, options.container).map_err(Failure::bad_request)?;
    if pod["spec"]["nodeName"].as_str().unwrap_or_default().is_empty() {
        return Ok(Vec::new());
    }
    let request = LogRequest {
        pod,
        container,
        is_previous: options.is_previous,
    };
    match logs(&request) {
        Ok(text) => Ok(part(&text, options.tail_lines, options.limit_bytes).to_vec()),
        Err(LogFailure::Refused(why)) => Err(Failure::bad_request(why)),
        Err(LogFailure::Unreachable(why)) => Err(Failure::unclassified(why)),
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    container: Option<String>,
    is_previous: bool,
    tail_lines: Option<usize>,
    limit_bytes: Option<usize>,
}

impl Options {
    fn parse(query: &str) -> Result<Self, Failure> {
        let query = Query::parse(query);
        let number = |name: &str| {
            let text = query.first(name).filter(|text| !text.is_empty());
            let refused = |_| Failure::bad_request(format!("{name}: must be a number that is not negative"));
            text.map(|text| text.parse().map_err(refused)).transpose()
        };
        Ok(Self {
            container: query
                .first("container")
                .filter(|name| !name.is_empty())
                .map(str::to_owned),
            is_previous: query.flag("previous").unwrap_or_default(),
            tail_lines: number("tailLines")?,
            limit_bytes: number("limitBytes")?,
        })
    }
}

/// The container that is meant; the error is upstream's.
fn container(pod: &Value, name: &str, wanted: Option<String>) -> Result<String, String> {
    let names = |field: &str| -> Vec<&str> {
        let containers = pod["spec"][field].as_array().into_iter().flatten();
        containers.filter_map(|container| container["name"].as_str()).collect()
    };
    let [main, init, ephemeral] = ["containers", "initContainers", "ephemeralContainers"].map(names);
    match (wanted, main.as_slice()) {
        (Some(wanted), _)
            if [&main, &init, &ephemeral]
                .iter()
                .any(|all| all.contains(&wanted.as_str())) =>
        {
            Ok(wanted)
        }
        (Some(wanted), _) => Err(format!("container {wanted} is not valid for pod {name}")),
        (None, [only]) => Ok((*only).to_owned()),
        (None, []) => Err(format!("a container name must be specified for pod {name}")),
        (None, all) => {
            let of_init = if init.is_empty() {
                String::new()
            } else {
                format!(" or one of the init containers: [{}]", init.join(" "))
            };
            let all = all.join(" ");
            Err(format!(
                "a container name must be specified for pod {name}, choose one of: [{all}]{of_init}"
            ))
        }
    }
}

/// The last lines of a log, and of these the first bytes.
fn part(text: &str, tail_lines: Option<usize>, limit_bytes: Option<usize>) -> &[u8] {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let skipped = tail_lines.map_or(0, |tail| lines.len().saturating_sub(tail));
    let start: usize = lines[..skipped].iter().map(|line| line.len()).sum();
    let bytes = &text.as_bytes()[start..];
    &bytes[..limit_bytes.map_or(bytes.len(), |limit| limit.min(bytes.len()))]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_log_is_given_in_part() {
        let text = "one\ntwo\nthree\n";
        for (tail, limit, expected) in [
            (None, None, text),
            (Some(1), None, "three\n"),
            (Some(9), None, text),
            (Some(0), None, ""),
            (None, Some(5), "one\nt"),
            (Some(2), Some(3), "two"),
        ] {
            assert_eq!(part(text, tail, limit), expected.as_bytes(), "{tail:?} {limit:?}");
        }
    }

    #[test]
    fn the_container_must_be_clear() {
        let pod = |main: &[&str]| {
            let named = |name: &&str| json!({"name": name});
            json!({"spec": {
                "containers": main.iter().map(named).collect::<Vec<_>>(), "initContainers": [{"name": "init"}]}})
        };
        for (main, wanted, expected) in [
            (&["a"][..], None, Ok("a")),
            (&["a"], Some("init"), Ok("init")),
            (&["a", "b"], Some("b"), Ok("b")),
            (&["a"], Some("c"), Err("container c is not valid for pod p")),
            (&[], None, Err("a container name must be specified for pod p")),
            (
                &["a", "b"],
                None,
                Err(
                    "a container name must be specified for pod p, choose one of: [a b] or one of the init containers: \
                     [init]",
                ),
            ),
        ] {
            let found = container(&pod(main), "p", wanted.map(str::to_owned));
            assert_eq!(found.as_deref().map_err(String::as_str), expected);
        }
    }

    #[test]
    fn options_are_read() {
        let options = Options::parse("follow=true&container=a&tailLines=1&limitBytes=9&previous=true").unwrap();
        let expected = Options {
            container: Some("a".to_owned()),
            is_previous: true,
            tail_lines: Some(1),
            limit_bytes: Some(9),
        };
        assert_eq!(options, expected);
        assert!(Options::parse("tailLines=-1").is_err());
    }
}
