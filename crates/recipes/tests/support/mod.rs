//! Command lines of recipes, read as the binary reads them.

#![allow(dead_code, reason = "each target uses its part")]

use clap::{Args, Parser};
use hyperplane_recipes::{ClusterCommand, Given, Manifests, PoolCommand, Problem};

/// No flags besides.
#[derive(Args, Clone, Debug)]
pub struct Nothing {}

#[derive(Parser)]
#[command(name = "create")]
enum Line {
    #[command(subcommand)]
    Cluster(ClusterCommand<Nothing>),
    #[command(subcommand)]
    Nodepool(PoolCommand<Nothing>),
}

/// A file with each flag that takes one.
pub const FILES: &[(&str, &str)] = &[
    (
        "--pull-secret",
        r#"{"auths":{"registry.example.com":{"auth":"dXNlcjpwYXNz"}}}"#,
    ),
    ("--ssh-key", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJJJ me@example.com\n"),
    (
        "--additional-trust-bundle",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    ),
    (
        "--image-content-sources",
        "- source: quay.io/a\n  mirrors: [mirror.example.com/a]\n",
    ),
    ("--infra-kubeconfig-file", "apiVersion: v1\nkind: Config\n"),
];

/// What a command line comes to, with the texts of files, and an address of a node where one may be asked.
pub fn cook(words: &[&str], node_address: Option<&str>) -> Result<Manifests, Vec<Problem>> {
    let line = Line::try_parse_from(["create"].iter().chain(words)).unwrap_or_else(|error| panic!("{error}"));
    let mut given = Given {
        node_address: node_address.map(str::to_owned),
        ..Given::default()
    };
    match line {
        Line::Cluster(command) => {
            let (recipe, _) = command.recipe();
            for file in recipe.files() {
                let (_, text) = FILES
                    .iter()
                    .find(|(flag, _)| *flag == file.flag)
                    .expect("every flag has a file");
                given.files.insert(file.flag, (*text).to_owned());
            }
            recipe.build(&given)
        }
        Line::Nodepool(command) => command.recipe().0.build(None, &[], &given),
    }
}

/// What a command line without files comes to.
pub fn cook_line(line: &str) -> Result<Manifests, Vec<Problem>> {
    cook(&line.split_whitespace().collect::<Vec<_>>(), None)
}
