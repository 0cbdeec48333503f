//! What a simulated container has written: what its pod tells of it, and nothing else. Pure. Arguments are told as the pod
//! has them, before variables are put in; variables and files are never told.

use std::sync::Arc;

use hyperplane_apiserver::{LogFailure, LogRequest, Logs};
use k8s_openapi::api::core::v1::{ContainerState, ContainerStateTerminated, ContainerStatus, Pod};
use kube::ResourceExt;

use crate::pods;

/// Where kubelets listen.
const PORT: u16 = 10250;

/// Answers for the kubelets of nodes that are heard of.
pub(crate) fn of_nodes(is_heard: impl Fn(&str) -> bool + Send + Sync + 'static) -> Logs {
    Arc::new(move |request| {
        let pod: Pod = hyperplane_objects::read(&request.pod)
            .map_err(|error| LogFailure::Refused(format!("the pod cannot be read: {error}")))?;
        if is_heard(pods::node(&pod)) {
            log(&pod, request)
        } else {
            Err(unreachable(&pod, &request.container))
        }
    })
}

/// What an API server says that gets no answer from a kubelet.
fn unreachable(pod: &Pod, container: &str) -> LogFailure {
    let host = pod.status.as_ref().and_then(|status| status.host_ip.clone());
    let host = host.unwrap_or_else(|| pods::node(pod).to_owned());
    let (namespace, name) = (pod.namespace().unwrap_or_default(), pod.name_any());
    LogFailure::Unreachable(format!(
        "Get \"https://{host}:{PORT}/containerLogs/{namespace}/{name}/{container}\": dial tcp {host}:{PORT}: i/o timeout"
    ))
}

fn log(pod: &Pod, request: &LogRequest) -> Result<String, LogFailure> {
    let (name, container) = (pod.name_any(), &request.container);
    let status = status(pod, container);
    let last = status.and_then(|status| status.last_state.as_ref()?.terminated.as_ref());
    let state = status.and_then(|status| status.state.as_ref());
    let command = format!(
        "This container is simulated. It was started as: {}",
        command(pod, container)
    );
    if request.is_previous {
        let missing = || format!("previous terminated container {container:?} in pod {name:?} not found");
        let last = last.ok_or_else(|| LogFailure::Refused(missing()))?;
        return Ok(lines(&[
            started(last.started_at.as_ref().map(|at| at.0.to_string()), &command),
            ended(last),
        ]));
    }
    match state {
        Some(ContainerState {
            running: Some(running), ..
        }) => {
            let mut told = vec![started(
                running.started_at.as_ref().map(|at| at.0.to_string()),
                &command,
            )];
            told.extend(last.zip(status).map(|(last, status)| {
                format!(
                    "It was restarted {} times. Before: {}",
                    status.restart_count,
                    ended(last)
                )
            }));
            told.push(readiness(pod, status));
            Ok(lines(&told))
        }
        Some(ContainerState {
            terminated: Some(end), ..
        }) => Ok(lines(&[
            started(end.started_at.as_ref().map(|at| at.0.to_string()), &command),
            ended(end),
        ])),
        _ => {
            let waiting = state.and_then(|state| state.waiting.as_ref()?.reason.clone());
            let reason = waiting.unwrap_or_else(|| "ContainerCreating".to_owned());
            let message = format!("container {container:?} in pod {name:?} is waiting to start: {reason}");
            Err(LogFailure::Refused(message))
        }
    }
}

fn lines(told: &[String]) -> String {
    told.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

fn started(at: Option<String>, command: &str) -> String {
    format!("{} {command}", at.unwrap_or_default()).trim_start().to_owned()
}

/// How a container ended, in the words of its pod.
fn ended(end: &ContainerStateTerminated) -> String {
    let at = end.finished_at.as_ref().map(|at| at.0.to_string()).unwrap_or_default();
    let parts = [end.reason.as_deref(), end.message.as_deref()];
    let why = parts
        .into_iter()
        .flatten()
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let why: Vec<&str> = why.collect();
    format!("{at} It ended with exit code {}: {}", end.exit_code, why.join(": "))
        .trim_start()
        .to_owned()
}

fn readiness(pod: &Pod, status: Option<&ContainerStatus>) -> String {
    if !status.is_some_and(|status| status.ready) {
        return "It is not ready.".to_owned();
    }
    let mut conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let ready = conditions.find(|condition| condition.type_ == "ContainersReady" && condition.status == "True");
    match ready.and_then(|condition| condition.last_transition_time.as_ref()) {
        Some(since) => format!("{} It is ready.", since.0),
        None => "It is ready.".to_owned(),
    }
}

fn status<'a>(pod: &'a Pod, container: &str) -> Option<&'a ContainerStatus> {
    let status = pod.status.as_ref()?;
    let all = [
        &status.container_statuses,
        &status.init_container_statuses,
        &status.ephemeral_container_statuses,
    ];
    all.into_iter()
        .flatten()
        .flatten()
        .find(|status| status.name == container)
}

