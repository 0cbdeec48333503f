//! The selectors in a review: which of their requirements authorization may rely on, and what is wrong with them
//! (kubernetes, pkg/registry/authorization/util/helpers.go and pkg/apis/authorization/validation).

use serde_json::Value;

use crate::{
    FieldRequirement,
    object::{at, list, text},
    refusal::Cause,
    text::quote,
};

const PATH: &str = "spec.resourceAttributes";
const LABEL_KEY_LENGTH: usize = 63;

/// A field selector as far as it was understood.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Fields {
    pub requirements: Vec<FieldRequirement>,
    pub has_error: bool,
}

impl Fields {
    pub fn read(selector: &Value) -> Self {
        let requirements = list(selector, &["requirements"]);
        if !requirements.is_empty() {
            let read: Vec<Option<FieldRequirement>> = requirements.iter().map(requirement).collect();
            let has_error = read.contains(&None);
            return Self {
                requirements: read.into_iter().flatten().collect(),
                has_error,
            };
        }
        parse_fields(text(selector, &["rawSelector"])).unwrap_or(Self {
            requirements: Vec::new(),
            has_error: true,
        })
    }

    pub fn complaint(&self, selector: &str) -> Option<String> {
        self.has_error
            .then(|| complaint(selector, !self.requirements.is_empty()))
    }
}

/// What is said when the label selector cannot be read. RBAC and the node authorizer ignore labels, so no more of it
/// is kept.
pub(super) fn labels_complaint(resource: &Value) -> Option<String> {
    let selector = at(resource, &["labelSelector"]);
    let requirements = list(selector, &["requirements"]);
    let is_known = |requirement: &Value| {
        matches!(
            text(requirement, &["operator"]),
            "In" | "NotIn" | "Exists" | "DoesNotExist"
        )
    };
    if !requirements.is_empty() {
        let known = requirements.iter().filter(|requirement| is_known(requirement)).count();
        return (known < requirements.len()).then(|| complaint("labelSelector", known > 0));
    }
    (!is_label_selector(text(selector, &["rawSelector"]))).then(|| complaint("labelSelector", false))
}

/// What validation finds in both selectors.
pub(super) fn causes(resource: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (name, is_label) in [("fieldSelector", false), ("labelSelector", true)] {
        let selector = at(resource, &[name]);
        if selector.is_null() {
            continue;
        }
        let path = format!("{PATH}.{name}");
        let raw = text(selector, &["rawSelector"]);
        let requirements = list(selector, &["requirements"]);
        if !raw.is_empty() && !requirements.is_empty() {
            let field = format!("{path}.rawSelector");
            causes.push(Cause::invalid(
                &field,
                &quote(raw),
                "may not specified at the same time as requirements",
            ));
        }
        if raw.is_empty() && requirements.is_empty() {
            let complaint = format!("when {path} is specified, requirements or rawSelector is required");
            causes.push(Cause::required(&format!("{path}.requirements"), &complaint));
        }
        for (index, requirement) in requirements.iter().enumerate() {
            requirement_causes(
                &mut causes,
                requirement,
                &format!("{path}.requirements[{index}]"),
                is_label,
            );
        }
    }
    causes
}

fn requirement_causes(causes: &mut Vec<Cause>, requirement: &Value, path: &str, is_label: bool) {
    let key = text(requirement, &["key"]);
    if key.is_empty() && !is_label {
        causes.push(Cause::required(&format!("{path}.key"), "must be specified"));
    }
    let values = list(requirement, &["values"]);
    let field = format!("{path}.values");
    match text(requirement, &["operator"]) {
        "In" | "NotIn" if values.is_empty() => {
            causes.push(Cause::required(
                &field,
                "must be specified when `operator` is 'In' or 'NotIn'",
            ));
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            let complaint = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            causes.push(Cause::forbidden(&field, complaint));
        }
        _ => {}
    }
    if !is_label {
        return;
    }
    causes.extend(label_key_causes(key, &format!("{path}.key")));
    for (index, value) in values.iter().filter_map(Value::as_str).enumerate() {
        if !is_label_value(value) {
            let complaint = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
            causes.push(Cause::invalid(&format!("{field}[{index}]"), &quote(value), complaint));
        }
    }
}

