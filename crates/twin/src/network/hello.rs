//! The name that a client asks for, read from the beginning of its connection without taking anything away from it.

use std::{
    io::{self, Cursor},
    pin::Pin,
    task::{Context, Poll},
};

use rustls::server::Acceptor;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};

/// The longest beginning that is read: a greeting fits into one record of TLS.
const LONGEST: usize = 18 << 10;
/// Bytes that are read at once.
const STEP: usize = 2 << 10;

/// A connection in both directions.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// A connection whose beginning was read, and is read again.
pub(super) struct Read<I> {
    beginning: Cursor<Vec<u8>>,
    io: I,
}

/// The name that the client asks for, in lower case, and the connection from its beginning; none if it asks for none.
pub(super) async fn read<I: AsyncRead + Unpin>(mut io: I) -> Option<(String, Read<I>)> {
    let mut beginning = Vec::new();
    let mut acceptor = Acceptor::default();
    loop {
        let before = beginning.len();
        let mut step = [0; STEP];
        let many = io.read(&mut step).await.ok().filter(|many| *many > 0)?;
        beginning.extend_from_slice(&step[..many]);
        if beginning.len() > LONGEST {
            return None;
        }
        acceptor.read_tls(&mut &beginning[before..]).ok()?;
        if let Some(accepted) = acceptor.accept().ok()? {
            let name = accepted.client_hello().server_name()?.to_ascii_lowercase();
            let beginning = Cursor::new(beginning);
            return Some((name, Read { beginning, io }));
        }
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for Read<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let position = usize::try_from(self.beginning.position()).unwrap_or(usize::MAX);
        let rest = self.beginning.get_ref().get(position..).unwrap_or_default();
        if rest.is_empty() {
            return Pin::new(&mut self.io).poll_read(context, buffer);
        }
        let many = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..many]);
        self.beginning
            .set_position(u64::try_from(position + many).unwrap_or(u64::MAX));
        Poll::Ready(Ok(()))
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Read<I> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}
