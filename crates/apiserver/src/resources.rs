//! From a request about a resource to the verb that it asks for, and from what the verb says to a response.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Method, Response, StatusCode};
use hyperplane_access::User;
use hyperplane_kinds::Verb;
use hyperplane_schema::names;
use hyperplane_store::Revision;
use hyperplane_wire::{
    Failure, GroupResource,
    decode::decode,
    delete_options::DeleteOptions,
    negotiate::{BodyFormat, PatchType},
    options::{GetOptions, ListOptions, Write, WriteOptions},
};

use crate::{
    body::{self, Body, RequestBody},
    call::Call,
    paths, reading,
    registry::Served,
    render::{EventWriter, Rendering, UNCACHED, respond, with_warnings},
    service::{Asked, Server},
    slots::{Slot, Slots},
    subresources,
    verbs::patch::Patch,
};

/// Paths under which the object itself is read.
const OF_THE_OBJECT: [&str; 5] = ["", "approval", "ephemeralcontainers", "resize", "status"];

/// What logs are.
const PLAIN_TEXT: &str = "text/plain";

/// Answers a request about a resource.
pub(crate) async fn answer(
    server: &Server,
    asked: &Asked<'_>,
    user: &User,
    body: RequestBody,
) -> Result<Response<Body>, Failure> {
    let served = match find(server, asked) {
        Ok(served) => served,
        Err(Missing::Page) => return Ok(paths::not_found()),
        Err(Missing::Status(failure)) => return Err(failure),
    };
    let verb = verb(asked, &served)?;
    check_name(asked, verb)?;
    if verb == Verb::Watch {
        return watch(server, asked, user, &served).await;
    }
    let exchange = Exchange {
        server,
        asked,
        user,
        rendering: Rendering::new(asked, &served, server.core.clock.now())?,
        served,
    };
    let body = match verb {
        Verb::Get | Verb::List => Bytes::new(),
        _ => {
            // Counted apart: bodies that never come must not keep others from being answered.
            let _slot = slot(&server.front.bodies)?;
            body::read(body, &server.core.limits).await?
        }
    };
    let _slot = slot(&server.front.requests)?;
    match verb {
        Verb::Get => exchange.get().await,
        Verb::List => exchange.list().await,
        Verb::Create => exchange.create(&body).await,
        Verb::Update => exchange.update(&body).await,
        Verb::Patch => exchange.patch(body).await,
        Verb::Delete => exchange.delete(&body).await,
        _ => exchange.delete_collection(&body).await,
    }
}

/// A place among those that are answered at once.
fn slot(slots: &Slots) -> Result<Slot, Failure> {
    let refused = || Failure::too_many_requests("Too many requests, please try again later.", 1);
    slots.take().ok_or_else(refused)
}

/// Why there is nothing at a path.
enum Missing {
    /// Nothing begins there: a plain page.
    Page,
    /// Something does.
    Status(Failure),
}

impl Missing {
    /// Built-in groups have a router, which answers with a Status; everything else falls through to a page.
    fn of(is_built_in: bool) -> Self {
        if is_built_in {
            Self::Status(Failure::generic_path_not_found())
        } else {
            Self::Page
        }
    }
}

/// The resource at the path, if it is addressed as its scope demands.
fn find(server: &Server, asked: &Asked<'_>) -> Result<Arc<Served>, Missing> {
    let info = asked.info;
    let registry = server.core.registry.get();
    let Some(served) = registry.find(&info.group, &info.version, &info.resource) else {
        let is_core = info.api_prefix == "api";
        return Err(Missing::of(
            is_core == info.group.is_empty() && registry.has_built_in(&info.group),
        ));
    };
    let is_reachable = if served.resource.is_namespaced() {
        // Without a namespace, only collections are there.
        !info.namespace.is_empty()
            || (info.parts.len() == 1 && (asked.parts.method != Method::POST || !served.is_custom))
    } else {
        info.namespace.is_empty() || info.resource == "namespaces"
    };
    if !is_reachable {
        return Err(Missing::of(!served.is_custom));
    }
    let is_absent = info.has_path_verb || info.parts.len() > 3;
    match (is_absent, served.is_custom) {
        (false, _) => Ok(Arc::clone(served)),
        (true, false) => Err(Missing::Status(Failure::generic_path_not_found())),
        (true, true) => Err(Missing::Status(Failure::not_found(
            &GroupResource::of(&served.resource),
            &info.name,
        ))),
    }
}

