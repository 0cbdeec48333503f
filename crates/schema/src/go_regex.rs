//! Regular expressions as Go reads them. The dialects agree on meaning once the syntax is translated: in Go `\d`, `\w`,
//! `\s` and `\b` are ASCII, `[` inside of a class is a letter, and a brace that repeats nothing is a letter too.

use std::{
    collections::BTreeMap,
    iter::Peekable,
    str::CharIndices,
    sync::{Mutex, PoisonError},
};

use regex::{Regex, RegexBuilder};

/// Go refuses a repetition of more than this.
const MAX_REPEAT: u32 = 1000;

/// How much memory compiled patterns that are kept may take. The definitions of this product have a few hundred, most of
/// them small.
const KEPT_BYTES: usize = 64 * 1024 * 1024;

/// What a pattern may take when it is compiled, from small to the most that is allowed; it counts as the first that is
/// enough for it.
const SIZES: [usize; 4] = [16 * 1024, 128 * 1024, 1024 * 1024, 10 * 1024 * 1024];

/// What Go says of a pattern that takes too much.
const TOO_LARGE: &str = "expression too large";

/// Patterns of schemas, compiled. Every server of a process reads the same definitions, several times over, and to compile
/// a pattern takes far longer than all else that is done to a definition.
static KEPT: Mutex<Kept> = Mutex::new(Kept::new());

struct Kept {
    patterns: BTreeMap<String, Regex>,
    bytes: usize,
}

impl Kept {
    const fn new() -> Self {
        Self {
            patterns: BTreeMap::new(),
            bytes: 0,
        }
    }

    /// Keeps one more; if that is too much, it is the only one.
    fn insert(&mut self, pattern: &str, regex: Regex, bytes: usize) {
        if self.bytes + bytes > KEPT_BYTES {
            *self = Self::new();
        }
        self.bytes += bytes;
        self.patterns.insert(pattern.to_owned(), regex);
    }
}

/// A compiled pattern for one Go pattern, or what Go says about it. For patterns of schemas, which are
/// compiled once in a process.
pub fn compile(pattern: &str) -> Result<Regex, String> {
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(regex) = kept().patterns.get(pattern) {
        return Ok(regex.clone());
    }
    let translated = Translator::new(pattern).translate()?;
    for bytes in SIZES {
        match RegexBuilder::new(&translated).size_limit(bytes).build() {
            Ok(regex) => {
                kept().insert(pattern, regex.clone(), bytes);
                return Ok(regex);
            }
            Err(regex::Error::CompiledTooBig(_)) => {}
            Err(error) => return Err(refusal(pattern, &error)),
        }
    }
    Err(go_error(TOO_LARGE, pattern))
}

/// The same for a pattern that comes with a value: there may be any number of these, so none is kept.
pub fn compile_unkept(pattern: &str) -> Result<Regex, String> {
    let translated = Translator::new(pattern).translate()?;
    Regex::new(&translated).map_err(|error| refusal(pattern, &error))
}

/// Errors that the translation does not see are rare; the pattern is quoted as Go does.
fn refusal(pattern: &str, error: &regex::Error) -> String {
    let what = match error {
        regex::Error::CompiledTooBig(_) => TOO_LARGE,
        _ => "invalid or unsupported Perl syntax",
    };
    go_error(what, pattern)
}

fn go_error(what: &str, part: &str) -> String {
    format!("error parsing regexp: {what}: `{part}`")
}

struct Translator<'a> {
    pattern: &'a str,
    characters: Peekable<CharIndices<'a>>,
    translated: String,
    /// Open groups.
    depth: usize,
    /// Where the last thing that can be repeated began; nothing can be repeated when it is `None`.
    operand: Option<usize>,
    /// The repetition that was read last, when nothing followed it yet.
    repetition: Option<(usize, usize)>,
}

impl<'a> Translator<'a> {
    fn new(pattern: &'a str) -> Self {
        Self {
            pattern,
            characters: pattern.char_indices().peekable(),
            translated: String::with_capacity(pattern.len()),
            depth: 0,
            operand: None,
            repetition: None,
        }
    }

