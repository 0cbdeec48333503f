use proptest::prelude::*;
use serde_json::json;

use super::*;

#[track_caller]
fn refused(text: &str, expected: &str) {
    let failure = text.parse::<Selector>().unwrap_err();
    assert_eq!(
        (failure.code.as_u16(), failure.message.as_str()),
        (400, expected),
        "{text}"
    );
}

#[track_caller]
fn printed(text: &str, expected: &str) {
    assert_eq!(text.parse::<Selector>().unwrap().to_string(), expected, "{text}");
}

#[test]
fn selectors_print_in_their_canonical_form() {
    printed("", "");
    printed("  ", "");
    printed("b = x , a", "a,b=x");
    printed("a==", "a==");
    printed("a!=b", "a!=b");
    printed("a in (z,b,,b)", "a in (,b,z)");
    printed("a in ()", "a in ()");
    printed("a notin (,)", "a notin ()");
    printed("!a", "!a");
    printed("a>1,b<2", "a>1,b<2");
    printed("in in (in,notin)", "in in (in,notin)");
    printed("notin", "notin");
    printed("a=in", "a=in");
    printed("x.test/a\tin\n(b)", "x.test/a in (b)");
}

#[test]
fn mistakes_are_named_as_upstream_names_them() {
    refused(
        "a b",
        "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
    );
    refused("=", "found '=', expected: !, identifier, or 'end of string'");
    refused(
        "a in (",
        "unable to parse requirement: found '', expected: ',', ')' or identifier",
    );
    refused("a in b", "unable to parse requirement: found 'b' expected: '('");
    refused(
        "a in (b c)",
        "unable to parse requirement: found 'c', expected: ',' or ')'",
    );
    refused(
        "a in (b,=)",
        "unable to parse requirement: found '=', expected: ',', or identifier",
    );
    refused("a,", "found '', expected: identifier after ','");
    refused("a,,b", "found ',', expected: identifier after ','");
    refused("a=b c", "found 'c', expected: ',' or 'end of string'");
    refused("!a in (b)", "found 'in', expected: ',' or 'end of string'");
    refused("!", "unable to parse requirement: found '', expected: identifier");
    refused("a==)", "unable to parse requirement: found ')', expected: identifier");
    refused(
        "a>b",
        "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an \
         integer",
    );
    refused(
        "-a",
        "unable to parse requirement: <nil>: Invalid value: \"-a\": name part must consist of alphanumeric characters, \
         '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or \
         '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    );
    refused(
        "a=-b",
        "unable to parse requirement: values[0][a]: Invalid value: \"-b\": a valid label must be an empty string or \
         consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character \
         (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
         '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    );
}

#[test]
fn the_one_value_of_a_label_is_found() {
    let selector: Selector = "a=x,b in (y),c in (y,z),d!=w".parse().unwrap();
    let found = ["a", "b", "c", "d", "e"].map(|key| selector.requires(key));
    assert_eq!(found, [Some("x"), Some("y"), None, None, None]);
}

#[test]
fn objects_match_by_their_labels() {
    let selector: Selector = "a in (x,y),!b".parse().unwrap();
    assert!(selector.matches_object(&json!({"metadata": {"labels": {"a": "x"}}})));
    assert!(!selector.matches_object(&json!({"metadata": {"labels": {"a": "x", "b": ""}}})));
    assert!(!selector.matches_object(&json!({"metadata": {}})));
    assert!(Selector::default().matches_object(&json!(1)));
}

#[test]
fn field_selectors_are_read_and_printed() {
    for (text, expected) in [
        ("", ""),
        (",a=b,", "a=b"),
        ("b==x,a!=y", "a!=y,b=x"),
        (r"a=x\,y\=z\\", r"a=x\,y\=z\\"),
        ("=x", "=x"),
    ] {
        assert_eq!(text.parse::<FieldSelector>().unwrap().to_string(), expected, "{text}");
    }
    for (text, expected) in [
        ("a", "invalid selector: 'a'; can't understand 'a'"),
        ("b=1,a", "invalid selector: 'b=1,a'; can't understand 'a'"),
        (r"a=\x", r"invalid field selector: invalid escape sequence: \x"),
        (r"a=b\", r"invalid field selector: invalid escape sequence: \"),
        ("a=b=c", "invalid field selector: unescaped character in value: 61"),
    ] {
        let failure = text.parse::<FieldSelector>().unwrap_err();
        assert_eq!((failure.code.as_u16(), failure.message.as_str()), (400, expected));
    }
}

#[test]
fn fields_are_refused_in_the_words_of_their_kind() {
    let check = |resource: &hyperplane_kinds::Resource, origin| {
        let selector: FieldSelector = "metadata.name=a,x.y=1".parse().unwrap();
        selector.check(resource, origin).unwrap_err().message
    };
    let foo = crate::samples::foo();
    assert_eq!(check(&foo, crate::Origin::Custom), "field label not supported: x.y");
    let config_map = crate::samples::config_map();
    assert_eq!(
        check(&config_map, crate::Origin::BuiltIn),
        "\"x.y\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
    );
    let mut job = crate::samples::config_map();
    job.group = "batch".to_owned();
    job.kind = "Job".to_owned();
    assert_eq!(
        check(&job, crate::Origin::BuiltIn),
        "field label \"x.y\" not supported for Job"
    );
    let known: FieldSelector = "spec.text=a,metadata.namespace=b".parse().unwrap();
    assert!(known.check(&foo, crate::Origin::Custom).is_ok());
}

#[test]
fn fields_match_by_name_path_and_default() {
    let foo = crate::samples::foo();
    let object = json!({"metadata": {"name": "a", "namespace": "n"}, "spec": {"text": "t"}});
    let matches = |text: &str, object: &Value| text.parse::<FieldSelector>().unwrap().matches(&foo, object);
    assert!(matches("metadata.name=a,metadata.namespace=n,spec.text=t", &object));
    assert!(!matches("metadata.name!=a", &object));
    assert!(!matches("spec.text=x", &object));
    assert!(matches(
        "spec.text=,metadata.name!=x",
        &json!({"metadata": {"name": "a"}})
    ));
    assert_eq!(
        "a!=b,metadata.name=x".parse::<FieldSelector>().unwrap().requires_name(),
        Some("x")
    );
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]", "x\\.test/[a-c]", Just("in".to_owned())]
}

fn requirement() -> impl Strategy<Value = Requirement> {
    let single = prop_oneof![
        Just(Operator::Equals),
        Just(Operator::DoubleEquals),
        Just(Operator::NotEquals)
    ];
    let set = prop_oneof![Just(Operator::In), Just(Operator::NotIn)];
    let order = prop_oneof![Just(Operator::GreaterThan), Just(Operator::LessThan)];
    let presence = prop_oneof![Just(Operator::Exists), Just(Operator::DoesNotExist)];
    let value = "[0-3x]?";
    let values = prop_oneof![
        (single, value).prop_map(|(operator, value)| (operator, vec![value])),
        (set, prop::collection::btree_set(value, 1..4))
            .prop_map(|(operator, values)| (operator, values.into_iter().collect())),
        (order, 0..4i64).prop_map(|(operator, value)| (operator, vec![value.to_string()])),
        presence.prop_map(|operator| (operator, Vec::new())),
    ];
    (key(), values).prop_map(|(key, (operator, values))| Requirement { key, operator, values })
}

/// What a requirement means, spelled out without sharing code with the matcher.
fn model(requirement: &Requirement, labels: &BTreeMap<String, String>) -> bool {
    let has_key = labels.iter().any(|(key, _)| *key == requirement.key);
    let has_value = labels
        .iter()
        .any(|(key, value)| *key == requirement.key && requirement.values.iter().any(|wanted| wanted == value));
    let difference = labels.get(&requirement.key).and_then(|value| value.parse::<i64>().ok());
    let difference =
        difference.map(|value| value - requirement.values.first().map_or(0, |text| text.parse().unwrap_or(0)));
    match requirement.operator {
        Operator::In | Operator::Equals | Operator::DoubleEquals => has_key && has_value,
        Operator::NotIn | Operator::NotEquals => !(has_key && has_value),
        Operator::Exists => has_key,
        Operator::DoesNotExist => !has_key,
        Operator::GreaterThan => difference.is_some_and(|difference| difference > 0),
        Operator::LessThan => difference.is_some_and(|difference| difference < 0),
    }
}

proptest! {
    #[test]
    fn what_is_printed_reads_back(mut requirements in prop::collection::vec(requirement(), 0..5)) {
        requirements.sort_by(|left, right| left.key.cmp(&right.key));
        let selector = Selector { requirements };
        let text = selector.to_string();
        let read: Selector = text.parse().unwrap();
        prop_assert_eq!(&read, &selector, "{}", text);
    }

    #[test]
    fn matching_agrees_with_its_meaning(
        requirements in prop::collection::vec(requirement(), 0..4),
        labels in prop::collection::btree_map(key(), "[0-3x]?", 0..4),
    ) {
        let expected = requirements.iter().all(|requirement| model(requirement, &labels));
        prop_assert_eq!(Selector { requirements }.matches(&labels), expected);
    }

    #[test]
    fn no_text_makes_a_parser_panic(text in ".{0,40}", symbols in "[ab=!<>(), ]{0,24}") {
        for text in [text, symbols] {
            drop(text.parse::<Selector>().map(|selector| selector.to_string()));
            drop(text.parse::<FieldSelector>().map(|selector| selector.to_string()));
        }
    }

    #[test]
    fn field_values_survive_escaping(value in ".{0,12}", is_equal in any::<bool>()) {
        let selector = FieldSelector {
            requirements: vec![FieldRequirement { field: "spec.a".to_owned(), is_equal, value }],
        };
        prop_assert_eq!(selector.to_string().parse::<FieldSelector>().unwrap(), selector);
    }
}
