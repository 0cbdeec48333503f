//! A derive by the name of schemars' own that accepts its attributes and writes nothing. The types of `hyperplane-api`
//! derive their schemas only in that crate's tests, which write them into files; in every other build the code that
//! computes schemas would cost minutes and megabytes for a constant.

use proc_macro::TokenStream;

/// Accepts `#[schemars(…)]` on a type and its fields.
#[proc_macro_derive(JsonSchema, attributes(schemars))]
pub fn json_schema(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
