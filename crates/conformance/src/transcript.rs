//! Transcripts of kubectl: commands and what they print, on any server that has a kubeconfig. It runs the program and
//! compares texts; what kubectl asks the server is not its business.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    process::{Output, Stdio},
    time::Duration,
};

use serde::Deserialize;
use thiserror::Error;
use tokio::{
    io::AsyncWriteExt as _,
    process::{Child, Command},
    time::timeout,
};

use crate::{
    pattern,
    run::Failure,
    table::{self, read_yaml, yaml_files},
    variables::Variables,
};

/// The file that holds what transcripts feed to kubectl.
const MANIFESTS: &str = "manifests";

/// How long a command may take; the slowest waits for two seconds on purpose.
const LIMIT: Duration = Duration::from_mins(1);

/// All transcripts of a directory.
#[derive(Debug)]
pub struct Transcripts {
    /// The files, by name without ending.
    pub files: BTreeMap<String, Vec<Transcript>>,
    manifests: BTreeMap<String, String>,
}

/// Commands that follow one another in a namespace of their own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transcript {
    /// A name that occurs once; it is also the name of the namespace.
    pub id: String,
    /// Manifests that are applied before.
    #[serde(default)]
    pub given: Vec<String>,
    /// The commands.
    pub commands: Vec<Line>,
}

/// A command and what it prints.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The arguments, separated by blanks. The namespace of the transcript is added to them.
    pub run: String,
    /// The manifest on standard input.
    #[serde(default)]
    pub input: Option<String>,
    /// The exit code.
    #[serde(default)]
    pub exit: i32,
    /// Standard output, as a pattern.
    #[serde(default)]
    pub output: String,
    /// Standard error, as a pattern.
    #[serde(default)]
    pub error: String,
}

