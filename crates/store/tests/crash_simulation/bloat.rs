//! A log that is swept all at once while its store is opened, interrupted at every step of that.

use hyperplane_store::{Fault, FaultyDisk, Limits, Store, fsck};

use crate::{
    model::Model,
    text::Text,
    workload::Workload,
    world::{LIMITS, entries, simulate},
};

/// A log that was never swept, and what it holds.
async fn bloated() -> (FaultyDisk, Model) {
    let limits = Limits {
        sweep_bytes: 1 << 30,
        ..LIMITS
    };
    let disk = FaultyDisk::new();
    let (store, writer) = Store::open(disk.clone(), limits, Vec::new()).unwrap();
    let writer = tokio::spawn(writer.run());
    let (mut model, mut workload) = (Model::default(), Workload::new(7));
    for _ in 0..150 {
        for transaction in workload.round(&model) {
            let is_done = store.commit(transaction.clone()).await.is_ok();
            assert_eq!(is_done, model.apply(&transaction).is_ok());
        }
    }
    store.close();
    writer.await.unwrap().unwrap();
    (disk, model)
}

fn size(disk: &FaultyDisk) -> usize {
    disk.files().values().map(Vec::len).sum()
}

/// Opens a copy of a disk that fails at a step, then again after a power failure. Says whether the step was ever reached.
fn interrupt(original: &FaultyDisk, model: &Model, step: u64, seed: u64) -> bool {
    let disk = FaultyDisk::new();
    for (name, bytes) in original.files() {
        disk.put(&name, bytes);
    }
    disk.fail_after(step, Fault::Crash);
    let is_reached = Store::<Text>::open(disk.clone(), LIMITS, Vec::new()).is_err();
    disk.lose_power(seed);
    let (store, _) = Store::<Text>::open(disk.clone(), LIMITS, Vec::new()).unwrap();
    assert_eq!(store.snapshot().revision(), model.revision());
    assert_eq!(entries(&store.snapshot()), model.entries);
    assert!(size(&disk) < size(original) / 2, "it was not swept");
    let report = fsck(&mut disk.clone());
    assert!(report.is_clean(), "step {step}, seed {seed}: {report}");
    is_reached
}

#[test]
fn a_crash_while_a_bloated_log_is_swept_loses_nothing() {
    simulate(async || {
        let (disk, model) = bloated().await;
        let mut step = 0;
        while (0..4).filter(|seed| interrupt(&disk, &model, step, *seed)).count() > 0 {
            step += 1;
        }
        assert!(step > 60, "opening took {step} steps");
    });
}
