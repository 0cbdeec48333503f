//! The compiled form of a schema: nodes in one arena, so that recursive definitions need no pointers and clones are cheap.

use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};

use regex::Regex;
use serde_json::Value;

use crate::formats::Format;
use crate::rules::Rule;

/// A node of an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeId(u32);

/// All nodes of a schema.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    nodes: Vec<Node>,
    meta: Option<Meta>,
}

/// The nodes of what every resource has and no schema needs to list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meta {
    /// A string.
    pub(crate) string: NodeId,
    /// An object with a name and a generateName.
    pub(crate) metadata: NodeId,
}

impl Arena {
    /// Adds the nodes of [`Self::meta`].
    pub(crate) fn add_meta(&mut self) {
        let string = self.push(Node {
            kind: Type::String,
            ..Node::default()
        });
        let names = ["name", "generateName"].map(|name| (name.to_owned(), string));
        let metadata = self.push(Node {
            kind: Type::Object,
            properties: BTreeMap::from(names),
            ..Node::default()
        });
        self.meta = Some(Meta { string, metadata });
    }

    /// The nodes of what every resource has.
    pub(crate) fn meta(&self) -> Meta {
        self.meta.expect("added before rules are compiled")
    }

    pub(crate) fn push(&mut self, node: Node) -> NodeId {
        let id = u32::try_from(self.nodes.len()).expect("a schema fits into a request of a few megabytes");
        self.nodes.push(node);
        NodeId(id)
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        let count = u32::try_from(self.nodes.len()).expect("no more nodes than ids were made");
        (0..count).map(NodeId)
    }
}

impl Index<NodeId> for Arena {
    type Output = Node;

    fn index(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }
}

impl IndexMut<NodeId> for Arena {
    fn index_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }
}

/// What JSON type a value must have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Type {
    /// Nothing is said.
    #[default]
    Any,
    /// A JSON object.
    Object,
    /// A list.
    Array,
    /// A string.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// `x-kubernetes-int-or-string`.
    IntegerOrString,
}

impl Type {
    pub(crate) fn parse(name: &str) -> Self {
        match name {
            "object" => Self::Object,
            "array" => Self::Array,
            "string" => Self::String,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            _ => Self::Any,
        }
    }

    /// The name as messages write it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Any => "",
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::IntegerOrString => "integer,string",
        }
    }
}

/// What is said about fields that are not listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Additional {
    /// Nothing: they are unknown.
    #[default]
    Unsaid,
    /// `additionalProperties: true`: they stay, and so do they below.
    Allowed,
    /// `additionalProperties: false`.
    Refused,
    /// Each of them follows a schema.
    Schema(NodeId),
}

/// How the entries of a list are told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ListType {
    /// The list is one value.
    #[default]
    Atomic,
    /// Each entry occurs once.
    Set,
    /// Entries are known by these fields.
    Map(Vec<String>),
}

/// What can be found at a node or anywhere below it; walks skip what has nothing for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is one question of one walk")]
pub(crate) struct Contents {
    /// A default.
    pub(crate) defaults: bool,
    /// A CEL rule.
    pub(crate) rules: bool,
    /// A list that is a set or a map.
    pub(crate) lists: bool,
    /// An embedded resource.
    pub(crate) embedded: bool,
}

impl Contents {
    pub(crate) const fn union(self, other: Self) -> Self {
        Self {
            defaults: self.defaults || other.defaults,
            rules: self.rules || other.rules,
            lists: self.lists || other.lists,
            embedded: self.embedded || other.embedded,
        }
    }
}

/// One level of a schema.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "they are the flags of the schema language")]
pub(crate) struct Node {
    pub(crate) kind: Type,
    pub(crate) nullable: bool,
    pub(crate) preserve_unknown: bool,
    pub(crate) embedded: bool,
    pub(crate) default: Option<Value>,
    pub(crate) properties: BTreeMap<String, NodeId>,
    /// The properties that have a default, so that defaulting does not look at the others.
    pub(crate) defaulted: Vec<(String, NodeId)>,
    pub(crate) additional: Additional,
    pub(crate) items: Option<NodeId>,
    pub(crate) list: ListType,
    pub(crate) checks: Checks,
    pub(crate) rules: Vec<Rule>,
    pub(crate) contents: Contents,
    /// How Go names the type, for built-in kinds.
    pub(crate) go: Option<GoType>,
    /// A type with a decoder of its own, for built-in kinds.
    pub(crate) special: Special,
}

impl Node {
    /// The schema of a field, listed or not.
    pub(crate) fn field(&self, name: &str) -> Option<NodeId> {
        self.properties.get(name).copied().or(match self.additional {
            Additional::Schema(id) => Some(id),
            _ => None,
        })
    }

    /// Every node directly below that describes a part of the value.
    pub(crate) fn children(&self) -> impl Iterator<Item = NodeId> + '_ {
        let additional = match self.additional {
            Additional::Schema(id) => Some(id),
            _ => None,
        };
        self.properties.values().copied().chain(additional).chain(self.items)
    }
}

/// The rules on a value that do not shape it.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    pub(crate) format: Option<Format>,
    pub(crate) format_name: String,
    pub(crate) maximum: Option<f64>,
    pub(crate) exclusive_maximum: bool,
    pub(crate) minimum: Option<f64>,
    pub(crate) exclusive_minimum: bool,
    pub(crate) multiple_of: Option<f64>,
    pub(crate) max_length: Option<i64>,
    pub(crate) min_length: Option<i64>,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) max_items: Option<i64>,
    pub(crate) min_items: Option<i64>,
    pub(crate) unique_items: bool,
    pub(crate) max_properties: Option<i64>,
    pub(crate) min_properties: Option<i64>,
    pub(crate) required: Vec<String>,
    pub(crate) enumeration: Vec<Value>,
    pub(crate) all_of: Vec<NodeId>,
    pub(crate) any_of: Vec<NodeId>,
    pub(crate) one_of: Vec<NodeId>,
    pub(crate) not: Option<NodeId>,
}

impl Checks {
    /// Whether there is a schema beside this one that judges the same value.
    pub(crate) fn has_alternatives(&self) -> bool {
        !self.all_of.is_empty() || !self.any_of.is_empty() || !self.one_of.is_empty() || self.not.is_some()
    }
}

/// A regular expression and the text that it was made from.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) text: String,
    pub(crate) regex: Result<Regex, String>,
}

/// A type of a built-in kind as Go's decoder names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GoType {
    /// The definition, without its package: `PodSpec`.
    pub(crate) name: String,
    /// The package as Go prints it: `v1`.
    pub(crate) package: String,
}

/// Types of built-in kinds that Go decodes by hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Special {
    /// No such type.
    #[default]
    None,
    /// `100m`, `1Gi` or a number.
    Quantity,
    /// A moment to the second.
    Time,
    /// A moment to the microsecond.
    MicroTime,
    /// A number or a string.
    IntOrString,
    /// Base64.
    Bytes,
}

impl Special {
    /// By the name of the definition.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "Quantity" => Self::Quantity,
            "Time" => Self::Time,
            "MicroTime" => Self::MicroTime,
            "IntOrString" => Self::IntOrString,
            _ => return None,
        })
    }
}
