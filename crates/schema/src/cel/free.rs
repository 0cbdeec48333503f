//! Expressions about variables that no schema declares: checked as far as an API server checks them before it starts, and
//! never evaluated here.

use super::{
    ast::{self, Ast, Complaint, Expr, ExprId},
    check::check,
    declared::Declarations,
    lint, parse,
    plan::{self, PlanError},
    types::Type,
};
use crate::expression::{Outcome, Variable};

/// An expression that was checked.
#[derive(Debug)]
pub(crate) struct FreeProgram {
    ast: Ast,
}

impl FreeProgram {
    /// Compiles an expression, or says what is wrong with it, in upstream's words.
    pub(crate) fn compile(text: &str, variables: &[Variable], outcome: Outcome) -> Result<Self, String> {
        let failed = |complaints: Vec<Complaint>| format!("compilation failed: {}", ast::display(text, &complaints));
        let mut declarations = Declarations::default();
        let types = variables.iter().map(|variable| {
            let declared = declarations.declare_kind(&variable.kind);
            (variable.name.to_owned(), declarations.type_of(declared))
        });
        let types = types.collect();
        let ast = parse::parse(text).map_err(failed)?;
        let checked = check(ast, types, &declarations).map_err(failed)?;
        let complaints = lint::lint(&checked);
        if !complaints.is_empty() {
            return Err(failed(complaints));
        }
        if outcome == Outcome::Bool && *checked.type_of(checked.ast.root) != Type::Bool {
            return Err("must evaluate to bool".to_owned());
        }
        plan::plan(&checked).map_err(|error| match error {
            PlanError::Complaint(complaint) => failed(vec![complaint]),
            PlanError::Instantiation(words) => format!("program instantiation failed: {words}"),
        })?;
        Ok(Self { ast: checked.ast })
    }

    /// Whether it looks at a field of a variable by its name, be it there or not.
    pub(crate) fn selects(&self, variable: &str, field: &str) -> bool {
        self.selects_below(self.ast.root, variable, field)
    }

    fn selects_below(&self, id: ExprId, variable: &str, field: &str) -> bool {
        self.is_selection(id, variable, field)
            || self
                .ast
                .children(id)
                .into_iter()
                .any(|child| self.selects_below(child, variable, field))
    }

    fn is_selection(&self, id: ExprId, variable: &str, field: &str) -> bool {
        let is_variable = |id: ExprId| matches!(self.ast.expr(id), Expr::Ident(name) if name == variable);
        match self.ast.expr(id) {
            Expr::Select {
                operand,
                field: selected,
                ..
            } => selected == field && is_variable(*operand),
            Expr::Call {
                function, arguments, ..
            } if function == "_?._" => {
                matches!(arguments.as_slice(), [operand, selected]
                    if is_variable(*operand) && self.ast.string(*selected) == Some(field))
            }
            _ => false,
        }
    }
}
