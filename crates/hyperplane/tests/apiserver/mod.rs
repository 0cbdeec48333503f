//! A server as a process: started, asked, told to end, killed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(dead_code, reason = "each target uses its part")]

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::Value;

/// After so long something counts as never coming. Nothing takes a tenth of it.
pub const NEVER: Duration = Duration::from_mins(2);

/// Waits for something that must come, and says what did not.
pub async fn soon<T>(what: &str, coming: impl Future<Output = T>) -> T {
    tokio::time::timeout(NEVER, coming)
        .await
        .unwrap_or_else(|_| panic!("{what}: it never came"))
}

/// A command of the binary.
pub fn hyperplane(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hyperplane"));
    command.arg("apiserver").args(arguments);
    command
}

fn kill(process: u32, signal: &str) {
    let id = process.to_string();
    assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
}

/// The path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A server that is ready. It is killed when a test forgets it.
pub struct Process {
    child: Child,
    stdout: BufReader<ChildStdout>,
    /// What it said when it was ready.
    pub ready: Value,
}

impl Process {
    /// Starts a server on a free port and waits until it is ready.
    pub fn start(arguments: &[&str]) -> Self {
        Self::run(hyperplane(arguments))
    }

    /// Starts a whole management cluster on a free port and waits until it is ready.
    pub fn up(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hyperplane"));
        command.arg("up").args(arguments);
        Self::run(command)
    }

    /// Starts what a command says on a free port and waits until it is ready.
    pub fn run(mut command: Command) -> Self {
        command.args(["--listen", "127.0.0.1:0", "-o", "json"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (is_ready, ready) = mpsc::channel::<()>();
        let id = child.id();
        thread::spawn(move || {
            if ready.recv_timeout(NEVER) == Err(RecvTimeoutError::Timeout) {
                kill(id, "-KILL");
            }
        });
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        drop(is_ready);
        let ready = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        Self { child, stdout, ready }
    }

    /// Starts a server on a data directory.
    pub fn on(data: &Path) -> Self {
        Self::start(&["--data-dir", text(data)])
    }

    /// Its number among the processes of the machine.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Where the kubeconfig was written.
    pub fn kubeconfig(&self) -> PathBuf {
        self.ready["kubeconfig"].as_str().unwrap().into()
    }

    /// Where it serves.
    pub fn address(&self) -> String {
        self.ready["server"]
            .as_str()
            .unwrap()
            .trim_start_matches("https://")
            .to_owned()
    }

    /// A client that is the administrator.
    pub async fn client(&self) -> Client {
        client(Kubeconfig::read_from(self.kubeconfig()).unwrap()).await
    }

    /// Sends a signal.
    pub fn signal(&self, signal: &str) {
        kill(self.child.id(), signal);
    }

    /// Waits for the end; says what else there was on standard output.
    pub fn wait(&mut self) -> (ExitStatus, String) {
        let status = self.child.wait().unwrap();
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (status, rest)
    }

    /// Sends a signal and waits for the end.
    pub fn end(mut self, signal: &str) -> (ExitStatus, String) {
        self.signal(signal);
        self.wait()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended before.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A client by a kubeconfig. It does not ask again by itself: being told to come back later counts as not being served.
pub async fn client(kubeconfig: Kubeconfig) -> Client {
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
    config.default_retry = false;
    Client::try_from(config).unwrap()
}

/// The permissions of a file.
pub fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;

    fs::metadata(path).unwrap().permissions().mode() & 0o777
}
