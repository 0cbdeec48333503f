//! The encoding of protobuf: a message is a sequence of numbered fields. Knows no message.

use super::ProtobufError;

/// How many bytes a number takes at most.
const MAXIMUM_NUMBER_BYTES: u32 = 10;

/// What stands in a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Payload<'a> {
    /// A whole number.
    Number(u64),
    /// Eight bytes.
    Fixed(u64),
    /// Text, bytes, or another message.
    Bytes(&'a [u8]),
    /// Four bytes, or the end of a group: of no type that Kubernetes uses.
    Other,
}

impl<'a> Payload<'a> {
    /// The bytes of the field of this name.
    pub(crate) fn bytes(self, name: &str) -> Result<&'a [u8], ProtobufError> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => Err(ProtobufError::Field(name.to_owned())),
        }
    }

    /// The text of the field of this name. Bytes that are no UTF-8 become replacement characters.
    pub(crate) fn text(self, name: &str) -> Result<String, ProtobufError> {
        Ok(String::from_utf8_lossy(self.bytes(name)?).into_owned())
    }

    /// The whole number in the field of this name.
    pub(crate) fn number(self, name: &str) -> Result<i64, ProtobufError> {
        match self {
            Self::Number(number) => Ok(number.cast_signed()),
            _ => Err(ProtobufError::Field(name.to_owned())),
        }
    }
}

/// The fields of a message, in the order in which they are written.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// The fields of a message.
    pub(crate) fn of(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    fn read(&mut self) -> Result<(u32, Payload<'a>), ProtobufError> {
        let key = self.number()?;
        let number = u32::try_from(key >> 3).map_err(|_| ProtobufError::Truncated)?;
        let payload = match key & 7 {
            0 => Payload::Number(self.number()?),
            1 => Payload::Fixed(self.fixed()?),
            2 => {
                let length = usize::try_from(self.number()?).map_err(|_| ProtobufError::Truncated)?;
                Payload::Bytes(self.take(length)?)
            }
            5 => {
                self.take(4)?;
                Payload::Other
            }
            _ => Payload::Other,
        };
        Ok((number, payload))
    }

    /// Seven bits in each byte, the least first; the eighth says whether another follows.
    fn number(&mut self) -> Result<u64, ProtobufError> {
        let mut number = 0;
        for position in 0..MAXIMUM_NUMBER_BYTES {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7f).checked_shl(7 * position).unwrap_or_default();
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(ProtobufError::Truncated)
    }

    fn fixed(&mut self) -> Result<u64, ProtobufError> {
        let bytes = self.take(8)?.try_into().map_err(|_| ProtobufError::Truncated)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], ProtobufError> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(ProtobufError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    /// Whole numbers one after the other, as a list of them may be written.
    pub(crate) fn packed(mut self) -> Result<Vec<Payload<'a>>, ProtobufError> {
        let mut numbers = Vec::new();
        while !self.rest.is_empty() {
            numbers.push(Payload::Number(self.number()?));
        }
        Ok(numbers)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Payload<'a>), ProtobufError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.read();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}
