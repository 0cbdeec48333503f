//! The functions of the language and of Kubernetes' libraries: which arguments they take and what they give.
//!
//! A line reads `overload: function(argument, ...) result`, or `overload: target~function(argument, ...) result`; `A`, `B`
//! and `V` stand for any type.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::types::Type;

/// One way to call a function.
#[derive(Debug)]
pub(super) struct Overload {
    pub(super) id: String,
    pub(super) is_member: bool,
    /// The target first, if there is one.
    pub(super) arguments: Vec<Type>,
    pub(super) result: Type,
}

/// The overloads of a function.
pub(super) fn overloads(function: &str) -> Option<&'static [Overload]> {
    FUNCTIONS.get(function).map(Vec::as_slice)
}

static FUNCTIONS: LazyLock<BTreeMap<String, Vec<Overload>>> = LazyLock::new(|| {
    let mut functions: BTreeMap<String, Vec<Overload>> = BTreeMap::new();
    for line in DECLARATIONS.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (function, overload) = parse(line);
        functions.entry(function).or_default().push(overload);
    }
    for (function, kinds) in TEMPLATES {
        for kind in kinds.split(' ') {
            let (function, overload) = parse(&function.replace('$', kind));
            functions.entry(function).or_default().push(overload);
        }
    }
    functions
});

fn parse(line: &str) -> (String, Overload) {
    let (id, signature) = line.split_once(": ").expect("an overload has an id");
    let open = signature_open(signature);
    let (close, result) = split_result(signature, open).expect("arguments end");
    let (target, function) = split_target(&signature[..open]);
    let mut arguments: Vec<Type> = target.map(parse_type).into_iter().collect();
    arguments.extend(split_types(&signature[open + 1..close]).into_iter().map(parse_type));
    let overload = Overload {
        id: id.to_owned(),
        is_member: target.is_some(),
        arguments,
        result: parse_type(result.trim()),
    };
    (function.to_owned(), overload)
}

/// Where the arguments begin: the opening parenthesis that follows the name of the function.
fn signature_open(signature: &str) -> usize {
    let start = signature.find('~').map_or(0, |bar| bar + 1);
    start + signature[start..].find('(').expect("a function has arguments")
}

/// `target~function` for members.
fn split_target(head: &str) -> (Option<&str>, &str) {
    head.split_once('~')
        .map_or((None, head), |(target, function)| (Some(target), function))
}

