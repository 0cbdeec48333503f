//! The text of a unit, as strictly as Ignition takes it: what stands in a section are settings. What they mean is not
//! looked at, and what stands before all sections is nobody's.

use super::walk::{Fields, Walk};

/// Notes what is wrong with the text of a unit, or of an addition to one. A line is named, never quoted.
pub(super) fn check(walk: &mut Walk, fields: &Fields<'_>) {
    if let Some(text) = walk.text(fields, "contents")
        && let Some(line) = first_wrong_line(text)
    {
        let problem = format!("line {line} is no [Section], no setting and no comment");
        walk.wrong(&fields.path("contents"), problem);
    }
}

/// The number of the first line that is refused, counted from 1.
fn first_wrong_line(text: &str) -> Option<usize> {
    let mut has_section = false;
    let mut goes_on = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let is_comment = line.starts_with(['#', ';']);
        if is_comment {
            continue;
        }
        let is_good = if goes_on || line.is_empty() {
            true
        } else if line.starts_with('[') {
            has_section = true;
            line.ends_with(']')
        } else {
            !has_section || line.contains('=')
        };
        if !is_good {
            return Some(index + 1);
        }
        // Comments may stand between the parts of a setting that goes on.
        goes_on = has_section && line.ends_with('\\');
    }
    None
}

#[cfg(test)]
mod tests {
    use super::first_wrong_line;

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
            (
                "[Unit]\nDescription=a=b\n\n[Service]\nExecStart=/a \\\n  --b \\\n  c\n",
                None,
            ),
            ("[Unit\n", Some(1)),
            ("[Unit] x\nA=b\n", Some(1)),
            ("[Unit]\nnonsense\n", Some(2)),
            ("[Unit]\nA=b \\\nnonsense\nmore\n", Some(4)),
        ] {
            assert_eq!(first_wrong_line(text), expected, "{text}");
        }
    }
}
