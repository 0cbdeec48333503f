//! Child processes and directories that end with this process, however it ends. It knows no server by name.
//!
//! Every server runs below a shell that holds the read end of a pipe. This process holds the only write end, and
//! never writes. When it goes away, be it by return, panic or SIGKILL, the kernel closes the pipe, the shell reads the
//! end of the file and kills its server. So there is one way to end a server, and it is always taken.
//! (A parent-death signal would be shorter, but it is Linux only, and it follows the thread that started the child:
//! test harnesses end those early.)

use std::{
    fs::{self, File},
    io::{Read, Seek, SeekFrom, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
};

use crate::error::Error;

/// Runs its arguments as a child until that ends or standard input does. Background commands of a shell read from
/// /dev/null, hence the copy of standard input.
const SERVER_GUARD: &str = r#"
exec 3<&0
"$@" 3<&- </dev/null &
server=$!
{ read -r ignored <&3; kill -KILL "$server"; } &
reader=$!
wait "$server"
status=$?
kill -KILL "$reader"
exit "$status"
"#;

/// Removes its argument when standard input ends, unless it reads `keep`. Servers that are being killed at the same
/// moment may still write, hence the repetition.
const DIRECTORY_GUARD: &str = r#"
read -r word
test "$word" = keep && exit
for attempt in 1 2 3 4 5; do rm -rf -- "$1" && exit; sleep 1; done
"#;

/// How much of a log is shown when a server fails: some forty lines.
const TAIL_BYTES: u64 = 6 * 1024;

/// A server that ends when this value is dropped or this process ends.
pub struct Server {
    /// What it is called in errors.
    pub name: &'static str,
    /// Where its output is.
    pub log: PathBuf,
    guard: Child,
}

impl Server {
    /// Starts a program whose output is appended to a log.
    pub fn start(name: &'static str, program: &Path, arguments: &[String], log: PathBuf) -> Result<Self, Error> {
        let step = |what: &str| Error::at(format!("{what} {name}"));
        let output = File::options()
            .create(true)
            .append(true)
            .open(&log)
            .map_err(step("opening the log of"))?;
        let errors = output.try_clone().map_err(step("opening the log of"))?;
        let guard = shell(SERVER_GUARD)
            .arg(program)
            .args(arguments)
            .stdout(output)
            .stderr(errors)
            .spawn()
            .map_err(step("starting"))?;
        Ok(Self { name, log, guard })
    }

    /// How the server ended, if it did.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>, Error> {
        self.guard
            .try_wait()
            .map_err(Error::at(format!("looking after {}", self.name)))
    }

    /// The last lines of the log.
    pub fn log_tail(&self) -> String {
        tail(&self.log).unwrap_or_else(|error| format!("(no log: {error})"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        end(&mut self.guard);
    }
}

/// A directory that is removed when this value is dropped or this process ends.
pub struct Directory {
    /// Where it is.
    pub path: PathBuf,
    guard: Child,
}

impl Directory {
    /// Makes a new directory in the system's place for temporary files.
    pub fn create() -> Result<Self, Error> {
        let path = tempfile::Builder::new()
            .prefix("hyperplane-testbed-")
            .tempdir()
            .map_err(Error::at("making a temporary directory"))?
            .keep();
        let guard = shell(DIRECTORY_GUARD)
            .arg(&path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(Error::at("starting a shell"))?;
        Ok(Self { path, guard })
    }

    /// Leaves the directory to the reader.
    pub fn keep(mut self) {
        if let Some(mut pipe) = self.guard.stdin.take() {
            // Without its shell the directory stays as well.
            drop(pipe.write_all(b"keep\n"));
        }
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        end(&mut self.guard);
    }
}

/// A shell in a process group of its own: an interrupt from the keyboard reaches this process alone, whose end then
/// ends the rest.
fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", script, "sh"])
        .stdin(Stdio::piped())
        .process_group(0);
    command
}

fn end(guard: &mut Child) {
    drop(guard.stdin.take());
    // The shell cannot be waited for only if it was never started, and then there is nothing to end.
    drop(guard.wait());
}

/// The end of a log.
pub(crate) fn tail(log: &Path) -> std::io::Result<String> {
    let length = fs::metadata(log)?.len();
    let mut file = File::open(log)?;
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};

    use super::*;

    fn arguments(script: &str) -> Vec<String> {
        vec!["-c".to_owned(), script.to_owned()]
    }

    #[test]
    fn a_real_server_ends_when_it_is_dropped() {
        let directory = Directory::create().unwrap();
        let pipe = directory.path.join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let script = format!("exec 4>'{}'; echo started >&4; exec sleep 1000", pipe.display());
        let log = directory.path.join("log");
        let server = Server::start("test", Path::new("/bin/sh"), &arguments(&script), log).unwrap();
        let mut reader = BufReader::new(File::open(&pipe).unwrap());
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert_eq!(line, "started\n");
        drop(server);
        // The server holds the other end of the pipe: only its end lets this reader see the end of the file.
        assert_eq!(reader.read_line(&mut line).unwrap(), 0);
    }

    #[test]
    fn a_real_server_that_ends_by_itself_is_noticed_with_its_status_and_log() {
        let directory = Directory::create().unwrap();
        let log = directory.path.join("log");
        let mut server = Server::start("test", Path::new("/bin/sh"), &arguments("echo no luck; exit 7"), log).unwrap();
        // Waiting closes the pipe, which would end the server; held here, it stays open.
        let pipe = server.guard.stdin.take();
        let status = server.guard.wait().unwrap();
        drop(pipe);
        assert_eq!(status.code(), Some(7));
        assert_eq!(server.ended().unwrap(), Some(status));
        assert_eq!(server.log_tail(), "no luck\n");
    }

    #[test]
    fn a_real_directory_is_removed_unless_it_is_kept() {
        let removed = Directory::create().unwrap();
        let path = removed.path.clone();
        fs::write(path.join("file"), "text").unwrap();
        drop(removed);
        assert!(!path.exists());

        let kept = Directory::create().unwrap();
        let path = kept.path.clone();
        kept.keep();
        assert!(path.exists());
        fs::remove_dir_all(path).unwrap();
    }
}
