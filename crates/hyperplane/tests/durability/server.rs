//! The server's process in these rounds: started, killed while it starts, killed under load, checked.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use serde_json::Value;

use crate::apiserver::{Process, hyperplane, text};

/// A data directory, and what its servers have in common.
pub struct Data {
    path: PathBuf,
    /// Nanoseconds of work that a start takes on its first thread.
    start_work: u64,
}

impl Data {
    /// Starts nothing.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            start_work: 0,
        }
    }

    /// Starts a server and waits until it is ready.
    pub fn start(&mut self) -> Process {
        let process = Process::on(&self.path);
        self.start_work = work(process.id()).expect("a server that is ready runs");
        process
    }

    /// Starts a server and kills it after some thousandths of the work of a start.
    pub fn kill_while_starting(&self, thousandths: u64) {
        let mut command = hyperplane(&["--listen", "127.0.0.1:0", "--data-dir", text(&self.path)]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let is_ready = observe(&mut child);
        let enough = self.start_work * thousandths / 1000;
        while !is_ready.load(Ordering::Relaxed) && work(child.id()).is_some_and(|work| work < enough) {
            thread::yield_now();
        }
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().code(), None, "it ended by itself");
    }

    /// Checks the data as a user would. Gives back the oldest and the newest segment.
    pub fn check(&self) -> (String, String) {
        let output = hyperplane(&["fsck", "-o", "json", "--data-dir", text(&self.path)])
            .output()
            .unwrap();
        let report = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{report}");
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["isClean"], true, "{report}");
        let mut segments = self.segments();
        segments.sort();
        (segments[0].clone(), segments.pop().unwrap())
    }

    fn segments(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path.join("store")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("log-")).collect()
    }
}

/// Nanoseconds that the first thread of a process has worked, by the kernel's count; none if it has ended.
fn work(process: u32) -> Option<u64> {
    let counts = fs::read_to_string(format!("/proc/{process}/schedstat")).ok()?;
    counts.split(' ').next()?.parse().ok()
}

/// Finds out when a server says that it is ready.
fn observe(child: &mut Child) -> Arc<AtomicBool> {
    let is_ready = Arc::new(AtomicBool::new(false));
    let (stdout, flag) = (child.stdout.take().unwrap(), Arc::clone(&is_ready));
    thread::spawn(move || {
        // It ends with a line, or with the process.
        BufReader::new(stdout).read_line(&mut String::new()).ok();
        flag.store(true, Ordering::Relaxed);
    });
    is_ready
}
