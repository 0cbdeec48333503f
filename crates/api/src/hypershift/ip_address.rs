//! An IP address as a string with rules, shared by the kinds of private connectivity.

use std::net::IpAddr;

use crate::text::string_type;

string_type! {
    /// One IPv4 or IPv6 address, without a zone and without a prefix length.
    pub struct IpAddress {
        length: 1..=39,
        rule: "isIP(self)" => "must be an address such as 10.0.1.4 or fd00::4", check: is_address,
    }
}

/// Agrees with the isIP function of an API server, which also refuses IPv4 addresses in IPv6 clothes.
fn is_address(text: &str) -> bool {
    match text.parse() {
        Ok(IpAddr::V4(_)) => true,
        Ok(IpAddr::V6(address)) => address.to_ipv4_mapped().is_none(),
        Err(_) => false,
    }
}
