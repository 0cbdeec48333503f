//! Numbers of the API server that annotations change. What cannot be understood is left out and named.

use hyperplane_api::{
    common::GoDuration,
    constants::{Annotation, annotations},
};
use k8s_openapi::api::core::v1::Container;

use crate::{flags, inputs::Inputs};

/// How likely a client is asked to connect anew where several servers share the load.
const GOAWAY_CHANCE: &str = "0.001";

/// The highest chance that the API server takes.
const HIGHEST_GOAWAY_CHANCE: f64 = 0.02;

/// The shortest longest life of a token, in seconds.
const SHORTEST_TOKEN_LIFE: u64 = 600;

/// How much is logged.
const VERBOSITY: &str = "2";

/// One number: its annotation, what it must be, and whether a text is that.
struct Number {
    annotation: Annotation,
    asks: &'static str,
    is_valid: fn(&str) -> bool,
    target: Target,
}

/// Where a number goes.
enum Target {
    Flag(&'static str),
    Variable(&'static str),
}

const NUMBERS: &[Number] = &[
    Number {
        annotation: annotations::KUBE_API_SERVER_MAX_REQUESTS_INFLIGHT,
        asks: "must be a whole number",
        is_valid: is_count,
        target: Target::Flag("max-requests-inflight"),
    },
    Number {
        annotation: annotations::KUBE_API_SERVER_MAX_MUTATING_REQUESTS_INFLIGHT,
        asks: "must be a whole number",
        is_valid: is_count,
        target: Target::Flag("max-mutating-requests-inflight"),
    },
    Number {
        annotation: annotations::KUBE_API_SERVER_VERBOSITY_LEVEL,
        asks: "must be a whole number",
        is_valid: is_count,
        target: Target::Flag("v"),
    },
    Number {
        annotation: annotations::KUBE_API_SERVER_GOAWAY_CHANCE,
        asks: "must be a number from 0 to 0.02",
        is_valid: is_chance,
        target: Target::Flag("goaway-chance"),
    },
    Number {
        annotation: annotations::KUBE_API_SERVER_SERVICE_ACCOUNT_TOKEN_MAX_EXPIRATION,
        asks: "must be a duration of at least 600s, such as 24h",
        is_valid: is_token_life,
        target: Target::Flag("service-account-max-token-expiration"),
    },
    Number {
        annotation: annotations::KUBE_API_SERVER_GOGC,
        asks: "must be a whole number or off",
        is_valid: is_garbage_target,
        target: Target::Variable("GOGC"),
    },
    Number {
        annotation: annotations::KUBE_API_SERVER_GOMEMLIMIT,
        asks: "must be a number of bytes with a unit, such as 4GiB",
        is_valid: is_memory_limit,
        target: Target::Variable("GOMEMLIMIT"),
    },
];

/// Sets what does not come from the spec.
pub(super) fn set(inputs: &Inputs<'_>, replicas: i32, container: &mut Container) {
    flags::set(container, "v", VERBOSITY);
    if replicas > 1 {
        flags::set(container, "goaway-chance", GOAWAY_CHANCE);
    }
    for number in NUMBERS {
        let value = inputs
            .annotation(number.annotation)
            .filter(|value| (number.is_valid)(value));
        match (&number.target, value) {
            (Target::Flag(flag), Some(value)) => flags::set(container, flag, value),
            (Target::Variable(name), Some(value)) => flags::variable(container, name, value),
            (_, None) => {}
        }
    }
    if inputs.is_listed(annotations::DISABLE_PROFILING, super::NAME) {
        flags::set(container, "profiling", "false");
    }
    let api_server = inputs.api_server().into_iter();
    for origin in api_server.flat_map(|api_server| &api_server.additional_cors_allowed_origins) {
        flags::add(container, "cors-allowed-origins", origin);
    }
}

/// What is left out.
pub(super) fn warnings(inputs: &Inputs<'_>) -> Vec<String> {
    let wrong = NUMBERS.iter().filter_map(|number| {
        let value = inputs.annotation(number.annotation)?;
        (!(number.is_valid)(value)).then(|| format!("annotation {}: {value:?} {}", number.annotation, number.asks))
    });
    wrong.collect()
}

fn is_count(text: &str) -> bool {
    text.parse::<u32>().is_ok()
}

fn is_chance(text: &str) -> bool {
    text.parse::<f64>()
        .is_ok_and(|chance| (0.0..=HIGHEST_GOAWAY_CHANCE).contains(&chance))
}

fn is_token_life(text: &str) -> bool {
    let life = text.parse::<GoDuration>().and_then(|duration| duration.to_duration());
    life.is_ok_and(|life| life.as_secs() >= SHORTEST_TOKEN_LIFE)
}

fn is_garbage_target(text: &str) -> bool {
    text == "off" || is_count(text)
}

fn is_memory_limit(text: &str) -> bool {
    let number = text.trim_end_matches(|one: char| one.is_ascii_alphabetic());
    let unit = &text[number.len()..];
    matches!(unit, "" | "B" | "KiB" | "MiB" | "GiB" | "TiB") && number.parse::<u64>().is_ok()
}
