//! Mistakes in constants that the types do not show: patterns, durations, moments, zones and formats that cannot be read,
//! and lists of mixed types.

use super::ast::{Complaint, Entry, Expr, ExprId};
use super::check::Checked;
use super::library::time::zone_offset;
use super::types::Type;
use crate::{go_regex, go_time};

/// All mistakes of an expression.
pub(super) fn lint(checked: &Checked) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    visit(checked, checked.ast.root, false, &mut complaints);
    complaints
}

fn visit(checked: &Checked, id: ExprId, is_formatted: bool, complaints: &mut Vec<Complaint>) {
    let mut complain = |id: ExprId, message: String| {
        complaints.push(Complaint {
            place: checked.ast.place(id),
            message,
        });
    };
    let mut formats = is_formatted;
    match checked.ast.expr(id) {
        Expr::Call {
            target,
            function,
            arguments,
        } => {
            if let Some(wrong) = wrong_constant(checked, function, *target, arguments) {
                complain(wrong, format!("invalid {function} argument"));
            }
            if function == "format"
                && let (Some(target), [list]) = (target, arguments.as_slice())
                && let Some((wrong, message)) = wrong_format(checked, *target, *list)
            {
                complain(wrong.unwrap_or(id), message);
            }
            formats = formats || function == "format";
        }
        Expr::List(entries) if !is_formatted => {
            for (wrong, message) in mixed(checked, entries).into_iter().take(1) {
                complain(wrong, message);
            }
        }
        Expr::Map(entries) if !is_formatted => {
            let key = |(key, _): &(ExprId, Entry)| Entry {
                value: *key,
                is_optional: false,
            };
            let keys: Vec<Entry> = entries.iter().map(key).collect();
            let values: Vec<Entry> = entries.iter().map(|(_, entry)| *entry).collect();
            for (wrong, message) in mixed(checked, &keys).into_iter().chain(mixed(checked, &values)) {
                complain(wrong, message);
            }
        }
        _ => {}
    }
    for child in checked.ast.children(id) {
        visit(checked, child, formats, complaints);
    }
}

/// The constant of a call that its function cannot read.
fn wrong_constant(checked: &Checked, function: &str, target: Option<ExprId>, arguments: &[ExprId]) -> Option<ExprId> {
    let text = |id: ExprId| checked.ast.string(id);
    match (function, target, arguments) {
        ("matches" | "find" | "findAll", Some(_), [pattern, ..]) | ("matches", None, [_, pattern]) => text(*pattern)
            .filter(|pattern| go_regex::compile(pattern).is_err())
            .map(|_| *pattern),
        ("duration", None, [duration]) => text(*duration)
            .filter(|text| go_time::parse_duration(text).is_none())
            .map(|_| *duration),
        ("timestamp", None, [moment]) => text(*moment)
            .filter(|text| go_time::parse_rfc3339(text).is_none())
            .map(|_| *moment),
        (part, Some(_), [zone]) if part.starts_with("get") => {
            text(*zone).filter(|zone| zone_offset(zone).is_none()).map(|_| *zone)
        }
        _ => None,
    }
}

/// The entries whose type is not that of the first.
fn mixed(checked: &Checked, entries: &[Entry]) -> Vec<(ExprId, String)> {
    let kind = |entry: &Entry| match (checked.type_of(entry.value), entry.is_optional) {
        (Type::Optional(inner), true) => (**inner).clone(),
        (kind, _) => kind.clone(),
    };
    let Some(expected) = entries.first().map(kind) else {
        return Vec::new();
    };
    let others = entries.iter().map(|entry| (entry.value, kind(entry)));
    let odd = others.filter(|(_, found)| *found != expected);
    odd.map(|(id, found)| (id, format!("expected type '{expected}' but found '{found}'")))
        .collect()
}

/// A constant pattern with as many clauses as it has arguments, each of a type that the clause can print. Says which
/// argument is wrong if it is one.
fn wrong_format(checked: &Checked, target: ExprId, list: ExprId) -> Option<(Option<ExprId>, String)> {
    let pattern = checked.ast.string(target)?;
    let Expr::List(entries) = checked.ast.expr(list) else {
        return None;
    };
    let clauses = match clauses(pattern) {
        Ok(clauses) => clauses,
        Err(message) => return Some((None, message)),
    };
    if clauses.len() > entries.len() {
        return Some((None, format!("index {} out of range", entries.len())));
    }
    if clauses.len() < entries.len() {
        let message = format!(
            "too many arguments supplied to string.format (expected {}, got {})",
            clauses.len(),
            entries.len()
        );
        return Some((None, message));
    }
    let mut pairs = clauses.iter().zip(entries);
    pairs.find_map(|(clause, entry)| {
        let wrong = unprintable(checked, *clause, entry.value)?;
        let kind = checked.type_of(wrong).short_name();
        Some((
            Some(wrong),
            format!("error during formatting: {}, was given {kind}", refusal(*clause)),
        ))
    })
}

/// The argument, or the part of a literal, that a clause cannot print.
fn unprintable(checked: &Checked, clause: char, id: ExprId) -> Option<ExprId> {
    if !can_print(clause, checked.type_of(id)) {
        return Some(id);
    }
    if clause != 's' || !matches!(checked.ast.expr(id), Expr::List(_) | Expr::Map(_)) {
        return None;
    }
    checked
        .ast
        .children(id)
        .into_iter()
        .find_map(|part| unprintable(checked, clause, part))
}

fn clauses(pattern: &str) -> Result<Vec<char>, String> {
    let mut found = Vec::new();
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '%' || characters.next_if_eq(&'%').is_some() {
            continue;
        }
        while characters
            .next_if(|next| *next == '.' || next.is_ascii_digit())
            .is_some()
        {}
        match characters.next() {
            Some(clause) if "sdfebxXo".contains(clause) => found.push(clause),
            Some(other) => {
                return Err(format!(
                    "could not parse formatting clause: unrecognized formatting clause \"{other}\""
                ));
            }
            None => return Err("unexpected end of string".to_owned()),
        }
    }
    Ok(found)
}

fn can_print(clause: char, kind: &Type) -> bool {
    if kind.is_dyn() {
        return true;
    }
    match clause {
        'd' | 'o' => matches!(kind, Type::Int | Type::Uint),
        'f' | 'e' => matches!(kind, Type::Double | Type::String),
        'b' => matches!(kind, Type::Int | Type::Uint | Type::Bool),
        'x' | 'X' => matches!(kind, Type::Int | Type::Uint | Type::String | Type::Bytes),
        _ => !matches!(
            kind,
            Type::Object(_)
                | Type::Optional(_)
                | Type::Url
                | Type::Quantity
                | Type::Semver
                | Type::Format
                | Type::Ip
                | Type::Cidr
        ),
    }
}

fn refusal(clause: char) -> &'static str {
    match clause {
        'd' => "decimal clause can only be used on integers",
        'o' => "octal clause can only be used on integers",
        'f' => "fixed-point clause can only be used on doubles",
        'e' => "scientific clause can only be used on doubles",
        'b' => "only integers and bools can be formatted as binary",
        'x' | 'X' => "only integers, byte buffers, and strings can be formatted as hex",
        _ => {
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
        }
    }
}
