//! A host that joins a hosted cluster by itself, as on platform None: it fetches its payload with what the user data of its
//! pool says, and an administrator approves what its kubelet asks for.

use std::{collections::BTreeMap, net::Ipv4Addr, time::Duration};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hyperplane_real_cluster::Archives;
use hyperplane_testbed::{
    assets::{Assets, Program},
    image::cluster::Component,
    parts::Part,
    pods::{HOST_BRIDGE, Node},
    worker::{Options, Surroundings, Worker},
};
use kube::{Client, Config};
use rustls::pki_types::{CertificateDer, pem::PemObject as _};
use serde_json::Value;
use tokio::runtime::Builder;

use crate::{
    ground::{Ground, condition},
    hosted::{Hosted, INSIDE, OLD},
};

/// Its node.
const NAME: &str = "worker-1";

/// Its address, on the network of hosts.
const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 199, 0, 11);

/// Its pods: a network plugin is the user's business, and one node needs no more than a bridge.
const PODS: &str = "10.132.1.0/24";

/// Who signs what a kubelet serves with.
const SERVING: &str = "kubernetes.io/kubelet-serving";

/// How long user data may take to be there, and a node to be Ready.
const LIMIT: Duration = Duration::from_mins(3);

/// Has a host join; it is there as long as the value.
pub fn join(ground: &Ground, hosted: &Hosted) -> Worker {
    let (user_data, _) = ground.until("the pool has user data", LIMIT, || user_data(ground));
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let (payload, _) = ground.until("the host has its payload", LIMIT, || {
        runtime.block_on(fetch(&user_data))
    });
    let images = Archives::write(&Component::OF_WORKERS).unwrap();
    let options = Options {
        name: NAME.to_owned(),
        address: ADDRESS,
        gateway: Node(1).address(),
        bridge: HOST_BRIDGE.to_owned(),
        pods: PODS.to_owned(),
        names: Vec::new(),
        kubelet: Assets::locate_built(OLD).unwrap().path(Program::Kubelet).unwrap(),
        forwarder: Part::Workload.locate().unwrap(),
        images: images.paths.clone(),
        directory: ground.cluster.directory().join(NAME),
        control_group: ground.cluster.make_control_group(NAME).unwrap(),
    };
    let surroundings = Surroundings::OfProcess(ground.cluster.first_process());
    let worker = Worker::start(surroundings, payload.as_bytes(), &options).unwrap();
    let ((), elapsed) = ground.until("its node is Ready", LIMIT, || {
        approve(hosted)?;
        let node = hosted.json(&["get", "node", NAME])?;
        match condition(&node, "Ready") {
            Some("True") => Ok(()),
            _ => Err(node["status"]["conditions"].to_string()),
        }
    });
    println!("MEASURED kubelet to Ready {:.1} s", elapsed.as_secs_f64());
    // Its second request is for the certificate that logs and exec go by.
    ground.until("its kubelet may serve", LIMIT, || {
        approve(hosted)?;
        let requests = hosted.json(&["get", "certificatesigningrequests"])?;
        let serves =
            |request: &Value| request["spec"]["signerName"] == SERVING && request["status"]["certificate"].is_string();
        let mut all = requests["items"].as_array().into_iter().flatten();
        all.any(serves)
            .then_some(())
            .ok_or_else(|| "no request of it is approved".to_owned())
    });
    worker
}

/// Approves what waits, as an administrator of the hosted cluster does.
fn approve(hosted: &Hosted) -> Result<(), String> {
    let requests = hosted.json(&["get", "certificatesigningrequests"])?;
    let waits = |request: &&Value| request["status"]["conditions"].is_null();
    for request in requests["items"].as_array().into_iter().flatten().filter(waits) {
        let name = request["metadata"]["name"].as_str().unwrap_or_default();
        hosted.kubectl(&["certificate", "approve", name])?;
    }
    Ok(())
}

/// What the platform would give to a machine when it boots.
fn user_data(ground: &Ground) -> Result<Value, String> {
    let secrets = ground.json(&["get", "secrets", "--namespace", INSIDE])?;
    let is_user_data = |secret: &&Value| {
        let name = secret["metadata"]["name"].as_str();
        name.is_some_and(|name| name.starts_with("user-data-"))
    };
    let mut secrets = secrets["items"].as_array().into_iter().flatten();
    let secret = secrets.find(is_user_data).ok_or("no Secret")?;
    let value = secret["data"]["value"].as_str().ok_or("no value")?;
    let bytes = BASE64_STANDARD.decode(value).map_err(|error| error.to_string())?;
    serde_json::from_slice(&bytes).map_err(|error| error.to_string())
}

/// Fetches a payload as Ignition does: from where the user data says, with its headers, trusting its authority alone.
async fn fetch(user_data: &Value) -> Result<String, String> {
    let merged = &user_data["ignition"]["config"]["merge"][0];
    let text = |value: &Value| value.as_str().map(str::to_owned).ok_or_else(|| user_data.to_string());
    let headers: BTreeMap<String, String> = merged["httpHeaders"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|header| Ok((text(&header["name"])?, text(&header["value"])?)))
        .collect::<Result<_, String>>()?;
    let authority = &user_data["ignition"]["security"]["tls"]["certificateAuthorities"][0]["source"];
    let authority = text(authority)?;
    let authority = authority.rsplit(',').next().unwrap_or_default();
    let authority = BASE64_STANDARD.decode(authority).map_err(|error| error.to_string())?;
    let authority = CertificateDer::from_pem_slice(&authority).map_err(|error| error.to_string())?;
    let url = text(&merged["source"])?;
    let url = url.parse::<http::Uri>().map_err(|error| error.to_string())?;
    let path = url.path_and_query().map(ToString::to_string).unwrap_or_default();
    let host = url.authority().map(ToString::to_string).unwrap_or_default();
    let server = http::Uri::builder()
        .scheme("https")
        .authority(host)
        .path_and_query("/")
        .build();
    let mut config = Config::new(server.map_err(|error| error.to_string())?);
    config.root_cert = Some(vec![authority.to_vec()]);
    let client = Client::try_from(config).map_err(|error| error.to_string())?;
    let mut request = http::Request::get(path);
    for (name, value) in &headers {
        request = request.header(name, value);
    }
    let request = request.body(Vec::new()).map_err(|error| error.to_string())?;
    client.request_text(request).await.map_err(|error| error.to_string())
}
