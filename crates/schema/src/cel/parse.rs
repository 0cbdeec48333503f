//! From tokens to a syntax tree, with macros expanded on the way.

use super::ast::{Ast, Complaint, Entry, Expr, ExprId, Literal};
use super::lex::{self, Placed, Token};
use super::macros;

/// Upstream refuses deeper nesting; it also keeps the walks over the tree from running out of stack.
const MAX_DEPTH: usize = 250;

/// What an expression may begin with, in the words and the order of upstream's parser.
const EXPRESSION_BEGINS: &str = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, \
                                 STRING, BYTES, IDENTIFIER}";

/// Words that may become syntax one day.
const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// The tree of an expression, or what is wrong with its text.
pub(super) fn parse(text: &str) -> Result<Ast, Vec<Complaint>> {
    let tokens = lex::tokens(text).map_err(|complaint| vec![complaint])?;
    let mut parser = Parser {
        ast: Ast::new(),
        tokens,
        at: 0,
        depth: 0,
    };
    let root = parser.whole().map_err(|complaint| vec![complaint])?;
    parser.ast.root = root;
    Ok(parser.ast)
}

struct Parser {
    ast: Ast,
    tokens: Vec<Placed>,
    at: usize,
    depth: usize,
}

type Parsed<T> = Result<T, Complaint>;

