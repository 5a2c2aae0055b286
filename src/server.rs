//! The address of a server. It knows how an address is written, not how it is reached.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;
use std::sync::Arc;

use crate::error::{Error, Result};

/// The port of a server whose address names none.
#[doc(alias = "memcache.default_port")]
pub const DEFAULT_PORT: u16 = 11211;

/// A server as it was configured: `host`, `host:port`, `host:port:weight`, `[v6]:port`, `[v6]:port:weight`,
/// `name/ip:port`, `name/ip:port:weight`, `unix:/path` or `/path`.
///
/// An IPv6 address without a port needs no brackets, unless its end could be one: `::1` is an address, `::1:11` an error.
///
/// The text before the weight, kept to the letter, is the server's *identity*: rings hash it, statistics
/// and errors name it. So `localhost` and `localhost:11211` are two servers to a ring, as they are to the
/// Java client. A name is resolved at each connect, never before.
///
/// `name/ip:port` is a name with the address that it resolves to, as Java writes both: it is reached by the address, and nobody is
/// asked. It is for the clients whose rings hold what a name resolved to: spymemcached's hashes both, Enyim's the address.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ServerAddr {
    name: Arc<str>,
    endpoint: Endpoint,
    weight: Option<u32>,
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Endpoint {
    /// `ip` is the address that was written behind the name.
    Tcp {
        host: Arc<str>,
        ip: Option<IpAddr>,
        port: u16,
    },
    Unix {
        path: Arc<str>,
    },
}

impl ServerAddr {
    /// The configured text without the weight.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The host as written, without brackets, and of `name/ip` the name; for a unix socket its path.
    pub fn host(&self) -> &str {
        match &self.endpoint {
            Endpoint::Tcp { host, .. } => host,
            Endpoint::Unix { path } => path,
        }
    }

    /// The port, 11211 where none was written; `None` for a unix socket.
    pub fn port(&self) -> Option<u16> {
        match self.endpoint {
            Endpoint::Tcp { port, .. } => Some(port),
            Endpoint::Unix { .. } => None,
        }
    }

    /// The weight, if one was given.
    pub fn weight(&self) -> Option<u32> {
        self.weight
    }

    /// This server with a weight, which counts only in relation to those of the other servers.
    pub fn with_weight(mut self, weight: u32) -> Self {
        self.weight = Some(weight);
        self
    }

    /// The IP address, if one was written: as the host, or behind its name.
    pub(crate) fn ip(&self) -> Option<IpAddr> {
        match &self.endpoint {
            Endpoint::Tcp { ip: Some(ip), .. } => Some(*ip),
            Endpoint::Tcp { host, .. } => host.parse().ok(),
            Endpoint::Unix { .. } => None,
        }
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl FromStr for ServerAddr {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad = |why: &str| Error::config(format!("server address {text:?}: {why}"));
        if text.is_empty() {
            return Err(bad("it is empty"));
        }
        if let Some(byte) = text
            .chars()
            .find(|c| c.is_whitespace() || c.is_control() || *c == ',')
        {
            return Err(bad(&format!("{byte:?} cannot stand in an address")));
        }
        let path = text
            .strip_prefix("unix:")
            .or_else(|| text.starts_with('/').then_some(text));
        if let Some(path) = path {
            // `unix:///run/x` is the URL form of `unix:/run/x`.
            let path = path
                .strip_prefix("//")
                .filter(|rest| rest.starts_with('/'))
                .unwrap_or(path);
            if path.is_empty() {
                return Err(bad("the path is missing"));
            }
            return Ok(Self {
                name: text.into(),
                endpoint: Endpoint::Unix { path: path.into() },
                weight: None,
            });
        }

        if text.contains("://") {
            return Err(bad("it has a scheme: write host:port alone"));
        }
        let (name, address) = match text.split_once('/') {
            Some((name, address)) => (Some(name), address),
            None => (None, text),
        };
        let is_bare = is_ipv6(address);
        if (is_bare && name.is_some()) || ends_like_a_port(address) {
            return Err(bad("write an IPv6 address in brackets, as [::1]:11211"));
        }
        let (host, rest) = match address.strip_prefix('[') {
            None if is_bare => (address, None),
            Some(inner) => {
                let (host, rest) = inner.split_once(']').ok_or_else(|| bad("']' is missing"))?;
                if !is_ipv6(host) {
                    return Err(bad("no IPv6 address stands in the brackets"));
                }
                match rest.strip_prefix(':') {
                    Some(rest) => (host, Some(rest)),
                    None if rest.is_empty() => (host, None),
                    None => return Err(bad("only ':port' may follow the brackets")),
                }
            }
            None => match address.split_once(':') {
                Some((host, rest)) => (host, Some(rest)),
                None => (address, None),
            },
        };
        if host.is_empty() {
            return Err(bad("the host is missing"));
        }
        let (host, ip) = match name {
            None => (host, None),
            Some(name) if name.contains([':', '[', ']']) => {
                return Err(bad("only a host name may stand before '/'"));
            }
            Some(name) => match host.parse() {
                Ok(ip) => (name, Some(ip)),
                Err(_) => {
                    return Err(bad(
                        "behind '/' the name's IP address must stand, as in name/10.0.0.1:11211",
                    ));
                }
            },
        };
        let (port, weight) = match rest {
            Some(rest) => match rest.split_once(':') {
                Some((port, weight)) => (Some(port), Some(weight)),
                None => (Some(rest), None),
            },
            None => (None, None),
        };
        let port = match port.map(number) {
            None => DEFAULT_PORT,
            Some(Some(port @ 1..=65535)) => port as u16,
            Some(_) => return Err(bad("the port must be a number from 1 to 65535")),
        };
        let identity = match weight {
            Some(weight) => &text[..text.len() - weight.len() - 1],
            None => text,
        };
        let weight = weight
            .map(|weight| number(weight).ok_or_else(|| bad("the weight must be a number")))
            .transpose()?;
        Ok(Self {
            name: identity.into(),
            endpoint: Endpoint::Tcp {
                host: host.into(),
                ip,
                port,
            },
            weight,
        })
    }
}

/// Whether the text is an IPv6 address, with a zone (`%eth0`) or without.
fn is_ipv6(text: &str) -> bool {
    let address = text.split_once('%').map_or(text, |(address, _)| address);
    address.parse::<Ipv6Addr>().is_ok()
}

/// Whether this can be read as an IPv6 address without brackets and a port.
fn ends_like_a_port(address: &str) -> bool {
    let halves = address.rsplit_once(':');
    halves.is_some_and(|(host, port)| is_ipv6(host) && number(port).is_some())
}

/// Digits only: `u32::from_str` would take a leading `+`.
fn number(text: &str) -> Option<u32> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}

