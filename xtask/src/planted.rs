//! `cargo xtask planted`: bugs that are kept as patches beside a simulation are put into a copy of the work tree, one at a
//! time, and the simulation has to find each within the number of seeds that its table states.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::mpsc::{self, Receiver, SyncSender},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, anyhow, ensure};

use crate::{process, test_run::Binary, workspace};

/// Where the patches and their table are.
const PATCHES: &str = "crates/world/tests/pools_simulation/planted";
/// Lists the patches, each with the number of seeds and what it breaks.
const TABLE: &str = "table.txt";
/// The package, the target and the test that look for them.
const PACKAGE: &str = "hyperplane-world";
const TARGET: &str = "pools_simulation";
const TEST: &str = "seeds::soak_of_pools";
/// Tells the test how many seeds to try.
const SEEDS: &str = "HYPERPLANE_SOAK_SEEDS";
/// How long one bug is looked for: far longer than all its seeds take, so that only a world that hangs gets there.
const LIMIT: Duration = Duration::from_hours(2);
/// What is said of a world that did not say why it ended.
const UNTOLD: &str = "no broken rule was told; the log is in target/xtask/planted";
/// How long a build may take.
const BUILD: Duration = Duration::from_hours(1);

/// One planted bug.
#[derive(Debug, PartialEq, Eq)]
struct Planted {
    /// The name of its patch, without the ending.
    name: String,
    /// Within how many seeds it is found.
    seeds: u64,
    /// What breaks, for people.
    what: String,
}

/// Looks for every bug with at most so many seeds, and says whether all were found.
pub(crate) fn run(most: Option<u64>, only: Option<&str>) -> Result<bool> {
    let patches = workspace::root().join(PATCHES);
    let table = patches.join(TABLE);
    let text = fs::read_to_string(&table).with_context(|| format!("reading {}", table.display()))?;
    let mut bugs = read(&text)?;
    bugs.retain(|bug| only.is_none_or(|only| bug.name.starts_with(only)));
    ensure!(!bugs.is_empty(), "no planted bug has such a name");
    for bug in &mut bugs {
        bug.seeds = most.map_or(bug.seeds, |most| bug.seeds.min(most));
    }
    let copy = Tree::make()?;
    // Seeds use one core and builds use all: one bug is looked for while the next is put in.
    let (sender, receiver) = mpsc::sync_channel(1);
    let missed = thread::scope(|scope| {
        let looking = scope.spawn(|| look_for_all(receiver, &bugs));
        let built = build_all(&copy, &patches, &bugs, &sender);
        drop(sender);
        let missed = looking
            .join()
            .map_err(|_| anyhow!("looking for bugs ended with a panic"))?;
        // A build that nobody waits for any more is no news: why nobody does is.
        missed.and_then(|missed| built.map(|()| missed))
    })?;
    println!("\n{} found, {missed} missed", bugs.len() - missed);
    Ok(missed == 0)
}

/// Builds the simulation with each bug, and last without one.
fn build_all(copy: &Tree, patches: &Path, bugs: &[Planted], built: &SyncSender<Built>) -> Result<()> {
    for bug in bugs {
        let patch = patches.join(format!("{}.patch", bug.name));
        copy.apply(&patch, false)?;
        let simulation = copy.build(&bug.name)?;
        copy.apply(&patch, true)?;
        built.send(simulation).context("nobody looks for bugs")?;
    }
    built.send(copy.build("none")?).context("nobody looks for bugs")
}

