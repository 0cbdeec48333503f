//! Programs in containers, as far as their command lines say what they would do: whether their flags exist, which files
//! they read, whom they have to reach. Knows no pod; files are looked up by a function.

mod flags;
mod needs;

use std::collections::BTreeMap;

pub(crate) use self::{
    flags::Flags,
    needs::{Address, Need, needs},
};
use crate::settings::Programs;

/// Our own program.
pub(crate) const OURS: &str = "hyperplane";
/// The API server of Kubernetes.
pub(crate) const API_SERVER: &str = "kube-apiserver";
/// The store of Kubernetes.
pub(crate) const ETCD: &str = "etcd";
/// What runs on nodes.
const KUBELET: &str = "kubelet";
/// The end of konnectivity that is beside the API server.
const KONNECTIVITY_SERVER: &str = "proxy-server";
/// The DNS server of clusters.
const COREDNS: &str = "coredns";
/// The controllers of Kubernetes.
pub(crate) const CONTROLLER_MANAGER: &str = "kube-controller-manager";

/// Flags of our own programs that name files which have to be there.
const OUR_FILES: [&str; 6] = ["ca-file", "cert-file", "key-file", "kubeconfig", "config", "template"];

/// The capability that the file of a program has in its published image. The kernel does not execute such a file where
/// the capability is not in the bounding set, whatever the program would do with it.
pub(crate) fn file_capability(program: &str) -> Option<&'static str> {
    matches!(program, API_SERVER | COREDNS).then_some("NET_BIND_SERVICE")
}

/// The flags of a kubelet. The error is what it would say.
pub(crate) fn kubelet_flags(arguments: &[String]) -> Result<Flags, String> {
    match flags::table(KUBELET) {
        Some(table) => table.parse(arguments),
        None => Ok(Flags::loose(arguments)),
    }
}

/// A command line after variables are put in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Invocation {
    /// The name of the program, without its directory.
    pub(crate) program: String,
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
}

/// What a file is, to a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// It has these bytes.
    Bytes(Vec<u8>),
    /// It is in a place that programs write to: whether it is there is not known.
    Written,
    /// It is a directory of a volume.
    Directory,
    /// It would be in a volume that the kubelet fills, and is not there.
    Missing,
    /// No volume is mounted there: only the image could have it.
    Unmounted,
}

impl Content {
    /// Why it cannot be opened as a file by a program whose image brings none.
    fn problem(&self) -> Option<&'static str> {
        match self {
            Self::Bytes(_) | Self::Written => None,
            Self::Directory => Some("is a directory"),
            Self::Missing | Self::Unmounted => Some("no such file or directory"),
        }
    }
}

/// What the container of an invocation finds under a path.
pub(crate) type Read<'a> = dyn Fn(&str) -> Content + 'a;

impl Invocation {
    /// A command line; without a command the image decides what runs, and its name is what the container is called.
    pub(crate) fn new(command: &[String], arguments: &[String], container: &str) -> Self {
        let mut words = command.iter().chain(arguments).cloned();
        let program = if command.is_empty() {
            Some(container.to_owned())
        } else {
            words.next()
        };
        let program = program.unwrap_or_default();
        Self {
            program: program.rsplit('/').next().unwrap_or_default().to_owned(),
            arguments: words.collect(),
        }
    }

    /// The subcommand, if it is a program of ours.
    pub(crate) fn subcommand(&self) -> Option<&str> {
        (self.program == OURS).then(|| self.arguments.first().map(String::as_str).unwrap_or_default())
    }

    /// The flags, if they are known and right. The error is what the program would say before it ends.
    pub(crate) fn check(&self, programs: &Programs, read: &Read<'_>) -> Result<Flags, String> {
        let flags = match flags::table(&self.program) {
            Some(table) => table.parse(&self.arguments)?,
            None if self.program == OURS => {
                programs.check(&self.arguments)?;
                Flags::loose(self.arguments.get(1..).unwrap_or_default())
            }
            None => return self.check_unknown(read),
        };
        for (name, path) in self.files(&flags) {
            if let Some(problem) = read(&path).problem() {
                return Err(format!("Error: --{name}: open {path}: {problem}"));
            }
        }
        self.require(&flags)?;
        Ok(flags)
    }

    /// Of other programs only this is known: a path below a volume that nobody can write to means something that is there.
    fn check_unknown(&self, read: &Read<'_>) -> Result<Flags, String> {
        let flags = Flags::loose(&self.arguments);
        for (name, value) in flags.all() {
            let mut paths = value.split(',').filter(|path| path.starts_with('/'));
            if let Some(path) = paths.find(|path| read(path) == Content::Missing) {
                return Err(format!("Error: --{name}: open {path}: no such file or directory"));
            }
        }
        Ok(flags)
    }

    /// The files that have to be there, by the flags that name them.
    fn files(&self, flags: &Flags) -> Vec<(String, String)> {
        let is_file = |name: &str| match self.program.as_str() {
            OURS => OUR_FILES.contains(&name),
            KONNECTIVITY_SERVER => name == "kubeconfig" || name.ends_with("-cert") || name.ends_with("-key"),
            _ => flags::is_file(name),
        };
        let named = flags
            .all()
            .filter(|(name, _)| is_file(name))
            .map(|(name, path)| (name.clone(), path.clone()));
        let pairs = flags.of("tls-sni-cert-key").flat_map(|value| {
            // Two files, and perhaps names after a colon.
            let files = value.split(':').next().unwrap_or_default();
            files
                .split(',')
                .map(|path| ("tls-sni-cert-key".to_owned(), path.to_owned()))
                .collect::<Vec<_>>()
        });
        named.chain(pairs).filter(|(_, path)| !path.is_empty()).collect()
    }

