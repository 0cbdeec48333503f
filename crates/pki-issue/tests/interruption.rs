//! Whoever writes what was issued may stop after any write: what is there then is trusted by whoever sees it, and another
//! goes on from there.

use hyperplane_pki_issue::{Wanted, issue};

use crate::support::{
    DAY, World,
    trust::{assert_trusted, authorities},
    wanted,
};

/// Carries out the first write of a plan. The next plan is made of what is there then, as by a process that was started
/// anew.
fn step(world: &mut World, wanted: &Wanted) -> Option<String> {
    let plan = world.plan(wanted);
    let existing = world.existing.clone();
    let write = issue(&plan, wanted, &existing, world.now).next()?.unwrap();
    let name = write.name().to_owned();
    world.take(write);
    Some(name)
}

/// Goes on until nothing is left to do, with a look at everything after each write.
fn creep(world: &mut World, wanted: &Wanted, what: &str) -> usize {
    let mut writes = 0;
    while let Some(name) = step(world, wanted) {
        writes += 1;
        assert_trusted(world, &format!("{what}, after {name}"));
        assert!(writes < 200, "{what} never ends");
    }
    writes
}

#[test]
fn a_new_control_plane_may_be_left_anywhere() {
    let wanted = wanted();
    let mut world = World::new();
    let writes = creep(&mut world, &wanted, "everything is new");
    let plan = world.plan(&wanted);
    assert_eq!(writes, plan.keep.len(), "nothing is written twice");
}

#[test]
fn an_authority_may_be_left_half_replaced() {
    let wanted = wanted();
    for signer in authorities() {
        let mut world = World::settled(&wanted);
        world.now += DAY;
        world.delete(signer);
        assert!(creep(&mut world, &wanted, signer) > 0);
    }
}

#[test]
fn a_replaced_authority_is_trusted_after_every_write_of_one_process() {
    let wanted = wanted();
    for signer in authorities() {
        let mut world = World::settled(&wanted);
        world.now += DAY;
        world.delete(signer);
        let (plan, existing, now) = (world.plan(&wanted), world.existing.clone(), world.now);
        for write in issue(&plan, &wanted, &existing, now) {
            let write = write.unwrap();
            let name = write.name().to_owned();
            world.take(write);
            assert_trusted(&world, &format!("{signer}, after {name}"));
        }
    }
}

#[test]
fn a_renewal_may_be_left_anywhere() {
    let wanted = wanted();
    let mut world = World::settled(&wanted);
    world.now += DAY * 350;
    // Leaves and kubeconfigs; authorities, keys of tokens and bundles stay.
    assert!(creep(&mut world, &wanted, "renewal") > 20);
}
