//! What etcd's JSON gateway and its peers say, as far as it matters here. Pure.

use serde::{Deserialize, Deserializer, Serialize, de};

/// A member, as the cluster knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Member {
    /// Its number. The gateway calls it `ID` and writes a string, peers call it `id` and write a number.
    #[serde(rename = "ID", alias = "id", deserialize_with = "number", default)]
    pub id: u64,
    /// Its name; empty until it has started, where it was added to a cluster that was there.
    #[serde(default)]
    pub name: String,
    /// Where other members find it.
    #[serde(rename = "peerURLs", default)]
    pub peer_urls: Vec<String>,
    /// Where clients find it. It publishes this itself, once it takes part: without, it has never done so.
    #[serde(rename = "clientURLs", default)]
    pub client_urls: Vec<String>,
    /// Whether it only listens, and does not vote.
    #[serde(rename = "isLearner", default)]
    pub is_learner: bool,
}

impl Member {
    /// Whether it has ever taken part.
    pub fn has_started(&self) -> bool {
        !self.client_urls.is_empty()
    }
}

/// All members.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct MemberList {
    #[serde(default)]
    pub(crate) members: Vec<Member>,
}

/// How one member is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct StatusAnswer {
    #[serde(default)]
    pub(crate) header: Header,
    #[serde(rename = "dbSize", deserialize_with = "number", default)]
    pub(crate) database_bytes: u64,
    #[serde(rename = "dbSizeInUse", deserialize_with = "number", default)]
    pub(crate) used_bytes: u64,
    #[serde(deserialize_with = "number", default)]
    pub(crate) leader: u64,
}

/// Who answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Header {
    #[serde(deserialize_with = "number", default)]
    pub(crate) member_id: u64,
}

/// Why something was refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Refusal {
    #[serde(default)]
    pub(crate) message: String,
}

/// Asks for the members, as a majority knows them.
#[derive(Serialize)]
pub(crate) struct ListRequest {
    pub(crate) linearizable: bool,
}

/// Asks for a further member.
#[derive(Serialize)]
pub(crate) struct AddRequest<'a> {
    #[serde(rename = "peerURLs")]
    pub(crate) peer_urls: [&'a str; 1],
    #[serde(rename = "isLearner")]
    pub(crate) is_learner: bool,
}

/// Names a member. The gateway takes numbers of this size as strings.
#[derive(Serialize)]
pub(crate) struct MemberRequest {
    #[serde(rename = "ID")]
    pub(crate) id: String,
}

/// A number, written as one or as a string.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Spelling {
        Number(u64),
        Text(String),
    }
    match Spelling::deserialize(deserializer)? {
        Spelling::Number(number) => Ok(number),
        Spelling::Text(text) => text.parse().map_err(de::Error::custom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_of_a_member_are_read() {
        let gateway = r#"{"header":{"cluster_id":"1","member_id":"2"},"members":[
            {"ID":"10276657743932975437","name":"etcd-0","peerURLs":["https://a:2380"],"clientURLs":["https://a:2379"]},
            {"ID":"7","peerURLs":["https://b:2380"],"isLearner":true}]}"#;
        let list: MemberList = serde_json::from_str(gateway).unwrap();
        assert_eq!(list.members[0].id, 10_276_657_743_932_975_437);
        assert!(list.members[0].has_started() && !list.members[0].is_learner);
        assert!(!list.members[1].has_started() && list.members[1].is_learner);

        let peer = r#"[{"id":10276657743932975437,"peerURLs":["https://a:2380"],"name":"etcd-0"}]"#;
        let members: Vec<Member> = serde_json::from_str(peer).unwrap();
        assert_eq!(
            (members[0].id, members[0].name.as_str()),
            (10_276_657_743_932_975_437, "etcd-0")
        );
    }

    #[test]
    fn what_is_left_out_is_zero() {
        let status: StatusAnswer = serde_json::from_str(r#"{"dbSize":"20480","leader":"3"}"#).unwrap();
        assert_eq!(
            (status.database_bytes, status.used_bytes, status.leader),
            (20_480, 0, 3)
        );
    }
}
