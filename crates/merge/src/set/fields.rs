//! `fieldsV1`: the JSON form of a set of paths, read and written.
//! Must not know managers or objects.

use serde_json::{Map, Value};

use super::{Node, Set};
use crate::element::{Element, ElementError, parse};

/// How deep a document may nest. Parsers of JSON stop at 128; paths that were built otherwise must not exhaust the stack.
const DEEPEST: usize = 256;

/// A document that was read.
#[derive(Debug)]
pub struct Decoded<'a> {
    /// Its paths.
    pub set: Set<'a>,
    /// Whether writing the set gives the document again.
    pub canonical: bool,
}

/// Reads a document; `None` when a key or a value in it cannot be read.
pub fn decode(document: &Value) -> Option<Decoded<'_>> {
    let mut reader = Reader { canonical: true };
    let (set, _) = reader.read(document, 0)?;
    let canonical = reader.canonical && document.is_object();
    Some(Decoded { set, canonical })
}

struct Reader {
    canonical: bool,
}

impl Reader {
    /// Reads the content of a key: the paths under it, and whether the key itself is a path.
    fn read<'a>(&mut self, content: &'a Value, depth: usize) -> Option<(Set<'a>, bool)> {
        let keys = match content {
            Value::Object(keys) if depth < DEEPEST => keys,
            Value::Null => {
                self.canonical = false;
                return Some((Set::default(), true));
            }
            _ => return None,
        };
        let mut set = Set {
            nodes: Vec::with_capacity(keys.len()),
        };
        let mut member = false;
        for (key, content) in keys {
            if key == "." {
                member = true;
            } else {
                self.read_key(key, content, depth, &mut set)?;
            }
        }
        self.canonical &= !(member && set.is_empty());
        let member = member || set.is_empty();
        Some((set, member))
    }

    fn read_key<'a>(&mut self, key: &'a str, content: &'a Value, depth: usize, set: &mut Set<'a>) -> Option<()> {
        let parsed = match parse(key) {
            Ok(parsed) => parsed,
            Err(ElementError::UnknownKind) => {
                self.canonical = false;
                return Some(());
            }
            Err(_) => return None,
        };
        self.canonical &= parsed.canonical;
        let (children, member) = self.read(content, depth + 1)?;
        self.place(
            set,
            Node {
                element: parsed.element,
                member,
                children,
            },
        );
        Some(())
    }

    /// Keys come sorted as texts, which is the order of elements for fields, not for numbers.
    fn place<'a>(&mut self, set: &mut Set<'a>, node: Node<'a>) {
        if set.nodes.last().is_none_or(|last| last.element < node.element) {
            set.nodes.push(node);
            return;
        }
        match set.nodes.binary_search_by(|other| other.element.cmp(&node.element)) {
            Ok(position) => {
                self.canonical = false;
                let same = &mut set.nodes[position];
                same.member |= node.member;
                if !node.children.is_empty() {
                    same.children = node.children;
                }
            }
            Err(position) => set.nodes.insert(position, node),
        }
    }
}

/// Writes a set as a document.
pub fn encode(set: &Set<'_>) -> Value {
    contents(set, false)
}

fn contents(set: &Set<'_>, member: bool) -> Value {
    let itself = (member && !set.is_empty()).then(|| (".".to_owned(), Value::Object(Map::new())));
    let nodes = set
        .nodes
        .iter()
        .map(|node| (key(&node.element), contents(&node.children, node.member)));
    Value::Object(itself.into_iter().chain(nodes).collect())
}

fn key(element: &Element<'_>) -> String {
    let mut text = match element {
        Element::Field(name) => String::with_capacity(name.len() + 2),
        _ => String::new(),
    };
    element.write(&mut text);
    text
}
