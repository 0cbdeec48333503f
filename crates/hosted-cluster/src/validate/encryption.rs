//! Keys for Secrets in etcd once something is encrypted with them: whoever takes the key in use away takes everything away
//! that was stored with it, and nobody can bring it back.

use hyperplane_api::constants::{
    objects::{copies, keys},
    ours,
};
use hyperplane_platforms::{Problem, Rule};

use super::Case;
use crate::{dereference::Source, names};

const STAYS: Rule = Rule {
    name: "encryption-stays",
    asks: "Secrets that are encrypted stay so: secretEncryption cannot be removed",
};
const KEY_IN_USE: Rule = Rule {
    name: "encryption-key-in-use",
    asks: "the key that Secrets are encrypted with must stay one of the two that are given",
};

pub(super) const RULES: &[Rule] = &[STAYS, KEY_IN_USE];

pub(super) fn judge(case: &Case<'_>, problems: &mut Vec<Problem>) {
    problems.extend(removed(case));
    problems.extend(replaced(case));
}

/// Without keys the API server would be told to read plain text only.
fn removed(case: &Case<'_>) -> Option<Problem> {
    let seen = case.seen;
    let is_asked_of = seen.control_plane.as_ref();
    let is_encrypted = is_asked_of.is_some_and(|found| found.spec.secret_encryption.is_some())
        || seen.objects.secrets.contains_key(copies::ENCRYPTION_KEY);
    (is_encrypted && case.cluster.spec.secret_encryption.is_none()).then(|| {
        Problem::new(
            &STAYS,
            "spec.secretEncryption",
            "it is missing, and Secrets of the cluster are encrypted: without their key nobody could read them again",
            "set it back to what it was",
        )
    })
}

fn replaced(case: &Case<'_>) -> Option<Problem> {
    let objects = &case.seen.objects;
    let copy = objects.secrets.get(copies::ENCRYPTION_KEY)?;
    let in_use = objects.secret_value(copies::ENCRYPTION_KEY, keys::ENCRYPTION_KEY)?;
    let active = find(case, copies::ENCRYPTION_KEY)?;
    // An original that is as it was when it was copied does not change the key; somebody else has changed the copy, which
    // is mended.
    if ours::COPIED_FROM.of(copy.as_ref()) == Some(active.content()?.stamp.as_str()) {
        return None;
    }
    let given = [Some(active), find(case, copies::ENCRYPTION_KEY_BEFORE)];
    let mut given = given.into_iter().flatten().filter_map(key_of);
    if given.any(|key| key == in_use) {
        return None;
    }
    Some(Problem::new(
        &KEY_IN_USE,
        active.order.field.clone(),
        format!(
            "neither Secret {} nor backupKey holds the key that Secrets of the cluster are encrypted with: what is \
             stored could not be read again, so that the key in use stays",
            active.order.source
        ),
        format!(
            "name a Secret with the key in use as backupKey (it is {} in Secret {} of namespace {}), or set activeKey \
             back",
            keys::ENCRYPTION_KEY,
            copies::ENCRYPTION_KEY,
            names::namespace_of(case.cluster)
        ),
    ))
}

fn find<'a>(case: &Case<'a>, target: &str) -> Option<&'a Source> {
    case.seen.sources.iter().find(|source| source.order.target == target)
}

