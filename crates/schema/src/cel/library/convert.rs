//! Conversions between types.

use super::super::value::{Failure, Outcome, Text, Timestamp, Value};
use super::{Native, no_overload};
use crate::{go_net, go_text, go_time};

/// Floats from here on have no whole number of 64 bits.
const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;

pub(super) fn native(function: &str) -> Option<Native> {
    Some(match function {
        "dyn" => |arguments| arguments.first().cloned().ok_or_else(Failure::no_overload),
        "type" => |arguments| {
            arguments
                .first()
                .map(|value| Value::Type(value.type_name()))
                .ok_or_else(Failure::no_overload)
        },
        "bool" => to_bool,
        "bytes" => to_bytes,
        "double" => to_double,
        "duration" => to_duration,
        "int" => to_int,
        "string" => to_string,
        "timestamp" => to_timestamp,
        "uint" => to_uint,
        _ => return None,
    })
}

fn conversion(from: &Value<'_>, to: &str) -> Failure {
    Failure::new(format!("type conversion error from '{}' to '{to}'", from.type_name()))
}

fn to_bool<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    match arguments {
        [Value::Bool(flag)] => Ok(Value::Bool(*flag)),
        [value @ Value::String(text)] => match &**text {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
            _ => Err(conversion(value, "bool")),
        },
        _ => no_overload(),
    }
}

fn to_bytes<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    match arguments {
        [Value::Bytes(bytes)] => Ok(Value::Bytes(bytes.clone())),
        [Value::String(text)] => Ok(Value::Bytes(text.as_bytes().into())),
        _ => no_overload(),
    }
}

#[allow(clippy::cast_precision_loss, reason = "that is what the conversion does")]
fn to_double<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    match arguments {
        [Value::Double(number)] => Ok(Value::Double(*number)),
        [Value::Int(number)] => Ok(Value::Double(*number as f64)),
        [Value::Uint(number)] => Ok(Value::Double(*number as f64)),
        [value @ Value::String(text)] => text.parse().map(Value::Double).map_err(|_| conversion(value, "double")),
        _ => no_overload(),
    }
}

fn to_duration<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    match arguments {
        [Value::Duration(nanos)] => Ok(Value::Duration(*nanos)),
        [Value::Int(seconds)] => seconds
            .checked_mul(1_000_000_000)
            .map(Value::Duration)
            .ok_or_else(|| Failure::new("duration overflow")),
        [value @ Value::String(text)] => go_time::parse_duration(text)
            .map(Value::Duration)
            .ok_or_else(|| conversion(value, "google.protobuf.Duration")),
        _ => no_overload(),
    }
}

fn to_int<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    let overflow = || Failure::new("integer overflow");
    match arguments {
        [Value::Int(number)] => Ok(Value::Int(*number)),
        [Value::Uint(number)] => i64::try_from(*number).map(Value::Int).map_err(|_| overflow()),
        #[allow(clippy::cast_possible_truncation, reason = "the range is checked")]
        [Value::Double(number)] if number.abs() < TWO_TO_63 => Ok(Value::Int(*number as i64)),
        [Value::Double(_)] => Err(overflow()),
        [Value::Duration(nanos)] => Ok(Value::Int(*nanos)),
        [Value::Timestamp(time)] => i64::try_from(time.nanos.div_euclid(1_000_000_000))
            .map(Value::Int)
            .map_err(|_| overflow()),
        [value @ Value::String(text)] => text.parse().map(Value::Int).map_err(|_| conversion(value, "int")),
        _ => no_overload(),
    }
}

fn to_uint<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    let overflow = || Failure::new("unsigned integer overflow");
    match arguments {
        [Value::Uint(number)] => Ok(Value::Uint(*number)),
        [Value::Int(number)] => u64::try_from(*number).map(Value::Uint).map_err(|_| overflow()),
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range is checked"
        )]
        [Value::Double(number)] if (0.0..TWO_TO_64).contains(number) => Ok(Value::Uint(*number as u64)),
        [Value::Double(_)] => Err(overflow()),
        [value @ Value::String(text)] => text.parse().map(Value::Uint).map_err(|_| conversion(value, "uint")),
        _ => no_overload(),
    }
}

fn to_timestamp<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    match arguments {
        [Value::Timestamp(time)] => Ok(Value::Timestamp(*time)),
        [Value::Int(seconds)] => {
            let seconds = i128::from(*seconds);
            if !(-62_135_596_800..=253_402_300_799).contains(&seconds) {
                return Err(Failure::new("timestamp overflow"));
            }
            Ok(Value::Timestamp(Timestamp {
                nanos: seconds * 1_000_000_000,
                offset_seconds: 0,
            }))
        }
        [value @ Value::String(text)] => match go_time::parse_rfc3339(text) {
            Some(nanos) => Ok(Value::Timestamp(Timestamp {
                nanos,
                offset_seconds: text
                    .get(text.len() - 6..)
                    .and_then(go_time::parse_offset)
                    .unwrap_or_default(),
            })),
            None => Err(conversion(value, "google.protobuf.Timestamp")),
        },
        _ => no_overload(),
    }
}

fn to_string<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    let [value] = arguments else {
        return no_overload();
    };
    if let Value::String(text) = value {
        return Ok(Value::String(text.clone()));
    }
    string_of(value).map(|text| Value::String(Text::Owned(text.into())))
}

/// A value as a string.
pub(in crate::cel) fn string_of(value: &Value<'_>) -> Outcome<String> {
    Ok(match value {
        Value::Bool(flag) => flag.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Uint(number) => number.to_string(),
        Value::Double(number) => go_text::float(*number),
        Value::String(text) => text.to_string(),
        Value::Bytes(bytes) => String::from_utf8(bytes.to_vec())
            .map_err(|_| Failure::new("invalid UTF-8 in bytes, cannot convert to string"))?,
        Value::Duration(nanos) => format!("{}s", seconds(*nanos)),
        Value::Timestamp(time) => super::time::rfc3339(*time),
        Value::Type(name) => (*name).to_owned(),
        Value::Ip(address) => address.to_string(),
        Value::Cidr(address, length) => format!("{address}/{length}"),
        _ => return Err(Failure::no_overload()),
    })
}

/// Nanoseconds as seconds, with the digits that are needed.
#[allow(
    clippy::cast_precision_loss,
    reason = "upstream prints the float of the seconds, too"
)]
fn seconds(nanos: i64) -> String {
    let whole = nanos / 1_000_000_000;
    let fraction = (nanos % 1_000_000_000) as f64 / 1e9;
    format!("{}", whole as f64 + fraction)
}

/// An address without zone and not an IPv4 address in IPv6 clothes; the error is upstream's.
pub(in crate::cel) fn parse_address(text: &str) -> Result<std::net::IpAddr, String> {
    let quoted = go_text::quote(text);
    let (address, zone) = text
        .split_once('%')
        .map_or((text, None), |(address, zone)| (address, Some(zone)));
    let Some(parsed) = go_net::parse_ip(address).filter(|parsed| zone.is_none() || parsed.is_ipv6()) else {
        return Err(format!(
            "IP Address {quoted} parse error during conversion from string: ParseAddr({quoted}): unable to parse IP"
        ));
    };
    if zone.is_some() {
        return Err(format!("IP address {quoted} with zone value is not allowed"));
    }
    if matches!(parsed, std::net::IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some()) {
        return Err(format!("IPv4-mapped IPv6 address {quoted} is not allowed"));
    }
    Ok(parsed)
}
