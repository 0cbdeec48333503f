//! The simple JSON paths that name a field of a schema: `.spec.name`, `.labels['a.b']`.

use crate::node::{Additional, Arena, NodeId};

/// A path that leads to a schema.
#[derive(Debug)]
pub(crate) struct FieldPath {
    /// As upstream writes it in a cause, without a leading dot.
    pub(crate) path: String,
    /// The names on the way.
    pub(crate) names: Vec<String>,
    /// Where it leads.
    pub(crate) node: NodeId,
}

/// Follows a path from a node, or says why it cannot be followed.
pub(crate) fn parse(arena: &Arena, start: NodeId, text: &str, allows_brackets: bool) -> Result<FieldPath, String> {
    let mut found = FieldPath {
        path: String::new(),
        names: Vec::new(),
        node: start,
    };
    let mut tokens = tokens(text).into_iter();
    let end = || "unexpected end of JSON path".to_owned();
    while let Some(token) = tokens.next() {
        match token.as_str() {
            "[" if !allows_brackets => return Err("array notation is not allowed".to_owned()),
            "[" => {
                let quoted = tokens.next().ok_or_else(end)?;
                let name = quoted.strip_prefix('\'').and_then(|name| name.strip_suffix('\''));
                let name = name.ok_or_else(|| format!("expected single quoted string but got {quoted}"))?;
                found.append(arena, &unescape(name)?)?;
                match tokens.next().ok_or_else(end)?.as_str() {
                    "]" => {}
                    other => return Err(format!("expected ] but got {other}")),
                }
            }
            "." => {
                let name = tokens.next().ok_or_else(end)?;
                found.append(arena, &name)?;
            }
            other => return Err(format!("expected [ or . but got: {other}")),
        }
    }
    Ok(found)
}

impl FieldPath {
    fn append(&mut self, arena: &Arena, name: &str) -> Result<(), String> {
        let node = &arena[self.node];
        let nowhere = || "does not refer to a valid field".to_owned();
        if node.properties.is_empty() {
            let Additional::Schema(child) = node.additional else {
                return Err(nowhere());
            };
            self.path.extend(["[", name, "]"]);
            self.node = child;
        } else {
            self.node = *node.properties.get(name).ok_or_else(nowhere)?;
            if !self.path.is_empty() {
                self.path.push('.');
            }
            self.path.push_str(name);
        }
        self.names.push(name.to_owned());
        Ok(())
    }
}

/// Dots and brackets, quoted strings, and everything between them.
fn tokens(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut current = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\'' && current.is_empty() {
            current.push(character);
            let mut previous = character;
            for next in characters.by_ref() {
                current.push(next);
                if next == '\'' && previous != '\\' {
                    break;
                }
                previous = next;
            }
            found.push(std::mem::take(&mut current));
        } else if matches!(character, '.' | '[' | ']') {
            if !current.is_empty() {
                found.push(std::mem::take(&mut current));
            }
            found.push(character.to_string());
        } else {
            current.push(character);
        }
    }
    if !current.is_empty() {
        found.push(current);
    }
    found
}

fn unescape(text: &str) -> Result<String, String> {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            plain.push(character);
            continue;
        }
        plain.push(match characters.next() {
            Some('a') => '\u{7}',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('v') => '\u{b}',
            Some('\'') => '\'',
            Some('\\') | None => '\\',
            Some(other) => return Err(format!("invalid string literal: invalid escape char \\{other}")),
        });
    }
    Ok(plain)
}
