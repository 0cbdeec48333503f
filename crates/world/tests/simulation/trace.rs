//! The audit log of the management cluster: who wrote what, in which order, and what came of it.

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use serde_json::Value;

/// Everything that was written. Cheap to clone; clones share it.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<Line>>>);

/// One request that changes something.
#[derive(Clone, PartialEq, Eq)]
pub struct Line {
    /// When it came, in RFC 3339 with microseconds: the order of texts is that of time.
    pub received: String,
    pub verb: String,
    pub uri: String,
    pub user: String,
    pub code: u64,
    pub namespace: String,
    pub resource: String,
    pub subresource: String,
    pub name: String,
}

impl Log {
    pub fn note(&self, line: &str) {
        self.0.lock().unwrap().push(Line::read(line));
    }

    pub fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    pub fn since(&self, mark: usize) -> Vec<Line> {
        self.0.lock().unwrap()[mark..].to_vec()
    }
}

impl Line {
    fn read(line: &str) -> Self {
        let value: Value = serde_json::from_str(line).unwrap();
        let text = |path: &str| {
            value
                .pointer(path)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        Self {
            received: text("/requestReceivedTimestamp"),
            verb: text("/verb"),
            uri: text("/requestURI"),
            user: text("/user/username"),
            code: value
                .pointer("/responseStatus/code")
                .and_then(Value::as_u64)
                .unwrap_or_default(),
            namespace: text("/objectRef/namespace"),
            resource: text("/objectRef/resource"),
            subresource: text("/objectRef/subresource"),
            name: text("/objectRef/name"),
        }
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            received,
            verb,
            uri,
            user,
            code,
            ..
        } = self;
        write!(formatter, "{received} {verb} {uri} by {user}: {code}")
    }
}
