//! Frames: one batch each, with its number and checksums. Owns the bytes around a batch, and tells a whole frame from a
//! damaged one; knows nothing of what is inside.

/// Bytes before the body: magic, number, length of the body, checksum of the body, checksum of all that.
pub(super) const HEADER_BYTES: usize = 32;

/// Has bytes that UTF-8 never has, so that no text inside of a body looks like the beginning of a frame.
const MAGIC: [u8; 8] = [0xFF, 0xFE, b'f', b'r', b'a', b'm', 0xFE, 0xFF];

/// What is at some place of a segment.
pub(super) enum Found<'a> {
    /// Nothing more: the bytes end, or only zeros follow.
    End,
    /// A whole frame.
    Whole(Frame<'a>),
    /// Bytes that are no whole frame.
    Damaged,
}

/// A whole frame.
pub(super) struct Frame<'a> {
    pub(super) number: u64,
    pub(super) body: &'a [u8],
}

impl Frame<'_> {
    /// How many bytes it takes.
    pub(super) fn length(&self) -> usize {
        HEADER_BYTES + self.body.len()
    }
}

/// Empties a buffer and leaves room for a header; the body is appended next.
pub(super) fn begin(buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.resize(HEADER_BYTES, 0);
}

/// Writes the header of the body that was appended since `begin`.
pub(super) fn finish(buffer: &mut [u8], number: u64) {
    let (header, body) = buffer.split_at_mut(HEADER_BYTES);
    header[..8].copy_from_slice(&MAGIC);
    header[8..16].copy_from_slice(&number.to_le_bytes());
    header[16..24].copy_from_slice(&(body.len() as u64).to_le_bytes());
    header[24..28].copy_from_slice(&crc32fast::hash(body).to_le_bytes());
    let checksum = crc32fast::hash(&header[..28]);
    header[28..].copy_from_slice(&checksum.to_le_bytes());
}

/// Reads the frame at the beginning of `bytes`.
pub(super) fn read(bytes: &[u8]) -> Found<'_> {
    if bytes.iter().take(MAGIC.len()).all(|byte| *byte == 0) && bytes.iter().all(|byte| *byte == 0) {
        return Found::End;
    }
    let Some(header) = Header::read(bytes) else {
        return Found::Damaged;
    };
    let body = bytes[HEADER_BYTES..].get(..header.length);
    match body.filter(|body| crc32fast::hash(body) == header.checksum) {
        Some(body) => Found::Whole(Frame {
            number: header.number,
            body,
        }),
        None => Found::Damaged,
    }
}

/// Whether the header of a frame with a higher number is somewhere in `bytes`. A frame is begun only after the one
/// before is durable, so this tells damage to something durable from a write that never finished.
pub(super) fn has_later(bytes: &[u8], number: u64) -> bool {
    let starts = bytes.windows(HEADER_BYTES).filter(|window| window.starts_with(&MAGIC));
    starts.filter_map(Header::read).any(|header| header.number > number)
}

struct Header {
    number: u64,
    length: usize,
    checksum: u32,
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; HEADER_BYTES] = bytes.first_chunk()?;
        let is_intact = crc32fast::hash(&bytes[..28]) == u32_at(bytes, 28);
        if !bytes.starts_with(&MAGIC) || !is_intact {
            return None;
        }
        Some(Self {
            number: u64_at(bytes, 8),
            length: usize::try_from(u64_at(bytes, 16)).ok()?,
            checksum: u32_at(bytes, 24),
        })
    }
}

/// The number at a place of a header that was checked to be long enough.
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(number)
}

/// The number at a place of a header that was checked to be long enough.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(number)
}
