//! Segments: the files of the log. Owns the header that each begins with.

use super::frame::{u32_at, u64_at};
use crate::key::Revision;

/// Bytes before the first frame: magic, number, oldest, frame, revision, checksum.
pub(super) const HEADER_BYTES: usize = 44;

const MAGIC: [u8; 8] = [0xFF, 0xFE, b's', b'e', b'g', b'm', 0xFE, 0xFF];

/// What a segment says about itself and the log so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Its number; segments are numbered from one, without gaps.
    pub(super) number: u64,
    /// The oldest segment that is needed to know the state at this point. Older ones may be gone.
    pub(super) oldest: u64,
    /// The number of its first frame.
    pub(super) frame: u64,
    /// The revision of the store before its first frame.
    pub(super) revision: Revision,
}

impl Header {
    pub(super) fn write(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        for (index, number) in [self.number, self.oldest, self.frame, self.revision.0]
            .into_iter()
            .enumerate()
        {
            bytes[8 + 8 * index..16 + 8 * index].copy_from_slice(&number.to_le_bytes());
        }
        let checksum = crc32fast::hash(&bytes[..40]);
        bytes[40..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// The header at the beginning of a file, if it is whole.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; HEADER_BYTES] = bytes.first_chunk()?;
        if !bytes.starts_with(&MAGIC) || crc32fast::hash(&bytes[..40]) != u32_at(bytes, 40) {
            return None;
        }
        Some(Self {
            number: u64_at(bytes, 8),
            oldest: u64_at(bytes, 16),
            frame: u64_at(bytes, 24),
            revision: Revision(u64_at(bytes, 32)),
        })
    }
}

/// Whether nothing follows the header. A file without a whole header is then one whose creation never finished, because
/// frames follow only after the header is durable.
pub(super) fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().skip(HEADER_BYTES).all(|byte| *byte == 0)
}
