//! Any world, for the targets that draw them.

use proptest::{prelude::*, sample::subsequence};

use crate::support::{
    World,
    choices::{choices, chosen, releases},
};

/// Any world.
pub fn worlds() -> impl Strategy<Value = World> {
    let all = choices();
    let count = all.len();
    (
        subsequence(all, 0..=count),
        0..releases().len(),
        0_usize..5,
        any::<bool>(),
    )
        .prop_map(|(choices, release, zones, has_monitors)| {
            let mut world = chosen(&choices, &releases()[release]);
            world.management.zones = zones;
            world.management.has_monitors = has_monitors;
            world
        })
}
