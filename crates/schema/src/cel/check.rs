//! Finds the type of every node and the overloads of every call, or says what does not fit (cel-go, checker).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ast::{Ast, Complaint, Entry, Expr, ExprId, Fold, Literal};
use super::declared::{Declarations, Shape};
use super::functions;
use super::types::{Mapping, Type, most_general};

/// An expression whose types are known.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) ast: Ast,
    pub(super) types: Vec<Type>,
    /// The overloads that a call may mean.
    pub(super) overloads: BTreeMap<ExprId, Vec<String>>,
    /// Names of types that stand for themselves.
    pub(super) type_values: BTreeMap<ExprId, Type>,
    /// Whether the variable of the old value is used.
    pub(super) uses_old: bool,
}

impl Checked {
    pub(super) fn type_of(&self, id: ExprId) -> &Type {
        &self.types[id.0 as usize]
    }
}

/// Checks an expression about variables, each with its type.
pub(super) fn check(
    ast: Ast,
    variables: Vec<(String, Type)>,
    declarations: &Declarations,
) -> Result<Checked, Vec<Complaint>> {
    let count = ast.len();
    let root = ast.root;
    let mut checker = Checker {
        ast,
        declarations,
        scopes: variables,
        types: vec![Type::Error; count],
        overloads: BTreeMap::new(),
        type_values: BTreeMap::new(),
        mapping: Mapping::default(),
        next_variable: FIRST_FREE_VARIABLE,
        complaints: Vec::new(),
        uses_old: false,
    };
    checker.expr(root);
    if !checker.complaints.is_empty() {
        return Err(checker.complaints);
    }
    let types = checker
        .types
        .iter()
        .map(|kind| checker.mapping.substitute(kind, true))
        .collect();
    Ok(Checked {
        ast: checker.ast,
        types,
        overloads: checker.overloads,
        type_values: checker.type_values,
        uses_old: checker.uses_old,
    })
}

/// The variables below are those of the table of functions.
const FIRST_FREE_VARIABLE: u32 = 3;

struct Checker<'a> {
    ast: Ast,
    declarations: &'a Declarations,
    scopes: Vec<(String, Type)>,
    types: Vec<Type>,
    overloads: BTreeMap<ExprId, Vec<String>>,
    type_values: BTreeMap<ExprId, Type>,
    mapping: Mapping,
    next_variable: u32,
    complaints: Vec<Complaint>,
    uses_old: bool,
}

