//! The options of a request, read from its query string and checked with upstream's words (apimachinery,
//! apis/meta/internalversion and apis/meta/v1/validation). Those of DELETE, which can come in a body, are in
//! `delete_options`.

use hyperplane_schema::{FieldError, go_text, object_meta::validate_manager};
use serde_json::json;

use crate::{
    Failure, Query,
    selector::{FieldSelector, Selector},
};

/// The longest name of a field manager that is taken from a user agent.
const MAXIMUM_FIELD_MANAGER_BYTES: usize = 128;

/// How a list relates to the revision that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceVersionMatch {
    /// At this revision, or not at all.
    Exact,
    /// At this revision or later.
    NotOlderThan,
}

/// The options of a list or watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// Which labels to select.
    pub label_selector: Selector,
    /// Which fields to select.
    pub field_selector: FieldSelector,
    /// The revision as the client wrote it, empty for none; [`ListOptions::revision`] reads it.
    pub resource_version: String,
    /// How the revision is meant.
    pub resource_version_match: Option<ResourceVersionMatch>,
    /// How many objects to give at most.
    pub limit: Option<u64>,
    /// Where a list goes on, empty for its beginning.
    pub continue_token: String,
    /// Whether changes are wanted.
    pub watch: bool,
    /// Whether the client understands bookmarks.
    pub allow_watch_bookmarks: bool,
    /// Whether a watch starts with what exists.
    pub send_initial_events: Option<bool>,
    /// When to end, in seconds.
    pub timeout_seconds: Option<u64>,
}

impl ListOptions {
    /// Reads and checks a query string.
    pub fn parse(query: &str) -> Result<Self, Failure> {
        if query.is_empty() {
            return Ok(Self::default());
        }
        let query = Query::parse(query);
        let word = query.first("resourceVersionMatch").unwrap_or_default();
        let mut options = Self::decode(&query)?;
        options.fill_in(word);
        let errors = if options.watch {
            options.watch_errors(word)
        } else {
            options.list_errors(word)
        };
        if errors.is_empty() {
            Ok(options)
        } else {
            Err(Failure::invalid_options("ListOptions", &errors))
        }
    }

    /// Reads a query string without the checks that need more than one parameter. Numbers come before selectors, so
    /// that of several mistakes the client is told the one that upstream tells.
    pub(crate) fn decode(query: &Query) -> Result<Self, Failure> {
        let timeout_seconds = integer(query, "timeoutSeconds")?;
        let limit = integer(query, "limit")?;
        Ok(Self {
            label_selector: query.first("labelSelector").unwrap_or_default().parse()?,
            field_selector: query.first("fieldSelector").unwrap_or_default().parse()?,
            resource_version: text(query, "resourceVersion"),
            resource_version_match: match query.first("resourceVersionMatch") {
                Some("Exact") => Some(ResourceVersionMatch::Exact),
                Some("NotOlderThan") => Some(ResourceVersionMatch::NotOlderThan),
                _ => None,
            },
            limit: positive(limit),
            continue_token: text(query, "continue"),
            watch: query.flag("watch").unwrap_or_default(),
            allow_watch_bookmarks: query.flag("allowWatchBookmarks").unwrap_or_default(),
            send_initial_events: query.flag("sendInitialEvents"),
            timeout_seconds: positive(timeout_seconds),
        })
    }

    /// The revision; nothing if the client names none.
    pub fn revision(&self) -> Result<Option<u64>, Failure> {
        revision(&self.resource_version).map_err(|message| {
            if self.watch {
                Failure::unclassified(message)
            } else {
                Failure::bad_request(format!("invalid resource version: {message}"))
            }
        })
    }

    /// Whether the watch is to end its initial events with a bookmark.
    pub fn is_watch_list(&self) -> bool {
        self.watch && self.allow_watch_bookmarks && self.send_initial_events == Some(true)
    }

    /// A watch from no revision, or from any, starts with what exists. `word` is what the client wrote for
    /// `resourceVersionMatch`.
    fn fill_in(&mut self, word: &str) {
        let is_open = self.send_initial_events.is_none() && word.is_empty();
        if self.watch && is_open && matches!(self.resource_version.as_str(), "" | "0") {
            self.send_initial_events = Some(true);
            self.resource_version_match = Some(ResourceVersionMatch::NotOlderThan);
        }
    }

