//! The rules of one level: their shape, that they compile, and what they can cost.

use serde_json::{Map, Value};

use super::Compiling;
use crate::builder::{integer, text};
use crate::field_error::{BadValue, FieldError};
use crate::field_path;
use crate::go_text;
use crate::node::NodeId;
use crate::rules;
use crate::structural::join;

/// What one rule may cost at worst.
const MAX_RULE_COST: u64 = 10_000_000;
/// What all rules of a schema may cost at worst.
const MAX_SCHEMA_COST: u64 = 100_000_000;
/// So many of the costliest rules are named.
const NAMED_RULES: usize = 4;
const REASONS: [&str; 4] = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

/// How many values of a level one object can have; nothing when no limit says so.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cardinality(Option<u64>);

impl Cardinality {
    pub(super) const ONE: Self = Self(Some(1));

    /// The cardinality of what is inside of a schema.
    pub(super) fn below(self, schema: &Map<String, Value>) -> Self {
        let most = |name: &str| integer(schema, name).map(|most| u64::try_from(most).unwrap_or_default());
        let factor = match text(schema, "type") {
            "object"
                if schema
                    .get("additionalProperties")
                    .is_some_and(|additional| !additional.is_null()) =>
            {
                most("maxProperties")
            }
            "array" => most("maxItems"),
            _ => Some(1),
        };
        Self(self.0.zip(factor).map(|(count, factor)| count.saturating_mul(factor)))
    }
}

/// What the rules of a schema cost together.
#[derive(Debug, Default)]
pub(super) struct TotalCost {
    total: u64,
    costliest: Vec<(String, u64)>,
}

impl TotalCost {
    fn observe(&mut self, path: String, cost: u64) {
        self.total = self.total.saturating_add(cost);
        if cost < MAX_SCHEMA_COST / 100 {
            return;
        }
        self.costliest.push((path, cost));
        self.costliest.sort_by_key(|(_, cost)| std::cmp::Reverse(*cost));
        self.costliest.truncate(NAMED_RULES);
    }

    /// Complaints when the sum is too high.
    pub(super) fn errors(&self, path: &str) -> Vec<FieldError> {
        if self.total <= MAX_SCHEMA_COST {
            return Vec::new();
        }
        let words = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
        let mut errors: Vec<FieldError> = self
            .costliest
            .iter()
            .map(|(path, _)| FieldError::forbidden(path.clone(), words))
            .collect();
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        errors.push(FieldError::forbidden(
            path,
            too_costly(what, self.total, MAX_SCHEMA_COST),
        ));
        errors
    }
}

