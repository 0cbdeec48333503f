//! The syntax tree of an expression: nodes in one arena, each with the place in the text that errors point to.

/// A node of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ExprId(pub(super) u32);

/// A constant in the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
}

/// One node.
#[derive(Clone, Debug)]
pub(super) enum Expr {
    Literal(Literal),
    Ident(String),
    Select {
        operand: ExprId,
        field: String,
        /// `has(...)`: asks whether the field is there.
        is_test: bool,
    },
    Call {
        target: Option<ExprId>,
        function: String,
        arguments: Vec<ExprId>,
    },
    List(Vec<Entry>),
    Map(Vec<(ExprId, Entry)>),
    /// `Name{...}`: no type can be made by its name, so only the name is kept, for the message.
    Message(String),
    Fold(Box<Fold>),
}

/// An element of a list or a value of a map; an optional one is left out when it is empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) value: ExprId,
    pub(super) is_optional: bool,
}

/// A comprehension, in the general form from which types and costs are computed, and its kind, by which it is run.
#[derive(Clone, Debug)]
pub(super) struct Fold {
    pub(super) kind: FoldKind,
    pub(super) range: ExprId,
    pub(super) variable: String,
    pub(super) second_variable: Option<String>,
    pub(super) accumulator: String,
    pub(super) initial: ExprId,
    pub(super) condition: ExprId,
    pub(super) step: ExprId,
    pub(super) result: ExprId,
}

/// What a comprehension computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoldKind {
    /// Whether the predicate holds for all.
    All(ExprId),
    /// Whether the predicate holds for one at least.
    Exists(ExprId),
    /// Whether the predicate holds for one and only one.
    ExistsOne(ExprId),
    /// A list of values of those for which the filter holds.
    Append { filter: Option<ExprId>, value: ExprId },
    /// A map from the keys of the range to values.
    Insert { filter: Option<ExprId>, value: ExprId },
    /// A map made of maps.
    Merge { filter: Option<ExprId>, value: ExprId },
    /// No loop: the accumulator is a name for the initial value in the result.
    Bind,
}

/// The nodes of an expression.
#[derive(Clone, Debug)]
pub(super) struct Ast {
    exprs: Vec<Expr>,
    /// Where each node stands, in characters.
    places: Vec<usize>,
    pub(super) root: ExprId,
}

impl Ast {
    pub(super) const fn new() -> Self {
        Self {
            exprs: Vec::new(),
            places: Vec::new(),
            root: ExprId(0),
        }
    }

    pub(super) fn push(&mut self, expr: Expr, place: usize) -> ExprId {
        let id = u32::try_from(self.exprs.len()).expect("an expression fits into a request of a few megabytes");
        self.exprs.push(expr);
        self.places.push(place);
        ExprId(id)
    }

    pub(super) fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.0 as usize]
    }

    pub(super) fn replace(&mut self, id: ExprId, expr: Expr) {
        self.exprs[id.0 as usize] = expr;
    }

    pub(super) fn place(&self, id: ExprId) -> usize {
        self.places[id.0 as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.exprs.len()
    }

    /// The same expression once more, with nodes of its own.
    pub(super) fn copy(&mut self, id: ExprId) -> ExprId {
        let expr = match self.expr(id).clone() {
            Expr::Select {
                operand,
                field,
                is_test,
            } => Expr::Select {
                operand: self.copy(operand),
                field,
                is_test,
            },
            Expr::Call {
                target,
                function,
                arguments,
            } => Expr::Call {
                target: target.map(|target| self.copy(target)),
                function,
                arguments: arguments.into_iter().map(|argument| self.copy(argument)).collect(),
            },
            Expr::List(entries) => Expr::List(entries.into_iter().map(|entry| self.copy_entry(entry)).collect()),
            Expr::Map(entries) => {
                let copied = entries
                    .into_iter()
                    .map(|(key, entry)| (self.copy(key), self.copy_entry(entry)));
                Expr::Map(copied.collect())
            }
            // A comprehension that is copied is only ever a target, whose parts nothing else holds on to.
            other => other,
        };
        let place = self.place(id);
        self.push(expr, place)
    }

    fn copy_entry(&mut self, entry: Entry) -> Entry {
        Entry {
            value: self.copy(entry.value),
            is_optional: entry.is_optional,
        }
    }

    /// The dotted name that an expression of selections spells.
    pub(super) fn qualified_name(&self, id: ExprId) -> Option<String> {
        match self.expr(id) {
            Expr::Ident(name) => Some(name.clone()),
            Expr::Select {
                operand,
                field,
                is_test: false,
            } => Some(format!("{}.{field}", self.qualified_name(*operand)?)),
            _ => None,
        }
    }

    /// The string that a literal holds.
    pub(super) fn string(&self, id: ExprId) -> Option<&str> {
        match self.expr(id) {
            Expr::Literal(Literal::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The nodes directly below one.
    pub(super) fn children(&self, id: ExprId) -> Vec<ExprId> {
        match self.expr(id) {
            Expr::Literal(_) | Expr::Ident(_) | Expr::Message(_) => Vec::new(),
            Expr::Select { operand, .. } => vec![*operand],
            Expr::Call { target, arguments, .. } => target.iter().chain(arguments).copied().collect(),
            Expr::List(entries) => entries.iter().map(|entry| entry.value).collect(),
            Expr::Map(entries) => entries.iter().flat_map(|(key, entry)| [*key, entry.value]).collect(),
            Expr::Fold(fold) => vec![fold.range, fold.initial, fold.condition, fold.step, fold.result],
        }
    }
}

/// Something wrong with an expression, at a place in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Complaint {
    pub(super) place: usize,
    pub(super) message: String,
}

/// All complaints as upstream prints them: sorted, each with the line and a caret below it.
pub(super) fn display(text: &str, complaints: &[Complaint]) -> String {
    let mut sorted = complaints.to_vec();
    sorted.sort_by_key(|complaint| complaint.place);
    let shown: Vec<String> = sorted.iter().map(|complaint| display_one(text, complaint)).collect();
    shown.join("\n")
}

fn display_one(text: &str, complaint: &Complaint) -> String {
    let before: String = text.chars().take(complaint.place).collect();
    let line_number = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|character| *character != '\n').count();
    let line = text.lines().nth(line_number - 1).unwrap_or_default().replace('\t', " ");
    let wide = |character: char| if character.len_utf8() > 1 { '\u{ff0e}' } else { '.' };
    let dots: String = line.chars().take(column).map(wide).collect();
    let caret = match line.chars().nth(column) {
        Some(character) if character.len_utf8() > 1 => '\u{ff3e}',
        _ => '^',
    };
    format!(
        "ERROR: <input>:{line_number}:{}: {}\n | {line}\n | {dots}{caret}",
        column + 1,
        complaint.message
    )
}
