//! The command line of a systemd unit: its own, or that of its drop-ins, with the environment put in. Pure; knows of
//! systemd only what the units of kubelets use.

use std::collections::BTreeMap;

/// Bytes of a line that are too many for systemd.
const LINE_BYTES: usize = 2048;

/// Reads a file of the host.
pub(super) type Read<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// The words that a unit runs, given its text and those of its drop-ins in order. The error is what systemd would say.
pub(super) fn command(texts: &[&str], hostname: &str, read: &Read<'_>) -> Result<Vec<String>, String> {
    let mut service = Service::default();
    for text in texts {
        service.take(text, read)?;
    }
    let Some(line) = service.command else {
        return Err("Service has no ExecStart= setting, refusing".to_owned());
    };
    let line = line.trim_start_matches(['-', '@', ':', '+', '!']);
    let mut command = Vec::new();
    for word in words(line) {
        match word.strip_prefix('$').filter(|name| is_name(name)) {
            // A variable that stands alone is as many words as it has.
            Some(name) => command.extend(service.environment.get(name).iter().flat_map(|value| words(value))),
            None => command.push(expand(&word, hostname, &service.environment)),
        }
    }
    Ok(command)
}

/// The value of a variable that a unit sets.
pub(super) fn variable(texts: &[&str], name: &str, read: &Read<'_>) -> Option<String> {
    let mut service = Service::default();
    for text in texts {
        service.take(text, read).ok()?;
    }
    service.environment.remove(name)
}

/// The values of a setting of a unit, in order. An empty one takes back those before it.
pub(super) fn values(texts: &[&str], section: &str, key: &str) -> Vec<String> {
    let mut values = Vec::new();
    for text in texts {
        let mut here = String::new();
        for line in lines(text) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                name.clone_into(&mut here);
            } else if let Some((_, value)) = line
                .split_once('=')
                .filter(|(name, _)| here == section && name.trim() == key)
            {
                match value.trim() {
                    "" => values.clear(),
                    value => values.push(value.to_owned()),
                }
            }
        }
    }
    values
}

#[derive(Default)]
struct Service {
    command: Option<String>,
    environment: BTreeMap<String, String>,
}

