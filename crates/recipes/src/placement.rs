//! Tolerations as flags have them.

use k8s_openapi::api::core::v1::Toleration;

use crate::judge::Judge;

const FLAG: &str = "--toleration";

/// What each part of a toleration may be; none means any text.
const WORDS: &[(&str, &[&str])] = &[
    ("operator", &["Exists", "Equal"]),
    ("effect", &["NoSchedule", "PreferNoSchedule", "NoExecute"]),
];

/// Reads tolerations such as key=dedicated,operator=Exists,effect=NoSchedule.
pub(crate) fn tolerations(values: &[String], judge: &mut Judge) -> Vec<Toleration> {
    values.iter().map(|value| toleration(value, judge)).collect()
}

fn toleration(value: &str, judge: &mut Judge) -> Toleration {
    let mut found = Toleration::default();
    for part in value.split(',') {
        let Some((name, text)) = part.split_once('=') else {
            judge.wrong(FLAG, format!("{part:?} is no part of a toleration: write name=value"));
            continue;
        };
        let words = WORDS.iter().find(|(known, _)| *known == name).map(|(_, words)| *words);
        if words.is_some_and(|words| !words.contains(&text)) {
            let words = words.unwrap_or_default().join(", ");
            judge.wrong(FLAG, format!("{name} {text:?} must be one of {words}"));
        }
        let text = text.to_owned();
        match name {
            "key" => found.key = Some(text),
            "value" => found.value = Some(text),
            "operator" => found.operator = Some(text),
            "effect" => found.effect = Some(text),
            "tolerationSeconds" => match text.parse() {
                Ok(seconds) => found.toleration_seconds = Some(seconds),
                Err(_) => judge.wrong(FLAG, format!("tolerationSeconds {text:?} must be a whole number")),
            },
            _ => judge.wrong(
                FLAG,
                format!("{name:?} must be one of key, value, operator, effect, tolerationSeconds"),
            ),
        }
    }
    judge_whole(value, &found, judge);
    found
}

/// What Kubernetes asks of the parts together (pkg/apis/core/validation, ValidateTolerations).
fn judge_whole(value: &str, found: &Toleration, judge: &mut Judge) {
    let is_exists = found.operator.as_deref() == Some("Exists");
    let has_key = found.key.as_ref().is_some_and(|key| !key.is_empty());
    let has_value = found.value.as_ref().is_some_and(|value| !value.is_empty());
    if !has_key && !is_exists {
        judge.wrong(FLAG, format!("{value:?} has no key: add key=NAME, or operator=Exists"));
    }
    if is_exists && has_value {
        judge.wrong(
            FLAG,
            format!("{value:?} has operator Exists, which takes no value: remove one"),
        );
    }
    if found.toleration_seconds.is_some() && found.effect.as_deref() != Some("NoExecute") {
        judge.wrong(FLAG, format!("{value:?}: tolerationSeconds needs effect=NoExecute"));
    }
}
