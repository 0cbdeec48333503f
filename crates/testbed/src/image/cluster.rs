//! The images of a cluster's programs, built of what `cargo xtask kube-assets --pods` built, laid out and allowed what the
//! published ones are. Which names they have is what releases say: the caller reads that.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, BufWriter},
    path::{Path, PathBuf},
};

use super::{
    archive::{LayerFormat, write},
    content::{Capability, Entry, Image},
    hyperplane::{Facts, hyperplane},
    iptables,
};
use crate::{
    assets::{self, Assets, KUBERNETES_VERSION, Program},
    parts::Part,
};

/// The path of published images that does not say otherwise.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

const ROOT: &str = "0";

/// What runs in pods of tests.
pub const WORKLOAD: &str = "hyperplane.dev/testbed/workload:v1";

/// A program of clusters, by the name that releases give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Component {
    /// Holds the namespaces of a pod. Every node needs it.
    Pause,
    /// The store.
    Etcd,
    /// The API server, whose binary may listen on low ports.
    ApiServer,
    /// The controllers.
    ControllerManager,
    /// The scheduler.
    Scheduler,
    /// The end of the tunnel beside the API server.
    KonnectivityServer,
    /// The end of the tunnel on nodes.
    KonnectivityAgent,
    /// Service addresses on nodes, with the iptables of this machine.
    KubeProxy,
    /// The DNS server, whose binary may listen on low ports.
    CoreDns,
    /// What runs in pods of tests; no release names it.
    Workload,
}

impl Component {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Pause,
        Self::Etcd,
        Self::ApiServer,
        Self::ControllerManager,
        Self::Scheduler,
        Self::KonnectivityServer,
        Self::KonnectivityAgent,
        Self::KubeProxy,
        Self::CoreDns,
        Self::Workload,
    ];

    /// What nodes need that host control planes.
    pub const OF_CONTROL_PLANES: [Self; 8] = [
        Self::Pause,
        Self::Etcd,
        Self::ApiServer,
        Self::ControllerManager,
        Self::Scheduler,
        Self::KonnectivityServer,
        Self::CoreDns,
        Self::Workload,
    ];

    /// What nodes of hosted clusters need.
    pub const OF_WORKERS: [Self; 5] = [
        Self::Pause,
        Self::KonnectivityAgent,
        Self::KubeProxy,
        Self::CoreDns,
        Self::Workload,
    ];

    /// What releases call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Etcd => "etcd",
            Self::ApiServer => "kube-apiserver",
            Self::ControllerManager => "kube-controller-manager",
            Self::Scheduler => "kube-scheduler",
            Self::KonnectivityServer => "konnectivity-server",
            Self::KonnectivityAgent => "konnectivity-agent",
            Self::KubeProxy => "kube-proxy",
            Self::CoreDns => "coredns",
            Self::Workload => "workload",
        }
    }

    /// Whether each version of Kubernetes has one of its own here. Of the others one is built, and it has the names of all
    /// versions: what tells their patches apart is not what these tests are about.
    fn is_of_kubernetes(self) -> bool {
        match self {
            Self::ApiServer | Self::ControllerManager | Self::Scheduler | Self::KubeProxy => true,
            Self::Pause
            | Self::Etcd
            | Self::KonnectivityServer
            | Self::KonnectivityAgent
            | Self::CoreDns
            | Self::Workload => false,
        }
    }

    /// Where the program is in its image.
    fn path(self) -> String {
        match self {
            Self::Pause => "pause".to_owned(),
            Self::Etcd | Self::ApiServer | Self::ControllerManager | Self::Scheduler | Self::KubeProxy => {
                format!("usr/local/bin/{}", self.name())
            }
            Self::KonnectivityServer => "proxy-server".to_owned(),
            Self::KonnectivityAgent => "proxy-agent".to_owned(),
            Self::CoreDns => "coredns".to_owned(),
            Self::Workload => "usr/bin/workload".to_owned(),
        }
    }

    fn user(self) -> &'static str {
        match self {
            Self::Pause => "65535:65535",
            Self::CoreDns => "nonroot:nonroot",
            Self::Workload => "65532:65532",
            _ => ROOT,
        }
    }

    /// What `setcap` has given the published binary.
    fn capability(self) -> Option<Capability> {
        matches!(self, Self::ApiServer | Self::CoreDns).then_some(Capability::NetBindService)
    }

    /// The program as it was built for a version of Kubernetes.
    fn binary(self, version: &str) -> Result<PathBuf, assets::Error> {
        let program = match self {
            Self::Pause => return Part::Pause.locate(),
            Self::KonnectivityAgent => return Part::KonnectivityAgent.locate(),
            Self::CoreDns => return Part::CoreDns.locate(),
            Self::Workload => return Part::Workload.locate(),
            Self::Etcd => Program::Etcd,
            Self::ApiServer => Program::ApiServer,
            Self::ControllerManager => Program::ControllerManager,
            Self::Scheduler => Program::Scheduler,
            Self::KonnectivityServer => Program::KonnectivityServer,
            Self::KubeProxy => Program::KubeProxy,
        };
        Assets::locate_built(version)?.path(program)
    }

    /// The image of a binary.
    fn image(self, names: Vec<String>, binary: &[u8]) -> io::Result<Image<'_>> {
        let path = self.path();
        let mut program = Entry::program(&path, binary);
        if let Some(capability) = self.capability() {
            program = program.with_capability(capability);
        }
        let mut entries = vec![Entry::temporary_directory(), program];
        match self {
            // Users that are called by name.
            Self::CoreDns => entries.extend([
                Entry::file("etc/passwd", b"root:x:0:0::/:\nnonroot:x:65532:65532::/:\n".as_slice()),
                Entry::file("etc/group", b"root:x:0:\nnonroot:x:65532:\n".as_slice()),
            ]),
            Self::KubeProxy => entries.extend(iptables::entries()?),
            _ => {}
        }
        Ok(Image {
            names,
            user: self.user().to_owned(),
            path: PATH.to_owned(),
            entrypoint: vec![format!("/{path}")],
            labels: BTreeMap::new(),
            entries,
        })
    }
}

