//! Acting as somebody else: what the headers ask for, and whether the requester may. The constrained modes
//! (`impersonate:<mode>` together with `impersonate-on:<mode>:<verb>`) are tried before the old `impersonate`
//! (apiserver, pkg/endpoints/filters/impersonation). Knows nothing of how rights are decided.

use std::collections::BTreeMap;

use crate::{
    Attributes, Decision, Refusal, User,
    attributes::complaint,
    names::{self, split_node, split_service_account},
    text::quote,
};

const USER: &str = "impersonate-user";
const GROUP: &str = "impersonate-group";
const UID: &str = "impersonate-uid";
const EXTRA: &str = "impersonate-extra-";
const AUTHENTICATION: &str = "authentication.k8s.io";
/// From so many groups or extras on the right to all of them is tried first.
const MANY_CHECKS: usize = 4;

/// As whom the request goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impersonated {
    /// The user that was asked for, with the groups that follow from it.
    pub user: User,
    /// The verb of the constrained mode that allowed it, for the audit line; empty for the old one.
    pub constraint: &'static str,
}

/// As whom the headers ask to act, if the user of the request may. The attributes are those of the request itself;
/// header names may be of any case. Nothing when no header asks.
pub fn impersonation<'h>(
    headers: impl IntoIterator<Item = (&'h str, &'h str)>,
    attributes: &Attributes<'_>,
    authorize: &dyn Fn(&Attributes<'_>) -> Decision,
) -> Result<Option<Impersonated>, Refusal> {
    let Some(wanted) = wanted(headers)? else {
        return Ok(None);
    };
    let mut first_refusal = None;
    for mode in MODES.iter().filter(|mode| (mode.applies)(&wanted, attributes.user)) {
        match (Check {
            mode,
            attributes,
            authorize,
        })
        .check(&wanted)
        {
            Ok(user) => {
                return Ok(Some(Impersonated {
                    user,
                    constraint: mode.constraint(),
                }));
            }
            Err(refusal) => first_refusal = first_refusal.or(Some(refusal)),
        }
    }
    Err(first_refusal.unwrap_or_else(|| Refusal::Internal("all impersonation modes failed".to_owned())))
}

/// One way to be allowed to act as somebody.
struct Mode {
    verb: &'static str,
    /// The verb prefix that the request itself needs; none for the old mode.
    on: Option<&'static str>,
    applies: fn(wanted: &User, requester: &User) -> bool,
}

const MODES: [Mode; 5] = [
    Mode {
        verb: "impersonate:associated-node",
        on: Some("impersonate-on:associated-node:"),
        applies: |wanted, requester| has_only_name(wanted) && is_on_node(requester, &wanted.name),
    },
    Mode {
        verb: "impersonate:arbitrary-node",
        on: Some("impersonate-on:arbitrary-node:"),
        applies: |wanted, _| has_only_name(wanted) && split_node(&wanted.name).is_some(),
    },
    Mode {
        verb: "impersonate:serviceaccount",
        on: Some("impersonate-on:serviceaccount:"),
        applies: |wanted, _| has_only_name(wanted) && split_service_account(&wanted.name).is_some(),
    },
    Mode {
        verb: "impersonate:user-info",
        on: Some("impersonate-on:user-info:"),
        applies: |wanted, _| split_node(&wanted.name).is_none() && split_service_account(&wanted.name).is_none(),
    },
    Mode {
        verb: "impersonate",
        on: None,
        applies: |_, _| true,
    },
];

impl Mode {
    const fn constraint(&self) -> &'static str {
        if self.on.is_some() { self.verb } else { "" }
    }

    const fn is_constrained(&self) -> bool {
        self.on.is_some()
    }

    /// A node is checked as all nodes in the mode that ties a service account to its own.
    fn is_associated_node(&self) -> bool {
        self.verb == "impersonate:associated-node"
    }
}

struct Check<'a> {
    mode: &'a Mode,
    attributes: &'a Attributes<'a>,
    authorize: &'a dyn Fn(&Attributes<'_>) -> Decision,
}

