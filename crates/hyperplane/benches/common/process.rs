//! Processor time and memory of processes, as Linux counts them.

use std::{collections::BTreeMap, fs, iter::successors, process, time::Duration};

use anyhow::{Context as _, Result};

/// Ticks per second in /proc, on every Linux.
const TICKS: u64 = 100;

/// Memory of some processes together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// Resident set, in bytes; pages that processes share count for each.
    pub resident: u64,
    /// Proportional set, in bytes: shared pages are divided among those who share them.
    pub proportional: u64,
}

/// The processes below this one that have one of these names.
pub fn below(names: &[&str]) -> Result<Vec<u32>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let id = name.to_str().and_then(|name| name.parse::<u32>().ok());
        // It may have ended meanwhile.
        let Some((id, stat)) = id.and_then(|id| Some((id, Stat::read(id).ok()?))) else {
            continue;
        };
        all.insert(id, stat);
    }
    // Linux keeps fifteen characters of a name.
    let is_named = |stat: &Stat| names.iter().any(|name| name[..name.len().min(15)] == stat.name);
    let found = all.iter().filter(|(id, stat)| is_named(stat) && is_below(**id, &all));
    Ok(found.map(|(id, _)| *id).collect())
}

fn is_below(process: u32, all: &BTreeMap<u32, Stat>) -> bool {
    let mut parents = successors(Some(process), |id| all.get(id).map(|stat| stat.parent));
    parents.any(|id| id == process::id())
}

/// Processor time of some processes together.
pub fn time(processes: &[u32]) -> Result<Duration> {
    let mut ticks = 0;
    for id in processes {
        ticks += Stat::read(*id)?.ticks;
    }
    Ok(Duration::from_millis(ticks * 1000 / TICKS))
}

/// Memory of some processes together.
pub fn memory(processes: &[u32]) -> Result<Memory> {
    let mut memory = Memory::default();
    for id in processes {
        let text = fs::read_to_string(format!("/proc/{id}/smaps_rollup"))?;
        memory.resident += field(&text, "Rss:")?;
        memory.proportional += field(&text, "Pss:")?;
    }
    Ok(memory)
}

/// A size in bytes; the text says it in kB.
fn field(text: &str, name: &str) -> Result<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.trim().strip_suffix("kB"));
    let number = number.with_context(|| format!("no {name} in smaps_rollup"))?;
    Ok(number.trim().parse::<u64>()? << 10)
}

struct Stat {
    name: String,
    parent: u32,
    ticks: u64,
}

impl Stat {
    fn read(id: u32) -> Result<Self> {
        let text = fs::read_to_string(format!("/proc/{id}/stat"))?;
        // The name is in parentheses and may have anything in it.
        let (start, rest) = text.rsplit_once(") ").context("no name in stat")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        Ok(Self {
            name: start.split_once('(').context("no name in stat")?.1.to_owned(),
            parent: fields[1].parse()?,
            ticks: fields[11].parse::<u64>()? + fields[12].parse::<u64>()?,
        })
    }
}
