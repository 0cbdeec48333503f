//! Describing a controller: its kind, what else concerns it, its bounds. Owns the wiring from watches to the queue;
//! after registration only the runner is left.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use hyperplane_objects::{Kind, KindNames};

use crate::{
    context::Context,
    events::Recorder,
    finalizer::drive,
    inbox::Inbox,
    manager::{Manager, Only},
    object_key::ObjectKey,
    reconciler::{Next, Reconciler},
    runner::{CONCURRENCY, DEADLINE, Prepare, Prepared, RESYNC, Runner},
    store::{SharedStore, Store},
    trigger::{self, Mapper},
    watch::Watch,
};

/// A controller that is being described. Nothing happens before [`ControllerBuilder::register`].
#[must_use = "a controller runs only after register()"]
pub struct ControllerBuilder<'m, R: Reconciler> {
    manager: &'m mut Manager,
    reconciler: Arc<R>,
    store: Store<R::Object>,
    inbox: Arc<Inbox>,
    needs: Vec<SharedStore>,
    concurrency: usize,
    deadline: Duration,
    resync: Duration,
    wants_status: bool,
}

impl<'m, R: Reconciler> ControllerBuilder<'m, R> {
    pub(crate) fn new(manager: &'m mut Manager, name: &str, watch: Watch<R::Object>, reconciler: R) -> Self {
        let store = manager.store(watch);
        let inbox = manager.new_inbox(name);
        Self {
            needs: vec![store.shared().clone()],
            manager,
            reconciler: Arc::new(reconciler),
            store,
            inbox,
            concurrency: CONCURRENCY,
            deadline: DEADLINE,
            resync: RESYNC,
            wants_status: false,
        }
    }

    /// Runs on changes of the object's status, too: for controllers that read what others report there.
    pub const fn on_status(mut self) -> Self {
        self.wants_status = true;
        self
    }

    /// Objects whose controller reference names ours. Their every change triggers the owner.
    pub fn owns<S: Kind>(self, watch: Watch<S>) -> Self {
        let names = KindNames::of::<R::Object>();
        let map = trigger::by_owner_reference(self.store.shared().clone(), &names);
        self.watch(watch, map)
    }

    /// Objects that name ours in an annotation, as `namespace/name`: for owners in another namespace.
    pub fn owns_by_annotation<S: Kind>(self, watch: Watch<S>, annotation: &'static str) -> Self {
        self.watch(watch, trigger::by_annotation(annotation))
    }

    /// Objects that concern ours in a way that the object itself tells. The function must be cheap.
    pub fn watches<S: Kind>(
        self,
        watch: Watch<S>,
        map: impl Fn(&S) -> BTreeSet<ObjectKey> + Send + Sync + 'static,
    ) -> Self {
        self.watch(watch, trigger::by_function(map))
    }

    /// Objects that ours refer to. `refers_to` names, for one of ours, what it refers to, and is kept as an index
    /// under the name `index`; `is` names the related object in the same terms.
    pub fn watches_referenced<S: Kind>(
        self,
        watch: Watch<S>,
        index: &'static str,
        refers_to: impl Fn(&R::Object) -> Vec<String> + Send + Sync + 'static,
        is: impl Fn(&S) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.store.add_index(index, refers_to);
        let map = trigger::by_index(self.store.shared().clone(), index, is);
        self.watch(watch, map)
    }

    /// Waits for the first list of this store before the first run, because the reconciler reads it.
    pub fn reads<S: Kind>(mut self, store: &Store<S>) -> Self {
        self.needs.push(store.shared().clone());
        self
    }

    /// Runs under way at a time, instead of [`CONCURRENCY`].
    pub const fn concurrency(mut self, concurrency: usize) -> Self {
        self.concurrency = if concurrency == 0 { 1 } else { concurrency };
        self
    }

    /// The longest a run may take, instead of [`DEADLINE`].
    pub const fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// How often every object is looked at without a change, instead of [`RESYNC`].
    pub const fn resync(mut self, resync: Duration) -> Self {
        self.resync = resync;
        self
    }

    /// Hands the controller to the manager; the store of its objects comes back, for others to read.
    pub fn register(self) -> Store<R::Object> {
        let (inbox, wants_status) = (self.inbox.clone(), self.wants_status);
        self.store
            .shared()
            .subscribe(Arc::new(move |changes| inbox.take(changes, wants_status)));
        let context = self.manager.context(&self.inbox.name);
        let recorder: Recorder = self.manager.recorder();
        let runner = Runner {
            prepare: prepare(self.store.clone(), self.reconciler, context, self.manager.only()),
            synced: self.needs.iter().map(SharedStore::synced).collect(),
            fence: self.manager.fence(),
            random: self.manager.random(&format!("resync/{}", self.inbox.name)),
            drain: self.manager.drain(),
            inbox: self.inbox,
            recorder,
            concurrency: self.concurrency,
            deadline: self.deadline,
            resync: self.resync,
        };
        self.manager.add_runner(runner);
        self.store
    }

    fn watch<S: Kind>(mut self, watch: Watch<S>, map: Mapper) -> Self {
        let store = self.manager.store(watch);
        self.needs.push(store.shared().clone());
        relate(store.shared(), self.inbox.clone(), map, R::SWEEPS);
        self
    }
}

/// Has a controller run for what each change of a store concerns.
fn relate(store: &SharedStore, inbox: Arc<Inbox>, map: Mapper, sweeps: bool) {
    store.subscribe(Arc::new(move |changes| {
        inbox.take_related(trigger::concerned(changes, &map, sweeps));
    }));
}

fn prepare<R: Reconciler>(
    store: Store<R::Object>,
    reconciler: Arc<R>,
    context: Context,
    only: Option<Only>,
) -> Prepare {
    Arc::new(move |key| {
        let reconciler = reconciler.clone();
        match store.get(key) {
            Some(object) if only.as_ref().is_some_and(|only| !reconciler.is_for(only, &object)) => None,
            Some(object) => {
                let context = context.about(object.as_ref());
                Some(Prepared {
                    about: context.object_reference(),
                    is_sweep: false,
                    is_unconfirmed: context.unconfirmed(),
                    gap: reconciler.gap(&object),
                    work: Box::pin(async move { drive(reconciler.as_ref(), &context, object).await }),
                })
            }
            None if R::SWEEPS => {
                let (context, key) = (context.about_missing::<R::Object>(key), key.clone());
                Some(Prepared {
                    about: context.object_reference(),
                    is_sweep: true,
                    is_unconfirmed: context.unconfirmed(),
                    gap: Duration::ZERO,
                    work: Box::pin(async move { reconciler.sweep(&context, &key).await.map(|()| Next::OnChange) }),
                })
            }
            None => None,
        }
    })
}
