//! What containers cost, as the kernel counts it: memory and processor time of each from its control group, in both
//! versions of the kernel's interface, and as a table for documents. It knows which container is whose from the API's list
//! of pods.

use std::{
    collections::BTreeMap,
    fmt, fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;

/// Where control groups are on every machine.
pub const MOUNT: &str = "/sys/fs/cgroup";

/// How deep containers lie below the root of a kubelet: its own group, the class of service, the pod, the container.
const DEPTH: usize = 6;

const MEBIBYTE: u64 = 1 << 20;

/// What one container costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes that it cannot do without: what `kubectl top` shows.
    pub working_set: u64,
    /// Bytes that no file backs.
    pub anonymous: u64,
    /// The most that it ever had, files that were read included. Kernels before 5.19 do not count it in version 2.
    pub peak: Option<u64>,
    /// Processor time since it started.
    pub processor: Duration,
}

/// A container and what it costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// The namespace of its pod.
    pub namespace: String,
    /// Its pod.
    pub pod: String,
    /// Its name in the pod.
    pub name: String,
    /// How often it was started again.
    pub restarts: u64,
    /// What it costs.
    pub usage: Usage,
}

/// Why usage could not be read.
#[derive(Debug, thiserror::Error)]
pub enum UsageError {
    /// The list of pods is not one.
    #[error("reading the list of pods")]
    Pods(#[from] serde_json::Error),
    /// A control group could not be read.
    #[error("reading {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The machine's answer.
        #[source]
        source: io::Error,
    },
}

/// What the containers of a list of pods cost, which is what `kubectl get pods --all-namespaces --output=json` prints, in the
/// order of their names. Their groups lie below one group of this machine; containers that have ended are left out.
pub fn containers(mount: &Path, group: &str, pods: &str) -> Result<Vec<Container>, UsageError> {
    let found = groups(mount, group)?;
    let mut containers = Vec::new();
    for named in named_containers(pods)? {
        if let Some(group) = found.get(&named.id) {
            containers.push(Container {
                usage: group.read()?,
                ..named.container
            });
        }
    }
    containers.sort_by(|one, other| key(one).cmp(&key(other)));
    Ok(containers)
}

fn key(container: &Container) -> (&str, &str, &str) {
    (&container.namespace, &container.pod, &container.name)
}

/// A container of the API.
struct Named {
    id: String,
    container: Container,
}

fn named_containers(pods: &str) -> Result<Vec<Named>, UsageError> {
    let pods: Value = serde_json::from_str(pods)?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut named = Vec::new();
    for pod in pods["items"].as_array().into_iter().flatten() {
        for status in pod["status"]["containerStatuses"].as_array().into_iter().flatten() {
            // `containerd://` and the id.
            let Some((_, id)) = status["containerID"].as_str().and_then(|id| id.split_once("://")) else {
                continue;
            };
            named.push(Named {
                id: id.to_owned(),
                container: Container {
                    namespace: text(&pod["metadata"]["namespace"]),
                    pod: text(&pod["metadata"]["name"]),
                    name: text(&status["name"]),
                    restarts: status["restartCount"].as_u64().unwrap_or_default(),
                    usage: Usage::default(),
                },
            });
        }
    }
    Ok(named)
}

/// Where the kernel counts for one container.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Group {
    /// Two hierarchies.
    First { memory: PathBuf, processor: PathBuf },
    /// One for all.
    Second(PathBuf),
}

impl Group {
    fn read(&self) -> Result<Usage, UsageError> {
        match self {
            Self::First { memory, processor } => {
                let statistics = statistics(&memory.join("memory.stat"))?;
                let nanoseconds = number(&processor.join("cpuacct.usage"))?;
                Ok(Usage {
                    working_set: number(&memory.join("memory.usage_in_bytes"))?
                        .saturating_sub(value(&statistics, "total_inactive_file")),
                    anonymous: value(&statistics, "total_rss"),
                    peak: Some(number(&memory.join("memory.max_usage_in_bytes"))?),
                    processor: Duration::from_nanos(nanoseconds),
                })
            }
            Self::Second(directory) => {
                let memory = statistics(&directory.join("memory.stat"))?;
                let processor = statistics(&directory.join("cpu.stat"))?;
                Ok(Usage {
                    working_set: number(&directory.join("memory.current"))?
                        .saturating_sub(value(&memory, "inactive_file")),
                    anonymous: value(&memory, "anon"),
                    peak: number(&directory.join("memory.peak")).ok(),
                    processor: Duration::from_micros(value(&processor, "usage_usec")),
                })
            }
        }
    }
}

