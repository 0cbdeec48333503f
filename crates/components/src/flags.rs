//! Flags in the arguments of a container: one argument each, `--name=value`.

use k8s_openapi::api::core::v1::{Container, EnvVar};

/// Sets a flag: replaces the one that is there, or adds it at the end.
pub(crate) fn set(container: &mut Container, name: &str, value: impl AsRef<str>) {
    let flag = format!("--{name}={}", value.as_ref());
    let arguments = container.args.get_or_insert_default();
    let start = format!("--{name}=");
    match arguments.iter_mut().find(|argument| argument.starts_with(&start)) {
        Some(argument) => *argument = flag,
        None => arguments.push(flag),
    }
}

/// Sets a flag if there is a value for it.
pub(crate) fn set_some(container: &mut Container, name: &str, value: Option<impl AsRef<str>>) {
    if let Some(value) = value {
        set(container, name, value);
    }
}

/// Adds a flag that may stand more than once.
pub(crate) fn add(container: &mut Container, name: &str, value: impl AsRef<str>) {
    let arguments = container.args.get_or_insert_default();
    arguments.push(format!("--{name}={}", value.as_ref()));
}

/// Sets a variable of a container.
pub(crate) fn variable(container: &mut Container, name: &str, value: &str) {
    container.env.get_or_insert_default().push(EnvVar {
        name: name.to_owned(),
        value: Some(value.to_owned()),
        ..EnvVar::default()
    });
}
