//! The files and addresses of one control plane, and the making of its certificates and kubeconfigs. It starts nothing.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    addresses::Addresses,
    certificates::{self, Authority, Identity},
    error::Error,
};

/// Where everything of one control plane is.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) root: PathBuf,
    pub(crate) addresses: Addresses,
}

/// The client identities that the servers and the administrator have, as (file, user, groups).
const CLIENTS: [(&str, &str, &[&str]); 3] = [
    (ADMIN, "hyperplane-testbed", &["system:masters"]),
    (CONTROLLER_MANAGER, "system:kube-controller-manager", &[]),
    (SCHEDULER, "system:kube-scheduler", &[]),
];

pub(crate) const ADMIN: &str = "admin";
pub(crate) const CONTROLLER_MANAGER: &str = "controller-manager";
pub(crate) const SCHEDULER: &str = "scheduler";

impl Layout {
    /// Makes the directories, certificates and kubeconfigs, and gives back the two authorities.
    pub(crate) fn create(&self) -> Result<Authorities, Error> {
        for directory in [self.certificates(), self.logs()] {
            fs::create_dir_all(&directory).map_err(Error::at(format!("making {}", directory.display())))?;
        }
        let authorities = Authorities {
            cluster: Authority::create("kubernetes", &self.identity("ca"))?,
            etcd: Authority::create("etcd", &self.identity("etcd-ca"))?,
        };
        let host = *self.addresses.api_server.ip();
        authorities.etcd.sign_server("etcd", host, &self.identity("etcd"))?;
        authorities
            .etcd
            .sign_client("kube-apiserver", &[], &self.identity("etcd-client"))?;
        authorities
            .cluster
            .sign_server("kube-apiserver", host, &self.identity("serving"))?;
        certificates::create_key_pair(&self.identity("service-accounts"))?;
        for (name, user, groups) in CLIENTS {
            authorities.cluster.sign_client(user, groups, &self.identity(name))?;
            self.write_kubeconfig(name)?;
        }
        Ok(authorities)
    }

    /// Writes the kubeconfig of an identity and gives back its place.
    pub(crate) fn write_kubeconfig(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.kubeconfig(name);
        let text = kubeconfig(&self.server_url(), &self.identity("ca"), &self.identity(name));
        fs::write(&path, text).map_err(Error::at(format!("writing {}", path.display())))?;
        Ok(path)
    }

    pub(crate) fn identity(&self, name: &str) -> Identity {
        Identity::in_directory(&self.certificates(), name)
    }

    pub(crate) fn kubeconfig(&self, name: &str) -> PathBuf {
        self.root.join(format!("{name}.kubeconfig"))
    }

    pub(crate) fn log(&self, server: &str) -> PathBuf {
        self.logs().join(format!("{server}.log"))
    }

    pub(crate) fn etcd_data(&self) -> PathBuf {
        self.root.join("etcd")
    }

    pub(crate) fn server_url(&self) -> String {
        format!("https://{}", self.addresses.api_server)
    }

    /// Removes all but the logs, which a reader needs when a start failed.
    pub(crate) fn remove_all_but_logs(&self) {
        for directory in [self.certificates(), self.etcd_data()] {
            // A directory that is not there needs no removal, and a failed start has its own error to tell.
            drop(fs::remove_dir_all(directory));
        }
    }

    fn certificates(&self) -> PathBuf {
        self.root.join("certificates")
    }

    fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }
}

/// Who signs. The store has an authority of its own, so that no user of the cluster can call it.
pub(crate) struct Authorities {
    pub(crate) cluster: Authority,
    pub(crate) etcd: Authority,
}

/// A kubeconfig that refers to certificates by path.
pub(crate) fn kubeconfig(server: &str, authority: &Identity, client: &Identity) -> String {
    let quoted = |path: &Path| format!("{:?}", path.display().to_string());
    format!(
        "apiVersion: v1\n\
         kind: Config\n\
         clusters:\n\
         - name: testbed\n  cluster:\n    server: {server}\n    certificate-authority: {}\n\
         users:\n\
         - name: testbed\n  user:\n    client-certificate: {}\n    client-key: {}\n\
         contexts:\n\
         - name: testbed\n  context:\n    cluster: testbed\n    user: testbed\n\
         current-context: testbed\n",
        quoted(&authority.certificate),
        quoted(&client.certificate),
        quoted(&client.key),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kubeconfig_names_server_authority_and_client() {
        let at = |name| Identity::in_directory(Path::new("/dir with space"), name);
        let text = kubeconfig("https://127.0.0.1:1", &at("ca"), &at("me"));
        let parsed = kube::config::Kubeconfig::from_yaml(&text).unwrap();
        let cluster = parsed.clusters[0].cluster.clone().unwrap();
        let user = parsed.auth_infos[0].auth_info.clone().unwrap();
        assert_eq!(cluster.server.as_deref(), Some("https://127.0.0.1:1"));
        assert_eq!(cluster.certificate_authority.as_deref(), Some("/dir with space/ca.crt"));
        assert_eq!(user.client_key.as_deref(), Some("/dir with space/me.key"));
        assert_eq!(parsed.current_context.as_deref(), Some("testbed"));
    }
}
