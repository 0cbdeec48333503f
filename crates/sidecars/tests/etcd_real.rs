//! Members of the real etcd that lose their data and come back, and that are defragmented.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::{fs, net::SocketAddrV4, path::PathBuf, time::Duration};

use anyhow::{Result, ensure};
use hyperplane_sidecars::{
    etcd::{
        client::Client,
        defragment::{self, Thresholds},
        membership::Start,
        recover, reset,
        topology::{Seat, Topology},
    },
    tls::TlsFiles,
};
use hyperplane_testbed::{
    Directory, Server,
    assets::{Assets, Program},
};
use serde_json::{Value, json};
use support::{Certificates, certificate, eventually, soon};

const NAMES: [&str; 3] = ["etcd-0", "etcd-1", "etcd-2"];

/// A cluster of real members, each in its directory, started only by what the program writes.
struct Etcd {
    members: [Option<Server>; 3],
    seats: Vec<Seat>,
    listen: Vec<[SocketAddrV4; 2]>,
    tls: TlsFiles,
    directory: Directory,
    /// What the operator says of the cluster.
    state: &'static str,
}

impl Etcd {
    fn new() -> Result<Self> {
        let directory = Directory::create()?;
        let addresses = hyperplane_testbed::find_addresses(6)?;
        let certificates = Certificates::create(&directory.path);
        certificates.server(*addresses[0].ip());
        let listen: Vec<_> = addresses.chunks(2).map(|pair| [pair[0], pair[1]]).collect();
        let seat = |(name, [client, peer]): (&&str, &[SocketAddrV4; 2])| Seat {
            name: (*name).to_owned(),
            peer_url: format!("https://{peer}"),
            client_url: format!("https://{client}"),
        };
        let seats = NAMES.iter().zip(&listen).map(seat).collect();
        Ok(Self {
            members: [None, None, None],
            seats,
            listen,
            tls: certificates.client(),
            directory,
            state: "new",
        })
    }

    fn data(&self, member: usize) -> PathBuf {
        self.directory.path.join(NAMES[member])
    }

    fn settings(&self, member: usize, replicas: usize) -> reset::Settings {
        let template = self.directory.path.join(format!("{}-template.yaml", NAMES[member]));
        let [client, peer] = self.listen[member];
        let certificates = self.directory.path.join("certificates");
        let mut security = json!({
            "cert-file": certificates.join("server.crt"),
            "key-file": certificates.join("server.key"),
            "trusted-ca-file": certificates.join("ca.crt"),
            "client-cert-auth": true,
        });
        let client_security = security.clone();
        // On loopback everybody calls from 127.0.0.1, whatever address is in a certificate.
        security["skip-client-san-verification"] = json!(true);
        let text = json!({
            "data-dir": self.data(member),
            "listen-client-urls": format!("https://{client}"),
            "listen-peer-urls": format!("https://{peer}"),
            "client-transport-security": client_security,
            "peer-transport-security": security,
            "unsafe-no-fsync": true,
        });
        fs::write(&template, text.to_string()).unwrap();
        let state = self.directory.path.join("state");
        fs::write(&state, self.state).unwrap();
        let others = self.seats[..replicas].iter().filter(|seat| seat.name != NAMES[member]);
        reset::Settings {
            topology: Topology {
                own: self.seats[member].clone(),
                others: others.cloned().collect(),
            },
            namespace: "test".to_owned(),
            template,
            state,
            output: self.directory.path.join(format!("{}.yaml", NAMES[member])),
            data_directory: self.data(member),
            tls: self.tls.clone(),
        }
    }

    /// Prepares a member, as its init container does.
    async fn prepare(&self, member: usize, replicas: usize) -> Start {
        soon("a start", reset::run(&self.settings(member, replicas)))
            .await
            .unwrap()
    }

    /// Starts a member that was prepared.
    fn launch(&mut self, member: usize) {
        let program = Assets::locate().unwrap().path(Program::Etcd).unwrap();
        let config = self.directory.path.join(format!("{}.yaml", NAMES[member]));
        let arguments = vec![format!("--config-file={}", config.display())];
        let log = self.directory.path.join(format!("{}.log", NAMES[member]));
        self.members[member] = Some(Server::start(NAMES[member], &program, &arguments, log).unwrap());
    }

    /// Kills a member.
    fn kill(&mut self, member: usize) {
        drop(self.members[member].take());
    }

    /// Kills a member and takes its data away.
    fn lose(&mut self, member: usize) {
        self.kill(member);
        fs::remove_dir_all(self.data(member)).unwrap();
    }

    async fn client(&self, member: usize) -> Client {
        Client::new(&self.seats[member].client_url, self.tls.connector().await.unwrap())
    }