/// The command line of a container as its pod has it; without a command, its image has one.
fn command(pod: &Pod, container: &str) -> String {
    let spec = pod.spec.as_ref();
    let main = spec.iter().flat_map(|spec| &spec.containers);
    let init = spec.iter().flat_map(|spec| spec.init_containers.iter().flatten());
    let Some(found) = main.chain(init).find(|found| found.name == container) else {
        return String::new();
    };
    let of_image = || {
        vec![format!(
            "(entrypoint of {})",
            found.image.as_deref().unwrap_or_default()
        )]
    };
    let mut words = found
        .command
        .clone()
        .filter(|command| !command.is_empty())
        .unwrap_or_else(of_image);
    words.extend(found.args.clone().unwrap_or_default());
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pod(state: &Value) -> Value {
        json!({
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {"nodeName": "node-1", "containers": [{
                "name": "main", "image": "web:1", "command": ["/web"], "args": ["--token=$(TOKEN)"],
                "env": [{"name": "TOKEN", "value": "secret"}],
            }]},
            "status": {"hostIP": "10.64.0.1", "containerStatuses": [state], "conditions": [
                {"type": "ContainersReady", "status": "True", "lastTransitionTime": "2026-01-02T03:04:09Z"}]},
        })
    }

    fn state(state: &Value, last: &Value) -> Value {
        let ready = state["running"].is_object();
        json!({"name": "main", "image": "web:1", "imageID": "", "ready": ready, "restartCount": 1,
            "state": state, "lastState": last})
    }

    fn asked(state: &Value, is_previous: bool) -> Result<String, LogFailure> {
        let request = LogRequest {
            pod: pod(state),
            container: "main".to_owned(),
            is_previous,
        };
        of_nodes(|node| node == "node-1")(&request)
    }

    #[test]
    fn a_container_tells_what_its_pod_knows_and_no_secret() {
        let running = json!({"running": {"startedAt": "2026-01-02T03:04:05Z"}});
        let crashed = json!({"terminated": {"exitCode": 1, "reason": "Error", "message": "no such file",
            "startedAt": "2026-01-02T03:04:00Z", "finishedAt": "2026-01-02T03:04:01Z"}});
        let begun = |second: u8| {
            format!(
                "2026-01-02T03:04:0{second}Z This container is simulated. It was started as: /web --token=$(TOKEN)\n"
            )
        };
        let end = "2026-01-02T03:04:01Z It ended with exit code 1: Error: no such file\n";
        let ready = "2026-01-02T03:04:09Z It is ready.\n";
        let cases = [
            (state(&running, &Value::Null), false, begun(5) + ready),
            (
                state(&running, &crashed),
                false,
                format!("{}It was restarted 1 times. Before: {end}{ready}", begun(5)),
            ),
            (state(&running, &crashed), true, begun(0) + end),
            (state(&crashed, &Value::Null), false, begun(0) + end),
        ];
        for (state, is_previous, expected) in cases {
            assert_eq!(asked(&state, is_previous), Ok(expected), "{state}");
        }
    }

    #[test]
    fn what_is_not_there_is_refused_as_kubelets_do() {
        let waiting = state(&json!({"waiting": {"reason": "ImagePullBackOff"}}), &Value::Null);
        let refused = |text: &str| Err(LogFailure::Refused(text.to_owned()));
        assert_eq!(
            asked(&waiting, false),
            refused("container \"main\" in pod \"web\" is waiting to start: ImagePullBackOff")
        );
        assert_eq!(
            asked(&waiting, true),
            refused("previous terminated container \"main\" in pod \"web\" not found")
        );
        let request = LogRequest {
            pod: pod(&waiting),
            container: "main".to_owned(),
            is_previous: false,
        };
        let silent = of_nodes(|_| false)(&request);
        let expected =
            "Get \"https://10.64.0.1:10250/containerLogs/default/web/main\": dial tcp 10.64.0.1:10250: i/o timeout";
        assert_eq!(silent, Err(LogFailure::Unreachable(expected.to_owned())));
    }
}
