//! The version of a Kubernetes release and what derives from it. Pure.

use std::{fmt, str::FromStr};

/// A release of Kubernetes 1, `1.minor.patch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    minor: u32,
    patch: u32,
}

impl Version {
    /// The version of the modules that Kubernetes publishes beside itself, for example `v0.36.4`.
    pub(crate) fn staging(self) -> String {
        format!("v0.{}.{}", self.minor, self.patch)
    }

    /// The linker flags that tell the programs their version; they refuse to start without one.
    pub(crate) fn linker_flags(self) -> String {
        let values = [
            ("gitVersion", format!("v{self}")),
            ("gitMajor", "1".to_owned()),
            ("gitMinor", self.minor.to_string()),
            ("gitTreeState", "clean".to_owned()),
            // A module has no commit and no build time of its own; fixed values keep builds reproducible.
            ("gitCommit", "0".repeat(40)),
            ("buildDate", "1970-01-01T00:00:00Z".to_owned()),
        ];
        let in_package = |package: &str| {
            let flag = |(name, value): &(&str, String)| format!(" -X {package}.{name}={value}");
            values.iter().map(flag).collect::<Vec<_>>().concat()
        };
        let packages = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"];
        format!("-s -w{}", packages.map(in_package).concat())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "1.{}.{}", self.minor, self.patch)
    }
}

impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parse = || {
            let mut parts = text.strip_prefix("1.")?.split('.');
            let version = Self {
                minor: parts.next()?.parse().ok()?,
                patch: parts.next()?.parse().ok()?,
            };
            // What is printed must be what was read: no sign, no leading zero, no fourth part.
            (version.to_string() == text).then_some(version)
        };
        parse().ok_or_else(|| format!("`{text}` is no Kubernetes release: write it like 1.36.4"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_three_numbers() {
        let version: Version = "1.36.4".parse().unwrap();
        assert_eq!(
            (version.to_string(), version.staging()),
            ("1.36.4".to_owned(), "v0.36.4".to_owned())
        );
        for wrong in [
            "",
            "1",
            "1.36",
            "v1.36.4",
            "2.36.4",
            "1.36.4.1",
            "1.036.4",
            "1.36.+4",
            "1.36.4-rc.1",
            "1.a.b",
        ] {
            assert!(wrong.parse::<Version>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_programs_learn_their_version() {
        let flags = "1.36.4".parse::<Version>().unwrap().linker_flags();
        assert!(
            flags.contains(" -X k8s.io/component-base/version.gitVersion=v1.36.4 "),
            "{flags}"
        );
        assert!(
            flags.contains(" -X k8s.io/client-go/pkg/version.gitMinor=36 "),
            "{flags}"
        );
    }

    #[test]
    fn the_default_is_a_release() {
        assert!(
            hyperplane_testbed::assets::KUBERNETES_VERSION
                .parse::<Version>()
                .is_ok()
        );
    }
}
