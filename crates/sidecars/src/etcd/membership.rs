//! How a member of etcd begins: the decision, as a function of what is known. Pure.
//!
//! One step is decided at a time; whoever carries it out looks again and asks anew. So it does not matter where a
//! container was killed on the way: what is true afterwards decides how it goes on.
//!
//! Two facts tell a member that has never taken part from one whose data is gone. Its own directory says whether it
//! has data; the cluster says whether it has published where clients find it, which a member does itself once it takes
//! part. etcd looks at the same fact when it refuses to start a member twice.

use super::{topology::Seat, wire::Member};

/// What the other members say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cluster {
    /// There are no others, or nobody is there.
    Nobody,
    /// Some wait for each other to become a cluster for the first time.
    Forming(Vec<Member>),
    /// Somebody is there who cannot answer, and why.
    Silent(String),
    /// A majority has answered.
    Established(Vec<Member>),
}

/// What is known before a member starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts<'a> {
    /// The member.
    pub own: &'a Seat,
    /// Whether its directory holds what it knew.
    pub has_data: bool,
    /// Whether a cluster may begin here. It may not where it is known that there was one.
    pub may_begin: bool,
    /// Whether it is the only member that there is to be.
    pub is_alone: bool,
    /// What the others say.
    pub cluster: Cluster,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Start.
    Start(Start),
    /// Remove this member, which will never come back: its data is gone.
    Remove(u64),
    /// Ask to become a member.
    Add {
        /// Without a vote at first, because the others could not go on if this one never came.
        as_learner: bool,
    },
    /// Look again later.
    Wait(String),
    /// Nothing that this program may do helps.
    Refuse(String),
}

/// How to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// As a part of a new cluster.
    New,
    /// With the data that is there.
    WithData,
    /// Without data, as one of these.
    Join(Vec<Member>),
}

/// Decides the next step.
pub fn decide(facts: &Facts<'_>) -> Step {
    if facts.has_data {
        return with_data(facts);
    }
    match &facts.cluster {
        Cluster::Nobody if facts.may_begin => Step::Start(Start::New),
        Cluster::Nobody if facts.is_alone => Step::Refuse(format!(
            "the data of {} is gone, and no other member has it: nothing empty is begun in its place, because everything \
             that the cluster had would look deleted; bring the volume back, or delete the cluster and make it anew",
            facts.own.name
        )),
        Cluster::Nobody => Step::Wait(
            "the data is gone and no other member answers: it goes on when a majority of the others runs".to_owned(),
        ),
        Cluster::Forming(_) if !facts.may_begin => Step::Wait(
            "the others form a new cluster where one was: it goes on when a majority of those with data runs"
                .to_owned(),
        ),
        Cluster::Forming(members) if members.iter().any(|member| is_seat(member, facts.own)) => Step::Start(Start::New),
        Cluster::Forming(_) => Step::Wait("the others form a cluster without this member".to_owned()),
        Cluster::Silent(why) => Step::Wait(why.clone()),
        Cluster::Established(members) => without_data(facts.own, members),
    }
}

fn with_data(facts: &Facts<'_>) -> Step {
    match &facts.cluster {
        Cluster::Established(members) if !members.iter().any(|member| is_ours(member, facts.own)) => {
            Step::Refuse(format!(
                "{} was removed from its cluster and still has its data, with which it can never start: if it is to be \
                 a member again, delete its pod and its PersistentVolumeClaim",
                facts.own.name
            ))
        }
        _ => Step::Start(Start::WithData),
    }
}

fn without_data(own: &Seat, members: &[Member]) -> Step {
    let is_fresh = |member: &&Member| is_seat(member, own) && !member.has_started();
    if let Some(stale) = members.iter().find(|member| is_ours(member, own) && !is_fresh(member)) {
        return Step::Remove(stale.id);
    }
    if !members.iter().any(|member| is_fresh(&member)) {
        return Step::Add {
            as_learner: !is_safe_to_add_voter(members),
        };
    }
    if members.iter().any(Member::has_started) {
        Step::Start(Start::Join(members.to_vec()))
    } else {
        Step::Start(Start::New)
    }
}

/// Whether the members that run are a majority even if one more votes and never comes.
fn is_safe_to_add_voter(members: &[Member]) -> bool {
    let voters: Vec<_> = members.iter().filter(|member| !member.is_learner).collect();
    let running = voters.iter().filter(|member| member.has_started()).count();
    let voters_then = voters.len() + 1;
    running > voters_then / 2
}

/// Whether this is the member that is to start here, or was it once.
pub(super) fn is_ours(member: &Member, own: &Seat) -> bool {
    member.name == own.name || is_seat(member, own)
}

/// Whether other members would look for this one here.
fn is_seat(member: &Member, own: &Seat) -> bool {
    member.peer_urls.contains(&own.peer_url)
}

#[cfg(test)]
mod tests;
