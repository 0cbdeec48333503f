//! The expression language of validation rules: parse, check types, estimate the cost, and evaluate against an object and
//! its schema. Faithful to cel-go as Kubernetes configures it; knows nothing of where rules stand.

mod ast;
mod check;
mod declared;
mod estimate;
mod eval;
mod free;
mod functions;
mod lex;
mod library;
mod lint;
mod macros;
mod parse;
mod plan;
mod types;
mod value;

use serde_json::Value as Json;

use crate::node::{Arena, NodeId};
use check::check;
use declared::{Declarations, DeclaredId};
use plan::{Plan, PlanError};

pub(crate) use free::FreeProgram;
use types::Type;
use value::{Failure, Value};

/// What a rule may cost to evaluate once.
pub(crate) const MAX_COST: u64 = 1_000_000;

/// The types of a schema, made once for all of its rules.
#[derive(Debug, Default)]
pub(crate) struct Types {
    declarations: Declarations,
}

/// The type of `self` in the rules of one node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    declared: DeclaredId,
}

impl Types {
    /// The scope of a node; none if expressions must not see it.
    pub(crate) fn scope(&mut self, arena: &Arena, id: NodeId, is_resource: bool) -> Option<Scope> {
        let declared = self.declarations.declare(arena, id, is_resource)?;
        Some(Scope { declared })
    }

    /// How often values of the scope fit into a request, where no limit says so.
    pub(crate) fn max_cardinality(&self, scope: Scope) -> u64 {
        let least = self.declarations.get(scope.declared).min_bytes + 1;
        u64::try_from(declared::MAX_REQUEST_BYTES / least).unwrap_or_default()
    }
}

/// What an expression must give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gives {
    /// A rule.
    Bool,
    /// A message.
    String,
}

/// An expression that is ready to run.
#[derive(Debug)]
pub(crate) struct Program {
    plan: Plan,
    /// Whether `oldSelf` is used.
    pub(crate) uses_old: bool,
    /// What it can cost at worst.
    pub(crate) max_cost: u64,
}

impl Program {
    /// Compiles an expression, or says what is wrong with it, in upstream's words.
    pub(crate) fn compile(
        text: &str,
        types: &Types,
        scope: Scope,
        has_optional_old: bool,
        gives: Gives,
    ) -> Result<Self, String> {
        let what = if gives == Gives::Bool { "" } else { "messageExpression " };
        let current = types.declarations.type_of(scope.declared);
        let old = if has_optional_old {
            Type::optional(current.clone())
        } else {
            current.clone()
        };
        let failed =
            |complaints: &[ast::Complaint]| format!("{what}compilation failed: {}", ast::display(text, complaints));
        let ast = parse::parse(text).map_err(|complaints| failed(&complaints))?;
        let variables = vec![("self".to_owned(), current), ("oldSelf".to_owned(), old)];
        let checked = check(ast, variables, &types.declarations).map_err(|complaints| failed(&complaints))?;
        let complaints = lint::lint(&checked);
        if !complaints.is_empty() {
            return Err(failed(&complaints));
        }
        match (gives, checked.type_of(checked.ast.root)) {
            (Gives::Bool, Type::Bool) | (Gives::String, Type::String) => {}
            (Gives::Bool, _) => return Err("cel expression must evaluate to a bool".to_owned()),
            (Gives::String, _) => return Err("messageExpression must evaluate to a string".to_owned()),
        }
        let plan = plan::plan(&checked).map_err(|error| match (error, gives) {
            (PlanError::Complaint(complaint), _) => failed(&[complaint]),
            (PlanError::Instantiation(words), Gives::Bool) => format!("program instantiation failed: {words}"),
            (PlanError::Instantiation(words), Gives::String) => {
                format!("messageExpression instantiation failed: {words}")
            }
        })?;
        Ok(Self {
            plan,
            uses_old: checked.uses_old,
            max_cost: estimate::estimate(&checked, &types.declarations, scope.declared),
        })
    }
}

/// What an expression is evaluated against.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub(crate) arena: &'a Arena,
    pub(crate) id: NodeId,
    pub(crate) is_resource: bool,
    pub(crate) current: &'a Json,
    pub(crate) old: Option<&'a Json>,
    pub(crate) has_optional_old: bool,
}

/// What came out of an expression.
#[derive(Debug, PartialEq)]
pub(crate) enum Answer {
    Bool(bool),
    String(String),
    /// It has no value, for this reason.
    Error(String),
    /// It cost more than one evaluation may.
    TooCostly,
}

/// Evaluates an expression; also says what that cost.
pub(crate) fn evaluate<'a>(program: &'a Program, input: Input<'a>) -> (Answer, u64) {
    let value = |json: &'a Json| Value::root(input.arena, input.id, json, input.is_resource);
    let old = match (input.old.map(value).transpose(), input.has_optional_old) {
        (Ok(old), true) => Some(Value::optional(old)),
        (Ok(old), false) => old,
        (Err(failure), _) => return (answer_of(Err(failure)), 0),
    };
    let current = match value(input.current) {
        Ok(current) => current,
        Err(failure) => return (answer_of(Err(failure)), 0),
    };
    let mut run = eval::Run::new(current, old, MAX_COST);
    let outcome = run.eval(&program.plan);
    (answer_of(outcome), run.cost)
}

fn answer_of(outcome: Result<Value<'_>, Failure>) -> Answer {
    match outcome {
        Ok(Value::Bool(flag)) => Answer::Bool(flag),
        Ok(Value::String(text)) => Answer::String(text.to_string()),
        Ok(other) => Answer::Error(format!("unexpected result of type {}", other.type_name())),
        Err(Failure::Error(message)) => Answer::Error(message.to_string()),
        Err(Failure::TooCostly) => Answer::TooCostly,
    }
}
