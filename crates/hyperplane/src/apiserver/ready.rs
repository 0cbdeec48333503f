//! The one line that says that the server is ready.

use std::{
    fmt::Write as _,
    io::{self, Write},
    path::Path,
    time::Duration,
};

use serde_json::json;

use super::arguments::Output;

/// What the line says.
pub(super) struct Ready<'a> {
    pub(super) server: &'a str,
    pub(super) kubeconfig: &'a Path,
    pub(super) took: Duration,
    /// What to ask kubectl for first.
    pub(super) look: &'a str,
}

impl Ready<'_> {
    /// Prints the line. Nobody may be listening.
    pub(super) fn print(&self, form: Output, output: &mut impl Write) -> io::Result<()> {
        let line = match form {
            Output::Text => self.text(),
            Output::Json => self.json(),
        };
        match writeln!(output, "{line}").and_then(|()| output.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }

    fn text(&self) -> String {
        format!(
            "Ready on {} in {} ms (kubectl --kubeconfig {} {})",
            self.server,
            self.took.as_millis(),
            quoted(&self.kubeconfig.to_string_lossy()),
            self.look
        )
    }

    fn json(&self) -> String {
        let line = json!({
            "server": self.server,
            "kubeconfig": self.kubeconfig.to_string_lossy(),
            "startMilliseconds": u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
        });
        line.to_string()
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+,:@".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let mut quoted = String::new();
    write!(quoted, "'{}'", word.replace('\'', r"'\''")).expect("writing to a string cannot fail");
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(kubeconfig: &str, form: Output) -> String {
        let ready = Ready {
            server: "https://127.0.0.1:6443",
            kubeconfig: Path::new(kubeconfig),
            took: Duration::from_micros(34_567),
            look: "get namespaces",
        };
        let mut output = Vec::new();
        ready.print(form, &mut output).unwrap();
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn one_line_says_how_to_go_on() {
        assert_eq!(
            printed("/tmp/a/kubeconfig", Output::Text),
            "Ready on https://127.0.0.1:6443 in 34 ms (kubectl --kubeconfig /tmp/a/kubeconfig get namespaces)\n"
        );
        let odd = printed("/tmp/it's here", Output::Text);
        assert!(odd.contains(r"--kubeconfig '/tmp/it'\''s here' get"), "{odd}");
        assert_eq!(
            printed("/tmp/a", Output::Json),
            "{\"kubeconfig\":\"/tmp/a\",\"server\":\"https://127.0.0.1:6443\",\"startMilliseconds\":34}\n"
        );
    }
}
