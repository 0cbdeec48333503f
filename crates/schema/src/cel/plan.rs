//! From a checked expression to a tree that is run: names are resolved, constant patterns are compiled, and each call
//! knows its function and its cost.

use regex::Regex;

use super::ast::{Ast, Complaint, Entry, Expr, ExprId, Fold, FoldKind, Literal};
use super::check::Checked;
use super::declared::unescape;
use super::eval::constant;
use super::library::{self, Native, cost::Cost};
use super::value::{Failure, type_value_name};
use crate::go_regex;

/// One step.
#[derive(Debug)]
pub(super) enum Plan {
    Constant(Literal),
    Current,
    Old,
    /// A variable of a comprehension, by its place on the stack.
    Local(usize),
    TypeName(&'static str),
    Select(Box<Plan>, Field),
    Has(Box<Plan>, Field),
    OptionalSelect(Box<Plan>, Field),
    And(Box<[Plan; 2]>),
    Or(Box<[Plan; 2]>),
    If(Box<[Plan; 3]>),
    List(Vec<(Plan, bool)>),
    Map(Vec<(Plan, Plan, bool)>),
    Fold(Box<FoldPlan>),
    Bind(Box<[Plan; 2]>),
    /// A pattern that is a constant, and its length.
    Pattern(Box<Plan>, PatternKind, Regex, u64),
    /// `a.or(b)` and `a.orValue(b)`: the second is asked only when the first is empty.
    Fallback(Box<[Plan; 2]>, bool),
    Call(Native, Cost, Vec<Plan>),
}

/// What is asked of a constant pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PatternKind {
    Matches,
    Find,
    FindAll,
}

/// The name of a field, as the expression writes it and as the object does.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) written: String,
    pub(super) name: Option<String>,
}

/// A comprehension.
#[derive(Debug)]
pub(super) struct FoldPlan {
    pub(super) range: Plan,
    pub(super) has_two: bool,
    pub(super) kind: FoldStep,
}

/// What is done for each entry.
#[derive(Debug)]
pub(super) enum FoldStep {
    All(Plan),
    Exists(Plan),
    ExistsOne(Plan),
    Append(Option<Plan>, Plan),
    Insert(Option<Plan>, Plan),
    Merge(Option<Plan>, Plan),
}

/// The plan of an expression, or which of its functions or patterns is unknown.
pub(super) fn plan(checked: &Checked) -> Result<Plan, PlanError> {
    let mut planner = Planner {
        checked,
        locals: Vec::new(),
    };
    planner.plan(checked.ast.root)
}

struct Planner<'a> {
    checked: &'a Checked,
    locals: Vec<String>,
}

type Planned<T> = Result<T, PlanError>;

/// Why there is no plan.
#[derive(Debug)]
pub(super) enum PlanError {
    /// Something is unknown, at a place in the text.
    Complaint(Complaint),
    /// A constant cannot be converted.
    Instantiation(String),
}

/// Functions that upstream calls at once when their argument is a constant.
const CONVERSIONS: [&str; 10] = [
    "bool",
    "bytes",
    "double",
    "duration",
    "dyn",
    "int",
    "string",
    "timestamp",
    "type",
    "uint",
];

