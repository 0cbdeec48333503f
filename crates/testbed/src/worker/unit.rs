//! Units of systemd as scripts for a shell, as far as payloads use them. What is not known is refused: a host that left out
//! half of a unit would show nothing. Pure.

use super::{
    error::Error,
    files::FORWARDER,
    payload::{Payload, Unit},
};

/// Started by its name alone, since its unit is the machine's.
const CONTAINERD: &str = "containerd.service";

/// What hands connections on, by the last part of its path.
const SOCKET_PROXY: &str = "systemd-socket-proxyd";

/// What runs on, and starts after everything else.
const KUBELET: &str = "kubelet.service";

/// How long a unit waits before it starts again if it does not say.
const RESTART_SECONDS: u32 = 1;

/// Something that a payload starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// The unit.
    pub(super) name: String,
    /// What a shell runs.
    pub(super) script: String,
    /// Whether it runs on.
    pub(super) kind: Kind,
}

/// How long something runs. In the order in which they are started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// To its end, before anything else starts.
    ToItsEnd,
    /// For as long as the host.
    On,
    /// So does the kubelet, which comes last.
    Kubelet,
}

/// What the enabled units of a payload start, in order.
pub(super) fn starts(payload: &Payload) -> Result<Vec<Start>, Error> {
    let enabled = payload
        .units
        .iter()
        .filter(|unit| unit.is_enabled && unit.name != CONTAINERD);
    let mut starts = enabled
        .map(|unit| start(unit, payload))
        .collect::<Result<Vec<_>, _>>()?;
    starts.sort_by_key(|start| start.kind);
    Ok(starts)
}

fn start(unit: &Unit, payload: &Payload) -> Result<Start, Error> {
    let wrong = |problem: String| Error::Payload(format!("{}: {problem}", unit.name));
    let settings = Settings::of(unit).map_err(wrong)?;
    let (script, kind) = if let Some(name) = unit.name.strip_suffix(".socket") {
        let service = format!("{name}.service");
        let service = payload
            .unit(&service)
            .ok_or_else(|| wrong(format!("there is no {service}")))?;
        let target = Settings::of(service).and_then(|it| it.proxy_target()).map_err(wrong)?;
        (settings.forwarding_to(&target).map_err(wrong)?, Kind::On)
    } else {
        settings.service(&unit.name).map_err(wrong)?
    };
    Ok(Start {
        name: unit.name.clone(),
        script,
        kind,
    })
}

/// The settings of a unit, with their section.
struct Settings(Vec<(String, String, String)>);

