//! What the peers cannot do themselves, and why: the only reason for which a live run leaves something out.

use super::peer::Ability::{self, *};

/// A peer by the beginning of its name in the compat table, what it cannot do, and why.
#[rustfmt::skip]
const GAPS: &[(&str, Ability, &str)] = &[
    ("pymemcache", Utf8Keys, "its murmur3 goes by characters, and keys beyond ASCII are refused unless asked for"),
    ("pymemcache", Weights, "HashClient takes no weights"),
    ("spymemcached", Weights, "ConnectionFactoryBuilder takes none"),
    ("libmemcached/modula", Weights, "MODULA ignores them"),
];

/// Whether the peer can do it.
pub(crate) fn can(compat: &str, ability: Ability) -> bool {
    !GAPS
        .iter()
        .any(|(peer, gap, _)| compat.starts_with(peer) && *gap == ability)
}

#[test]
fn every_gap_has_a_peer_and_a_reason() {
    for (peer, gap, reason) in GAPS {
        let known = sockio::Compat::all();
        assert!(
            known.iter().any(|compat| compat.name().starts_with(peer)),
            "{peer}"
        );
        assert!(!reason.is_empty());
        println!("{peer}: {gap:?}: {reason}");
    }
}