    fn translate(mut self) -> Result<String, String> {
        while let Some((at, character)) = self.characters.next() {
            match character {
                '\\' => self.escape(at)?,
                '[' => self.class(at)?,
                '(' => self.open(at)?,
                ')' => self.close()?,
                '*' | '+' | '?' => self.repeat(at, at + 1)?,
                '{' => self.brace(at)?,
                '|' => self.plain('|', None),
                '^' | '$' | '.' => self.plain(character, Some(at)),
                ']' | '}' => {
                    self.translated.push('\\');
                    self.plain(character, Some(at));
                }
                other => self.plain(other, Some(at)),
            }
        }
        if self.depth > 0 {
            return Err(go_error("missing closing )", self.pattern));
        }
        Ok(self.translated)
    }

    fn plain(&mut self, character: char, operand: Option<usize>) {
        self.translated.push(character);
        self.operand = operand;
        self.repetition = None;
    }

    fn text(&mut self, text: &str, at: usize) {
        self.translated.push_str(text);
        self.operand = Some(at);
        self.repetition = None;
    }

    fn rest(&self, at: usize) -> &'a str {
        &self.pattern[at..]
    }

    /// The characters up to the next one that was not read.
    fn read_since(&mut self, at: usize) -> &'a str {
        let end = self.characters.peek().map_or(self.pattern.len(), |(end, _)| *end);
        &self.pattern[at..end]
    }

    fn open(&mut self, at: usize) -> Result<(), String> {
        self.depth += 1;
        self.translated.push('(');
        self.operand = None;
        self.repetition = None;
        if self.characters.peek().is_none_or(|(_, next)| *next != '?') {
            return Ok(());
        }
        let rest = &self.rest(at)[2..];
        if rest.starts_with("P<") || rest.starts_with('<') {
            if rest.starts_with("<=") || rest.starts_with("<!") {
                return Err(go_error("invalid or unsupported Perl syntax", &self.rest(at)[..4]));
            }
            return self.copy_until('>', at);
        }
        let flags = rest.find([':', ')']).unwrap_or(rest.len());
        if !rest[..flags].chars().all(|flag| "imsU-".contains(flag)) {
            let end = rest.chars().next().map_or(0, char::len_utf8);
            return Err(go_error(
                "invalid or unsupported Perl syntax",
                &self.rest(at)[..2 + end],
            ));
        }
        if rest.len() == flags {
            return Err(go_error("missing argument to repetition operator", "?"));
        }
        let closes = rest.as_bytes()[flags] == b')';
        self.copy_until(if closes { ')' } else { ':' }, at)?;
        if closes {
            self.depth -= 1;
        }
        Ok(())
    }

    fn copy_until(&mut self, end: char, at: usize) -> Result<(), String> {
        for (_, character) in self.characters.by_ref() {
            self.translated.push(character);
            if character == end {
                return Ok(());
            }
        }
        Err(go_error("invalid named capture", self.rest(at)))
    }

    fn close(&mut self) -> Result<(), String> {
        if self.depth == 0 {
            return Err(go_error("unexpected )", self.pattern));
        }
        self.depth -= 1;
        self.plain(')', Some(0));
        Ok(())
    }

    fn repeat(&mut self, at: usize, end: usize) -> Result<(), String> {
        let text = &self.pattern[at..end];
        if let Some((before, after)) = self.repetition {
            // `a*?` is lazy, `a**` is an error.
            if text == "?" && !self.pattern[before..after].ends_with("??") && after == at {
                self.translated.push('?');
                self.repetition = Some((before, end));
                self.operand = None;
                return Ok(());
            }
            return Err(go_error(
                "invalid nested repetition operator",
                &self.pattern[before..end],
            ));
        }
        if self.operand.is_none() {
            return Err(go_error("missing argument to repetition operator", text));
        }
        self.translated.push_str(text);
        self.repetition = Some((at, end));
        Ok(())
    }

    fn brace(&mut self, at: usize) -> Result<(), String> {
        let Some(repeat) = repeat_bounds(self.rest(at)) else {
            self.translated.push('\\');
            self.plain('{', Some(at));
            return Ok(());
        };
        let most = repeat.most.unwrap_or(repeat.least);
        if repeat.least > MAX_REPEAT || most > MAX_REPEAT || repeat.least > most {
            return Err(go_error("invalid repeat count", &self.rest(at)[..repeat.length]));
        }
        let end = at + repeat.length;
        while self.characters.peek().is_some_and(|(next, _)| *next < end) {
            self.characters.next();
        }
        self.repeat(at, end)
    }

    fn escape(&mut self, at: usize) -> Result<(), String> {
        let Some((_, character)) = self.characters.next() else {
            return Err("error parsing regexp: trailing backslash at end of expression: ``".to_owned());
        };
        match character {
            'Q' => self.literal(at),
            'b' => self.text("(?-u:\\b)", at),
            'B' => self.text("(?-u:\\B)", at),
            'A' | 'z' => {
                self.translated.push('\\');
                self.plain(character, Some(at));
            }
            'd' | 'D' | 'w' | 'W' | 's' | 'S' => self.text(&format!("[{}]", perl_class(character)), at),
            'C' => return Err(go_error("invalid escape sequence", "\\C")),
            _ => {
                let text = self.escaped(character, at)?;
                self.text(&text, at);
            }
        }
        Ok(())
    }

    /// `\Q...\E` is taken as it is written.
    fn literal(&mut self, at: usize) {
        let rest = &self.rest(at)[2..];
        let length = rest.find("\\E").unwrap_or(rest.len());
        let text = regex::escape(&rest[..length]);
        let end = at + 2 + length + if length < rest.len() { 2 } else { 0 };
        while self.characters.peek().is_some_and(|(next, _)| *next < end) {
            self.characters.next();
        }
        self.text(&text, at);
    }

    /// An escape that stands for one character or for a Unicode class, in a class or outside of one.
    fn escaped(&mut self, character: char, at: usize) -> Result<String, String> {
        match character {
            'p' | 'P' => self.unicode_class(character, at),
            'x' => self.hexadecimal(at),
            '0'..='7' => self.octal(character, at),
            'a' | 'f' | 't' | 'n' | 'r' | 'v' => Ok(format!("\\{character}")),
            punctuation if punctuation.is_ascii_punctuation() && punctuation != '_' => {
                Ok(regex::escape(&punctuation.to_string()))
            }
            _ => Err(go_error("invalid escape sequence", self.read_since(at))),
        }
    }

    fn unicode_class(&mut self, letter: char, at: usize) -> Result<String, String> {
        let name = match self.characters.next() {
            Some((start, '{')) => {
                let length = self.rest(start).find('}');
                let end = start + length.ok_or_else(|| go_error("invalid character class range", self.rest(at)))?;
                while self.characters.peek().is_some_and(|(next, _)| *next <= end) {
                    self.characters.next();
                }
                self.pattern[start + 1..end].to_owned()
            }
            Some((_, single)) => single.to_string(),
            None => return Err(go_error("invalid character class range", self.rest(at))),
        };
        let (letter, name) = match (name.strip_prefix('^'), letter) {
            (Some(name), 'p') => ('P', name),
            (Some(name), _) => ('p', name),
            (None, letter) => (letter, name.as_str()),
        };
        let text = format!("\\{letter}{{{name}}}");
        Regex::new(&text)
            .map(|_| text)
            .map_err(|_| go_error("invalid character class range", self.read_since(at)))
    }

    fn hexadecimal(&mut self, at: usize) -> Result<String, String> {
        let rest = &self.rest(at)[2..];
        let (digits, length) = match rest.strip_prefix('{') {
            Some(braced) => braced.find('}').map_or(("", 0), |end| (&braced[..end], end + 2)),
            None => rest.get(..2).map_or(("", 0), |digits| (digits, 2)),
        };
        let character = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
        let Some(character) = character else {
            return Err(go_error("invalid escape sequence", &self.rest(at)[..2]));
        };
        for _ in 0..length {
            self.characters.next();
        }
        Ok(regex::escape(&character.to_string()))
    }

    /// `\0` and three octal digits; a single digit from 1 on would be a back reference, which Go has not.
    fn octal(&mut self, first: char, at: usize) -> Result<String, String> {
        let next_is_octal = matches!(self.characters.peek(), Some((_, '0'..='7')));
        if first != '0' && !next_is_octal {
            return Err(go_error("invalid escape sequence", self.read_since(at)));
        }
        let mut code = first.to_digit(8).unwrap_or_default();
        for _ in 0..2 {
            let Some(digit) = self.characters.peek().and_then(|(_, next)| next.to_digit(8)) else {
                break;
            };
            self.characters.next();
            code = code * 8 + digit;
        }
        Ok(regex::escape(&char::from_u32(code).unwrap_or_default().to_string()))
    }

    fn class(&mut self, at: usize) -> Result<(), String> {
        self.translated.push('[');
        if self.characters.next_if(|(_, next)| *next == '^').is_some() {
            self.translated.push('^');
        }
        let mut is_first = true;
        loop {
            match self.characters.next() {
                None => return Err(go_error("missing closing ]", self.rest(at))),
                Some((_, ']')) if !is_first => break,
                Some((start, character)) => self.class_member(character, start)?,
            }
            is_first = false;
        }
        self.plain(']', Some(at));
        Ok(())
    }

    fn class_member(&mut self, character: char, start: usize) -> Result<(), String> {
        match character {
            '[' if self.rest(start).starts_with("[:") => self.posix_class(start),
            '\\' => {
                let Some((_, escaped)) = self.characters.next() else {
                    return Err("error parsing regexp: trailing backslash at end of expression: ``".to_owned());
                };
                let text = match escaped {
                    'd' | 'w' | 's' => perl_class(escaped).to_owned(),
                    'D' | 'W' | 'S' => format!("[{}]", perl_class(escaped)),
                    _ => self.escaped(escaped, start)?,
                };
                self.translated.push_str(&text);
                Ok(())
            }
            '-' => {
                self.hyphen(start);
                Ok(())
            }
            '[' | ']' | '&' | '~' | '^' => {
                self.translated.push('\\');
                self.translated.push(character);
                Ok(())
            }
            other => {
                self.check_range(other, start)?;
                self.translated.push(other);
                Ok(())
            }
        }
    }

    /// A hyphen makes a range only between two characters.
    fn hyphen(&mut self, start: usize) {
        let before = self.pattern[..start].chars().next_back();
        let after = self.rest(start).chars().nth(1);
        let is_edge = matches!(before, Some('[' | '^')) || matches!(after, Some(']') | None);
        if is_edge || matches!(after, Some('-')) {
            self.translated.push_str("\\-");
        } else {
            self.translated.push('-');
        }
    }

    /// A range that runs backwards is an error in both dialects; Go quotes it.
    fn check_range(&self, low: char, start: usize) -> Result<(), String> {
        let mut next = self.rest(start).chars().skip(1);
        let (Some('-'), Some(high)) = (next.next(), next.next()) else {
            return Ok(());
        };
        if high == ']' || high == '\\' || high >= low {
            return Ok(());
        }
        Err(go_error("invalid character class range", &format!("{low}-{high}")))
    }

    fn posix_class(&mut self, start: usize) -> Result<(), String> {
        let rest = self.rest(start);
        let Some(length) = rest.find(":]").map(|end| end + 2) else {
            self.translated.push_str("\\[");
            return Ok(());
        };
        let name = &rest[..length];
        if Regex::new(&format!("[{name}]")).is_err() {
            return Err(go_error("invalid character class range", name));
        }
        while self.characters.peek().is_some_and(|(next, _)| *next < start + length) {
            self.characters.next();
        }
        self.translated.push_str(name);
        Ok(())
    }
}

