//! An explanation: what it comes to, the ways to the causes as a tree, and each cause with what to do.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{
    Look,
    page::{Page, Paint, Span},
};
use crate::{
    age,
    cause::{Cause, Weight},
    explain::{Explanation, Link, Looked, Outcome},
    object::Reference,
    scene::Unread,
};

/// An explanation as text.
pub fn explanation(explanation: &Explanation, now: Timestamp, look: Look) -> String {
    let mut page = Page::new(look);
    let (words, paint) = verdict(explanation);
    page.words("", "", &[Span::new(words, paint)]);
    page.blank();
    for link in &explanation.links {
        tree(&mut page, link, None, now, ("", ""));
    }
    if !explanation.causes.is_empty() {
        page.title("CAUSES");
        causes(&mut page, &explanation.causes, now);
    }
    if asks_in_vain(explanation) {
        page.title("WITHOUT EFFECT");
        unused(&mut page, explanation);
    }
    page.blank();
    let looked: Vec<String> = explanation.looked.iter().map(counted).collect();
    let looked = format!("Looked at: {}.", looked.join(", "));
    page.words("", "  ", &[Span::new(looked, Paint::Dim)]);
    for words in unread(&explanation.unread) {
        page.words("", "  ", &[Span::new(format!("Not read {words}."), Paint::Moving)]);
    }
    page.finish()
}

fn asks_in_vain(explanation: &Explanation) -> bool {
    !(explanation.unused.is_empty() && explanation.unused_objects.is_empty())
}

/// Fields and objects that nothing acts on, with what to do instead.
fn unused(page: &mut Page, explanation: &Explanation) {
    for of_object in &explanation.unused {
        for field in &of_object.fields {
            let would = format!("{} would {}", field.path, field.would);
            in_vain(page, &of_object.object, would, field.instead);
        }
    }
    for idle in &explanation.unused_objects {
        in_vain(page, &idle.object, format!("it would {}", idle.would), idle.instead);
    }
}

fn in_vain(page: &mut Page, object: &Reference, would: String, instead: &str) {
    let (indent, deeper) = ("  ", "     ");
    let spans = [Span::new(format!("{object}:"), Paint::Bold), Span::plain(would)];
    page.words(indent, deeper, &spans);
    if !instead.is_empty() {
        page.words(deeper, deeper, &[Span::plain(format!("→ {}.", sentence(instead)))]);
    }
}

/// The same words with a capital.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

fn counted(looked: &Looked) -> String {
    match looked.count {
        1 => format!("1 {}", looked.kind.name()),
        count => format!("{count} {}", looked.kind.several()),
    }
}

/// Lists that could not be read, those of one place for one reason together.
pub(super) fn unread(unread: &[Unread]) -> Vec<String> {
    let mut groups: BTreeMap<(String, &str), Vec<String>> = BTreeMap::new();
    for one in unread {
        let group = groups.entry((one.place.to_string(), &one.why)).or_default();
        group.push(one.kind.several());
    }
    let told = groups
        .iter()
        .map(|((place, why), kinds)| format!("{place} ({why}): {}", kinds.join(", ")));
    told.collect()
}

fn verdict(explanation: &Explanation) -> (String, Paint) {
    let about = &explanation.about;
    let held = explanation.causes.iter().filter(|cause| cause.weight == Weight::Holds);
    match (explanation.outcome, held.count()) {
        (Outcome::Nothing, _) if asks_in_vain(explanation) => (
            format!("Nothing is waiting: {about} is as it is asked for, but for what has no effect."),
            Paint::Good,
        ),
        (Outcome::Nothing, _) => (
            format!("Nothing is waiting: {about} is as it is asked for."),
            Paint::Good,
        ),
        (Outcome::Progresses, _) => (
            format!("{about} is on its way, and nothing holds it up."),
            Paint::Moving,
        ),
        (Outcome::Unknown, _) => (
            format!("Whether {about} waits for something cannot be told: see below what is not known."),
            Paint::Moving,
        ),
        (Outcome::Held, 1) => (format!("{about} is held up by one cause."), Paint::Bad),
        (Outcome::Held, count) => (format!("{about} is held up by {count} causes."), Paint::Bad),
    }
}

/// A link with all that it is because of. What is said of the same object as above is said without its name.
fn tree(page: &mut Page, link: &Link, above: Option<&Reference>, now: Timestamp, (first, rest): (&str, &str)) {
    let lasts = link.since.map(|since| format!("({})", age::since(since, now)));
    let paint = if link.cause.is_some() { Paint::Bad } else { Paint::Plain };
    let below = if link.because.is_empty() { "   " } else { "│  " };
    let name = if above == Some(&link.object) {
        String::new()
    } else {
        format!("{}:", link.object)
    };
    let spans = [
        Span::new(name, Paint::Bold),
        Span::new(&link.what, paint),
        Span::new(lasts.unwrap_or_default(), Paint::Dim),
    ];
    let indent = format!("{rest}{below}");
    page.words(first, &indent, &spans);
    for (name, words) in &link.evidence {
        let words = Span::new(format!("{name}: {words}"), Paint::Dim);
        page.words(&indent, &format!("{indent}  "), &[words]);
    }
    let last = link.because.len().saturating_sub(1);
    for (place, below) in link.because.iter().enumerate() {
        let (branch, stem) = if place == last {
            ("└─ ", "   ")
        } else {
            ("├─ ", "│  ")
        };
        let indents = (format!("{rest}{branch}"), format!("{rest}{stem}"));
        tree(page, below, Some(&link.object), now, (&indents.0, &indents.1));
    }
}

/// Causes with what to do about them.
pub(super) fn causes(page: &mut Page, causes: &[Cause], now: Timestamp) {
    for (place, cause) in causes.iter().enumerate() {
        let number = format!("{:>3}. ", place + 1);
        let indent = " ".repeat(number.len());
        let paint = match cause.weight {
            Weight::Holds => Paint::Bad,
            Weight::Unknown | Weight::Progresses => Paint::Moving,
        };
        let lasts = cause
            .since
            .map(|since| format!(", for {}", age::since(since, now)))
            .unwrap_or_default();
        let spans = [
            Span::new(format!("{}:", cause.blocker.subject), Paint::Bold),
            Span::new(&cause.blocker.message, paint),
            Span::new(format!("({}{lasts})", cause.blocker.reason), Paint::Dim),
        ];
        page.words(&number, &indent, &spans);
        page.words(&indent, &indent, &[Span::plain(format!("→ {}", cause.blocker.remedy))]);
    }
}