/// The groups of all containers below a group, by the container's id.
fn groups(mount: &Path, group: &str) -> Result<BTreeMap<String, Group>, UsageError> {
    if mount.join("cgroup.controllers").is_file() {
        let found = directories(&mount.join(group), DEPTH)?;
        return Ok(found
            .into_iter()
            .map(|(id, directory)| (id, Group::Second(directory)))
            .collect());
    }
    let mut processors = directories(&mount.join("cpuacct").join(group), DEPTH)?;
    let memories = directories(&mount.join("memory").join(group), DEPTH)?;
    let both = |(id, memory)| {
        let processor = processors.remove(&id)?;
        Some((id, Group::First { memory, processor }))
    };
    Ok(memories.into_iter().filter_map(both).collect())
}

/// Directories that are named after a container, at some depth below one. Containers that end meanwhile are passed over.
fn directories(parent: &Path, depth: usize) -> Result<BTreeMap<String, PathBuf>, UsageError> {
    let mut found = BTreeMap::new();
    let entries = match fs::read_dir(parent) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        entries => entries.map_err(at(parent))?,
    };
    for entry in entries {
        let entry = entry.map_err(at(parent))?;
        if !entry.file_type().map_err(at(parent))?.is_dir() {
            continue;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(id) = container_id(&name) {
            found.insert(id.to_owned(), entry.path());
        } else if depth > 0 {
            found.extend(directories(&entry.path(), depth - 1)?);
        }
    }
    Ok(found)
}

/// The id in the name of a container's group: alone, or as systemd's driver calls it, `cri-containerd-ID.scope`.
fn container_id(name: &str) -> Option<&str> {
    /// Hexadecimal digits of an id.
    const DIGITS: usize = 64;
    let name = name.strip_suffix(".scope").unwrap_or(name);
    let id = name.rsplit('-').next()?;
    (id.len() == DIGITS && id.bytes().all(|digit| digit.is_ascii_hexdigit())).then_some(id)
}

fn number(path: &Path) -> Result<u64, UsageError> {
    let text = fs::read_to_string(path).map_err(at(path))?;
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    text.trim().parse().map_err(invalid).map_err(at(path))
}

fn statistics(path: &Path) -> Result<String, UsageError> {
    fs::read_to_string(path).map_err(at(path))
}

/// A number in lines of names and numbers.
fn value(statistics: &str, name: &str) -> u64 {
    let lines = statistics.lines().filter_map(|line| line.split_once(' '));
    let found = lines.into_iter().find(|(known, _)| *known == name);
    found
        .and_then(|(_, number)| number.trim().parse().ok())
        .unwrap_or_default()
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> UsageError {
    let path = path.to_owned();
    |source| UsageError::File { path, source }
}

/// What containers cost, and what they did between two looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    rows: Vec<Row>,
    /// The time between the looks.
    elapsed: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    container: Container,
    /// Processor time between the looks; that of a container which started meanwhile is all that it has had.
    spent: Duration,
}

impl Table {
    /// Compares two looks.
    pub fn between(before: &[Container], after: &[Container], elapsed: Duration) -> Self {
        let earlier = |container: &Container| {
            let same = |other: &&Container| key(other) == key(container) && other.restarts == container.restarts;
            let found = before.iter().find(same);
            found.map_or(Duration::ZERO, |found| found.usage.processor)
        };
        let row = |container: &Container| Row {
            spent: container.usage.processor.saturating_sub(earlier(container)),
            container: container.clone(),
        };
        Self {
            rows: after.iter().map(row).collect(),
            elapsed,
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "| namespace | pod | container | restarts | working set, MiB | anonymous, MiB | peak, MiB | CPU, s | CPU over \
             {:.0} s, millicores |",
            self.elapsed.as_secs_f64()
        )?;
        writeln!(formatter, "|---|---|---|---|---|---|---|---|---|")?;
        for Row { container, spent } in &self.rows {
            let Usage {
                working_set,
                anonymous,
                peak,
                processor,
            } = container.usage;
            let peak = peak.map_or_else(|| "–".to_owned(), |peak| (peak / MEBIBYTE).to_string());
            writeln!(
                formatter,
                "| {} | {} | {} | {} | {} | {} | {peak} | {:.2} | {} |",
                container.namespace,
                container.pod,
                container.name,
                container.restarts,
                working_set / MEBIBYTE,
                anonymous / MEBIBYTE,
                processor.as_secs_f64(),
                millicores(*spent, self.elapsed)
            )?;
        }
        Ok(())
    }
}