/// What is asked of the resource, if that can be asked of it.
fn verb(asked: &Asked<'_>, served: &Served) -> Result<Verb, Failure> {
    let info = asked.info;
    let resource = &served.resource;
    let refused = || {
        if served.is_custom {
            Failure::method_not_supported(&GroupResource::of(resource), &info.verb)
        } else {
            Failure::generic_method_not_allowed()
        }
    };
    let allowed = if info.subresource.is_empty() {
        &resource.verbs
    } else {
        let absent = || {
            if served.is_custom {
                Failure::not_found(&GroupResource::of(resource), &info.name)
            } else {
                Failure::generic_path_not_found()
            }
        };
        &resource.subresource(&info.subresource).ok_or_else(absent)?.verbs
    };
    let verb = Verb::ALL
        .into_iter()
        .find(|verb| verb.word() == info.verb)
        .filter(|verb| allowed.contains(verb));
    let verb = verb
        .filter(|_| asked.parts.method != Method::HEAD || served.is_custom)
        .ok_or_else(refused)?;
    let is_about_one = info.parts.len() > 1;
    let is_of_namespace = !resource.is_namespaced() || !info.namespace.is_empty();
    match verb {
        Verb::Create if is_about_one && info.subresource.is_empty() || !is_of_namespace => Err(refused()),
        Verb::Update | Verb::Patch | Verb::Delete if !is_about_one && served.is_custom => {
            Err(Failure::bad_request("name must be provided"))
        }
        Verb::Update | Verb::Patch if !is_about_one => Err(refused()),
        _ => Ok(verb),
    }
}

/// A name that could be no part of a path is refused before it is looked for.
fn check_name(asked: &Asked<'_>, verb: Verb) -> Result<(), Failure> {
    let name = &asked.info.name;
    if matches!(verb, Verb::List | Verb::Watch | Verb::DeleteCollection) || asked.info.parts.len() < 2 {
        return Ok(());
    }
    match names::path_segment(name, false).as_slice() {
        [] => Ok(()),
        errors => Err(Failure::bad_request(format!(
            "Name parameter invalid: {name:?}: {}",
            errors.join(";")
        ))),
    }
}

fn call(asked: &Asked<'_>, user: &User, served: &Arc<Served>, options: &WriteOptions) -> Call {
    let info = asked.info;
    if let Some(text) = &served.resource.deprecation {
        asked.warnings.add(text.as_str());
    }
    Call {
        user: user.clone(),
        served: Arc::clone(served),
        // What stands behind `namespaces` is a namespace and a name at once.
        namespace: if served.resource.is_namespaced() {
            info.namespace.clone()
        } else {
            String::new()
        },
        name: info.name.clone(),
        subresource: info.subresource.clone(),
        is_dry_run: options.dry_run,
        manager: options.manager(asked.header("user-agent")).to_owned(),
        field_validation: options.field_validation,
        warnings: Arc::clone(&asked.warnings),
        reservations: Mutex::default(),
    }
}

async fn watch(
    server: &Server,
    asked: &Asked<'_>,
    user: &User,
    served: &Arc<Served>,
) -> Result<Response<Body>, Failure> {
    let Some(slot) = server.front.watches.take() else {
        return Err(Failure::too_many_requests(
            "too many watches, please try again later",
            1,
        ));
    };
    let options = ListOptions::parse(asked.query())?;
    let format = asked.wishes().stream_format(served.origin())?;
    let writer = EventWriter::new(Arc::clone(served), format, asked.query(), server.core.clock.clone())?;
    let call = call(asked, user, served, &WriteOptions::default());
    let stream = server.core.watch(&call, &options, writer, slot).await?;
    let mut response = with_warnings(Response::new(Body::stream(stream)), &call.warnings);
    let content_type = http::HeaderValue::from_static(format.encoding.content_type());
    response.headers_mut().insert(http::header::CONTENT_TYPE, content_type);
    response
        .headers_mut()
        .insert(http::header::CACHE_CONTROL, http::HeaderValue::from_static(UNCACHED));
    Ok(response)
}

/// One request about one resource, and how its answer is to be written.
struct Exchange<'a> {
    server: &'a Server,
    asked: &'a Asked<'a>,
    user: &'a User,
    served: Arc<Served>,
    rendering: Rendering,
}

