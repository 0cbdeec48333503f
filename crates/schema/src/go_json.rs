//! What is wrong with a text that is no JSON, in the words of Go's `encoding/json`. Runs only after a fast parser has
//! refused the text, or to find the number that does not fit.

use crate::go_text::quote;

/// What the scan found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// The text is JSON; the first number beyond the range of a float64, if there is one.
    Valid {
        /// The literal.
        overflow: Option<&'a str>,
    },
    /// The text is no JSON.
    Invalid(String),
}

/// Scans a text; containers deeper than `maximum_depth` are an error.
pub fn scan(text: &[u8], maximum_depth: usize) -> Verdict<'_> {
    let mut scanner = Scanner {
        text,
        at: 0,
        stack: Vec::new(),
        maximum_depth,
        overflow: None,
    };
    match scanner.document() {
        Ok(()) => Verdict::Valid {
            overflow: scanner.overflow,
        },
        Err(message) => Verdict::Invalid(message),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Container {
    Array,
    Object,
}

type Step = Result<(), String>;

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    stack: Vec<Container>,
    maximum_depth: usize,
    overflow: Option<&'a str>,
}

impl Scanner<'_> {
    fn document(&mut self) -> Step {
        self.value()?;
        while let Some(container) = self.stack.last().copied() {
            self.after_value(container)?;
        }
        match self.peek_token() {
            None => Ok(()),
            Some(_) => Err(self.invalid("after top-level value")),
        }
    }

    /// Reads values until one is complete; opening a container that is not empty starts another value.
    fn value(&mut self) -> Step {
        loop {
            match self.peek_token() {
                Some(b'{') => {
                    self.open(Container::Object)?;
                    if self.peek_token() == Some(b'}') {
                        self.close();
                        return Ok(());
                    }
                    self.key()?;
                }
                Some(b'[') => {
                    self.open(Container::Array)?;
                    if self.peek_token() == Some(b']') {
                        self.close();
                        return Ok(());
                    }
                }
                Some(b'"') => return self.string(),
                Some(b'-' | b'0'..=b'9') => return self.number(),
                Some(b't') => return self.literal("true"),
                Some(b'f') => return self.literal("false"),
                Some(b'n') => return self.literal("null"),
                _ => return Err(self.invalid("looking for beginning of value")),
            }
        }
    }

    fn after_value(&mut self, container: Container) -> Step {
        let (end, context) = match container {
            Container::Array => (b']', "after array element"),
            Container::Object => (b'}', "after object key:value pair"),
        };
        match self.peek_token() {
            Some(b',') => {
                self.at += 1;
                if container == Container::Object {
                    self.key()?;
                }
                self.value()
            }
            Some(byte) if byte == end => {
                self.close();
                Ok(())
            }
            _ => Err(self.invalid(context)),
        }
    }

    fn open(&mut self, container: Container) -> Step {
        if self.stack.len() >= self.maximum_depth {
            return Err(self.invalid("exceeded max depth"));
        }
        self.stack.push(container);
        self.at += 1;
        Ok(())
    }

    fn close(&mut self) {
        self.stack.pop();
        self.at += 1;
    }

    fn key(&mut self) -> Step {
        if self.peek_token() != Some(b'"') {
            return Err(self.invalid("looking for beginning of object key string"));
        }
        self.string()?;
        if self.peek_token() != Some(b':') {
            return Err(self.invalid("after object key"));
        }
        self.at += 1;
        Ok(())
    }

    fn string(&mut self) -> Step {
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.escape()?;
                }
                Some(byte) if byte >= 0x20 => self.at += 1,
                _ => return Err(self.invalid("in string literal")),
            }
        }
    }

    fn escape(&mut self) -> Step {
        match self.peek() {
            Some(b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                        return Err(self.invalid("in \\u hexadecimal character escape"));
                    }
                    self.at += 1;
                }
            }
            _ => return Err(self.invalid("in string escape code")),
        }
        Ok(())
    }

    fn number(&mut self) -> Step {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.invalid("in numeric literal")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.some_digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.some_digits("in exponent of numeric literal")?;
        }
        self.note_overflow(start);
        Ok(())
    }

    fn some_digits(&mut self, context: &str) -> Step {
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(self.invalid(context));
        }
        self.digits();
        Ok(())
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn note_overflow(&mut self, start: usize) {
        let Ok(literal) = std::str::from_utf8(&self.text[start..self.at]) else {
            return;
        };
        let is_finite = literal.parse::<f64>().is_ok_and(f64::is_finite);
        if self.overflow.is_none() && !is_finite {
            self.overflow = Some(literal);
        }
    }

    fn literal(&mut self, word: &str) -> Step {
        for (index, expected) in word.bytes().enumerate() {
            if self.peek() != Some(expected) {
                // The first byte chose the word, so a mismatch is never at its start.
                debug_assert!(index > 0);
                return Err(self.invalid(&format!("in literal {word} (expecting '{}')", char::from(expected))));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn peek_token(&mut self) -> Option<u8> {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        self.peek()
    }

    fn invalid(&self, context: &str) -> String {
        match self.peek() {
            None => "unexpected end of JSON input".to_owned(),
            Some(byte) => format!("invalid character {} {context}", shown(byte)),
        }
    }
}

/// A byte as Go quotes it: as the character of that number, in single quotes.
fn shown(byte: u8) -> String {
    match byte {
        b'\'' => r"'\''".to_owned(),
        b'"' => r#"'"'"#.to_owned(),
        other => {
            let quoted = quote(&char::from(other).to_string());
            format!("'{}'", &quoted[1..quoted.len() - 1])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(
            scan(text.as_bytes(), 100),
            Verdict::Invalid(expected.to_owned()),
            "{text}"
        );
    }

    #[test]
    fn mistakes_are_named_as_go_names_them() {
        check("", "unexpected end of JSON input");
        check("{", "unexpected end of JSON input");
        check("[1", "unexpected end of JSON input");
        check("\"a", "unexpected end of JSON input");
        check("{}x", "invalid character 'x' after top-level value");
        check("{x", "invalid character 'x' looking for beginning of object key string");
        check("{\"a\" 1}", "invalid character '1' after object key");
        check("{\"a\":01}", "invalid character '1' after object key:value pair");
        check("{\"a\":}", "invalid character '}' looking for beginning of value");
        check(
            "{\"a\":1,}",
            "invalid character '}' looking for beginning of object key string",
        );
        check("[1 2]", "invalid character '2' after array element");
        check("[1,]", "invalid character ']' looking for beginning of value");
        check("\"\u{1}\"", "invalid character '\\x01' in string literal");
        check("\"\\x\"", "invalid character 'x' in string escape code");
        check(
            "\"\\u00g0\"",
            "invalid character 'g' in \\u hexadecimal character escape",
        );
        check("-a", "invalid character 'a' in numeric literal");
        check("1.a", "invalid character 'a' after decimal point in numeric literal");
        check("1ea", "invalid character 'a' in exponent of numeric literal");
        check("trux", "invalid character 'x' in literal true (expecting 'e')");
        check("'", "invalid character '\\'' looking for beginning of value");
        check("\u{ff}", "invalid character 'Ã' looking for beginning of value");
    }

    #[test]
    fn depth_is_bounded_without_recursion() {
        let deep = "[".repeat(1_000_000);
        check(&deep, "invalid character '[' exceeded max depth");
    }

    #[test]
    fn numbers_that_do_not_fit_are_found() {
        assert_eq!(
            scan(b"[1,-2.5e3,1e400,1e500]", 9),
            Verdict::Valid {
                overflow: Some("1e400")
            }
        );
        assert_eq!(
            scan(b" {\"a\":[true,false,null,{}]} ", 9),
            Verdict::Valid { overflow: None }
        );
    }
}