impl fmt::Display for ServerAddr {
    /// The text that [`FromStr`] reads back to an equal address, unless [`with_weight`](Self::with_weight) gave one where none can
    /// be written: behind a name without a port, which then gets it, or behind the path of a unix socket, where it is left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match (self.weight, &self.endpoint) {
            (None, _) | (_, Endpoint::Unix { .. }) => f.write_str(name),
            // A weight has its place behind a port: a name without one gets the default written out.
            (Some(weight), Endpoint::Tcp { port, .. }) if is_ipv6(name) => {
                write!(f, "[{name}]:{port}:{weight}")
            }
            (Some(weight), Endpoint::Tcp { .. }) if self.names_port() => {
                write!(f, "{name}:{weight}")
            }
            (Some(weight), Endpoint::Tcp { port, .. }) => write!(f, "{name}:{port}:{weight}"),
        }
    }
}

impl ServerAddr {
    fn names_port(&self) -> bool {
        self.name
            .rsplit_once(']')
            .map_or(&*self.name, |(_, rest)| rest)
            .contains(':')
    }
}

impl fmt::Debug for ServerAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerAddr({self})")
    }
}

/// What [`SockIoPoolBuilder::servers`](crate::SockIoPoolBuilder::servers) takes: an address, or a text that becomes one.
pub trait ToServerAddr {
    /// The address, or why the text is none.
    fn to_server_addr(&self) -> Result<ServerAddr>;
}

impl ToServerAddr for ServerAddr {
    fn to_server_addr(&self) -> Result<ServerAddr> {
        Ok(self.clone())
    }
}

