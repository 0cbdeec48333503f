//! Who a request comes from and whether it may go on: the seam between requests and the access crate. In-process
//! requests carry their identity as an extension, others carry credentials.

use std::sync::{Arc, Mutex, PoisonError};

use hyperplane_access::{
    Attributes, Decision, FieldRequirement, Objects, Refusal, User,
    authenticate::{Credentials, Impersonated, impersonation},
    forbidden_message,
};
use hyperplane_seams::Identity;
use hyperplane_store::Key;
use hyperplane_wire::{
    Failure, GroupKind, GroupResource, Reason,
    selector::FieldSelector,
    status::{Cause, Details},
};
use jiff::Timestamp;
use serde_json::Value;

use crate::{
    core::Core,
    service::{Asked, Server},
};

/// How long the answer about a chain of certificates counts for a connection: one may expire while it is open.
const CHAIN_SECONDS: i64 = 60;

/// The chain of certificates that a client showed, its own first. The handshake proved that the client has the key;
/// whether the chain is good is judged here. Whoever serves a connection puts it among the extensions of its requests.
#[derive(Clone, Debug, Default)]
pub struct PeerCertificates {
    chain: Arc<[Vec<u8>]>,
    judged: Arc<Mutex<Option<(Timestamp, User)>>>,
}

impl PeerCertificates {
    /// The chain of a connection. All of its requests get copies of this one.
    pub fn new(chain: impl Into<Arc<[Vec<u8>]>>) -> Self {
        Self {
            chain: chain.into(),
            judged: Arc::default(),
        }
    }

    /// The chain, the client's own certificate first.
    pub fn chain(&self) -> &[Vec<u8>] {
        &self.chain
    }

    /// The user, where the chain was found good a moment ago.
    fn known(&self, now: Timestamp) -> Option<User> {
        let judged = self.judged.lock().unwrap_or_else(PoisonError::into_inner);
        let (when, user) = judged.as_ref()?;
        (now.duration_since(*when).as_secs() < CHAIN_SECONDS).then(|| user.clone())
    }

    fn remember(&self, now: Timestamp, user: &User) {
        *self.judged.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, user.clone()));
    }
}

/// Who asks, and by whom they are impersonated.
#[derive(Debug)]
pub(crate) struct Requester {
    /// As whom the request is made.
    pub user: User,
    /// Who showed credentials, if that is another.
    pub impersonator: Option<User>,
    /// By which right.
    pub impersonated: Option<Impersonated>,
    /// Why the request may go on.
    pub decision: Decision,
}

/// The requester, if the request may go on.
pub(crate) fn identify(server: &Server, asked: &Asked<'_>) -> Result<Requester, Failure> {
    let user = authenticate(server, asked)?;
    let fields = field_requirements(asked);
    let policy = &server.core.policy;
    let authorize = |attributes: &Attributes<'_>| policy.authorize(attributes);
    let own = attributes(asked, &user, &fields);
    let headers = asked
        .parts
        .headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
    let impersonated = impersonation(headers, &own, &authorize).map_err(|refusal| refused(&refusal))?;
    let (user, impersonator) = match &impersonated {
        Some(impersonated) => (impersonated.user.clone(), Some(user)),
        None => (user, None),
    };
    let wanted = attributes(asked, &user, &fields);
    let decision = policy.authorize(&wanted);
    if !decision.is_allowed() {
        return Err(forbidden(&wanted, decision.reason()));
    }
    Ok(Requester {
        user,
        impersonator,
        impersonated,
        decision,
    })
}

