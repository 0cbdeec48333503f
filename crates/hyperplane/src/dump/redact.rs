//! Takes out everything secret. What Secrets hold is reduced to keys and lengths, and is not to be found anywhere else
//! either: in other objects, in environment variables, in kubeconfigs or in logs. Pure.

use std::collections::BTreeSet;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

/// What takes the place of a secret.
const GONE: &str = "(redacted)";
/// Keys of Secrets that hold nothing secret: they name things, or are meant for everybody.
const HARMLESS: &[&str] = &[
    "namespace",
    "release",
    "release-version",
    "reason",
    "message",
    "os-stream",
    "render-revision",
    "disableTemplating",
];
/// Ends of such keys: certificates and public keys.
const HARMLESS_ENDS: &[&str] = &[".crt", ".pub"];
/// Shorter ones are words, and would take words out of every text.
const SHORTEST_SECRET: usize = 8;
/// Shorter ones are no keys or tokens.
const SHORTEST_TOKEN: usize = 24;
/// What secrets are called in environment variables.
const SECRET_NAMES: &[&str] = &[
    "PASSWORD",
    "TOKEN",
    "SECRET",
    "PRIVATE",
    "CREDENTIAL",
    "API_KEY",
    "ACCESS_KEY",
];
/// What secrets stand behind in texts.
const SECRET_FIELDS: &[&str] = &["token", "password", "client-key-data", "privateKey", "secret"];
/// What servers wrote beside objects, and people do not read.
const APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Everything that must not be seen.
#[derive(Debug, Default)]
pub(super) struct Redactor {
    /// The longest first: one may be part of another.
    secrets: Vec<String>,
}

