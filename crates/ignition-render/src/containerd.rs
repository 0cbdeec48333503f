//! containerd: its configuration, and where else it finds images.

use std::{collections::BTreeMap, fmt::Write as _};

use hyperplane_planner::release::Release;

use crate::{
    ignition::File,
    mirrors::{self, Mirror, OfCluster, Registry},
    parts::{PUBLIC, file},
    problem::Problem,
    user::UserConfig,
};

/// The unit.
pub(crate) const SERVICE: &str = "containerd.service";

const CONFIGURATION: &str = "/etc/containerd/config.toml";
const REGISTRIES: &str = "/etc/containerd/certs.d";
/// What a registry is called and where it is are the same, but for this one.
const DOCKER_HUB: (&str, &str) = ("docker.io", "registry-1.docker.io");

/// What containers are run with unless users choose.
const RUNTIME: &str = "runc";

/// All files.
pub(crate) fn files(
    release: &Release,
    user: &UserConfig,
    of_cluster: OfCluster<'_>,
) -> Result<Vec<File>, Vec<Problem>> {
    let authorities = of_cluster.authorities;
    let mut files = vec![file(CONFIGURATION, PUBLIC, configuration(release, user))];
    for (host, registry) in mirrors::registries(&user.mirrors, of_cluster)? {
        let path = format!("{REGISTRIES}/{host}/hosts.toml");
        files.push(file(path, PUBLIC, hosts(&host, &registry, authorities)));
    }
    let certificates = authorities
        .iter()
        .map(|(host, text)| file(authority_path(host), PUBLIC, text));
    files.extend(certificates);
    Ok(files)
}

/// Where the authority of a registry is.
fn authority_path(host: &str) -> String {
    format!("{REGISTRIES}/{host}/ca.crt")
}

/// In version 2, which containerd reads since 1.5, and later ones turn into their own.
fn configuration(release: &Release, user: &UserConfig) -> String {
    let runtime = user.runtime.as_deref().unwrap_or(RUNTIME);
    let mut text = "version = 2\n".to_owned();
    if let Some(level) = &user.runtime_log_level {
        write!(text, "\n[debug]\n  level = {}\n", quoted(level)).expect("writing to a String does not fail");
    }
    let plugin = r#"plugins."io.containerd.grpc.v1.cri""#;
    write!(text, "\n[{plugin}]\n").expect("writing to a String does not fail");
    if let Some(image) = release.components.get("pause").and_then(|pause| pause.image.as_ref()) {
        writeln!(text, "  sandbox_image = {}", quoted(image)).expect("writing to a String does not fail");
    }
    write!(
        text,
        "\n[{plugin}.containerd]\n  default_runtime_name = {name}\n\n[{plugin}.containerd.runtimes.{runtime}]\n  \
         runtime_type = \"io.containerd.runc.v2\"\n\n[{plugin}.containerd.runtimes.{runtime}.options]\n  BinaryName = \
         {name}\n  SystemdCgroup = true\n\n[{plugin}.registry]\n  config_path = {path}\n",
        name = quoted(runtime),
        path = quoted(REGISTRIES),
    )
    .expect("writing to a String does not fail");
    text
}

/// Where images of one registry are found. Mirrors are asked for digests only, as those who name them expect: what a tag
/// means is the registry's to say. What stands before all others is asked last; where the registry is never asked, that is
/// its last mirror.
fn hosts(host: &str, registry: &Registry, authorities: &BTreeMap<String, String>) -> String {
    let address = if host == DOCKER_HUB.0 { DOCKER_HUB.1 } else { host };
    let own = format!("https://{address}");
    let (mirrors, last) = match registry.mirrors.split_last() {
        Some((last, mirrors)) if registry.is_exclusive => (mirrors, Some(last)),
        _ => (registry.mirrors.as_slice(), None),
    };
    let authority = |host: &str| authorities.contains_key(host).then(|| quoted(&authority_path(host)));
    let of_own = authority(host).map(|path| format!("ca = {path}\n")).unwrap_or_default();
    let mut text = last.map_or_else(
        || format!("server = {}\n{of_own}", quoted(&own)),
        |last| {
            format!(
                "server = {}\n{}",
                quoted(&last.url),
                settings(last, authority(&last.host), "")
            )
        },
    );
    for mirror in mirrors {
        let settings = settings(mirror, authority(&mirror.host), "  ");
        write!(text, "\n[host.{}]\n{settings}", quoted(&mirror.url)).expect("writing to a String does not fail");
    }
    if registry.is_insecure && last.is_none() {
        // With a certificate that nobody trusts, or without any.
        for (scheme, setting) in [("https", "  skip_verify = true\n"), ("http", "")] {
            let head = quoted(&format!("{scheme}://{address}"));
            write!(
                text,
                "\n[host.{head}]\n  capabilities = [\"pull\", \"resolve\"]\n{setting}"
            )
            .expect("writing to a String does not fail");
        }
    }
    text
}

