//! The files of a host before it starts: those of its payload, and those that an image or an installer would have put there.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use super::{Options, error::Error, payload::Payload};

/// What changes of the root.
pub(super) const UPPER: &str = "upper";

/// What is mounted over the root, with where it is mounted.
const OVER: [(&str, &str); 2] = [(KUBELET_STATE, "/var/lib/kubelet/"), (NETWORKS, "/etc/cni/net.d/")];
const KUBELET_STATE: &str = "kubelet";
const NETWORKS: &str = "cni";

/// Directories that the first process mounts, besides those above.
const MOUNTED: [&str; 4] = [UPPER, "work", "root", "containerd"];

/// Where programs of hosts look for what makes networks of pods, and where Debian has it.
const NETWORK_PLUGINS: &str = "/opt/cni/bin";
const DEBIAN_NETWORK_PLUGINS: &str = "/usr/lib/cni";

/// The kubelet, where units call it.
const KUBELET: &str = "/usr/bin/kubelet";

/// What forwards connections.
pub(super) const FORWARDER: &str = "/usr/bin/hyperplane-testbed-forwarder";

/// Writes everything below the directory of a host.
pub(super) fn write(payload: &Payload, options: &Options) -> Result<(), Error> {
    let root = Root(&options.directory);
    for directory in MOUNTED.iter().chain(OVER.iter().map(|(name, _)| name)) {
        make(&options.directory.join(directory))?;
    }
    fs::create_dir_all(options.directory.join("logs")).map_err(Error::at("making the directory of logs"))?;
    for directory in &payload.directories {
        make(&root.path(directory))?;
    }
    for file in &payload.files {
        root.write(&file.path, file.mode, &file.bytes)?;
    }
    for unit in &payload.units {
        if let Some(contents) = &unit.contents {
            root.write(
                &format!("/etc/systemd/system/{}", unit.name),
                0o644,
                contents.as_bytes(),
            )?;
        }
    }
    for (path, text) in own_files(options) {
        root.write(path, 0o644, text.as_bytes())?;
    }
    root.link(&options.kubelet, KUBELET)?;
    root.link(&options.forwarder, FORWARDER)?;
    let plugins = root.path(NETWORK_PLUGINS);
    make(plugins.parent().unwrap_or(&plugins))?;
    symlink(DEBIAN_NETWORK_PLUGINS, &plugins).map_err(Error::at(format!("making {}", plugins.display())))
}

/// What an installer writes.
fn own_files(options: &Options) -> [(&'static str, String); 4] {
    let Options {
        name,
        address,
        gateway,
        pods,
        ..
    } = options;
    let known = options
        .names
        .iter()
        .map(|(address, name)| format!("{address} {name}\n"));
    let known: Vec<String> = known.collect();
    // A network of pods is the user's business; this one ends at the host.
    let network = format!(
        r#"{{"cniVersion": "0.4.0", "name": "pods", "plugins": [
  {{"type": "bridge", "bridge": "pods0", "isGateway": true, "ipMasq": true, "hairpinMode": true,
   "ipam": {{"type": "host-local", "ranges": [[{{"subnet": "{pods}"}}]], "routes": [{{"dst": "0.0.0.0/0"}}]}}}},
  {{"type": "portmap", "capabilities": {{"portMappings": true}}}}]}}
"#
    );
    [
        ("/etc/hostname", format!("{name}\n")),
        (
            "/etc/hosts",
            format!("127.0.0.1 localhost\n{address} {name}\n{}", known.concat()),
        ),
        ("/etc/resolv.conf", format!("nameserver {gateway}\n")),
        ("/etc/cni/net.d/10-pods.conflist", network),
    ]
}

/// The root of a host as it lies on the machine.
struct Root<'a>(&'a Path);

impl Root<'_> {
    /// Where a path of the host is on the machine.
    fn path(&self, path: &str) -> PathBuf {
        for (name, mounted) in OVER {
            if let Some(rest) = path.strip_prefix(mounted) {
                return self.0.join(name).join(rest);
            }
        }
        self.0.join(UPPER).join(path.trim_start_matches('/'))
    }

    fn write(&self, path: &str, mode: u32, bytes: &[u8]) -> Result<(), Error> {
        let path = self.path(path);
        let step = || Error::at(format!("writing {}", path.display()));
        make(path.parent().unwrap_or(&path))?;
        let mut file = fs::File::options()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(mode)
            .open(&path)
            .map_err(step())?;
        file.write_all(bytes).map_err(step())?;
        // What the process masks out, and what the file had before.
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).map_err(step())
    }

    /// Puts a program there without a copy, if both are on one file system.
    fn link(&self, program: &Path, path: &str) -> Result<(), Error> {
        let path = self.path(path);
        make(path.parent().unwrap_or(&path))?;
        fs::hard_link(program, &path)
            .or_else(|_| fs::copy(program, &path).map(drop))
            .map_err(Error::at(format!(
                "copying {} to {}",
                program.display(),
                path.display()
            )))
    }
}

fn make(directory: &Path) -> Result<(), Error> {
    fs::create_dir_all(directory).map_err(Error::at(format!("making {}", directory.display())))
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::worker::payload::{File, Unit};

    fn options(directory: &Path) -> Options {
        Options {
            name: "worker-1".to_owned(),
            address: Ipv4Addr::new(10, 199, 0, 10),
            gateway: Ipv4Addr::new(10, 199, 0, 1),
            bridge: "lan0".to_owned(),
            pods: "10.132.1.0/24".to_owned(),
            names: vec![(Ipv4Addr::new(10, 199, 0, 1).into(), "api.example.com".to_owned())],
            kubelet: directory.join("some-kubelet"),
            forwarder: directory.join("some-forwarder"),
            images: Vec::new(),
            directory: directory.join("host"),
            control_group: "tests".to_owned(),
        }
    }

    #[test]
    fn files_lie_where_the_host_will_see_them() {
        let directory = tempfile::tempdir().unwrap();
        let options = options(directory.path());
        fs::write(&options.kubelet, "kubelet").unwrap();
        fs::write(&options.forwarder, "forwarder").unwrap();
        let file = |path: &str, mode| File {
            path: path.to_owned(),
            mode,
            bytes: path.as_bytes().to_vec(),
        };
        let payload = Payload {
            files: vec![
                file("/etc/kubernetes/key", 0o600),
                file("/var/lib/kubelet/config.json", 0o600),
            ],
            directories: vec!["/etc/kubernetes/manifests".to_owned()],
            units: vec![Unit {
                name: "one.service".to_owned(),
                is_enabled: true,
                contents: Some("[Service]\n".to_owned()),
            }],
        };
        write(&payload, &options).unwrap();
        let read = |path: &str| fs::read_to_string(options.directory.join(path)).unwrap();
        assert_eq!(read("upper/etc/kubernetes/key"), "/etc/kubernetes/key");
        assert_eq!(read("kubelet/config.json"), "/var/lib/kubelet/config.json");
        assert_eq!(read("upper/etc/systemd/system/one.service"), "[Service]\n");
        assert_eq!(read("upper/usr/bin/kubelet"), "kubelet");
        assert!(read("upper/etc/hosts").ends_with("10.199.0.10 worker-1\n10.199.0.1 api.example.com\n"));
        assert!(read("cni/10-pods.conflist").contains("10.132.1.0/24"));
        assert!(options.directory.join("upper/etc/kubernetes/manifests").is_dir());
        let mode = fs::metadata(options.directory.join("kubelet/config.json"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
