//! What a server answered: status, headers and body, whole or as a stream of events. It reads bytes within limits and
//! judges nothing.

use std::{collections::BTreeMap, time::Duration};

use futures::{StreamExt as _, stream::BoxStream};
use http::Response;
use http_body_util::BodyExt as _;
use kube::client::Body;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;
use tokio::time::timeout;

/// The longest body that is read; the largest OpenAPI document has some four mebibytes.
const BODY_LIMIT: usize = 16 << 20;

/// How long a body or the next event may take. Servers answer in milliseconds, and end a watch after a second or two
/// where a case asks them to.
const READ_LIMIT: Duration = Duration::from_secs(20);

/// An answer in the form in which it is compared and recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The headers by lower-case name, each with its values in order.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, Vec<String>>,
    /// The body.
    #[serde(default, skip_serializing_if = "Content::is_empty")]
    pub content: Content,
}

/// The body of an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Content {
    /// None, or one that is not compared.
    #[default]
    Empty,
    /// A JSON value.
    Json(Value),
    /// Anything else, as text.
    Text(String),
    /// Events of a stream, in order.
    Events(Vec<Value>),
    /// Events of a stream that then ended.
    LastEvents(Vec<Value>),
}

impl Content {
    /// Whether there is nothing to record.
    pub fn is_empty(&self) -> bool {
        *self == Self::Empty
    }
}

/// Why an answer cannot be read.
#[derive(Debug, Error)]
pub enum Error {
    /// It takes too long.
    #[error("nothing came for {} seconds", READ_LIMIT.as_secs())]
    Slow,
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Broken(String),
    /// The body has no end in sight.
    #[error("the body is longer than {BODY_LIMIT} bytes")]
    Long,
    /// A line of a stream is no JSON.
    #[error("a line of the stream is no JSON: {0}")]
    Line(String),
    /// The stream ended before all expected events came.
    #[error("the stream ended after {0} events")]
    Ended(usize),
}

/// The status and the headers, with an empty body.
pub fn head(response: &Response<Body>) -> Answer {
    let mut headers = BTreeMap::<_, Vec<_>>::new();
    for (name, value) in response.headers() {
        let values = headers.entry(name.as_str().to_owned()).or_default();
        values.push(String::from_utf8_lossy(value.as_bytes()).into_owned());
    }
    Answer {
        status: response.status().as_u16(),
        headers,
        content: Content::Empty,
    }
}

/// Reads a whole body.
pub async fn read(body: Body) -> Result<Content, Error> {
    let mut stream = EventStream::new(body);
    while stream.fill().await? {}
    Ok(content(&stream.buffer))
}

fn content(bytes: &[u8]) -> Content {
    if bytes.is_empty() {
        return Content::Empty;
    }
    match serde_json::from_slice(bytes) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => Content::Json(value),
        _ => Content::Text(String::from_utf8_lossy(bytes).into_owned()),
    }
}

/// A body that is read line by line, each of them an event.
pub struct EventStream {
    chunks: BoxStream<'static, Result<Vec<u8>, String>>,
    buffer: Vec<u8>,
}

impl EventStream {
    /// The events of a body.
    pub fn new(body: Body) -> Self {
        let chunks = body
            .into_data_stream()
            .map(|chunk| chunk.map(|bytes| bytes.to_vec()).map_err(|error| error.to_string()))
            .boxed();
        Self {
            chunks,
            buffer: Vec::new(),
        }
    }

    /// Reads this many events.
    pub async fn read(&mut self, count: usize) -> Result<Vec<Value>, Error> {
        let mut events = Vec::new();
        while events.len() < count {
            events.push(self.next().await?.ok_or(Error::Ended(events.len()))?);
        }
        Ok(events)
    }

    /// Reads all events up to the end of the stream.
    pub async fn read_all(&mut self) -> Result<Vec<Value>, Error> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await? {
            events.push(event);
        }
        Ok(events)
    }

    async fn next(&mut self) -> Result<Option<Value>, Error> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return parse(&line).map(Some);
            }
            if !self.fill().await? {
                return Ok(None);
            }
        }
    }

    /// Waits for more bytes; false is the end.
    async fn fill(&mut self) -> Result<bool, Error> {
        let chunk = timeout(READ_LIMIT, self.chunks.next()).await.map_err(|_| Error::Slow)?;
        match chunk {
            None => Ok(false),
            Some(Err(error)) => Err(Error::Broken(error)),
            Some(Ok(bytes)) if self.buffer.len() + bytes.len() > BODY_LIMIT => Err(Error::Long),
            Some(Ok(bytes)) => {
                self.buffer.extend_from_slice(&bytes);
                Ok(true)
            }
        }
    }
}

fn parse(line: &[u8]) -> Result<Value, Error> {
    serde_json::from_slice(line).map_err(|_| Error::Line(String::from_utf8_lossy(line).into_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_body_is_json_when_it_is_an_object_or_a_list() {
        assert_eq!(content(b""), Content::Empty);
        assert_eq!(content(b"{}\n"), Content::Json(json!({})));
        assert_eq!(content(b"ok"), Content::Text("ok".to_owned()));
        assert_eq!(content(b"1"), Content::Text("1".to_owned()));
    }

    #[tokio::test]
    async fn events_are_lines_and_their_lack_is_an_error() {
        let body = || Body::from(b"{\"a\":1}\n{\"a\":2}\n".to_vec());
        let mut stream = EventStream::new(body());
        assert_eq!(stream.read(1).await.unwrap(), [json!({"a": 1})]);
        assert_eq!(stream.read_all().await.unwrap(), [json!({"a": 2})]);
        let short = EventStream::new(body()).read(3).await.unwrap_err();
        assert!(matches!(short, Error::Ended(2)), "{short}");
        let broken = EventStream::new(Body::from(b"oops\n".to_vec())).read(1).await;
        assert!(matches!(broken, Err(Error::Line(_))));
    }
}
