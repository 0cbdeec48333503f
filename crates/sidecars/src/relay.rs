//! Bytes between two streams, both ways, until both have said all or neither says anything. Owns silence and goodbyes;
//! knows nothing of what is said.

use std::{
    io,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, split},
    time::{Instant, sleep_until},
};

/// Bytes that are held per direction. Two of these are what a connection costs.
const BUFFER_BYTES: usize = 16 << 10;

/// How long silence may last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Silence {
    /// Both may still speak: longer than any watch is without a sign of life.
    pub(crate) open: Duration,
    /// One has said goodbye, and the other one is still to finish.
    pub(crate) half_closed: Duration,
}

impl Default for Silence {
    fn default() -> Self {
        Self {
            open: Duration::from_hours(1),
            half_closed: Duration::from_mins(5),
        }
    }
}

/// How it ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// Both have said all.
    Finished,
    /// Nobody said anything for too long.
    Silent,
    /// One of them broke.
    Broken,
}

/// Carries bytes both ways. A side that says goodbye is still told what the other one has to say.
pub(crate) async fn relay<A, B>(first: A, second: B, silence: Silence) -> Ended
where
    A: AsyncRead + AsyncWrite,
    B: AsyncRead + AsyncWrite,
{
    let (first_read, first_write) = split(first);
    let (second_read, second_write) = split(second);
    let activity = Activity::new(silence);
    let both = async {
        tokio::try_join!(
            pump(first_read, second_write, &activity),
            pump(second_read, first_write, &activity)
        )
    };
    tokio::select! {
        ended = both => match ended {
            Ok(_) => Ended::Finished,
            Err(_) => Ended::Broken,
        },
        () = activity.until_silent() => Ended::Silent,
    }
}

/// Carries bytes one way until the end, and says goodbye.
async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    activity: &Activity,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let count = from.read(&mut buffer).await?;
        if count == 0 {
            activity.say_goodbye();
            return to.shutdown().await;
        }
        activity.note();
        to.write_all(&buffer[..count]).await?;
        to.flush().await?;
        activity.note();
    }
}

/// When something was said last.
struct Activity {
    start: Instant,
    last_milliseconds: AtomicU64,
    has_goodbye: AtomicBool,
    silence: Silence,
}

impl Activity {
    fn new(silence: Silence) -> Self {
        Self {
            start: Instant::now(),
            last_milliseconds: AtomicU64::new(0),
            has_goodbye: AtomicBool::new(false),
            silence,
        }
    }

    fn note(&self) {
        let elapsed = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_milliseconds.store(elapsed, Ordering::Relaxed);
    }

    fn say_goodbye(&self) {
        self.note();
        self.has_goodbye.store(true, Ordering::Relaxed);
    }

    fn end(&self) -> Instant {
        let patience = if self.has_goodbye.load(Ordering::Relaxed) {
            self.silence.half_closed
        } else {
            self.silence.open
        };
        self.start + Duration::from_millis(self.last_milliseconds.load(Ordering::Relaxed)) + patience
    }

    async fn until_silent(&self) {
        // A goodbye shortens the patience while this sleeps, so it looks as often as the shorter one wants.
        let look = self.silence.open.min(self.silence.half_closed);
        loop {
            let now = Instant::now();
            let end = self.end();
            if now >= end {
                return;
            }
            sleep_until(end.min(now + look)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;

    use super::*;

    const SILENCE: Silence = Silence {
        open: Duration::from_secs(100),
        half_closed: Duration::from_secs(10),
    };

    #[tokio::test(start_paused = true)]
    async fn who_says_goodbye_is_still_answered() {
        let (mut client, client_end) = duplex(64);
        let (mut server, server_end) = duplex(64);
        let asking = async {
            client.write_all(b"question").await.unwrap();
            client.shutdown().await.unwrap();
            let mut answer = Vec::new();
            client.read_to_end(&mut answer).await.unwrap();
            answer
        };
        let answering = async {
            let mut question = Vec::new();
            server.read_to_end(&mut question).await.unwrap();
            // Slow, but never silent for too long.
            for _ in 0..5 {
                tokio::time::sleep(Duration::from_secs(9)).await;
                server.write_all(&[b'x'; 100]).await.unwrap();
            }
            server.shutdown().await.unwrap();
            question
        };
        let (ended, answer, question) = tokio::join!(relay(client_end, server_end, SILENCE), asking, answering);
        assert!(matches!(ended, Ended::Finished), "{ended:?}");
        assert_eq!((question, answer), (b"question".to_vec(), vec![b'x'; 500]));
    }

    #[tokio::test(start_paused = true)]
    async fn silence_ends_it() {
        for (is_half_closed, expected) in [(false, SILENCE.open), (true, SILENCE.half_closed)] {
            let (mut client, client_end) = duplex(64);
            let (server, server_end) = duplex(64);
            let start = Instant::now();
            if is_half_closed {
                client.shutdown().await.unwrap();
            }
            let ended = relay(client_end, server_end, SILENCE).await;
            assert!(matches!(ended, Ended::Silent), "{ended:?}");
            assert_eq!(start.elapsed(), expected);
            drop((client, server));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_broken_side_ends_both() {
        let (client, client_end) = duplex(64);
        let (mut server, server_end) = duplex(64);
        drop(client);
        // Nobody is left to be told.
        server.write_all(b"hello").await.unwrap();
        let ended = relay(client_end, server_end, SILENCE).await;
        assert!(matches!(ended, Ended::Broken), "{ended:?}");
    }
}
