//! Damage to what is on the disk: it is noticed, or it was of a write that nobody was promised; never skipped.

use hyperplane_store::{Fault, FaultyDisk, FormatError, OpenError, ReplayError, Store, fsck};

use crate::{
    text::Text,
    workload::Workload,
    world::{LIMITS, World, simulate},
};

/// A world with some history, its store closed or just abandoned.
async fn aged(seed: u64, is_closed: bool) -> World {
    let mut world = World::new();
    let mut workload = Workload::new(seed);
    world.open().unwrap();
    for _ in 0..25 {
        let transactions = workload.round(&world.model);
        assert!(world.round(transactions).await);
    }
    if is_closed {
        world.close().await.unwrap();
    }
    world.abandon().await;
    world
}

fn copy(world: &World) -> FaultyDisk {
    let disk = FaultyDisk::new();
    for (name, bytes) in world.disk.files() {
        disk.put(&name, bytes);
    }
    disk
}

fn opens(disk: FaultyDisk) -> Result<(), OpenError> {
    Store::<Text>::open(disk, LIMITS, Vec::new()).map(|_| ())
}

#[test]
fn any_flipped_bit_of_a_closed_store_is_noticed() {
    simulate(async || {
        let world = aged(1, true).await;
        let mut workload = Workload::new(2);
        let mut missed = 0;
        for (name, bytes) in world.disk.files() {
            for at in 0..bytes.len() {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << workload.below(8);
                let disk = copy(&world);
                disk.put(&name, damaged);
                let report = fsck(&mut disk.clone());
                assert_eq!(report.is_clean(), opens(disk).is_ok(), "{name} at {at}");
                missed += u32::from(report.is_clean() && name != "FORMAT");
            }
        }
        // Only the closing frame, which holds nothing, can pass for a write that never finished.
        assert!(missed <= 32, "{missed} flipped bits were not noticed");
    });
}

#[test]
fn a_flipped_bit_before_the_last_batch_is_noticed_even_after_a_crash() {
    simulate(async || {
        let world = aged(3, false).await;
        let files = world.disk.files();
        let segments: Vec<&String> = files.keys().filter(|name| name.starts_with("log-")).collect();
        assert!(segments.len() > 1);
        for name in &segments[..segments.len() - 1] {
            for at in (0..files[*name].len()).step_by(7) {
                let mut damaged = files[*name].clone();
                damaged[at] ^= 0x10;
                let disk = copy(&world);
                disk.put(name, damaged);
                assert!(matches!(opens(disk), Err(OpenError::Replay(_))), "{name} at {at}");
            }
        }
    });
}

#[test]
fn a_missing_segment_is_noticed() {
    simulate(async || {
        let world = aged(4, true).await;
        let segments: Vec<String> = world
            .disk
            .files()
            .into_keys()
            .filter(|name| name.starts_with("log-"))
            .collect();
        for name in &segments[..segments.len() - 1] {
            let disk = copy(&world);
            disk.take(name);
            assert!(matches!(opens(disk), Err(OpenError::Replay(ReplayError::Missing(missing))) if missing == *name));
        }
        let disk = copy(&world);
        for name in &segments {
            disk.take(name);
        }
        assert!(matches!(opens(disk), Err(OpenError::Replay(ReplayError::Absent))));
    });
}

#[test]
fn a_log_without_its_format_is_not_taken_for_an_empty_directory() {
    simulate(async || {
        let world = aged(5, true).await;
        world.disk.take("FORMAT");
        assert!(matches!(
            opens(world.disk.clone()),
            Err(OpenError::Format(FormatError::Missing))
        ));
    });
}

#[test]
fn a_disk_that_cannot_be_read_is_not_taken_for_an_empty_one() {
    simulate(async || {
        let world = aged(6, true).await;
        // Of opening: the listings and readings. What comes after writes, and is covered by the faults at every step.
        for step in 0..6 {
            let disk = copy(&world);
            disk.fail_after(step, Fault::Refuse);
            assert!(opens(disk).is_err(), "step {step}");
        }
    });
}
