//! `hyperplane crds`: prints the CustomResourceDefinitions.

use std::io::{BufWriter, Write};

use clap::{Args, ValueEnum};
use hyperplane_api::{crd, schema::FeatureSet};
use serde_json::json;

/// What to print.
#[derive(Args)]
pub struct Arguments {
    /// Which fields and kinds: Default, TechPreviewNoUpgrade or CustomNoUpgrade.
    #[arg(long, value_name = "SET", default_value_t = FeatureSet::Default)]
    feature_set: FeatureSet,
    /// As which text.
    #[arg(short, long, value_enum, default_value_t = Output::Yaml)]
    output: Output,
}

#[derive(Clone, Copy, ValueEnum)]
enum Output {
    /// One YAML document per definition.
    Yaml,
    /// One JSON list.
    Json,
}

/// Prints the definitions of a feature set.
pub fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<()> {
    let definitions = crd::definitions(arguments.feature_set);
    let mut output = BufWriter::new(output);
    match arguments.output {
        Output::Yaml => {
            for definition in &definitions {
                write!(output, "---\n{}", serde_saphyr::to_string(definition)?)?;
            }
        }
        Output::Json => {
            let list = json!({"apiVersion": "v1", "kind": "List", "items": definitions});
            writeln!(output, "{}", serde_json::to_string_pretty(&list)?)?;
        }
    }
    output.flush()?;
    Ok(())
}
