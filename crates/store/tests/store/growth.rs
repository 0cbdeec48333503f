//! How large a log gets: it follows what is alive, however its process lives.

use std::fs;

use hyperplane_store::{Directory, Disk, FaultyDisk, Limits};
use tempfile::tempdir;

use crate::running::Running;

/// Starts, writes some texts of a length under a few names, and ends, many times.
async fn live<D: Disk + 'static>(disk: impl Fn() -> D, limits: Limits, lives: usize, writes: usize, length: usize) {
    let text = "w".repeat(length);
    let mut index = 0;
    for _ in 0..lives {
        let running = Running::on(disk(), limits);
        for _ in 0..writes {
            running.put("c", &format!("name-{}", index % 20), &text).await;
            index += 1;
        }
        running.close().await;
    }
}

/// How many segments there are, and their bytes.
fn log(disk: &FaultyDisk) -> (usize, usize) {
    let sizes = disk.files().into_iter().filter(|(name, _)| name.starts_with("log-"));
    sizes.fold((0, 0), |(count, bytes), (_, content)| {
        (count + 1, bytes + content.len())
    })
}

#[tokio::test]
async fn churn_does_not_grow_the_log() {
    let disk = FaultyDisk::new();
    let limits = Limits {
        segment_bytes: 8 << 10,
        sweep_bytes: 16 << 10,
        ..Limits::default()
    };
    live(|| disk.clone(), limits, 1, 3000, 1000).await;
    let (segments, bytes) = log(&disk);
    assert!(
        bytes < 110_000 && segments < 20,
        "20,000 live bytes take {bytes} in {segments} segments"
    );
}

#[tokio::test]
async fn many_short_lives_do_not_leave_many_segments() {
    let disk = FaultyDisk::new();
    live(|| disk.clone(), Limits::default(), 300, 1, 10).await;
    let (segments, _) = log(&disk);
    assert!(segments < 140, "there are {segments} segments");
}

#[tokio::test]
async fn lives_that_are_too_short_for_a_sweep_do_not_grow_the_log() {
    let disk = FaultyDisk::new();
    let limits = Limits {
        segment_bytes: 8 << 10,
        sweep_bytes: 16 << 10,
        // A sweep takes ten writes, but no process lives that long.
        sweep_step_bytes: 1,
        ..Limits::default()
    };
    live(|| disk.clone(), limits, 400, 3, 1000).await;
    let (_, bytes) = log(&disk);
    assert!(bytes < 180_000, "20,000 live bytes take {bytes}");
}

#[tokio::test]
async fn real_files_do_not_grow_either() {
    let directory = tempdir().unwrap();
    let limits = Limits {
        segment_bytes: 64 << 10,
        sweep_bytes: 128 << 10,
        ..Limits::default()
    };
    live(|| Directory::open(directory.path()).unwrap(), limits, 50, 20, 1000).await;
    let files = fs::read_dir(directory.path()).unwrap();
    let bytes: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
    assert!(bytes < 600_000, "20,000 live bytes take {bytes}");
}