    fn list_errors(&self, word: &str) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let mut forbid = |detail: &str| errors.push(FieldError::forbidden("resourceVersionMatch", detail));
        if !word.is_empty() {
            if self.resource_version.is_empty() {
                forbid("resourceVersionMatch is forbidden unless resourceVersion is provided");
            }
            if !self.continue_token.is_empty() {
                forbid("resourceVersionMatch is forbidden when continue is provided");
            }
            if self.resource_version_match == Some(ResourceVersionMatch::Exact) && self.resource_version == "0" {
                forbid("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
            }
            if self.resource_version_match.is_none() {
                errors.push(unsupported_match(word, &["Exact", "NotOlderThan", ""]));
            }
        }
        if self.send_initial_events.is_some() {
            errors.push(FieldError::forbidden(
                "sendInitialEvents",
                "sendInitialEvents is forbidden for list",
            ));
        }
        errors
    }

    fn watch_errors(&self, word: &str) -> Vec<FieldError> {
        let is_not_older = self.resource_version_match == Some(ResourceVersionMatch::NotOlderThan);
        let mut errors = Vec::new();
        let forbidden = |detail: &str| FieldError::forbidden("resourceVersionMatch", detail);
        if self.send_initial_events.is_some() && !is_not_older {
            errors.push(forbidden(
                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            ));
        }
        if word.is_empty() && self.resource_version_match.is_none() {
            return errors;
        }
        if self.send_initial_events.is_none() {
            errors.push(forbidden(
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            ));
        }
        if !is_not_older {
            errors.push(unsupported_match(word, &["NotOlderThan"]));
        }
        if !self.continue_token.is_empty() {
            errors.push(forbidden("resourceVersionMatch is forbidden when continue is provided"));
        }
        errors
    }
}

fn unsupported_match(word: &str, known: &[&str]) -> FieldError {
    FieldError::not_supported("resourceVersionMatch", word, known.iter().copied())
}

/// The options of a GET of one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GetOptions {
    /// The revision that must be reached; nothing if the client names none.
    pub revision: Option<u64>,
}

impl GetOptions {
    /// Reads and checks a query string.
    pub fn parse(query: &str) -> Result<Self, Failure> {
        if query.is_empty() {
            return Ok(Self::default());
        }
        let query = Query::parse(query);
        if query.flag("export").unwrap_or_default() {
            return Err(Failure::bad_request(
                "the export parameter, deprecated since v1.14, is no longer supported",
            ));
        }
        let revision = revision(&text(&query, "resourceVersion")).map_err(Failure::unclassified)?;
        Ok(Self { revision })
    }
}

/// What to do about fields that are unknown or given twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldValidation {
    /// Drop them silently.
    Ignore,
    /// Drop them with a warning.
    #[default]
    Warn,
    /// Refuse the request.
    Strict,
}

/// Which write the options belong to; the rules and the name of the kind differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// POST.
    Create,
    /// PUT.
    Update,
    /// PATCH of any type but apply.
    Patch,
    /// PATCH of type apply.
    Apply,
}

/// The options of a write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Whether nothing is to be stored.
    pub dry_run: bool,
    /// Who writes, empty if the client does not say.
    pub field_manager: String,
    /// What to do about fields that are unknown or given twice.
    pub field_validation: FieldValidation,
    /// Whether an apply takes fields from others.
    pub force: bool,
}

impl WriteOptions {
    /// Reads and checks a query string.
    pub fn parse(query: &str, write: Write) -> Result<Self, Failure> {
        let query = Query::parse(query);
        let field_manager = text(&query, "fieldManager");
        let dry_run: Vec<&str> = query.all("dryRun").collect();
        let validation = query.first("fieldValidation").unwrap_or_default();
        let force = query.flag("force");
        let mut errors = patch_errors(write, &field_manager, force);
        errors.extend(validate_manager(&field_manager, "fieldManager"));
        errors.extend(dry_run_error(&dry_run));
        errors.extend(validation_error(validation));
        if !errors.is_empty() {
            return Err(Failure::invalid_options(options_kind(write), &errors));
        }
        Ok(Self {
            dry_run: !dry_run.is_empty(),
            field_manager,
            field_validation: match validation {
                "Ignore" => FieldValidation::Ignore,
                "Strict" => FieldValidation::Strict,
                _ => FieldValidation::Warn,
            },
            force: force.unwrap_or_default(),
        })
    }

