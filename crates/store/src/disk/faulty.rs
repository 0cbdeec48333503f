//! A disk in memory that fails on purpose, for tests and simulations: it crashes, runs full, refuses, and after a power
//! failure keeps of the unsynchronised writes what a seed chooses. Deterministic; the contract that it stretches is
//! that of [`Disk`].

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{Disk, DiskFile};

mod cache;

use cache::{Cache, NameChange, Random};

/// What goes wrong at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The process ends in the middle of the call, and every later call fails, until the disk is used again.
    Crash,
    /// There is no space left: half of a write is there, and every later one fails too.
    NoSpace,
    /// This one call fails.
    Refuse,
}

/// A disk that several owners share: the store under test, and the test that makes it fail.
#[derive(Clone, Default)]
pub struct FaultyDisk(Arc<Mutex<World>>);

#[derive(Default)]
struct World {
    cache: Cache,
    steps: u64,
    fault: Option<(u64, Fault)>,
    is_dead: bool,
    is_full: bool,
}

impl FaultyDisk {
    /// An empty disk without faults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets the call fail that comes after `steps` further ones.
    pub fn fail_after(&self, steps: u64, fault: Fault) {
        let mut world = self.world();
        world.fault = Some((world.steps + steps, fault));
    }

    /// How many calls there were so far.
    pub fn steps(&self) -> u64 {
        self.world().steps
    }

    /// The process ends, the machine goes on: what was written is there, synchronised or not.
    pub fn kill(&self) {
        self.world().heal();
    }

    /// The power fails: the seed chooses what is there of that which was not synchronised, in pieces and in any order.
    pub fn lose_power(&self, seed: u64) {
        let mut world = self.world();
        world.heal();
        world.cache.lose_power(&mut Random(seed));
    }

    /// Every file as it is now.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        self.world().cache.contents()
    }

    /// Puts a file there as it is, durably: damage, or somebody else's.
    pub fn put(&self, name: &str, bytes: Vec<u8>) {
        self.world().cache.put(name, bytes);
    }

    /// Takes a file away, durably.
    pub fn take(&self, name: &str) {
        self.world().cache.take(name);
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl World {
    /// Counts a call, and says how it ends: it is done, or it is done as far as a crash allows and then fails.
    fn step(&mut self) -> io::Result<bool> {
        if self.is_dead {
            return Err(io::Error::other("the process has crashed"));
        }
        let now = self.steps;
        self.steps += 1;
        match self.fault.filter(|(step, _)| *step == now) {
            Some((_, Fault::Crash)) => {
                self.is_dead = true;
                Ok(false)
            }
            Some((_, Fault::NoSpace)) => {
                self.is_full = true;
                Ok(true)
            }
            Some((_, Fault::Refuse)) => Err(io::Error::other("input/output error")),
            None => Ok(true),
        }
    }

    fn heal(&mut self) {
        self.is_dead = false;
        self.is_full = false;
        self.fault = None;
    }

    fn read_only(&mut self) -> io::Result<()> {
        outcome(self.step()?)
    }

    fn change_names(&mut self, change: NameChange) -> io::Result<()> {
        let is_alive = self.step()?;
        self.cache.change_names(change)?;
        outcome(is_alive)
    }
}

/// What a call answers whose effect is in the cache.
fn outcome(is_alive: bool) -> io::Result<()> {
    if is_alive {
        return Ok(());
    }
    Err(io::Error::other("the process crashed in this call"))
}

impl Disk for FaultyDisk {
    fn list(&mut self) -> io::Result<Vec<String>> {
        let mut world = self.world();
        world.read_only()?;
        Ok(world.cache.names())
    }

    fn read(&mut self, name: &str) -> io::Result<Vec<u8>> {
        let mut world = self.world();
        world.read_only()?;
        world.cache.find(name).map(|file| world.cache.content(file).to_vec())
    }

    fn create(&mut self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        let mut world = self.world();
        let file = world.cache.new_file();
        world.change_names(NameChange::Set(name.to_owned(), file))?;
        Ok(Box::new(FaultyFile {
            disk: self.clone(),
            file,
        }))
    }

    fn truncate(&mut self, name: &str, length: u64) -> io::Result<()> {
        let length = usize::try_from(length).map_err(io::Error::other)?;
        let mut world = self.world();
        let is_alive = world.step()?;
        let file = world.cache.find(name)?;
        world.cache.cut(file, length);
        if is_alive {
            world.cache.sync(file);
        }
        outcome(is_alive)
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        self.world()
            .change_names(NameChange::Rename(from.to_owned(), to.to_owned()))
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        self.world().change_names(NameChange::Remove(name.to_owned()))
    }

    fn sync_names(&mut self) -> io::Result<()> {
        let mut world = self.world();
        let is_alive = world.step()?;
        if is_alive {
            world.cache.sync_names();
        }
        outcome(is_alive)
    }
}

struct FaultyFile {
    disk: FaultyDisk,
    file: usize,
}

impl DiskFile for FaultyFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut world = self.disk.world();
        let is_alive = world.step()?;
        if world.is_full {
            world.cache.append(self.file, &bytes[..bytes.len() / 2]);
            return Err(io::ErrorKind::StorageFull.into());
        }
        world.cache.append(self.file, bytes);
        outcome(is_alive)
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut world = self.disk.world();
        let is_alive = world.step()?;
        if is_alive {
            world.cache.sync(self.file);
        }
        outcome(is_alive)
    }
}
