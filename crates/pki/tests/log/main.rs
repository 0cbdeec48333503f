//! What the operator logs. It is a program of its own, because a log that is kept for one test depends on whether others
//! run beside it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]
#![allow(dead_code, reason = "the world is made for more tests than this")]

#[path = "../simulation/cut.rs"]
mod cut;
#[path = "../../../api/tests/support/samples.rs"]
mod samples;
#[path = "../simulation/world.rs"]
mod world;

use std::{
    io,
    sync::{Arc, Mutex},
};

use hyperplane_api::constants::objects::{certificates, keys, signers};
use serde_json::json;

use crate::world::{NAMESPACE, World};

/// A log that is kept.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_that_is_logged_is_secret() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let (world, process) = World::settled().await;
    let damaged = json!({"stringData": {keys::CA_KEY: "hunter2"}});
    world.patch_secret(NAMESPACE, signers::ETCD, damaged).await;
    world.delete_secret(NAMESPACE, certificates::API_SERVER).await;
    world.settle().await;
    process.stop().await;
    drop(guard);
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(text.contains("Issuing.") && text.contains(certificates::API_SERVER));
    assert!(!text.contains("PRIVATE KEY") && !text.contains("hunter2"));
    for (name, secret) in world.secrets(NAMESPACE).await {
        for bytes in secret.data.unwrap().into_values() {
            // A line in the middle of a key or of a certificate.
            let content = String::from_utf8(bytes.0).unwrap();
            let line = content.lines().nth(1).unwrap_or("hunter2");
            assert!(!text.contains(line), "{name}");
        }
    }
}
