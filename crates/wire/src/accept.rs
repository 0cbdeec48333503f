//! `Accept` headers as Go's library reads them: clauses, the most wanted first. Which of them can be met is decided by
//! `negotiate`.

use crate::negotiate::Encoding;

/// More clauses than any client sends; what follows is not read, so that sorting stays cheap.
const MAXIMUM_CLAUSES: usize = 32;

/// One clause of an `Accept` header.
#[derive(Debug)]
pub(crate) struct Clause<'a> {
    kind: &'a str,
    subkind: &'a str,
    quality: f32,
    parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> Clause<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.split(';');
        let media_type = parts.next()?;
        let (kind, subkind) = match media_type.split_once('/') {
            Some((_, subkind)) if subkind.is_empty() || subkind.contains('/') => return None,
            Some((kind, subkind)) => (trimmed(kind), trimmed(subkind)),
            None if trimmed(media_type) == "*" => ("*", "*"),
            None => return None,
        };
        let mut clause = Self {
            kind,
            subkind,
            quality: 1.0,
            parameters: Vec::new(),
        };
        for (name, value) in parts.filter_map(|part| part.split_once('=')) {
            match trimmed(name) {
                _ if value.is_empty() || value.contains('=') => {}
                // What is no number counts as 0, the worst.
                "q" => clause.quality = value.parse().unwrap_or_default(),
                name => clause.parameters.push((name, trimmed(value))),
            }
        }
        Some(clause)
    }

    /// The encoding that the clause asks for, the first that we write if it does not care.
    pub(crate) fn encoding(&self) -> Option<Encoding> {
        match (self.kind, self.subkind) {
            ("application", "json" | "*") | ("*", "*") => Some(Encoding::Json { pretty: false }),
            ("application", "yaml") => Some(Encoding::Yaml),
            _ => None,
        }
    }

    /// Whether the clause asks for nothing that we do not have besides its format.
    pub(crate) fn is_allowed(&self) -> bool {
        let stream = self
            .parameter("stream")
            .is_none_or(|stream| matches!(stream, "" | "watch"));
        let version = self.parameter("sv").is_none_or(|version| matches!(version, "" | "v1"));
        stream && version
    }

    /// The kind, group and version that the answer is to be converted to.
    pub(crate) fn target(&self) -> [Option<&'a str>; 3] {
        ["as", "g", "v"].map(|name| self.parameter(name))
    }

    /// The value of a parameter, the last if it is given twice.
    pub(crate) fn parameter(&self, wanted: &str) -> Option<&'a str> {
        self.parameters
            .iter()
            .rev()
            .find(|(name, _)| *name == wanted)
            .map(|(_, value)| *value)
    }

    /// Whether the clause goes before another: better quality, else more specific. This is no order in the
    /// mathematical sense, which is why the sort below is spelled out: the answers depend on its steps.
    fn is_before(&self, other: &Self) -> bool {
        self.quality > other.quality
            || (self.kind != "*" && other.kind == "*")
            || (self.subkind != "*" && other.subkind == "*")
    }
}

/// The clauses of a header, the most wanted first, sorted by insertion as Go sorts short lists.
pub(crate) fn clauses(header: &str) -> Vec<Clause<'_>> {
    let mut sorted: Vec<Clause<'_>> = Vec::new();
    for clause in header
        .split(',')
        .take(MAXIMUM_CLAUSES)
        .filter_map(|text| Clause::parse(trimmed(text)))
    {
        sorted.push(clause);
        let mut at = sorted.len() - 1;
        while at > 0 && sorted[at].is_before(&sorted[at - 1]) {
            sorted.swap(at, at - 1);
            at -= 1;
        }
    }
    sorted
}

/// The text without spaces around it; tabs stay, as in Go's library.
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_matches(' ')
}