impl Exchange<'_> {
    fn call(&self, options: &WriteOptions) -> Call {
        call(self.asked, self.user, &self.served, options)
    }

    fn body_format(&self) -> Result<BodyFormat, Failure> {
        BodyFormat::parse(self.asked.header("content-type"))
    }

    async fn get(&self) -> Result<Response<Body>, Failure> {
        let call = self.call(&WriteOptions::default());
        if let ("pods", "log", Some(logs)) = (
            self.served.resource.plural.as_str(),
            call.subresource.as_str(),
            self.server.core.logs.get(),
        ) {
            let log = subresources::log::get(&self.server.core, logs, &call, self.asked.query())?;
            return Ok(respond(StatusCode::OK, PLAIN_TEXT, log, &call.warnings));
        }
        if !OF_THE_OBJECT.contains(&call.subresource.as_str()) {
            let answer = subresources::get(&self.server.core, &call)?;
            return Ok(self.rendering.value(StatusCode::OK, &answer, &call.warnings));
        }
        let options = GetOptions::parse(self.asked.query())?;
        let revision = Revision(options.revision.unwrap_or_default());
        let answer = self.server.core.get(&call, revision).await?;
        Ok(self.rendering.object(StatusCode::OK, answer, &call.warnings))
    }

    async fn list(&self) -> Result<Response<Body>, Failure> {
        let call = self.call(&WriteOptions::default());
        let options = ListOptions::parse(self.asked.query())?;
        let page = self.server.core.list(&call, &options).await?;
        Ok(self.rendering.list(&page, &call.warnings))
    }

    async fn create(&self, body: &[u8]) -> Result<Response<Body>, Failure> {
        let call = self.call(&WriteOptions::parse(self.asked.query(), Write::Create)?);
        let format = self.body_format()?;
        if !call.subresource.is_empty() || self.served.resource.is_virtual() {
            let answer = subresources::create(self.server, &call, body, format).await?;
            return Ok(self.rendering.value(StatusCode::CREATED, &answer, &call.warnings));
        }
        let object = reading::object(&call, body, format).map_err(|failure| self.other_kind(failure, body, format))?;
        let answer = self.server.core.create(&call, object).await?;
        Ok(self.rendering.object(StatusCode::CREATED, answer, &call.warnings))
    }

    /// A body of another kind that is known here is told so in other words than one of a kind that nobody knows.
    fn other_kind(&self, failure: Failure, body: &[u8], format: BodyFormat) -> Failure {
        let resource = &self.served.resource;
        if self.served.is_custom || !failure.message.contains("is registered for version") {
            return failure;
        }
        let value = decode(body, format).map(|decoded| decoded.value).unwrap_or_default();
        let of = |field: &str| value[field].as_str().unwrap_or_default();
        let registry = self.server.core.registry.get();
        let Some(found) = registry.find_kind(of("apiVersion"), of("kind")) else {
            return failure;
        };
        let internal = resource
            .group
            .split('.')
            .next()
            .filter(|group| !group.is_empty())
            .unwrap_or("core");
        Failure::bad_request(format!(
            "{found} in version \"{version}\" cannot be handled as a {kind}: converting ({version}.{found}) to \
             ({internal}.{kind}): unknown conversion",
            found = found.resource.kind,
            version = found.resource.version,
            kind = resource.kind,
        ))
    }

    async fn update(&self, body: &[u8]) -> Result<Response<Body>, Failure> {
        let call = self.call(&WriteOptions::parse(self.asked.query(), Write::Update)?);
        let format = self.body_format()?;
        if call.subresource == "scale" {
            let answer = subresources::scale::update(&self.server.core, &call, body, format).await?;
            return Ok(self.rendering.value(StatusCode::OK, &answer, &call.warnings));
        }
        let object = reading::object(&call, body, format)?;
        let modified = self.server.core.update(&call, object).await?;
        Ok(self.rendering.modified(modified, &call.warnings))
    }

    async fn patch(&self, body: Bytes) -> Result<Response<Body>, Failure> {
        let kind = PatchType::parse(self.asked.header("content-type"), self.served.origin())?;
        let write = if kind == PatchType::Apply {
            Write::Apply
        } else {
            Write::Patch
        };
        let options = WriteOptions::parse(self.asked.query(), write)?;
        let call = self.call(&options);
        let patch = match kind {
            PatchType::Json => Patch::Json(body),
            PatchType::Merge => Patch::Merge(body),
            PatchType::Apply => Patch::Apply {
                body,
                force: options.force,
            },
            PatchType::Strategic => Patch::Strategic(body),
        };
        if call.subresource == "scale" {
            let answer = subresources::scale::patch(&self.server.core, &call, &patch).await?;
            return Ok(self.rendering.value(StatusCode::OK, &answer, &call.warnings));
        }
        let modified = self.server.core.patch(&call, &patch).await?;
        Ok(self.rendering.modified(modified, &call.warnings))
    }

    async fn delete(&self, body: &[u8]) -> Result<Response<Body>, Failure> {
        let (call, options) = self.deletion(body)?;
        let deleted = self.server.core.delete(&call, &options).await?;
        let is_accepted = !deleted.is_gone && options.orphan_dependents == Some(false);
        let status = if is_accepted {
            StatusCode::ACCEPTED
        } else {
            StatusCode::OK
        };
        Ok(self.rendering.object(status, deleted.answer, &call.warnings))
    }

    async fn delete_collection(&self, body: &[u8]) -> Result<Response<Body>, Failure> {
        let (call, options) = self.deletion(body)?;
        let list = ListOptions::parse(self.asked.query())?;
        let page = self.server.core.delete_collection(&call, &list, &options).await?;
        Ok(self.rendering.list(&page, &call.warnings))
    }

    fn deletion(&self, body: &[u8]) -> Result<(Call, DeleteOptions), Failure> {
        let options = DeleteOptions::parse(self.asked.query(), body, self.body_format()?)?;
        let mut call = self.call(&WriteOptions::default());
        call.is_dry_run = options.dry_run;
        Ok((call, options))
    }
}
