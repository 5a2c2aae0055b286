//! One name per way in which a known client places keys: hash, distribution, failover walk and key rules in one row. It knows no socket.

mod defaults;
mod libmemcached;
mod row;
pub mod session;
mod table;

pub(crate) use defaults::PoolDefaults;
pub(crate) use row::Family;
pub use row::Proof;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::codec::{Enyim, MemcachedDotNet, PhpMemcache, Raw, Transcoder, Whalin};
use crate::error::{Error, Result};
use crate::hash::HashingAlg;
use crate::key::{KeyRules, KeyTransform};
use crate::router::{Distribution, FailoverWalk, Router};
use crate::server::ServerAddr;
use row::Row;

/// A known client and its settings: where it puts keys and in what form it sends them.
///
/// The name is `CLIENT/ALGORITHM`, with `+VARIANT` behind it where there is one.
///
/// ```
/// use sockio::Compat;
/// let compat: Compat = "whalin/new-compat".parse()?;
/// let router = compat.router(vec!["10.0.0.1:11211".parse()?, "10.0.0.2:11211".parse()?])?;
/// assert_eq!(router.first(b"user:582", None), 1);
/// # Ok::<(), sockio::Error>(())
/// ```
#[doc(alias = "setHashingAlg")]
#[doc(alias = "HashingAlgorithm")]
#[derive(Clone, Copy)]
pub struct Compat(&'static Row);

impl Compat {
    /// Every combination that is known, client by client.
    pub fn all() -> Vec<Compat> {
        table::GROUPS
            .iter()
            .flat_map(|group| group.iter().map(Compat))
            .collect()
    }

    /// `CLIENT/ALGORITHM[+VARIANT]`.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The client's name: what stands before the first `/`.
    pub fn client(self) -> &'static str {
        self.name().split('/').next().unwrap_or_default()
    }

    /// What it is, in one line.
    pub fn description(self) -> &'static str {
        self.0.about
    }

    /// What it rests on.
    pub fn proof(self) -> Proof {
        self.0.proof
    }

    /// The function that hashes keys.
    pub fn hashing(self) -> Arc<dyn HashingAlg> {
        Arc::new(self.0.hash)
    }

    /// How the servers share the keys.
    pub fn distribution(self) -> Arc<dyn Distribution> {
        Arc::new(self.0.spread)
    }

    /// Where a key goes when its server fails.
    pub fn walk(self) -> Arc<dyn FailoverWalk> {
        Arc::new(self.0.walk)
    }

    /// What the client makes of a key before it hashes and sends it.
    pub fn key_transform(self) -> KeyTransform {
        self.0.keys
    }

    /// Whether a prefix is hashed together with the key.
    ///
    /// True also for clients that know no prefix: their programs write it into the key.
    pub fn hashes_prefix(self) -> bool {
        self.0.family.hashes_prefix()
    }

    /// What the client sends and hashes of a key behind `prefix`, which may be empty.
    ///
    /// ```
    /// use sockio::{Compat, ToKey};
    /// let rules = "whalin/native+sanitize".parse::<Compat>()?.key_rules(b"app:")?;
    /// assert_eq!(rules.apply("a b".to_key())?.bytes(), b"app:a+b");
    /// # Ok::<(), sockio::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Config`](crate::ErrorKind::Config) if no key can follow the prefix.
    pub fn key_rules(self, prefix: &[u8]) -> Result<KeyRules> {
        let rules = KeyRules {
            transform: self.key_transform(),
            prefix: Arc::from(prefix),
            hash_prefix: self.hashes_prefix(),
        };
        rules.check_prefix()?;
        Ok(rules)
    }

    /// A router over `servers`, in the order in which they are configured.
    ///
    /// # Errors
    /// Those of [`Router::new`], and of clients whose distribution cannot take such a server.
    pub fn router(self, servers: Vec<ServerAddr>) -> Result<Router> {
        Router::new(servers, self.hashing(), self.distribution(), self.walk())
    }

    /// The form in which the client stores values. Of a library without one of its own (libmemcached): bytes as they are.
    pub fn transcoder(self) -> Arc<dyn Transcoder> {
        match self.client() {
            // What 2.x writes, 3.x reads; not the other way round.
            "whalin" => Arc::new(Whalin::v2()),
            "whalin-1" => Arc::new(Whalin::v1()),
            "memcacheddotnet" => Arc::new(MemcachedDotNet::new()),
            "enyim" => Arc::new(Enyim::new()),
            "pecl-memcache" => Arc::new(PhpMemcache::new()),
            _ => Arc::new(Raw::new()),
        }
    }

    #[allow(dead_code)]
    pub(crate) fn family(self) -> Family {
        self.0.family
    }
}

/// The weighted ring of libmemcached.
impl Default for Compat {
    fn default() -> Self {
        Self(table::DEFAULT)
    }
}

impl FromStr for Compat {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Compat::all()
            .into_iter()
            .find(|compat| compat.name() == name)
            .ok_or_else(|| unknown(name))
    }
}

/// Names what there is, compactly: `client/{a, b}; client/dist/{c, d}`.
fn unknown(name: &str) -> Error {
    if let Some((_, feature)) = table::FEATURES.iter().find(|(it, _)| *it == name) {
        return Error::config(format!(
            "{name:?} needs the feature {feature:?} of this crate, which is off"
        ));
    }
    let mut message =
        format!("{name:?} is no known combination of client and algorithm. Known are: ");
    let mut open = None;
    for compat in Compat::all() {
        let (group, last) = compat
            .name()
            .rsplit_once('/')
            .unwrap_or(("", compat.name()));
        match open {
            Some(same) if same == group => message.push_str(", "),
            Some(_) => message.push_str("}; "),
            None => {}
        }
        if open != Some(group) {
            message.push_str(group);
            message.push_str("/{");
        }
        message.push_str(last);
        open = Some(group);
    }
    message.push('}');
    Error::config(message)
}

impl PartialEq for Compat {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Compat {}

impl fmt::Display for Compat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for Compat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Compat({})", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_to_its_row_and_stands_once() {
        let all = Compat::all();
        assert!(!all.is_empty());
        for compat in &all {
            assert_eq!(compat.to_string().parse::<Compat>().unwrap(), *compat);
            assert_eq!(all.iter().filter(|other| *other == compat).count(), 1);
            assert!(!compat.description().is_empty());
        }
    }

    #[test]
    #[cfg(not(feature = "sha1"))]
    fn a_name_behind_a_feature_tells_which() {
        let message = "dalli/default".parse::<Compat>().unwrap_err().to_string();
        assert!(message.contains("feature \"sha1\""), "{message}");
    }

    #[test]
    fn an_unknown_name_is_told_what_there_is() {
        let error = "whalin/newcompat".parse::<Compat>().unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Config);
        let message = error.to_string();
        assert!(message.contains("\"whalin/newcompat\""), "{message}");
        assert!(message.contains("whalin/{native, "), "{message}");
    }
}