/// The images that a release names, by the component's name in it.
pub type ImageNames = BTreeMap<String, String>;

/// An archive that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    /// Where it is.
    pub path: PathBuf,
    /// What is in it.
    pub component: Component,
}

/// Why an archive could not be written.
#[derive(Debug)]
pub enum Error {
    /// A program was not built.
    Assets(assets::Error),
    /// A file could not be read or written.
    File {
        /// What was being done.
        step: String,
        /// The machine's answer.
        source: io::Error,
    },
}

impl std::fmt::Display for Error {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Assets(error) => error.fmt(formatter),
            Self::File { step, .. } => formatter.write_str(step),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Assets(_) => None,
            Self::File { source, .. } => Some(source),
        }
    }
}

impl From<assets::Error> for Error {
    fn from(error: assets::Error) -> Self {
        Self::Assets(error)
    }
}

/// Writes the archives of components under the names that releases have for them, by version of Kubernetes such as `1.36.4`.
/// A component that a release does not name has only the names of others.
pub fn write_all(
    directory: &Path,
    components: &[Component],
    releases: &BTreeMap<String, ImageNames>,
) -> Result<Vec<Archive>, Error> {
    let mut written = Vec::new();
    for planned in plan(components, releases) {
        let path = directory.join(planned.file_name());
        let binary_path = planned.component.binary(&planned.version)?;
        let reading = || format!("reading {}", binary_path.display());
        let binary = fs::read(&binary_path).map_err(failed(reading()))?;
        let image = planned.component.image(planned.names, &binary);
        let image = image.map_err(failed("reading the iptables of this machine".to_owned()))?;
        let writing = || format!("writing {}", path.display());
        let file = File::create(&path).map_err(failed(writing()))?;
        // A node on this machine reads them once.
        write(&image, LayerFormat::Plain, BufWriter::new(file)).map_err(failed(writing()))?;
        let component = planned.component;
        written.push(Archive { path, component });
    }
    Ok(written)
}

/// Writes the archive of a program that needs no library; the name under which nodes find it.
pub fn write_hyperplane(path: &Path, binary: &Path) -> Result<String, Error> {
    let reading = || format!("asking {} what it is", binary.display());
    let facts = Facts::read(binary).map_err(failed(reading()))?;
    let bytes = fs::read(binary).map_err(failed(reading()))?;
    let image = hyperplane(&facts, &bytes);
    let writing = || format!("writing {}", path.display());
    let file = File::create(path).map_err(failed(writing()))?;
    write(&image, LayerFormat::Plain, BufWriter::new(file)).map_err(failed(writing()))?;
    Ok(image.names.concat())
}

