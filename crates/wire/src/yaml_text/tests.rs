use serde_json::{Value, json};

use super::{order, scalar, scalar::Style, write};

#[test]
fn maps_and_lists_have_the_shape_that_people_know() {
    let value = json!({
        "kind": "Foo",
        "list": [{"a": "1", "b": [[1, 2], []]}, "x"],
        "empty": {},
        "none": null,
        "text": "a\nb",
        "lines": "a\n\n  b\n",
    });
    let expected = "\
empty: {}
kind: Foo
lines: |
  a

    b
list:
- a: \"1\"
  b:
  - - 1
    - 2
  - []
- x
none: null
text: |-
  a
  b
";
    assert_eq!(write(&value), expected);
}

#[test]
fn long_lines_are_folded_behind_the_width() {
    let words =
        "only the following media types are accepted: application/json;stream=watch, application/x;stream=watch";
    let expected = "\
message: 'only the following media types are accepted: application/json;stream=watch,
  application/x;stream=watch'
";
    assert_eq!(write(&json!({"message": words})), expected);
}

#[test]
fn texts_that_look_like_something_else_are_quoted() {
    for (text, expected) in [
        ("f:data", Style::Plain),
        (".", Style::Plain),
        ("k:{\"type\":\"A\"}", Style::Plain),
        ("12345678901234567890123", Style::Double),
        ("0x1F", Style::Double),
        ("08", Style::Double),
        ("1e3", Style::Double),
        ("1e999", Style::Plain),
        ("1.2.3", Style::Plain),
        ("10.0.0.1", Style::Plain),
        ("1:30", Style::Double),
        ("2026-11-16T02:47:07Z", Style::Double),
        ("2026-11-16", Style::Double),
        ("2026-13-16", Style::Plain),
        ("no", Style::Double),
        ("", Style::Double),
        ("-", Style::Single),
        ("-1", Style::Double),
        ("- a", Style::Single),
        ("a: b", Style::Single),
        ("a #b", Style::Single),
        ("{}", Style::Single),
        (" a", Style::Single),
        ("a\tb", Style::Double),
        ("ä", Style::Plain),
        ("😀", Style::Double),
        ("a\nb", Style::Block),
        ("a \nb", Style::Double),
    ] {
        assert_eq!(scalar::style(text), expected, "{text:?}");
    }
}

#[test]
fn keys_are_sorted_naturally() {
    let mut keys = ["b", "a10", "a2", "A", "a-b", "ab", "a", "~a"];
    keys.sort_by(|left, right| order::compare(left, right));
    assert_eq!(keys, ["~a", "A", "a", "a-b", "a2", "a10", "ab", "b"]);
}

#[test]
fn what_is_written_can_be_read() {
    let value = json!({
        "a": ["", "~", "x: y", "a\tb", "it's", "say \"hi\"\u{1}", "😀", "\n", " \n", "\n a", "a\n\n", "#", "- a"],
        "long": "word ".repeat(60),
        "quoted long": format!("x: {}", "two  spaces ".repeat(30)),
        "escaped long": format!("\t{}", "two  spaces ".repeat(30)),
        "k".repeat(200): {"x": [1, {"y": 1.5}]},
    });
    let read: Value = serde_saphyr::from_str(&write(&value)).unwrap();
    assert_eq!(read, value);
}
