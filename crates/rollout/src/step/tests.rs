//! Steps by table, and a model of machines that come up, go down and disappear in any order, on which bounds hold after
//! every step and every rollout ends.

use proptest::prelude::*;

use super::*;

fn steady(replicas: u32) -> SetState {
    SetState {
        replicas,
        live: replicas,
        available: replicas,
        ..SetState::default()
    }
}

fn rolling(desired: u32, surge: u32, unavailable: u32, new: SetState, old: &[SetState]) -> Rollout<'_> {
    Rollout {
        desired,
        previous_desired: Some(desired),
        strategy: super::Strategy::RollingUpdate(Pace { surge, unavailable }),
        new,
        old,
    }
}

fn check(rollout: &Rollout<'_>, new: u32, old: &[u32]) {
    let found = step(rollout);
    assert_eq!((found.new, &*found.old), (new, old), "{rollout:?}");
}

#[test]
fn a_pool_without_old_machines_has_what_is_wanted() {
    check(&rolling(5, 1, 0, SetState::default(), &[]), 5, &[]);
    check(&rolling(3, 1, 0, steady(5), &[SetState::default()]), 3, &[0]);
}

#[test]
fn a_rollout_by_surge_goes_one_by_one() {
    let starting = SetState {
        replicas: 1,
        live: 1,
        ..SetState::default()
    };
    check(&rolling(3, 1, 0, SetState::default(), &[steady(3)]), 1, &[3]);
    check(&rolling(3, 1, 0, starting, &[steady(3)]), 1, &[3]);
    check(&rolling(3, 1, 0, steady(1), &[steady(3)]), 1, &[2]);
    let leaving = SetState {
        deleting: 1,
        ..steady(2)
    };
    check(&rolling(3, 1, 0, steady(1), &[leaving]), 1, &[2]);
    check(&rolling(3, 1, 0, steady(1), &[steady(2)]), 2, &[2]);
}

#[test]
fn a_rollout_without_surge_takes_away_first() {
    check(&rolling(4, 0, 2, SetState::default(), &[steady(4)]), 0, &[2]);
    check(&rolling(4, 0, 2, SetState::default(), &[steady(2)]), 2, &[2]);
}

#[test]
fn old_machines_that_do_not_work_go_first_and_the_oldest_set_before_others() {
    let broken = SetState {
        available: 1,
        ..steady(3)
    };
    check(&rolling(5, 1, 1, steady(1), &[steady(2), broken]), 1, &[2, 1]);
    check(&rolling(6, 1, 1, steady(3), &[steady(2), steady(2)]), 3, &[0, 2]);
}

#[test]
fn machines_that_are_all_down_do_not_go_all_at_once() {
    let down = SetState {
        available: 0,
        ..steady(5)
    };
    check(&rolling(5, 1, 0, SetState::default(), &[down]), 1, &[5]);
    check(&rolling(5, 1, 0, steady(1), &[down]), 1, &[4]);
}

#[test]
fn a_marked_machine_that_works_is_not_taken_for_one_that_does_not() {
    let marked = SetState {
        available: 2,
        marked: 1,
        ..steady(3)
    };
    // The marked one would go instead of the broken one.
    check(&rolling(3, 1, 0, steady(1), &[marked]), 1, &[3]);
    check(&rolling(3, 1, 1, steady(1), &[marked]), 1, &[1]);
}

#[test]
fn growth_in_the_middle_is_shared() {
    let old = [steady(6)];
    let mut rollout = rolling(20, 2, 0, steady(6), &old);
    rollout.previous_desired = Some(10);
    check(&rollout, 11, &[11]);
    rollout.previous_desired = Some(20);
    check(&rollout, 16, &[6]);
    rollout.new = SetState::default();
    rollout.previous_desired = Some(10);
    check(&rollout, 16, &[6]);
}

#[test]
fn fewer_in_the_middle_leave_enough_that_work() {
    let new = SetState {
        available: 0,
        ..steady(5)
    };
    check(&rolling(8, 4, 0, new, &[steady(10)]), 4, &[8]);
    check(&rolling(2, 1, 0, steady(5), &[steady(3)]), 2, &[0]);
}

