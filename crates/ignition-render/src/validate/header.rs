//! What a config says of itself and of how others are fetched, and the arguments of the kernel.

use super::{
    TWICE, lines,
    resource::{self, Need},
    walk::{Fields, Walk},
};
use crate::{ignition::VERSIONS, source};

/// Notes which version a config is of.
pub(super) fn version(walk: &mut Walk, config: &Fields<'_>) {
    let version = config.object("ignition").and_then(|ignition| ignition.text("version"));
    walk.version = VERSIONS.iter().position(|known| Some(*known) == version);
    if walk.version.is_none() {
        walk.wrong("ignition.version", format!("must be one of {}", VERSIONS.join(", ")));
    }
}

pub(super) fn check(walk: &mut Walk, config: &Fields<'_>) {
    if let Some(ignition) = config.object("ignition") {
        if let Some(configs) = ignition.object("config") {
            references(walk, &configs, "merge");
            if let Some(config) = configs.object("replace") {
                resource::check(walk, &config, Need::Source(false));
            }
        }
        if let Some(tls) = ignition.object("security").and_then(|security| security.object("tls")) {
            references(walk, &tls, "certificateAuthorities");
        }
        if let Some(proxy) = ignition.object("proxy") {
            self::proxy(walk, &proxy);
        }
        if let Some(timeouts) = ignition.object("timeouts") {
            for key in ["httpResponseHeaders", "httpTotal"] {
                if timeouts.number(key).is_some_and(i64::is_negative) {
                    walk.wrong(&timeouts.path(key), "must be a number of seconds, 0 for no end");
                }
            }
        }
    }
    if let Some(arguments) = config.object("kernelArguments") {
        kernel_arguments(walk, &arguments);
    }
}

/// What is fetched from elsewhere, each from another place.
fn references(walk: &mut Walk, fields: &Fields<'_>, list: &str) {
    let mut sources = Vec::new();
    for reference in fields.objects(list) {
        resource::check(walk, &reference, Need::Source(true));
        let source = reference.filled("source");
        sources.extend(source.map(|source| (source.to_owned(), reference.path("source"))));
    }
    walk.unique(sources, TWICE);
}

fn proxy(walk: &mut Walk, proxy: &Fields<'_>) {
    for key in ["httpProxy", "httpsProxy"] {
        if proxy.text(key).is_some_and(|url| !source::is_remote(url)) {
            walk.wrong(&proxy.path(key), source::NOT_REMOTE);
        }
    }
    walk.unique(proxy.texts("noProxy"), TWICE);
}

fn kernel_arguments(walk: &mut Walk, arguments: &Fields<'_>) {
    for key in ["shouldExist", "shouldNotExist"] {
        lines(walk, arguments, key);
    }
    let wanted = arguments.texts("shouldExist");
    for (argument, path) in arguments.texts("shouldNotExist") {
        if wanted.iter().any(|(one, _)| *one == argument) {
            walk.wrong(&path, "is among those that should exist, too: take one away");
        }
    }
}
