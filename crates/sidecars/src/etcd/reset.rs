//! `etcd-reset-member`: looks at a member's directory and at the others, brings the member back if its data is gone,
//! and writes the configuration with which it starts. Owns looking and doing; `membership` decides.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use futures::future::join_all;
use thiserror::Error;
use tokio::{
    fs,
    time::{Instant, sleep},
};
use tokio_rustls::TlsConnector;

use super::{
    client::{Client, ClientError},
    membership::{Cluster, Facts, Start, Step, decide},
    template::{Template, TemplateError, is_first},
    topology::{Seat, Topology},
    wire::Member,
};
use crate::{
    patience::{Notes, PAUSE, chain},
    tls::{TlsError, TlsFiles},
};

/// How often in a row nobody must be there before a cluster begins: others may be between two containers.
const LOOKS: u32 = 3;

/// When to give up. The container then ends with the reason and is started again, where everybody sees it.
const PATIENCE: Duration = Duration::from_mins(5);

/// What the program is to do.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The member that starts here, and the others.
    pub topology: Topology,
    /// The namespace, by which clusters differ.
    pub namespace: String,
    /// The settings that all members share.
    pub template: PathBuf,
    /// Whether the cluster is new or has been there, as its operator knows it.
    pub state: PathBuf,
    /// Where the member's settings go.
    pub output: PathBuf,
    /// The member's data.
    pub data_directory: PathBuf,
    /// How other members are spoken to.
    pub tls: TlsFiles,
}

/// Why a member does not start.
#[derive(Debug, Error)]
pub enum ResetError {
    /// A file or directory cannot be used.
    #[error("{} cannot be {what}: look at the volume that is mounted there", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// For what.
        what: &'static str,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The template cannot be used.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// TLS cannot be spoken.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Somebody has to decide.
    #[error("{reason}")]
    Refused {
        /// Why, and what to do.
        reason: String,
    },
    /// The others are not ready.
    #[error("{name} waited for {} s: {reason}", PATIENCE.as_secs())]
    Waited {
        /// The member.
        name: String,
        /// For what.
        reason: String,
    },
}

/// Brings the member to its start, and says how it starts.
pub async fn run(settings: &Settings) -> Result<Start, ResetError> {
    let text = fs::read_to_string(&settings.template).await;
    let text = text.map_err(at(&settings.template, "read"))?;
    let template = Template::read(&text, &settings.data_directory.display().to_string())?;
    let state = fs::read_to_string(&settings.state).await;
    let state = state.map_err(at(&settings.state, "read"))?;
    let has_data = has_data(&settings.data_directory).await?;
    let connector = settings.tls.connector().await?;
    let member = Starting {
        settings,
        connector,
        has_data,
        may_begin: template.may_begin() && is_first(&state),
    };
    let start = member.start().await?;
    if !has_data {
        clear(&settings.data_directory).await?;
    }
    let config = template.complete(&settings.topology, &settings.namespace, &start);
    fs::write(&settings.output, config)
        .await
        .map_err(at(&settings.output, "written"))?;
    Ok(start)
}

