//! A service that says what it sees of a request, waits, talks without end, or panics.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use hyper::body::Incoming;
use hyperplane_apiserver::{PeerCertificates, serve::RemoteAddress};
use tokio::sync::{Notify, Semaphore};
use tower::util::BoxCloneService;

/// What a test knows of the service and can tell it.
#[derive(Clone, Default)]
pub struct Probe {
    /// Requests that began and did not end.
    pub under_way: Arc<AtomicUsize>,
    /// Requests to /wait that arrived.
    pub arrived: Arc<Notify>,
    /// Lets that many of them go.
    pub go: Arc<Go>,
}

/// Permits for requests to /wait.
pub struct Go(pub Semaphore);

impl Default for Go {
    fn default() -> Self {
        Self(Semaphore::new(0))
    }
}

/// A request that is under way as long as it is there.
pub struct UnderWay(Arc<AtomicUsize>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Probe {
    /// How many requests the service works on.
    pub fn count(&self) -> usize {
        self.under_way.load(Ordering::SeqCst)
    }

    /// The service.
    pub fn service(&self) -> BoxCloneService<Request<Incoming>, Response<Answer>, Infallible> {
        let probe = self.clone();
        let answer = move |request| {
            let probe = probe.clone();
            async move { Ok(probe.answer(request).await) }
        };
        BoxCloneService::new(tower::service_fn(answer))
    }

    async fn answer(self, request: Request<Incoming>) -> Response<Answer> {
        self.under_way.fetch_add(1, Ordering::SeqCst);
        let under_way = UnderWay(Arc::clone(&self.under_way));
        let answer = match request.uri().path() {
            "/wait" => {
                self.arrived.notify_one();
                self.go.0.acquire().await.unwrap().forget();
                Answer::Whole(Some("waited".into()))
            }
            "/watch" => Answer::Endless(Some("begun\n".into()), under_way),
            "/panic" => panic!("as the request asked"),
            _ => Answer::Whole(Some(describe(&request).into())),
        };
        Response::new(answer)
    }
}

/// What the request says about its connection.
fn describe(request: &Request<Incoming>) -> String {
    let extensions = request.extensions();
    let remote = extensions.get::<RemoteAddress>().unwrap().0;
    let peer = extensions.get::<PeerCertificates>();
    let peer = peer.map_or("nobody".to_owned(), |chain| subject(&chain.chain()[0]));
    format!(
        "{:?} from {remote} as {peer}, {} extensions",
        request.version(),
        extensions.len()
    )
}

fn subject(der: &[u8]) -> String {
    let (_, certificate) = x509_parser::parse_x509_certificate(der).unwrap();
    certificate.subject().to_string()
}

/// A body.
pub enum Answer {
    /// All at once.
    Whole(Option<Bytes>),
    /// Something, and then nothing for ever.
    Endless(
        Option<Bytes>,
        #[allow(dead_code, reason = "counts by being there")] UnderWay,
    ),
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Endless(bytes, _) => match bytes.take() {
                Some(bytes) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
                None => Poll::Pending,
            },
        }
    }
}
