//! From the text of an expression to tokens.

use super::ast::{Complaint, Literal};

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Ident(String),
    /// A name in backticks, which may hold more characters.
    Quoted(String),
    Literal(Literal),
    /// A whole number; its sign is a token of its own.
    Number(String),
    Float(String),
    Symbol(&'static str),
    End,
}

/// A token and where it begins, in characters.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) token: Token,
    pub(super) place: usize,
}

/// Longest first.
const SYMBOLS: [&str; 24] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "+", "*",
    "/", "%",
];

/// All tokens, with `End` last.
pub(super) fn tokens(text: &str) -> Result<Vec<Placed>, Complaint> {
    let mut lexer = Lexer {
        characters: text.chars().collect(),
        at: 0,
    };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks();
        let place = lexer.at;
        let token = lexer.token()?;
        let is_end = token == Token::End;
        tokens.push(Placed { token, place });
        if is_end {
            return Ok(tokens);
        }
    }
}

fn complaint(place: usize, message: impl Into<String>) -> Complaint {
    Complaint {
        place,
        message: message.into(),
    }
}

struct Lexer {
    characters: Vec<char>,
    at: usize,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    fn starts_with(&self, text: &str) -> bool {
        text.chars()
            .enumerate()
            .all(|(index, character)| self.peek(index) == Some(character))
    }