/// What stands inside of the brackets for one of Perl's classes.
const fn perl_class(letter: char) -> &'static str {
    match letter {
        'd' => "0-9",
        'D' => "^0-9",
        'w' => "0-9A-Za-z_",
        'W' => "^0-9A-Za-z_",
        's' => "\\t\\n\\x0C\\r\\x20",
        _ => "^\\t\\n\\x0C\\r\\x20",
    }
}

/// `{n}`, `{n,}` or `{n,m}`.
struct Repeat {
    length: usize,
    least: u32,
    /// Nothing when there is no upper bound of its own.
    most: Option<u32>,
}

/// The repetition at the beginning of a text; a bound that does not fit is the largest number.
fn repeat_bounds(text: &str) -> Option<Repeat> {
    let end = text.find('}')?;
    let body = &text[1..end];
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (least, most) = body.split_once(',').unwrap_or((body, ""));
    if !is_number(least) || !most.is_empty() && !is_number(most) {
        return None;
    }
    let number = |part: &str| part.parse().unwrap_or(u32::MAX);
    Some(Repeat {
        length: end + 1,
        least: number(least),
        most: (!most.is_empty()).then(|| number(most)),
    })
}

/// The message of a schema whose pattern is wrong.
pub(crate) fn invalid_pattern(error: &str) -> String {
    format!("must be a valid regular expression, but isn't: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_kept_within_bounds() {
        let kept = |pattern: &str| KEPT.lock().unwrap().patterns.contains_key(pattern);
        let large = r"[\pL\pN]{1,900}";
        assert!(compile(large).is_err_and(|error| error.contains(TOO_LARGE)) && !kept(large));
        assert!(compile_unkept("of-a-value").is_ok() && !kept("of-a-value"));
        assert!(compile("(").is_err() && !kept("("));
        let most = KEPT_BYTES / SIZES[0];
        for number in 0..=most {
            let pattern = format!("p{number}");
            let (first, again) = (compile(&pattern).unwrap(), compile(&pattern).unwrap());
            assert!(first.is_match(&pattern) && again.is_match(&pattern));
        }
        let kept = KEPT.lock().unwrap();
        assert!(kept.bytes <= KEPT_BYTES && kept.patterns.len() <= most);
    }

    #[track_caller]
    fn check(pattern: &str, matching: &[&str], other: &[&str]) {
        let regex = compile(pattern).unwrap();
        for text in matching {
            assert!(regex.is_match(text), "{pattern} must match {text:?}");
        }
        for text in other {
            assert!(!regex.is_match(text), "{pattern} must not match {text:?}");
        }
    }

    #[test]
    fn classes_are_ascii_and_brackets_are_letters() {
        check(r"^\d$", &["1"], &["١"]);
        check(r"^[\d\-x]$", &["1", "-", "x"], &["y", "١"]);
        check(r"^[[a]$", &["[", "a"], &["b"]);
        check(r"^[]a]$", &["]", "a"], &["b"]);
        check(r"^[a&&b]$", &["a", "&"], &["c"]);
        check(r"^[a-z0-9-]+$", &["a-1"], &["A"]);
        check(r"^[^\D]$", &["5"], &["a"]);
        check(r"^[[:alpha:]_]+$", &["a_"], &["1"]);
    }

    #[test]
    fn braces_that_repeat_nothing_are_letters() {
        check(r"^a{2}$", &["aa"], &["a"]);
        check(r"^a{,2}$", &["a{,2}"], &["aa"]);
        check(r"^{a}$", &["{a}"], &["a"]);
        check(r"^\Qa.b\E$", &["a.b"], &["axb"]);
        check(r"^(?i:AB)\x41\101$", &["abAA"], &["abA"]);
        check(r"^a+?$", &["aaa"], &[""]);
        check(r"^\p{Greek}\pL$", &["αβ"], &["a1"]);
    }

    #[test]
    fn what_go_refuses_is_refused_in_its_words() {
        for (pattern, error) in [
            ("[abc", "error parsing regexp: missing closing ]: `[abc`"),
            ("(abc", "error parsing regexp: missing closing ): `(abc`"),
            ("abc)", "error parsing regexp: unexpected ): `abc)`"),
            (
                "*a",
                "error parsing regexp: missing argument to repetition operator: `*`",
            ),
            ("a**", "error parsing regexp: invalid nested repetition operator: `**`"),
            (r"\1", r"error parsing regexp: invalid escape sequence: `\1`"),
            (r"\y", r"error parsing regexp: invalid escape sequence: `\y`"),
            ("a{1001}", "error parsing regexp: invalid repeat count: `{1001}`"),
            ("[b-a]", "error parsing regexp: invalid character class range: `b-a`"),
            (
                "(?=a)",
                "error parsing regexp: invalid or unsupported Perl syntax: `(?=`",
            ),
        ] {
            assert_eq!(compile(pattern).unwrap_err(), error, "{pattern}");
        }
    }
}
