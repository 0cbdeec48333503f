//! The table of HTTP exchanges on the embedded server, in-process: every answer agrees with its case and with what the
//! real server was recorded to say. HYPERPLANE_CASES names the cases by a part of their id.

use std::{env, path::Path};

use anyhow::{Result, ensure};
use http::{HeaderValue, Request, header::AUTHORIZATION};
use hyperplane_access::User;
use hyperplane_conformance::{
    suite::{Judgement, Suite},
    target::{Caller, Error, Target},
};
use kube::{Client, client::Body};

use crate::embedded::Embedded;

/// The embedded server in-process; who asks is an extension of the request.
struct InProcess {
    client: Client,
}

impl Target for InProcess {
    fn name(&self) -> &'static str {
        "embedded"
    }

    fn prepare(&self, caller: &Caller, request: &mut Request<Body>) -> Result<Client, Error> {
        match caller {
            Caller::Administrator => {
                request.extensions_mut().insert(User::admin());
            }
            Caller::Anonymous => {}
            Caller::Token(token) => {
                let value = HeaderValue::from_str(&format!("Bearer {token}"));
                let value = value.map_err(|_| Error::Header(token.clone()))?;
                request.headers_mut().insert(AUTHORIZATION, value);
            }
            Caller::User { name, groups } => {
                let mut groups = groups.clone();
                groups.push("system:authenticated".to_owned());
                request.extensions_mut().insert(User::with_groups(name, groups));
            }
        }
        Ok(self.client.clone())
    }
}

#[tokio::test]
async fn the_embedded_server_answers_as_the_real_one() -> Result<()> {
    let suite = Suite::read(Path::new(env!("CARGO_MANIFEST_DIR")))?;
    let target = InProcess {
        client: Client::new(Embedded::start().await?.server, "default"),
    };
    let prepared = suite.prepare(&target).await;
    ensure!(prepared.failures.is_empty(), "{prepared}");
    let chosen = env::var("HYPERPLANE_CASES").unwrap_or_default();
    let mut judgements = suite.run(&target, |case| case.id.contains(&chosen)).await;
    suite.compare_with_recording(&mut judgements);
    report(&judgements)
}

fn report(judgements: &[Judgement]) -> Result<()> {
    let failed: Vec<_> = judgements.iter().filter(|it| !it.failures.is_empty()).collect();
    let text: String = failed.iter().map(ToString::to_string).collect();
    println!("{} cases, {} failed", judgements.len(), failed.len());
    ensure!(failed.is_empty(), "{} cases fail:\n{text}", failed.len());
    Ok(())
}