impl Checker<'_> {
    fn complain(&mut self, id: ExprId, message: String) {
        let place = self.ast.place(id);
        self.complaints.push(Complaint { place, message });
    }

    fn mismatch(&mut self, id: ExprId, expected: &Type, found: &Type) {
        self.complain(id, format!("expected type '{expected}' but found '{found}'"));
    }

    fn undeclared(&mut self, id: ExprId, name: &str) {
        self.complain(id, format!("undeclared reference to '{name}' (in container '')"));
    }

    fn set(&mut self, id: ExprId, kind: Type) {
        self.types[id.0 as usize] = kind;
    }

    fn get(&self, id: ExprId) -> Type {
        self.types[id.0 as usize].clone()
    }

    fn variable(&mut self) -> Type {
        self.next_variable += 1;
        Type::Variable(self.next_variable)
    }

    fn expr(&mut self, id: ExprId) {
        let kind = match self.ast.expr(id).clone() {
            Expr::Literal(literal) => literal_type(&literal),
            Expr::Ident(name) => self.ident(id, &name),
            Expr::Select {
                operand,
                field,
                is_test,
            } => self.select(id, operand, &field, is_test),
            Expr::Call {
                target,
                function,
                arguments,
            } => self.call(id, target, &function, &arguments),
            Expr::List(entries) => self.list(&entries),
            Expr::Map(entries) => self.map(&entries),
            Expr::Message(name) => {
                self.undeclared(id, &name);
                Type::Error
            }
            Expr::Fold(fold) => self.fold(&fold),
        };
        self.set(id, kind);
    }

    /// A variable, or the name of a type.
    fn lookup(&mut self, id: ExprId, name: &str) -> Option<Type> {
        let plain = name.strip_prefix('.').unwrap_or(name);
        if let Some((found, kind)) = self.scopes.iter().rev().find(|(scoped, _)| scoped == plain) {
            self.uses_old = self.uses_old || found == "oldSelf";
            return Some(kind.clone());
        }
        let named = type_named(plain)?;
        self.type_values.insert(id, named.clone());
        Some(Type::Meta(Arc::new(named)))
    }

    fn ident(&mut self, id: ExprId, name: &str) -> Type {
        self.lookup(id, name).unwrap_or_else(|| {
            self.undeclared(id, name);
            Type::Error
        })
    }

    fn select(&mut self, id: ExprId, operand: ExprId, field: &str, is_test: bool) -> Type {
        if !is_test
            && let Some(name) = self.ast.qualified_name(id)
            && let Some(kind) = self.lookup(id, &name)
        {
            self.ast.replace(id, Expr::Ident(name));
            return kind;
        }
        let kind = self.select_field(id, operand, field, false);
        if is_test {
            Type::Bool
        } else {
            self.mapping.substitute(&kind, false)
        }
    }

    fn select_field(&mut self, id: ExprId, operand: ExprId, field: &str, is_optional: bool) -> Type {
        self.expr(operand);
        let operand_type = self.mapping.substitute(&self.get(operand), false);
        let (target, was_optional) = match operand_type {
            Type::Optional(inner) => ((*inner).clone(), true),
            other => (other, false),
        };
        let kind = match &target {
            Type::Map(_, value) => (**value).clone(),
            Type::Object(declared) => {
                let fields = match &self.declarations.get(*declared).shape {
                    // A keyword may be written as it is.
                    Shape::Object(fields) => fields
                        .get(field)
                        .or_else(|| fields.get(&format!("__{field}__")))
                        .copied(),
                    _ => None,
                };
                if let Some(declared) = fields {
                    self.declarations.type_of(declared)
                } else {
                    self.complain(id, format!("undefined field '{field}'"));
                    Type::Error
                }
            }
            Type::Variable(_) => {
                self.mapping.assign(&Type::Dyn, &target);
                Type::Dyn
            }
            Type::Url | Type::Quantity | Type::Semver | Type::Format => {
                self.complain(id, format!("undefined field '{field}'"));
                Type::Error
            }
            other => {
                if !other.is_dyn_or_error() {
                    self.complain(id, format!("type '{other}' does not support field selection"));
                }
                Type::Dyn
            }
        };
        if is_optional || was_optional {
            Type::Optional(Arc::new(kind))
        } else {
            kind
        }
    }

    fn call(&mut self, id: ExprId, target: Option<ExprId>, function: &str, arguments: &[ExprId]) -> Type {
        if function == "_?._" {
            let field = self.ast.string(arguments[1]).unwrap_or_default().to_owned();
            self.set(arguments[1], Type::String);
            let kind = self.select_field(id, arguments[0], &field, true);
            self.overloads.insert(id, vec!["select_optional_field".to_owned()]);
            return self.mapping.substitute(&kind, false);
        }
        for argument in arguments {
            self.expr(*argument);
        }
        let Some(target) = target else {
            let function = function.strip_prefix('.').unwrap_or(function);
            return self.resolve(id, None, function, arguments);
        };
        // `optional.of(x)` is a function of that name, not a member of something called `optional`.
        if let Some(prefix) = self.ast.qualified_name(target) {
            let qualified = format!("{prefix}.{function}");
            if functions::overloads(&qualified).is_some() {
                self.ast.replace(
                    id,
                    Expr::Call {
                        target: None,
                        function: qualified.clone(),
                        arguments: arguments.to_vec(),
                    },
                );
                return self.resolve(id, None, &qualified, arguments);
            }
        }
        self.expr(target);
        self.resolve(id, Some(target), function, arguments)
    }

    fn resolve(&mut self, id: ExprId, target: Option<ExprId>, function: &str, arguments: &[ExprId]) -> Type {
        let Some(overloads) = functions::overloads(function) else {
            self.undeclared(id, function);
            return Type::Error;
        };
        let found: Vec<Type> = target
            .iter()
            .chain(arguments)
            .map(|argument| self.get(*argument))
            .collect();
        if matches!(function, "_&&_" | "_||_") {
            return self.logical(id, arguments, &found, &overloads[0].id);
        }
        let mut result: Option<Type> = None;
        let mut matching = Vec::new();
        for overload in overloads
            .iter()
            .filter(|overload| overload.is_member == target.is_some())
        {
            let (wanted, gives) = self.instantiate(&overload.arguments, &overload.result);
            if !self.mapping.assign_all(&found, &wanted) {
                continue;
            }
            matching.push(overload.id.clone());
            let gives = self.mapping.substitute(&gives, false);
            result = Some(match result {
                None => gives,
                Some(known) if known.is_dyn() || known == gives => known,
                Some(_) => Type::Dyn,
            });
        }
        let Some(result) = result else {
            self.no_overload(id, function, &found, target.is_some());
            return Type::Error;
        };
        self.overloads.insert(id, matching);
        result
    }

    fn logical(&mut self, id: ExprId, arguments: &[ExprId], found: &[Type], overload: &str) -> Type {
        let mut is_wrong = false;
        for (argument, kind) in arguments.iter().zip(found) {
            if !self.mapping.assign(kind, &Type::Bool) {
                self.mismatch(*argument, &Type::Bool, kind);
                is_wrong = true;
            }
        }
        if is_wrong {
            return Type::Error;
        }
        self.overloads.insert(id, vec![overload.to_owned()]);
        Type::Bool
    }

    fn no_overload(&mut self, id: ExprId, function: &str, found: &[Type], is_member: bool) {
        let names: Vec<String> = found
            .iter()
            .map(|kind| self.mapping.substitute(kind, true).to_string())
            .collect();
        let signature = match names.split_first() {
            Some((target, rest)) if is_member => format!("{target}.({})", rest.join(", ")),
            _ => format!("({})", names.join(", ")),
        };
        self.complain(
            id,
            format!("found no matching overload for '{function}' applied to '{signature}'"),
        );
    }

    /// The overload with fresh variables in place of `A`, `B` and `V`.
    fn instantiate(&mut self, arguments: &[Type], result: &Type) -> (Vec<Type>, Type) {
        let mut fresh = Mapping::default();
        for number in 0..FIRST_FREE_VARIABLE {
            let variable = self.variable();
            fresh.assign(&variable, &Type::Variable(number));
        }
        let arguments = arguments.iter().map(|kind| fresh.substitute(kind, false)).collect();
        (arguments, fresh.substitute(result, false))
    }

    fn entry(&mut self, entry: Entry) -> Type {
        self.expr(entry.value);
        let kind = self.get(entry.value);
        match (entry.is_optional, kind) {
            (true, Type::Optional(inner)) => (*inner).clone(),
            (true, kind) if !kind.is_dyn() => {
                self.mismatch(entry.value, &Type::optional(kind.clone()), &kind);
                kind
            }
            (_, kind) => kind,
        }
    }

    /// What holds both; mixed literals are refused later, except as arguments of `format`.
    fn join(&mut self, previous: Option<Type>, current: Type) -> Type {
        let Some(previous) = previous else {
            return current;
        };
        if self.mapping.assign(&previous, &current) {
            return most_general(&previous, &current);
        }
        Type::Dyn
    }

    fn list(&mut self, entries: &[Entry]) -> Type {
        let mut item = None;
        for entry in entries {
            let kind = self.entry(*entry);
            item = Some(self.join(item, kind));
        }
        Type::list(item.unwrap_or_else(|| self.variable()))
    }

    fn map(&mut self, entries: &[(ExprId, Entry)]) -> Type {
        let (mut keys, mut values) = (None, None);
        for (key, entry) in entries {
            self.expr(*key);
            let kind = self.get(*key);
            keys = Some(self.join(keys, kind));
            let kind = self.entry(*entry);
            values = Some(self.join(values, kind));
        }
        Type::map(
            keys.unwrap_or_else(|| self.variable()),
            values.unwrap_or_else(|| self.variable()),
        )
    }

    fn fold(&mut self, fold: &Fold) -> Type {
        self.expr(fold.range);
        self.expr(fold.initial);
        let range = self.mapping.substitute(&self.get(fold.range), false);
        let accumulated = self.get(fold.initial);
        let (first, second) = self.iterated(fold, &range);
        let depth = self.scopes.len();
        self.scopes.push((fold.accumulator.clone(), accumulated.clone()));
        self.scopes.push((fold.variable.clone(), first));
        if let Some(name) = &fold.second_variable {
            self.scopes.push((name.clone(), second));
        }
        self.expr(fold.condition);
        self.assert(fold.condition, &Type::Bool);
        self.expr(fold.step);
        self.assert(fold.step, &accumulated);
        self.scopes.truncate(depth + 1);
        self.expr(fold.result);
        self.scopes.truncate(depth);
        self.mapping.substitute(&self.get(fold.result), false)
    }

    /// The types of the variables of a comprehension.
    fn iterated(&mut self, fold: &Fold, range: &Type) -> (Type, Type) {
        let has_two = fold.second_variable.is_some();
        match range {
            Type::List(item) if has_two => (Type::Int, (**item).clone()),
            Type::List(item) => ((**item).clone(), Type::Error),
            Type::Map(key, value) => ((**key).clone(), (**value).clone()),
            Type::Dyn | Type::Error | Type::Variable(_) => {
                self.mapping.assign(&Type::Dyn, range);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                self.complain(
                    fold.range,
                    format!("expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"),
                );
                (Type::Error, Type::Error)
            }
        }
    }

    fn assert(&mut self, id: ExprId, expected: &Type) {
        let found = self.get(id);
        if !self.mapping.assign(expected, &found) {
            self.mismatch(id, expected, &found);
        }
    }
}

fn literal_type(literal: &Literal) -> Type {
    match literal {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::String(_) => Type::String,
        Literal::Bytes(_) => Type::Bytes,
    }
}

/// The types that expressions can name.
fn type_named(name: &str) -> Option<Type> {
    Some(match name {
        "bool" => Type::Bool,
        "bytes" => Type::Bytes,
        "double" => Type::Double,
        "google.protobuf.Duration" => Type::Duration,
        "google.protobuf.Timestamp" => Type::Timestamp,
        "int" => Type::Int,
        "list" => Type::list(Type::Dyn),
        "map" => Type::map(Type::Dyn, Type::Dyn),
        "null_type" => Type::Null,
        "string" => Type::String,
        "type" => Type::Meta(Arc::new(Type::Dyn)),
        "uint" => Type::Uint,
        "optional_type" => Type::Optional(Arc::new(Type::Dyn)),
        "net.IP" => Type::Ip,
        "net.CIDR" => Type::Cidr,
        _ => return None,
    })
}
