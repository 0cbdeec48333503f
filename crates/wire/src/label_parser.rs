//! How label selectors are read: a scanner and a parser with one token of lookahead, with upstream's complaints. The
//! texts quote what was found where upstream quotes it, odd places included.

use std::collections::BTreeSet;

use hyperplane_schema::{
    FieldError, ROOT_PATH,
    names::{label_value, qualified_name},
};

use crate::selector::{Operator, Requirement};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Identifier,
    Comma,
    Open,
    Close,
    Not,
    Operator(Operator),
    /// `in` and `notin`, which are operators after a key and plain words elsewhere.
    Word(Operator),
    End,
}

#[derive(Clone, Debug)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
}

/// Reads the requirements of a selector, in the order in which they stand.
pub(crate) fn parse(text: &str) -> Result<Vec<Requirement>, String> {
    let mut parser = Parser {
        scanner: Scanner { rest: text },
        peeked: None,
    };
    let mut requirements = Vec::new();
    loop {
        let token = parser.peek();
        match token.kind {
            Kind::Identifier | Kind::Word(_) | Kind::Not => {
                let requirement = parser
                    .requirement()
                    .map_err(|error| format!("unable to parse requirement: {error}"))?;
                requirements.push(requirement);
                if !parser.more_requirements()? {
                    return Ok(requirements);
                }
            }
            Kind::End => return Ok(requirements),
            _ => {
                return Err(format!(
                    "found '{}', expected: !, identifier, or 'end of string'",
                    token.text
                ));
            }
        }
    }
}

struct Parser<'a> {
    scanner: Scanner<'a>,
    peeked: Option<Token<'a>>,
}

impl<'a> Parser<'a> {
    fn peek(&mut self) -> Token<'a> {
        let scanner = &mut self.scanner;
        self.peeked.get_or_insert_with(|| scanner.next()).clone()
    }

    fn next(&mut self) -> Token<'a> {
        self.peeked.take().unwrap_or_else(|| self.scanner.next())
    }

    /// Consumes what separates two requirements; false at the end.
    fn more_requirements(&mut self) -> Result<bool, String> {
        let token = self.next();
        match token.kind {
            Kind::End => Ok(false),
            Kind::Comma => {
                let following = self.peek();
                if matches!(following.kind, Kind::Identifier | Kind::Word(_) | Kind::Not) {
                    Ok(true)
                } else {
                    Err(format!("found '{}', expected: identifier after ','", following.text))
                }
            }
            _ => Err(format!("found '{}', expected: ',' or 'end of string'", token.text)),
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let mut token = self.next();
        let is_negated = token.kind == Kind::Not;
        if is_negated {
            token = self.next();
        }
        if !matches!(token.kind, Kind::Identifier | Kind::Word(_)) {
            return Err(format!("found '{}', expected: identifier", token.text));
        }
        let key = token.text;
        let complaints = qualified_name(key);
        if !complaints.is_empty() {
            return Err(FieldError::invalid(ROOT_PATH, key, complaints.join("; ")).to_string());
        }
        let operator = if is_negated {
            Operator::DoesNotExist
        } else if matches!(self.peek().kind, Kind::End | Kind::Comma) {
            Operator::Exists
        } else {
            self.operator()?
        };
        let values = self.values(operator)?;
        check(key, operator, &values)?;
        Ok(Requirement {
            key: key.to_owned(),
            operator,
            values: values.into_iter().map(str::to_owned).collect(),
        })
    }

    fn operator(&mut self) -> Result<Operator, String> {
        let token = self.next();
        match token.kind {
            Kind::Operator(operator) | Kind::Word(operator) => Ok(operator),
            _ => Err(format!(
                "found '{}', expected: in, notin, =, ==, !=, gt, lt",
                token.text
            )),
        }
    }

    fn values(&mut self, operator: Operator) -> Result<BTreeSet<&'a str>, String> {
        match operator {
            Operator::Exists | Operator::DoesNotExist => Ok(BTreeSet::new()),
            Operator::In | Operator::NotIn => self.value_set(),
            _ => self.single_value(),
        }
    }

    fn single_value(&mut self) -> Result<BTreeSet<&'a str>, String> {
        if matches!(self.peek().kind, Kind::End | Kind::Comma) {
            return Ok(BTreeSet::from([""]));
        }
        let token = self.next();
        match token.kind {
            Kind::Identifier | Kind::Word(_) => Ok(BTreeSet::from([token.text])),
            _ => Err(format!("found '{}', expected: identifier", token.text)),
        }
    }

    fn value_set(&mut self) -> Result<BTreeSet<&'a str>, String> {
        let open = self.next();
        if open.kind != Kind::Open {
            return Err(format!("found '{}' expected: '('", open.text));
        }
        let first = self.peek();
        match first.kind {
            Kind::Identifier | Kind::Word(_) | Kind::Comma => self.value_list(),
            Kind::Close => {
                self.next();
                Ok(BTreeSet::from([""]))
            }
            _ => Err(format!("found '{}', expected: ',', ')' or identifier", first.text)),
        }
    }

    /// Values up to and with the closing parenthesis. Nothing between two commas, or beside a parenthesis, is the empty
    /// value.
    fn value_list(&mut self) -> Result<BTreeSet<&'a str>, String> {
        let mut values = BTreeSet::new();
        loop {
            let token = self.next();
            match token.kind {
                Kind::Identifier | Kind::Word(_) => {
                    values.insert(token.text);
                    let following = self.peek();
                    match following.kind {
                        Kind::Comma => {}
                        Kind::Close => break,
                        _ => return Err(format!("found '{}', expected: ',' or ')'", following.text)),
                    }
                }
                Kind::Comma => {
                    let following = self.peek().kind;
                    if values.is_empty() || matches!(following, Kind::Close | Kind::Comma) {
                        values.insert("");
                    }
                    if following == Kind::Close {
                        break;
                    }
                }
                _ => return Err(format!("found '{}', expected: ',', or identifier", token.text)),
            }
        }
        self.next();
        Ok(values)
    }
}

