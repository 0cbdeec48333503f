//! Asks a real server every case of `tests/cases` and writes its answers beside them.
//!
//! `cargo run -p hyperplane-kinds --example record_answers`

#[path = "../../tests/support/mod.rs"]
mod support;

use std::{collections::BTreeMap, fs};

use anyhow::{Context as _, Result};

#[tokio::main]
async fn main() -> Result<()> {
    let (control_plane, client) = support::real::start().await?;
    for (file, cases) in support::cases()? {
        let mut answers = BTreeMap::new();
        for case in cases {
            let answer = support::real::ask(&client, &case)
                .await
                .with_context(|| format!("{file}: {}", case.name))?;
            answers.insert(case.name, answer);
        }
        let text = serde_json::to_string_pretty(&answers)? + "\n";
        fs::write(support::answers_path(&file), text)?;
    }
    drop(control_plane);
    Ok(())
}
