//! One connection of a program that speaks SOCKS. Owns the order of messages; what they mean is in `socks`.

use std::io;

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader},
    time::timeout,
};

use super::{
    OpenError, Tunnels, WISH,
    socks::{LONGEST, NO_METHOD, Read, Reply, WELCOME, greeting, request},
};
use crate::{
    patience::chain,
    place::Place,
    relay::{Silence, relay},
};

/// Serves one connection: a wish, and then the tunnel.
pub(crate) async fn serve<I>(stream: I, tunnels: &Tunnels, silence: Silence)
where
    I: AsyncRead + AsyncWrite + Unpin + Send,
{
    // It keeps what a program sends ahead of the answer, and hands it to the tunnel.
    let mut stream = BufReader::new(stream);
    let target = match timeout(WISH, wish(&mut stream)).await {
        Ok(Ok(Some(target))) => target,
        Ok(Ok(None)) => return,
        Ok(Err(error)) => return tracing::debug!(%error, "A connection broke before it had a tunnel."),
        Err(_) => return tracing::debug!("A program did not say where it wants to go."),
    };
    let (reply, tunnel) = match tunnels.open(&target).await {
        Ok(tunnel) => (Reply::Succeeded, Some(tunnel)),
        Err(error) => {
            tracing::warn!(%target, reason = chain(&error), "No tunnel could be opened.");
            (reply(&error), None)
        }
    };
    if let Err(error) = stream.write_all(&reply.bytes()).await {
        return tracing::debug!(%error, "A connection broke before it had a tunnel.");
    }
    if let Some(tunnel) = tunnel {
        let ended = relay(stream, tunnel, silence).await;
        tracing::debug!(?ended, "A tunnel ended.");
    }
}

/// Greets, and hears where the program wants to go; nothing where it does not say so in a way that is spoken here.
async fn wish<I>(stream: &mut BufReader<I>) -> io::Result<Option<Place>>
where
    I: AsyncRead + AsyncWrite + Unpin,
{
    match message(stream, greeting).await? {
        Ok(true) => stream.write_all(&WELCOME).await?,
        Ok(false) => return stream.write_all(&NO_METHOD).await.map(|()| None),
        Err(_) => return Ok(None),
    }
    match message(stream, request).await? {
        Ok(target) => Ok(Some(target)),
        Err(Some(reply)) => stream.write_all(&reply.bytes()).await.map(|()| None),
        Err(None) => Ok(None),
    }
}

/// Reads one message and not a byte more.
async fn message<I, T>(
    stream: &mut BufReader<I>,
    read: impl Fn(&[u8]) -> Read<T>,
) -> io::Result<Result<T, Option<Reply>>>
where
    I: AsyncRead + Unpin,
{
    let mut bytes = Vec::with_capacity(LONGEST);
    loop {
        bytes.push(stream.read_u8().await?);
        match read(&bytes) {
            Read::Message(message, _) => return Ok(Ok(message)),
            Read::Refused(reply) => return Ok(Err(reply)),
            Read::Incomplete => {}
        }
    }
}

fn reply(error: &OpenError) -> Reply {
    match error {
        OpenError::Refused { .. } => Reply::HostUnreachable,
        OpenError::Slow { .. } => Reply::Expired,
        OpenError::Call(_) | OpenError::Broken(_) => Reply::NetworkUnreachable,
        OpenError::Tls(_) => Reply::Failure,
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;

    use super::*;

    async fn said(bytes: &[u8]) -> (Option<Option<Place>>, Vec<u8>) {
        let (mut program, end) = duplex(1024);
        program.write_all(bytes).await.unwrap();
        program.shutdown().await.unwrap();
        let mut stream = BufReader::new(end);
        let wish = wish(&mut stream).await.ok();
        drop(stream);
        let mut answer = Vec::new();
        program.read_to_end(&mut answer).await.unwrap();
        (wish, answer)
    }

    #[tokio::test]
    async fn a_program_is_greeted_and_heard() {
        let (wish, answer) = said(&[5, 1, 0, 5, 1, 0, 3, 3, b's', b'v', b'c', 1, 187, b'a', b'h']).await;
        assert_eq!(wish, Some(Some("svc:443".parse().unwrap())));
        assert_eq!(answer, WELCOME);
    }

    #[tokio::test]
    async fn what_is_not_spoken_is_refused() {
        let (wish, answer) = said(&[5, 1, 2]).await;
        assert_eq!((wish, answer), (Some(None), NO_METHOD.to_vec()));
        let (wish, answer) = said(&[5, 1, 0, 5, 2, 0, 1, 0]).await;
        let expected = [&WELCOME[..], &Reply::CommandNotSupported.bytes()].concat();
        assert_eq!((wish, answer), (Some(None), expected));
        let (wish, answer) = said(b"GET / HTTP/1.1").await;
        assert_eq!((wish, answer), (Some(None), vec![]));
        let (wish, _) = said(&[5, 1, 0, 5, 1, 0, 3, 3, b's']).await;
        assert_eq!(wish, None);
    }
}
