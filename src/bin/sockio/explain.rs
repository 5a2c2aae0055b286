//! The steps from a key to its server, in words. It does not know where the key came from.

use std::io::{self, Write};

use sockio::WireKey;
use sockio::router::Router;

use crate::place;

/// Servers of a walk that are shown; a client may draw far more often.
const MAX_SHOWN: usize = 16;

/// Writes a paragraph. `dead` tells which servers are; it may be shorter than the list.
pub(crate) fn write(
    out: &mut impl Write,
    router: &Router,
    key: &[u8],
    wire: &WireKey<'_>,
    dead: &[bool],
) -> io::Result<()> {
    let (sent, hashed) = (wire.bytes(), wire.hashed());
    let found = place::find(router, hashed);
    let placement = router.placement();
    let slots = placement.slots();
    // People count from 1.
    let nth = found.slot + 1;

    line(out, "key", key)?;
    line(out, "wire key", sent)?;
    if hashed != sent {
        line(out, "hashed", hashed)?;
    }
    if placement.score(hashed, found.slot).is_some() {
        writeln!(
            out,
            "bid       {}, the highest of {slots} servers",
            found.number
        )?;
    } else {
        writeln!(out, "hash      {}", found.number)?;
        match placement.point(found.slot) {
            Some(point) => writeln!(
                out,
                "point     {point}, number {nth} of {slots} on the ring"
            )?,
            None => writeln!(out, "bucket    {nth} of {slots}")?,
        }
    }
    writeln!(out, "server    {}", router.servers()[found.server].name())?;
    writeln!(out, "walk      {}", walk(router, hashed, dead))?;
    writeln!(out)
}

/// The servers to try should each fail; up to the first that answers, if it is known which do.
fn walk(router: &Router, hashed: &[u8], dead: &[bool]) -> String {
    let is_dead = |server: usize| dead.get(server).is_some_and(|dead| *dead);
    let down = (0..dead.len()).filter(|server| is_dead(*server));
    let mut candidates = router.candidates_without(hashed, None, down.collect());
    let mut steps = Vec::new();
    while let Some(server) = candidates.next(&mut || false) {
        if steps.len() == MAX_SHOWN {
            steps.push("…".to_owned());
            break;
        }
        let name = router.servers()[server].name();
        if is_dead(server) {
            steps.push(format!("{name} (dead)"));
            continue;
        }
        steps.push(name.to_owned());
        if !dead.is_empty() {
            return steps.join(", ");
        }
    }
    if !dead.is_empty() {
        steps.push("and no further".to_owned());
    }
    steps.join(", ")
}

fn line(out: &mut impl Write, name: &str, bytes: &[u8]) -> io::Result<()> {
    write!(out, "{name:<10}")?;
    out.write_all(bytes)?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use sockio::{Compat, Room, ToKey};

    use super::*;

    fn explained(compat: &str, prefix: &str, key: &str, dead: &[bool]) -> String {
        let compat: Compat = compat.parse().unwrap();
        let servers = ["a:1:2", "b:2:1", "c:3:1"].map(|name| name.parse().unwrap());
        let router = compat.router(servers.to_vec()).unwrap();
        let rules = compat.key_rules(prefix.as_bytes()).unwrap();
        let mut room = Room::default();
        let wire = rules.apply(key.to_key(), &mut room).unwrap();
        let mut out = Vec::new();
        write(&mut out, &router, key.as_bytes(), &wire, dead).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// 94,648, the hash of `a+b`, can be divided by 4.
    #[test]
    fn a_bucket() {
        let text = explained("whalin/native+sanitize", "", "a b", &[]);
        let head = "key       a b\nwire key  a+b\nhash      94648\nbucket    1 of 4\nserver    a:1\nwalk      a:1, ";
        assert!(text.starts_with(head), "{text}");
    }

    #[test]
    fn a_point_and_a_prefix_that_is_not_hashed() {
        let text = explained("libmemcached/ketama-weighted", "app:", "k", &[]);
        assert!(text.contains("wire key  app:k\nhashed    k\n"), "{text}");
        assert!(text.contains(" of 480 on the ring\n"), "{text}");
        let text = explained("pymemcache/default", "", "k", &[]);
        assert!(text.contains("the highest of 3 servers\n"), "{text}");
    }

    #[test]
    fn a_walk_ends_where_a_server_answers() {
        let text = explained("whalin/native+sanitize", "", "a b", &[true, true, false]);
        assert!(text.contains("walk      a:1 (dead), "), "{text}");
        assert!(text.ends_with(", c:3\n\n"), "{text}");
        let text = explained("gomemcache/default", "", "k", &[true; 3]);
        assert!(text.contains(" (dead), and no further\n"), "{text}");
    }
}