    fn skip_blanks(&mut self) {
        loop {
            if self.starts_with("//") {
                while self.peek(0).is_some_and(|character| character != '\n') {
                    self.at += 1;
                }
            } else if matches!(self.peek(0), Some(' ' | '\t' | '\r' | '\n' | '\u{c}')) {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    fn token(&mut self) -> Result<Token, Complaint> {
        let Some(first) = self.peek(0) else {
            return Ok(Token::End);
        };
        if let Some(prefix) = self.string_prefix() {
            return self.string(prefix);
        }
        if first.is_ascii_digit() || first == '.' && self.peek(1).is_some_and(|next| next.is_ascii_digit()) {
            return self.number();
        }
        if first.is_ascii_alphabetic() || first == '_' {
            return Ok(self.word());
        }
        if first == '`' {
            return self.quoted();
        }
        if let Some(symbol) = SYMBOLS.into_iter().find(|symbol| self.starts_with(symbol)) {
            self.at += symbol.len();
            return Ok(Token::Symbol(symbol));
        }
        Err(complaint(
            self.at,
            format!("Syntax error: token recognition error at: '{first}'"),
        ))
    }

    fn word(&mut self) -> Token {
        let word = self.take_while(|character| character.is_ascii_alphanumeric() || character == '_');
        match word.as_str() {
            "true" => Token::Literal(Literal::Bool(true)),
            "false" => Token::Literal(Literal::Bool(false)),
            "null" => Token::Literal(Literal::Null),
            "in" => Token::Symbol("in"),
            _ => Token::Ident(word),
        }
    }

    fn quoted(&mut self) -> Result<Token, Complaint> {
        let place = self.at;
        self.at += 1;
        let name = self.take_while(|character| character.is_ascii_alphanumeric() || "_.-/ ".contains(character));
        if name.is_empty() || self.peek(0) != Some('`') {
            return Err(complaint(place, "Syntax error: token recognition error at: '`'"));
        }
        self.at += 1;
        Ok(Token::Quoted(name))
    }

    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> String {
        let start = self.at;
        while self.peek(0).is_some_and(&is_part) {
            self.at += 1;
        }
        self.characters[start..self.at].iter().collect()
    }

    fn number(&mut self) -> Result<Token, Complaint> {
        let place = self.at;
        if self.starts_with("0x") && self.peek(2).is_some_and(|digit| digit.is_ascii_hexdigit()) {
            self.at += 2;
            let digits = self.take_while(|character| character.is_ascii_hexdigit());
            return self.whole(format!("0x{digits}"), place);
        }
        let mut text = self.take_while(|character| character.is_ascii_digit());
        let mut is_float = false;
        if self.peek(0) == Some('.') && self.peek(1).is_some_and(|digit| digit.is_ascii_digit()) {
            is_float = true;
            self.at += 1;
            text.push('.');
            text += &self.take_while(|character| character.is_ascii_digit());
        }
        if let Some(exponent) = self.exponent() {
            is_float = true;
            text += &exponent;
        }
        if is_float {
            Ok(Token::Float(text))
        } else {
            self.whole(text, place)
        }
    }

    fn exponent(&mut self) -> Option<String> {
        if !matches!(self.peek(0), Some('e' | 'E')) {
            return None;
        }
        let sign = usize::from(matches!(self.peek(1), Some('+' | '-')));
        if !self.peek(1 + sign).is_some_and(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let mut text: String = self.characters[self.at..=self.at + sign].iter().collect();
        self.at += 1 + sign;
        text += &self.take_while(|character| character.is_ascii_digit());
        Some(text)
    }

    fn whole(&mut self, text: String, place: usize) -> Result<Token, Complaint> {
        if !matches!(self.peek(0), Some('u' | 'U')) {
            return Ok(Token::Number(text));
        }
        self.at += 1;
        let parsed = match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => text.parse(),
        };
        parsed
            .map(|value| Token::Literal(Literal::Uint(value)))
            .map_err(|_| complaint(place, "invalid uint literal"))
    }

    /// `r`, `b`, `br` or nothing before a quote.
    fn string_prefix(&self) -> Option<Prefix> {
        let mut prefix = Prefix::default();
        for length in 0..3 {
            match self.peek(length)? {
                '"' | '\'' => {
                    prefix.length = length;
                    return Some(prefix);
                }
                'b' | 'B' if !prefix.is_bytes && !prefix.is_raw => prefix.is_bytes = true,
                'r' | 'R' if !prefix.is_raw => prefix.is_raw = true,
                _ => return None,
            }
        }
        None
    }

    fn string(&mut self, prefix: Prefix) -> Result<Token, Complaint> {
        let place = self.at;
        self.at += prefix.length;
        let quote = self.peek(0).expect("a quote follows the prefix");
        let is_long = self.peek(1) == Some(quote) && self.peek(2) == Some(quote);
        let width = if is_long { 3 } else { 1 };
        self.at += width;
        let mut content = Content::new(prefix.is_bytes);
        loop {
            let Some(character) = self.peek(0) else {
                return Err(self.unclosed(place));
            };
            if (0..width).all(|ahead| self.peek(ahead) == Some(quote)) {
                self.at += width;
                return Ok(Token::Literal(content.finish()));
            }
            if !is_long && matches!(character, '\n' | '\r') {
                return Err(self.unclosed(place));
            }
            if character == '\\' && !prefix.is_raw {
                self.escape(&mut content, place)?;
            } else {
                content.push(character);
                self.at += 1;
            }
        }
    }

    fn unclosed(&self, place: usize) -> Complaint {
        let text: String = self.characters[place..]
            .iter()
            .take_while(|character| **character != '\n')
            .collect();
        complaint(place, format!("Syntax error: token recognition error at: '{text}'"))
    }

    fn escape(&mut self, content: &mut Content, place: usize) -> Result<(), Complaint> {
        self.at += 1;
        let Some(character) = self.peek(0) else {
            return Err(self.unclosed(place));
        };
        self.at += 1;
        let plain = match character {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\\' | '\'' | '"' | '`' | '?' => character,
            'x' | 'X' => return self.code(content, 2, 16, place),
            'u' => return self.code(content, 4, 16, place),
            'U' => return self.code(content, 8, 16, place),
            '0'..='3' => {
                self.at -= 1;
                return self.code(content, 3, 8, place);
            }
            _ => return Err(self.unclosed(place)),
        };
        content.push(plain);
        Ok(())
    }

    /// A character by its number; in bytes, two hexadecimal or three octal digits are one byte.
    fn code(&mut self, content: &mut Content, digits: usize, radix: u32, place: usize) -> Result<(), Complaint> {
        let text: String = self.characters.iter().skip(self.at).take(digits).collect();
        let code = u32::from_str_radix(&text, radix)
            .ok()
            .filter(|_| text.chars().count() == digits);
        let Some(code) = code else {
            return Err(self.unclosed(place));
        };
        self.at += digits;
        match (content, u8::try_from(code)) {
            (Content::Bytes(bytes), Ok(byte)) if digits < 4 => bytes.push(byte),
            (content, _) => {
                let Some(character) = char::from_u32(code) else {
                    return Err(complaint(place, "unable to unescape string"));
                };
                content.push(character);
            }
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Default)]
struct Prefix {
    length: usize,
    is_raw: bool,
    is_bytes: bool,
}

enum Content {
    Text(String),
    Bytes(Vec<u8>),
}

impl Content {
    fn new(is_bytes: bool) -> Self {
        if is_bytes {
            Self::Bytes(Vec::new())
        } else {
            Self::Text(String::new())
        }
    }

    fn push(&mut self, character: char) {
        match self {
            Self::Text(text) => text.push(character),
            Self::Bytes(bytes) => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }

    fn finish(self) -> Literal {
        match self {
            Self::Text(text) => Literal::String(text),
            Self::Bytes(bytes) => Literal::Bytes(bytes),
        }
    }
}
