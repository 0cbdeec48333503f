//! Pods without a kubelet: what a Deployment asks for is started as a process of this machine, with the token of its account
//! and the files that it mounts; of all other pods only the status is played.

use std::{
    fs,
    path::{Path, PathBuf},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::{program::Running, site::Site};

/// Starts the program of a Deployment, with the arguments that it has there. Two things are rewritten: where volumes are,
/// and where it listens, which may be taken on this machine.
pub async fn start(site: &Site, namespace: &str, name: &str, directory: &Path) -> Running {
    let deployment = site.json(&["get", "deployment", name, "--namespace", namespace]).await;
    let pod = &deployment["spec"]["template"]["spec"];
    let account = pod["serviceAccountName"].as_str().unwrap();
    assert_eq!(account, name, "each role has an account of its own");
    let container = &pod["containers"][0];
    assert_eq!(container["command"], json!(["hyperplane"]));
    let directory = directory.join(name);
    fs::create_dir(&directory).unwrap();
    let places = mount(site, namespace, pod, &directory).await;
    let arguments = container["args"].as_array().unwrap().iter().filter_map(Value::as_str);
    let arguments: Vec<String> = arguments
        .map(|argument| inside(&expand(argument, container, namespace), &places))
        .collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Running::start(&arguments, &site.kubeconfig_of(namespace, account, &directory).await)
}

/// An argument with the variables that are fields of the pod.
fn expand(argument: &str, container: &Value, namespace: &str) -> String {
    let variables = container["env"].as_array().into_iter().flatten();
    variables.fold(argument.to_owned(), |argument, variable| {
        let name = format!("$({})", variable["name"].as_str().unwrap());
        match variable["valueFrom"]["fieldRef"]["fieldPath"].as_str() {
            Some("metadata.namespace") => argument.replace(&name, namespace),
            _ => argument,
        }
    })
}

/// An argument that leads to files and ports of this machine.
fn inside(argument: &str, places: &[(String, PathBuf)]) -> String {
    let Some((flag, value)) = argument.split_once('=') else {
        return argument.to_owned();
    };
    if value.starts_with("[::]:") {
        return format!("{flag}=127.0.0.1:0");
    }
    let found = places.iter().find_map(|(mounted, place)| {
        let file = value.strip_prefix(mounted)?.strip_prefix('/')?;
        Some(format!("{flag}={}", place.join(file).display()))
    });
    assert!(found.is_some() || !value.starts_with('/'), "{argument} is not mounted");
    found.unwrap_or_else(|| argument.to_owned())
}

/// Writes the Secrets that a pod mounts into its first container; where they are mounted, and where they are here.
async fn mount(site: &Site, namespace: &str, pod: &Value, directory: &Path) -> Vec<(String, PathBuf)> {
    let mut places = Vec::new();
    for mounted in pod["containers"][0]["volumeMounts"].as_array().into_iter().flatten() {
        let volumes = pod["volumes"].as_array().into_iter().flatten();
        let mut volumes = volumes.filter(|volume| volume["name"] == mounted["name"]);
        let Some(secret) = volumes.find_map(|volume| volume["secret"]["secretName"].as_str()) else {
            continue;
        };
        let place = directory.join(secret);
        fs::create_dir(&place).unwrap();
        let secret = site.json(&["get", "secret", secret, "--namespace", namespace]).await;
        for (key, value) in secret["data"].as_object().unwrap() {
            let content = BASE64_STANDARD.decode(value.as_str().unwrap()).unwrap();
            fs::write(place.join(key), content).unwrap();
        }
        places.push((mounted["mountPath"].as_str().unwrap().to_owned(), place));
    }
    places
}

/// Says of every pod of a namespace that it runs, as a kubelet would: Kubernetes' own controllers and the operators see
/// workloads that are available.
pub async fn play(site: &Site, namespace: &str) {
    let pods = site.json(&["get", "pods", "--namespace", namespace]).await;
    for pod in pods["items"].as_array().unwrap() {
        let is_playing = pod["status"]["phase"] == "Running";
        if is_playing || !pod["metadata"]["deletionTimestamp"].is_null() {
            continue;
        }
        let name = pod["metadata"]["name"].as_str().unwrap();
        let conditions = [json!({"type": "Ready", "status": "True"})];
        let status = json!({"status": {"phase": "Running", "conditions": conditions}}).to_string();
        let arguments = ["patch", "pod", name, "--namespace", namespace, "--subresource=status"];
        let arguments = [arguments.as_slice(), &["--type=merge", "--patch", &status]].concat();
        // It may have gone in the meantime.
        site.kubectl(&arguments).await.ok();
    }
}
