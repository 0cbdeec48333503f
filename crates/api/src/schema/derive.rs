//! Which derive the types of this crate have: schemars' own in tests, and one that writes nothing elsewhere.

#[cfg(not(test))]
pub(crate) use hyperplane_schema_attributes::JsonSchema;
#[cfg(test)]
pub(crate) use schemars::JsonSchema;

/// The schema of `T` as schemars derives it, with the marks of feature gates in it.
#[cfg(test)]
pub(crate) fn derived<T: JsonSchema>() -> serde_json::Value {
    let settings = schemars::generate::SchemaSettings::draft07().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<T>().to_value()
}
