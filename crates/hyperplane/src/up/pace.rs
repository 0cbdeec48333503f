//! How long simulated things take on `up`: long enough to be seen, short enough to be waited for. Pure.

use std::time::Duration;

use hyperplane_demo::Speed;
use hyperplane_twin::{HEARTBEAT, MachineSettings, Pace, TwinSettings};

/// Programs, at most; each time is drawn.
const PROGRAMS: Pace = Pace {
    start: Duration::from_millis(300),
    init: Duration::from_millis(100),
    ready: Duration::from_millis(400),
    work: Duration::from_secs(1),
    stop: Duration::from_millis(200),
};
/// From the data of a machine to its first request, at most.
const BOOT: Duration = Duration::from_millis(1_200);
/// From its configuration to the first request of its kubelet, at most.
const START: Duration = Duration::from_millis(400);
/// The pause after an exchange that did not work: the API server of a new cluster is not there yet.
const RETRY: Duration = Duration::from_secs(1);
/// From the wish that it ends to its end, at most.
const STOP: Duration = Duration::from_millis(500);

/// Sets the pace of a twin.
pub(super) fn set(settings: &mut TwinSettings, speed: Speed) {
    settings.pace = Pace {
        start: speed.scale(PROGRAMS.start),
        init: speed.scale(PROGRAMS.init),
        ready: speed.scale(PROGRAMS.ready),
        work: speed.scale(PROGRAMS.work),
        stop: speed.scale(PROGRAMS.stop),
    };
    settings.machines = MachineSettings {
        boot: speed.scale(BOOT),
        start: speed.scale(START),
        stop: speed.scale(STOP),
        retry: speed.scale(RETRY),
        heartbeat: Some(HEARTBEAT),
        ..settings.machines.clone()
    };
}
