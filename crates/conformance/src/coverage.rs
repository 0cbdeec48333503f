//! Which rule has which cases: the table `rules.yaml` against the cases themselves. It runs nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use serde::Deserialize;

use crate::table::{self, Table, read_yaml};

/// All rules of reference/kubernetes-api.md that an embedded server must keep.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// The rules that have cases, by id: the section, a slash and a short name.
    pub rules: BTreeMap<String, Rule>,
    /// The rules that no exchange can show.
    pub gaps: BTreeMap<String, Gap>,
}

/// A rule and its cases.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What the rule says, in one sentence.
    pub says: String,
    /// The cases that show it.
    pub cases: Vec<String>,
}

/// A rule without a case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// What the rule says, in one sentence.
    pub says: String,
    /// Why it has no case.
    pub reason: String,
}

impl Rules {
    /// Reads the table.
    pub fn read(path: &Path) -> Result<Self, table::Error> {
        read_yaml(path)
    }

    /// Everything that is wrong between rules and cases.
    pub fn faults(&self, table: &Table) -> Vec<String> {
        let mut faults = Vec::new();
        let mut ids = BTreeSet::new();
        for case in table.cases() {
            if !ids.insert(case.id.as_str()) {
                faults.push(format!("the case {} occurs twice", case.id));
            }
            match self.rules.get(&case.rule) {
                None => faults.push(format!("the case {} names the unknown rule {:?}", case.id, case.rule)),
                Some(rule) if !rule.cases.contains(&case.id) => {
                    faults.push(format!("the rule {} does not list its case {}", case.rule, case.id));
                }
                Some(_) => {}
            }
        }
        faults.extend(self.rule_faults(table, &ids));
        faults
    }

    fn rule_faults(&self, table: &Table, ids: &BTreeSet<&str>) -> Vec<String> {
        let mut faults = Vec::new();
        for (id, rule) in &self.rules {
            if rule.cases.is_empty() {
                faults.push(format!("the rule {id} has no case and is no gap"));
            }
            for case in &rule.cases {
                if !ids.contains(case.as_str()) {
                    faults.push(format!("the rule {id} lists the unknown case {case}"));
                } else if !table.cases().any(|it| it.id == *case && it.rule == *id) {
                    faults.push(format!("the rule {id} lists {case}, which names another rule"));
                }
            }
        }
        for (id, gap) in &self.gaps {
            if self.rules.contains_key(id) {
                faults.push(format!("{id} is a rule with cases and a gap"));
            }
            if gap.reason.trim().is_empty() {
                faults.push(format!("the gap {id} has no reason"));
            }
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn faults(cases: Value, rules: Value, gaps: Value) -> Vec<String> {
        let table = Table {
            files: [("file".to_owned(), serde_json::from_value(cases).unwrap())].into(),
            definitions: Vec::new(),
        };
        let rules = Rules {
            rules: serde_json::from_value(rules).unwrap(),
            gaps: serde_json::from_value(gaps).unwrap(),
        };
        rules.faults(&table)
    }

    fn case(id: &str, rule: &str) -> Value {
        json!({"id": id, "rule": rule, "steps": []})
    }

    #[test]
    fn a_complete_table_has_no_faults() {
        let rules = json!({"r": {"says": "s", "cases": ["a", "b"]}});
        let gaps = json!({"g": {"says": "s", "reason": "why"}});
        assert_eq!(faults(json!([case("a", "r"), case("b", "r")]), rules, gaps), [""; 0]);
    }

    #[test]
    fn every_fault_is_found() {
        let cases = json!([
            case("a", "r"),
            case("a", "r"),
            case("b", "nowhere"),
            case("c", "q"),
            case("d", "r")
        ]);
        let rules = json!({
            "r": {"says": "s", "cases": ["a", "ghost", "c"]},
            "q": {"says": "s", "cases": ["c"]},
            "empty": {"says": "s", "cases": []},
        });
        let gaps = json!({"r": {"says": "s", "reason": " "}});
        let expected = [
            "the case a occurs twice",
            "the case b names the unknown rule \"nowhere\"",
            "the rule r does not list its case d",
            "the rule empty has no case and is no gap",
            "the rule r lists the unknown case ghost",
            "the rule r lists c, which names another rule",
            "r is a rule with cases and a gap",
            "the gap r has no reason",
        ];
        assert_eq!(faults(cases, rules, gaps), expected);
    }
}
