//! Sets of field paths as tries, and their algebra.
//! Knows what a path is, not what it points at: no schema, no object, no manager.

mod fields;
#[cfg(test)]
mod tests;

use crate::element::Element;

pub use fields::{decode, encode};

/// A set of paths. Nodes are sorted by element, and each is a member or leads to one.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Set<'a> {
    /// The first steps of the paths.
    pub nodes: Vec<Node<'a>>,
}

/// A step of a path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Node<'a> {
    /// The step.
    pub element: Element<'a>,
    /// Whether the path that ends here is in the set.
    pub member: bool,
    /// The rest of the paths that go on from here.
    pub children: Set<'a>,
}

impl<'a> Set<'a> {
    /// Whether no path is in the set.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The node of an element, if a path begins with it.
    pub fn get(&self, element: &Element<'_>) -> Option<&Node<'a>> {
        self.position(element).map(|position| &self.nodes[position])
    }

    fn position(&self, element: &Element<'_>) -> Option<usize> {
        self.nodes.binary_search_by(|node| node.element.cmp(element)).ok()
    }

    /// Adds a node whose element is greater than all before it; one that holds no path is left out.
    pub fn push(&mut self, element: Element<'a>, member: bool, children: Set<'a>) {
        if member || !children.is_empty() {
            debug_assert!(
                self.nodes.last().is_none_or(|last| last.element < element),
                "nodes are pushed in order"
            );
            self.nodes.push(Node {
                element,
                member,
                children,
            });
        }
    }

    /// Adds the path of these fields.
    pub fn insert_fields(&mut self, path: &[&'a str]) {
        let Some((first, rest)) = path.split_first() else {
            return;
        };
        let element = Element::Field(first);
        let position = self
            .nodes
            .binary_search_by(|node| node.element.cmp(&element))
            .unwrap_or_else(|position| {
                self.nodes.insert(
                    position,
                    Node {
                        element,
                        member: false,
                        children: Set::default(),
                    },
                );
                position
            });
        let node = &mut self.nodes[position];
        node.member |= rest.is_empty();
        node.children.insert_fields(rest);
    }

    /// Whether the path of these fields is in the set.
    pub fn has_fields(&self, path: &[&str]) -> bool {
        let Some((first, rest)) = path.split_first() else {
            return false;
        };
        self.get(&Element::Field(first)).is_some_and(|node| {
            if rest.is_empty() {
                node.member
            } else {
                node.children.has_fields(rest)
            }
        })
    }

    /// All paths of both sets.
    pub fn union(self, other: Set<'a>) -> Set<'a> {
        if self.is_empty() {
            return other;
        }
        if other.is_empty() {
            return self;
        }
        let mut nodes = Vec::with_capacity(self.nodes.len().max(other.nodes.len()));
        let mut left = self.nodes.into_iter().peekable();
        for right in other.nodes {
            while let Some(node) = left.next_if(|node| node.element < right.element) {
                nodes.push(node);
            }
            nodes.push(match left.next_if(|node| node.element == right.element) {
                Some(node) => node.union(right),
                None => right,
            });
        }
        nodes.extend(left);
        Set { nodes }
    }

    /// All paths of all sets, joined pair by pair so that many small sets take no quadratic time.
    pub fn union_all(mut sets: Vec<Set<'a>>) -> Set<'a> {
        while sets.len() > 1 {
            let mut rest = sets.into_iter();
            let mut joined = Vec::with_capacity(rest.len().div_ceil(2));
            while let Some(first) = rest.next() {
                joined.push(first.union(rest.next().unwrap_or_default()));
            }
            sets = joined;
        }
        sets.pop().unwrap_or_default()
    }

    /// The paths that are in both sets, with this set's elements.
    pub fn intersection(&self, other: &Set<'_>) -> Set<'a> {
        if other.nodes.len() < self.nodes.len() {
            let pairs = other
                .nodes
                .iter()
                .filter_map(|theirs| self.get(&theirs.element).map(|ours| (ours, theirs)));
            Set::of_pairs(pairs)
        } else {
            let pairs = self
                .nodes
                .iter()
                .filter_map(|ours| other.get(&ours.element).map(|theirs| (ours, theirs)));
            Set::of_pairs(pairs)
        }
    }

    fn of_pairs<'s, 'o: 's>(pairs: impl Iterator<Item = (&'s Node<'a>, &'s Node<'o>)>) -> Set<'a>
    where
        'a: 's,
    {
        let mut set = Set::default();
        for (ours, theirs) in pairs {
            let children = ours.children.intersection(&theirs.children);
            set.push(ours.element.clone(), ours.member && theirs.member, children);
        }
        set
    }

    /// Whether every path of this set is in the other.
    pub fn is_subset(&self, other: &Set<'_>) -> bool {
        self.nodes.iter().all(|ours| {
            other
                .get(&ours.element)
                .is_some_and(|theirs| (!ours.member || theirs.member) && ours.children.is_subset(&theirs.children))
        })
    }

    /// Takes out every path of the other set, and says whether there was one. What lies under such a path stays.
    pub fn subtract(&mut self, other: &Set<'_>) -> bool {
        self.subtract_with(other, &mut |ours, theirs| {
            let was_member = ours.member && theirs.member;
            ours.member &= !theirs.member;
            ours.children.subtract(&theirs.children) || was_member
        })
    }

    /// Takes out every path of the other set with all that lies under it, and says whether there was one.
    pub fn subtract_trees(&mut self, other: &Set<'_>) -> bool {
        self.subtract_with(other, &mut |ours, theirs| {
            if theirs.member {
                ours.member = false;
                ours.children = Set::default();
                return true;
            }
            ours.children.subtract_trees(&theirs.children)
        })
    }

    /// Walks the shorter list and searches the longer one, so that thousands of managers with small sets against one
    /// large change stay cheap.
    fn subtract_with(&mut self, other: &Set<'_>, reduce: &mut dyn FnMut(&mut Node<'a>, &Node<'_>) -> bool) -> bool {
        let mut changed = false;
        if other.nodes.len() < self.nodes.len() {
            for theirs in &other.nodes {
                if let Some(position) = self.position(&theirs.element) {
                    changed |= reduce(&mut self.nodes[position], theirs);
                }
            }
        } else {
            for ours in &mut self.nodes {
                if let Some(theirs) = other.get(&ours.element) {
                    changed |= reduce(ours, theirs);
                }
            }
        }
        if changed {
            self.nodes.retain(|node| node.member || !node.children.is_empty());
        }
        changed
    }

    /// Every path as messages show it, the paths that end at a level before those that go on from it.
    pub fn describe(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.describe_under("", &mut paths);
        paths
    }

    fn describe_under(&self, prefix: &str, paths: &mut Vec<String>) {
        for node in self.nodes.iter().filter(|node| node.member) {
            paths.push(format!("{prefix}{}", node.element.describe()));
        }
        for node in self.nodes.iter().filter(|node| !node.children.is_empty()) {
            node.children
                .describe_under(&format!("{prefix}{}", node.element.describe()), paths);
        }
    }
}

impl<'a> Node<'a> {
    fn union(self, other: Node<'a>) -> Node<'a> {
        Node {
            element: self.element,
            member: self.member || other.member,
            children: self.children.union(other.children),
        }
    }
}
