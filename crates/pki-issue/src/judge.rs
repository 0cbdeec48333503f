//! When a leaf is issued anew: the rules, in their order. Knows one leaf and its signer, and nothing of Secrets.

use jiff::{SignedDuration, Timestamp};

use crate::{inspect::Certificate, key, reason::Reason, table::Leaf, wanted::Wanted};

/// Certificates have whole seconds.
const TOLERANCE: SignedDuration = SignedDuration::from_secs(1);

/// A leaf that may stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// From when on it may be renewed, if another of the same control plane is.
    pub(crate) window: Timestamp,
    /// When it must be renewed.
    pub(crate) due: Timestamp,
}

/// Whether a leaf may stay, or why it may not.
pub(crate) fn judge(
    (certificate, key): (&[u8], &[u8]),
    leaf: &Leaf,
    authority: &Certificate,
    wanted: &Wanted,
    now: Timestamp,
) -> Result<Standing, Reason> {
    let certificate = Certificate::read(certificate).ok_or(Reason::Unreadable)?;
    let key = key::read(key).ok_or(Reason::Unreadable)?;
    let lifetime = wanted.lifetime;
    let end = lifetime.end(certificate.begin, authority.end);
    let is_of_subject =
        certificate.common_name == leaf.common_name && certificate.groups == leaf.groups.iter().cloned().collect();
    let has_names = certificate
        .names
        .as_ref()
        .is_some_and(|names| match leaf.names.awaited {
            None => *names == leaf.names.known,
            // The name that is missing now may be there from before: it must not be lost while an address is.
            Some(_) => names.is_superset(&leaf.names.known),
        });
    let rules = [
        (certificate.has_key(&key), Reason::Mismatch),
        (certificate.is_signed_by(authority), Reason::Signer),
        (is_of_subject, Reason::Subject),
        (has_names, Reason::Names),
        (
            certificate.usage == Some(leaf.usage) && !certificate.is_authority,
            Reason::Usages,
        ),
        (certificate.end.duration_since(end).abs() <= TOLERANCE, Reason::Validity),
        (certificate.begin <= now, Reason::NotBegun),
    ];
    if let Some((_, reason)) = rules.into_iter().find(|(holds, _)| !holds) {
        return Err(reason);
    }
    // What ends with its authority would only end with it again.
    if authority.end.duration_since(certificate.end) <= TOLERANCE {
        return Ok(Standing {
            window: Timestamp::MAX,
            due: Timestamp::MAX,
        });
    }
    let standing = Standing {
        window: lifetime.window(certificate.end),
        due: lifetime.due(certificate.end, &wanted.namespace),
    };
    Ok(standing)
}
