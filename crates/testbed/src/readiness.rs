//! Waiting until a server answers that it is ready. It knows how to ask, not whom.

use std::time::Duration;

use kube::Client;
use tokio::time::{Instant, sleep, timeout};

use crate::{error::Error, guard::Server};

/// How often a server is asked; a start takes seconds, so this adds nothing that one would see.
const PERIOD: Duration = Duration::from_millis(50);

/// How long one answer may take before the question is put again.
const ANSWER_LIMIT: Duration = Duration::from_secs(2);

/// Asks until the server answers with success, ends by itself, or the limit is over.
pub(crate) async fn wait(server: &mut Server, client: &Client, path: &str, limit: Duration) -> Result<(), Error> {
    let start = Instant::now();
    let mut answer = "no answer".to_owned();
    while start.elapsed() < limit {
        if let Some(status) = server.ended()? {
            let (log, tail) = (server.log.clone(), server.log_tail());
            return Err(Error::Ended {
                server: server.name,
                status,
                log,
                tail,
            });
        }
        match timeout(ANSWER_LIMIT, ask(client, path)).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => answer = error,
            Err(_) => "no answer in time".clone_into(&mut answer),
        }
        sleep(PERIOD).await;
    }
    let (log, tail) = (server.log.clone(), server.log_tail());
    Err(Error::NotReady {
        server: server.name,
        limit,
        answer,
        log,
        tail,
    })
}

async fn ask(client: &Client, path: &str) -> Result<(), String> {
    let request = http::Request::get(path)
        .body(Vec::new())
        .map_err(|error| error.to_string())?;
    client
        .request_text(request)
        .await
        .map(drop)
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::guard::Directory;

    #[tokio::test]
    async fn a_real_server_that_never_answers_is_named_with_its_log() {
        let directory = Directory::create().unwrap();
        let arguments = ["-c", "echo thinking; exec sleep 1000"].map(str::to_owned);
        let log = directory.path.join("log");
        let mut server = Server::start("sleeper", Path::new("/bin/sh"), &arguments, log).unwrap();
        // Port 9 is for discarding; on loopback nothing listens there.
        let nowhere = http::Uri::from_static("http://127.0.0.1:9/");
        let client = Client::try_from(kube::Config::new(nowhere)).unwrap();
        let limit = Duration::from_secs(1);
        let text = wait(&mut server, &client, "/readyz", limit)
            .await
            .unwrap_err()
            .to_string();
        assert!(text.starts_with("sleeper did not become ready within 1 s ("), "{text}");
        assert!(text.ends_with("log:\nthinking\n"), "{text}");
    }
}