#[test]
fn nothing_wanted_is_nothing_left() {
    check(&rolling(0, 5, 0, steady(3), &[steady(2)]), 0, &[0]);
    let old = [steady(2)];
    let mut rollout = rolling(0, 5, 0, steady(3), &old);
    rollout.strategy = super::Strategy::OnDelete;
    check(&rollout, 0, &[0]);
}

#[test]
fn on_delete_replaces_what_is_gone() {
    let on_delete = |desired: u32, new: SetState, old: SetState, expected: (u32, u32)| {
        let old = [old];
        let mut rollout = rolling(desired, 0, 0, new, &old);
        rollout.strategy = super::Strategy::OnDelete;
        check(&rollout, expected.0, &[expected.1]);
    };
    on_delete(3, SetState::default(), steady(3), (0, 3));
    let one_leaves = SetState {
        replicas: 3,
        live: 2,
        deleting: 1,
        available: 2,
        marked: 0,
    };
    on_delete(3, SetState::default(), one_leaves, (0, 2));
    on_delete(
        3,
        SetState::default(),
        SetState {
            deleting: 0,
            ..one_leaves
        },
        (1, 2),
    );
    on_delete(5, steady(1), steady(2), (3, 2));
    on_delete(2, steady(1), steady(2), (1, 1));
    on_delete(1, steady(2), steady(2), (1, 0));
}

#[test]
fn a_rollout_that_is_held_only_scales() {
    let held = |desired: u32, new: SetState, old: SetState, expected: (u32, u32)| {
        let old = [old];
        let mut rollout = rolling(desired, 1, 0, new, &old);
        rollout.strategy = super::Strategy::Held;
        check(&rollout, expected.0, &[expected.1]);
    };
    held(3, steady(1), steady(2), (1, 2));
    held(3, SetState::default(), steady(3), (0, 3));
    held(5, steady(1), steady(2), (3, 2));
    held(2, steady(1), steady(2), (1, 1));
    let starting = SetState {
        available: 0,
        ..steady(1)
    };
    held(2, starting, steady(2), (0, 2));
    held(0, steady(1), steady(2), (0, 0));
}

/// One machine of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Machine {
    Starting,
    Available,
    Deleting,
}

/// One set of the model: what it is told to have, and what it has.
#[derive(Clone, Debug, Default)]
struct Set {
    replicas: u32,
    machines: Vec<Machine>,
}

impl Set {
    fn count(&self, state: Machine) -> u32 {
        u32::try_from(self.machines.iter().filter(|machine| **machine == state).count()).unwrap()
    }

    fn state(&self) -> SetState {
        let available = self.count(Machine::Available);
        SetState {
            replicas: self.replicas,
            live: available + self.count(Machine::Starting),
            deleting: self.count(Machine::Deleting),
            available,
            marked: 0,
        }
    }

    /// What the controller of sets does: those that are going count until they are gone.
    fn act(&mut self) {
        let (wanted, there) = (usize::try_from(self.replicas).unwrap(), self.machines.len());
        if there < wanted {
            self.machines.resize(wanted, Machine::Starting);
        }
        let going = usize::try_from(self.count(Machine::Deleting)).unwrap();
        for _ in going..there.saturating_sub(wanted) {
            let victim = [Machine::Starting, Machine::Available]
                .into_iter()
                .find_map(|state| self.machines.iter().position(|machine| *machine == state));
            if let Some(victim) = victim {
                self.machines[victim] = Machine::Deleting;
            }
        }
    }

    /// Changes the first machine in one state, or removes it.
    fn change(&mut self, from: Machine, to: Option<Machine>) {
        if let Some(position) = self.machines.iter().position(|machine| *machine == from) {
            match to {
                Some(to) => self.machines[position] = to,
                None => {
                    self.machines.remove(position);
                }
            }
        }
    }
}

/// A pool of the model: the new set is the last.
#[derive(Clone, Debug)]
struct Pool {
    desired: u32,
    previous: u32,
    surge_percent: u32,
    unavailable_percent: u32,
    sets: Vec<Set>,
}

