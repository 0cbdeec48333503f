//! One program as a process: started, listened to, told to end. It is killed after a time in which everything comes.

use std::{
    io::{BufRead as _, BufReader, Read},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
};

use super::Line;
use crate::apiserver::NEVER;

/// A program that runs.
pub struct Program {
    child: Child,
    /// What it says, line by line, on either stream.
    said: Receiver<String>,
    /// What it has said so far, for whoever reads why a test failed.
    log: Vec<String>,
    listens: Vec<SocketAddr>,
    /// Dropped at its end.
    _watched: Sender<()>,
}

impl Program {
    /// Starts it with a kubeconfig of the management cluster in place of the account of its pod.
    pub fn start(line: &Line, management: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_hyperplane"))
            .args(&line.arguments)
            .envs(line.environment.iter().map(|(name, value)| (name, value)))
            .env("KUBECONFIG", management)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, said) = mpsc::channel();
        forward(child.stdout.take().unwrap(), sender.clone());
        forward(child.stderr.take().unwrap(), sender);
        let listening = ["--listen", "--health"].into_iter();
        let listening = listening.filter(|flag| line.arguments.iter().any(|it| it.starts_with(&format!("{flag}="))));
        Self {
            _watched: watch(child.id()),
            child,
            said,
            log: vec![format!(
                "{} of {}: {:?}",
                line.container, line.component, line.arguments
            )],
            listens: listening.map(|flag| line.value(flag).parse().unwrap()).collect(),
        }
    }

    /// Waits for a line with this text.
    pub fn until_it_says(&mut self, text: &str) {
        while let Ok(line) = self.said.recv() {
            let is_it = line.contains(text);
            self.log.push(line);
            if is_it {
                return;
            }
        }
        panic!("it never said {text:?}:\n{}", self.log.join("\n"));
    }

    /// Waits until all its ports are open.
    pub fn until_it_listens(&mut self) {
        assert!(!self.listens.is_empty(), "{:?}", self.log);
        for address in &self.listens {
            while TcpStream::connect(address).is_err() {
                if let Some(status) = self.child.try_wait().unwrap() {
                    self.log.extend(self.said.iter());
                    panic!("it ended with {status} before it listened:\n{}", self.log.join("\n"));
                }
                thread::yield_now();
            }
        }
    }

    /// Tells it to end; its exit code.
    pub fn end(self) -> Option<i32> {
        let id = self.child.id().to_string();
        let told = Command::new("kill").args(["-TERM", &id]).status().unwrap();
        assert!(told.success());
        self.wait()
    }

    /// Its exit code.
    pub fn wait(mut self) -> Option<i32> {
        let code = self.child.wait().unwrap().code();
        self.log.extend(self.said.iter());
        println!("{}\n  ended with {code:?}", self.log.join("\n  "));
        code
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended before.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn forward(stream: impl Read + Send + 'static, to: Sender<String>) {
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if to.send(line).is_err() {
                break;
            }
        }
    });
}

/// Kills a process that takes too long.
fn watch(process: u32) -> Sender<()> {
    let (sender, ended) = mpsc::channel::<()>();
    thread::spawn(move || {
        if ended.recv_timeout(NEVER) == Err(RecvTimeoutError::Timeout) {
            drop(Command::new("kill").args(["-KILL", &process.to_string()]).status());
        }
    });
    sender
}