fn millicores(spent: Duration, elapsed: Duration) -> u128 {
    (spent.as_nanos() * 1000)
        .checked_div(elapsed.as_nanos())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id(digit: &str) -> String {
        digit.repeat(64)
    }

    fn write(mount: &Path, path: &str, text: &str) {
        let path = mount.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn pods() -> String {
        let status = |name: &str, digit: &str| json!({"name": name, "containerID": format!("containerd://{}", id(digit)), "restartCount": 1});
        let pod = |name: &str, statuses: &[Value]| json!({"metadata": {"namespace": "one", "name": name}, "status": {"containerStatuses": statuses}});
        let waiting = json!({"name": "waiting"});
        json!({"items": [
            pod("kube-apiserver", &[status("kube-apiserver", "b"), status("konnectivity-server", "a"), waiting]),
            pod("ended", &[status("ended", "c")]),
        ]})
        .to_string()
    }

    fn usage(peak: Option<u64>) -> Usage {
        Usage {
            working_set: 90 * MEBIBYTE,
            anonymous: 60 * MEBIBYTE,
            peak,
            processor: Duration::from_millis(1500),
        }
    }

    #[test]
    fn the_first_version_counts_in_two_hierarchies() {
        let mount = tempfile::tempdir().unwrap();
        for digit in ["a", "b"] {
            let group = format!("tests/node-1/kubepods/burstable/pod1/{}", id(digit));
            let file = |hierarchy: &str, name: &str, text: &str| {
                write(mount.path(), &format!("{hierarchy}/{group}/{name}"), text);
            };
            let statistics = format!("rss 1\ntotal_rss {}\ntotal_inactive_file {}\n", 60 << 20, 10 << 20);
            file("memory", "memory.stat", &statistics);
            file("memory", "memory.usage_in_bytes", &format!("{}\n", 100 << 20));
            file("memory", "memory.max_usage_in_bytes", &format!("{}\n", 120 << 20));
            file("cpuacct", "cpuacct.usage", "1500000000\n");
        }
        let found = containers(mount.path(), "tests", &pods()).unwrap();
        let names: Vec<_> = found.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["konnectivity-server", "kube-apiserver"]);
        assert_eq!(found[0].usage, usage(Some(120 << 20)));
    }

    #[test]
    fn the_second_version_counts_in_one() {
        let mount = tempfile::tempdir().unwrap();
        write(mount.path(), "cgroup.controllers", "cpu memory\n");
        let group = format!(
            "tests/kubepods.slice/kubepods-pod1.slice/cri-containerd-{}.scope",
            id("b")
        );
        let file = |name: &str, text: &str| write(mount.path(), &format!("{group}/{name}"), text);
        file(
            "memory.stat",
            &format!("anon {}\ninactive_file {}\n", 60 << 20, 10 << 20),
        );
        file("memory.current", &format!("{}\n", 100 << 20));
        file("cpu.stat", "usage_usec 1500000\nuser_usec 1\n");
        let found = containers(mount.path(), "tests", &pods()).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].restarts, found[0].usage), (1, usage(None)));
    }

    #[test]
    fn a_machine_without_the_group_has_no_containers() {
        let mount = tempfile::tempdir().unwrap();
        assert_eq!(containers(mount.path(), "tests", &pods()).unwrap(), []);
        assert!(containers(mount.path(), "tests", "no").is_err());
    }

    #[test]
    fn a_table_says_what_was_spent_between_two_looks() {
        let container = |name: &str, restarts, seconds| Container {
            namespace: "one".to_owned(),
            pod: "pod".to_owned(),
            name: name.to_owned(),
            restarts,
            usage: Usage {
                processor: Duration::from_secs(seconds),
                ..usage(None)
            },
        };
        let before = [container("steady", 0, 10), container("restarted", 0, 10)];
        let after = [
            container("steady", 0, 13),
            container("restarted", 1, 3),
            container("new", 0, 6),
        ];
        let text = Table::between(&before, &after, Duration::from_secs(30)).to_string();
        let rows: Vec<&str> = text.lines().skip(2).collect();
        let expected = [
            "| one | pod | steady | 0 | 90 | 60 | – | 13.00 | 100 |",
            "| one | pod | restarted | 1 | 90 | 60 | – | 3.00 | 100 |",
            "| one | pod | new | 0 | 90 | 60 | – | 6.00 | 200 |",
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn only_containers_have_ids() {
        assert_eq!(container_id(&id("0")), Some(id("0").as_str()));
        assert_eq!(
            container_id(&format!("cri-containerd-{}.scope", id("f"))),
            Some(id("f").as_str())
        );
        assert_eq!(container_id("pod1234"), None);
        assert_eq!(container_id("kubepods-burstable.slice"), None);
    }
}
