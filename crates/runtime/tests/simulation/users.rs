//! People: by seed they create, edit, break and delete things, behind the controller's back.

use hyperplane_runtime::Random;
use serde_json::{Value, json};

use crate::{server::Server, state::Id, widget::FINALIZER};

const NAMESPACES: [&str; 2] = ["a", "b"];
const COLORS: [&str; 8] = ["red", "green", "blue", "white", "retry", "panic", "invalid", "hang"];
/// The colours that can be painted.
const GOOD_COLORS: u64 = 4;

pub struct Users {
    pub random: Random,
    pub widgets: u64,
}

impl Users {
    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        let index = self.random.below(choices.len() as u64);
        choices[usize::try_from(index).unwrap_or(0)]
    }

    fn widget(&mut self) -> Id {
        let number = self.random.below(self.widgets);
        let namespace = NAMESPACES[usize::try_from(number % 2).unwrap_or(0)];
        ("widgets".to_owned(), namespace.to_owned(), format!("w{number}"))
    }

    fn spec(&mut self) -> Value {
        // Most colours are good ones.
        let reach = if self.random.below(6) == 0 {
            COLORS.len() as u64
        } else {
            GOOD_COLORS
        };
        let color = COLORS[usize::try_from(self.random.below(reach)).unwrap_or(0)];
        let mut spec = json!({"children": self.random.below(4), "color": color});
        if self.random.below(2) == 0 {
            spec["palette"] = format!("p{}", self.random.below(2)).into();
        }
        spec
    }

    /// Everything that must exist before the controller starts.
    pub fn settle(&mut self, server: &Server) {
        for namespace in NAMESPACES {
            for number in 0..2 {
                let id = ("secrets".to_owned(), namespace.to_owned(), format!("p{number}"));
                let secret =
                    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {}, "stringData": {"tone": "dark"}});
                server
                    .act("create", &id, |state| state.create(&id, secret))
                    .expect("the name is free");
            }
        }
        for _ in 0..self.widgets {
            self.upsert(server);
        }
    }

    /// One disturbance.
    pub fn disturb(&mut self, server: &Server) {
        match self.random.below(10) {
            0 | 1 => self.delete(server),
            2 => self.retone(server),
            3 | 4 => self.tamper(server),
            5 => self.malform(server),
            6 => server.act("compact", &blank(), crate::state::State::compact),
            _ => self.upsert(server),
        }
    }

    fn upsert(&mut self, server: &Server) {
        let (id, spec) = (self.widget(), self.spec());
        let object = json!({"apiVersion": "example.test/v1", "kind": "Widget", "metadata": {}, "spec": spec.clone()});
        server.act("upsert", &id, |state| {
            if state.create(&id, object).is_err() {
                state.edit(&id, |live| live["spec"] = spec).expect("it exists");
            }
        });
    }

    fn delete(&mut self, server: &Server) {
        let id = self.widget();
        server.act("delete", &id, |state| {
            drop(state.delete(&id, &Value::Null, "2026-01-01T00:00:00Z"));
        });
    }

    fn retone(&mut self, server: &Server) {
        let (namespace, tone) = (self.pick(&NAMESPACES), self.pick(&["dark", "light", "pale"]));
        let id = (
            "secrets".to_owned(),
            namespace.to_owned(),
            format!("p{}", self.random.below(2)),
        );
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {}, "stringData": {"tone": tone}});
        let is_removed = self.random.below(4) == 0;
        server.act("retone", &id, |state| {
            if is_removed {
                drop(state.delete(&id, &Value::Null, ""));
            } else if state.create(&id, secret).is_err() {
                state
                    .edit(&id, |live| live["stringData"]["tone"] = tone.into())
                    .expect("it exists");
            }
        });
    }

    /// Changes or deletes a child, or takes its label away.
    fn tamper(&mut self, server: &Server) {
        let children: Vec<Id> = {
            let inner = server.lock();
            inner
                .state
                .objects
                .keys()
                .filter(|id| id.0 == "configmaps")
                .cloned()
                .collect()
        };
        if children.is_empty() {
            return;
        }
        let index = self.random.below(children.len() as u64);
        let id = &children[usize::try_from(index).unwrap_or(0)];
        let choice = self.random.below(3);
        server.act("tamper", id, |state| match choice {
            0 => drop(state.delete(id, &Value::Null, "")),
            1 => drop(state.edit(id, |live| live["data"]["paint"] = "graffiti".into())),
            _ => drop(state.edit(id, |live| live["metadata"]["labels"] = json!({}))),
        });
    }

    /// Stores a widget that does not fit its type, as a restore or an older schema can.
    fn malform(&mut self, server: &Server) {
        let id = self.widget();
        server.act("malform", &id, |state| {
            drop(state.edit(&id, |live| live["spec"] = "garbage".into()));
        });
    }

    /// Repairs everything that cannot be reconciled, so that the world can come to rest.
    pub fn repair(server: &Server) {
        for namespace in NAMESPACES {
            for number in 0..2 {
                let id = ("secrets".to_owned(), namespace.to_owned(), format!("p{number}"));
                let secret =
                    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {}, "stringData": {"tone": "last"}});
                server.act("repair", &id, |state| drop(state.create(&id, secret)));
            }
        }
        let widgets: Vec<(Id, Value)> = {
            let inner = server.lock();
            let all = inner.state.objects.iter().filter(|(id, _)| id.0 == "widgets");
            all.map(|(id, object)| (id.clone(), object.clone())).collect()
        };
        for (id, object) in widgets {
            let color = object["spec"]["color"].as_str().unwrap_or("garbage");
            if !COLORS[..usize::try_from(GOOD_COLORS).unwrap_or(0)].contains(&color) {
                let spec = json!({"children": 1, "color": "red"});
                server.act("repair", &id, |state| drop(state.edit(&id, |live| live["spec"] = spec)));
            }
        }
    }
}

fn blank() -> Id {
    (String::new(), String::new(), String::new())
}

/// Whether a widget is guarded by the controller's finalizer.
pub fn is_guarded(widget: &Value) -> bool {
    widget["metadata"]["finalizers"]
        .as_array()
        .is_some_and(|all| all.iter().any(|found| found == FINALIZER))
}
