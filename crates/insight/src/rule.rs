//! Why something may wait, as a table. The order is that in which causes are told: what decides most comes first.

/// How much a cause weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Weight {
    /// It does not go on before somebody does something, or something outside changes.
    Holds,
    /// It cannot be told.
    Unknown,
    /// It goes on by itself, and takes its time.
    Progresses,
}

/// One kind of cause. The documentation lists all of them.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rule {
    /// Names it for ever.
    pub id: &'static str,
    /// One word for it.
    pub reason: &'static str,
    /// How much it weighs.
    pub weight: Weight,
    /// What it is, in a sentence.
    pub meaning: &'static str,
}

impl Rule {
    /// Where it stands in the table.
    pub(crate) fn rank(&self) -> usize {
        let place = RULES.iter().position(|rule| rule.id == self.id);
        place.unwrap_or(RULES.len())
    }
}

/// Declares the rules in their order.
macro_rules! rules {
    ($($name:ident = $id:literal $reason:literal $weight:ident $meaning:literal;)+) => {
        $(pub(crate) static $name: Rule = Rule {
            id: $id, reason: $reason, weight: Weight::$weight, meaning: $meaning,
        };)+

        /// All rules, the most decisive first.
        pub static RULES: &[&Rule] = &[$(&$name),+];
    };
}

rules! {
    PAUSED = "W-01" "Paused" Holds "somebody has paused it";
    HELD_BY_FINALIZER = "W-02" "HeldByFinalizer" Holds "a deletion waits for whoever holds a finalizer";
    INVALID_CONFIGURATION = "W-03" "InvalidConfiguration" Holds "what is asked for cannot be carried out";
    INVALID_RELEASE = "W-04" "InvalidRelease" Holds "the release cannot be used";
    CREDENTIALS = "W-05" "MissingCredentials" Holds "the platform has no credentials";
    VERSION_SKEW = "W-06" "VersionSkew" Holds "versions may not stand beside each other";
    NO_ADDRESS = "W-07" "NoAddress" Holds "an endpoint of the control plane has no address";
    MISSING_INPUT = "W-08" "MissingInput" Holds "a component needs something that is not there";
    IMAGE = "W-09" "ImageNotPulled" Holds "an image cannot be pulled";
    CRASH = "W-10" "ContainerCrashes" Holds "a container ends again and again";
    CONTAINER = "W-11" "ContainerNotCreated" Holds "a container cannot be created from what its pod says";
    UNSCHEDULABLE = "W-12" "Unschedulable" Holds "no node of the management cluster takes a pod";
    VOLUME_PENDING = "W-13" "VolumePending" Holds "a claim has no volume";
    NOT_MOUNTED = "W-14" "VolumeNotMounted" Holds "a volume cannot be mounted";
    PODS_NOT_MADE = "W-15" "PodsNotMade" Holds "pods of a workload cannot be made";
    NOT_READY = "W-16" "ContainerNotReady" Holds "a container runs, and does not answer its probe";
    FAILED = "W-17" "ReconcileFailed" Holds "an operator ended its last run with an error";
    UNREACHABLE = "W-18" "EndpointUnreachable" Holds "the API server does not answer where it is published";
    MACHINES_HELD_UP = "W-19" "MachinesHeldUp" Holds "machines cannot be made or deleted";
    INSTANCE = "W-20" "InstanceNotReady" Holds "the instance behind a machine does not come";
    IGNITION = "W-21" "ConfigurationNotFetched" Holds "a machine does not get its configuration";
    CERTIFICATE = "W-22" "CertificateNotApproved" Holds "nobody approves the request of a machine for a certificate";
    NOT_JOINED = "W-23" "NotJoined" Holds "a machine runs, and does not become a node";
    NETWORK_PLUGIN = "W-24" "NetworkPluginMissing" Holds "nodes have no network plugin";
    NODE = "W-25" "NodeNotReady" Holds "a node is not ready or under pressure";
    DRAIN = "W-26" "DrainBlocked" Holds "a node cannot be emptied";
    DETACH = "W-27" "VolumesAttached" Holds "volumes do not come off a node";
    HOOK = "W-28" "DeletionHook" Holds "somebody asked that a deletion wait";
    REPAIR = "W-29" "RepairBlocked" Holds "unhealthy machines are not replaced";
    CONNECTION = "W-30" "NodesUnreachable" Holds "control plane and nodes do not reach each other";
    NETWORKS = "W-31" "NetworkConflict" Holds "networks overlap";
    USER = "W-32" "WaitsForUser" Holds "it goes on when a user does something";
    DEGRADED = "W-33" "NotAsExpected" Holds "something else is not as it should be";
    UNREPORTED = "W-34" "NothingReported" Unknown "nobody has reported anything yet";
    UNREAD = "W-35" "NotRead" Unknown "what would tell could not be read";
    LEAVING = "W-36" "DeletionUnderWay" Progresses "a deletion takes its course";
    STARTING = "W-37" "Starting" Progresses "something starts, and nothing is wrong with it so far";
    ROLLING = "W-38" "RollingOut" Progresses "something is exchanged for what is asked for";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_name_and_a_reason_of_its_own() {
        for (place, rule) in RULES.iter().enumerate() {
            assert_eq!(rule.id, format!("W-{:02}", place + 1), "numbers follow the order");
            assert_eq!(rule.rank(), place);
            let same = RULES.iter().filter(|other| other.reason == rule.reason);
            assert_eq!(same.count(), 1, "{}", rule.reason);
        }
    }

    #[test]
    fn the_documentation_lists_every_rule() {
        let page = include_str!("../../../docs/status.md");
        for rule in RULES {
            let row = format!("| {} | {} | {} |", rule.id, rule.reason, rule.meaning);
            assert!(page.contains(&row), "docs/status.md lacks: {row}");
        }
    }
}