impl Pool {
    fn pace(&self) -> Pace {
        let surge = (self.desired * self.surge_percent).div_ceil(100);
        let unavailable = self.desired * self.unavailable_percent / 100;
        Pace {
            surge,
            unavailable: if surge == 0 && unavailable == 0 { 1 } else { unavailable },
        }
    }

    fn states(&self) -> Vec<SetState> {
        self.sets.iter().map(Set::state).collect()
    }

    /// One step, whose bounds are checked before it is carried out.
    fn step(&mut self) -> Result<(), TestCaseError> {
        let (states, pace) = (self.states(), self.pace());
        let (new, old) = states.split_last().unwrap();
        let next = step(&Rollout {
            desired: self.desired,
            previous_desired: Some(self.previous),
            strategy: super::Strategy::RollingUpdate(pace),
            new: *new,
            old,
        });
        self.previous = self.desired;
        for (set, replicas) in self.sets.iter_mut().zip(next.old.iter().chain([&next.new])) {
            set.replicas = *replicas;
        }
        let after = self.states();
        let available = |states: &[SetState]| states.iter().map(SetState::effective_available).sum::<u32>();
        let footprint = |states: &[SetState]| states.iter().map(SetState::footprint).sum::<u32>();
        let least = self.desired.saturating_sub(pace.unavailable);
        prop_assert!(
            available(&after) >= available(&states).min(least),
            "too few are left: {:?} after {:?}",
            self,
            states
        );
        let roof = if self.desired == 0 {
            0
        } else {
            self.desired + pace.surge
        };
        prop_assert!(
            footprint(&after) <= footprint(&states).max(roof),
            "too many: {:?} after {:?}",
            self,
            states
        );
        Ok(())
    }

    fn happen(&mut self, event: u8, which: u8, number: u8) -> Result<(), TestCaseError> {
        let which = usize::from(which) % self.sets.len();
        match event {
            0..=3 => return self.step(),
            4..=6 => self.sets[which].act(),
            7..=9 => self.sets[which].change(Machine::Starting, Some(Machine::Available)),
            10..=11 => self.sets[which].change(Machine::Deleting, None),
            12 => self.sets[which].change(Machine::Available, Some(Machine::Starting)),
            13 => self.sets[which].change(Machine::Available, Some(Machine::Deleting)),
            14 => self.desired = u32::from(number % 16),
            _ => self.sets.push(Set::default()),
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        let states = self.states();
        let (new, old) = states.split_last().unwrap();
        *new == steady(self.desired) && old.iter().all(|set| *set == SetState::default())
    }

    /// Everything that was begun is finished, again and again.
    fn settle(&mut self) -> Result<(), TestCaseError> {
        for _ in 0..200 {
            self.step()?;
            for set in &mut self.sets {
                set.act();
                while set.machines.contains(&Machine::Starting) {
                    set.change(Machine::Starting, Some(Machine::Available));
                }
                set.machines.retain(|machine| *machine != Machine::Deleting);
            }
            if self.is_complete() {
                return Ok(());
            }
        }
        prop_assert!(false, "it never ends: {:?}", self);
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn bounds_hold_after_every_step_and_rollouts_end(
        desired in 0_u32..16,
        surge_percent in prop_oneof![Just(0_u32), 1_u32..120],
        unavailable_percent in prop_oneof![Just(0_u32), 1_u32..100],
        events in proptest::collection::vec((0_u8..16, any::<u8>(), any::<u8>()), 0..120),
    ) {
        let sets = vec![Set::default()];
        let mut pool = Pool { desired, previous: desired, surge_percent, unavailable_percent, sets };
        for (event, which, number) in events {
            pool.happen(event, which, number)?;
        }
        pool.settle()?;
    }

    #[test]
    fn marks_cost_no_more_than_they_may(
        live in 0_u32..20, available in 0_u32..20, marked in 0_u32..20, replicas in 0_u32..20, budget in 0_u32..20,
    ) {
        let set = SetState { replicas, live, deleting: 0, available, marked };
        let least = set.least(replicas, budget);
        let now = set.available_at(replicas);
        prop_assert!(least <= replicas);
        prop_assert!(now - set.available_at(least) <= budget);
        // One fewer would cost too much.
        if least > 0 && least <= live {
            prop_assert!(now - set.available_at(least - 1) > budget);
        }
    }
}
