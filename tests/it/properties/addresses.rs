//! Addresses: what is read is shown as a text that is read the same, and what is no address is refused by name.

use proptest::prelude::*;
use sockio::{DEFAULT_PORT, ErrorKind, ServerAddr};

use super::inputs;

fn host() -> impl Strategy<Value = String> {
    let name = prop::collection::vec(
        prop::sample::select("abcxyz019.-_%é".chars().collect::<Vec<_>>()),
        1..20,
    );
    let v6 = any::<[u16; 8]>().prop_map(|parts| format!("[{}]", std::net::Ipv6Addr::from(parts)));
    let zoned = any::<u16>().prop_map(|part| format!("[fe80::{part:x}%eth0]"));
    let v4 = any::<[u8; 4]>().prop_map(|parts| std::net::Ipv4Addr::from(parts).to_string());
    let name = name.prop_map(|chars| chars.into_iter().collect::<String>());
    let both = (name.clone(), prop_oneof![v4.clone(), v6.clone()])
        .prop_map(|(name, ip)| format!("{name}/{ip}"));
    prop_oneof![name, v4, v6, zoned, both]
}

proptest! {
    #![proptest_config(inputs(1_000))]

    #[test]
    fn every_part_is_read_and_shown(
        host in host(),
        port in prop::option::of(1_u16..),
        weight in prop::option::of(any::<u32>()),
        given in prop::option::of(any::<u32>()),
    ) {
        let mut text = host.clone();
        // A weight has its place behind a port.
        let port = port.or(weight.map(|_| DEFAULT_PORT));
        if let Some(port) = port {
            text += &format!(":{port}");
        }
        let name = text.clone();
        if let Some(weight) = weight {
            text += &format!(":{weight}");
        }
        let mut server: ServerAddr = text.parse().unwrap();
        prop_assert_eq!((server.name(), server.weight()), (&*name, weight));
        prop_assert_eq!(server.port(), Some(port.unwrap_or(DEFAULT_PORT)));
        let shown = host.split('/').next().unwrap().trim_matches(['[', ']']);
        prop_assert_eq!(server.host(), shown);
        prop_assert_eq!(server.to_string(), text);
        if let Some(weight) = given {
            server = server.with_weight(weight);
        }
        let again: ServerAddr = server.to_string().parse().unwrap();
        prop_assert_eq!((again.host(), again.port(), again.weight()), (server.host(), server.port(), server.weight()));
        prop_assert!(given.is_some() && port.is_none() || again == server);
    }

    #[test]
    fn any_text_is_an_address_or_refused(text in any_text()) {
        match text.parse::<ServerAddr>() {
            Ok(server) => {
                prop_assert!(!server.host().is_empty() && server.port() != Some(0));
                prop_assert!(!text.contains(|c: char| c.is_whitespace() || c.is_control() || c == ','));
                prop_assert_eq!(server.to_string().parse::<ServerAddr>().unwrap(), server);
            }
            Err(error) => {
                prop_assert_eq!(error.kind(), ErrorKind::Config);
                let (shown, named) = (error.to_string(), format!("{text:?}"));
                prop_assert!(shown.contains(&named), "{}", shown);
            }
        }
    }
}

/// Texts of the characters that have a meaning, and some that have none.
fn any_text() -> impl Strategy<Value = String> {
    let pieces = [
        "a", "host", "1", "0", "11211", "65536", ":", "::", "[", "]", "/", "unix:", "%", ",", " ",
        "\r\n", "\0", "-", "+", "::1", "10.0.0.1", "é", "\u{2028}",
    ];
    let pieces = prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..8);
    prop_oneof![pieces.prop_map(|pieces| pieces.concat()), any::<String>()]
}
