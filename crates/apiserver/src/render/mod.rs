//! From what a verb says to the bytes of a response, in the shape and the encoding that the client asked for. What is
//! stored as it is shown is copied, not parsed.

mod events;

use std::sync::Arc;

use http::{HeaderValue, Response, StatusCode, header};
use hyperplane_store::Entry;
use hyperplane_wire::{
    Failure, encode,
    encode::ListMeta,
    negotiate::MetaVersion,
    negotiate::{Encoding, Format, Shape, Wishes},
    table::{self, IncludeObject, TableStyle},
};
use jiff::Timestamp;
use serde_json::Value;

pub(crate) use self::events::EventWriter;
use crate::{
    body::Body,
    call::{Answer, Warnings},
    object::Object,
    registry::Served,
    service::Asked,
    verbs::{list::Page, modify::Modified},
};

/// What upstream calls a list of custom resources in one of its messages.
const UNSTRUCTURED_LIST: &str = "*unstructured.UnstructuredList";

/// Answers are of the moment, and of the user.
pub(crate) const UNCACHED: &str = "no-cache, private";

/// How the answers to one request are written.
pub(crate) struct Rendering {
    format: Format,
    include: IncludeObject,
    served: Arc<Served>,
    now: Timestamp,
}

impl Rendering {
    /// What the request asks for, or why that cannot be.
    pub(crate) fn new(asked: &Asked<'_>, served: &Arc<Served>, now: Timestamp) -> Result<Self, Failure> {
        let format = asked.wishes().format(served.origin())?;
        Ok(Self {
            format,
            include: if matches!(format.shape, Shape::Table(_)) {
                IncludeObject::parse(asked.query())?
            } else {
                IncludeObject::default()
            },
            served: Arc::clone(served),
            now,
        })
    }

    /// A response with an object.
    pub(crate) fn object(&self, status: StatusCode, answer: Answer, warnings: &Warnings) -> Response<Body> {
        match answer {
            Answer::Stored(entry) if self.is_plain() && self.served.shows_as_stored(&entry) => {
                let mut out = Vec::with_capacity(entry.payload.size() + 32);
                entry.payload.write(entry.revision, &mut out);
                out.push(b'\n');
                respond(status, self.format.encoding.content_type(), out, warnings)
            }
            Answer::Stored(entry) => self.shaped(status, &self.served.show(&entry, entry.revision), warnings),
            Answer::Value(value) => self.shaped(status, &value, warnings),
            Answer::Status(value) => self.value(status, &value, warnings),
        }
    }

    /// A response with an object that was changed or created.
    pub(crate) fn modified(&self, modified: Modified, warnings: &Warnings) -> Response<Body> {
        let status = if modified.is_created {
            StatusCode::CREATED
        } else {
            StatusCode::OK
        };
        self.object(status, modified.answer, warnings)
    }

    /// A response with a value of another kind, which has no other shape.
    pub(crate) fn value(&self, status: StatusCode, value: &Value, warnings: &Warnings) -> Response<Body> {
        let encoding = self.format.encoding;
        respond(
            status,
            encoding.content_type(),
            encode::encode(value, encoding),
            warnings,
        )
    }

    /// A response with a page of a list.
    pub(crate) fn list(&self, page: &Page, warnings: &Warnings) -> Response<Body> {
        let encoding = self.format.encoding;
        if let Shape::PartialObjectMetadata(_) = self.format.shape {
            let list_kind = if self.served.is_custom {
                UNSTRUCTURED_LIST
            } else {
                &self.served.resource.list_kind
            };
            return self.failed(&table::list_is_no_object(list_kind));
        }
        let bytes = match self.format.shape {
            Shape::Object => encode::reencode(self.plain_list(page), encoding),
            _ => encode::encode(&self.shaped_list(page), encoding),
        };
        respond(StatusCode::OK, encoding.content_type(), bytes, warnings)
    }

    fn is_plain(&self) -> bool {
        self.format.shape == Shape::Object && self.format.encoding == (Encoding::Json { pretty: false })
    }

    fn style(&self, version: MetaVersion) -> TableStyle {
        TableStyle {
            version,
            include: self.include,
            now: self.now,
        }
    }