fn failed(step: String) -> impl FnOnce(io::Error) -> Error {
    |source| Error::File { step, source }
}

/// An archive that shall be written.
#[derive(Debug, PartialEq, Eq)]
struct Planned {
    component: Component,
    /// The version of Kubernetes that the program is taken from.
    version: String,
    names: Vec<String>,
}

impl Planned {
    fn file_name(&self) -> String {
        format!("{}-{}.tar", self.component.name(), self.version)
    }
}

fn plan(components: &[Component], releases: &BTreeMap<String, ImageNames>) -> Vec<Planned> {
    let mut planned = Vec::new();
    for component in components.iter().copied() {
        let of_release = |(version, images): (&String, &ImageNames)| Planned {
            component,
            version: version.clone(),
            names: images.get(component.name()).cloned().into_iter().collect(),
        };
        if component.is_of_kubernetes() {
            planned.extend(releases.iter().map(of_release));
            continue;
        }
        let mut names: Vec<String> = releases.iter().flat_map(|it| of_release(it).names).collect();
        if component == Component::Workload {
            names.push(WORKLOAD.to_owned());
        }
        names.sort();
        names.dedup();
        planned.push(Planned {
            component,
            version: KUBERNETES_VERSION.to_owned(),
            names,
        });
    }
    planned.retain(|it| !it.names.is_empty());
    planned
}

#[cfg(test)]
mod tests {
    use super::*;

    fn releases() -> BTreeMap<String, ImageNames> {
        let images = |etcd: &str, version: &str| {
            let named = |name: &str, tag: &str| (name.to_owned(), format!("registry.example.com/{name}:{tag}"));
            BTreeMap::from([
                named("etcd", etcd),
                named("kube-apiserver", version),
                named("pause", "3"),
            ])
        };
        BTreeMap::from([
            ("1.35.8".to_owned(), images("3.6.6-0", "v1.35.8")),
            ("1.36.4".to_owned(), images("3.6.8-0", "v1.36.4")),
        ])
    }

    #[test]
    fn programs_of_kubernetes_have_an_archive_for_each_release() {
        let planned = plan(&[Component::ApiServer], &releases());
        let files: Vec<_> = planned.iter().map(Planned::file_name).collect();
        assert_eq!(files, ["kube-apiserver-1.35.8.tar", "kube-apiserver-1.36.4.tar"]);
        assert_eq!(planned[0].names, ["registry.example.com/kube-apiserver:v1.35.8"]);
    }

    #[test]
    fn other_programs_have_one_archive_with_the_names_of_all_releases() {
        let planned = plan(
            &[
                Component::Etcd,
                Component::Pause,
                Component::CoreDns,
                Component::Workload,
            ],
            &releases(),
        );
        let names: Vec<_> = planned.iter().map(|it| (it.component, it.names.join(" "))).collect();
        let expected = [
            (
                Component::Etcd,
                "registry.example.com/etcd:3.6.6-0 registry.example.com/etcd:3.6.8-0",
            ),
            (Component::Pause, "registry.example.com/pause:3"),
            (Component::Workload, WORKLOAD),
        ];
        assert_eq!(names, expected.map(|(component, names)| (component, names.to_owned())));
    }

    #[test]
    fn two_binaries_may_listen_on_low_ports() {
        let image = |component: Component| component.image(Vec::new(), b"binary").unwrap();
        let expected = Entry::program("usr/local/bin/kube-apiserver", b"binary".as_slice());
        let capability = Capability::NetBindService;
        assert!(
            image(Component::ApiServer)
                .entries
                .contains(&expected.with_capability(capability))
        );
        let expected = Entry::program("coredns", b"binary".as_slice()).with_capability(capability);
        assert!(image(Component::CoreDns).entries.contains(&expected));
        let expected = Entry::program("usr/local/bin/kube-scheduler", b"binary".as_slice());
        assert!(image(Component::Scheduler).entries.contains(&expected));
    }
}