impl Planner<'_> {
    fn ast(&self) -> &Ast {
        &self.checked.ast
    }

    fn boxed(&mut self, id: ExprId) -> Planned<Box<Plan>> {
        self.plan(id).map(Box::new)
    }

    fn plan(&mut self, id: ExprId) -> Planned<Plan> {
        if let Some(kind) = self.checked.type_values.get(&id) {
            return Ok(Plan::TypeName(type_value_name(kind)));
        }
        match self.ast().expr(id).clone() {
            Expr::Literal(literal) => Ok(Plan::Constant(literal)),
            Expr::Ident(name) => Ok(self.ident(&name)),
            Expr::Select {
                operand,
                field,
                is_test,
            } => {
                let operand = self.boxed(operand)?;
                let field = Field::new(field);
                Ok(if is_test {
                    Plan::Has(operand, field)
                } else {
                    Plan::Select(operand, field)
                })
            }
            Expr::Call {
                target,
                function,
                arguments,
            } => self.call(id, target, &function, &arguments),
            Expr::List(entries) => {
                let entry = |entry: Entry| Ok((self.plan(entry.value)?, entry.is_optional));
                Ok(Plan::List(entries.into_iter().map(entry).collect::<Planned<_>>()?))
            }
            Expr::Map(entries) => {
                let entry =
                    |(key, entry): (ExprId, Entry)| Ok((self.plan(key)?, self.plan(entry.value)?, entry.is_optional));
                Ok(Plan::Map(entries.into_iter().map(entry).collect::<Planned<_>>()?))
            }
            Expr::Message(name) => Err(self.unknown(id, &name)),
            Expr::Fold(fold) if fold.kind == FoldKind::Bind => self.bind(&fold),
            Expr::Fold(fold) => self.fold(&fold),
        }
    }

    fn unknown(&self, id: ExprId, name: &str) -> PlanError {
        PlanError::Complaint(Complaint {
            place: self.ast().place(id),
            message: format!("undeclared reference to '{name}' (in container '')"),
        })
    }

    fn ident(&self, name: &str) -> Plan {
        let name = name.strip_prefix('.').unwrap_or(name);
        match self.locals.iter().rposition(|local| local == name) {
            Some(place) => Plan::Local(place),
            None if name == "oldSelf" => Plan::Old,
            None => Plan::Current,
        }
    }

    fn call(&mut self, id: ExprId, target: Option<ExprId>, function: &str, arguments: &[ExprId]) -> Planned<Plan> {
        let all: Vec<ExprId> = target.iter().chain(arguments).copied().collect();
        match (function, all.as_slice()) {
            ("_&&_", [left, right]) => Ok(Plan::And(Box::new([self.plan(*left)?, self.plan(*right)?]))),
            ("_||_", [left, right]) => Ok(Plan::Or(Box::new([self.plan(*left)?, self.plan(*right)?]))),
            ("_?_:_", [condition, yes, no]) => Ok(Plan::If(Box::new([
                self.plan(*condition)?,
                self.plan(*yes)?,
                self.plan(*no)?,
            ]))),
            ("_?._", [operand, field]) => {
                let field = Field::new(self.ast().string(*field).unwrap_or_default().to_owned());
                Ok(Plan::OptionalSelect(self.boxed(*operand)?, field))
            }
            ("or" | "orValue", [first, second]) => {
                let parts = Box::new([self.plan(*first)?, self.plan(*second)?]);
                Ok(Plan::Fallback(parts, function == "orValue"))
            }
            ("matches" | "find" | "findAll", [text, pattern]) if self.ast().string(*pattern).is_some() => {
                self.pattern(function, *text, *pattern)
            }
            _ => self.native(id, function, &all),
        }
    }

    fn pattern(&mut self, function: &str, text: ExprId, pattern: ExprId) -> Planned<Plan> {
        let source = self.ast().string(pattern).unwrap_or_default().to_owned();
        let regex = go_regex::compile(&source).map_err(|_| {
            PlanError::Complaint(Complaint {
                place: self.ast().place(pattern),
                message: format!("invalid {function} argument"),
            })
        })?;
        let kind = match function {
            "matches" => PatternKind::Matches,
            "find" => PatternKind::Find,
            _ => PatternKind::FindAll,
        };
        let length = u64::try_from(source.chars().count()).unwrap_or(u64::MAX);
        Ok(Plan::Pattern(self.boxed(text)?, kind, regex, length))
    }

    fn native(&mut self, id: ExprId, function: &str, arguments: &[ExprId]) -> Planned<Plan> {
        let native = library::native(function).ok_or_else(|| self.unknown(id, function))?;
        let overloads = self.checked.overloads.get(&id).map_or(&[][..], Vec::as_slice);
        let cost = Cost::of(function, overloads);
        let arguments = arguments
            .iter()
            .map(|argument| self.plan(*argument))
            .collect::<Planned<Vec<_>>>()?;
        if let ([Plan::Constant(literal)], true) = (arguments.as_slice(), CONVERSIONS.contains(&function)) {
            // A conversion of a constant that cannot work is found before anything runs.
            if let Err(Failure::Error(message)) = native(&[constant(literal)]) {
                return Err(PlanError::Instantiation(message.to_string()));
            }
        }
        Ok(Plan::Call(native, cost, arguments))
    }

    fn bind(&mut self, fold: &Fold) -> Planned<Plan> {
        let value = self.plan(fold.initial)?;
        self.locals.push(fold.accumulator.clone());
        let result = self.plan(fold.result);
        self.locals.pop();
        Ok(Plan::Bind(Box::new([value, result?])))
    }

    fn fold(&mut self, fold: &Fold) -> Planned<Plan> {
        let range = self.plan(fold.range)?;
        let depth = self.locals.len();
        self.locals.push(fold.variable.clone());
        self.locals.extend(fold.second_variable.clone());
        let kind = self.step(fold);
        self.locals.truncate(depth);
        Ok(Plan::Fold(Box::new(FoldPlan {
            range,
            has_two: fold.second_variable.is_some(),
            kind: kind?,
        })))
    }

    fn step(&mut self, fold: &Fold) -> Planned<FoldStep> {
        let mut filtered = |filter: Option<ExprId>, value: ExprId| -> Planned<(Option<Plan>, Plan)> {
            Ok((filter.map(|filter| self.plan(filter)).transpose()?, self.plan(value)?))
        };
        Ok(match fold.kind {
            FoldKind::All(predicate) => FoldStep::All(self.plan(predicate)?),
            FoldKind::Exists(predicate) => FoldStep::Exists(self.plan(predicate)?),
            FoldKind::ExistsOne(predicate) => FoldStep::ExistsOne(self.plan(predicate)?),
            FoldKind::Append { filter, value } => {
                let (filter, value) = filtered(filter, value)?;
                FoldStep::Append(filter, value)
            }
            FoldKind::Insert { filter, value } => {
                let (filter, value) = filtered(filter, value)?;
                FoldStep::Insert(filter, value)
            }
            FoldKind::Merge { filter, value } => {
                let (filter, value) = filtered(filter, value)?;
                FoldStep::Merge(filter, value)
            }
            FoldKind::Bind => unreachable!("bindings are planned elsewhere"),
        })
    }
}

impl Field {
    fn new(written: String) -> Self {
        let name = unescape(&written);
        Self { written, name }
    }
}