    fn shaped(&self, status: StatusCode, value: &Value, warnings: &Warnings) -> Response<Body> {
        let resource = &self.served.resource;
        let shaped = match self.format.shape {
            Shape::Object => return self.value(status, value, warnings),
            Shape::Table(version) => table::object_table(resource, value, self.style(version)),
            Shape::PartialObjectMetadata(version) => table::partial_object_metadata(value, version),
            Shape::PartialObjectMetadataList(_) => return self.failed(&table::object_is_no_list(&resource.kind)),
        };
        self.value(status, &shaped, warnings)
    }

    fn plain_list(&self, page: &Page) -> Vec<u8> {
        let bytes: usize = page.items.iter().map(|entry| entry.payload.size() + 24).sum();
        let (kind, revision) = (&self.served.resource.list_kind, page.revision.to_string());
        let meta = page.meta(&revision);
        encode::list_of(
            &self.served.api_version,
            kind,
            meta,
            self.served.origin(),
            bytes,
            |out| {
                for (index, entry) in page.items.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    self.write_item(entry, out);
                }
            },
        )
    }

    /// Items of built-in kinds have no type: their list says it.
    fn write_item(&self, entry: &Entry<Object>, out: &mut Vec<u8>) {
        match (self.served.shows_as_stored(entry), self.served.is_custom) {
            (true, true) => entry.payload.write(entry.revision, out),
            (true, false) => entry.payload.write_untyped(entry.revision, out),
            (false, _) => write(out, &self.item(entry)),
        }
    }

    fn item(&self, entry: &Entry<Object>) -> Value {
        let mut value = self.served.show(entry, entry.revision);
        if !self.served.is_custom
            && let Some(members) = value.as_object_mut()
        {
            members.remove("apiVersion");
            members.remove("kind");
        }
        value
    }

    fn shaped_list(&self, page: &Page) -> Value {
        let items: Vec<Value> = page
            .items
            .iter()
            .map(|entry| self.served.show(entry, entry.revision))
            .collect();
        let revision = page.revision.to_string();
        match self.format.shape {
            Shape::Table(version) => {
                table::list_table(&self.served.resource, &items, page.meta(&revision), self.style(version))
            }
            Shape::Object | Shape::PartialObjectMetadata(_) => Value::Null,
            Shape::PartialObjectMetadataList(version) => {
                table::partial_object_metadata_list(&items, page.meta(&revision), version)
            }
        }
    }

    fn failed(&self, failed: &Failure) -> Response<Body> {
        failure_in(self.format.encoding, failed)
    }
}

/// A response that says what went wrong.
pub(crate) fn failure(wishes: &Wishes<'_>, failure: &Failure) -> Response<Body> {
    failure_in(wishes.error_encoding(), failure)
}

fn failure_in(encoding: Encoding, failure: &Failure) -> Response<Body> {
    let bytes = encode::encode(&failure.to_status(), encoding);
    let mut response = respond(failure.code, encoding.content_type(), bytes, &Warnings::default());
    if let Some(seconds) = failure.retry_after_seconds() {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// The same response, with the word to browsers that its type is what it says.
pub(crate) fn unsniffed(mut response: Response<Body>) -> Response<Body> {
    response
        .headers_mut()
        .insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// A response with a body.
pub(crate) fn respond(
    status: StatusCode,
    content_type: &'static str,
    bytes: Vec<u8>,
    warnings: &Warnings,
) -> Response<Body> {
    let mut response = Response::new(Body::whole(bytes));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static(UNCACHED));
    with_warnings(response, warnings)
}

/// The same response with what the client is told besides.
pub(crate) fn with_warnings(mut response: Response<Body>, warnings: &Warnings) -> Response<Body> {
    for warning in warnings.take() {
        if let Ok(value) = HeaderValue::from_str(&warning_value(&warning)) {
            response.headers_mut().append(header::WARNING, value);
        }
    }
    response
}

/// The value of a `Warning` header (RFC 7234, 5.5), as upstream writes it.
fn warning_value(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    format!("299 - \"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn write(out: &mut Vec<u8>, value: &Value) {
    serde_json::to_writer(out, value).expect("a value becomes JSON");
}

impl Page {
    fn meta<'a>(&'a self, revision: &'a str) -> ListMeta<'a> {
        ListMeta {
            resource_version: revision,
            continue_token: self.continue_token.as_deref().unwrap_or_default(),
            remaining_item_count: self.remaining.map(|count| count as u64),
        }
    }
}