    /// Waits until a member takes part, and says who else does.
    async fn names(&self, member: usize, count: usize) -> Vec<String> {
        let client = self.client(member).await;
        let what = format!("{count} members that have started, seen by {}", NAMES[member]);
        eventually(&what, async || -> Result<Vec<String>> {
            let members = client.members().await?;
            let started: Vec<_> = members.iter().filter(|member| member.has_started()).collect();
            ensure!(started.len() == count && members.len() == count, "{members:?}");
            Ok(started.iter().map(|member| member.name.clone()).collect())
        })
        .await
    }

    /// Begins a cluster of three members.
    async fn launch_three(&mut self) {
        // The first two find nobody, or each other; both begin the same cluster.
        let (first, second) = tokio::join!(self.prepare(0, 3), self.prepare(1, 3));
        assert_eq!((first, second), (Start::New, Start::New));
        self.launch(0);
        self.launch(1);
        // The third one comes late: the others are a cluster already, and it has a seat in it.
        eventually("a majority", async || self.client(0).await.members().await).await;
        assert!(matches!(self.prepare(2, 3).await, Start::Join(_) | Start::New));
        self.launch(2);
        assert_eq!(self.names(2, 3).await.len(), 3);
    }

    /// Asks the gateway of a member for keys, as a client of etcd does.
    async fn keys(&self, member: usize, path: &str, request: Value) -> Result<Value> {
        let certificates = self.directory.path.join("certificates");
        let mut config = kube::Config::new(self.seats[member].client_url.parse()?);
        config.root_cert = Some(vec![certificate(&certificates.join("ca.crt")).to_vec()]);
        config.auth_info.client_certificate = Some(certificates.join("client.crt").display().to_string());
        config.auth_info.client_key = Some(certificates.join("client.key").display().to_string());
        let request = http::Request::post(path).body(request.to_string().into_bytes())?;
        Ok(kube::Client::try_from(config)?.request(request).await?)
    }
}

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn a_member_that_lost_its_data_comes_back_and_has_it_again() -> Result<()> {
    let mut etcd = Etcd::new()?;
    Box::pin(etcd.launch_three()).await;

    let put = json!({"key": "a2V5", "value": "dmFsdWU="});
    etcd.keys(0, "/v3/kv/put", put).await?;
    let before = etcd.client(0).await.members().await?;

    etcd.lose(2);
    assert!(matches!(etcd.prepare(2, 3).await, Start::Join(_)));
    etcd.launch(2);
    let mut names = etcd.names(2, 3).await;
    names.sort();
    assert_eq!(names, NAMES);
    let after = etcd.client(0).await.members().await?;
    assert_ne!(before, after, "the member has another number now");
    // Read from the member itself, without asking the others.
    let read = json!({"key": "a2V5", "serializable": true});
    let found = etcd.keys(2, "/v3/kv/range", read).await?;
    assert_eq!(found["kvs"][0]["value"], "dmFsdWU=");

    // With its data, it just starts, also while the others are away.
    etcd.kill(2);
    assert_eq!(etcd.prepare(2, 3).await, Start::WithData);
    for member in [0, 1] {
        etcd.kill(member);
    }
    assert_eq!(etcd.prepare(2, 3).await, Start::WithData);
    for member in 0..3 {
        etcd.launch(member);
    }
    assert_eq!(etcd.names(2, 3).await.len(), 3);

    // One that was removed on purpose is not brought back behind the administrator's back.
    let number = etcd.client(0).await.members().await?;
    let number = number.iter().find(|member| member.name == NAMES[2]).unwrap().id;
    eventually("a removal", async || etcd.client(0).await.remove(number).await).await;
    etcd.kill(2);
    // While the others choose a leader, it cannot be known yet, and etcd itself would refuse.
    let settings = etcd.settings(2, 3);
    let refused = eventually("a refusal", async || match reset::run(&settings).await {
        Ok(start) => Err(start),
        Err(error) => Ok(error.to_string()),
    })
    .await;
    assert!(refused.contains("PersistentVolumeClaim"), "{refused}");
    // Without its data, it is a member again.
    fs::remove_dir_all(etcd.data(2))?;
    assert!(matches!(etcd.prepare(2, 3).await, Start::Join(_)));
    etcd.launch(2);
    assert_eq!(etcd.names(2, 3).await.len(), 3);
    Ok(())
}

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn the_others_say_whether_they_go_on_without_a_member() -> Result<()> {
    let mut etcd = Etcd::new()?;
    Box::pin(etcd.launch_three()).await;
    let topology = etcd.settings(2, 3).topology;
    etcd.kill(2);
    // They may have to choose a leader first.
    eventually("a quorum without it", async || {
        recover::check(&topology.own, &recover::ask(&topology, &etcd.tls).await.unwrap())
    })
    .await;
    etcd.kill(1);
    let refused = eventually("a refusal", async || {
        match recover::check(&topology.own, &recover::ask(&topology, &etcd.tls).await.unwrap()) {
            Ok(()) => Err("one alone is enough"),
            Err(reason) => Ok(reason),
        }
    })
    .await;
    assert!(
        refused.contains("no majority") || refused.contains("have to be"),
        "{refused}"
    );
    Ok(())
}

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn a_lost_volume_of_a_single_member_is_told_and_nothing_empty_begins() -> Result<()> {
    let mut etcd = Etcd::new()?;
    assert_eq!(etcd.prepare(0, 1).await, Start::New);
    etcd.launch(0);
    etcd.names(0, 1).await;
    etcd.state = "existing";
    etcd.kill(0);
    assert_eq!(etcd.prepare(0, 1).await, Start::WithData);
    etcd.launch(0);
    etcd.names(0, 1).await;
    etcd.lose(0);
    let refused = reset::run(&etcd.settings(0, 1)).await.unwrap_err().to_string();
    assert!(refused.contains("bring the volume back"), "{refused}");
    Ok(())
}

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn a_cluster_that_waits_for_its_majority_is_joined() -> Result<()> {
    let mut etcd = Etcd::new()?;
    assert_eq!(etcd.prepare(0, 3).await, Start::New);
    etcd.launch(0);
    // Alone it answers no client; its peers learn from it that nobody has ever taken part.
    let peer = Client::new(&etcd.seats[0].peer_url, etcd.tls.connector().await?);
    eventually("a peer", async || peer.members_known_to_peer().await).await;
    assert_eq!(etcd.prepare(1, 3).await, Start::New);
    etcd.launch(1);
    etcd.prepare(2, 3).await;
    etcd.launch(2);
    assert_eq!(etcd.names(1, 3).await.len(), 3);
    Ok(())
}

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn a_single_member_grows_and_is_defragmented() -> Result<()> {
    let mut etcd = Etcd::new()?;
    assert_eq!(etcd.prepare(0, 1).await, Start::New);
    etcd.launch(0);
    etcd.names(0, 1).await;
    // A second member gets its vote only once it has what the first one has.
    assert!(matches!(etcd.prepare(1, 2).await, Start::Join(members) if members.iter().any(|member| member.is_learner)));
    etcd.launch(1);
    etcd.names(0, 2).await;
    let settings = |etcd: &Etcd, name: Option<&str>| defragment::Settings {
        endpoints: etcd.seats[..2].iter().map(|seat| seat.client_url.clone()).collect(),
        name: name.map(str::to_owned),
        tls: etcd.tls.clone(),
        interval: Duration::from_secs(1),
        thresholds: Thresholds {
            unused_percent: 45,
            database_bytes: 1 << 20,
        },
    };
    let both = settings(&etcd, None);
    eventually("a promotion", async || {
        defragment::promote(&both).await?;
        let members = etcd.client(0).await.members().await?;
        ensure!(!members.iter().any(|member| member.is_learner), "{members:?}");
        Ok(())
    })
    .await;

    fill_and_empty(&etcd).await?;
    // Beside a follower nothing is done; beside the leader the follower comes first, and then the leader.
    let leader = etcd.client(0).await.status().await?;
    let (leading, following) = if leader.leader == leader.member { (0, 1) } else { (1, 0) };
    assert_eq!(defragment::pass(&settings(&etcd, Some(NAMES[following]))).await?, None);
    let beside_leader = settings(&etcd, Some(NAMES[leading]));
    for expected in [Some(following), Some(leading), None] {
        let expected = expected.map(|member| etcd.seats[member].client_url.as_str());
        assert_eq!(defragment::pass(&beside_leader).await?, expected);
    }
    for member in 0..2 {
        let status = etcd.client(member).await.status().await?;
        assert!(status.database_bytes < 1 << 20, "{status:?}");
    }
    Ok(())
}

/// Makes the files of all members large, and nearly empty.
async fn fill_and_empty(etcd: &Etcd) -> Result<()> {
    // Half a megabyte of zeros as base64.
    let value = "A".repeat(700_000);
    for _ in 0..8 {
        let big = json!({"key": "YmlnCg==", "value": value});
        etcd.keys(0, "/v3/kv/put", big).await?;
    }
    let small = json!({"key": "YmlnCg==", "value": ""});
    let last = etcd.keys(0, "/v3/kv/put", small.clone()).await?;
    let compact = json!({"revision": last["header"]["revision"], "physical": true});
    etcd.keys(0, "/v3/kv/compaction", compact).await?;
    for member in 0..2 {
        let client = etcd.client(member).await;
        eventually("empty pages", async || -> Result<()> {
            // Pages are given back with a later write.
            etcd.keys(0, "/v3/kv/put", small.clone()).await?;
            let status = client.status().await?;
            ensure!(status.used_bytes * 2 < status.database_bytes, "{status:?}");
            Ok(())
        })
        .await;
    }
    Ok(())
}
