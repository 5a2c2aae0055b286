//! One name per way in which a known client places keys: hash, distribution, failover walk and key rules in one row. It knows no socket.

mod defaults;
mod libmemcached;
mod program;
mod row;
pub mod session;
mod table;

pub(crate) use defaults::PoolDefaults;
pub(crate) use row::Family;
pub use row::Proof;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::codec::{
    Dalli, Enyim, MemcachedDotNet, PerlCacheMemcached, PhpMemcache, Pymemcache, PythonMemcached,
    Raw, Spymemcached, Transcoder, Whalin,
};
use crate::error::{Error, Result};
use crate::hash::HashingAlg;
use crate::key::{KeyRules, KeyTransform};
use crate::router::{Distribution, FailoverWalk, Router};
use crate::server::ServerAddr;
use program::Program;
use row::Row;

/// A known client and its settings: where it puts keys and in what form it sends them.
///
/// The name is `CLIENT/ALGORITHM`, with `+VARIANT` behind it where there is one. Each of libmemcached's stands for placement with values as they are;
/// with `+php` or `+pylibmc` behind it, it reads and writes values as PHP's `Memcached` or Python's pylibmc does on top of it.
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
pub struct Compat {
    row: &'static Row,
    name: &'static str,
    program: Option<Program>,
}

impl Compat {
    /// Every combination that is known, client by client, and then those of libmemcached with the programs that stand on it.
    pub fn all() -> Vec<Compat> {
        let programs = Program::ALL.into_iter().enumerate();
        let under_programs = programs.flat_map(|(at, program)| {
            rows().filter_map(move |row| {
                Some(Compat {
                    row,
                    name: row.programs?.get(at)?,
                    program: Some(program),
                })
            })
        });
        rows().map(Compat::of).chain(under_programs).collect()
    }

    /// `CLIENT/ALGORITHM[+VARIANT]`.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The client's name: what stands before the first `/`.
    pub fn client(self) -> &'static str {
        self.name.split('/').next().unwrap_or_default()
    }

    /// What it is, in one line.
    pub fn description(self) -> &'static str {
        self.program.map_or(self.row.about, Program::about)
    }

    /// What it rests on.
    pub fn proof(self) -> Proof {
        self.row.proof
    }

    /// The function that hashes keys.
    pub fn hashing(self) -> Arc<dyn HashingAlg> {
        Arc::new(self.row.hash)
    }

    /// How the servers share the keys.
    pub fn distribution(self) -> Arc<dyn Distribution> {
        Arc::new(self.row.spread)
    }

    /// Where a key goes when its server fails.
    pub fn walk(self) -> Arc<dyn FailoverWalk> {
        Arc::new(self.row.walk)
    }

    /// What the client makes of a key before it hashes and sends it.
    pub fn key_transform(self) -> KeyTransform {
        self.row.keys
    }

    /// Whether a prefix is hashed together with the key.
    ///
    /// True also for clients that know no prefix: their programs write it into the key.
    pub fn hashes_prefix(self) -> bool {
        self.row.family.hashes_prefix()
    }

    /// What the client sends and hashes of a key behind `prefix`, which may be empty.
    ///
    /// ```
    /// use sockio::{Compat, Room, ToKey};
    /// let rules = "whalin/native+sanitize".parse::<Compat>()?.key_rules(b"app:")?;
    /// let mut room = Room::default();
    /// assert_eq!(rules.apply("a b".to_key(), &mut room)?.bytes(), b"app:a+b");
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

    /// The form in which the client stores values. Of a library without one of its own (libmemcached, gomemcache): bytes as they are.
    pub fn transcoder(self) -> Arc<dyn Transcoder> {
        if let Some(program) = self.program {
            return program.transcoder();
        }
        match self.client() {
            // What 2.x writes, 3.x reads; not the other way round.
            "whalin" => Arc::new(Whalin::v2()),
            "whalin-1" => Arc::new(Whalin::v1()),
            "memcacheddotnet" => Arc::new(MemcachedDotNet::new()),
            "enyim" => Arc::new(Enyim::new()),
            "pecl-memcache" => Arc::new(PhpMemcache::new()),
            "spymemcached" => Arc::new(Spymemcached::new()),
            "perl-cache-memcached" => Arc::new(PerlCacheMemcached::new()),
            "perl-cache-memcached-fast" => Arc::new(PerlCacheMemcached::fast()),
            "python-memcached" => Arc::new(PythonMemcached::new()),
            // What its `pickle_serde` writes, programs without a serde read as bytes; not the other way round.
            "pymemcache" => Arc::new(Pymemcache::new()),
            "dalli" => Arc::new(Dalli::new()),
            _ => Arc::new(Raw::new()),
        }
    }

    #[allow(dead_code)]
    pub(crate) fn family(self) -> Family {
        self.row.family
    }

    fn of(row: &'static Row) -> Self {
        Self {
            row,
            name: row.name,
            program: None,
        }
    }
}

