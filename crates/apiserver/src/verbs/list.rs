//! GET of many: everything, or page by page from the state at the first page.

use std::sync::Arc;

use hyperplane_store::{AtError, Entry, Revision, Snapshot};
use hyperplane_wire::{
    Failure,
    continue_token::ContinueToken,
    options::{ListOptions, ResourceVersionMatch},
};

use crate::{call::Call, core::Core, object::Object, selection::Selection};

/// One page of a list.
#[derive(Debug)]
pub(crate) struct Page {
    /// The objects, in order of namespace and name.
    pub items: Vec<Arc<Entry<Object>>>,
    /// The state from which they are.
    pub revision: Revision,
    /// Where the next page begins, if there is one.
    pub continue_token: Option<String>,
    /// How many objects follow, if that is known.
    pub remaining: Option<usize>,
}

/// Where a page begins and of which state it is.
struct Start {
    snapshot: Snapshot<Object>,
    after: Option<(String, String)>,
}

impl Core {
    /// Lists objects.
    pub(crate) async fn list(&self, call: &Call, options: &ListOptions) -> Result<Page, Failure> {
        let selection = Selection::new(
            &call.served,
            &call.namespace,
            options.label_selector.clone(),
            options.field_selector.clone(),
        )?;
        let start = self.start(options, &selection).await?;
        // A client that takes any age takes everything at once: upstream answers it from a cache that has no pages.
        let limit = options.limit.filter(|_| options.resource_version != "0");
        let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let page = page(&call.served.resource.collection, &selection, &start, limit);
        if page.continue_token.is_some() {
            self.store.pin(&start.snapshot);
        }
        Ok(page)
    }

    async fn start(&self, options: &ListOptions, selection: &Selection) -> Result<Start, Failure> {
        if !options.continue_token.is_empty() {
            return self.resume(options, selection);
        }
        let revision = Revision(options.revision()?.unwrap_or_default());
        self.reach(revision).await?;
        let is_exact = options.resource_version_match == Some(ResourceVersionMatch::Exact);
        let snapshot = if is_exact {
            self.at(revision)?
        } else {
            self.store.snapshot()
        };
        Ok(Start { snapshot, after: None })
    }

    fn resume(&self, options: &ListOptions, selection: &Selection) -> Result<Start, Failure> {
        let token = ContinueToken::decode(&options.continue_token)?;
        if !matches!(options.resource_version.as_str(), "" | "0") {
            return Err(Failure::bad_request(
                "specifying resource version is not allowed when using continue",
            ));
        }
        let after = Some(position(&token.start_key, selection));
        let Ok(revision) = u64::try_from(token.revision) else {
            let snapshot = self.store.snapshot();
            return Ok(Start { snapshot, after });
        };
        match self.store.at(Revision(revision)) {
            Ok(snapshot) => Ok(Start { snapshot, after }),
            Err(_) => Err(expired(token)),
        }
    }

    fn at(&self, revision: Revision) -> Result<Snapshot<Object>, Failure> {
        self.store.at(revision).map_err(|error| match error {
            AtError::TooOld { oldest } => Failure::expired(format!(
                "The resourceVersion for the provided list is too old: {revision} ({oldest})"
            )),
            AtError::Future { current } => Failure::resource_version_too_large(revision.0, current.0, 1),
        })
    }
}

fn page(collection: &str, selection: &Selection, start: &Start, limit: usize) -> Page {
    let namespace = Some(selection.namespace.as_str()).filter(|namespace| !namespace.is_empty());
    let after = start
        .after
        .as_ref()
        .map(|(namespace, name)| (namespace.as_str(), name.as_str()));
    let mut rest = start
        .snapshot
        .range(collection, namespace, after)
        .filter(|entry| selection.holds(entry));
    let items: Vec<Arc<Entry<Object>>> = rest.by_ref().take(limit).map(Arc::clone).collect();
    let has_more = items.len() == limit && rest.next().is_some();
    let revision = start.snapshot.revision();
    let continue_token = items.last().filter(|_| has_more).map(|last| {
        let revision = i64::try_from(revision.0).unwrap_or(i64::MAX);
        ContinueToken::after(&key_text(last, selection), revision).encode()
    });
    // The one that told us that there is more is counted too.
    let remaining = (has_more && selection.is_everything()).then(|| rest.count() + 1);
    Page {
        items,
        revision,
        continue_token,
        remaining,
    }
}

/// The key of an object as a token has it: relative to what is listed.
fn key_text(entry: &Entry<Object>, selection: &Selection) -> String {
    if entry.key.namespace.is_empty() || !selection.namespace.is_empty() {
        entry.key.name.to_string()
    } else {
        format!("{}/{}", entry.key.namespace, entry.key.name)
    }
}

/// Where a token says that the list goes on.
fn position(key: &str, selection: &Selection) -> (String, String) {
    let key = key.trim_end_matches('\0');
    match key.split_once('/') {
        Some((namespace, name)) => (namespace.to_owned(), name.to_owned()),
        None => (selection.namespace.clone(), key.to_owned()),
    }
}

/// The error of a list whose first page is too long ago, with a token that goes on from the present state.
fn expired(token: ContinueToken) -> Failure {
    let fresh = ContinueToken { revision: -1, ..token };
    Failure::expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a new list without \
         the continue parameter, or use the continue token in this response to retrieve the remainder of the results. \
         Continuing with the provided token results in an inconsistent list - objects that were created, modified, or \
         deleted between the time the first chunk was returned and now may show up in the list.",
    )
    .with_continue(fresh.encode())
}
