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

/// The names that definitions of a group have taken.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    resources: BTreeSet<String>,
    kinds: BTreeSet<String>,
}

impl Taken {
    /// Adds the names that a definition has.
    pub(crate) fn add(&mut self, accepted: &Value) {
        self.resources.extend(
            [&accepted["plural"], &accepted["singular"]]
                .into_iter()
                .filter_map(text),
        );
        self.resources.extend(texts(&accepted["shortNames"]));
        self.kinds
            .extend([&accepted["kind"], &accepted["listKind"]].into_iter().filter_map(text));
    }
}

/// Whether a definition that had names has some of them no longer.
pub(crate) fn releases(before: &Value, after: &Value) -> bool {
    let (mut had, mut has) = (Taken::default(), Taken::default());
    had.add(before);
    has.add(after);
    !had.resources.is_subset(&has.resources) || !had.kinds.is_subset(&has.kinds)
}

/// Judges the names of a definition, given those that are taken in its group, its own among them. What it has it keeps;
/// what others have is kept from it; the rest it gets.
pub(crate) fn judge(definition: &Value, taken: &Taken) -> Verdict {
    let wanted = &definition["spec"]["names"];
    let mut accepted = definition["status"]["acceptedNames"].clone();
    if !accepted.is_object() {
        accepted = json!({});
    }
    let mut conflict = None;
    let mut one = |accepted: &mut Value, field: &str, taken: &BTreeSet<String>, reason| {
        let name = text(&wanted[field]).filter(|name| accepted[field] != **name && taken.contains(name));
        match name {
            Some(name) => conflict = Some((reason, in_use(&name))),
            None => copy(accepted, wanted, field),
        }
    };
    one(&mut accepted, "plural", &taken.resources, "PluralConflict");
    one(&mut accepted, "singular", &taken.resources, "SingularConflict");
    let short_names = short_name_conflict(wanted, &accepted, taken);
    one(&mut accepted, "kind", &taken.kinds, "KindConflict");
    one(&mut accepted, "listKind", &taken.kinds, "ListKindConflict");
    match short_names {
        // Kinds are looked at after short names, and the last complaint counts.
        Some(message) if !matches!(conflict, Some(("KindConflict" | "ListKindConflict", _))) => {
            conflict = Some(("ShortNamesConflict", message));
        }
        Some(_) => {}
        None => copy(&mut accepted, wanted, "shortNames"),
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

fn short_name_conflict(wanted: &Value, accepted: &Value, taken: &Taken) -> Option<String> {
    let own: BTreeSet<String> = texts(&accepted["shortNames"]).collect();
    let conflicts = texts(&wanted["shortNames"]).filter(|name| !own.contains(name) && taken.resources.contains(name));
    let messages: Vec<String> = conflicts.map(|name| in_use(&name)).collect();
    match messages.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        many => Some(format!("[{}]", many.join(", "))),
    }
}

fn in_use(name: &str) -> String {
    format!("{name:?} is already in use")
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn texts(value: &Value) -> impl Iterator<Item = String> {
    value.as_array().into_iter().flatten().filter_map(text)
}

fn copy(accepted: &mut Value, wanted: &Value, field: &str) {
    if !wanted[field].is_null() {
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

    fn taken(all: &[Value]) -> Taken {
        let mut taken = Taken::default();
        for definition in all {
            taken.add(&definition["spec"]["names"]);
        }
        taken
    }

    fn reason(verdict: &Verdict) -> String {
        format!("{:?}", verdict.condition)
    }

    #[test]
    fn names_are_released_when_they_are_gone_from_the_list() {
        let names = |short: &[&str]| json!({"plural": "foos", "kind": "Foo", "shortNames": short});
        assert!(!releases(&json!({"plural": "", "kind": ""}), &names(&[])));
        assert!(!releases(&names(&["a"]), &names(&["b", "a"])));
        assert!(releases(&names(&["a"]), &names(&["b"])));
        assert!(releases(&names(&[]), &Value::Null));
    }

    #[test]
    fn free_names_are_accepted() {
        let wanted = definition("foos", "Foo", &["f"]);
        let verdict = judge(&wanted, &taken(&[definition("bars", "Bar", &["b"])]));
        assert!(verdict.is_accepted());
        assert_eq!(verdict.accepted_names, wanted["spec"]["names"]);
    }

    #[test]
    fn what_a_definition_has_it_keeps() {
        let mut own = definition("foos", "Foo", &["f"]);
        own["status"] = json!({"acceptedNames": own["spec"]["names"]});
        assert!(judge(&own, &taken(&[own.clone(), definition("bars", "Foo", &["f"])])).is_accepted());
    }

    #[test]
    fn taken_names_are_kept_back_and_the_rest_is_given() {
        let bars = [definition("bars", "Bar", &["b", "c"])];
        let verdict = judge(&definition("foos", "Bar", &["f"]), &taken(&bars));
        assert!(!verdict.is_accepted());
        assert_eq!(verdict.accepted_names["plural"], "foos");
        assert_eq!(verdict.accepted_names["shortNames"], json!(["f"]));
        assert_eq!(verdict.accepted_names["kind"], Value::Null);
        assert!(
            reason(&verdict).contains("ListKindConflict"),
            "the last complaint counts"
        );
        let verdict = judge(&definition("foos", "Foo", &["b"]), &taken(&bars));
        assert!(reason(&verdict).contains(r#""\"b\" is already in use""#), "{verdict:?}");
        let verdict = judge(&definition("foos", "Foo", &["b", "c"]), &taken(&bars));
        let message = r#""[\"b\" is already in use, \"c\" is already in use]""#;
        assert!(reason(&verdict).contains(message), "{verdict:?}");
        assert_eq!(verdict.accepted_names["shortNames"], Value::Null);
    }
}