/// Where the arguments end, and what follows.
fn split_result(signature: &str, open: usize) -> Option<(usize, &str)> {
    let mut depth = 0;
    for (at, character) in signature.char_indices().skip_while(|(at, _)| *at < open) {
        match character {
            '(' => depth += 1,
            ')' if depth == 1 => return Some((at, &signature[at + 1..])),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn split_types(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() {
        parts.push(text[start..].trim());
    }
    parts
}

fn parse_type(text: &str) -> Type {
    let inner = |prefix: &str| text.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(')'));
    if let Some(item) = inner("list(") {
        return Type::list(parse_type(item));
    }
    if let Some(value) = inner("optional(") {
        return Type::Optional(Arc::new(parse_type(value)));
    }
    if let Some(value) = inner("type(") {
        return Type::Meta(Arc::new(parse_type(value)));
    }
    if let Some(pair) = inner("map(") {
        let parts = split_types(pair);
        return Type::map(parse_type(parts[0]), parse_type(parts[1]));
    }
    match text {
        "dyn" => Type::Dyn,
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "duration" => Type::Duration,
        "timestamp" => Type::Timestamp,
        "url" => Type::Url,
        "quantity" => Type::Quantity,
        "semver" => Type::Semver,
        "named_format" => Type::Format,
        "ip" => Type::Ip,
        "cidr" => Type::Cidr,
        "A" => Type::Variable(0),
        "B" => Type::Variable(1),
        "V" => Type::Variable(2),
        other => unreachable!("the table names the type {other:?}"),
    }
}

const ORDERED: &str = "bool bytes double duration int string timestamp uint";
const COMPARABLE: &str = "int uint double bool duration timestamp string bytes";

const FORMATS: &str = "dns1123Label dns1123Subdomain dns1035Label qualifiedName dns1123LabelPrefix dns1123SubdomainPrefix dns1035LabelPrefix labelValue uri uuid byte date datetime";

/// Overloads that differ in one word only.
const TEMPLATES: [(&str, &str); 11] = [
    ("format-named-$: format.$() named_format", FORMATS),
    ("less_$: _<_($, $) bool", ORDERED),
    ("less_equals_$: _<=_($, $) bool", ORDERED),
    ("greater_$: _>_($, $) bool", ORDERED),
    ("greater_equals_$: _>=_($, $) bool", ORDERED),
    ("list_$_is_sorted_bool: list($)~isSorted() bool", COMPARABLE),
    ("list_$_sum_$: list($)~sum() $", "int uint double duration"),
    ("list_$_max_$: list($)~max() $", COMPARABLE),
    ("list_$_min_$: list($)~min() $", COMPARABLE),
    ("list_$_sort: list($)~sort() list($)", COMPARABLE),
    (
        "list_$_sortByAssociatedKeys: list(A)~@sortByAssociatedKeys(list($)) list(A)",
        COMPARABLE,
    ),
];

const DECLARATIONS: &str = "
    conditional: _?_:_(bool, A, A) A
    logical_and: _&&_(bool, bool) bool
    logical_or: _||_(bool, bool) bool
    logical_not: !_(bool) bool
    not_strictly_false: @not_strictly_false(bool) bool
    equals: _==_(A, A) bool
    not_equals: _!=_(A, A) bool
    add_bytes: _+_(bytes, bytes) bytes
    add_double: _+_(double, double) double
    add_duration_duration: _+_(duration, duration) duration
    add_duration_timestamp: _+_(duration, timestamp) timestamp
    add_timestamp_duration: _+_(timestamp, duration) timestamp
    add_int64: _+_(int, int) int
    add_list: _+_(list(A), list(A)) list(A)
    add_string: _+_(string, string) string
    add_uint64: _+_(uint, uint) uint
    divide_double: _/_(double, double) double
    divide_int64: _/_(int, int) int
    divide_uint64: _/_(uint, uint) uint
    modulo_int64: _%_(int, int) int
    modulo_uint64: _%_(uint, uint) uint
    multiply_double: _*_(double, double) double
    multiply_int64: _*_(int, int) int
    multiply_uint64: _*_(uint, uint) uint
    negate_double: -_(double) double
    negate_int64: -_(int) int
    subtract_double: _-_(double, double) double
    subtract_duration_duration: _-_(duration, duration) duration
    subtract_int64: _-_(int, int) int
    subtract_timestamp_duration: _-_(timestamp, duration) timestamp
    subtract_timestamp_timestamp: _-_(timestamp, timestamp) duration
    subtract_uint64: _-_(uint, uint) uint
    less_int64_double: _<_(int, double) bool
    less_int64_uint64: _<_(int, uint) bool
    less_uint64_double: _<_(uint, double) bool
    less_uint64_int64: _<_(uint, int) bool
    less_double_int64: _<_(double, int) bool
    less_double_uint64: _<_(double, uint) bool
    less_equals_int64_double: _<=_(int, double) bool
    less_equals_int64_uint64: _<=_(int, uint) bool
    less_equals_uint64_double: _<=_(uint, double) bool
    less_equals_uint64_int64: _<=_(uint, int) bool
    less_equals_double_int64: _<=_(double, int) bool
    less_equals_double_uint64: _<=_(double, uint) bool
    greater_int64_double: _>_(int, double) bool
    greater_int64_uint64: _>_(int, uint) bool
    greater_uint64_double: _>_(uint, double) bool
    greater_uint64_int64: _>_(uint, int) bool
    greater_double_int64: _>_(double, int) bool
    greater_double_uint64: _>_(double, uint) bool
    greater_equals_int64_double: _>=_(int, double) bool
    greater_equals_int64_uint64: _>=_(int, uint) bool
    greater_equals_uint64_double: _>=_(uint, double) bool
    greater_equals_uint64_int64: _>=_(uint, int) bool
    greater_equals_double_int64: _>=_(double, int) bool
    greater_equals_double_uint64: _>=_(double, uint) bool
    index_list: _[_](list(A), int) A
    index_map: _[_](map(A, B), A) B
    optional_list_index_int: _[_](optional(list(V)), int) optional(V)
    optional_map_index_value: _[_](optional(map(A, V)), A) optional(V)
    list_optindex_optional_int: _[?_](list(V), int) optional(V)
    optional_list_optindex_optional_int: _[?_](optional(list(V)), int) optional(V)
    map_optindex_optional_value: _[?_](map(A, V), A) optional(V)
    optional_map_optindex_optional_value: _[?_](optional(map(A, V)), A) optional(V)
    in_list: @in(A, list(A)) bool
    in_map: @in(A, map(A, B)) bool
    size_bytes: size(bytes) int
    bytes_size: bytes~size() int
    size_list: size(list(A)) int
    list_size: list(A)~size() int
    size_map: size(map(A, B)) int
    map_size: map(A, B)~size() int
    size_string: size(string) int
    string_size: string~size() int
    type: type(A) type(A)
    bool_to_bool: bool(bool) bool
    string_to_bool: bool(string) bool
    bytes_to_bytes: bytes(bytes) bytes
    string_to_bytes: bytes(string) bytes
    double_to_double: double(double) double
    int64_to_double: double(int) double
    string_to_double: double(string) double
    uint64_to_double: double(uint) double
    duration_to_duration: duration(duration) duration
    int64_to_duration: duration(int) duration
    string_to_duration: duration(string) duration
    to_dyn: dyn(A) dyn
    int64_to_int64: int(int) int
    double_to_int64: int(double) int
    duration_to_int64: int(duration) int
    string_to_int64: int(string) int
    timestamp_to_int64: int(timestamp) int
    uint64_to_int64: int(uint) int
    string_to_string: string(string) string
    bool_to_string: string(bool) string
    bytes_to_string: string(bytes) string
    double_to_string: string(double) string
    duration_to_string: string(duration) string
    int64_to_string: string(int) string
    timestamp_to_string: string(timestamp) string
    uint64_to_string: string(uint) string
    timestamp_to_timestamp: timestamp(timestamp) timestamp
    int64_to_timestamp: timestamp(int) timestamp
    string_to_timestamp: timestamp(string) timestamp
    uint64_to_uint64: uint(uint) uint
    double_to_uint64: uint(double) uint
    int64_to_uint64: uint(int) uint
    string_to_uint64: uint(string) uint
    contains_string: string~contains(string) bool
    ends_with_string: string~endsWith(string) bool
    starts_with_string: string~startsWith(string) bool
    matches: matches(string, string) bool
    matches_string: string~matches(string) bool
    timestamp_to_year: timestamp~getFullYear() int
    timestamp_to_year_with_tz: timestamp~getFullYear(string) int
    timestamp_to_month: timestamp~getMonth() int
    timestamp_to_month_with_tz: timestamp~getMonth(string) int
    timestamp_to_day_of_year: timestamp~getDayOfYear() int
    timestamp_to_day_of_year_with_tz: timestamp~getDayOfYear(string) int
    timestamp_to_day_of_month: timestamp~getDayOfMonth() int
    timestamp_to_day_of_month_with_tz: timestamp~getDayOfMonth(string) int
    timestamp_to_day_of_month_1_based: timestamp~getDate() int
    timestamp_to_day_of_month_1_based_with_tz: timestamp~getDate(string) int
    timestamp_to_day_of_week: timestamp~getDayOfWeek() int
    timestamp_to_day_of_week_with_tz: timestamp~getDayOfWeek(string) int
    timestamp_to_hours: timestamp~getHours() int
    timestamp_to_hours_with_tz: timestamp~getHours(string) int
    duration_to_hours: duration~getHours() int
    timestamp_to_minutes: timestamp~getMinutes() int
    timestamp_to_minutes_with_tz: timestamp~getMinutes(string) int
    duration_to_minutes: duration~getMinutes() int
    timestamp_to_seconds: timestamp~getSeconds() int
    timestamp_to_seconds_tz: timestamp~getSeconds(string) int
    duration_to_seconds: duration~getSeconds() int
    timestamp_to_milliseconds: timestamp~getMilliseconds() int
    timestamp_to_milliseconds_with_tz: timestamp~getMilliseconds(string) int
    duration_to_milliseconds: duration~getMilliseconds() int
    optional_of: optional.of(V) optional(V)
    optional_ofNonZeroValue: optional.ofNonZeroValue(V) optional(V)
    optional_none: optional.none() optional(V)
    optional_unwrap: optional.unwrap(list(optional(V))) list(V)
    optional_unwrapOpt: list(optional(V))~unwrapOpt() list(V)
    optional_value: optional(V)~value() V
    optional_hasValue: optional(V)~hasValue() bool
    optional_or_optional: optional(V)~or(optional(V)) optional(V)
    optional_orValue_value: optional(V)~orValue(V) V
    list_first: list(V)~first() optional(V)
    list_last: list(V)~last() optional(V)
    string_char_at_int: string~charAt(int) string
    string_index_of_string: string~indexOf(string) int
    string_index_of_string_int: string~indexOf(string, int) int
    string_last_index_of_string: string~lastIndexOf(string) int
    string_last_index_of_string_int: string~lastIndexOf(string, int) int
    list_a_index_of_int: list(A)~indexOf(A) int
    list_a_last_index_of_int: list(A)~lastIndexOf(A) int
    string_lower_ascii: string~lowerAscii() string
    string_replace_string_string: string~replace(string, string) string
    string_replace_string_string_int: string~replace(string, string, int) string
    string_split_string: string~split(string) list(string)
    string_split_string_int: string~split(string, int) list(string)
    string_substring_int: string~substring(int) string
    string_substring_int_int: string~substring(int, int) string
    string_trim: string~trim() string
    string_upper_ascii: string~upperAscii() string
    string_format: string~format(list(dyn)) string
    strings_quote: strings.quote(string) string
    list_join: list(string)~join() string
    list_join_string: list(string)~join(string) string
    list_slice: list(A)~slice(int, int) list(A)
    list_flatten: list(list(A))~flatten() list(A)
    list_flatten_int: list(dyn)~flatten(int) list(dyn)
    lists_range: lists.range(int) list(int)
    list_reverse: list(A)~reverse() list(A)
    list_distinct: list(A)~distinct() list(A)
    list_sets_contains_list: sets.contains(list(A), list(A)) bool
    list_sets_equivalent_list: sets.equivalent(list(A), list(A)) bool
    list_sets_intersects_list: sets.intersects(list(A), list(A)) bool
    cel_map_insert_key_value: cel.@mapInsert(map(A, B), A, B) map(A, B)
    cel_map_insert_map: cel.@mapInsert(map(A, B), map(A, B)) map(A, B)
    string_find_string: string~find(string) string
    string_find_all_string: string~findAll(string) list(string)
    string_find_all_string_int: string~findAll(string, int) list(string)
    string_to_url: url(string) url
    is_url_string: isURL(string) bool
    url_get_scheme: url~getScheme() string
    url_get_host: url~getHost() string
    url_get_hostname: url~getHostname() string
    url_get_port: url~getPort() string
    url_get_escaped_path: url~getEscapedPath() string
    url_get_query: url~getQuery() map(string, list(string))
    string_to_ip: ip(string) ip
    cidr_ip: cidr~ip() ip
    is_ip: isIP(string) bool
    ip_is_canonical: ip.isCanonical(string) bool
    ip_family: ip~family() int
    ip_is_unspecified: ip~isUnspecified() bool
    ip_is_loopback: ip~isLoopback() bool
    ip_is_link_local_multicast: ip~isLinkLocalMulticast() bool
    ip_is_link_local_unicast: ip~isLinkLocalUnicast() bool
    ip_is_global_unicast: ip~isGlobalUnicast() bool
    ip_to_string: string(ip) string
    string_to_cidr: cidr(string) cidr
    is_cidr: isCIDR(string) bool
    cidr_contains_ip_string: cidr~containsIP(string) bool
    cidr_contains_ip_ip: cidr~containsIP(ip) bool
    cidr_contains_cidr_string: cidr~containsCIDR(string) bool
    cidr_contains_cidr: cidr~containsCIDR(cidr) bool
    cidr_prefix_length: cidr~prefixLength() int
    cidr_masked: cidr~masked() cidr
    cidr_to_string: string(cidr) string
    string_to_quantity: quantity(string) quantity
    is_quantity_string: isQuantity(string) bool
    quantity_sign: sign(quantity) int
    quantity_is_greater_than: quantity~isGreaterThan(quantity) bool
    quantity_is_less_than: quantity~isLessThan(quantity) bool
    quantity_compare_to: quantity~compareTo(quantity) int
    quantity_get_float: quantity~asApproximateFloat() double
    quantity_get_int: quantity~asInteger() int
    quantity_is_integer: quantity~isInteger() bool
    quantity_add: quantity~add(quantity) quantity
    quantity_add_int: quantity~add(int) quantity
    quantity_sub: quantity~sub(quantity) quantity
    quantity_sub_int: quantity~sub(int) quantity
    string_to_semver: semver(string) semver
    string_bool_to_semver: semver(string, bool) semver
    is_semver_string: isSemver(string) bool
    is_semver_string_bool: isSemver(string, bool) bool
    semver_is_greater_than: semver~isGreaterThan(semver) bool
    semver_is_less_than: semver~isLessThan(semver) bool
    semver_compare_to: semver~compareTo(semver) int
    semver_major: semver~major() int
    semver_minor: semver~minor() int
    semver_patch: semver~patch() int
    format-validate: named_format~validate(string) optional(list(string))
    format-named: format.named(string) optional(named_format)
    ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        let size = overloads("size").unwrap();
        assert_eq!(size.len(), 8);
        let joins = overloads("join").unwrap();
        assert_eq!(joins[1].arguments, [Type::list(Type::String), Type::String]);
        assert!(joins[1].is_member && joins[1].result == Type::String);
        let index = &overloads("_[_]").unwrap()[1];
        assert_eq!(
            index.arguments,
            [Type::map(Type::Variable(0), Type::Variable(1)), Type::Variable(0)]
        );
        assert_eq!(overloads("_<_").unwrap().len(), 14);
        assert!(overloads("nothing").is_none());
        assert!(!overloads("optional.none").unwrap()[0].is_member);
        assert_eq!(overloads("cel.@mapInsert").unwrap()[0].arguments.len(), 3);
    }
}