impl Redactor {
    /// Learns what Secrets hold.
    pub(super) fn knowing<'a>(objects: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut secrets = BTreeSet::new();
        for object in objects.into_iter().filter(|object| object["kind"] == "Secret") {
            for (key, value) in object["data"].as_object().into_iter().flatten() {
                if !is_harmless(key) {
                    learn(value.as_str().unwrap_or_default(), &mut secrets);
                }
            }
        }
        let mut secrets: Vec<String> = secrets.into_iter().collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { secrets }
    }

    /// An object without anything secret.
    pub(super) fn object(&self, object: &Value) -> Value {
        let mut found = object.clone();
        if let Some(metadata) = found["metadata"].as_object_mut() {
            metadata.remove("managedFields");
            if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
                annotations.remove(APPLIED);
            }
        }
        if found["kind"] == "Secret" {
            for field in ["data", "stringData"] {
                if let Some(values) = found.get_mut(field).and_then(Value::as_object_mut) {
                    for value in values.values_mut() {
                        *value = length(value, field == "data");
                    }
                }
            }
        }
        self.value(&mut found);
        found
    }

    /// A text without anything secret.
    pub(super) fn text(&self, text: &str) -> String {
        let mut found = text.to_owned();
        let shorter = self.secrets.partition_point(|secret| secret.len() > text.len());
        for secret in self.secrets[shorter..]
            .iter()
            .filter(|secret| text.contains(&***secret))
        {
            found = found.replace(&**secret, GONE);
        }
        let mut lines: Vec<String> = Vec::new();
        let mut is_key = false;
        for line in found.lines() {
            let begins = line.contains("-----BEGIN") && line.contains("PRIVATE KEY-----");
            if begins && !is_key {
                lines.push(GONE.to_owned());
            }
            is_key |= begins;
            if !is_key {
                lines.push(without_fields(line));
            }
            is_key &= !(line.contains("-----END") && line.contains("PRIVATE KEY-----"));
        }
        let end = if found.ends_with('\n') { "\n" } else { "" };
        lines.join("\n") + end
    }

    fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => {
                for item in items {
                    self.value(item);
                }
            }
            Value::Object(fields) => {
                let name = fields
                    .get("name")
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_uppercase();
                if SECRET_NAMES.iter().any(|secret| name.contains(secret))
                    && let Some(text) = fields.get_mut("value").filter(|text| text.is_string())
                {
                    *text = length(text, false);
                }
                for field in fields.values_mut() {
                    self.value(field);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

fn is_harmless(key: &str) -> bool {
    HARMLESS.contains(&key) || HARMLESS_ENDS.iter().any(|end| key.ends_with(end))
}

/// A value, its spelling in Secrets, and every key or token in it.
fn learn(encoded: &str, secrets: &mut BTreeSet<String>) {
    let Ok(bytes) = STANDARD.decode(encoded) else {
        return;
    };
    let text = String::from_utf8_lossy(&bytes);
    for whole in [text.trim(), encoded] {
        if whole.len() >= SHORTEST_SECRET {
            secrets.insert(whole.to_owned());
        }
    }
    let is_part = |character: char| character.is_ascii_alphanumeric() || "+/=_-".contains(character);
    let parts = text.split(|character| !is_part(character));
    secrets.extend(parts.filter(|part| is_token(part)).map(str::to_owned));
}

/// Whether a word looks like chance: names are not written with digits and both cases in such a length.
fn is_token(word: &str) -> bool {
    let has = |is: fn(&char) -> bool| word.chars().any(|character| is(&character));
    word.len() >= SHORTEST_TOKEN
        && has(char::is_ascii_digit)
        && has(char::is_ascii_uppercase)
        && has(char::is_ascii_lowercase)
}

/// How long a value is.
fn length(value: &Value, is_encoded: bool) -> Value {
    let text = value.as_str().unwrap_or_default();
    let length = if is_encoded {
        STANDARD.decode(text).map_or(text.len(), |bytes| bytes.len())
    } else {
        text.len()
    };
    json!(format!("{GONE} {length} bytes"))
}

/// A line without what stands behind the names of secrets.
fn without_fields(line: &str) -> String {
    let bare = line.trim_start_matches([' ', '-', '"', '{', ',']);
    for field in SECRET_FIELDS {
        let rest = bare.strip_prefix(field).map(|rest| rest.trim_start_matches('"'));
        let value = rest.and_then(|rest| rest.strip_prefix(':')).map(str::trim);
        if value.is_some_and(|value| !value.is_empty() && !value.starts_with(['{', '[', '|', '>'])) {
            let kept = &line[..line.len() - bare.len()];
            return format!("{kept}{field}: {GONE}");
        }
    }
    match line.split_once("Bearer ") {
        Some((before, after)) => {
            let rest = after.split_once(' ').map_or("", |(_, rest)| rest);
            format!("{before}Bearer {GONE} {rest}").trim_end().to_owned()
        }
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str =
        "eyJhbGciOiJSUzI1NiIsImtpZCI6Ik1.eyJpc3MiOiJrdWJlcm5ldGVzL3NlcnZpY2V.c2lnbmF0dXJlMTIzNDU2Nzg5MEFC";
    const PASSWORD: &str = "correct-horse-battery";

    fn secret(data: &[(&str, &str)]) -> Value {
        let data: Value = data
            .iter()
            .map(|(key, text)| ((*key).to_owned(), json!(STANDARD.encode(text))))
            .collect();
        json!({"kind": "Secret", "metadata": {"name": "s"}, "data": data})
    }

    #[test]
    fn a_secret_is_its_keys_and_lengths() {
        let object = secret(&[("password", PASSWORD)]);
        let shown = Redactor::knowing([&object]).object(&object);
        assert!(shown.get("stringData").is_none(), "nothing is added");
        assert_eq!(
            shown["data"]["password"],
            format!("(redacted) {} bytes", PASSWORD.len())
        );
    }

    #[test]
    fn what_a_secret_holds_is_nowhere_else() {
        let kubeconfig = format!("users:\n- user:\n    token: {TOKEN}\n");
        let object = secret(&[
            ("password", PASSWORD),
            ("kubeconfig", &kubeconfig),
            ("release-version", "1.36.4-something"),
        ]);
        let redactor = Redactor::knowing([&object]);
        let pod = json!({"kind": "Pod", "metadata": {"managedFields": [1], "annotations": {APPLIED: PASSWORD, "a": PASSWORD}},
            "spec": {"containers": [{"args": [format!("--password={PASSWORD}")], "env": [
                {"name": "DB_PASSWORD", "value": "short"}, {"name": "MODE", "value": "fast"}]}]}});
        let shown = redactor.object(&pod).to_string();
        for secret in [PASSWORD, "short", &STANDARD.encode(PASSWORD), "managedFields", APPLIED] {
            assert!(!shown.contains(secret), "{secret}: {shown}");
        }
        assert!(shown.contains("fast"));
        let log = redactor.text(&format!("called with {TOKEN} and {PASSWORD}, version 1.36.4-something"));
        for part in TOKEN.split('.') {
            assert!(!log.contains(part), "{log}");
        }
        assert!(
            !log.contains(PASSWORD) && log.ends_with("version 1.36.4-something"),
            "{log}"
        );
    }

    #[test]
    fn secrets_that_nobody_keeps_in_a_secret_are_found_by_how_they_are_written() {
        let redactor = Redactor::default();
        let text = "a: 1\n-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\nb: 2\n";
        assert_eq!(redactor.text(text), "a: 1\n(redacted)\nb: 2\n");
        for (text, expected) in [
            ("    token: abc", "    token: (redacted)"),
            ("  client-key-data: LS0t", "  client-key-data: (redacted)"),
            ("\"password\": \"x\"", "\"password: (redacted)"),
            (
                "GET / Authorization: Bearer abc.def 200",
                "GET / Authorization: Bearer (redacted) 200",
            ),
            ("tokens: 3", "tokens: 3"),
            ("secret:", "secret:"),
        ] {
            assert_eq!(redactor.text(text), expected);
        }
    }

    #[test]
    fn certificates_and_names_stay() {
        let certificate =
            "-----BEGIN CERTIFICATE-----\nMIIBxTCCAWugAwIBAgIRAK9aZ1234567890abcdEFGH\n-----END CERTIFICATE-----\n";
        let object = secret(&[("tls.crt", certificate), ("name", "hosted-cluster-config-operator-1")]);
        let redactor = Redactor::knowing([&object]);
        assert_eq!(redactor.text(certificate), certificate);
    }
}
