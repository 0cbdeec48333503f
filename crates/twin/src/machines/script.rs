//! The shell scripts that prepare the start of a kubelet: which files they leave. Pure; knows of the shell only what such
//! scripts use, and refuses the rest, so that nothing that a payload says is passed over in silence.

use std::collections::BTreeMap;

use super::obey::Files;

/// The only command whose output is used.
const HOST_NAME: &str = "cat /proc/sys/kernel/hostname";

/// Runs a script on a host of a name. The error is what the shell would say, or what is not understood.
pub(super) fn run(script: &str, hostname: &str, files: &mut Files) -> Result<(), String> {
    let mut variables = BTreeMap::new();
    let mut lines = script.lines();
    while let Some(line) = lines.next() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || line.starts_with("set ") {
            continue;
        }
        if line.starts_with("if ") && line.ends_with("then") {
            // What is asked for is on no plain host: a resolver on its loopback, or a file that nobody has written.
            if !lines.any(|line| line.trim() == "fi") {
                return Err("Syntax error: end of file unexpected (expecting \"fi\")".to_owned());
            }
        } else if let Some((path, end)) = here_document(line) {
            let mut text = String::new();
            loop {
                let line = lines
                    .next()
                    .ok_or_else(|| format!("here-document delimited by end-of-file (wanted {end:?})"))?;
                if line == end {
                    break;
                }
                text.push_str(&expand(line, hostname, &variables)?);
                text.push('\n');
            }
            files.insert(path.to_owned(), text.into_bytes());
        } else if let Some((name, value)) = line.split_once('=').filter(|(name, _)| is_name(name)) {
            let value = expand(value.trim_matches(['"', '\'']), hostname, &variables)?;
            variables.insert(name.to_owned(), value);
        } else {
            let word = line.split_whitespace().next().unwrap_or_default();
            return Err(format!("{word}: this host understands no such command"));
        }
    }
    Ok(())
}

/// The file that a line writes from the lines after it, and the line with which these end.
fn here_document(line: &str) -> Option<(&str, &str)> {
    let (path, end) = line.strip_prefix("cat >")?.split_once("<<")?;
    Some((path.trim(), end.trim()))
}

fn is_name(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    !text.is_empty() && text.chars().all(is_letter) && !text.starts_with(|letter: char| letter.is_ascii_digit())
}

/// Puts in variables and the name of the host. A variable that is not set is an error, as after `set -u`.
fn expand(text: &str, hostname: &str, variables: &BTreeMap<String, String>) -> Result<String, String> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        expanded.push_str(before);
        if let Some((command, after)) = after.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
            if command != HOST_NAME {
                return Err(format!("$({command}): this host understands no such command"));
            }
            expanded.push_str(hostname);
            rest = after;
            continue;
        }
        let braced = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let (name, after) = braced.unwrap_or_else(|| {
            let end = after.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            after.split_at(end.unwrap_or(after.len()))
        });
        let value = variables
            .get(name)
            .ok_or_else(|| format!("{name}: parameter not set"))?;
        expanded.push_str(value);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(script: &str) -> Result<String, String> {
        let mut files = Files::new();
        run(script, "host-1", &mut files)?;
        let files = files.into_iter();
        let told: Vec<String> = files
            .map(|(path, bytes)| format!("{path}: {}", String::from_utf8_lossy(&bytes)))
            .collect();
        Ok(told.concat())
    }

    #[test]
    fn scripts_write_files() {
        let script = "set -eu\n# why\nresolver=/etc/resolv.conf\nif grep -qs a $resolver; then\n  resolver=/other\nfi\n\
            cat >/etc/a.env <<EOF\nID=kubevirt://$(cat /proc/sys/kernel/hostname)/x\nB=${resolver} $resolver.\nEOF\n";
        let expected = "/etc/a.env: ID=kubevirt://host-1/x\nB=/etc/resolv.conf /etc/resolv.conf.\n";
        assert_eq!(written(script).as_deref(), Ok(expected));
        assert_eq!(written("").as_deref(), Ok(""));
    }

    #[test]
    fn what_is_not_understood_is_not_passed_over() {
        for (script, words) in [
            (
                "curl https://example.com\n",
                "curl: this host understands no such command",
            ),
            ("a=$(uname -r)\n", "$(uname -r): this host"),
            ("cat >/a <<EOF\n$b\nEOF\n", "b: parameter not set"),
            ("cat >/a <<EOF\nb\n", "here-document"),
            ("if true; then\n", "expecting \"fi\""),
        ] {
            let error = written(script).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
