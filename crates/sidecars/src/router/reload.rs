//! The file with the routes, read again whenever it changes. A mounted ConfigMap is replaced by changing a link, which
//! tools that watch files are often wrong about: it is small, so it is read.

use std::{path::Path, sync::Arc, time::Duration};

use tokio::{fs::File, io::AsyncReadExt as _, sync::watch, time::sleep};

use super::{
    counts::Counts,
    routes::{Routes, RoutesError},
};
use crate::patience::chain;

/// How often it is looked whether the file has changed.
const PERIOD: Duration = Duration::from_secs(1);

/// Bytes of the file: what a ConfigMap may hold.
const FILE_BYTES: u64 = 1 << 20;

/// Reads the file.
pub(super) async fn read(path: &Path) -> Result<(String, Routes), RoutesError> {
    let text = text(path).await?;
    let routes = Routes::read(&text)?;
    Ok((text, routes))
}

async fn text(path: &Path) -> Result<String, RoutesError> {
    let unreadable = |source| RoutesError::Read {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).await.map_err(unreadable)?;
    let mut text = String::new();
    let read = file
        .take(FILE_BYTES + 1)
        .read_to_string(&mut text)
        .await
        .map_err(unreadable)?;
    if u64::try_from(read).unwrap_or(u64::MAX) > FILE_BYTES {
        return Err(RoutesError::Large {
            path: path.to_owned(),
            limit: FILE_BYTES,
        });
    }
    Ok(text)
}

/// Publishes new routes until it is dropped. Routes that cannot be used change nothing: those before stay.
pub(super) async fn run(path: &Path, mut known: String, sender: watch::Sender<Arc<Routes>>, counts: &Counts) {
    let mut last_error = String::new();
    loop {
        sleep(PERIOD).await;
        let outcome = match text(path).await {
            Ok(text) if text == known => continue,
            Ok(text) => Routes::read(&text).map(|routes| (text, routes)),
            Err(error) => Err(error),
        };
        match outcome {
            Ok((text, routes)) => {
                tracing::info!(routes = routes.len(), "The routes have changed.");
                counts.reload(true);
                sender.send_replace(Arc::new(routes));
                known = text;
                last_error.clear();
            }
            Err(error) => {
                let error = chain(&error);
                if error != last_error {
                    tracing::warn!(error, "The routes cannot be used; those before stay.");
                    counts.reload(false);
                    last_error = error;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_real_file_is_read_again_and_mistakes_change_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("router.yaml");
        let route = |backend: &str| format!("routes: [{{hostname: a, backend: '{backend}'}}]");
        std::fs::write(&path, route("b:1")).unwrap();
        let (known, routes) = read(&path).await.unwrap();
        let (sender, mut receiver) = watch::channel(Arc::new(routes));
        let counts = Counts::default();
        let looking = async {
            std::fs::write(&path, "routes: [").unwrap();
            sleep(PERIOD * 3).await;
            assert!(!receiver.has_changed().unwrap());
            std::fs::remove_file(&path).unwrap();
            sleep(PERIOD * 2).await;
            // As a mounted ConfigMap changes: another file under the same name.
            let other = directory.path().join("other");
            std::fs::write(&other, route("c:2")).unwrap();
            std::os::unix::fs::symlink(&other, &path).unwrap();
            receiver.changed().await.unwrap();
            let place = receiver.borrow().backend("a").map(ToString::to_string);
            place.unwrap()
        };
        let found = tokio::select! {
            found = looking => found,
            () = run(&path, known, sender, &counts) => panic!("it never ends"),
        };
        assert_eq!(found, "c:2");
        assert!(
            counts.text().contains("reloads_total{outcome=\"refused\"} 2"),
            "{}",
            counts.text()
        );
    }
}