impl Service {
    fn take(&mut self, text: &str, read: &Read<'_>) -> Result<(), String> {
        if text.lines().any(|line| line.len() >= LINE_BYTES) {
            return Err(format!("line too long (max {LINE_BYTES} bytes)"));
        }
        let mut section = String::new();
        for line in lines(text) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                name.clone_into(&mut section);
                continue;
            }
            let Some((key, value)) = line.split_once('=').filter(|_| section == "Service") else {
                continue;
            };
            let value = value.trim();
            match key.trim() {
                // An empty one takes back those before it.
                "ExecStart" => self.command = Some(value.to_owned()).filter(|value| !value.is_empty()),
                "Environment" => {
                    let words = words(value);
                    let pairs = words.iter().filter_map(|word| word.split_once('='));
                    let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
                    self.environment.extend(pairs);
                }
                "EnvironmentFile" => {
                    let path = value.trim_start_matches('-');
                    match read(path) {
                        Some(text) => self.environment.extend(text.lines().filter_map(variable_of)),
                        None if value.starts_with('-') => {}
                        None => return Err(format!("Failed to load environment files: {path}: No such file")),
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The variable that a line of a file sets. Between double quotes a backslash keeps what would end or begin something.
fn variable_of(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let (name, value) = line.split_once('=').filter(|_| !line.starts_with(['#', ';']))?;
    let value = value.trim();
    let quoted = |quote: char| value.strip_prefix(quote).and_then(|inner| inner.strip_suffix(quote));
    let value = match (quoted('"'), quoted('\'')) {
        (Some(inner), _) => unescaped(inner),
        (None, Some(inner)) => inner.to_owned(),
        (None, None) => value.to_owned(),
    };
    Some((name.trim().to_owned(), value))
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let escaped = letters.next_if(|next| letter == '\\' && matches!(next, '"' | '\\' | '`' | '$'));
        plain.push(escaped.unwrap_or(letter));
    }
    plain
}

/// Lines that mean something, those that go on put together.
fn lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for part in text.lines() {
        let part = part.trim();
        if part.starts_with(['#', ';']) {
            continue;
        }
        if let Some(part) = part.strip_suffix('\\') {
            line.push_str(part);
            line.push(' ');
            continue;
        }
        line.push_str(part);
        lines.push(std::mem::take(&mut line));
    }
    lines.push(line);
    lines.retain(|line| !line.is_empty());
    lines
}

/// The words of a line; quotes keep spaces.
pub(super) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in line.chars() {
        match quote {
            Some(open) if open == letter => quote = None,
            None if matches!(letter, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter.is_whitespace() => words.extend(word.take()),
            Some(_) | None => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Puts in `${NAME}`, which is nothing if it is not known, `%H`, the host's name, and `%%`, a percent sign.
fn expand(word: &str, hostname: &str, environment: &BTreeMap<String, String>) -> String {
    let mut expanded = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(at) = rest.find(['$', '%']) {
        expanded.push_str(&rest[..at]);
        rest = &rest[at..];
        let name = rest.strip_prefix("${").and_then(|inner| inner.split_once('}'));
        if let Some((name, after)) = name {
            expanded.push_str(environment.get(name).map(String::as_str).unwrap_or_default());
            rest = after;
        } else if let Some(after) = rest.strip_prefix("%H") {
            expanded.push_str(hostname);
            rest = after;
        } else if let Some(after) = rest.strip_prefix("%%") {
            expanded.push('%');
            rest = after;
        } else {
            expanded.push_str(&rest[..1]);
            rest = &rest[1..];
        }
    }
    expanded.push_str(rest);
    expanded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(texts: &[&str]) -> Result<String, String> {
        let read = |path: &str| {
            (path == "/etc/there")
                .then(|| "# a comment\nEXTRA=--v=2 --x\nNAME=\"n\"\nURL=\"http://a:\\$b\\\"%20@c\"\n".to_owned())
        };
        command(texts, "host-1", &read).map(|words| words.join("|"))
    }

    #[test]
    fn command_lines_are_read() {
        let cases: [(&[&str], &str); 7] = [
            (
                &["[Unit]\nExecStart=no\n[Service]\nExecStart=/usr/bin/kubelet \\\n  # why\n  --a=1 \\\n  --b 2\n"],
                "/usr/bin/kubelet|--a=1|--b|2",
            ),
            (
                &[
                    "[Service]\nExecStart=kubelet --a\n",
                    "[Service]\nExecStart=\nExecStart=kubelet --b\n",
                ],
                "kubelet|--b",
            ),
            (&["[Service]\nExecStart=-kubelet '--a=x y' \"\"\n"], "kubelet|--a=x y|"),
            (
                &["[Service]\nEnvironment=\"A=1 2\" B=3\nExecStart=kubelet $A --b=${B}${C} --name=%H 100%%\n"],
                "kubelet|1|2|--b=3|--name=host-1|100%",
            ),
            (
                &["[Service]\nEnvironmentFile=/etc/there\nExecStart=kubelet $EXTRA --n=${NAME} --u=${URL}\n"],
                "kubelet|--v=2|--x|--n=n|--u=http://a:$b\"%20@c",
            ),
            (
                &["[Service]\nEnvironmentFile=-/etc/absent\nExecStart=kubelet $NOTHING a$b\n"],
                "kubelet|a$b",
            ),
            (
                &["[Service]\nExecStart=kubelet\n", "[Service]\nEnvironment=A=1\n"],
                "kubelet",
            ),
        ];
        for (texts, expected) in cases {
            assert_eq!(run(texts).as_deref(), Ok(expected), "{texts:?}");
        }
    }

    #[test]
    fn settings_add_up_until_one_is_empty() {
        let texts = [
            "[Unit]\nRequires=a.service b.service\n[Service]\nExecStartPre=/bin/a\nExecStartPre=-/bin/b \\\n  --c\n",
            "[Unit]\nRequires=\nRequires=c.service\nExecStartPre=/bin/no\n",
        ];
        assert_eq!(values(&texts, "Unit", "Requires"), ["c.service"]);
        assert_eq!(values(&texts, "Service", "ExecStartPre"), ["/bin/a", "-/bin/b  --c"]);
        assert_eq!(values(&texts, "Install", "RequiredBy"), [""; 0]);
    }

    #[test]
    fn what_systemd_refuses_is_said() {
        let long = format!("[Service]\nExecStart=a {}\n", "b".repeat(LINE_BYTES));
        for (text, words) in [
            (long.as_str(), "too long"),
            ("[Service]\nType=simple\n", "no ExecStart="),
            ("[Service]\nEnvironmentFile=/etc/absent\nExecStart=a\n", "/etc/absent"),
        ] {
            let error = run(&[text]).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