impl Settings {
    fn of(unit: &Unit) -> Result<Self, String> {
        let text = unit.contents.as_ref().ok_or("the host has no such unit of its own")?;
        let mut section = String::new();
        let mut settings = Vec::new();
        for line in text.replace("\\\n", " ").lines().map(str::trim) {
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                name.clone_into(&mut section);
            } else {
                let (name, value) = line
                    .split_once('=')
                    .ok_or_else(|| format!("`{line}` is not a setting"))?;
                settings.push((section.clone(), name.trim().to_owned(), value.trim().to_owned()));
            }
        }
        Ok(Self(settings))
    }

    fn all<'a>(&'a self, section: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
        let settings = self.0.iter().filter(move |it| it.0 == section && it.1 == name);
        settings.map(|it| it.2.as_str())
    }

    fn last<'a>(&'a self, section: &'a str, name: &'a str) -> Option<&'a str> {
        self.all(section, name).last()
    }

    /// A service as a script.
    fn service(&self, name: &str) -> Result<(String, Kind), String> {
        let mut lines = Vec::new();
        for assignment in self.all("Service", "Environment") {
            let (name, value) = assignment
                .split_once('=')
                .ok_or_else(|| format!("`Environment={assignment}` names no variable"))?;
            lines.push(format!("export {name}={}\n", quoted(value)?));
        }
        for command in self.all("Service", "ExecStartPre") {
            lines.push(format!("{}\n", command_line(command)?));
        }
        // They are read right before the program starts.
        for file in self.all("Service", "EnvironmentFile") {
            lines.push(match file.strip_prefix('-') {
                Some(file) => {
                    let file = quoted(file)?;
                    format!("if [ -e {file} ]; then set -a; . {file}; set +a; fi\n")
                }
                None => format!("set -a; . {}; set +a\n", quoted(file)?),
            });
        }
        let script = lines.concat();
        let command = self.last("Service", "ExecStart").ok_or("it starts nothing")?;
        let command = command_line(command)?;
        if self.last("Service", "Type") == Some("oneshot") {
            return Ok((format!("set -e\n{script}{command}\n"), Kind::ToItsEnd));
        }
        let script = format!("set -e\n{script}exec {command}\n");
        let kind = if name == KUBELET { Kind::Kubelet } else { Kind::On };
        Ok((self.restarting(&script)?, kind))
    }

    /// The script again and again, if the unit says so.
    fn restarting(&self, script: &str) -> Result<String, String> {
        match self.last("Service", "Restart") {
            None | Some("no") => return Ok(script.to_owned()),
            Some("always" | "on-failure") => {}
            Some(other) => return Err(format!("`Restart={other}` is not known here")),
        }
        let seconds = self.last("Service", "RestartSec").map(str::parse);
        let seconds: u32 = seconds
            .unwrap_or(Ok(RESTART_SECONDS))
            .map_err(|error| format!("RestartSec: {error}"))?;
        Ok(format!("while :; do\n(\n{script}) || :\nsleep {seconds}\ndone\n"))
    }

    /// Where a service hands on the connections of its socket.
    fn proxy_target(&self) -> Result<String, String> {
        let command = self.last("Service", "ExecStart").unwrap_or_default();
        let words: Vec<&str> = command.split_whitespace().collect();
        match words.as_slice() {
            [program, .., target] if program.ends_with(&format!("/{SOCKET_PROXY}")) => Ok((*target).to_owned()),
            _ => Err(format!("its service does not start {SOCKET_PROXY}")),
        }
    }

    /// A socket as a script that takes its connections itself.
    fn forwarding_to(&self, target: &str) -> Result<String, String> {
        let listen = self.last("Socket", "ListenStream").ok_or("it listens nowhere")?;
        Ok(format!(
            "exec {FORWARDER} forward {} {}\n",
            quoted(listen)?,
            quoted(target)?
        ))
    }
}

/// A command of a unit as a command of a shell. Words of systemd are not split again when variables are put into them.
fn command_line(command: &str) -> Result<String, String> {
    if !command.starts_with('/') {
        return Err(format!("`{command}` does not begin with the path of a program"));
    }
    let words = command.split_whitespace().map(quoted).collect::<Result<Vec<_>, _>>()?;
    Ok(words.join(" "))
}

