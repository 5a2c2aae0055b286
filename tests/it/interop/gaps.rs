//! What the peers cannot do themselves, and why: the only reason for which a live run leaves something out.

use super::peer::Ability::{self, *};

/// A peer by the beginning or the end of its name in the compat table, what it cannot do, and why.
#[rustfmt::skip]
const GAPS: &[(&str, Ability, &str)] = &[
    ("pymemcache", Utf8Keys, "refuses them unless told otherwise, and then hashes characters, not bytes"),
    ("pymemcache", Weights, "HashClient takes no weights"),
    ("spymemcached", Weights, "ConnectionFactoryBuilder takes none"),
    ("libmemcached/modula", Weights, "MODULA ignores them"),
    ("+pylibmc", Bools, "stored as 1 and 0, and read back as numbers"),
    ("pymemcache", Compress, "version 3 compresses nothing"),
];

/// Whether the peer can do it.
pub(crate) fn can(compat: &str, ability: Ability) -> bool {
    !GAPS
        .iter()
        .any(|(peer, gap, _)| names(peer, compat) && *gap == ability)
}

fn names(peer: &str, compat: &str) -> bool {
    compat.starts_with(peer) || compat.ends_with(peer)
}

#[test]
fn every_gap_has_a_peer_and_a_reason() {
    for (peer, gap, reason) in GAPS {
        let known = sockio::Compat::all();
        assert!(
            known.iter().any(|compat| names(peer, compat.name())),
            "{peer}"
        );
        assert!(!reason.is_empty());
        println!("{peer}: {gap:?}: {reason}");
    }
}
