//! What people are told when everything is ready: where it is and what to type next. Pure.

use std::{path::Path, time::Duration};

use crate::apiserver::quoted;

/// Where something is.
pub(super) struct Greeting<'a> {
    /// The address of the API server.
    pub(super) server: &'a str,
    /// The kubeconfig of its administrator.
    pub(super) kubeconfig: &'a Path,
    /// The directory in which everything is kept; none where it is forgotten.
    pub(super) data: Option<&'a Path>,
    /// How long the start took.
    pub(super) took: Duration,
}

impl Greeting<'_> {
    /// The lines.
    pub(super) fn text(&self) -> String {
        let path = |path: &Path| quoted(&path.to_string_lossy());
        let kept = self.data.map_or_else(
            || "Everything is forgotten at the end.".to_owned(),
            |data| format!("Everything is kept in {}.", path(data)),
        );
        format!(
            "Ready on {} in {} ms. {kept} Ctrl-C ends it.\n\n\
             In another terminal:\n  \
             export KUBECONFIG={}\n  \
             hyperplane create cluster kubevirt --name one --node-pool-replicas 2\n  \
             hyperplane status one\n  \
             kubectl get hostedclusters,nodepools -A",
            self.server,
            self.took.as_millis(),
            path(self.kubeconfig),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_lines_say_where_everything_is_and_what_to_type() {
        let mut greeting = Greeting {
            server: "https://127.0.0.1:6443",
            kubeconfig: Path::new("my data/kubeconfig"),
            data: Some(Path::new("my data")),
            took: Duration::from_millis(1234),
        };
        let text = greeting.text();
        assert!(
            text.starts_with("Ready on https://127.0.0.1:6443 in 1234 ms. Everything is kept in 'my data'."),
            "{text}"
        );
        assert!(text.contains("export KUBECONFIG='my data/kubeconfig'\n"), "{text}");
        greeting.data = None;
        assert!(greeting.text().contains("Everything is forgotten at the end."));
    }
}