impl Check<'_> {
    fn check(&self, wanted: &User) -> Result<User, Refusal> {
        if let Some(prefix) = self.mode.on {
            let verb = format!("{prefix}{}", self.attributes.verb);
            self.ask(&Attributes {
                verb: &verb,
                ..*self.attributes
            })?;
        }
        let mut user = wanted.clone();
        user.groups = self.check_name(wanted)?;
        if !wanted.uid.is_empty() {
            self.ask(&self.about(AUTHENTICATION, "uids", &wanted.uid))?;
        }
        self.check_groups(&wanted.groups)?;
        self.check_extra(&wanted.extra)?;
        Ok(with_common_group(user))
    }

    /// The groups that the user will have: those that were asked for, or those that follow from the name.
    fn check_name(&self, wanted: &User) -> Result<Vec<String>, Refusal> {
        let mut groups = wanted.groups.clone();
        let group = if self.mode.is_constrained() { AUTHENTICATION } else { "" };
        let mut about = self.about(group, "users", &wanted.name);
        if let Some(node) = split_node(&wanted.name).filter(|_| self.mode.is_constrained()) {
            about.resource = "nodes";
            about.name = if self.mode.is_associated_node() { "*" } else { node };
            groups = vec![names::NODES.to_owned()];
        }
        if let Some((namespace, name)) = split_service_account(&wanted.name) {
            about = Attributes {
                resource: "serviceaccounts",
                namespace,
                name,
                ..about
            };
            if wanted.groups.is_empty() {
                groups = names::service_account_groups(namespace);
            }
        }
        self.ask(&about)?;
        Ok(groups)
    }

    fn check_groups(&self, groups: &[String]) -> Result<(), Refusal> {
        let group = if self.mode.is_constrained() { AUTHENTICATION } else { "" };
        let about = |name| self.about(group, "groups", name);
        if self.mode.is_constrained() {
            if groups.iter().any(String::is_empty) {
                return Err(refuse(
                    &about(""),
                    "impersonating the empty string group is not allowed",
                ));
            }
            if groups.iter().any(|group| group == names::MASTERS) {
                return Err(refuse(
                    &about(names::MASTERS),
                    "impersonating the system:masters group is not allowed",
                ));
            }
            if groups.len() >= MANY_CHECKS && self.ask(&about("*")).is_ok() {
                return Ok(());
            }
        }
        groups.iter().try_for_each(|group| self.ask(&about(group)))
    }

    fn check_extra(&self, extra: &BTreeMap<String, Vec<String>>) -> Result<(), Refusal> {
        let about = |key, value| Attributes {
            subresource: key,
            ..self.about(AUTHENTICATION, "userextras", value)
        };
        if self.mode.is_constrained() {
            validate_extra(extra).map_err(|complaint| refuse(&about("", ""), &complaint))?;
            let count: usize = extra.values().map(Vec::len).sum();
            if count.max(extra.len()) >= MANY_CHECKS && self.ask(&about("*", "*")).is_ok() {
                return Ok(());
            }
        }
        let mut values = extra
            .iter()
            .flat_map(|(key, values)| values.iter().map(move |value| (key, value)));
        values.try_for_each(|(key, value)| self.ask(&about(key, value)))
    }

    fn about<'b>(&'b self, group: &'b str, resource: &'b str, name: &'b str) -> Attributes<'b> {
        let version = "v1";
        Attributes {
            version,
            ..Attributes::resource(self.attributes.user, self.mode.verb, group, resource, "", name)
        }
    }

    fn ask(&self, attributes: &Attributes<'_>) -> Result<(), Refusal> {
        let decision = (self.authorize)(attributes);
        if decision.is_allowed() {
            Ok(())
        } else {
            Err(refuse(attributes, decision.reason()))
        }
    }
}

/// What the headers ask for, without anything that follows from it.
fn wanted<'h>(headers: impl IntoIterator<Item = (&'h str, &'h str)>) -> Result<Option<User>, Refusal> {
    let mut user = User::default();
    let mut has_more = false;
    for (header, value) in headers {
        let header = header.to_ascii_lowercase();
        match header.as_str() {
            USER if user.name.is_empty() => value.clone_into(&mut user.name),
            UID if user.uid.is_empty() => value.clone_into(&mut user.uid),
            GROUP => user.groups.push(value.to_owned()),
            _ => {
                if let Some(key) = header.strip_prefix(EXTRA) {
                    user.extra.entry(unescape(key)).or_default().push(value.to_owned());
                }
            }
        }
        has_more |= header.starts_with(EXTRA) || header == GROUP;
    }
    has_more |= !user.uid.is_empty();
    match (user.name.is_empty(), has_more) {
        (false, _) => Ok(Some(user)),
        (true, false) => Ok(None),
        (true, true) => {
            let message = format!("requested {} without impersonating a user name", in_go(&user));
            Err(Refusal::BadRequest(message))
        }
    }
}

