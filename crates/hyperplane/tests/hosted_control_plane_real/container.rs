//! One container: a process with a root of its own, in the network of its pod, as the user that the pod asks for.
//!
//! Nothing of a rendered command line is changed. What a runtime would do is done: the volumes are where they are asked
//! for, the root can only be read, and `$(NAME)` stands for a variable.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs::{self, File},
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::{Container, PodSpec};
use tokio::process::{Child, Command};

/// Makes the root and goes there. The rest of the system is there to read only, in place of what an image holds.
const SCRIPT: &str = r#"
set -e
root=$1; user=$2; groups=$3; mounts=$4; shift 4
mount -t tmpfs -o mode=755 root "$root"
mkdir "$root/proc" "$root/dev" "$root/usr" "$root/etc"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind -o ro /usr "$root/usr"
for place in /bin /lib /lib64; do
    if test -L "$place"; then cp -P "$place" "$root$place"
    elif test -d "$place"; then mkdir "$root$place"; mount --bind -o ro "$place" "$root$place"
    fi
done
while read -r source target; do
    if test -d "$source"; then mkdir -p "$root$target"
    else mkdir -p "$(dirname "$root$target")"; : > "$root$target"
    fi
    mount --bind "$source" "$root$target"
done < "$mounts"
mount -o remount,ro "$root"
exec chroot --userspec="$user:0" --groups="$groups" "$root" "$@"
"#;

/// Where programs are that are called without a path.
const PROGRAMS: &str = "/programs";

/// What a container needs of its pod.
pub struct Surroundings<'a> {
    /// The pod.
    pub pod: &'a PodSpec,
    /// The process that holds its network.
    pub sandbox: u32,
    /// Its hosts file.
    pub hosts: &'a Path,
    /// Where its volumes are.
    pub volumes: &'a BTreeMap<String, PathBuf>,
    /// What fields of the pod say, by their path.
    pub fields: &'a BTreeMap<String, String>,
    /// The programs of images, by the command that runs them.
    pub programs: &'a BTreeMap<String, PathBuf>,
    /// Where roots and logs go.
    pub directory: &'a Path,
}

/// Starts a container. Its output is appended to a log.
pub fn start(container: &Container, around: &Surroundings<'_>) -> Result<Child> {
    let name = &container.name;
    let command = container
        .command
        .iter()
        .flatten()
        .chain(container.args.iter().flatten());
    let environment = environment(container, around).with_context(|| format!("variables of {name}"))?;
    let command: Vec<String> = command.map(|word| expand(word, &environment)).collect();
    let root = around.directory.join(format!("{name}.root"));
    fs::create_dir_all(&root)?;
    let mounts = around.directory.join(format!("{name}.mounts"));
    fs::write(&mounts, mount_table(container, around, &command)?)?;
    let log = File::options()
        .create(true)
        .append(true)
        .open(around.directory.join(format!("{name}.log")))?;
    let context = around.pod.security_context.clone().unwrap_or_default();
    let number = |number: Option<i64>| number.unwrap_or(0).to_string();
    let sandbox = around.sandbox.to_string();
    Command::new("nsenter")
        .args(["--target", &sandbox, "--net", "--uts", "--"])
        .args(["unshare", "--mount", "--", "sh", "-c", SCRIPT, "sh"])
        .args([&root, Path::new(&number(context.run_as_user))])
        .args([Path::new(&number(context.fs_group)), &mounts])
        .args(["env", "-i", &format!("PATH={PROGRAMS}")])
        .args(environment.iter().map(|(name, value)| format!("{name}={value}")))
        .args(&command)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("starting {name}"))
}

/// A line for everything that the container finds in its root: where it is outside, and where inside.
fn mount_table(container: &Container, around: &Surroundings<'_>, command: &[String]) -> Result<String> {
    let mut table = format!("{} /etc/hosts\n", around.hosts.display());
    let program = command.first().context("a container has a command")?;
    let path = around.programs.get(program);
    let path = path.with_context(|| format!("no image has {program}"))?;
    let target = if program.starts_with('/') {
        program.clone()
    } else {
        format!("{PROGRAMS}/{program}")
    };
    writeln!(table, "{} {target}", path.display())?;
    for mount in container.volume_mounts.iter().flatten() {
        let place = around.volumes.get(&mount.name);
        let place = place.with_context(|| format!("{} mounts {}, which is no volume", container.name, mount.name))?;
        ensure!(mount.sub_path.is_none(), "{} mounts a part of a volume", container.name);
        writeln!(table, "{} {}", place.display(), mount.mount_path)?;
    }
    Ok(table)
}

fn environment(container: &Container, around: &Surroundings<'_>) -> Result<Vec<(String, String)>> {
    let mut known = Vec::new();
    for variable in container.env.iter().flatten() {
        let field = variable.value_from.as_ref().and_then(|from| from.field_ref.as_ref());
        let value = match (&variable.value, field) {
            (Some(value), _) => expand(value, &known),
            (None, Some(field)) => {
                let value = around.fields.get(&field.field_path);
                value
                    .with_context(|| format!("nobody knows {}", field.field_path))?
                    .clone()
            }
            (None, None) => anyhow::bail!("{} comes from somewhere else", variable.name),
        };
        known.push((variable.name.clone(), value));
    }
    Ok(known)
}

/// Replaces `$(NAME)`, as a kubelet does.
fn expand(text: &str, variables: &[(String, String)]) -> String {
    let replace = |text: String, (name, value): &(String, String)| text.replace(&format!("$({name})"), value);
    variables.iter().fold(text.to_owned(), replace)
}
