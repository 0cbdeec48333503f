//! Writes that rest on what was read: refused where somebody has written the object since, and made up for later.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hyperplane_runtime::{Applied, Context, Failure, Manager, Next, Reconciler, Settings, Watch};
use serde_json::{Value, json};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::{
    server::Server,
    widget::Widget,
    world::{World, id, simulate, spec},
};

/// What one run was answered: whether the status was carried, and whether the widget was deleted.
type Answers = Arc<Mutex<Vec<(bool, bool)>>>;

fn lock(answers: &Answers) -> MutexGuard<'_, Vec<(bool, bool)>> {
    answers.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Carries the status of a widget and deletes it. Somebody paints it blue while the first run is under way.
struct Careful {
    server: Server,
    answers: Answers,
}

impl Reconciler for Careful {
    type Object = Widget;

    async fn reconcile(&self, context: &Context, widget: Arc<Widget>) -> Result<Next, Failure> {
        let id = id("widgets", "w");
        if lock(&self.answers).is_empty() {
            let paint = |live: &mut Value| live["spec"]["color"] = "blue".into();
            let painted = self.server.act("edit", &id, |state| state.edit(&id, paint));
            painted.map_err(|refusal| Failure::retry(format!("{refusal:?}")))?;
        }
        let carried = context.carry_status(widget.as_ref(), &json!({"children": 7})).await;
        // The status is a write as well, so that the deletion has to rest on what it answered.
        let latest = match &carried {
            Ok(Applied::Written(written)) => written.as_ref(),
            _ => widget.as_ref(),
        };
        let deleted = context.delete_unchanged(latest).await?;
        lock(&self.answers).push((carried.is_ok(), deleted));
        carried.map(|_| Next::OnChange)
    }
}

#[test]
fn what_was_written_since_it_was_read_is_neither_overwritten_nor_deleted() {
    simulate(async || {
        let world = World::new(11, 1);
        world.put("w", &spec(1, "red"));
        let answers = Answers::default();
        let careful = Careful {
            server: world.server.clone(),
            answers: answers.clone(),
        };
        let settings = Settings::new("simulation", "one", world.server.0.clock.clone(), 11);
        let mut manager = Manager::new(world.server.client("one"), settings);
        manager
            .controller("careful", Watch::<Widget>::all(), careful)
            .register();
        let task = tokio::spawn(manager.run(CancellationToken::new()));
        sleep(Duration::from_mins(1)).await;
        assert_eq!(*lock(&answers), [(false, false), (true, true)]);
        assert!(world.get("widgets", "w").is_null(), "the second run saw the last word");
        task.abort();
    });
}
