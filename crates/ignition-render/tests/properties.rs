//! What holds of every payload, whatever a cluster and its users want.

use hyperplane_api::hypershift::platform_type::PlatformType;
use hyperplane_ignition_render::{source, validate::validate, worker::RENDER_REVISION};
use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::{Value, json};

use crate::support::{World, configuration};

/// A MachineConfig with files and units that any user could give.
fn machine_config() -> impl Strategy<Value = Value> {
    let file = ("[a-z]{1,8}", 0..0o7777_u32, vec(any::<u8>(), 0..40));
    let unit = ("[a-z]{1,8}", option::of(any::<bool>()));
    (vec(file, 0..4), vec(unit, 0..4)).prop_map(|(files, units)| {
        let mut seen = std::collections::BTreeSet::new();
        let files: Vec<Value> = files
            .into_iter()
            .filter(|(path, ..)| seen.insert(format!("file {path}")))
            .map(|(path, mode, content)| {
                json!({"path": format!("/etc/{path}"), "mode": mode, "contents": {"source": source::data_url(&content)}})
            })
            .collect();
        let mut seen = std::collections::BTreeSet::new();
        let units: Vec<Value> = units
            .into_iter()
            .filter(|(name, _)| seen.insert(name.clone()))
            .map(|(name, enabled)| json!({"name": format!("{name}.service"), "enabled": enabled, "contents": "[Unit]\n"}))
            .collect();
        json!({"ignition": {"version": "3.2.0"}, "storage": {"files": files}, "systemd": {"units": units}})
    })
}

fn worlds() -> impl Strategy<Value = World> {
    let platforms = select(vec![PlatformType::KubeVirt, PlatformType::Agent, PlatformType::None]);
    let proxy = option::of("http://[a-z]{1,6}:(%25)?[a-z]{1,4}@proxy:1");
    let mirror = option::of("[a-z]{1,6}\\.example\\.com(/[a-z]{1,4})?");
    let keys = select(vec!["", "ssh-ed25519 AAAA a\nssh-rsa BBBB\n"]);
    (platforms, proxy, mirror, keys, vec(machine_config(), 0..3)).prop_map(
        |(platform, proxy, mirror, keys, configs)| {
            let mut world = World::new(platform);
            world.configuration = proxy.and_then(|proxy| configuration(json!({"proxy": {"httpProxy": proxy}})));
            keys.clone_into(&mut world.ssh_keys);
            world.config = configs
                .into_iter()
                .enumerate()
                .map(|(index, config)| {
                    let document = json!({
                        "apiVersion": "machineconfiguration.openshift.io/v1",
                        "kind": "MachineConfig",
                        "metadata": {"name": format!("c{index}")},
                        "spec": {"config": config},
                    });
                    (format!("map-{index}"), document.to_string())
                })
                .collect();
            world.config.extend(mirror.map(|mirror| {
                let document = json!({
                    "apiVersion": "config.openshift.io/v1",
                    "kind": "ImageDigestMirrorSet",
                    "metadata": {"name": "mirrors"},
                    "spec": {"imageDigestMirrors": [{"source": "quay.io", "mirrors": [mirror]}]},
                });
                ("mirrors".to_owned(), document.to_string())
            }));
            world
        },
    )
}

/// What breaks a payload, and where that must be noticed.
fn mutations() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("/ignition/version", json!("1.0"), "ignition.version"),
        ("/storage/files/0/path", json!("relative"), "storage.files[0].path"),
        ("/storage/files/0/mode", json!(65_536), "storage.files[0].mode"),
        (
            "/storage/files/0/contents/source",
            json!("oops"),
            "storage.files[0].contents.source",
        ),
        (
            "/storage/directories/0/path",
            json!("/a/../b"),
            "storage.directories[0].path",
        ),
        ("/systemd/units/0/name", json!("kubelet"), "systemd.units[0].name"),
        ("/systemd/units/0/enabled", json!("yes"), "systemd.units[0].enabled"),
        ("/systemd", json!([]), "systemd"),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn payloads_are_always_valid_and_always_the_same(world in worlds()) {
        prop_assert_eq!(validate(&world.payload()), []);
        prop_assert_eq!(world.render(), world.render());
    }

    #[test]
    fn payloads_that_were_tampered_with_are_found(world in worlds(), (pointer, value, path) in select(mutations())) {
        let mut payload = world.payload();
        let (parent, key) = pointer.rsplit_once('/').expect("it begins with a slash");
        payload.pointer_mut(parent).expect("every payload has it")[key] = value;
        let problems = validate(&payload);
        prop_assert!(problems.iter().any(|problem| problem.path == path), "{}: {:?}", pointer, problems);
    }

    #[test]
    fn users_have_the_last_word_on_their_files(world in worlds()) {
        let payload = world.payload();
        let files = payload["storage"]["files"].as_array().expect("there are files");
        let is_machine = |(name, _): &&(String, String)| name != "mirrors";
        let last = world.config.iter().rfind(is_machine).map(|(_, text)| serde_json::from_str::<Value>(text).unwrap());
        let last = last.map(|document| document["spec"]["config"]["storage"]["files"].clone());
        for file in last.iter().filter_map(Value::as_array).flatten() {
            prop_assert!(files.contains(file), "{} is not there as given", file["path"]);
        }
    }
}

#[test]
fn every_worker_has_what_makes_it_one() {
    let payload = World::new(PlatformType::KubeVirt).payload();
    let names = |list: &Value, key: &str| {
        let all = list.as_array().into_iter().flatten();
        all.map(|one| one[key].as_str().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    let files = names(&payload["storage"]["files"], "path");
    for path in [
        "/etc/containerd/config.toml",
        "/etc/hyperplane/release.json",
        "/etc/kubernetes/bootstrap-kubeconfig",
        "/etc/kubernetes/kubelet-ca.crt",
        "/etc/kubernetes/kubelet.conf",
        "/var/lib/kubelet/config.json",
    ] {
        assert!(files.iter().any(|file| file == path), "{path} in {files:?}");
    }
    let units = names(&payload["systemd"]["units"], "name");
    for name in ["containerd.service", "kubelet.service", "kube-apiserver-proxy.socket"] {
        assert!(units.iter().any(|unit| unit == name), "{name} in {units:?}");
    }
}

#[test]
fn everything_that_stops_a_payload_is_told_at_once() {
    let mut world = World::new(PlatformType::None);
    world.configuration = configuration(json!({
        "proxy": {"httpProxy": "a b"},
        "image": {"registrySources": {"blockedRegistries": ["example.com"]}},
    }));
    world.ssh_keys = "nonsense".to_owned();
    world.networking.api_server = hyperplane_objects::read(json!({"advertiseAddress": "here"})).unwrap();
    let problems = world.render().unwrap_err();
    let paths: Vec<&str> = problems.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "spec.configuration.proxy.httpProxy",
            "spec.sshKey",
            "spec.configuration.image.registrySources.blockedRegistries",
            "spec.networking.apiServer.advertiseAddress",
        ]
    );
}

#[test]
fn only_revisions_that_are_known_are_rendered() {
    for revision in [0, RENDER_REVISION + 1] {
        let mut world = World::new(PlatformType::None);
        world.revision = revision;
        let problems = world.render().unwrap_err();
        assert_eq!(problems[0].path, "render-revision");
        assert!(
            problems[0].problem.contains("run a newer ignition server"),
            "{problems:?}"
        );
    }
}
