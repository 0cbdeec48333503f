//! Macros become comprehensions while an expression is read: `all`, `exists`, `map`, `filter`, `has`, `optMap` and their
//! kin, with one or two variables.

use super::ast::{Ast, Complaint, Entry, Expr, ExprId, Fold, FoldKind, Literal};

/// The hidden name of what a comprehension computes.
const ACCUMULATOR: &str = "@result";
/// The name of a variable that no expression can write.
const UNUSED: &str = "#unused";

type Expanded = Result<ExprId, Complaint>;

/// The expansion of a call, if it is one of a macro.
pub(super) fn expand(
    ast: &mut Ast,
    target: Option<ExprId>,
    name: &str,
    arguments: &[ExprId],
    place: usize,
) -> Option<Expanded> {
    let mut maker = Maker { ast, place };
    let Some(target) = target else {
        return matches!((name, arguments), ("has", [_])).then(|| maker.has(arguments[0]));
    };
    Some(match (name, arguments) {
        ("all", [variable, predicate]) => maker.all(target, &[*variable], *predicate),
        ("all", [first, second, predicate]) => maker.all(target, &[*first, *second], *predicate),
        ("exists", [variable, predicate]) => maker.exists(target, &[*variable], *predicate),
        ("exists", [first, second, predicate]) => maker.exists(target, &[*first, *second], *predicate),
        ("exists_one", [variable, predicate]) => maker.exists_one(target, &[*variable], *predicate),
        ("exists_one" | "existsOne", [first, second, predicate]) => {
            maker.exists_one(target, &[*first, *second], *predicate)
        }
        ("map", [variable, value]) => maker.append(target, &[*variable], None, *value),
        ("map", [variable, filter, value]) => maker.append(target, &[*variable], Some(*filter), *value),
        ("filter", [variable, filter]) => maker.append(target, &[*variable], Some(*filter), *variable),
        ("transformList", [first, second, value]) => maker.append(target, &[*first, *second], None, *value),
        ("transformList", [first, second, filter, value]) => {
            maker.append(target, &[*first, *second], Some(*filter), *value)
        }
        ("transformMap", [first, second, value]) => maker.insert(target, &[*first, *second], None, *value),
        ("transformMap", [first, second, filter, value]) => {
            maker.insert(target, &[*first, *second], Some(*filter), *value)
        }
        ("transformMapEntry", [first, second, value]) => maker.merge(target, &[*first, *second], None, *value),
        ("transformMapEntry", [first, second, filter, value]) => {
            maker.merge(target, &[*first, *second], Some(*filter), *value)
        }
        ("optMap", [variable, value]) => maker.optional(target, *variable, *value, "optMap"),
        ("optFlatMap", [variable, value]) => maker.optional(target, *variable, *value, "optFlatMap"),
        ("sortBy", [variable, key]) => maker.sort_by(target, *variable, *key),
        _ => return None,
    })
}

/// Makes nodes at the place of the macro.
struct Maker<'a> {
    ast: &'a mut Ast,
    place: usize,
}

/// The parts of a comprehension that differ between macros.
struct Parts {
    kind: FoldKind,
    initial: ExprId,
    condition: ExprId,
    step: ExprId,
    result: ExprId,
}