/// Whether a directory holds data of a member. etcd looks for its log in the same way.
async fn has_data(directory: &Path) -> Result<bool, ResetError> {
    let log = directory.join("member").join("wal");
    let mut entries = match fs::read_dir(&log).await {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        entries => entries.map_err(at(&log, "read"))?,
    };
    while let Some(entry) = entries.next_entry().await.map_err(at(&log, "read"))? {
        if entry.file_name().to_string_lossy().ends_with(".wal") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes what a start that was cut short left behind: without a log it is of no use, and etcd would trip over it.
async fn clear(directory: &Path) -> Result<(), ResetError> {
    let rest = directory.join("member");
    match fs::remove_dir_all(&rest).await {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(at(&rest, "removed")),
    }
}

fn at(path: &Path, what: &'static str) -> impl FnOnce(io::Error) -> ResetError {
    let path = path.to_owned();
    move |source| ResetError::File { path, what, source }
}

/// A member on its way to a start.
struct Starting<'a> {
    settings: &'a Settings,
    connector: TlsConnector,
    has_data: bool,
    may_begin: bool,
}

impl Starting<'_> {
    /// Looks, decides and does until the step is a start.
    async fn start(&self) -> Result<Start, ResetError> {
        let begin = Instant::now();
        let own = &self.settings.topology.own;
        let mut notes = Notes::default();
        let mut looks_at_nobody = 0;
        loop {
            let (cluster, answering) = self.look().await;
            looks_at_nobody = if cluster == Cluster::Nobody {
                looks_at_nobody + 1
            } else {
                0
            };
            let step = decide(&Facts {
                own,
                has_data: self.has_data,
                may_begin: self.may_begin,
                is_alone: self.settings.topology.others.is_empty(),
                cluster,
            });
            let reason = match step {
                Step::Start(Start::New) if self.is_too_early(looks_at_nobody) => {
                    "whether another member appears".to_owned()
                }
                Step::Start(start) => return Ok(start),
                Step::Refuse(reason) => return Err(ResetError::Refused { reason }),
                Step::Wait(reason) => reason,
                Step::Remove(_) | Step::Add { .. } => match self.change(&step, answering).await {
                    Ok(()) => continue,
                    Err(error) => chain(&error),
                },
            };
            if begin.elapsed() >= PATIENCE {
                let name = own.name.clone();
                return Err(ResetError::Waited { name, reason });
            }
            notes.waiting("a member of etcd to start", &reason);
            sleep(PAUSE).await;
        }
    }

    /// A cluster of several begins only when nobody was there for some looks.
    fn is_too_early(&self, looks_at_nobody: u32) -> bool {
        !self.settings.topology.others.is_empty() && (1..LOOKS).contains(&looks_at_nobody)
    }

    /// Asks all others at once. Besides what they say: one that speaks for a majority, if any does.
    async fn look(&self) -> (Cluster, Option<Client>) {
        let questions = self.settings.topology.others.iter().map(|seat| self.ask(seat));
        let mut answers = join_all(questions).await;
        // The best answer counts; a member that cannot answer counts more than one that is not there.
        answers.sort_by_key(|(cluster, _)| rank(cluster));
        answers.into_iter().next().unwrap_or((Cluster::Nobody, None))
    }

    async fn ask(&self, seat: &Seat) -> (Cluster, Option<Client>) {
        let client = Client::new(&seat.client_url, self.connector.clone());
        match client.members().await {
            Ok(members) => (Cluster::Established(members), Some(client)),
            Err(error) if error.means_nobody() => (Cluster::Nobody, None),
            Err(error) => (self.ask_as_peer(seat, &error).await, None),
        }
    }

    /// A member that has no leader says to its peers what it knows itself.
    async fn ask_as_peer(&self, seat: &Seat, refusal: &ClientError) -> Cluster {
        let peer = Client::new(&seat.peer_url, self.connector.clone());
        match peer.members_known_to_peer().await {
            Ok(members) if !members.iter().any(Member::has_started) => Cluster::Forming(members),
            _ => Cluster::Silent(chain(refusal)),
        }
    }

    async fn change(&self, step: &Step, answering: Option<Client>) -> Result<(), ClientError> {
        let client = answering.expect("a change is decided only on the answer of a member");
        let own = &self.settings.topology.own;
        match step {
            Step::Remove(id) => {
                tracing::info!(
                    member = own.name,
                    id = format!("{id:x}"),
                    "Removing a member whose data is gone."
                );
                client.remove(*id).await
            }
            Step::Add { as_learner } => {
                tracing::info!(member = own.name, as_learner, "Adding the member.");
                client.add(&own.peer_url, *as_learner).await
            }
            _ => Ok(()),
        }
    }
}

fn rank(cluster: &Cluster) -> u8 {
    match cluster {
        Cluster::Established(_) => 0,
        Cluster::Silent(_) => 1,
        Cluster::Forming(_) => 2,
        Cluster::Nobody => 3,
    }
}
