//! The address of a server. It knows how an address is written, not how it is reached.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::error::{Error, Result};

/// The port of a server whose address names none.
#[doc(alias = "memcache.default_port")]
pub const DEFAULT_PORT: u16 = 11211;

/// A server as it was configured: `host`, `host:port`, `host:port:weight`, `[v6]:port`, `[v6]:port:weight`,
/// `unix:/path` or `/path`.
///
/// The text before the weight, kept to the letter, is the server's *identity*: rings hash it, statistics
/// and errors name it. So `localhost` and `localhost:11211` are two servers to a ring, as they are to the
/// Java client. A name is resolved at each connect, never before.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ServerAddr {
    name: Arc<str>,
    endpoint: Endpoint,
    weight: Option<u32>,
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Endpoint {
    Tcp { host: Arc<str>, port: u16 },
    Unix { path: Arc<str> },
}

impl ServerAddr {
    /// The configured text without the weight.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The host as written, without brackets; for a unix socket its path.
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

        let (host, rest) = match text.strip_prefix('[') {
            Some(inner) => {
                let (host, rest) = inner.split_once(']').ok_or_else(|| bad("']' is missing"))?;
                let without_zone = host.split_once('%').map_or(host, |(host, _)| host);
                if without_zone.parse::<std::net::Ipv6Addr>().is_err() {
                    return Err(bad("no IPv6 address stands in the brackets"));
                }
                match rest.strip_prefix(':') {
                    Some(rest) => (host, Some(rest)),
                    None if rest.is_empty() => (host, None),
                    None => return Err(bad("only ':port' may follow the brackets")),
                }
            }
            None => match text.split_once(':') {
                Some((host, rest)) => (host, Some(rest)),
                None => (text, None),
            },
        };
        if text.parse::<std::net::Ipv6Addr>().is_ok() {
            return Err(bad("write an IPv6 address in brackets, as [::1]:11211"));
        }
        if host.is_empty() {
            return Err(bad("the host is missing"));
        }

        let Some(rest) = rest else {
            let endpoint = Endpoint::Tcp {
                host: host.into(),
                port: DEFAULT_PORT,
            };
            return Ok(Self {
                name: text.into(),
                endpoint,
                weight: None,
            });
        };
        let (port, weight) = match rest.split_once(':') {
            Some((port, weight)) => (port, Some(weight)),
            None => (rest, None),
        };
        let port = number(port).filter(|port| (1..=65535).contains(port));
        let port = port.ok_or_else(|| bad("the port must be a number from 1 to 65535"))? as u16;
        let name = match weight {
            Some(weight) => &text[..text.len() - weight.len() - 1],
            None => text,
        };
        let weight = weight
            .map(|weight| number(weight).ok_or_else(|| bad("the weight must be a number")))
            .transpose()?;
        Ok(Self {
            name: name.into(),
            endpoint: Endpoint::Tcp {
                host: host.into(),
                port,
            },
            weight,
        })
    }
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
    /// The text that [`FromStr`] reads back to an equal address.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match (self.weight, &self.endpoint) {
            (None, _) | (_, Endpoint::Unix { .. }) => Ok(()),
            // A weight has its place behind a port: a name without one gets the default written out.
            (Some(weight), Endpoint::Tcp { port, .. }) if self.names_port() => {
                let _ = port;
                write!(f, ":{weight}")
            }
            (Some(weight), Endpoint::Tcp { port, .. }) => write!(f, ":{port}:{weight}"),
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
    fn what_is_shown_reads_back() {
        for text in ["host", "h:1:5", "[::1]:7:2", "unix:/run/mc.sock", "[::1]"] {
            let addr: ServerAddr = text.parse().unwrap();
            assert_eq!(addr.to_string(), text);
        }
        let addr: ServerAddr = "host".parse::<ServerAddr>().unwrap().with_weight(3);
        assert_eq!(addr.to_string(), "host:11211:3");
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
            "::1",
            "[::1",
            "[x]:1",
            "[::1]x",
            "a b:1",
            "a:1,b:2",
            "a:1\r\n",
            "unix:",
            "a:1:4294967296",
        ] {
            let error = text.parse::<ServerAddr>().unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Config);
            assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
        }
    }
}
