//! YAML becomes JSON first: the readers of types know one format, and the reader of YAML is compiled for one type.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use thiserror::Error;

/// Why a text in YAML could not be read as a type.
#[derive(Debug, Error)]
pub enum YamlError {
    /// The text is not YAML. What is said of it quotes no line: it may be secret.
    #[error("{}", .0.without_snippet())]
    Syntax(#[from] Box<serde_saphyr::Error>),
    /// The document does not fit the type.
    #[error(transparent)]
    Form(#[from] serde_json::Error),
}

impl YamlError {
    /// The line of the mistake, counted from one, where the reader of YAML found it.
    pub fn line(&self) -> Option<u64> {
        match self {
            Self::Syntax(error) => error.without_snippet().location().map(|location| location.line()),
            Self::Form(_) => None,
        }
    }
}

/// The only document of a text.
pub fn yaml_value(text: &str) -> Result<Value, YamlError> {
    Ok(serde_saphyr::from_str(text).map_err(Box::new)?)
}

/// All documents of a text.
pub fn yaml_values(text: &str) -> Result<Vec<Value>, YamlError> {
    Ok(serde_saphyr::from_multiple(text).map_err(Box::new)?)
}

/// The only document of a text, as a type.
pub fn read_yaml<T: DeserializeOwned>(text: &str) -> Result<T, YamlError> {
    Ok(crate::read(yaml_value(text)?)?)
}

/// A document as text.
pub fn yaml_text(document: &impl Serialize) -> Result<String, YamlError> {
    let value = serde_json::to_value(document)?;
    Ok(serde_saphyr::to_string(&value).map_err(<serde_json::Error as serde::ser::Error>::custom)?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn documents_are_read_and_written() {
        let read: BTreeMap<String, Vec<u8>> = read_yaml("a: [1, 2]\nb: []\n").unwrap();
        assert_eq!(read["a"], [1, 2]);
        assert_eq!(
            read_yaml::<BTreeMap<String, Vec<u8>>>(&yaml_text(&read).unwrap()).unwrap(),
            read
        );
        assert_eq!(yaml_values("---\na: 1\n---\nb: 2\n").unwrap().len(), 2);
    }

    /// Files come from tenants too: nesting and references that grow are refused before they cost a stack or a heap.
    #[test]
    fn hostile_documents_end_in_an_error() {
        let lines: Vec<String> = (0..2_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
        let indented = lines.concat();
        let growing = (1..40).map(|level| format!("a{level}: &a{level} [*a{0}, *a{0}]\n", level - 1));
        let documents: [(&str, String); 5] = [
            ("lists in lists", "[".repeat(100_000)),
            (
                "closed lists in lists",
                format!("{}{}", "[".repeat(5_000), "]".repeat(5_000)),
            ),
            ("maps in maps", "{a: ".repeat(100_000)),
            ("maps by indentation", indented),
            (
                "references to references",
                std::iter::once("a0: &a0 [1]\n".to_owned()).chain(growing).collect(),
            ),
        ];
        for (title, text) in documents {
            assert!(yaml_value(&text).is_err(), "{title}");
            assert!(yaml_values(&text).is_err(), "{title}, among documents");
        }
    }

    #[test]
    fn mistakes_say_their_line_and_quote_nothing() {
        let error = yaml_value("a: 1\nhunter2: [\n").unwrap_err();
        assert!(error.line().is_some_and(|line| line >= 2), "{error}");
        assert!(!error.to_string().contains("hunter2"), "{error}");
        let error = read_yaml::<BTreeMap<String, u8>>("a: many\n").unwrap_err();
        assert_eq!(error.line(), None);
        assert!(error.to_string().contains("invalid type"), "{error}");
    }
}