/// A word as a shell takes it, with variables in braces.
fn quoted(word: &str) -> Result<String, String> {
    if word.contains(['"', '\'', '\\', '`']) || word.replace("${", "").contains('$') {
        return Err(format!("`{word}` is more than is known here"));
    }
    Ok(format!("\"{word}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(name: &str, contents: &str) -> Unit {
        Unit {
            name: name.to_owned(),
            is_enabled: true,
            contents: Some(contents.to_owned()),
        }
    }

    fn payload(units: Vec<Unit>) -> Payload {
        Payload {
            units,
            ..Payload::default()
        }
    }

    fn problem(contents: &str) -> String {
        let text = starts(&payload(vec![unit("one.service", contents)]))
            .unwrap_err()
            .to_string();
        text.strip_prefix("the payload: one.service: ").unwrap().to_owned()
    }

    const KUBELET_TEXT: &str = "[Unit]\nDescription=Kubernetes kubelet\n\n[Service]\nType=exec\nEnvironment=ID=\n\
        Environment=RESOLVER=/etc/resolv.conf\nEnvironmentFile=-/etc/kubernetes/kubelet.env\n\
        ExecStartPre=/bin/sh /etc/hyperplane/kubelet-environment.sh\nExecStart=/usr/bin/kubelet \\\n  \
        --config=/etc/kubernetes/kubelet.conf \\\n  --provider-id=${ID} \\\n  --v=2\nRestart=always\nRestartSec=10\n\n\
        [Install]\nWantedBy=multi-user.target\n";

    const ADDRESS_TEXT: &str = "[Service]\nType=oneshot\nRemainAfterExit=yes\n\
        ExecStart=/usr/sbin/ip address replace 172.20.0.1/32 dev lo\n";

    #[test]
    fn units_start_in_the_order_in_which_they_need_each_other() {
        let proxy = Unit {
            is_enabled: false,
            ..unit(
                "proxy.service",
                "[Service]\nExecStart=/usr/lib/systemd/systemd-socket-proxyd --connections-max=4096 10.0.0.1:443\n",
            )
        };
        let containerd = Unit {
            contents: None,
            ..unit("containerd.service", "")
        };
        let payload = payload(vec![
            containerd,
            unit("kubelet.service", KUBELET_TEXT),
            proxy,
            unit("proxy.socket", "[Socket]\nListenStream=172.20.0.1:6443\nFreeBind=yes\n"),
            unit("address.service", ADDRESS_TEXT),
        ]);
        let starts = starts(&payload).unwrap();
        let kinds: Vec<_> = starts.iter().map(|start| (start.name.as_str(), start.kind)).collect();
        let expected = [
            ("address.service", Kind::ToItsEnd),
            ("proxy.socket", Kind::On),
            ("kubelet.service", Kind::Kubelet),
        ];
        assert_eq!(kinds, expected);
        assert_eq!(
            starts[0].script,
            "set -e\n\"/usr/sbin/ip\" \"address\" \"replace\" \"172.20.0.1/32\" \"dev\" \"lo\"\n"
        );
        assert_eq!(
            starts[1].script,
            "exec /usr/bin/hyperplane-testbed-forwarder forward \"172.20.0.1:6443\" \"10.0.0.1:443\"\n"
        );
    }

    #[test]
    fn a_service_reads_its_variables_after_its_preparation() {
        let starts = starts(&payload(vec![unit("kubelet.service", KUBELET_TEXT)])).unwrap();
        let expected = "while :; do\n(\nset -e\nexport ID=\"\"\nexport RESOLVER=\"/etc/resolv.conf\"\n\
            \"/bin/sh\" \"/etc/hyperplane/kubelet-environment.sh\"\n\
            if [ -e \"/etc/kubernetes/kubelet.env\" ]; then set -a; . \"/etc/kubernetes/kubelet.env\"; set +a; fi\n\
            exec \"/usr/bin/kubelet\" \"--config=/etc/kubernetes/kubelet.conf\" \"--provider-id=${ID}\" \"--v=2\"\n\
            ) || :\nsleep 10\ndone\n";
        assert_eq!(starts[0].script, expected);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        assert_eq!(problem("[Service]\nType=oneshot\n"), "it starts nothing");
        assert_eq!(
            problem("[Service]\nExecStart=-/bin/true\n"),
            "`-/bin/true` does not begin with the path of a program"
        );
        assert_eq!(
            problem("[Service]\nExecStart=/bin/echo $A\n"),
            "`$A` is more than is known here"
        );
        assert_eq!(
            problem("[Service]\nExecStart=/bin/true\nRestart=on-abort\n"),
            "`Restart=on-abort` is not known here"
        );
        let own = Unit {
            contents: None,
            ..unit("docker.service", "")
        };
        let refused = starts(&payload(vec![own])).unwrap_err().to_string();
        assert_eq!(
            refused,
            "the payload: docker.service: the host has no such unit of its own"
        );
    }
}