impl<T: AsRef<str> + ?Sized> ToServerAddr for T {
    fn to_server_addr(&self) -> Result<ServerAddr> {
        self.as_ref().parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (String, String, Option<u16>, Option<u32>) {
        let addr: ServerAddr = text.parse().unwrap();
        (
            addr.name().into(),
            addr.host().into(),
            addr.port(),
            addr.weight(),
        )
    }

    #[test]
    fn every_form_is_read() {
        let row =
            |name: &str, host: &str, port, weight| (name.to_owned(), host.to_owned(), port, weight);
        assert_eq!(parts("host"), row("host", "host", Some(11211), None));
        assert_eq!(
            parts("10.0.0.1:1122"),
            row("10.0.0.1:1122", "10.0.0.1", Some(1122), None)
        );
        assert_eq!(parts("h:1:5"), row("h:1", "h", Some(1), Some(5)));
        assert_eq!(
            parts("[::1]:11211"),
            row("[::1]:11211", "::1", Some(11211), None)
        );
        assert_eq!(
            parts("[fe80::1%eth0]"),
            row("[fe80::1%eth0]", "fe80::1%eth0", Some(11211), None)
        );
        for (text, host) in [("::1", "::1"), ("2001:db8::5", "2001:db8::5"), ("::", "::")] {
            assert_eq!(parts(text), row(text, host, Some(11211), None));
        }
        assert_eq!(
            parts("fe80::1%lo"),
            row("fe80::1%lo", "fe80::1%lo", Some(11211), None)
        );
        assert_eq!(parts("[::1]:7:2"), row("[::1]:7", "::1", Some(7), Some(2)));
        assert_eq!(
            parts("unix:/run/mc.sock"),
            row("unix:/run/mc.sock", "/run/mc.sock", None, None)
        );
        assert_eq!(
            parts("unix:///run/mc.sock"),
            row("unix:///run/mc.sock", "/run/mc.sock", None, None)
        );
        assert_eq!(
            parts("/run/mc.sock"),
            row("/run/mc.sock", "/run/mc.sock", None, None)
        );
    }

    #[test]
    fn a_name_may_bring_its_ip_address() {
        let ip = |text: &str| {
            text.parse::<ServerAddr>()
                .unwrap()
                .ip()
                .map(|ip| ip.to_string())
        };
        for (text, name, address, port, weight) in [
            ("h/10.0.0.1:7", "h/10.0.0.1:7", "10.0.0.1", 7, None),
            ("h/10.0.0.1", "h/10.0.0.1", "10.0.0.1", 11211, None),
            ("h/10.0.0.1:7:2", "h/10.0.0.1:7", "10.0.0.1", 7, Some(2)),
            ("h/[::1]:7:2", "h/[::1]:7", "::1", 7, Some(2)),
        ] {
            assert_eq!(
                parts(text),
                (name.into(), "h".into(), Some(port), weight),
                "{text}"
            );
            assert_eq!(ip(text).as_deref(), Some(address));
        }
        assert_eq!(ip("[::1]:7").as_deref(), Some("::1"));
        assert_eq!((ip("h:7"), ip("/run/mc.sock")), (None, None));
    }

    #[test]
    fn what_is_shown_reads_back() {
        for text in [
            "host",
            "h:1:5",
            "[::1]:7:2",
            "unix:/run/mc.sock",
            "[::1]",
            "::1",
            "fe80::1%lo",
            "h/10.0.0.1:1:5",
            "h/[::1]",
        ] {
            let addr: ServerAddr = text.parse().unwrap();
            assert_eq!(addr.to_string(), text);
        }
        for (text, weighted) in [
            ("host", "host:11211:3"),
            ("h/10.0.0.1", "h/10.0.0.1:11211:3"),
            ("h/[::1]", "h/[::1]:11211:3"),
            ("::1", "[::1]:11211:3"),
            ("fe80::1%lo", "[fe80::1%lo]:11211:3"),
        ] {
            let addr: ServerAddr = text.parse::<ServerAddr>().unwrap().with_weight(3);
            assert_eq!(addr.to_string(), weighted);
        }
    }

    #[test]
    fn a_usual_mistake_is_told_how_to_mend_it() {
        for (text, advice) in [
            ("::1:11211", "in brackets"),
            ("2001:db8::1:11211", "in brackets"),
            ("::1:11", "in brackets"),
            ("h/::1:11211", "in brackets"),
            ("tcp://h:1", "scheme"),
            ("memcached://[::1]:1", "scheme"),
        ] {
            let error = text.parse::<ServerAddr>().unwrap_err().to_string();
            assert!(error.contains(advice), "{error}");
        }
        assert!("unix:///run/mc.sock".parse::<ServerAddr>().is_ok());
    }

    #[test]
    fn a_bad_address_is_named() {
        for text in [
            "",
            ":11211",
            "a:",
            "a:0",
            "a:99999",
            "a:+1",
            "a:x",
            "a:1:",
            "a:1:-1",
            "a:1:2:3",
            "::1:2",
            "2001:db8::1:8080",
            "fe80::1%lo:11211",
            "[::1",
            "[x]:1",
            "[::1]x",
            "a b:1",
            "a:1,b:2",
            "a:1\r\n",
            "unix:",
            "a:1:4294967296",
            "a/b:1",
            "a/:1",
            "a/",
            "a:1/10.0.0.1:1",
            "a/b/10.0.0.1:1",
            "a/::1",
            "a/10.0.0.1:0",
            "a/[10.0.0.1]:1",
        ] {
            let error = text.parse::<ServerAddr>().unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Config);
            assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
        }
    }
}
