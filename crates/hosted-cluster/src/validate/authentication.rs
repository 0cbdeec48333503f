//! Identity providers of the user: what the API server would refuse when it starts is refused before it is asked to, by the
//! rules of its authentication configuration that a schema cannot say.

use std::collections::BTreeSet;

use hyperplane_api::hypershift::{
    configuration::authentication::{AuthenticationType, oidc_provider::OidcProvider},
    hosted_cluster::issuer_of_service_accounts,
};
use hyperplane_platforms::{Problem, Rule};
use hyperplane_schema::expression::{Expression, Kind, Outcome, Variable};

use super::Case;

const EXPRESSION: Rule = Rule {
    name: "authentication-expression",
    asks: "expressions over claims and users must be ones that the API server can evaluate",
};
const EMAIL: Rule = Rule {
    name: "authentication-email",
    asks: "whoever is called by an address must have shown that it is theirs",
};
const ONCE: Rule = Rule {
    name: "authentication-once",
    asks: "a rule on claims or users must not be given twice",
};
const EXTRA_KEY: Rule = Rule {
    name: "authentication-extra-key",
    asks: "keys of what else is known of a user are in lower case, and their paths have no odd characters",
};
const DISCOVERY: Rule = Rule {
    name: "authentication-discovery",
    asks: "the URL of a provider's description must not name a user",
};
const ISSUER: Rule = Rule {
    name: "authentication-issuer",
    asks: "an identity provider must not issue in the name of the cluster itself",
};

pub(super) const RULES: &[Rule] = &[EXPRESSION, EMAIL, ONCE, EXTRA_KEY, DISCOVERY, ISSUER];

/// What the path of a key may hold beside letters and digits.
const PATH_CHARACTERS: &str = "/-._~%!$&'()*+,;=:";

/// Where they stand.
pub(super) const PROVIDERS: &str = "spec.configuration.authentication.oidcProviders";

pub(super) fn judge(case: &Case<'_>, problems: &mut Vec<Problem>) {
    let configuration = case.cluster.spec.configuration.as_ref();
    let settings = configuration.and_then(|configuration| configuration.authentication.as_ref());
    let Some(settings) = settings.filter(|settings| settings.authentication_type == Some(AuthenticationType::Oidc))
    else {
        return;
    };
    for (index, provider) in settings.oidc_providers.iter().enumerate() {
        let field = format!("{PROVIDERS}[{index}]");
        expressions(provider, &field, problems);
        repetitions(provider, &field, problems);
        extra_keys(provider, &field, problems);
        issuer(case, provider, &field, problems);
    }
}

/// Claims of a token, of which nothing is known before.
fn claims() -> Variable {
    Variable {
        name: "claims",
        kind: Kind::Map(Box::new(Kind::Any)),
    }
}

/// The user that a token becomes.
fn user() -> Variable {
    let texts = Kind::List(Box::new(Kind::String));
    Variable {
        name: "user",
        kind: Kind::Object(vec![
            ("username", Kind::String),
            ("uid", Kind::String),
            ("groups", texts.clone()),
            ("extra", Kind::Map(Box::new(texts))),
        ]),
    }
}

/// An expression and where it stands.
struct Given<'a> {
    field: String,
    text: &'a str,
}

impl Given<'_> {
    fn read(&self, variable: &Variable, outcome: Outcome, problems: &mut Vec<Problem>) -> Option<Expression> {
        let refused = |complaint: String| {
            let reason = complaint.lines().next().unwrap_or_default();
            let name = variable.name;
            Problem::new(
                &EXPRESSION,
                &self.field,
                format!("the API server would not start with it: {reason}"),
                format!("write a CEL expression over {name}, such as {}", example(name, outcome)),
            )
        };
        match Expression::parse(self.text, std::slice::from_ref(variable), outcome) {
            Ok(expression) => Some(expression),
            Err(complaint) => {
                problems.push(refused(complaint));
                None
            }
        }
    }
}

fn example(variable: &str, outcome: Outcome) -> &'static str {
    match (variable, outcome) {
        ("user", _) => "!user.username.startsWith('system:')",
        (_, Outcome::Bool) => "claims.hd == 'example.com'",
        (_, Outcome::Any) => "claims.sub",
    }
}