#[allow(clippy::cast_precision_loss, reason = "the factor is printed with a digit or six")]
fn too_costly(what: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let factor = if factor > 100.0 {
        "more than 100x".to_owned()
    } else if factor < 1.5 {
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
}

fn rules_of(schema: &Map<String, Value>) -> &[Value] {
    schema
        .get("x-kubernetes-validations")
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn has_line_break(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

/// Complaints about the fields of rules.
pub(super) fn validate_shape(
    schema: &Map<String, Value>,
    compiled: Option<(&Compiling, NodeId)>,
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    for (index, rule) in rules_of(schema).iter().enumerate() {
        let field = |name: &str| join(path, &format!("x-kubernetes-validations[{index}].{name}"));
        let get = |name: &str| rule.get(name).and_then(Value::as_str).unwrap_or_default();
        let (expression, message) = (get("rule").trim(), get("message"));
        if expression.is_empty() {
            errors.push(FieldError::required(field("rule"), "rule is not specified"));
        } else if !message.is_empty() && message.trim().is_empty() {
            errors.push(FieldError::invalid(
                field("message"),
                message,
                "must be non-empty if specified",
            ));
        } else if has_line_break(message.trim()) {
            errors.push(FieldError::invalid(
                field("message"),
                message,
                "must not contain line breaks",
            ));
        } else if has_line_break(expression) && message.trim().is_empty() {
            errors.push(FieldError::required(
                field("message"),
                "message must be specified if rule contains line breaks",
            ));
        }
        let message_expression = get("messageExpression");
        if !message_expression.is_empty() && message_expression.trim().is_empty() {
            errors.push(FieldError::required(
                field("messageExpression"),
                "messageExpression must be non-empty if specified",
            ));
        }
        if let Some(reason) = rule
            .get("reason")
            .and_then(Value::as_str)
            .filter(|reason| !REASONS.contains(reason))
        {
            errors.push(FieldError::not_supported(field("reason"), reason, REASONS));
        }
        validate_field_path(get("fieldPath"), compiled, &field("fieldPath"), errors);
    }
}

fn validate_field_path(
    field_path: &str,
    compiled: Option<(&Compiling, NodeId)>,
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    let mut refuse = |detail: &str| errors.push(FieldError::invalid(path, field_path, detail));
    if field_path.is_empty() {
        return;
    }
    if field_path.trim().is_empty() {
        refuse("must be non-empty if specified");
    }
    if has_line_break(field_path) {
        refuse("must not contain line breaks");
    }
    if compiled.is_some_and(|(compiling, node)| field_path::parse(&compiling.arena, node, field_path, true).is_err()) {
        refuse("must be a valid path");
    }
}

/// Where rules stand.
pub(super) struct RulePlace<'a> {
    pub(super) path: &'a str,
    pub(super) is_resource: bool,
    pub(super) cardinality: Cardinality,
    pub(super) uncorrelated: Option<&'a str>,
    pub(super) ignores_cost: bool,
}

/// Compiles the rules of a level and complains about those that do not compile, cost too much, or ask for an old value
/// where there can be none.
pub(super) fn validate(
    compiling: &mut Compiling,
    node: NodeId,
    schema: &Map<String, Value>,
    place: &RulePlace<'_>,
    total: &mut TotalCost,
    errors: &mut Vec<FieldError>,
) {
    let Some(scope) = compiling.types.scope(&compiling.arena, node, place.is_resource) else {
        errors.push(FieldError::internal(
            join(place.path, "x-kubernetes-validations"),
            "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations",
        ));
        return;
    };
    let count = place
        .cardinality
        .0
        .unwrap_or_else(|| compiling.types.max_cardinality(scope));
    let compiled = rules::compile_node(&mut compiling.arena, node, &compiling.types, scope);
    for (index, (report, rule)) in compiled.into_iter().zip(rules_of(schema)).enumerate() {
        let field = |name: &str| join(place.path, &format!("x-kubernetes-validations[{index}].{name}"));
        let cost = report.max_cost.saturating_mul(count);
        if !place.ignores_cost && cost > MAX_RULE_COST {
            let words = too_costly("estimated rule cost", cost, MAX_RULE_COST);
            errors.push(FieldError::forbidden(field("rule"), words));
        }
        total.observe(field("rule"), cost);
        if let Some(error) = report.error {
            errors.push(FieldError::invalid(field("rule"), shown(rule), error));
        }
        if let Some(error) = report.message_error {
            errors.push(FieldError::invalid(field("messageExpression"), shown(rule), error));
        } else if let Some(cost) = report.message_cost {
            if !place.ignores_cost && cost > MAX_RULE_COST {
                let words = too_costly("estimated messageExpression cost", cost, MAX_RULE_COST);
                errors.push(FieldError::forbidden(field("messageExpression"), words));
            }
            total.observe(field("messageExpression"), cost);
        }
        validate_old(report.uses_old, rule, place, &field, errors);
    }
}

fn validate_old(
    uses_old: bool,
    rule: &Value,
    place: &RulePlace<'_>,
    field: &impl Fn(&str) -> String,
    errors: &mut Vec<FieldError>,
) {
    if uses_old {
        if let Some(around) = place.uncorrelated {
            let text = rule.get("rule").cloned().unwrap_or(Value::Null);
            errors.push(FieldError::invalid(
                field("rule"),
                text,
                format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {around}"),
            ));
        }
    } else if let Some(optional) = rule.get("optionalOldSelf").and_then(Value::as_bool) {
        errors.push(FieldError::invalid(
            field("optionalOldSelf"),
            optional,
            "may not be set if oldSelf is not used in rule",
        ));
    }
}

/// A rule as upstream prints it: all fields, in the order of its structure.
fn shown(rule: &Value) -> BadValue {
    let string = |name: &str| go_text::json(&Value::from(rule.get(name).and_then(Value::as_str).unwrap_or_default()));
    let or_null = |name: &str| go_text::json(rule.get(name).unwrap_or(&Value::Null));
    BadValue::Text(format!(
        "{{\"Rule\":{},\"Message\":{},\"MessageExpression\":{},\"Reason\":{},\"FieldPath\":{},\"OptionalOldSelf\":{}}}",
        string("rule"),
        string("message"),
        string("messageExpression"),
        or_null("reason"),
        string("fieldPath"),
        or_null("optionalOldSelf"),
    ))
}
