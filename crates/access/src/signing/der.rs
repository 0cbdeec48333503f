//! Writing DER: lengths, sequences and the few primitive values that a certificate needs.

/// INTEGER.
const INTEGER: u8 = 0x02;
const BOOLEAN: u8 = 0x01;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const OBJECT_IDENTIFIER: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;

/// A value with its tag and length.
pub(super) fn tagged(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut der = vec![tag];
    if let Ok(short @ 0..0x80) = u8::try_from(content.len()) {
        der.push(short);
    } else {
        let length = content.len().to_be_bytes();
        let length = &length[length.iter().take_while(|byte| **byte == 0).count()..];
        der.push(0x80 | u8::try_from(length.len()).expect("a length has at most eight bytes"));
        der.extend_from_slice(length);
    }
    der.extend_from_slice(content);
    der
}

pub(super) fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    tagged(SEQUENCE, &parts.concat())
}

/// A number that is not negative, from its bytes.
pub(super) fn integer(bytes: &[u8]) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let digits = &bytes[zeros..];
    let needs_sign = digits.first().is_none_or(|first| *first >= 0x80);
    let sign: &[u8] = if needs_sign { &[0] } else { &[] };
    tagged(INTEGER, &[sign, digits].concat())
}

pub(super) fn boolean(value: bool) -> Vec<u8> {
    tagged(BOOLEAN, &[if value { 0xff } else { 0 }])
}

/// An identifier from its encoded content.
pub(super) fn identifier(content: &[u8]) -> Vec<u8> {
    tagged(OBJECT_IDENTIFIER, content)
}

pub(super) fn octets(content: &[u8]) -> Vec<u8> {
    tagged(OCTET_STRING, content)
}

/// Bits, of which the last byte leaves some unused.
pub(super) fn bits(unused: u8, content: &[u8]) -> Vec<u8> {
    tagged(BIT_STRING, &[&[unused], content].concat())
}

/// A time; years from 2050 on are written in full (RFC 5280, 4.1.2.5).
pub(super) fn time(time: jiff::Timestamp) -> Vec<u8> {
    let time = time.to_zoned(jiff::tz::TimeZone::UTC);
    let (tag, format) = if time.year() < 2050 {
        (UTC_TIME, "%y%m%d%H%M%SZ")
    } else {
        (GENERALIZED_TIME, "%Y%m%d%H%M%SZ")
    };
    tagged(tag, time.strftime(format).to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_as_short_as_they_can_be() {
        assert_eq!(tagged(4, &[1, 2]), [4, 2, 1, 2]);
        assert_eq!(tagged(4, &[0; 0x7f])[..2], [4, 0x7f]);
        assert_eq!(tagged(4, &[0; 0x80])[..3], [4, 0x81, 0x80]);
        assert_eq!(tagged(4, &[0; 0x1234])[..4], [4, 0x82, 0x12, 0x34]);
    }

    #[test]
    fn numbers_are_short_and_positive() {
        assert_eq!(integer(&[0, 0]), [2, 1, 0]);
        assert_eq!(integer(&[0, 0x7f]), [2, 1, 0x7f]);
        assert_eq!(integer(&[0x80]), [2, 2, 0, 0x80]);
    }

    #[test]
    fn times_change_form_in_2050() {
        let der = |text: &str| time(text.parse().unwrap());
        assert_eq!(
            der("2049-12-31T23:59:59Z"),
            [&[0x17, 13], b"491231235959Z".as_slice()].concat()
        );
        assert_eq!(
            der("2050-01-01T00:00:00Z"),
            [&[0x18, 15], b"20500101000000Z".as_slice()].concat()
        );
    }
}