fn expressions(provider: &OidcProvider, field: &str, problems: &mut Vec<Problem>) {
    let mappings = &provider.claim_mappings;
    let mapping = |name: &str| format!("{field}.claimMappings.{name}");
    let username = mappings.username.expression.as_deref().map(|text| Given {
        field: mapping("username.expression"),
        text,
    });
    let groups = mappings.groups.as_ref().and_then(|groups| groups.expression.as_deref());
    let uid = mappings.uid.as_ref().and_then(|uid| uid.expression.as_deref());
    for (name, text) in [("groups.expression", groups), ("uid.expression", uid)] {
        let given = text.map(|text| Given {
            field: mapping(name),
            text,
        });
        given.and_then(|given| given.read(&claims(), Outcome::Any, problems));
    }
    let mut witnesses: Vec<Expression> = Vec::new();
    for (index, extra) in mappings.extra.iter().enumerate() {
        let given = Given {
            field: mapping(&format!("extra[{index}].valueExpression")),
            text: &extra.value_expression,
        };
        witnesses.extend(given.read(&claims(), Outcome::Any, problems));
    }
    for (index, rule) in provider.claim_validation_rules.iter().enumerate() {
        let given = rule.cel.as_ref().map(|rule| Given {
            field: format!("{field}.claimValidationRules[{index}].cel.expression"),
            text: &rule.expression,
        });
        witnesses.extend(given.and_then(|given| given.read(&claims(), Outcome::Bool, problems)));
    }
    for (index, rule) in provider.user_validation_rules.iter().enumerate() {
        let given = Given {
            field: format!("{field}.userValidationRules[{index}].expression"),
            text: &rule.expression,
        };
        given.read(&user(), Outcome::Bool, problems);
    }
    if let Some(given) = username {
        let expression = given.read(&claims(), Outcome::Any, problems);
        problems.extend(expression.and_then(|expression| unverified(&given, &expression, &witnesses)));
    }
}

/// A name by an address that nothing has to be known of.
fn unverified(given: &Given<'_>, username: &Expression, witnesses: &[Expression]) -> Option<Problem> {
    let looks = |expression: &Expression| expression.selects("claims", "email_verified");
    let is_verified = looks(username) || witnesses.iter().any(looks);
    (username.selects("claims", "email") && !is_verified).then(|| {
        Problem::new(
            &EMAIL,
            &given.field,
            "it uses claims.email, and nothing asks for claims.email_verified",
            "add a rule to claimValidationRules: claims.?email_verified.orValue(true) == true",
        )
    })
}

fn repetitions(provider: &OidcProvider, field: &str, problems: &mut Vec<Problem>) {
    let of_claims = provider
        .claim_validation_rules
        .iter()
        .enumerate()
        .filter_map(|(index, rule)| {
            let claim = rule.required_claim.as_ref().map(|required| required.claim.as_str());
            let claim = claim.map(|claim| ("requiredClaim.claim", claim));
            let expression = rule
                .cel
                .as_ref()
                .map(|rule| ("cel.expression", rule.expression.as_str()));
            let (part, text) = claim.or(expression)?;
            Some((format!("{field}.claimValidationRules[{index}].{part}"), part, text))
        });
    let of_users = provider.user_validation_rules.iter().enumerate().map(|(index, rule)| {
        let place = format!("{field}.userValidationRules[{index}].expression");
        (place, "expression", rule.expression.as_str())
    });
    let mut seen = BTreeSet::new();
    for (place, part, text) in of_claims.chain(of_users) {
        if !seen.insert((part, text)) {
            problems.push(Problem::new(
                &ONCE,
                place,
                "the same is asked by a rule before it",
                "remove one of the two",
            ));
        }
    }
}

/// What is taken is what the schema takes and the API server takes as well: the schema is content with one good character in
/// the path.
fn extra_keys(provider: &OidcProvider, field: &str, problems: &mut Vec<Problem>) {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || PATH_CHARACTERS.contains(character);
    for (index, extra) in provider.claim_mappings.extra.iter().enumerate() {
        let path = extra.key.split_once('/').map(|(_, path)| path).unwrap_or_default();
        let is_lower = !extra.key.chars().any(char::is_uppercase);
        if is_lower && path.chars().all(is_plain) {
            continue;
        }
        problems.push(Problem::new(
            &EXTRA_KEY,
            format!("{field}.claimMappings.extra[{index}].key"),
            format!("{:?} is no such key", extra.key),
            format!("behind the domain use small letters, digits and {PATH_CHARACTERS}"),
        ));
    }
}

fn issuer(case: &Case<'_>, provider: &OidcProvider, field: &str, problems: &mut Vec<Problem>) {
    let issuer = &provider.issuer;
    if issuer.issuer_url == issuer_of_service_accounts(&case.cluster.spec.issuer_url) {
        problems.push(Problem::new(
            &ISSUER,
            format!("{field}.issuer.issuerURL"),
            "service accounts of the cluster have this issuer, by spec.issuerURL",
            "give the issuer of the identity provider",
        ));
    }
    let address = issuer.discovery_url.as_deref().and_then(|url| url.split_once("://"));
    let host = address.and_then(|(_, rest)| rest.split('/').next());
    if host.is_some_and(|host| host.contains('@')) {
        problems.push(Problem::new(
            &DISCOVERY,
            format!("{field}.issuer.discoveryURL"),
            "it names a user, and the API server does not log in there",
            "leave out everything up to the @",
        ));
    }
}