    /// Who writes: the field manager, or the name in front of the first slash of the user agent.
    pub fn manager<'a>(&'a self, user_agent: &'a str) -> &'a str {
        if self.field_manager.is_empty() {
            manager_of_user_agent(user_agent)
        } else {
            &self.field_manager
        }
    }
}

/// The printable beginning of a user agent, up to the first slash, as the name of a field manager.
fn manager_of_user_agent(user_agent: &str) -> &str {
    let name = user_agent.split('/').next().unwrap_or_default();
    let end = name
        .char_indices()
        .find(|(start, character)| {
            !go_text::is_printable(*character) || start + character.len_utf8() > MAXIMUM_FIELD_MANAGER_BYTES
        })
        .map_or(name.len(), |(start, _)| start);
    &name[..end]
}

const fn options_kind(write: Write) -> &'static str {
    match write {
        Write::Create => "CreateOptions",
        Write::Update => "UpdateOptions",
        Write::Patch | Write::Apply => "PatchOptions",
    }
}

fn patch_errors(write: Write, field_manager: &str, force: Option<bool>) -> Vec<FieldError> {
    match write {
        Write::Apply if field_manager.is_empty() => {
            vec![FieldError::required("fieldManager", "is required for apply patch")]
        }
        Write::Patch if force.is_some() => {
            vec![FieldError::forbidden(
                "force",
                "may not be specified for non-apply patch",
            )]
        }
        _ => Vec::new(),
    }
}

/// Complains unless every word is `All`.
pub(crate) fn dry_run_error(words: &[&str]) -> Option<FieldError> {
    let is_known = words.iter().all(|word| *word == "All");
    (!is_known).then(|| FieldError::not_supported("dryRun", json!(words), ["All"]))
}

fn validation_error(word: &str) -> Option<FieldError> {
    let known = ["", "Ignore", "Strict", "Warn"];
    (!known.contains(&word)).then(|| FieldError::not_supported("fieldValidation", word, known))
}

/// A parameter as text, empty if it is absent.
pub(crate) fn text(query: &Query, name: &str) -> String {
    query.first(name).unwrap_or_default().to_owned()
}

/// A parameter as a number, with the complaint of Go's `strconv`.
pub(crate) fn integer(query: &Query, name: &str) -> Result<Option<i64>, Failure> {
    let Some(text) = query.first(name) else {
        return Ok(None);
    };
    text.parse()
        .map(Some)
        .map_err(|error: std::num::ParseIntError| Failure::bad_request(number_error("ParseInt", text, &error)))
}

fn positive(number: Option<i64>) -> Option<u64> {
    number
        .and_then(|number| u64::try_from(number).ok())
        .filter(|number| *number > 0)
}

fn revision(text: &str) -> Result<Option<u64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    if text.starts_with('+') {
        return Err(revision_error(text, "invalid syntax"));
    }
    text.parse()
        .map(Some)
        .map_err(|error: std::num::ParseIntError| revision_error(text, cause_of(&error)))
}

fn revision_error(text: &str, cause: &str) -> String {
    let detail = format!("strconv.ParseUint: parsing {}: {cause}", go_text::quote(text));
    FieldError::invalid("resourceVersion", text, detail).to_string()
}

fn number_error(function: &str, text: &str, error: &std::num::ParseIntError) -> String {
    format!(
        "strconv.{function}: parsing {}: {}",
        go_text::quote(text),
        cause_of(error)
    )
}

fn cause_of(error: &std::num::ParseIntError) -> &'static str {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    match error.kind() {
        PosOverflow | NegOverflow => "value out of range",
        _ => "invalid syntax",
    }
}

#[cfg(test)]
mod tests;