/// How a mirror is asked, with the path of its authority where it has one of its own.
fn settings(mirror: &Mirror, authority: Option<String>, indent: &str) -> String {
    let lines = [
        Some("capabilities = [\"pull\"]".to_owned()),
        mirror.is_whole.then(|| "override_path = true".to_owned()),
        mirror.is_insecure.then(|| "skip_verify = true".to_owned()),
        authority.map(|path| format!("ca = {path}")),
    ];
    let lines = lines.into_iter().flatten();
    lines.fold(String::new(), |text, line| text + indent + &line + "\n")
}

/// Text as TOML has it. What is put here has passed checks by which it holds no control characters.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use hyperplane_planner::catalogue;

    use super::*;

    #[test]
    fn a_registry_is_told_with_its_mirrors() {
        let none = BTreeMap::new();
        let registry = Registry {
            mirrors: vec![
                Mirror {
                    url: "https://a.example.com".to_owned(),
                    is_insecure: true,
                    ..Mirror::default()
                },
                Mirror {
                    url: "https://b.example.com/v2/x".to_owned(),
                    is_whole: true,
                    ..Mirror::default()
                },
            ],
            ..Registry::default()
        };
        assert_eq!(
            hosts("docker.io", &registry, &none),
            "server = \"https://registry-1.docker.io\"\n\n[host.\"https://a.example.com\"]\n  capabilities = [\"pull\"]\n  \
             skip_verify = true\n\n[host.\"https://b.example.com/v2/x\"]\n  capabilities = [\"pull\"]\n  override_path = \
             true\n"
        );
        let exclusive = Registry {
            is_exclusive: true,
            is_insecure: true,
            ..registry
        };
        assert_eq!(
            hosts("quay.io", &exclusive, &none),
            "server = \"https://b.example.com/v2/x\"\ncapabilities = [\"pull\"]\noverride_path = true\n\n\
             [host.\"https://a.example.com\"]\n  capabilities = [\"pull\"]\n  skip_verify = true\n"
        );
        let insecure = Registry {
            is_insecure: true,
            ..Registry::default()
        };
        assert_eq!(
            hosts("r.example.com", &insecure, &none),
            "server = \"https://r.example.com\"\n\n[host.\"https://r.example.com\"]\n  capabilities = [\"pull\", \
             \"resolve\"]\n  skip_verify = true\n\n[host.\"http://r.example.com\"]\n  capabilities = [\"pull\", \
             \"resolve\"]\n"
        );
    }

    #[test]
    fn registries_and_mirrors_have_authorities_of_their_own() {
        let registry = Registry {
            mirrors: vec![Mirror {
                host: "a.example.com:5000".to_owned(),
                url: "https://a.example.com:5000".to_owned(),
                ..Mirror::default()
            }],
            ..Registry::default()
        };
        let authority = |host: &str| BTreeMap::from([(host.to_owned(), "PEM".to_owned())]);
        let told = hosts("quay.io", &registry, &authority("a.example.com:5000"));
        let expected = "  capabilities = [\"pull\"]\n  ca = \"/etc/containerd/certs.d/a.example.com:5000/ca.crt\"\n";
        assert!(
            told.starts_with("server = \"https://quay.io\"\n\n") && told.ends_with(expected),
            "{told}"
        );
        let told = hosts("quay.io", &registry, &authority("quay.io"));
        let expected = "server = \"https://quay.io\"\nca = \"/etc/containerd/certs.d/quay.io/ca.crt\"\n\n[host.";
        assert!(told.starts_with(expected), "{told}");
    }

    #[test]
    fn pods_begin_with_the_image_of_the_release() {
        let release = catalogue::by_version("v1.36.4").unwrap();
        let text = configuration(release, &UserConfig::default());
        assert!(
            text.contains("sandbox_image = \"registry.k8s.io/pause:3.10.2\"\n"),
            "{text}"
        );
        assert!(text.contains("SystemdCgroup = true\n"), "{text}");
    }
}
