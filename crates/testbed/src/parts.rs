//! What a cluster of real pods needs beside Kubernetes: which programs, of which version, and where they are. Shared with
//! xtask, which builds them; it stays on the standard library alone and starts nothing.

use std::path::PathBuf;

use crate::assets::{Environment, Error};

/// The version of konnectivity that releases of the Kubernetes that tests run against name.
pub const KONNECTIVITY_VERSION: &str = "v0.36.0";

/// The version of CoreDNS that releases of the Kubernetes that tests run against name.
pub const COREDNS_VERSION: &str = "v1.14.2";

/// The version of kube-network-policies, which no release names: the newest.
pub const NETWORK_POLICIES_VERSION: &str = "v1.1.1";

/// A program that is built apart from Kubernetes. The server of konnectivity is a
/// [`Program`](crate::assets::Program): tests that need no pods use it as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The end of an API server's tunnel on a node.
    KonnectivityAgent,
    /// The DNS server of a cluster, with the plugins that clusters use.
    CoreDns,
    /// Enforces network policies on a node.
    NetworkPolicies,
    /// Holds the namespaces of a pod.
    Pause,
    /// What runs in pods of tests: an HTTP server and clients.
    Workload,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::KonnectivityAgent,
        Self::CoreDns,
        Self::NetworkPolicies,
        Self::Pause,
        Self::Workload,
    ];

    /// The name of the executable.
    pub fn name(self) -> &'static str {
        match self {
            Self::KonnectivityAgent => "proxy-agent",
            Self::CoreDns => "coredns",
            Self::NetworkPolicies => "kube-network-policies",
            Self::Pause => "pause",
            Self::Workload => "workload",
        }
    }

    /// The text of a program that is written here and not upstream.
    pub fn source(self) -> Option<&'static str> {
        match self {
            Self::KonnectivityAgent | Self::NetworkPolicies => None,
            Self::CoreDns => Some(include_str!("../programs/coredns.go")),
            Self::Pause => Some(include_str!("../programs/pause.c")),
            Self::Workload => Some(include_str!("../programs/workload.go")),
        }
    }

    /// What tells one build from another: the upstream version and the fingerprint of our own text, so that an edited
    /// program is built anew.
    pub fn version(self) -> String {
        let upstream = match self {
            Self::KonnectivityAgent => Some(KONNECTIVITY_VERSION),
            Self::CoreDns => Some(COREDNS_VERSION),
            Self::NetworkPolicies => Some(NETWORK_POLICIES_VERSION),
            Self::Pause | Self::Workload => None,
        };
        let own = self.source().map(|text| format!("{:08x}", fingerprint(text)));
        let words: Vec<String> = upstream.map(str::to_owned).into_iter().chain(own).collect();
        words.join("-")
    }

    /// Where `cargo xtask kube-assets --pods` has put it; an error that says what to do if it has not.
    pub fn locate(self) -> Result<PathBuf, Error> {
        let path = self.path(&Environment::read())?;
        if path.is_file() {
            Ok(path)
        } else {
            Err(Error::NoPart { path, part: self })
        }
    }

    /// Where it is once it is built. A build puts it there in one step, so what is there is whole.
    pub fn path(self, environment: &Environment) -> Result<PathBuf, Error> {
        let directory = format!("{}-{}", self.name(), self.version());
        Ok(environment.parts_directory()?.join(directory).join(self.name()))
    }
}

/// FNV-1a with 32 bits: tells edits of a few files apart, and needs no crate.
fn fingerprint(text: &str) -> u32 {
    const BASIS: u32 = 0x811c_9dc5;
    const PRIME: u32 = 0x0100_0193;
    text.bytes()
        .fold(BASIS, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_those_of_fnv_1a() {
        assert_eq!(fingerprint(""), 0x811c_9dc5);
        assert_eq!(fingerprint("a"), 0xe40c_292c);
        assert_eq!(fingerprint("foobar"), 0xbf9c_f968);
    }

    #[test]
    fn every_build_has_a_place_of_its_own() {
        let environment = Environment {
            cache_home: Some("/cache".into()),
            ..Environment::default()
        };
        let path = |part: Part| part.path(&environment).unwrap();
        assert_eq!(
            path(Part::KonnectivityAgent),
            PathBuf::from("/cache/hyperplane/parts/proxy-agent-v0.36.0/proxy-agent")
        );
        let core_dns = path(Part::CoreDns);
        let text = core_dns.display().to_string();
        assert!(text.starts_with("/cache/hyperplane/parts/coredns-v1.14.2-"), "{text}");
        let mut paths = Part::ALL.map(path).to_vec();
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), Part::ALL.len());
    }

    #[test]
    fn a_missing_part_says_how_it_is_built() {
        let error = Error::NoPart {
            path: "/cache/pause".into(),
            part: Part::Pause,
        };
        let text = error.to_string();
        assert!(text.contains("cargo xtask kube-assets --pods"), "{text}");
    }
}