fn label_key_causes(key: &str, field: &str) -> Vec<Cause> {
    let name = key.split_once('/').map_or(key, |(_, name)| name);
    let mut causes = Vec::new();
    if name.is_empty() {
        causes.push(Cause::invalid(field, &quote(key), "name part must be non-empty"));
    }
    if name.is_empty() || !is_label_value(name) {
        let complaint = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
        causes.push(Cause::invalid(field, &quote(key), complaint));
    }
    causes
}

fn is_label_value(text: &str) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_alphanumeric);
    text.len() <= LABEL_KEY_LENGTH
        && is_end(text.as_bytes().first())
        && is_end(text.as_bytes().last())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

fn complaint(selector: &str, is_partial: bool) -> String {
    let partially = if is_partial { "partially " } else { "" };
    format!("{PATH}.{selector} {partially}ignored due to parse error")
}

fn requirement(requirement: &Value) -> Option<FieldRequirement> {
    let equals = match text(requirement, &["operator"]) {
        "In" => true,
        "NotIn" => false,
        _ => return None,
    };
    let [value] = list(requirement, &["values"]) else {
        return None;
    };
    Some(FieldRequirement {
        field: text(requirement, &["key"]).to_owned(),
        equals,
        value: value.as_str()?.to_owned(),
    })
}

/// `a=b,c!=d`; a backslash escapes what would separate (apimachinery, fields/selector.go).
fn parse_fields(raw: &str) -> Option<Fields> {
    let mut requirements = Vec::new();
    for term in split_terms(raw) {
        if term.is_empty() {
            continue;
        }
        requirements.push(parse_term(&term)?);
    }
    Some(Fields {
        requirements,
        has_error: false,
    })
}

fn split_terms(raw: &str) -> Vec<String> {
    let mut terms = vec![String::new()];
    let mut is_escaped = false;
    for character in raw.chars() {
        if character == ',' && !is_escaped {
            terms.push(String::new());
        } else {
            terms.last_mut().expect("there is a first term").push(character);
        }
        is_escaped = character == '\\' && !is_escaped;
    }
    terms
}

fn parse_term(term: &str) -> Option<FieldRequirement> {
    let position = term.find(['=', '!'])?;
    let (field, rest) = term.split_at(position);
    let (equals, value) = if let Some(value) = rest.strip_prefix("!=") {
        (false, value)
    } else {
        (true, rest.strip_prefix("==").or_else(|| rest.strip_prefix('='))?)
    };
    Some(FieldRequirement {
        field: field.to_owned(),
        equals,
        value: unescape(value)?,
    })
}

fn unescape(value: &str) -> Option<String> {
    let mut unescaped = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => unescaped.push(characters.next().filter(|next| ['\\', ',', '='].contains(next))?),
            ',' | '=' => return None,
            other => unescaped.push(other),
        }
    }
    Some(unescaped)
}

/// Whether the text is a label selector. A review only says when it is not, so its meaning is not kept.
fn is_label_selector(raw: &str) -> bool {
    let mut depth = 0_i32;
    let terms = raw.split(|character| {
        depth += match character {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        character == ',' && depth == 0
    });
    raw.trim().is_empty() || terms.map(str::trim).all(is_label_term)
}

fn is_label_term(term: &str) -> bool {
    let is_key = |key: &str| label_key_causes(key.trim(), "").is_empty();
    if let Some(key) = term.strip_prefix('!') {
        return is_key(key);
    }
    let mut words = term.splitn(2, char::is_whitespace);
    let (key, rest) = (words.next().unwrap_or(""), words.next().unwrap_or("").trim());
    for operator in ["notin", "in"] {
        if let Some(set) = rest.strip_prefix(operator).map(str::trim) {
            let values = set.strip_prefix('(').and_then(|set| set.strip_suffix(')'));
            return is_key(key)
                && values.is_some_and(|values| values.split(',').all(|value| is_label_value(value.trim())));
        }
    }
    match term
        .split_once("!=")
        .or_else(|| term.split_once("=="))
        .or_else(|| term.split_once('='))
    {
        Some((key, value)) => is_key(key) && is_label_value(value.trim()),
        None => is_key(term),
    }
}