impl Parser {
    fn whole(&mut self) -> Parsed<ExprId> {
        let root = self.expression()?;
        if *self.peek() == Token::End {
            Ok(root)
        } else {
            Err(self.complaint(&format!("extraneous input '{}' expecting <EOF>", self.found())))
        }
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.at].token
    }

    fn place(&self) -> usize {
        self.tokens[self.at].place
    }

    fn advance(&mut self) -> Placed {
        let placed = self.tokens[self.at].clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        placed
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek(), Token::Symbol(found) if *found == symbol)
    }

    /// Takes the symbol if it comes next, and says where it stood.
    fn take(&mut self, symbol: &str) -> Option<usize> {
        self.is_symbol(symbol).then(|| self.advance().place)
    }

    fn take_one(&mut self, symbols: &[&'static str]) -> Option<(&'static str, usize)> {
        symbols.iter().find_map(|symbol| Some((*symbol, self.take(symbol)?)))
    }

    fn expect(&mut self, symbol: &str) -> Parsed<usize> {
        self.take(symbol).ok_or_else(|| match symbol {
            ")" | "]" | "}" if self.peek() == &Token::End => {
                self.complaint(&format!("missing '{symbol}' at '{}'", self.found()))
            }
            _ => self.complaint(&format!("mismatched input '{}' expecting '{symbol}'", self.found())),
        })
    }

    fn unexpected(&self) -> Complaint {
        self.complaint(&format!("mismatched input '{}'", self.found()))
    }

    /// What stands where an expression should begin, as upstream's parser complains: it would go on behind anything but
    /// the end.
    fn no_expression(&self) -> Complaint {
        let word = if self.peek() == &Token::End {
            "mismatched"
        } else {
            "extraneous"
        };
        self.complaint(&format!(
            "{word} input '{}' expecting {EXPRESSION_BEGINS}",
            self.found()
        ))
    }

    fn complaint(&self, message: &str) -> Complaint {
        Complaint {
            place: self.place(),
            message: format!("Syntax error: {message}"),
        }
    }

    /// The next token as the parser names it.
    fn found(&self) -> String {
        match self.peek() {
            Token::Ident(name) | Token::Quoted(name) | Token::Number(name) | Token::Float(name) => name.clone(),
            Token::Literal(literal) => format!("{literal:?}"),
            Token::Symbol(symbol) => (*symbol).to_owned(),
            Token::End => "<EOF>".to_owned(),
        }
    }

    fn call(&mut self, function: &str, arguments: Vec<ExprId>, place: usize) -> ExprId {
        let call = Expr::Call {
            target: None,
            function: function.to_owned(),
            arguments,
        };
        self.ast.push(call, place)
    }

    fn expression(&mut self) -> Parsed<ExprId> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Complaint {
                place: self.place(),
                message: "expression recursion limit exceeded: 250".to_owned(),
            });
        }
        let condition = self.disjunction()?;
        let expression = match self.take("?") {
            Some(place) => {
                let yes = self.disjunction()?;
                self.expect(":")?;
                let no = self.expression()?;
                self.call("_?_:_", vec![condition, yes, no], place)
            }
            None => condition,
        };
        self.depth -= 1;
        Ok(expression)
    }

    fn disjunction(&mut self) -> Parsed<ExprId> {
        self.chain("||", "_||_", Self::conjunction)
    }

    fn conjunction(&mut self) -> Parsed<ExprId> {
        self.chain("&&", "_&&_", |parser| parser.relation(0))
    }

    /// Long chains become balanced trees, so that their depth stays small.
    fn chain(
        &mut self,
        symbol: &str,
        function: &str,
        mut part: impl FnMut(&mut Self) -> Parsed<ExprId>,
    ) -> Parsed<ExprId> {
        let mut parts = vec![part(self)?];
        let mut places = Vec::new();
        while let Some(place) = self.take(symbol) {
            places.push(place);
            parts.push(part(self)?);
        }
        Ok(self.balance(function, &parts, &places))
    }

    fn balance(&mut self, function: &str, parts: &[ExprId], places: &[usize]) -> ExprId {
        if let [only] = parts {
            return *only;
        }
        let middle = parts.len() / 2;
        let left = self.balance(function, &parts[..middle], &places[..middle - 1]);
        let right = self.balance(function, &parts[middle..], &places[middle..]);
        self.call(function, vec![left, right], places[middle - 1])
    }

    /// Comparisons, sums and products, by how tightly they bind.
    fn relation(&mut self, level: usize) -> Parsed<ExprId> {
        const LEVELS: [&[&str]; 3] = [&["<=", ">=", "==", "!=", "<", ">", "in"], &["+", "-"], &["*", "/", "%"]];
        let Some(symbols) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.relation(level + 1)?;
        while let Some((symbol, place)) = self.take_one(symbols) {
            let right = self.relation(level + 1)?;
            let function = if symbol == "in" {
                "@in".to_owned()
            } else {
                format!("_{symbol}_")
            };
            left = self.call(&function, vec![left, right], place);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<ExprId> {
        for (symbol, function) in [("!", "!_"), ("-", "-_")] {
            let mut places = Vec::new();
            while !(symbol == "-" && self.is_negative_number()) {
                let Some(place) = self.take(symbol) else { break };
                places.push(place);
            }
            if !places.is_empty() {
                let operand = self.member()?;
                // Two of a kind cancel each other.
                return Ok(if places.len() % 2 == 0 {
                    operand
                } else {
                    self.call(function, vec![operand], places[0])
                });
            }
        }
        self.member()
    }

    fn is_negative_number(&self) -> bool {
        let next = self.tokens.get(self.at + 1).map(|placed| &placed.token);
        self.is_symbol("-") && matches!(next, Some(Token::Number(_) | Token::Float(_)))
    }

    fn member(&mut self) -> Parsed<ExprId> {
        let mut operand = self.primary()?;
        loop {
            if let Some(place) = self.take(".") {
                operand = self.selection(operand, place)?;
            } else if let Some(place) = self.take("[") {
                let is_optional = self.take("?").is_some();
                let index = self.expression()?;
                self.expect("]")?;
                let function = if is_optional { "_[?_]" } else { "_[_]" };
                operand = self.call(function, vec![operand, index], place);
            } else {
                return Ok(operand);
            }
        }
    }

    fn selection(&mut self, operand: ExprId, place: usize) -> Parsed<ExprId> {
        let is_optional = self.take("?").is_some();
        let (name, is_quoted) = match self.peek().clone() {
            Token::Ident(name) => (name, false),
            Token::Quoted(name) => (name, true),
            // The keyword may be the name of a field.
            Token::Symbol("in") => ("in".to_owned(), false),
            _ => return Err(self.unexpected()),
        };
        self.advance();
        if is_optional {
            let field = self.ast.push(Expr::Literal(Literal::String(name)), place);
            return Ok(self.call("_?._", vec![operand, field], place));
        }
        if !is_quoted && let Some(open) = self.take("(") {
            let arguments = self.arguments(")")?;
            return self.member_call(operand, &name, arguments, open);
        }
        let select = Expr::Select {
            operand,
            field: name,
            is_test: false,
        };
        Ok(self.ast.push(select, place))
    }

    fn member_call(&mut self, target: ExprId, name: &str, arguments: Vec<ExprId>, place: usize) -> Parsed<ExprId> {
        if let Some(expanded) = macros::expand(&mut self.ast, Some(target), name, &arguments, place) {
            return expanded;
        }
        let call = Expr::Call {
            target: Some(target),
            function: name.to_owned(),
            arguments,
        };
        Ok(self.ast.push(call, place))
    }

    fn arguments(&mut self, end: &str) -> Parsed<Vec<ExprId>> {
        let mut arguments = Vec::new();
        if self.take(end).is_some() {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.expression()?);
            if self.take(",").is_none() {
                self.expect(end)?;
                return Ok(arguments);
            }
        }
    }

    fn primary(&mut self) -> Parsed<ExprId> {
        let (start, place) = (self.at, self.place());
        match self.advance().token {
            Token::Literal(literal) => Ok(self.ast.push(Expr::Literal(literal), place)),
            Token::Number(text) => self.integer(&text, false, place),
            Token::Float(text) => self.float(&text, false, place),
            Token::Symbol("-") => match self.peek().clone() {
                Token::Number(text) => {
                    self.advance();
                    self.integer(&text, true, place)
                }
                Token::Float(text) => {
                    self.advance();
                    self.float(&text, true, place)
                }
                _ => Err(self.unexpected()),
            },
            Token::Symbol("(") => {
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            Token::Symbol("[") => self.list(place),
            Token::Symbol("{") => self.map(place),
            Token::Symbol(".") => {
                let name = self.field_name().ok_or_else(|| self.unexpected())?;
                self.name(&format!(".{name}"), place)
            }
            Token::Ident(name) => self.name(&name, place),
            _ => {
                self.at = start;
                Err(self.no_expression())
            }
        }
    }

    /// A plain name, if one comes next.
    fn field_name(&mut self) -> Option<String> {
        let Token::Ident(name) = self.peek().clone() else {
            return None;
        };
        self.advance();
        Some(name)
    }

    fn integer(&mut self, text: &str, is_negative: bool, place: usize) -> Parsed<ExprId> {
        let sign = if is_negative { "-" } else { "" };
        let parsed = match text.strip_prefix("0x") {
            Some(digits) => i64::from_str_radix(&format!("{sign}{digits}"), 16),
            None => format!("{sign}{text}").parse(),
        };
        let value = parsed.map_err(|_| Complaint {
            place,
            message: "invalid int literal".to_owned(),
        })?;
        Ok(self.ast.push(Expr::Literal(Literal::Int(value)), place))
    }

    fn float(&mut self, text: &str, is_negative: bool, place: usize) -> Parsed<ExprId> {
        let value: f64 = text
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite())
            .ok_or_else(|| Complaint {
                place,
                message: "invalid double literal".to_owned(),
            })?;
        let value = if is_negative { -value } else { value };
        Ok(self.ast.push(Expr::Literal(Literal::Double(value)), place))
    }

    fn name(&mut self, name: &str, place: usize) -> Parsed<ExprId> {
        if RESERVED.contains(&name.trim_start_matches('.')) {
            return Err(Complaint {
                place,
                message: format!("reserved identifier: {name}"),
            });
        }
        if let Some(open) = self.take("(") {
            let arguments = self.arguments(")")?;
            if let Some(expanded) = macros::expand(&mut self.ast, None, name, &arguments, open) {
                return expanded;
            }
            return Ok(self.call(name, arguments, open));
        }
        if self.is_message() {
            return self.message(name);
        }
        Ok(self.ast.push(Expr::Ident(name.to_owned()), place))
    }

    /// Whether a dotted name and then an opening brace follow.
    fn is_message(&self) -> bool {
        let mut at = self.at;
        loop {
            match self.tokens.get(at).map(|placed| &placed.token) {
                Some(Token::Symbol("{")) => return true,
                Some(Token::Symbol("."))
                    if matches!(
                        self.tokens.get(at + 1),
                        Some(Placed {
                            token: Token::Ident(_),
                            ..
                        })
                    ) =>
                {
                    at += 2;
                }
                _ => return false,
            }
        }
    }

    fn message(&mut self, name: &str) -> Parsed<ExprId> {
        let mut name = name.to_owned();
        while self.take(".").is_some() {
            if let Some(part) = self.field_name() {
                name = format!("{name}.{part}");
            }
        }
        let place = self.expect("{")?;
        while self.take("}").is_none() {
            self.take("?");
            self.advance();
            self.expect(":")?;
            self.expression()?;
            if self.take(",").is_none() && !self.is_symbol("}") {
                return Err(self.unexpected());
            }
        }
        Ok(self.ast.push(Expr::Message(name), place))
    }

    fn list(&mut self, place: usize) -> Parsed<ExprId> {
        let mut entries = Vec::new();
        while self.take("]").is_none() {
            let is_optional = self.take("?").is_some();
            let value = self.expression()?;
            entries.push(Entry { value, is_optional });
            if self.take(",").is_none() && !self.is_symbol("]") {
                return Err(self.unexpected());
            }
        }
        Ok(self.ast.push(Expr::List(entries), place))
    }

    fn map(&mut self, place: usize) -> Parsed<ExprId> {
        let mut entries = Vec::new();
        while self.take("}").is_none() {
            let is_optional = self.take("?").is_some();
            let key = self.expression()?;
            self.expect(":")?;
            let value = self.expression()?;
            entries.push((key, Entry { value, is_optional }));
            if self.take(",").is_none() && !self.is_symbol("}") {
                return Err(self.unexpected());
            }
        }
        Ok(self.ast.push(Expr::Map(entries), place))
    }
}
