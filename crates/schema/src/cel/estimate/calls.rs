//! What calls cost: the language's own functions (cel-go) and those of Kubernetes (apiserver, library/cost.go).

use super::{Estimator, LIST, REGEX, Range, TRAVERSAL};
use crate::cel::ast::{Expr, ExprId, Literal};
use crate::cel::estimate::range::scale;
use crate::cel::types::Type;

/// The cost of a call and the size of what it gives, where one is known.
#[derive(Clone, Copy)]
struct Call {
    cost: Range,
    size: Option<Range>,
}

impl Call {
    const fn costs(cost: Range) -> Self {
        Self { cost, size: None }
    }

    const fn gives(cost: Range, size: Range) -> Self {
        Self { cost, size: Some(size) }
    }

    const fn fixed(cost: u64) -> Self {
        Self::costs(Range::fixed(cost))
    }
}

/// Functions that only read a part of a value.
const ACCESSORS: [&str; 27] = [
    "format.named",
    "masked",
    "prefixLength",
    "family",
    "isUnspecified",
    "isLoopback",
    "isLinkLocalMulticast",
    "isLinkLocalUnicast",
    "isGlobalUnicast",
    "sign",
    "asInteger",
    "isInteger",
    "asApproximateFloat",
    "isGreaterThan",
    "isLessThan",
    "compareTo",
    "add",
    "sub",
    "major",
    "minor",
    "patch",
    "getScheme",
    "getHostname",
    "getHost",
    "getPort",
    "getEscapedPath",
    "getQuery",
];

/// The longest pattern of a named format, as upstream assumes.
const FORMAT_PATTERN: f64 = 128.0;

