//! Names of machines: each server draws the identity of a set of machines, and with it the names of all machines that come
//! from it. Here they are told by their sets, so that machines of two servers can be compared.

use serde_json::Value;

/// Names that were drawn, each with what stands for it.
pub struct Drawn(Vec<(String, String)>);

impl Drawn {
    /// The names of machines in these objects, each by its kind.
    pub fn of<'a>(objects: impl Iterator<Item = (&'a str, &'a Value)>) -> Self {
        let machines = objects.filter(|(kind, _)| *kind == "Machine");
        let names = machines.filter_map(|(_, machine)| {
            let name = machine["metadata"]["name"].as_str()?;
            let set = machine["metadata"]["labels"]["cluster.x-k8s.io/set-name"].as_str()?;
            Some((name.to_owned(), format!("<machine of {set}>")))
        });
        Self(names.collect())
    }

    /// A text without them.
    pub fn hide(&self, text: &str) -> String {
        let replace = |text: String, (name, word): &(String, String)| text.replace(name, word);
        self.0.iter().fold(text.to_owned(), replace)
    }

    /// A value without them, be they in keys or in texts.
    pub fn hide_in(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.hide(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.hide_in(item)).collect(),
            Value::Object(fields) => {
                let fields = fields.into_iter();
                let fields = fields.map(|(key, value)| (self.hide(&key), self.hide_in(value)));
                Value::Object(fields.collect())
            }
            other => other,
        }
    }
}
