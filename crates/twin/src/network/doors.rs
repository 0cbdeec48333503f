//! Ports of pods on which programs of this process listen in memory. Owns who listens where; who is led there is the
//! Services' business, and what is said the program's.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use hyperplane_runtime::ObjectKey;
use tokio::sync::mpsc;

use super::hello::Stream;

/// Connections that wait for a program to take them; further ones wait with whoever brings them.
const WAITING: usize = 128;

/// A connection that a program was given.
pub struct Connection {
    /// Both directions of it.
    pub io: Box<dyn Stream>,
    /// From where it seems to come.
    pub remote: SocketAddr,
}

/// Hands out the connections to one port of one pod.
pub struct Listener(mpsc::Receiver<Connection>);

impl Listener {
    /// The next connection; none once the port was given to somebody else.
    pub async fn accept(&mut self) -> Option<Connection> {
        self.0.recv().await
    }
}

/// Who listens where.
#[derive(Clone, Default)]
pub(super) struct Doors(Arc<Mutex<Open>>);

/// Where the connections to a port of a pod go.
type Open = BTreeMap<(ObjectKey, u16), mpsc::Sender<Connection>>;

impl Doors {
    /// Takes a port. Whoever had it before gets no more connections.
    pub(super) fn open(&self, pod: ObjectKey, port: u16) -> Listener {
        let (sender, receiver) = mpsc::channel(WAITING);
        let mut doors = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Those whose programs have ended would stay for ever: pods do not come back under their names.
        doors.retain(|_, door| !door.is_closed());
        doors.insert((pod, port), sender);
        Listener(receiver)
    }

    /// Who listens on a port of a pod, if somebody still does.
    pub(super) fn find(&self, pod: &ObjectKey, port: u16) -> Option<mpsc::Sender<Connection>> {
        let doors = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let door = doors.get(&(pod.clone(), port))?;
        (!door.is_closed()).then(|| door.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_port_is_open_as_long_as_somebody_listens() {
        let (doors, pod) = (Doors::default(), ObjectKey::namespaced("n", "a"));
        assert!(doors.find(&pod, 80).is_none());
        let mut first = doors.open(pod.clone(), 80);
        assert!(doors.find(&pod, 80).is_some() && doors.find(&pod, 81).is_none());
        let second = doors.open(pod.clone(), 80);
        assert!(first.accept().await.is_none(), "the port is somebody else's");
        drop(second);
        assert!(doors.find(&pod, 80).is_none());
    }
}
