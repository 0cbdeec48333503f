//! Which names a definition may have, given those that others in its group have taken (apiextensions-apiserver,
//! controller/status). Pure.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::conditions::Condition;

/// What is said about the names of a definition.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    /// The names that it has from now on.
    pub accepted_names: Value,
    /// Whether it has all that it wants.
    pub condition: Condition,
    is_accepted: bool,
}

impl Verdict {
    /// Whether the definition has all the names that it wants.
    pub(crate) const fn is_accepted(&self) -> bool {
        self.is_accepted
    }
}

/// Judges the names of a definition. Those that others hold are kept from it; the rest it gets.
pub(crate) fn judge(definition: &Value, others: impl Iterator<Item = Value>) -> Verdict {
    let mut resources = BTreeSet::new();
    let mut kinds = BTreeSet::new();
    for other in others {
        let is_other = other["metadata"]["name"] != definition["metadata"]["name"];
        if is_other && other["spec"]["group"] == definition["spec"]["group"] {
            let names = &other["status"]["acceptedNames"];
            resources.extend([&names["plural"], &names["singular"]].into_iter().filter_map(text));
            resources.extend(names["shortNames"].as_array().into_iter().flatten().filter_map(text));
            kinds.extend([&names["kind"], &names["listKind"]].into_iter().filter_map(text));
        }
    }
    let wanted = &definition["spec"]["names"];
    let mut accepted = definition["status"]["acceptedNames"].clone();
    if !accepted.is_object() {
        accepted = json!({});
    }
    let mut conflict = None;
    for (field, taken, reason) in [
        ("plural", &resources, "PluralConflict"),
        ("singular", &resources, "SingularConflict"),
        ("kind", &kinds, "KindConflict"),
        ("listKind", &kinds, "ListKindConflict"),
    ] {
        match text(&wanted[field]).filter(|name| taken.contains(name)) {
            Some(name) => conflict = Some((reason, format!("{name:?} is already in use"))),
            None if wanted[field].is_null() => {}
            None => accepted[field] = wanted[field].clone(),
        }
    }
    let short_names: Vec<String> = wanted["shortNames"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(text)
        .collect();
    let taken: Vec<String> = short_names
        .iter()
        .filter(|name| resources.contains(*name))
        .map(|name| format!("{name:?}"))
        .collect();
    if taken.is_empty() {
        copy(&mut accepted, wanted, "shortNames");
    } else {
        conflict = Some((
            "ShortNamesConflict",
            format!("[{} is already in use]", taken.join(", ")),
        ));
    }
    copy(&mut accepted, wanted, "categories");
    let condition = match &conflict {
        Some((reason, message)) => Condition::new("NamesAccepted", false, reason, message),
        None => Condition::new("NamesAccepted", true, "NoConflicts", "no conflicts found"),
    };
    Verdict {
        accepted_names: accepted,
        condition,
        is_accepted: conflict.is_none(),
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn copy(accepted: &mut Value, wanted: &Value, field: &str) {
    if wanted[field].is_array() {
        accepted[field] = wanted[field].clone();
    } else if let Some(names) = accepted.as_object_mut() {
        names.remove(field);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(name: &str, kind: &str, short: &[&str]) -> Value {
        json!({
            "metadata": {"name": format!("{name}.x.test")},
            "spec": {"group": "x.test", "names": {"plural": name, "singular": kind.to_lowercase(), "kind": kind,
                "listKind": format!("{kind}List"), "shortNames": short}},
        })
    }

    fn established(name: &str, kind: &str, short: &[&str]) -> Value {
        let mut other = definition(name, kind, short);
        other["status"] = json!({"acceptedNames": other["spec"]["names"]});
        other
    }

    #[test]
    fn free_names_are_accepted() {
        let wanted = definition("foos", "Foo", &["f"]);
        let verdict = judge(
            &wanted,
            [established("bars", "Bar", &["b"]), wanted.clone()].into_iter(),
        );
        assert!(verdict.is_accepted());
        assert_eq!(verdict.accepted_names, wanted["spec"]["names"]);
    }

    #[test]
    fn taken_names_are_kept_back_and_the_rest_is_given() {
        let wanted = definition("foos", "Bar", &["f"]);
        let verdict = judge(&wanted, [established("bars", "Bar", &["b"])].into_iter());
        assert!(!verdict.is_accepted());
        assert_eq!(verdict.accepted_names["plural"], "foos");
        assert_eq!(verdict.accepted_names["kind"], Value::Null);
        let verdict = judge(
            &definition("foos", "Foo", &["b"]),
            [established("bars", "Bar", &["b"])].into_iter(),
        );
        assert!(!verdict.is_accepted());
    }
}
