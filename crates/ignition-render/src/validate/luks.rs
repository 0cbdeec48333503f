//! Encrypted devices, and what opens them.

use super::{
    BAD_PATH, TWICE, is_path, keyed,
    resource::{self, Need},
    walk::{Fields, Walk},
};
use crate::source;

/// Bytes of a label.
const LONGEST_LABEL: usize = 47;

/// What can be asked for a key in a way of one's own.
const PINS: &[&str] = &["sss", "tang", "tpm2"];

pub(super) fn check(walk: &mut Walk, storage: &Fields<'_>) {
    let all = storage.objects("luks");
    keyed(walk, &all, "name");
    for device in all {
        self::device(walk, &device);
        if let Some(clevis) = device.object("clevis") {
            self::clevis(walk, &clevis);
        }
    }
}

fn device(walk: &mut Walk, device: &Fields<'_>) {
    if device.text("name").is_some_and(|name| name.contains('/')) {
        walk.wrong(&device.path("name"), "must be a name without a slash");
    }
    if device.text("label").is_some_and(|label| label.len() > LONGEST_LABEL) {
        walk.wrong(
            &device.path("label"),
            format!("must have at most {LONGEST_LABEL} bytes"),
        );
    }
    if !device.text("device").is_some_and(is_path) {
        walk.wrong(&device.path("device"), BAD_PATH);
    }
    let key = device.object("keyFile");
    if let Some(key) = &key {
        resource::check(walk, key, Need::Content);
    }
    walk.unique(device.texts("openOptions"), TWICE);
    let has_key = key.is_some_and(|key| key.filled("source").is_some());
    let has_clevis = device.object("clevis").is_some_and(|clevis| is_used(&clevis));
    let is_of_card = device.object("cex").is_some_and(|card| card.is_true("enabled"));
    if is_of_card && (has_key || has_clevis) {
        walk.wrong(
            &device.path("cex"),
            "opens the device alone: take clevis and keyFile away",
        );
    }
}

/// Whether anything but a pin of one's own is asked.
fn has_usual(clevis: &Fields<'_>) -> bool {
    !clevis.objects("tang").is_empty()
        || clevis.is_true("tpm2")
        || clevis.number("threshold").is_some_and(|threshold| threshold != 0)
}

fn is_used(clevis: &Fields<'_>) -> bool {
    let custom = clevis.object("custom");
    has_usual(clevis) || custom.is_some_and(|custom| custom.filled("pin").is_some())
}

fn clevis(walk: &mut Walk, clevis: &Fields<'_>) {
    if let Some(custom) = clevis.object("custom") {
        if has_usual(clevis) {
            walk.wrong(
                &clevis.path("custom"),
                "stands alone: take tang, tpm2 and threshold away",
            );
        }
        let is_given =
            custom.is_true("needsNetwork") || ["config", "pin"].iter().any(|key| custom.filled(key).is_some());
        if is_given && !custom.text("pin").is_some_and(|pin| PINS.contains(&pin)) {
            walk.wrong(&custom.path("pin"), format!("must be one of {}", PINS.join(", ")));
        }
        if is_given && custom.filled("config").is_none() {
            walk.wrong(&custom.path("config"), "must be given");
        }
    }
    let mut urls = Vec::new();
    for server in clevis.objects("tang") {
        match server.text("url").filter(|url| source::is_remote(url)) {
            Some(url) => urls.push((url.to_owned(), server.path("url"))),
            None => walk.wrong(&server.path("url"), source::NOT_REMOTE),
        }
        if server.filled("thumbprint").is_none() {
            walk.wrong(&server.path("thumbprint"), "must be given");
        }
        let advertisement = server.filled("advertisement");
        if advertisement.is_some_and(|text| serde_json::from_str::<serde_json::Value>(text).is_err()) {
            walk.wrong(&server.path("advertisement"), "must be JSON");
        }
    }
    walk.unique(urls, TWICE);
}