fn rows() -> impl Iterator<Item = &'static Row> {
    table::GROUPS.iter().flat_map(|group| group.iter())
}

/// The weighted ring of libmemcached.
impl Default for Compat {
    fn default() -> Self {
        Self::of(table::DEFAULT)
    }
}

impl FromStr for Compat {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Compat::all()
            .into_iter()
            .find(|compat| compat.name == name)
            .ok_or_else(|| unknown(name))
    }
}

/// Names what there is, compactly: `client/{a, b}; client/dist/{c, d}`, and the programs once for all.
fn unknown(name: &str) -> Error {
    if let Some((_, feature)) = table::FEATURES.iter().find(|(it, _)| *it == name) {
        return Error::config(format!(
            "{name:?} needs the feature {feature:?} of this crate, which is off"
        ));
    }
    let mut message =
        format!("{name:?} is no known combination of client and algorithm. Known are: ");
    let mut open = None;
    for row in rows() {
        let (group, last) = row.name.rsplit_once('/').unwrap_or(("", row.name));
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
    message.push_str("; each of libmemcached's also with +php or +pylibmc behind it");
    Error::config(message)
}

impl PartialEq for Compat {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Compat {}

impl fmt::Display for Compat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
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
    fn programs_differ_from_their_library_in_values_only() {
        let rows = rows().filter(|row| row.family == Family::Libmemcached);
        let rows: Vec<Compat> = rows.map(Compat::of).collect();
        assert!(rows.len() > 40);
        for plain in rows {
            for (suffix, form) in [
                ("", "Raw"),
                ("+php", "PhpMemcached"),
                ("+pylibmc", "Pylibmc"),
            ] {
                let compat: Compat = format!("{plain}{suffix}").parse().unwrap();
                assert!(std::ptr::eq(compat.row, plain.row));
                assert_eq!(compat.client(), "libmemcached");
                assert_eq!(compat == plain, suffix.is_empty());
                assert!(format!("{:?}", compat.transcoder()).starts_with(form));
                assert!(Compat::all().contains(&compat));
            }
        }
        for name in [
            "whalin/native+php",
            "+php",
            "libmemcached/modula/md5+php+php",
        ] {
            assert!(name.parse::<Compat>().is_err(), "{name}");
        }
    }

    #[test]
    fn every_client_has_its_own_form() {
        for compat in rows().map(Compat::of) {
            let form = match compat.client() {
                "whalin" | "whalin-1" => "Whalin",
                "memcacheddotnet" => "MemcachedDotNet",
                "pecl-memcache" => "PhpMemcache ",
                "enyim" => "Enyim",
                "spymemcached" => "Spymemcached",
                "perl-cache-memcached" | "perl-cache-memcached-fast" => "PerlCacheMemcached",
                "python-memcached" => "PythonMemcached",
                "pymemcache" => "Pymemcache",
                "dalli" => "Dalli",
                "libmemcached" | "gomemcache" => "Raw",
                other => panic!("{other}"),
            };
            let transcoder = format!("{:?}", compat.transcoder());
            assert!(transcoder.starts_with(form), "{compat}: {transcoder}");
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
        assert!(message.ends_with("also with +php or +pylibmc behind it"));
    }
}