/// Why a command gave no answer.
#[derive(Debug, Error)]
pub enum Error {
    /// It cannot be run.
    #[error("{0:?} cannot be run; build it with `cargo xtask kube-assets`")]
    Start(PathBuf, #[source] io::Error),
    /// It cannot be talked to.
    #[error("kubectl cannot be talked to")]
    Pipe(#[source] io::Error),
    /// It does not end.
    #[error("kubectl does not end within {} seconds", LIMIT.as_secs())]
    Slow,
    /// No such manifest.
    #[error("manifests.yaml holds no {0:?}")]
    Manifest(String),
}

impl Transcripts {
    /// Reads all files of a directory.
    pub fn read(directory: &Path) -> Result<Self, table::Error> {
        let mut files = BTreeMap::new();
        let mut manifests = BTreeMap::new();
        for (name, path) in yaml_files(directory)? {
            if name == MANIFESTS {
                manifests = read_yaml(&path)?;
            } else {
                files.insert(name, read_yaml::<File>(&path)?.transcripts);
            }
        }
        Ok(Self { files, manifests })
    }

    fn input(&self, name: Option<&String>) -> Result<&str, Error> {
        match name {
            None => Ok(""),
            Some(name) => {
                let manifest = self.manifests.get(name);
                manifest
                    .map(String::as_str)
                    .ok_or_else(|| Error::Manifest(name.clone()))
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    transcripts: Vec<Transcript>,
}

/// kubectl for one server.
#[derive(Clone, Debug)]
pub struct Kubectl {
    /// The program.
    pub program: PathBuf,
    /// The server, and a user who may do everything.
    pub kubeconfig: PathBuf,
    /// Where it keeps what it learnt of the server; not shared between servers.
    pub cache: PathBuf,
}

impl Kubectl {
    /// Plays a transcript and says where the program did not print what it should.
    pub async fn play(&self, transcripts: &Transcripts, transcript: &Transcript) -> Result<Vec<Failure>, Error> {
        let mut variables = Variables::of_case(&transcript.id);
        let mut failures = Vec::new();
        let namespace = format!(
            r#"{{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}"}}}}"#,
            transcript.id
        );
        self.prepare(&namespace, &variables, &mut failures).await?;
        for name in &transcript.given {
            let manifest = transcripts.input(Some(name))?;
            self.prepare(manifest, &variables, &mut failures).await?;
        }
        for line in &transcript.commands {
            let input = transcripts.input(line.input.as_ref())?;
            let output = self.run(&line.run, input, &variables).await?;
            let reasons = line.check(&output, &mut variables);
            if !reasons.is_empty() {
                let step = format!("kubectl {}", line.run);
                failures.push(Failure { step, reasons });
            }
        }
        Ok(failures)
    }

    async fn prepare(&self, manifest: &str, variables: &Variables, failures: &mut Vec<Failure>) -> Result<(), Error> {
        // The default manager: what a command applies again shall be no conflict with what was there before.
        let output = self.run("apply --server-side -f -", manifest, variables).await?;
        if !output.status.success() {
            let reasons = vec![String::from_utf8_lossy(&output.stderr).into_owned()];
            let step = "what is given".to_owned();
            failures.push(Failure { step, reasons });
        }
        Ok(())
    }

    async fn run(&self, arguments: &str, input: &str, variables: &Variables) -> Result<Output, Error> {
        let arguments = format!("{arguments} --namespace=${{ns}}");
        let child = Command::new(&self.program)
            .args(arguments.split(' ').map(|argument| variables.in_text(argument)))
            .env("KUBECONFIG", &self.kubeconfig)
            .env("KUBECACHEDIR", &self.cache)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| Error::Start(self.program.clone(), error))?;
        timeout(LIMIT, talk(child, input)).await.map_err(|_| Error::Slow)?
    }
}

async fn talk(mut child: Child, input: &str) -> Result<Output, Error> {
    if let Some(mut pipe) = child.stdin.take() {
        match pipe.write_all(input.as_bytes()).await {
            // A kubectl that does not read its input says why on its output.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            written => written.map_err(Error::Pipe)?,
        }
    }
    child.wait_with_output().await.map_err(Error::Pipe)
}

impl Line {
    fn check(&self, output: &Output, variables: &mut Variables) -> Vec<String> {
        let mut reasons = Vec::new();
        if output.status.code() != Some(self.exit) {
            reasons.push(format!("ended with {} instead of {}", output.status, self.exit));
        }
        for (name, expected, actual) in [
            ("output", &self.output, &output.stdout),
            ("error", &self.error, &output.stderr),
        ] {
            let actual = String::from_utf8_lossy(actual);
            if !pattern::fits_text(expected, &actual, variables) {
                reasons.push(format!("{name}\n      expected\n{expected}\n      came\n{actual}"));
            }
        }
        reasons
    }
}

#[cfg(test)]
mod tests {
    use std::{os::unix::process::ExitStatusExt as _, process::ExitStatus};

    use super::*;

    fn reasons(exit: i32, stdout: &str, stderr: &str) -> usize {
        let line = Line {
            run: "get".to_owned(),
            input: None,
            exit: 1,
            output: "NAME AGE\na    ${any}s\n".to_owned(),
            error: String::new(),
        };
        let output = Output {
            status: ExitStatus::from_raw(exit << 8),
            stdout: stdout.into(),
            stderr: stderr.into(),
        };
        line.check(&output, &mut Variables::default()).len()
    }

    #[test]
    fn exit_output_and_error_are_all_compared() {
        assert_eq!(reasons(1, "NAME AGE\na    5s\n", ""), 0);
        assert_eq!(reasons(0, "NAME AGE\na    5s\n", ""), 1);
        assert_eq!(reasons(1, "NAME AGE\nb    5s\n", ""), 1);
        assert_eq!(reasons(1, "NAME AGE\na    5s\n", "Warning: x"), 1);
        assert_eq!(reasons(0, "", "no"), 3);
    }
}
