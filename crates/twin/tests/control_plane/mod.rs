//! A control plane small enough to be read at once: etcd, two API servers and a controller manager, with certificates
//! of its own.

use jiff::{SignedDuration, Timestamp};
use rcgen::{BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, SanType};
use serde_json::{Value, json};

/// The namespace.
pub const NAMESPACE: &str = "clusters-a";
/// Where operators reach its API server.
pub const INTERNAL: &str = "https://kube-apiserver.clusters-a.svc:6443";
/// A host name with a certificate of its own.
pub const NAMED: &str = "api.a.example";

/// A certificate and its key.
pub struct Leaf {
    pub certificate: String,
    pub key: String,
}

/// What signs everything.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub certificate: String,
    pub key: String,
    now: Timestamp,
}

impl Authority {
    pub fn new(now: Timestamp, name: &str) -> Self {
        let mut params = parameters(now, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap().pem();
        let text = key.serialize_pem();
        Self {
            issuer: Issuer::new(params, key),
            certificate,
            key: text,
            now,
        }
    }

    /// A certificate for names and addresses.
    pub fn serving(&self, names: &[&str]) -> Leaf {
        let mut params = parameters(self.now, "kube-apiserver");
        params.subject_alt_names = names
            .iter()
            .map(|name| match name.parse() {
                Ok(address) => SanType::IpAddress(address),
                Err(_) => SanType::DnsName((*name).try_into().unwrap()),
            })
            .collect();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.sign(&params)
    }

    /// A certificate of a user who may do everything.
    pub fn administrator(&self) -> Leaf {
        self.client("administrator", "system:masters")
    }

    /// A certificate of a user of a group.
    pub fn client(&self, name: &str, group: &str) -> Leaf {
        let mut params = parameters(self.now, name);
        params.distinguished_name.push(DnType::OrganizationName, group);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(&params)
    }

    fn sign(&self, params: &CertificateParams) -> Leaf {
        let key = KeyPair::generate().unwrap();
        Leaf {
            certificate: params.signed_by(&key, &self.issuer).unwrap().pem(),
            key: key.serialize_pem(),
        }
    }
}

fn parameters(now: Timestamp, name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    let moment = |days: i64| {
        let at = now.saturating_add(SignedDuration::from_hours(24 * days)).unwrap();
        let date = at.to_zoned(jiff::tz::TimeZone::UTC).date();
        let (month, day) = (date.month().unsigned_abs(), date.day().unsigned_abs());
        rcgen::date_time_ymd(i32::from(date.year()), month, day)
    };
    params.not_before = moment(-1);
    params.not_after = moment(30);
    params
}

/// A kubeconfig for an address.
pub fn kubeconfig(server: &str, root: &str, user: &Leaf) -> String {
    let pair = hyperplane_apiserver::pki::Pair {
        certificate: user.certificate.clone(),
        key: user.key.clone().into(),
    };
    hyperplane_apiserver::pki::kubeconfig(server, root, &pair)
}

/// A Secret of files.
pub fn secret(name: &str, files: &[(&str, &str)]) -> Value {
    let data: serde_json::Map<String, Value> = files
        .iter()
        .map(|(file, text)| ((*file).to_owned(), json!(*text)))
        .collect();
    json!({"metadata": {"name": name, "namespace": NAMESPACE}, "stringData": data})
}

/// All the Secrets, with a serving certificate for these names.
pub fn secrets(root: &Authority, names: &[&str]) -> Vec<Value> {
    let serving = root.serving(names);
    let named = root.serving(&[NAMED]);
    let key = KeyPair::generate().unwrap();
    let operator = kubeconfig(INTERNAL, &root.certificate, &root.administrator());
    vec![
        secret(
            "server",
            &[("tls.crt", &serving.certificate), ("tls.key", &serving.key)],
        ),
        secret("named", &[("tls.crt", &named.certificate), ("tls.key", &named.key)]),
        secret("ca", &[("ca.crt", &root.certificate), ("ca.key", &root.key)]),
        secret(
            "tokens",
            &[("key", &key.serialize_pem()), ("pub", &key.public_key_pem())],
        ),
        secret("kubeconfig", &[("kubeconfig", &operator)]),
    ]
}

fn workload(name: &str, replicas: i32, container: Value, volumes: &[&str]) -> Value {
    let mut container = container;
    let mounts = volumes
        .iter()
        .map(|volume| json!({"name": volume, "mountPath": format!("/{volume}")}));
    container["volumeMounts"] = mounts.collect();
    container["name"] = json!(name);
    let volumes: Value = volumes
        .iter()
        .map(|volume| json!({"name": volume, "secret": {"secretName": volume}}))
        .collect();
    json!({
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [container], "volumes": volumes},
            },
        },
    })
}

