use proptest::prelude::*;

use super::*;

const JSON: Encoding = Encoding::Json { pretty: false };

fn wishes(accept: &str) -> Wishes<'_> {
    Wishes {
        accept,
        ..Wishes::default()
    }
}

#[track_caller]
fn accepted(accept: &str, encoding: Encoding, shape: Shape) {
    for origin in [Origin::BuiltIn, Origin::Custom] {
        assert_eq!(
            wishes(accept).format(origin),
            Ok(Format { encoding, shape }),
            "{accept}"
        );
    }
}

#[track_caller]
fn refused(accept: &str, origin: Origin, message: &str) {
    let failure = wishes(accept).format(origin).unwrap_err();
    assert_eq!(
        (failure.code.as_u16(), failure.message.as_str()),
        (406, message),
        "{accept}"
    );
}

const ONLY: &str = "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf";
const NONE: &str = "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, \
     application/vnd.kubernetes.protobuf";

#[test]
fn formats_are_chosen_by_the_accept_header() {
    accepted("", JSON, Shape::Object);
    accepted("*/*", JSON, Shape::Object);
    accepted("application/json", JSON, Shape::Object);
    accepted("application/yaml", Encoding::Yaml, Shape::Object);
    accepted("application/json;q=0.1,application/yaml", Encoding::Yaml, Shape::Object);
    accepted("*/*,application/yaml", Encoding::Yaml, Shape::Object);
    accepted(
        "application/vnd.kubernetes.protobuf,application/json",
        JSON,
        Shape::Object,
    );
    accepted("application/json;charset=utf-8", JSON, Shape::Object);
    accepted("application/json; q=abc", JSON, Shape::Object);
    accepted("application/json;q=0", JSON, Shape::Object);
    accepted("application/json;stream=watch", JSON, Shape::Object);
    accepted("application/json;sv=v1", JSON, Shape::Object);
    accepted(
        "application/json;pretty=1",
        Encoding::Json { pretty: true },
        Shape::Object,
    );
}

#[test]
fn shapes_are_parameters_of_the_media_type() {
    let table = Shape::Table(MetaVersion::V1);
    accepted(
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
        JSON,
        table,
    );
    accepted("*/*;as=Table;g=meta.k8s.io;v=v1", JSON, table);
    accepted("application/yaml;as=Table;g=meta.k8s.io;v=v1", Encoding::Yaml, table);
    accepted(
        "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
        JSON,
        Shape::Table(MetaVersion::V1Beta1),
    );
    accepted(
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        JSON,
        Shape::PartialObjectMetadata(MetaVersion::V1),
    );
    accepted(
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
        JSON,
        Shape::PartialObjectMetadataList(MetaVersion::V1),
    );
    accepted(
        "application/json;as=Table;g=meta.k8s.io;v=v2,application/json",
        JSON,
        Shape::Object,
    );
}

#[test]
fn what_cannot_be_given_is_refused() {
    for accept in [
        "application/json;as=Table;g=meta.k8s.io;v=v2",
        "application/json;as=Table",
        "application/json;as=Foo;g=meta.k8s.io;v=v1",
        "application/json;stream=foo",
        "application/json;sv=v2",
        "application/vnd.kubernetes.protobuf",
        "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1",
    ] {
        refused(accept, Origin::Custom, ONLY);
        refused(accept, Origin::BuiltIn, ONLY);
    }
    for accept in ["text/html", "application/cbor", "Application/JSON", ",,", "application"] {
        refused(accept, Origin::Custom, ONLY);
        refused(accept, Origin::BuiltIn, NONE);
    }
    assert!(wishes("application/*").format(Origin::Custom).is_ok());
    refused("application/*", Origin::BuiltIn, NONE);
}

#[test]
fn people_get_indentation() {
    let pretty = |query, user_agent| {
        let wishes = Wishes {
            accept: "application/json",
            query,
            user_agent,
        };
        wishes.format(Origin::Custom).unwrap().encoding == Encoding::Json { pretty: true }
    };
    assert!(pretty("pretty=true", ""));
    assert!(pretty("a=b&pretty=1", "kubectl"));
    assert!(pretty("", "curl/8.0"));
    assert!(pretty("pretty=", "Mozilla/5.0 (X11)"));
    assert!(!pretty("pretty=false", "curl/8.0"));
    assert!(!pretty("", "kubectl/v1.36"));
    assert!(!pretty("pretty=yes", ""));
}

#[test]
fn watches_stream_json_only() {
    assert_eq!(wishes("").stream_format(Origin::Custom).unwrap().encoding, JSON);
    let failure = wishes("application/yaml").stream_format(Origin::Custom).unwrap_err();
    assert_eq!(
        failure.message,
        "only the following media types are accepted: application/json;stream=watch, \
         application/vnd.kubernetes.protobuf;stream=watch"
    );
}