    /// What a program does not start without.
    fn require(&self, flags: &Flags) -> Result<(), String> {
        let required: &[&str] = match self.program.as_str() {
            API_SERVER => &[
                "etcd-servers",
                "service-account-issuer",
                "service-account-signing-key-file",
            ],
            _ => &[],
        };
        match required.iter().find(|name| flags.last(name).is_none()) {
            Some(name) => Err(format!("Error: --{name} is a required flag")),
            None => Ok(()),
        }
    }
}

/// Puts variables in: `$(NAME)`; `$$` is a dollar, and what is not known stays as it is.
pub(crate) fn expand(text: &str, variables: &BTreeMap<String, String>) -> String {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        expanded.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            expanded.push('$');
            rest = after;
        } else if let Some((name, after)) = rest.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
            if let Some(value) = variables.get(name) {
                expanded.push_str(value);
            } else {
                expanded.push_str("$(");
                expanded.push_str(name);
                expanded.push(')');
            }
            rest = after;
        } else {
            expanded.push('$');
        }
    }
    expanded.push_str(rest);
    expanded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn judge(command: &str) -> String {
        let words = words(command);
        let invocation = Invocation::new(&words[..1], &words[1..], "c");
        let ours = Programs::judged_by(|arguments| match arguments.first().map(String::as_str) {
            Some("wait-for") => Ok(()),
            other => Err(format!("unrecognized subcommand {other:?}")),
        });
        let read = |path: &str| match path {
            "/etc/there" => Content::Bytes(Vec::new()),
            "/etc" => Content::Directory,
            path if path.starts_with("/var/") => Content::Written,
            path if path.starts_with("/etc/") => Content::Missing,
            _ => Content::Unmounted,
        };
        invocation.check(&ours, &read).err().unwrap_or_default()
    }

    #[test]
    fn command_lines_are_judged_as_the_programs_would() {
        let server = "kube-apiserver --etcd-servers=https://etcd:2379 --service-account-issuer=https://i \
            --service-account-signing-key-file=/etc/there";
        let cases = [
            (server.to_owned(), ""),
            (format!("{server} --profiling"), ""),
            (format!("{server} --profiling=false --v=2 --request-timeout 1m0s"), ""),
            (
                format!("{server} --no-such-flag=1"),
                "Error: unknown flag: --no-such-flag",
            ),
            (format!("{server} --v"), "Error: flag needs an argument: --v"),
            (
                format!("{server} --profiling=maybe"),
                "Error: invalid argument \"maybe\" for \"--profiling\" flag: it is no bool",
            ),
            (
                format!("{server} --request-timeout=1"),
                "Error: invalid argument \"1\" for \"--request-timeout\" flag: it is no duration",
            ),
            (
                format!("{server} extra"),
                "Error: unknown command \"extra\" for \"kube-apiserver\"",
            ),
            (
                format!("{server} --client-ca-file=/etc/absent"),
                "Error: --client-ca-file: open /etc/absent: no such file or directory",
            ),
            (format!("{server} --audit-log-path=/logs/audit"), ""),
            (
                format!("{server} --tls-sni-cert-key=/etc/there,/etc/absent:a.example"),
                "Error: --tls-sni-cert-key: open /etc/absent: no such file or directory",
            ),
            ("kube-apiserver".to_owned(), "Error: --etcd-servers is a required flag"),
            ("kube-scheduler --config=/etc/there".to_owned(), ""),
            ("/usr/local/bin/etcd --config-file /var/lib/start.yaml".to_owned(), ""),
            ("etcd -name a --nonsense".to_owned(), "Error: unknown flag: --nonsense"),
            ("hyperplane wait-for --tcp a:1".to_owned(), ""),
            (
                "hyperplane wait-for --ca-file /etc/absent".to_owned(),
                "Error: --ca-file: open /etc/absent: no such file or directory",
            ),
            (
                "hyperplane nonsense".to_owned(),
                "unrecognized subcommand Some(\"nonsense\")",
            ),
        ];
        for (command, expected) in cases {
            assert_eq!(judge(&command), expected, "{command}");
        }
    }

    #[test]
    fn files_are_where_programs_look_for_them() {
        let cases = [
            (
                "kube-scheduler --config=/etc",
                "Error: --config: open /etc: is a directory",
            ),
            (
                "kube-scheduler --config=/opt/config",
                "Error: --config: open /opt/config: no such file or directory",
            ),
            (
                "/proxy-server --mode=http-connect --server-cert=/etc/there --delete-existing-uds-file",
                "",
            ),
            (
                "/proxy-server --server-cert=/etc/absent",
                "Error: --server-cert: open /etc/absent: no such file or directory",
            ),
            (
                "/proxy-server --agent-cert=/etc/there",
                "Error: unknown flag: --agent-cert",
            ),
            ("something --else", ""),
            (
                "something --path=/opt/own --directory=/etc --log=/var/log --file /etc/there",
                "",
            ),
            (
                "something --file=/etc/absent",
                "Error: --file: open /etc/absent: no such file or directory",
            ),
            (
                "something --files /etc/there,/etc/absent",
                "Error: --files: open /etc/absent: no such file or directory",
            ),
        ];
        for (command, expected) in cases {
            assert_eq!(judge(command), expected, "{command}");
        }
    }

    #[test]
    fn variables_are_put_in() {
        let variables = BTreeMap::from([("NAME".to_owned(), "etcd-0".to_owned())]);
        let cases = [
            ("$(NAME).svc", "etcd-0.svc"),
            ("$(OTHER)", "$(OTHER)"),
            ("$$(NAME)", "$(NAME)"),
            ("100$", "100$"),
            ("$(NAME", "$(NAME"),
        ];
        for (text, expected) in cases {
            assert_eq!(expand(text, &variables), expected, "{text}");
        }
    }
}