/// Looks for each bug, in the order in which they are built, and says how many were missed. What found a bug has to be silent
/// without one: the seeds that were needed are lived once more in sound code.
fn look_for_all(built: Receiver<Built>, bugs: &[Planted]) -> Result<usize> {
    let mut built = built.into_iter();
    let (mut missed, mut needed) = (0, 1);
    for (bug, simulation) in bugs.iter().zip(built.by_ref()) {
        let finished = simulation.look(bug.seeds)?;
        // A world that hangs, or ends in some other way, has found nothing: a rule has to say what is wrong.
        let found = told(&finished.output).filter(|_| finished.status.is_some_and(|status| !status.success()));
        missed += usize::from(found.is_none());
        let word = if found.is_some() { "found " } else { "MISSED" };
        println!("{word} {} ({}, {} seeds)", bug.name, bug.what, bug.seeds);
        needed = found.as_ref().map_or(needed, |found| needed.max(found.seed));
        let words = found.map_or_else(|| UNTOLD.to_owned(), |found| found.words);
        println!("       {:.0} s: {words}", finished.elapsed.as_secs_f64());
    }
    let Some(sound) = built.next() else {
        return Ok(missed);
    };
    println!("without a bug, {needed} seeds");
    let finished = sound.look(needed)?;
    ensure!(
        finished.is_success(),
        "the simulation fails without a bug, so that it has found none: {}",
        told(&finished.output).map_or_else(|| UNTOLD.to_owned(), |told| told.words)
    );
    Ok(missed)
}

/// Lines of name, seeds and words; empty ones and those that begin with # say nothing.
fn read(text: &str) -> Result<Vec<Planted>> {
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| row(line).with_context(|| format!("\"{line}\" is no name, number of seeds and description")))
        .collect()
}

fn row(line: &str) -> Option<Planted> {
    let mut words = line.splitn(3, ' ');
    Some(Planted {
        name: words.next()?.to_owned(),
        seeds: words.next()?.parse().ok()?,
        what: words.next()?.to_owned(),
    })
}

/// What a world said when it ended.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    seed: u64,
    /// The line with its seed and the one with the rule that was broken.
    words: String,
}

/// What a world said when it ended, if it was a rule that ended it.
fn told(output: &str) -> Option<Told> {
    let mut lines = output
        .lines()
        .skip_while(|line| !(line.starts_with("seed ") && line.contains(" after ") && line.ends_with("s:")));
    let (line, rule) = (lines.next()?, lines.next()?);
    let seed = line.split(' ').nth(1)?.parse().ok()?;
    Some(Told {
        seed,
        words: format!("{line} {rule}"),
    })
}

/// A copy of the work tree with a build directory of its own, in which files may be changed.
struct Tree {
    root: PathBuf,
    target: PathBuf,
    logs: PathBuf,
}

impl Tree {
    /// Copies every file that is tracked or could be. It is a repository of its own, so that patches are applied to it and
    /// not to the tree around it.
    fn make() -> Result<Self> {
        let logs = workspace::log_directory()?.join("planted");
        let copy = Self {
            root: logs.join("tree"),
            target: logs.join("target"),
            logs: logs.clone(),
        };
        if copy.root.exists() {
            fs::remove_dir_all(&copy.root).with_context(|| format!("removing {}", copy.root.display()))?;
        }
        fs::create_dir_all(&copy.root).with_context(|| format!("making {}", copy.root.display()))?;
        let listed = Command::new("git")
            .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
            .current_dir(workspace::root())
            .output()
            .context("running git")?;
        ensure!(listed.status.success(), "git ls-files failed");
        let names = String::from_utf8(listed.stdout).context("names of files")?;
        for name in names.split('\0').filter(|name| !name.is_empty()) {
            copy_file(&workspace::root().join(name), &copy.root.join(name))?;
        }
        copy.git(&["init", "--quiet"])?;
        Ok(copy)
    }

    /// Puts a bug in, or takes it out again.
    fn apply(&self, patch: &Path, is_reverse: bool) -> Result<()> {
        let path = patch.display().to_string();
        let arguments = ["apply", "--whitespace=nowarn", &path];
        let reverse = is_reverse.then_some("--reverse");
        let arguments: Vec<&str> = arguments.into_iter().chain(reverse).collect();
        self.git(&arguments)
            .with_context(|| format!("{path} does not fit the code any more: make it anew"))
    }

