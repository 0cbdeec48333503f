//! Which objects a list or a watch is about: the namespace and both selectors, over stored objects.

use std::{borrow::Cow, sync::Arc};

use hyperplane_kinds::Resource;
use hyperplane_store::Entry;
use hyperplane_wire::{
    Failure,
    selector::{FieldSelector, Selector},
};

use crate::{object::Object, raw, registry::Served};

/// What is selected.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    /// The namespace; empty for all.
    pub namespace: String,
    labels: Selector,
    fields: FieldSelector,
    resource: Arc<Resource>,
}

impl Selection {
    /// A selection, unless it names a field that cannot be selected by.
    pub(crate) fn new(
        served: &Served,
        namespace: &str,
        labels: Selector,
        fields: FieldSelector,
    ) -> Result<Self, Failure> {
        let resource = &served.resource;
        fields.check(resource, served.origin())?;
        let namespace = match fields.requires("metadata.namespace") {
            Some(required) if namespace.is_empty() && resource.is_namespaced() => required,
            _ => namespace,
        };
        Ok(Self {
            namespace: namespace.to_owned(),
            labels,
            resource: Arc::clone(resource),
            fields,
        })
    }

    /// Whether everything in the namespace is selected.
    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Whether an object is selected.
    pub(crate) fn holds(&self, entry: &Entry<Object>) -> bool {
        (self.namespace.is_empty() || *entry.key.namespace == *self.namespace)
            && self.labels.matches_with(|key| entry.payload.facts().label(key))
            && self.fields.matches_with(|field| self.field(entry, field))
    }

    fn field<'a>(&self, entry: &'a Entry<Object>, field: &str) -> Cow<'a, str> {
        match field {
            "metadata.name" => Cow::Borrowed(&entry.key.name),
            "metadata.namespace" => Cow::Borrowed(&entry.key.namespace),
            other => Cow::Owned(self.selectable(entry, other)),
        }
    }

    fn selectable(&self, entry: &Entry<Object>, label: &str) -> String {
        let Some(field) = self
            .resource
            .selectable_fields
            .iter()
            .find(|known| known.label == label)
        else {
            return String::new();
        };
        let json = entry.payload.json();
        let mut values = field
            .paths
            .iter()
            .filter_map(|path| raw::find(json, path))
            .filter(|value| !value.is_empty());
        values.next().unwrap_or_else(|| field.default.clone())
    }
}
