//! The variables of a container, and its command line with them put in. Pure.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, EnvVar, EnvVarSource, Pod};
use kube::ResourceExt;

use super::{
    facts::Facts,
    files::{config_key, secret_key},
};
use crate::{
    pods,
    programs::{Invocation, expand},
};

/// Variables by name.
pub(crate) type Variables = BTreeMap<String, String>;

/// The command line that a container runs, or why its variables cannot be put together, in the kubelet's words.
pub(crate) fn invocation(pod: &Pod, container: &Container, facts: &dyn Facts) -> Result<Invocation, String> {
    let variables = variables(pod, container, facts)?;
    let words = |list: Option<&Vec<String>>| -> Vec<String> {
        let words = list.into_iter().flatten();
        words.map(|word| expand(word, &variables)).collect()
    };
    let (command, arguments) = (words(container.command.as_ref()), words(container.args.as_ref()));
    Ok(Invocation::new(&command, &arguments, &container.name))
}

fn variables(pod: &Pod, container: &Container, facts: &dyn Facts) -> Result<Variables, String> {
    let namespace = pod.namespace().unwrap_or_default();
    let mut variables = Variables::new();
    for source in container.env_from.iter().flatten() {
        let prefix = source.prefix.as_deref().unwrap_or_default();
        if let Some(reference) = &source.secret_ref {
            match facts.secret(&namespace, &reference.name) {
                Some(secret) => {
                    variables.extend(secret.data.iter().flatten().map(|(key, value)| {
                        (format!("{prefix}{key}"), String::from_utf8_lossy(&value.0).into_owned())
                    }));
                }
                None if reference.optional == Some(true) => {}
                None => return Err(format!("secret {:?} not found", reference.name)),
            }
        }
        if let Some(reference) = &source.config_map_ref {
            match facts.config_map(&namespace, &reference.name) {
                Some(map) => {
                    let pairs = map.data.iter().flatten();
                    variables.extend(pairs.map(|(key, value)| (format!("{prefix}{key}"), value.clone())));
                }
                None if reference.optional == Some(true) => {}
                None => return Err(format!("configmap {:?} not found", reference.name)),
            }
        }
    }
    for variable in container.env.iter().flatten() {
        if let Some(value) = value(pod, variable, &variables, facts)? {
            variables.insert(variable.name.clone(), value);
        }
    }
    Ok(variables)
}

fn value(pod: &Pod, variable: &EnvVar, known: &Variables, facts: &dyn Facts) -> Result<Option<String>, String> {
    match &variable.value_from {
        None => Ok(Some(expand(variable.value.as_deref().unwrap_or_default(), known))),
        Some(source) => from(pod, source, facts),
    }
}

fn from(pod: &Pod, source: &EnvVarSource, facts: &dyn Facts) -> Result<Option<String>, String> {
    let namespace = pod.namespace().unwrap_or_default();
    if let Some(reference) = &source.secret_key_ref {
        let is_optional = reference.optional == Some(true);
        return match facts.secret(&namespace, &reference.name) {
            None if is_optional => Ok(None),
            None => Err(format!("secret {:?} not found", reference.name)),
            Some(secret) => match secret_key(&secret, &reference.key) {
                Some(value) => Ok(Some(String::from_utf8_lossy(&value.0).into_owned())),
                None if is_optional => Ok(None),
                None => Err(format!(
                    "couldn't find key {} in Secret {namespace}/{}",
                    reference.key, reference.name
                )),
            },
        };
    }
    if let Some(reference) = &source.config_map_key_ref {
        let is_optional = reference.optional == Some(true);
        return match facts.config_map(&namespace, &reference.name) {
            None if is_optional => Ok(None),
            None => Err(format!("configmap {:?} not found", reference.name)),
            Some(map) => match config_key(&map, &reference.key) {
                Some(value) => Ok(Some(String::from_utf8_lossy(&value).into_owned())),
                None if is_optional => Ok(None),
                None => Err(format!(
                    "couldn't find key {} in ConfigMap {namespace}/{}",
                    reference.key, reference.name
                )),
            },
        };
    }
    Ok(source
        .field_ref
        .as_ref()
        .map(|field| self::field(pod, &field.field_path, facts)))
}

/// A field of the pod.
fn field(pod: &Pod, path: &str, facts: &dyn Facts) -> String {
    let spec = pods::spec(pod);
    match path {
        "metadata.name" => pod.name_any(),
        "metadata.namespace" => pod.namespace().unwrap_or_default(),
        "metadata.uid" => pod.uid().unwrap_or_default(),
        "spec.nodeName" => pods::node(pod).to_owned(),
        "spec.serviceAccountName" => spec
            .and_then(|spec| spec.service_account_name.clone())
            .unwrap_or_default(),
        "status.podIP" | "status.podIPs" => facts.address(pod),
        "status.hostIP" | "status.hostIPs" => facts.host(pod),
        _ => {
            let of = |prefix: &str, map: &BTreeMap<String, String>| {
                let key = path.strip_prefix(prefix)?.strip_prefix("['")?.strip_suffix("']")?;
                map.get(key).cloned()
            };
            let label = of("metadata.labels", pod.labels());
            label
                .or_else(|| of("metadata.annotations", pod.annotations()))
                .unwrap_or_default()
        }
    }
}