    fn git(&self, arguments: &[&str]) -> Result<()> {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(&self.root)
            .output()
            .context("running git")?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// Builds the simulation and puts it aside, because the next build overwrites it.
    fn build(&self, name: &str) -> Result<Built> {
        let log = self.logs.join(format!("{name}.build.log"));
        let mut cargo = workspace::cargo();
        workspace::build_for_speed(&mut cargo, &self.target)
            .args(["test", "--no-run", "--message-format=json-render-diagnostics"])
            .args(["--package", PACKAGE, "--test", TARGET])
            .current_dir(&self.root);
        let finished = process::run(&mut cargo, &format!("{name}, building"), &log, BUILD)?;
        ensure!(finished.is_success(), "{name} does not build: see {}", log.display());
        let mut binary = Binary::read_all(&finished.output)?
            .pop()
            .with_context(|| format!("cargo built no {TARGET}"))?;
        let aside = self.logs.join(format!("{name}.test"));
        fs::copy(&binary.executable, &aside).with_context(|| format!("writing {}", aside.display()))?;
        binary.executable = aside;
        Ok(Built {
            binary,
            log: self.logs.join(format!("{name}.log")),
            name: name.to_owned(),
        })
    }
}

/// The simulation with a bug in it, or none.
struct Built {
    binary: Binary,
    log: PathBuf,
    name: String,
}

impl Built {
    /// Tries so many seeds, and then removes what was built: it is large.
    fn look(self, seeds: u64) -> Result<process::Finished> {
        let mut command = self.binary.command();
        command
            .args(["--ignored", "--exact", TEST, "--nocapture"])
            .env(SEEDS, seeds.to_string());
        let finished = process::run(&mut command, &self.name, &self.log, LIMIT)?;
        let built = &self.binary.executable;
        fs::remove_file(built).with_context(|| format!("removing {}", built.display()))?;
        Ok(finished)
    }
}

/// A file that git lists and that is gone was deleted and not committed.
fn copy_file(from: &Path, to: &Path) -> Result<()> {
    if !from.is_file() {
        return Ok(());
    }
    if let Some(directory) = to.parent() {
        fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    }
    fs::copy(from, to).with_context(|| format!("copying {}", from.display()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_table_is_names_seeds_and_words() {
        let bugs = read("# bugs\n\n01-a 3 one too many\n02-b 10 none\n").unwrap();
        assert_eq!(bugs.len(), 2);
        assert_eq!((bugs[0].seeds, &*bugs[0].what), (3, "one too many"));
        for line in ["01-a", "01-a three words here", "01-a 3"] {
            assert!(read(line).is_err(), "{line}");
        }
    }

    #[test]
    fn every_patch_is_in_the_table_and_the_other_way_round() {
        let directory = workspace::root().join(PATCHES);
        let bugs = read(&fs::read_to_string(directory.join(TABLE)).unwrap()).unwrap();
        let listed: BTreeSet<String> = bugs.into_iter().map(|bug| format!("{}.patch", bug.name)).collect();
        let files = fs::read_dir(directory).unwrap();
        let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let found: BTreeSet<String> = files
            .filter(|name| {
                Path::new(name)
                    .extension()
                    .is_some_and(|extension| extension == "patch")
            })
            .collect();
        assert_eq!(listed, found);
        assert!(found.len() >= 20);
    }

    #[test]
    fn the_end_of_a_world_is_told_in_one_line() {
        let output = "running 1 test\nthread 'x' panicked at a.rs:1:2:\nseed 3 after 61.5s:\nsurge: too many\n\nlog";
        let expected = Told {
            seed: 3,
            words: "seed 3 after 61.5s: surge: too many".to_owned(),
        };
        assert_eq!(told(output), Some(expected));
        for output in [
            "test result: ok",
            "seed 3: Grow of alpha with Nothing\npanicked at a.rs",
        ] {
            assert_eq!(told(output), None, "{output}");
        }
    }
}