/// The StatefulSet of etcd.
pub fn etcd() -> Value {
    let mut set = workload("etcd", 1, json!({"image": "etcd:v3", "command": ["etcd"]}), &[]);
    let mounts = json!([{"name": "data", "mountPath": "/var/lib/data"}]);
    set["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] = mounts;
    set["spec"]["serviceName"] = json!("etcd");
    set["spec"]["volumeClaimTemplates"] = json!([{"metadata": {"name": "data"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]);
    set
}

/// The Deployment of the API server in a version.
pub fn api_server(version: &str) -> Value {
    let container = json!({
        "image": format!("registry.example/kube-apiserver:{version}"), "command": ["kube-apiserver"],
        "args": [
            "--etcd-servers=https://etcd:2379", "--client-ca-file=/ca/ca.crt", "--secure-port=6443",
            "--tls-cert-file=/server/tls.crt", "--tls-private-key-file=/server/tls.key",
            format!("--tls-sni-cert-key=/named/tls.crt,/named/tls.key:{NAMED}"),
            "--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=/tokens/pub",
            "--service-account-signing-key-file=/tokens/key", "--advertise-address=172.20.0.1",
            "--service-cluster-ip-range=172.31.0.0/16",
        ],
    });
    workload("kube-apiserver", 2, container, &["server", "named", "ca", "tokens"])
}

/// The Deployment of the controller manager.
pub fn controller_manager() -> Value {
    let container = json!({
        "image": "registry.example/kube-controller-manager:v1.36.0", "command": ["kube-controller-manager"],
        "args": [
            "--kubeconfig=/kubeconfig/kubeconfig", "--root-ca-file=/ca/ca.crt",
            "--cluster-signing-cert-file=/ca/ca.crt", "--cluster-signing-key-file=/ca/ca.key",
        ],
    });
    workload("kube-controller-manager", 1, container, &["kubeconfig", "ca"])
}

/// A Service in front of an app.
pub fn service(name: &str, kind: &str, port: u16) -> Value {
    json!({"metadata": {"name": name, "namespace": NAMESPACE}, "spec": {
        "type": kind, "selector": {"app": name}, "ports": [{"port": port, "targetPort": port}]}})
}

/// A router that leads to the API server by its name.
pub fn router() -> [Value; 3] {
    let routes = json!({"routes": [{"hostname": NAMED, "backend": "kube-apiserver.clusters-a.svc:6443"}]});
    let config = json!({"kind": "ConfigMap", "metadata": {"name": "router", "namespace": NAMESPACE},
        "data": {"router.yaml": routes.to_string()}});
    let container = json!({"image": "hyperplane:1", "command": ["hyperplane"],
        "args": ["router", "--config=/etc/router/router.yaml", "--listen=[::]:8443"]});
    let mut deployment = workload("router", 1, container, &[]);
    let pod = &mut deployment["spec"]["template"]["spec"];
    pod["volumes"] = json!([{"name": "config", "configMap": {"name": "router"}}]);
    pod["containers"][0]["volumeMounts"] = json!([{"name": "config", "mountPath": "/etc/router"}]);
    let mut service = service("router", "LoadBalancer", 443);
    service["kind"] = json!("Service");
    service["spec"]["ports"][0]["targetPort"] = json!(8443);
    [config, service, deployment]
}