#[test]
fn errors_can_always_be_written() {
    assert_eq!(wishes("application/yaml").error_encoding(), Encoding::Yaml);
    assert_eq!(wishes("text/html").error_encoding(), Encoding::Json { pretty: true });
    assert_eq!(
        wishes("application/yaml;as=Table;g=meta.k8s.io;v=v1").error_encoding(),
        Encoding::Json { pretty: true }
    );
    assert_eq!(wishes("").error_encoding(), JSON);
}

#[test]
fn discovery_is_aggregated_for_those_who_ask() {
    let aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let beta = aggregated.replace("v2", "v2beta1");
    let format = |accept: &str| wishes(accept).discovery_format();
    assert_eq!(format(aggregated), Ok(DiscoveryFormat::Aggregated { encoding: JSON }));
    assert_eq!(
        format(&format!("{aggregated},{beta},application/json")),
        Ok(DiscoveryFormat::Aggregated { encoding: JSON })
    );
    assert_eq!(
        format(&format!("{beta},application/json")),
        Ok(DiscoveryFormat::Legacy { encoding: JSON })
    );
    assert_eq!(format(""), Ok(DiscoveryFormat::Legacy { encoding: JSON }));
    assert_eq!(
        format("application/yaml"),
        Ok(DiscoveryFormat::Legacy {
            encoding: Encoding::Yaml
        })
    );
    for refused in [
        beta.as_str(),
        "text/html",
        "application/json;g=apidiscovery.k8s.io;v=v2;as=X",
    ] {
        assert_eq!(format(refused).unwrap_err().message, ONLY);
    }
    assert_eq!(format(aggregated).unwrap().content_type(), aggregated);
    let yaml = format(&aggregated.replace("json", "yaml")).unwrap();
    assert_eq!(
        yaml.content_type(),
        "application/yaml;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    );
}

#[test]
fn bodies_are_json_unless_they_say_otherwise() {
    for (content_type, expected) in [
        ("", BodyFormat::Json),
        ("application/json", BodyFormat::Json),
        ("Application/JSON; charset=utf-8", BodyFormat::Json),
        ("application/yaml", BodyFormat::Yaml),
        ("application/vnd.kubernetes.protobuf", BodyFormat::Protobuf),
    ] {
        assert_eq!(BodyFormat::parse(content_type), Ok(expected), "{content_type}");
    }
    for content_type in ["text/yaml", "application/cbor", "application/json;a", "bogus"] {
        let failure = BodyFormat::parse(content_type).unwrap_err();
        assert_eq!(
            (failure.code.as_u16(), failure.message.as_str()),
            (
                415,
                "the body of the request was in an unknown format - accepted media types include: application/json, \
                 application/yaml, application/vnd.kubernetes.protobuf"
            ),
            "{content_type}"
        );
    }
}

#[test]
fn patches_have_types_of_their_own() {
    let parse = PatchType::parse;
    assert_eq!(
        parse("application/json-patch+json", Origin::Custom),
        Ok(PatchType::Json)
    );
    assert_eq!(
        parse("application/merge-patch+json; charset=utf-8", Origin::Custom),
        Ok(PatchType::Merge)
    );
    assert_eq!(
        parse("application/apply-patch+yaml", Origin::BuiltIn),
        Ok(PatchType::Apply)
    );
    assert_eq!(
        parse("application/strategic-merge-patch+json", Origin::BuiltIn),
        Ok(PatchType::Strategic)
    );
    for content_type in [
        "application/json",
        "",
        "Application/merge-patch+json",
        "application/strategic-merge-patch+json",
    ] {
        let failure = parse(content_type, Origin::Custom).unwrap_err();
        assert_eq!(
            (failure.code.as_u16(), failure.message.as_str()),
            (
                415,
                "the body of the request was in an unknown format - accepted media types include: \
                 application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
            )
        );
    }
    let failure = parse("application/json", Origin::BuiltIn).unwrap_err();
    assert_eq!(failure.message, "415: Unsupported Media Type");
}

proptest! {
    #[test]
    fn negotiation_answers_everything(accept in "[a-z*/;=,.0-9 +]{0,60}", noise in ".{0,40}") {
        for accept in [accept.as_str(), noise.as_str()] {
            let wishes = wishes(accept);
            for origin in [Origin::BuiltIn, Origin::Custom] {
                if let Err(failure) = wishes.format(origin) {
                    prop_assert_eq!(failure.code.as_u16(), 406);
                }
            }
            wishes.error_encoding();
            drop(wishes.discovery_format());
            drop(BodyFormat::parse(accept));
            drop(PatchType::parse(accept, Origin::Custom));
        }
    }

    #[test]
    fn json_is_found_behind_what_we_do_not_write(before in prop::collection::vec("[a-z]{1,6}/[a-z]{1,6}", 0..5)) {
        let mut header = before.join(",");
        header.push_str(",application/json");
        prop_assert_eq!(wishes(&header).format(Origin::Custom).unwrap().encoding, JSON);
    }
}