/// Undoes `%` escapes; a key that is not well formed is taken as it is.
fn unescape(key: &str) -> String {
    let mut bytes = Vec::with_capacity(key.len());
    let mut rest = key.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        if *first != b'%' {
            bytes.push(*first);
            rest = tail;
            continue;
        }
        let digits = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) else {
            return key.to_owned();
        };
        bytes.push(byte);
        rest = &tail[2..];
    }
    String::from_utf8(bytes).unwrap_or_else(|_| key.to_owned())
}

/// The user as Go prints the struct, because the message shows it so.
fn in_go(user: &User) -> String {
    let list = |texts: &[String]| {
        let texts: Vec<String> = texts.iter().map(|text| quote(text)).collect();
        texts.join(", ")
    };
    let groups = if user.groups.is_empty() {
        "[]string(nil)".to_owned()
    } else {
        format!("[]string{{{}}}", list(&user.groups))
    };
    let extra: Vec<String> = user
        .extra
        .iter()
        .map(|(key, values)| format!("{}:[]string{{{}}}", quote(key), list(values)))
        .collect();
    let extra = if extra.is_empty() {
        "map[string][]string(nil)".to_owned()
    } else {
        format!("map[string][]string{{{}}}", extra.join(", "))
    };
    let (name, uid) = (quote(&user.name), quote(&user.uid));
    format!("&user.DefaultInfo{{Name:{name}, UID:{uid}, Groups:{groups}, Extra:{extra}}}")
}

fn with_common_group(mut user: User) -> User {
    let group = if user.name == names::ANONYMOUS {
        names::UNAUTHENTICATED
    } else {
        names::AUTHENTICATED
    };
    if !user.is_in(group) && !user.is_in(names::UNAUTHENTICATED) {
        user.groups.push(group.to_owned());
    }
    user
}

fn has_only_name(user: &User) -> bool {
    user.uid.is_empty() && user.groups.is_empty() && user.extra.is_empty()
}

/// Whether the requester is a service account whose token says that its pod runs on the node.
fn is_on_node(requester: &User, user: &str) -> bool {
    let own = requester.extra.get(names::NODE_NAME).map(Vec::as_slice);
    split_service_account(&requester.name).is_some()
        && split_node(user).is_some_and(|node| matches!(own, Some([only]) if only == node))
}

fn validate_extra(extra: &BTreeMap<String, Vec<String>>) -> Result<(), String> {
    for (key, values) in extra {
        if key.is_empty() {
            return Err("impersonating the empty string key in extra is not allowed".to_owned());
        }
        check_extra_key(key)?;
        if *key != key.to_lowercase() {
            return Err(format!(
                "impersonating a non-lowercase key in extra is not allowed: {}",
                quote(key)
            ));
        }
        if values.iter().any(String::is_empty) {
            return Err("impersonating the empty string value in extra is not allowed".to_owned());
        }
    }
    Ok(())
}

/// Keys are paths below a domain.
fn check_extra_key(key: &str) -> Result<(), String> {
    const DOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    const PATH: &str = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
    let invalid = |value: &str, complaint: &str| {
        let value = quote(value);
        Err(format!(
            "impersonating an invalid key in extra is not allowed: extra.key: Invalid value: {value}: {complaint}"
        ))
    };
    let is_path_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&byte);
    match key
        .split_once('/')
        .filter(|(domain, path)| !domain.is_empty() && !path.is_empty())
    {
        None => invalid(key, "must be a domain-prefixed path (such as \"acme.io/foo\")"),
        Some((domain, _)) if !names::is_subdomain(domain) => invalid(domain, DOMAIN),
        Some((_, path)) if !path.bytes().all(is_path_byte) => invalid(path, PATH),
        Some(_) => Ok(()),
    }
}

fn refuse(attributes: &Attributes<'_>, reason: &str) -> Refusal {
    Refusal::forbidden(
        attributes.group,
        attributes.resource,
        attributes.name,
        complaint(attributes, reason),
    )
}
