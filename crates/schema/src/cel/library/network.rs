//! URLs, addresses and networks.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::rc::Rc;

use super::super::value::{Failure, Key, Outcome, Value};
use super::convert::parse_address;
use super::{Native, no_overload};
use crate::go_net::Url;

pub(super) fn native(function: &str) -> Option<Native> {
    Some(match function {
        "url" => |arguments| {
            with_text(arguments, |text| {
                let parsed = parse_url(text)
                    .map_err(|error| Failure::new(format!("URL parse error during conversion from string: {error}")))?;
                Ok(Value::Url(Rc::new(parsed)))
            })
        },
        "isURL" => |arguments| with_text(arguments, |text| Ok(Value::Bool(Url::parse_request(text).is_ok()))),
        "getScheme" => |arguments| with_url(arguments, |url| Value::text(url.scheme.as_str())),
        "getHost" => |arguments| with_url(arguments, |url| Value::text(url.host.as_str())),
        "getHostname" => |arguments| with_url(arguments, |url| Value::text(url.hostname())),
        "getPort" => |arguments| with_url(arguments, |url| Value::text(url.port())),
        "getEscapedPath" => |arguments| with_url(arguments, |url| Value::text(url.escaped_path.as_str())),
        "getQuery" => |arguments| with_url(arguments, query),
        "ip" => |arguments| match arguments {
            [Value::Cidr(address, _)] => Ok(Value::Ip(*address)),
            _ => with_text(arguments, |text| address(text).map(Value::Ip)),
        },
        "isIP" => |arguments| with_text(arguments, |text| Ok(Value::Bool(parse_address(text).is_ok()))),
        "ip.isCanonical" => {
            |arguments| with_text(arguments, |text| Ok(Value::Bool(address(text)?.to_string() == text)))
        }
        "family" => |arguments| with_address(arguments, |address| Value::Int(if address.is_ipv4() { 4 } else { 6 })),
        "isUnspecified" => |arguments| with_address(arguments, |address| Value::Bool(address.is_unspecified())),
        "isLoopback" => |arguments| with_address(arguments, |address| Value::Bool(address.is_loopback())),
        "isLinkLocalMulticast" => {
            |arguments| with_address(arguments, |address| Value::Bool(is_link_local_multicast(address)))
        }
        "isLinkLocalUnicast" => {
            |arguments| with_address(arguments, |address| Value::Bool(is_link_local_unicast(address)))
        }
        "isGlobalUnicast" => |arguments| with_address(arguments, |address| Value::Bool(is_global_unicast(address))),
        "cidr" => |arguments| {
            with_text(arguments, |text| {
                network(text).map(|(address, length)| Value::Cidr(address, length))
            })
        },
        "isCIDR" => |arguments| with_text(arguments, |text| Ok(Value::Bool(network(text).is_ok()))),
        "prefixLength" => |arguments| match arguments {
            [Value::Cidr(_, length)] => Ok(Value::Int((*length).into())),
            _ => no_overload(),
        },
        "masked" => |arguments| match arguments {
            [Value::Cidr(address, length)] => Ok(Value::Cidr(mask(*address, *length), *length)),
            _ => no_overload(),
        },
        "containsIP" => contains_address,
        "containsCIDR" => contains_network,
        _ => return None,
    })
}

fn with_text<'a>(arguments: &[Value<'a>], get: fn(&str) -> Outcome<Value<'a>>) -> Outcome<Value<'a>> {
    match arguments {
        [Value::String(text)] => get(text),
        _ => no_overload(),
    }
}

fn with_url<'a>(arguments: &[Value<'a>], get: fn(&Url) -> Value<'a>) -> Outcome<Value<'a>> {
    match arguments {
        [Value::Url(url)] => Ok(get(url)),
        _ => no_overload(),
    }
}

fn with_address<'a>(arguments: &[Value<'a>], get: fn(IpAddr) -> Value<'a>) -> Outcome<Value<'a>> {
    match arguments {
        [Value::Ip(address)] => Ok(get(*address)),
        _ => no_overload(),
    }
}

