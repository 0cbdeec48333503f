//! A user's workload in a hosted cluster: a Service found by its name, and everything that goes through the tunnel from the
//! API server to the node.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    process::{Child, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{ground::Ground, hosted::Hosted};

/// How long pods may take to run, and a Service to lead to them.
const LIMIT: Duration = Duration::from_mins(2);

/// What it is called, and so its Service.
const NAME: &str = "web";

/// Where its pods listen.
const PORT: u16 = 8080;

/// Where its port is forwarded to: nobody else listens in the network of the test.
const FORWARDED: u16 = 18080;

/// Runs a workload, and does with it what users do.
pub fn works(ground: &Ground, hosted: &Hosted) {
    let objects = ground.cluster.directory().join("workload.json");
    std::fs::write(&objects, objects_of().to_string()).unwrap();
    hosted
        .kubectl(&["apply", "-f", &objects.display().to_string()])
        .unwrap();
    ground.until("its pods run", LIMIT, || {
        let deployment = hosted.json(&["get", "deployment", NAME])?;
        let available = &deployment["status"]["availableReplicas"];
        (*available == 2)
            .then_some(())
            .ok_or_else(|| deployment["status"].to_string())
    });
    let target = format!("deployment/{NAME}");
    let url = format!("http://{NAME}.default.svc.cluster.local/hello");
    let get = ["exec", &target, "--", "/usr/bin/workload", "get", &url];
    let (answer, _) = ground.until("a Service is found by its name (exec)", LIMIT, || hosted.kubectl(&get));
    assert!(answer.starts_with(NAME) && answer.ends_with(" /hello\n"), "{answer}");
    let selector = format!("--selector=app={NAME}");
    let (logs, _) = ground.until("its logs are read", LIMIT, || {
        let logs = hosted.kubectl(&["logs", &selector, "--tail=-1", "--prefix"])?;
        if logs.contains("GET /hello") {
            Ok(logs)
        } else {
            Err(logs)
        }
    });
    assert!(logs.contains("serving on"), "{logs}");
    let forward = ["port-forward", &target, &format!("{FORWARDED}:{PORT}")].map(str::to_owned);
    let forward: Vec<&str> = forward.iter().map(String::as_str).collect();
    let _forwarding = Forwarding(
        ground
            .kubectl_command(&hosted.kubeconfig, &forward)
            .stdout(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let (answer, _) = ground.until("its port is forwarded", LIMIT, get_forwarded);
    assert!(answer.contains(" /forwarded"), "{answer}");
}

fn get_forwarded() -> Result<String, String> {
    let fail = |error: std::io::Error| error.to_string();
    let mut stream = TcpStream::connect(("127.0.0.1", FORWARDED)).map_err(fail)?;
    stream.set_read_timeout(Some(LIMIT)).map_err(fail)?;
    stream
        .write_all(b"GET /forwarded HTTP/1.0\r\nHost: web\r\n\r\n")
        .map_err(fail)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(fail)?;
    if answer.contains("200 OK") {
        Ok(answer)
    } else {
        Err(answer)
    }
}

/// A kubectl that forwards a port until it is dropped.
struct Forwarding(Child);

impl Drop for Forwarding {
    fn drop(&mut self) {
        // It may have ended before.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn objects_of() -> Value {
    let labels = json!({"app": NAME});
    json!({"apiVersion": "v1", "kind": "List", "items": [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": NAME, "namespace": "default"},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {
                        "terminationGracePeriodSeconds": 1,
                        "containers": [{
                            "name": NAME,
                            "image": hyperplane_testbed::image::cluster::WORKLOAD,
                            "imagePullPolicy": "IfNotPresent",
                            "command": ["/usr/bin/workload", "serve", format!(":{PORT}")],
                            "readinessProbe": {"httpGet": {"path": "/ready", "port": PORT}, "periodSeconds": 1},
                        }],
                    },
                },
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": NAME, "namespace": "default"},
            "spec": {"selector": labels, "ports": [{"port": 80, "targetPort": PORT}]},
        },
    ]})
}
