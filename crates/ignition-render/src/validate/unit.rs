//! The text of a unit, as strictly as Ignition takes it: what stands in a section are settings. What they mean is not
//! looked at, and what stands before all sections is nobody's.

use super::walk::{Fields, Walk};

/// Bytes that a line must stay below: systemd would cut it off, so Ignition refuses it.
const LINE_BYTES: usize = 2048;

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// It is nothing that a unit has.
    Form,
    /// It is too long.
    Length,
}

/// Notes what is wrong with the text of a unit, or of an addition to one. A line is named, never quoted.
pub(super) fn check(walk: &mut Walk, fields: &Fields<'_>) {
    let Some((line, fault)) = fields.text("contents").and_then(first_wrong_line) else {
        return;
    };
    let problem = match fault {
        Fault::Form => format!("line {line} is no [Section], no setting and no comment"),
        Fault::Length => format!("line {line} must have fewer than {LINE_BYTES} bytes"),
    };
    walk.wrong(&fields.path("contents"), problem);
}

/// The number of the first line that is refused, counted from 1, and why.
fn first_wrong_line(text: &str) -> Option<(usize, Fault)> {
    let too_long = text.split('\n').position(|line| line.len() >= LINE_BYTES);
    let lines = text.split('\n').enumerate().map(|(index, line)| (index + 1, line));
    let malformed = malformed(lines);
    match (malformed, too_long.map(|index| index + 1)) {
        (Some(form), Some(length)) if length <= form => Some((length, Fault::Length)),
        (Some(form), _) => Some((form, Fault::Form)),
        (None, length) => Some((length?, Fault::Length)),
    }
}

fn malformed<'a>(mut lines: impl Iterator<Item = (usize, &'a str)>) -> Option<usize> {
    let mut has_section = false;
    while let Some((number, line)) = lines.next() {
        let line = line.trim_start();
        // Before the first section anything may stand, and a section or a comment begins anywhere.
        let start = if has_section {
            Some(0)
        } else {
            line.find(['[', '#', ';'])
        };
        let Some(line) = start.map(|start| &line[start..]).filter(|line| !line.is_empty()) else {
            continue;
        };
        if line.starts_with(['#', ';']) {
            let mut comment = Some(line);
            // A space behind the backslash is overlooked here, and not behind that of a setting.
            while comment.is_some_and(|line| line.strip_suffix(' ').unwrap_or(line).ends_with('\\')) {
                comment = lines.next().map(|(_, line)| line);
            }
        } else if let Some(name) = line.strip_prefix('[') {
            has_section = true;
            let after = name.split_once(']').map(|(_, after)| after.trim());
            if after != Some("") {
                return Some(number);
            }
        } else {
            let setting = line.split_once('=').filter(|(name, _)| !name.contains('\r'));
            let Some((_, value)) = setting else {
                return Some(number);
            };
            // Whatever stands in the line behind a backslash belongs to the value, even what looks like a comment.
            let mut value = Some(value);
            while value.is_some_and(|part| part.ends_with('\\')) {
                value = lines.next().map(|(_, line)| line);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Fault, LINE_BYTES, first_wrong_line};

    /// What Ignition's own validator says of the same texts.
    #[test]
    fn lines_are_refused_that_ignition_refuses() {
        for (text, expected) in [
            ("", None),
            ("nonsense\n", None),
            ("Description=a\n", None),
            ("[]\nA=b\n", None),
            ("[Unit]\n=a\n", None),
            ("# c\n[Unit]\nA=b\n; d\n", None),
            ("a # [Unit\n", None),
            ("[Unit]\n# c \\\nnonsense\n", None),
            ("[Unit]\r\nA=b\r\n\r\n", None),
            ("[Unit]\nA=b \\", None),
            (
                "[Unit]\nDescription=a=b\n\n[Service]\nExecStart=/a \\\n  --b \\\n  c\n",
                None,
            ),
            ("[Unit\n", Some(1)),
            ("a [Unit\n", Some(1)),
            ("[Unit] x\nA=b\n", Some(1)),
            ("[Unit]x]\nA=b\n", Some(1)),
            ("[Unit]\nnonsense\n", Some(2)),
            ("[Unit]\nnonsense", Some(2)),
            ("[Unit]\nA=b \\\nnonsense\nmore\n", Some(4)),
            ("[Unit]\nA=b \\\n# c\nmore\n", Some(4)),
            ("[Unit]\nA=b \\ \nmore\n", Some(3)),
            ("[Unit]\nA=b \\\r\nmore\r\n", Some(3)),
        ] {
            let expected = expected.map(|line| (line, Fault::Form));
            assert_eq!(first_wrong_line(text), expected, "{text}");
        }
    }

    #[test]
    fn lines_are_refused_that_systemd_cuts_off() {
        let unit = |bytes: usize| format!("[Service]\nEnvironment={}\n", "a".repeat(bytes - "Environment=".len()));
        assert_eq!(first_wrong_line(&unit(LINE_BYTES - 1)), None);
        assert_eq!(first_wrong_line(&unit(LINE_BYTES)), Some((2, Fault::Length)));
        let both = format!("[Service]\nnonsense\n{}", unit(LINE_BYTES));
        assert_eq!(first_wrong_line(&both), Some((2, Fault::Form)));
    }
}