impl Estimator<'_> {
    pub(super) fn call(&mut self, id: ExprId, target: Option<ExprId>, function: &str, arguments: &[ExprId]) -> Range {
        if function == "dyn" {
            let cost = self.cost(arguments[0]);
            if let Some(size) = self.size(arguments[0]) {
                self.sizes.insert(id, size);
            }
            if let Some(entries) = self.entries_of(arguments[0]) {
                self.entries.insert(id, entries);
            }
            return cost.add(Range::fixed(1));
        }
        let costs: Vec<Range> = arguments.iter().map(|argument| self.cost(*argument)).collect();
        let Some(overloads) = self.checked.overloads.get(&id).cloned() else {
            return Range::fixed(0);
        };
        let target_cost = target.map_or(Range::fixed(0), |target| self.cost(target));
        let mut cost = Range { min: u64::MAX, max: 0 };
        let mut size: Option<Range> = None;
        for overload in &overloads {
            let found = self.overload(id, target, function, overload, arguments, &costs);
            cost = cost.union(found.cost);
            size = match (size, found.size) {
                (Some(first), Some(second)) => Some(first.union(second)),
                (first, second) => second.or(first),
            };
            if let Some(part) = index_part(overload) {
                size = self.entries_of(arguments[0]).map(|entries| entries.value);
                let mut path = self.path(arguments[0]);
                path.push(part.to_owned());
                self.paths.insert(id, path);
            }
            if size.is_none() {
                size = self.size(id);
            }
        }
        if let Some(size) = size {
            self.sizes.insert(id, size);
        }
        target_cost.add(cost)
    }

    fn overload(
        &mut self,
        id: ExprId,
        target: Option<ExprId>,
        function: &str,
        overload: &str,
        arguments: &[ExprId],
        costs: &[Range],
    ) -> Call {
        let sum = costs.iter().fold(Range::fixed(0), |sum, cost| sum.add(*cost));
        let library = self
            .extension(overload, target, arguments)
            .or_else(|| self.kubernetes(function, overload, target, arguments));
        if let Some(call) = library {
            return Call {
                cost: call.cost.add(sum),
                size: call.size,
            };
        }
        self.standard(id, overload, target, arguments, costs, sum)
    }

    /// Sets and lists, whose costs upstream binds to overloads.
    fn extension(&mut self, overload: &str, target: Option<ExprId>, arguments: &[ExprId]) -> Option<Call> {
        let allocating = |factor: f64, size: Range| {
            let cost = size.scale(factor).add(Range::fixed(1)).add(Range::fixed(LIST));
            Some(Call::gives(cost, size))
        };
        match overload {
            "list_sets_contains_list" | "list_sets_intersects_list" | "list_sets_equivalent_list" => {
                let factor = if overload == "list_sets_equivalent_list" {
                    2.0
                } else {
                    1.0
                };
                let product = self
                    .size_or_unknown(arguments[0])
                    .multiply(self.size_or_unknown(arguments[1]));
                Some(Call::costs(product.scale(factor).add(Range::fixed(1))))
            }
            "list_slice" => {
                let size = self.size_or_unknown(target?);
                let start = self.integer(arguments[0]).unwrap_or(0);
                let end = self.integer(arguments[1]).unwrap_or(size.max);
                allocating(1.0, Range::fixed(end.wrapping_sub(start)))
            }
            "lists_range" => {
                let count = self.integer(arguments[0]).unwrap_or(u64::MAX);
                allocating(1.0, Range::fixed(count))
            }
            "list_reverse" => {
                let size = self.size_or_unknown(target?);
                allocating(1.0, size)
            }
            "list_flatten" | "list_flatten_int" => {
                let depth = arguments
                    .first()
                    .map_or(1, |depth| self.integer(*depth).unwrap_or(u64::MAX));
                #[allow(clippy::cast_precision_loss, reason = "upstream computes in floats, too")]
                let depth = depth as f64;
                let size = self.size_or_unknown(target?);
                allocating(depth, size)
            }
            "list_distinct" => {
                let size = self.size_or_unknown(target?);
                allocating(2.0, size.multiply(size))
            }
            sorted if sorted.ends_with("_sort") || sorted.ends_with("_sortByAssociatedKeys") => {
                let keys = if sorted.ends_with("_sort") {
                    target?
                } else {
                    arguments[0]
                };
                let is_text = sorted.contains("_string_") || sorted.contains("_bytes_");
                let size = self.size_or_unknown(keys);
                allocating(if is_text { 2.0 + TRAVERSAL } else { 2.0 }, size.multiply(size))
            }
            _ => None,
        }
    }

    /// The value of a literal, negative ones being zero.
    fn integer(&self, id: ExprId) -> Option<u64> {
        match self.checked.ast.expr(id) {
            Expr::Literal(Literal::Int(value)) => Some(u64::try_from(*value).unwrap_or_default()),
            _ => None,
        }
    }

    fn kubernetes(
        &mut self,
        function: &str,
        overload: &str,
        target: Option<ExprId>,
        arguments: &[ExprId],
    ) -> Option<Call> {
        Some(match function {
            "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => self.list_scan(target?),
            "url" => {
                let size = self.size_or_unknown(arguments[0]);
                Call::gives(size.scale(TRAVERSAL), size)
            }
            "lowerAscii" | "upperAscii" | "substring" | "trim" => {
                let size = self.size_or_unknown(target?);
                Call::gives(size.scale(TRAVERSAL), size)
            }
            "replace" => self.replace(target?, arguments),
            "split" => {
                let size = self.size_or_unknown(target?);
                let most = arguments
                    .get(1)
                    .and_then(|limit| self.integer_literal(*limit))
                    .unwrap_or(size.max);
                Call::gives(size.scale(2.0 * TRAVERSAL), Range { min: 0, max: most })
            }
            "join" => self.join(target?, arguments),
            "find" | "findAll" => {
                let size = self.size_or_unknown(target?);
                let text = size.add(Range::fixed(1)).scale(TRAVERSAL);
                let pattern = self.size_or_unknown(arguments[0]).scale(REGEX);
                Call::gives(text.multiply(pattern), Range { min: 0, max: size.max })
            }
            "ip" if overload == "cidr_ip" => Call::fixed(1),
            "cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver" => {
                Call::costs(self.size_or_unknown(arguments[0]).scale(TRAVERSAL))
            }
            "ip.isCanonical" => Call::costs(self.size_or_unknown(arguments[0]).scale(2.0 * TRAVERSAL)),
            "containsIP" | "containsCIDR" => {
                let text = overload
                    .ends_with("_string")
                    .then(|| self.size_or_unknown(arguments[0]));
                contains(function, text)
            }
            "validate" => {
                let text = self.size_or_unknown(arguments[0]).scale(TRAVERSAL);
                Call::costs(text.scale(FORMAT_PATTERN * REGEX))
            }
            "_==_" => return self.opaque_equality(arguments),
            accessor if ACCESSORS.contains(&accessor) => Call::fixed(1),
            _ => return None,
        })
    }

    #[allow(clippy::cast_sign_loss, reason = "a negative limit is a huge number upstream, too")]
    fn integer_literal(&self, id: ExprId) -> Option<u64> {
        match self.checked.ast.expr(id) {
            Expr::Literal(Literal::Int(value)) => Some(*value as u64),
            _ => None,
        }
    }

    /// The type and size of the entries of a list, by its path.
    fn items(&self, list: ExprId) -> Option<(Type, Range)> {
        let Type::List(item) = self.checked.type_of(list) else {
            return None;
        };
        let mut path = self.path(list);
        let size = if path.is_empty() {
            None
        } else {
            path.push("@items".to_owned());
            self.declared_size(&path)
        };
        Some(((**item).clone(), size.unwrap_or(Range::UNKNOWN)))
    }

    fn list_scan(&mut self, target: ExprId) -> Call {
        let Some((item, size)) = self.items(target) else {
            return Call::costs(self.size_or_unknown(target).scale(TRAVERSAL));
        };
        let mut each = Range::fixed(1);
        if matches!(item, Type::String | Type::Bytes) {
            each = each.add(size.scale(TRAVERSAL));
        }
        Call::costs(self.size_or_unknown(target).multiply(each))
    }

    fn join(&mut self, target: ExprId, arguments: &[ExprId]) -> Call {
        let count = self.size_or_unknown(target);
        let mut size = self
            .items(target)
            .map_or(Range::fixed(0), |(_, item)| count.multiply(item));
        if let Some(separator) = arguments.first() {
            let between = Range {
                min: count.min.saturating_sub(1),
                max: count.max.saturating_sub(1),
            };
            size = size.add(self.size_or_unknown(*separator).multiply(between));
        }
        Call::gives(size.scale(TRAVERSAL), size)
    }

    fn replace(&mut self, target: ExprId, arguments: &[ExprId]) -> Call {
        let size = self.size_or_unknown(target);
        let old = self.size_or_unknown(arguments[0]);
        let new = self.size_or_unknown(arguments[1]);
        let (mut count, mut kept) = (Range::fixed(0), Range::fixed(0));
        if old.min == 0 {
            count.max = size.max.saturating_add(1);
            kept.max = size.max;
        } else if new.max <= old.min {
            kept.max = size.max;
        } else {
            count.max = ceiling(size.max, old.min);
        }
        if old.max == 0 {
            count.min = size.min.saturating_add(1);
            kept.min = size.min;
        } else if old.max <= new.min {
            kept.min = size.min;
        } else {
            count.min = ceiling(size.min, old.max);
        }
        Call::gives(size.scale(2.0 * TRAVERSAL), count.multiply(new).add(kept))
    }

    /// Values without parts are compared at once.
    fn opaque_equality(&mut self, arguments: &[ExprId]) -> Option<Call> {
        let (left, right) = (self.checked.type_of(arguments[0]), self.checked.type_of(arguments[1]));
        if left != right {
            return None;
        }
        match left {
            Type::Ip | Type::Cidr | Type::Quantity | Type::Semver => Some(Call::fixed(1)),
            Type::Format => Some(Call::costs(Range { min: 1, max: 64 }.scale(TRAVERSAL))),
            Type::Url => {
                let size = self.size(arguments[1]).unwrap_or(Range::fixed(1));
                Some(Call::costs(Range { min: 1, max: size.max }.scale(TRAVERSAL)))
            }
            _ => None,
        }
    }

    fn standard(
        &mut self,
        id: ExprId,
        overload: &str,
        target: Option<ExprId>,
        arguments: &[ExprId],
        costs: &[Range],
        sum: Range,
    ) -> Call {
        let found = match (overload, target, arguments) {
            ("logical_and" | "logical_or", _, _) => {
                return Call {
                    cost: Range {
                        min: costs[0].min,
                        max: costs[0].add(costs[1]).max,
                    },
                    size: None,
                };
            }
            ("conditional", _, [_, yes, no]) => return self.conditional(id, *yes, *no, costs),
            ("string_format", Some(target), _) => Call::costs(self.size_or_unknown(target).scale(TRAVERSAL)),
            ("string_to_bytes", _, [text]) => {
                let size = self.size_or_unknown(*text);
                let bytes = Range {
                    min: size.min,
                    max: size.max.wrapping_mul(4),
                };
                Call::gives(size.scale(TRAVERSAL), bytes)
            }
            ("bytes_to_string", _, [bytes]) => {
                let size = self.size_or_unknown(*bytes);
                Call::gives(
                    size.scale(TRAVERSAL),
                    Range {
                        min: size.min / 4,
                        max: size.max,
                    },
                )
            }
            ("strings_quote", _, [text]) => {
                let size = self.size_or_unknown(*text);
                let quoted = Range {
                    min: size.min.wrapping_add(2),
                    max: size.max.wrapping_mul(2).wrapping_add(2),
                };
                Call::gives(size.scale(TRAVERSAL), quoted)
            }
            ("starts_with_string" | "ends_with_string", _, [part]) => {
                Call::costs(self.size_or_unknown(*part).scale(TRAVERSAL))
            }
            ("in_list", _, [_, list]) => Call::costs(self.size_or_unknown(*list).scale(1.0)),
            ("matches_string", Some(target), [pattern]) => {
                let text = self.size_or_unknown(target).add(Range::fixed(1)).scale(TRAVERSAL);
                Call::costs(text.multiply(self.size_or_unknown(*pattern).scale(REGEX)))
            }
            ("contains_string", Some(target), [part]) => {
                let text = self.size_or_unknown(target).scale(TRAVERSAL);
                Call::costs(text.multiply(self.size_or_unknown(*part).scale(TRAVERSAL)))
            }
            ("add_string" | "add_bytes" | "add_list", _, [left, right]) => self.addition(id, overload, *left, *right),
            (compared, _, [left, right]) if is_comparison(compared) => self.comparison(*left, *right),
            _ => Call::fixed(1),
        };
        Call {
            cost: found.cost.add(sum),
            size: found.size,
        }
    }

    fn conditional(&mut self, id: ExprId, yes: ExprId, no: ExprId, costs: &[Range]) -> Call {
        let size = self.size_or_unknown(yes).union(self.size_or_unknown(no));
        if let Some(entries) = super::Entries::union(self.entries_of(yes), self.entries_of(no)) {
            self.entries.insert(id, entries);
        }
        Call {
            cost: costs[0].add(costs[1].union(costs[2])),
            size: Some(size),
        }
    }

    fn addition(&mut self, id: ExprId, overload: &str, left: ExprId, right: ExprId) -> Call {
        let size = self.size_or_unknown(left).add(self.size_or_unknown(right));
        if let Some(entries) = super::Entries::union(self.entries_of(left), self.entries_of(right)) {
            self.entries.insert(id, entries);
        }
        let cost = if overload == "add_list" {
            Range::fixed(1)
        } else {
            size.scale(TRAVERSAL)
        };
        Call::gives(cost, size)
    }

    fn comparison(&mut self, left: ExprId, right: ExprId) -> Call {
        let smallest = self.size_or_unknown(left).max.min(self.size_or_unknown(right).max);
        let range = Range {
            min: u64::from(smallest > 0),
            max: smallest,
        };
        Call::costs(range.scale(TRAVERSAL))
    }
}

fn index_part(overload: &str) -> Option<&'static str> {
    match overload {
        "index_list" => Some("@items"),
        "index_map" => Some("@values"),
        _ => None,
    }
}

fn is_comparison(overload: &str) -> bool {
    matches!(overload, "equals" | "not_equals")
        || ["less_", "less_equals_", "greater_", "greater_equals_"]
            .iter()
            .any(|prefix| matches!(overload.strip_prefix(prefix), Some("string" | "bytes")))
}

/// An address is four or sixteen bytes long; both are compared, and a text is read first.
fn contains(function: &str, text: Option<Range>) -> Call {
    let address = Range { min: 4, max: 16 };
    let mut cost = address.add(address).scale(TRAVERSAL);
    if function == "containsCIDR" {
        cost = cost.add(address.scale(TRAVERSAL)).add(Range::fixed(1));
    }
    if let Some(text) = text {
        cost = cost.add(text.scale(TRAVERSAL));
    }
    Call::costs(cost)
}

#[allow(clippy::cast_precision_loss, reason = "upstream computes in floats, too")]
fn ceiling(size: u64, part: u64) -> u64 {
    scale(1, size as f64 / part as f64)
}