fn authenticate(server: &Server, asked: &Asked<'_>) -> Result<User, Failure> {
    let extensions = &asked.parts.extensions;
    if let Some(identity) = extensions.get::<Identity>() {
        let uid = account_uid(&server.core, identity);
        return Ok(User::service_account(identity.namespace(), identity.role(), &uid));
    }
    if let Some(user) = extensions.get::<User>() {
        return Ok(user.clone());
    }
    let now = server.core.clock.now();
    let peer = extensions.get::<PeerCertificates>().cloned().unwrap_or_default();
    if let Some(user) = peer.known(now) {
        return Ok(user);
    }
    let chain: Vec<&[u8]> = peer.chain.iter().map(Vec::as_slice).collect();
    let bearer = asked.header("authorization").split_once(' ');
    let bearer = bearer
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token);
    let credentials = Credentials {
        certificates: &chain,
        bearer,
    };
    let objects = Latest(&server.core);
    let judged = server.front.authenticator.authenticate(&credentials, &objects, now);
    let user = judged.map_err(|error| {
        tracing::debug!(%error, "A request was not authenticated.");
        Failure::unauthorized()
    })?;
    // Tokens are looked at each time: they can be revoked.
    if bearer.is_none() && !chain.is_empty() && user.name != User::anonymous().name {
        peer.remember(now, &user);
    }
    Ok(user)
}

fn account_uid(core: &Core, identity: &Identity) -> String {
    let key = Key::new("serviceaccounts", identity.namespace(), identity.role());
    core.store
        .snapshot()
        .get(&key)
        .map(|entry| entry.payload.facts().uid.to_string())
        .unwrap_or_default()
}

/// What authorization sees of a request.
pub(crate) fn attributes<'a>(asked: &'a Asked<'_>, user: &'a User, fields: &'a [FieldRequirement]) -> Attributes<'a> {
    let info = asked.info;
    if !info.is_resource {
        return Attributes::path(user, &info.verb, &info.path);
    }
    Attributes {
        version: &info.version,
        subresource: &info.subresource,
        path: &info.path,
        fields,
        ..Attributes::resource(
            user,
            &info.verb,
            &info.group,
            &info.resource,
            &info.namespace,
            &info.name,
        )
    }
}

fn field_requirements(asked: &Asked<'_>) -> Vec<FieldRequirement> {
    let selector: FieldSelector = asked.info.field_selector.parse().unwrap_or_default();
    let requirements = selector.requirements.into_iter().map(|requirement| FieldRequirement {
        field: requirement.field,
        equals: requirement.is_equal,
        value: requirement.value,
    });
    requirements.collect()
}

/// The error of a request that may not go on.
pub(crate) fn forbidden(attributes: &Attributes<'_>, reason: &str) -> Failure {
    let resource = GroupResource::new(attributes.group, attributes.resource);
    Failure::new(Reason::Forbidden, forbidden_message(attributes, reason))
        .with_details(Details::of_resource(&resource, attributes.name))
}

/// A refusal as the error that clients get.
pub(crate) fn refused(refusal: &Refusal) -> Failure {
    let message = refusal.to_string();
    let reason = match refusal {
        Refusal::BadRequest(_) => Reason::BadRequest,
        Refusal::Forbidden { .. } => Reason::Forbidden,
        Refusal::NotFound(_) => Reason::NotFound,
        Refusal::Conflict { .. } => Reason::Conflict,
        Refusal::Invalid { .. } => Reason::Invalid,
        Refusal::Internal(_) => return Failure::internal(message),
    };
    let Some(subject) = refusal.subject() else {
        return Failure::new(reason, message);
    };
    let mut details = Details::of_resource(&GroupResource::new(&subject.group, &subject.resource), &subject.name);
    if let Refusal::Invalid { causes, .. } = refusal {
        let kind = GroupKind::new(&subject.group, &subject.resource);
        details.kind = kind.kind;
        details.causes = causes
            .iter()
            .map(|cause| Cause {
                reason: cause.reason.to_owned(),
                message: cause.message.clone(),
                field: cause.field.clone(),
            })
            .collect();
    }
    Failure::new(reason, message).with_details(details)
}

/// The latest objects, for decisions that depend on some.
pub(crate) struct Latest<'a>(pub &'a Core);

impl Objects for Latest<'_> {
    fn get(&self, group: &str, resource: &str, namespace: &str, name: &str) -> Option<Arc<Value>> {
        let registry = self.0.registry.get();
        let served = registry
            .all()
            .find(|served| served.resource.group == group && served.resource.plural == resource)?;
        let entry = Core::find(&self.0.store.snapshot(), served, namespace, name)?;
        Some(Arc::new(served.show(&entry, entry.revision)))
    }
}