/// The fragment is checked with the rest and then left out of path and query.
fn parse_url(text: &str) -> Result<Url, String> {
    let url = Url::parse_request(text).map_err(|error| format!("parse {}: {error}", crate::go_text::quote(text)))?;
    match text.split_once('#') {
        Some((before, _)) if !before.is_empty() => Url::parse_request(before).map(|parsed| Url {
            text: url.text,
            ..parsed
        }),
        _ => Ok(url),
    }
}

fn query<'a>(url: &Url) -> Value<'a> {
    let mut values: BTreeMap<String, Vec<Value<'a>>> = BTreeMap::new();
    for pair in url
        .query
        .split('&')
        .filter(|pair| !pair.is_empty() && !pair.contains(';'))
    {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        if let (Some(key), Some(value)) = (unescape(key), unescape(value)) {
            values.entry(key).or_default().push(Value::text(value));
        }
    }
    let entry = |(key, values): (String, Vec<Value<'a>>)| {
        (
            Key::String(key.as_str().into()),
            (Value::text(key), Value::list(values)),
        )
    };
    Value::Map(Rc::new(values.into_iter().map(entry).collect()))
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                let digits = std::str::from_utf8(&digits).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
            }
            other => bytes.push(other),
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn address(text: &str) -> Outcome<IpAddr> {
    parse_address(text).map_err(Failure::new)
}

fn network(text: &str) -> Outcome<(IpAddr, u8)> {
    let quoted = crate::go_text::quote(text);
    let context = "network address parse error during conversion from string";
    let wrong = |why: &str| Failure::new(format!("{context}: {context}: netip.ParsePrefix({quoted}): {why}"));
    let Some((before, prefix)) = text.rsplit_once('/') else {
        return Err(wrong("no '/'"));
    };
    let parsed: IpAddr = before.parse().map_err(|_| wrong("unable to parse IP"))?;
    let is_number = !prefix.is_empty()
        && prefix.bytes().all(|byte| byte.is_ascii_digit())
        && (prefix == "0" || !prefix.starts_with('0'));
    let limit = if parsed.is_ipv4() { 32 } else { 128 };
    let length = prefix.parse::<u8>().ok().filter(|_| is_number);
    let Some(length) = length else {
        return Err(wrong(&format!(
            "bad bits after slash: {}",
            crate::go_text::quote(prefix)
        )));
    };
    if length > limit {
        return Err(wrong("prefix length out of range"));
    }
    if matches!(parsed, IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some()) {
        return Err(Failure::new(format!(
            "{context}: IPv4-mapped IPv6 address {quoted} is not allowed"
        )));
    }
    Ok((parsed, length))
}

fn mask(address: IpAddr, length: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let bits = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or_default();
            IpAddr::V4(Ipv4Addr::from_bits(v4.to_bits() & bits))
        }
        IpAddr::V6(v6) => {
            let bits = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or_default();
            IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & bits))
        }
    }
}

fn holds(network: IpAddr, length: u8, address: IpAddr) -> bool {
    network.is_ipv4() == address.is_ipv4() && mask(network, length) == mask(address, length)
}

fn contains_address<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    match arguments {
        [Value::Cidr(network, length), Value::Ip(inner)] => Ok(Value::Bool(holds(*network, *length, *inner))),
        [Value::Cidr(network, length), Value::String(text)] => {
            Ok(Value::Bool(holds(*network, *length, address(text)?)))
        }
        _ => no_overload(),
    }
}

fn contains_network<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    let (outer, length, (inner, inner_length)) = match arguments {
        [Value::Cidr(outer, length), Value::Cidr(inner, inner_length)] => (outer, length, (*inner, *inner_length)),
        [Value::Cidr(outer, length), Value::String(text)] => (outer, length, network(text)?),
        _ => return no_overload(),
    };
    Ok(Value::Bool(*length <= inner_length && holds(*outer, *length, inner)))
}

fn is_link_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.octets()[..3] == [224, 0, 0],
        IpAddr::V6(v6) => v6.segments()[0] & 0xff0f == 0xff02,
    }
}

fn is_link_local_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    }
}

fn is_global_unicast(address: IpAddr) -> bool {
    let is_broadcast = matches!(address, IpAddr::V4(v4) if v4.is_broadcast());
    !is_broadcast
        && !address.is_unspecified()
        && !address.is_loopback()
        && !address.is_multicast()
        && !is_link_local_unicast(address)
}