impl Maker<'_> {
    fn push(&mut self, expr: Expr) -> ExprId {
        self.ast.push(expr, self.place)
    }

    fn literal(&mut self, literal: Literal) -> ExprId {
        self.push(Expr::Literal(literal))
    }

    fn ident(&mut self, name: &str) -> ExprId {
        self.push(Expr::Ident(name.to_owned()))
    }

    fn accumulator(&mut self) -> ExprId {
        self.ident(ACCUMULATOR)
    }

    fn call(&mut self, function: &str, arguments: Vec<ExprId>) -> ExprId {
        self.push(Expr::Call {
            target: None,
            function: function.to_owned(),
            arguments,
        })
    }

    fn member_call(&mut self, target: ExprId, function: &str, arguments: Vec<ExprId>) -> ExprId {
        self.push(Expr::Call {
            target: Some(target),
            function: function.to_owned(),
            arguments,
        })
    }

    fn list(&mut self, values: &[ExprId]) -> ExprId {
        let entry = |value: &ExprId| Entry {
            value: *value,
            is_optional: false,
        };
        self.push(Expr::List(values.iter().map(entry).collect()))
    }

    fn complaint(&self, id: ExprId, message: &str) -> Complaint {
        Complaint {
            place: self.ast.place(id),
            message: message.to_owned(),
        }
    }

    fn has(&mut self, argument: ExprId) -> Expanded {
        let Expr::Select { operand, field, .. } = self.ast.expr(argument).clone() else {
            return Err(self.complaint(argument, "invalid argument to has() macro"));
        };
        Ok(self.push(Expr::Select {
            operand,
            field,
            is_test: true,
        }))
    }

    fn variable(&self, id: ExprId, message: &str) -> Result<String, Complaint> {
        match self.ast.expr(id) {
            Expr::Ident(name) if name == ACCUMULATOR || name == "__result__" => {
                Err(self.complaint(id, "iteration variable overwrites accumulator variable"))
            }
            Expr::Ident(name) if !name.starts_with('.') => Ok(name.clone()),
            _ => Err(self.complaint(id, message)),
        }
    }

    fn variables(&self, ids: &[ExprId], words: &str) -> Result<(String, Option<String>), Complaint> {
        if let [only] = ids {
            return Ok((self.variable(*only, words)?, None));
        }
        let first = self.variable(ids[0], "argument must be a simple name")?;
        let second = self.variable(ids[1], "argument must be a simple name")?;
        if first == second {
            return Err(self.complaint(ids[1], &format!("duplicate variable name: {first}")));
        }
        Ok((first, Some(second)))
    }

    fn fold(&mut self, range: ExprId, variables: &[ExprId], parts: &Parts) -> Expanded {
        let words = match parts.kind {
            FoldKind::Append { .. } => "argument is not an identifier",
            _ => "argument must be a simple name",
        };
        let (variable, second_variable) = self.variables(variables, words)?;
        Ok(self.push(Expr::Fold(Box::new(Fold {
            kind: parts.kind,
            range,
            variable,
            second_variable,
            accumulator: ACCUMULATOR.to_owned(),
            initial: parts.initial,
            condition: parts.condition,
            step: parts.step,
            result: parts.result,
        }))))
    }

    fn all(&mut self, target: ExprId, variables: &[ExprId], predicate: ExprId) -> Expanded {
        let (condition, step) = (self.accumulator(), self.accumulator());
        let parts = Parts {
            kind: FoldKind::All(predicate),
            initial: self.literal(Literal::Bool(true)),
            condition: self.call("@not_strictly_false", vec![condition]),
            step: self.call("_&&_", vec![step, predicate]),
            result: self.accumulator(),
        };
        self.fold(target, variables, &parts)
    }

    fn exists(&mut self, target: ExprId, variables: &[ExprId], predicate: ExprId) -> Expanded {
        let (condition, step) = (self.accumulator(), self.accumulator());
        let negated = self.call("!_", vec![condition]);
        let parts = Parts {
            kind: FoldKind::Exists(predicate),
            initial: self.literal(Literal::Bool(false)),
            condition: self.call("@not_strictly_false", vec![negated]),
            step: self.call("_||_", vec![step, predicate]),
            result: self.accumulator(),
        };
        self.fold(target, variables, &parts)
    }

    fn exists_one(&mut self, target: ExprId, variables: &[ExprId], predicate: ExprId) -> Expanded {
        let (count, one) = (self.accumulator(), self.literal(Literal::Int(1)));
        let more = self.call("_+_", vec![count, one]);
        let same = self.accumulator();
        let (result, one) = (self.accumulator(), self.literal(Literal::Int(1)));
        let parts = Parts {
            kind: FoldKind::ExistsOne(predicate),
            initial: self.literal(Literal::Int(0)),
            condition: self.literal(Literal::Bool(true)),
            step: self.call("_?_:_", vec![predicate, more, same]),
            result: self.call("_==_", vec![result, one]),
        };
        self.fold(target, variables, &parts)
    }

    /// A step that happens only where the filter holds.
    fn filtered(&mut self, filter: Option<ExprId>, step: ExprId) -> ExprId {
        match filter {
            Some(filter) => {
                let same = self.accumulator();
                self.call("_?_:_", vec![filter, step, same])
            }
            None => step,
        }
    }

    fn append(&mut self, target: ExprId, variables: &[ExprId], filter: Option<ExprId>, value: ExprId) -> Expanded {
        let (accumulator, added) = (self.accumulator(), self.list(&[value]));
        let step = self.call("_+_", vec![accumulator, added]);
        let parts = Parts {
            kind: FoldKind::Append { filter, value },
            initial: self.list(&[]),
            condition: self.literal(Literal::Bool(true)),
            step: self.filtered(filter, step),
            result: self.accumulator(),
        };
        self.fold(target, variables, &parts)
    }

    fn insert(&mut self, target: ExprId, variables: &[ExprId], filter: Option<ExprId>, value: ExprId) -> Expanded {
        let (first, _) = self.variables(variables, "argument must be a simple name")?;
        let (accumulator, key) = (self.accumulator(), self.ident(&first));
        let step = self.call("cel.@mapInsert", vec![accumulator, key, value]);
        self.map_fold(target, variables, filter, step, FoldKind::Insert { filter, value })
    }

    fn merge(&mut self, target: ExprId, variables: &[ExprId], filter: Option<ExprId>, value: ExprId) -> Expanded {
        let accumulator = self.accumulator();
        let step = self.call("cel.@mapInsert", vec![accumulator, value]);
        self.map_fold(target, variables, filter, step, FoldKind::Merge { filter, value })
    }

    fn map_fold(
        &mut self,
        target: ExprId,
        variables: &[ExprId],
        filter: Option<ExprId>,
        step: ExprId,
        kind: FoldKind,
    ) -> Expanded {
        let parts = Parts {
            kind,
            initial: self.push(Expr::Map(Vec::new())),
            condition: self.literal(Literal::Bool(true)),
            step: self.filtered(filter, step),
            result: self.accumulator(),
        };
        self.fold(target, variables, &parts)
    }

    /// A name for a value in an expression.
    fn bind(&mut self, name: &str, value: ExprId, result: ExprId) -> ExprId {
        let range = self.list(&[]);
        let condition = self.literal(Literal::Bool(false));
        let step = self.ident(name);
        self.push(Expr::Fold(Box::new(Fold {
            kind: FoldKind::Bind,
            range,
            variable: UNUSED.to_owned(),
            second_variable: None,
            accumulator: name.to_owned(),
            initial: value,
            condition,
            step,
            result,
        })))
    }

    fn optional(&mut self, target: ExprId, variable: ExprId, value: ExprId, function: &str) -> Expanded {
        let Expr::Ident(name) = self.ast.expr(variable).clone() else {
            let message = format!("{function}() variable name must be a simple identifier");
            return Err(self.complaint(variable, &message));
        };
        let test = self.member_call(target, "hasValue", Vec::new());
        let again = self.ast.copy(target);
        let unwrapped = self.member_call(again, "value", Vec::new());
        let bound = self.bind(&name, unwrapped, value);
        let some = if function == "optMap" {
            self.call("optional.of", vec![bound])
        } else {
            bound
        };
        let none = self.call("optional.none", Vec::new());
        Ok(self.call("_?_:_", vec![test, some, none]))
    }

    fn sort_by(&mut self, target: ExprId, variable: ExprId, key: ExprId) -> Expanded {
        const INPUT: &str = "@__sortBy_input__";
        let range = self.ident(INPUT);
        let keys = self.append(range, &[variable], None, key)?;
        let input = self.ident(INPUT);
        let sorted = self.member_call(input, "@sortByAssociatedKeys", vec![keys]);
        Ok(self.bind(INPUT, target, sorted))
    }
}
