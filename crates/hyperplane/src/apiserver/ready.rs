//! What is said when a server is ready: a line for programs, and to people whatever helps them on.

use std::{
    fmt::Write as _,
    io::{self, Write},
    path::PathBuf,
    time::Duration,
};

use serde_json::json;

use super::arguments::Output;

/// What people are told when a server is ready; nothing where that is not worth a word.
pub(crate) type Greeting<'a> = &'a dyn Fn(&Ready) -> Option<String>;

/// A server that is ready.
pub(crate) struct Ready {
    /// Where it serves.
    pub(crate) server: String,
    /// Where the administrator's kubeconfig is.
    pub(crate) kubeconfig: PathBuf,
    /// How long the start took.
    pub(crate) took: Duration,
}

impl Ready {
    /// Says so. Nobody may be listening.
    pub(super) fn print(&self, form: Output, greeting: Greeting<'_>, output: &mut impl Write) -> io::Result<()> {
        let text = match form {
            Output::Text => greeting(self),
            Output::Json => Some(self.json()),
        };
        let Some(text) = text else {
            return Ok(());
        };
        match writeln!(output, "{text}").and_then(|()| output.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }

    /// One line with what to ask kubectl for first.
    pub(super) fn line(&self, look: &str) -> String {
        format!(
            "Ready on {} in {} ms (kubectl --kubeconfig {} {look})",
            self.server,
            self.took.as_millis(),
            quoted(&self.kubeconfig.to_string_lossy()),
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
pub(crate) fn quoted(word: &str) -> String {
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
            server: "https://127.0.0.1:6443".to_owned(),
            kubeconfig: kubeconfig.into(),
            took: Duration::from_micros(34_567),
        };
        let mut output = Vec::new();
        let greeting = |ready: &Ready| Some(ready.line("get namespaces"));
        ready.print(form, &greeting, &mut output).unwrap();
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