/// The rules for what was read, one complaint for each value that breaks one.
fn check(key: &str, operator: Operator, values: &BTreeSet<&str>) -> Result<(), String> {
    let mut errors = Vec::new();
    if matches!(operator, Operator::GreaterThan | Operator::LessThan) {
        for (index, value) in values
            .iter()
            .enumerate()
            .filter(|(_, value)| value.parse::<i64>().is_err())
        {
            let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
            errors.push(FieldError::invalid(format!("values[{index}]"), *value, detail).to_string());
        }
    }
    for (index, value) in values.iter().enumerate() {
        let complaints = label_value(value);
        if !complaints.is_empty() {
            let field = format!("values[{index}][{key}]");
            errors.push(FieldError::invalid(field, *value, complaints.join("; ")).to_string());
        }
    }
    match errors.as_slice() {
        [] => Ok(()),
        [only] => Err(only.clone()),
        _ => Err(format!("[{}]", errors.join(", "))),
    }
}

struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    fn next(&mut self) -> Token<'a> {
        self.rest = self.rest.trim_start_matches(is_space);
        match self.rest.chars().next() {
            // Upstream's scanner takes a zero byte for the end.
            None | Some('\0') => Token {
                kind: Kind::End,
                text: "",
            },
            Some(first) if is_symbol(first) => self.symbol(),
            Some(_) => self.word(),
        }
    }

    /// The longest symbol that is known; an exclamation mark before anything but `=` stands alone.
    fn symbol(&mut self) -> Token<'a> {
        const SYMBOLS: [(&str, Kind); 9] = [
            ("==", Kind::Operator(Operator::DoubleEquals)),
            ("!=", Kind::Operator(Operator::NotEquals)),
            ("=", Kind::Operator(Operator::Equals)),
            (">", Kind::Operator(Operator::GreaterThan)),
            ("<", Kind::Operator(Operator::LessThan)),
            ("!", Kind::Not),
            ("(", Kind::Open),
            (")", Kind::Close),
            (",", Kind::Comma),
        ];
        let (text, kind) = SYMBOLS
            .into_iter()
            .find(|(text, _)| self.rest.starts_with(text))
            .expect("every symbol starts a row of the table");
        Token {
            kind,
            text: self.take(text.len()),
        }
    }

    fn word(&mut self) -> Token<'a> {
        let is_end = |character| is_symbol(character) || is_space(character) || character == '\0';
        let text = self.take(self.rest.find(is_end).unwrap_or(self.rest.len()));
        let kind = match text {
            "in" => Kind::Word(Operator::In),
            "notin" => Kind::Word(Operator::NotIn),
            _ => Kind::Identifier,
        };
        Token { kind, text }
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (text, rest) = self.rest.split_at(length);
        self.rest = rest;
        text
    }
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

fn is_symbol(character: char) -> bool {
    matches!(character, '=' | '!' | '(' | ')' | ',' | '>' | '<')
}
