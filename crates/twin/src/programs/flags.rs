//! The flags of Kubernetes' programs, of etcd and of konnectivity, as their own help lists them, and how a command line is read by them.

use std::{collections::BTreeMap, net::IpAddr, sync::LazyLock};

/// The tables, by program. They are made from the help of the real binaries.
static TABLES: LazyLock<BTreeMap<&str, Table>> = LazyLock::new(|| {
    let tables = [
        ("kube-apiserver", include_str!("flags/kube-apiserver.txt"), false),
        (
            "kube-controller-manager",
            include_str!("flags/kube-controller-manager.txt"),
            false,
        ),
        ("kube-scheduler", include_str!("flags/kube-scheduler.txt"), false),
        ("kubelet", include_str!("flags/kubelet.txt"), false),
        ("etcd", include_str!("flags/etcd.txt"), true),
        ("proxy-server", include_str!("flags/proxy-server.txt"), false),
    ];
    tables
        .into_iter()
        .map(|(program, text, is_lenient)| (program, Table::read(program, text, is_lenient)))
        .collect()
});

/// Flags that name files and do not end in `-file`.
const FILES: [&str; 7] = [
    "allow-metric-labels-manifest",
    "authentication-config",
    "authorization-config",
    "cloud-config",
    "config",
    "encryption-provider-config",
    "kubeconfig",
];

/// The table of a program, if there is one.
pub(super) fn table(program: &str) -> Option<&'static Table> {
    TABLES.get(program)
}

/// Whether a flag names a file that has to be there.
pub(super) fn is_file(name: &str) -> bool {
    name.ends_with("-file") || name.ends_with("-kubeconfig") || FILES.contains(&name)
}

/// The flags of one program.
pub(super) struct Table {
    program: &'static str,
    kinds: BTreeMap<&'static str, &'static str>,
    /// Whether one dash is as good as two, as in Go's own library.
    is_lenient: bool,
}

impl Table {
    fn read(program: &'static str, text: &'static str, is_lenient: bool) -> Self {
        let lines = text
            .lines()
            .filter_map(|line| line.strip_prefix("flag ")?.split_once(' '));
        Self {
            program,
            kinds: lines.collect(),
            is_lenient,
        }
    }

    /// Reads a command line; the error is what the program would say.
    pub(super) fn parse(&self, arguments: &[String]) -> Result<Flags, String> {
        let mut flags = Flags::default();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let named = word
                .strip_prefix("--")
                .or_else(|| word.strip_prefix('-').filter(|_| self.is_lenient));
            let short = word
                .strip_prefix('-')
                .filter(|rest| rest.len() == 1 && !self.is_lenient);
            let Some(named) = named.or(short) else {
                return Err(format!("Error: unknown command {word:?} for {:?}", self.program));
            };
            let (name, given) = match named.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (named, None),
            };
            let Some(kind) = self.kinds.get(name) else {
                return Err(format!("Error: unknown flag: --{name}"));
            };
            let value = match (given, *kind) {
                (Some(value), _) => value,
                (None, "bool") => "true".to_owned(),
                (None, _) => match words.next() {
                    Some(value) => value.clone(),
                    None => return Err(format!("Error: flag needs an argument: --{name}")),
                },
            };
            if !is_of(kind, &value) {
                return Err(format!(
                    "Error: invalid argument {value:?} for \"--{name}\" flag: it is no {kind}"
                ));
            }
            flags.0.entry(name.to_owned()).or_default().push(value);
        }
        Ok(flags)
    }
}

fn is_of(kind: &str, value: &str) -> bool {
    match kind {
        "bool" => matches!(
            value,
            "1" | "t" | "T" | "true" | "TRUE" | "True" | "0" | "f" | "F" | "false" | "FALSE" | "False"
        ),
        "int" | "int32" => value.parse::<i64>().is_ok(),
        "float" | "float32" => value.parse::<f64>().is_ok(),
        "duration" => is_duration(value),
        "ip" => value.is_empty() || value.parse::<IpAddr>().is_ok(),
        _ => true,
    }
}

/// Whether a text is a duration as Go writes it.
fn is_duration(text: &str) -> bool {
    let mut rest = text.trim_start_matches(['-', '+']);
    if rest == "0" {
        return true;
    }
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let digits = rest
            .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
            .unwrap_or(rest.len());
        if digits == 0 {
            return false;
        }
        rest = &rest[digits..];
        let unit = ["ns", "us", "µs", "ms", "s", "m", "h"]
            .into_iter()
            .filter(|unit| rest.starts_with(unit));
        let Some(unit) = unit.max_by_key(|unit| unit.len()) else {
            return false;
        };
        rest = &rest[unit.len()..];
    }
    true
}

/// Flags with their values, in the order in which they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags(BTreeMap<String, Vec<String>>);

impl Flags {
    /// The flags of a program of which nothing is known: a word after a flag is its value unless it is a flag, too.
    pub(crate) fn loose(arguments: &[String]) -> Self {
        let mut flags = Self::default();
        let mut words = arguments.iter().peekable();
        while let Some(word) = words.next() {
            let Some(named) = word.strip_prefix("--") else { continue };
            let (name, value) = if let Some((name, value)) = named.split_once('=') {
                (name, value.to_owned())
            } else {
                let value = words.next_if(|next| !next.starts_with("--")).cloned();
                (named, value.unwrap_or_default())
            };
            flags.0.entry(name.to_owned()).or_default().push(value);
        }
        flags
    }

    /// Every flag with each of its values.
    pub(super) fn all(&self) -> impl Iterator<Item = (&String, &String)> {
        self.0
            .iter()
            .flat_map(|(name, values)| values.iter().map(move |value| (name, value)))
    }

    /// Every value of a flag.
    pub(crate) fn of(&self, name: &str) -> impl Iterator<Item = &String> {
        self.0.get(name).into_iter().flatten()
    }

    /// The value of a flag that counts: the last one.
    pub(crate) fn last(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.last().map(String::as_str)
    }

    /// The parts of a flag whose values are lists, all of them together.
    pub(crate) fn list(&self, name: &str) -> Vec<&str> {
        let parts = self.of(name).flat_map(|value| value.split(','));
        parts.map(str::trim).filter(|part| !part.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_whole() {
        for (program, least) in [
            ("kube-apiserver", 150),
            ("kube-controller-manager", 140),
            ("kube-scheduler", 60),
            ("kubelet", 140),
            ("etcd", 120),
            ("proxy-server", 50),
        ] {
            let table = table(program).unwrap();
            assert!(table.kinds.len() > least, "{program} has {} flags", table.kinds.len());
        }
        assert!(table("cluster-autoscaler").is_none());
    }

    #[test]
    fn durations_are_gos() {
        for (text, expected) in [
            ("10s", true),
            ("1h30m", true),
            ("1.5h", true),
            ("0", true),
            ("10", false),
            ("s", false),
            ("1x", false),
            ("", false),
            ("100ms", true),
        ] {
            assert_eq!(is_duration(text), expected, "{text}");
        }
    }

    #[test]
    fn flags_can_be_given_more_than_once() {
        let words = ["--a=1", "--b", "--a", "2,3"].map(str::to_owned);
        let flags = Flags::loose(&words);
        assert_eq!(flags.list("a"), ["1", "2", "3"]);
        assert_eq!(
            (flags.last("a"), flags.last("b"), flags.last("c")),
            (Some("2,3"), Some(""), None)
        );
    }
}