fn key_of(source: &Source) -> Option<&[u8]> {
    source.content()?.data.get(keys::ENCRYPTION_KEY).map(Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        dereference::State,
        testing::{cluster, judge, put_control_plane, put_secret, seen, set_source, settings},
    };

    const ACTIVE: &str = "spec.secretEncryption.aescbc.activeKey";
    const BEFORE: &str = "spec.secretEncryption.aescbc.backupKey";
    const IN_USE: &[u8] = &[9; 32];

    fn asks(active: &str, before: Option<&str>) -> Value {
        let mut keys = json!({"activeKey": {"name": active}});
        if let Some(before) = before {
            keys["backupKey"] = json!({"name": before});
        }
        json!({"spec": {"secretEncryption": {"type": "aescbc", "aescbc": keys}}})
    }

    /// What stands in the way where Secrets are encrypted with a key, and these are given.
    fn blockers(active: (&str, &[u8]), before: Option<(&str, &[u8])>, copied_from: &str) -> Vec<Problem> {
        let cluster = cluster(&asks(active.0, before.map(|before| before.0)));
        let mut seen = seen(&cluster);
        set_source(&mut seen, ACTIVE, "key", active.1);
        if let Some((_, key)) = before {
            set_source(&mut seen, BEFORE, "key", key);
        }
        put_secret(&mut seen, copies::ENCRYPTION_KEY, Some(copied_from), &[("key", IN_USE)]);
        judge(&cluster, &seen, &settings()).blockers().cloned().collect()
    }

    #[test]
    fn the_key_in_use_may_move_but_not_go() {
        let copied = "clusters/first@uid/0";
        let other: &[u8] = &[5; 32];
        // The same key: as it was, under another name, and beside a further one.
        assert_eq!(blockers(("first", IN_USE), None, copied), []);
        assert_eq!(blockers(("second", IN_USE), None, copied), []);
        assert_eq!(blockers(("first", IN_USE), Some(("second", other)), copied), []);
        // A rotation, by another name and in place.
        assert_eq!(blockers(("second", other), Some(("first", IN_USE)), copied), []);
        assert_eq!(blockers(("first", other), Some(("kept", IN_USE)), copied), []);
        // The key in use is lost: by another name, in place, and with a backup that is another one.
        for (active, before) in [
            ("second", None),
            ("first", None),
            ("first", Some(("third", &[6_u8; 32][..]))),
        ] {
            let problems = blockers((active, other), before, copied);
            assert_eq!(problems.len(), 1, "{problems:#?}");
            assert_eq!(
                (problems[0].rule, problems[0].field.as_str()),
                (KEY_IN_USE.name, ACTIVE)
            );
            assert!(
                problems[0]
                    .remedy
                    .contains("aescbc-active-key of namespace clusters-blue"),
                "{}",
                problems[0]
            );
        }
    }

    #[test]
    fn a_copy_that_somebody_else_has_changed_is_mended() {
        assert_eq!(blockers(("first", &[5; 32]), None, "clusters/first@uid/1"), []);
    }

    #[test]
    fn encryption_is_not_taken_away_whether_the_copy_or_the_control_plane_tells_of_it() {
        let plain = cluster(&json!({}));
        let mut of_control_plane = seen(&plain);
        put_control_plane(&plain, &mut of_control_plane, &asks("aescbc-active-key", None));
        let mut of_copy = seen(&plain);
        put_secret(
            &mut of_copy,
            copies::ENCRYPTION_KEY,
            Some("clusters/first@uid/0"),
            &[("key", IN_USE)],
        );
        for seen in [of_control_plane, of_copy] {
            let verdict = judge(&plain, &seen, &settings());
            let rules: Vec<&str> = verdict.blockers().map(|problem| problem.rule).collect();
            assert_eq!(rules, [STAYS.name]);
        }
    }

    #[test]
    fn a_missing_original_is_told_once() {
        let cluster = cluster(&asks("first", None));
        let mut seen = seen(&cluster);
        put_secret(
            &mut seen,
            copies::ENCRYPTION_KEY,
            Some("clusters/first@uid/0"),
            &[("key", IN_USE)],
        );
        let source = seen.sources.iter_mut().find(|source| source.order.field == ACTIVE);
        source.unwrap().state = State::Missing;
        let verdict = judge(&cluster, &seen, &settings());
        let rules: Vec<&str> = verdict.blockers().map(|problem| problem.rule).collect();
        assert_eq!(rules, ["source-exists"]);
    }
}
