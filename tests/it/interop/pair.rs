//! A peer and this crate side by side at the same servers.

use sockio::Compat;

use super::fleet::Fleet;
use super::own::Own;
use super::places::Places;
use super::script::{Language, Script};

/// Both do as the same row of the compat table says.
pub(crate) struct Pair {
    pub(crate) places: Places,
    pub(crate) peer: Script,
    pub(crate) own: Own,
}

/// What has been shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BothWays {
    pub(crate) to_own: usize,
    pub(crate) from_own: usize,
    /// Long texts that both wrote compressed.
    pub(crate) compressed: usize,
}

impl Pair {
    pub(crate) fn new(language: Language, name: &str, fleet: &Fleet) -> Self {
        Self::with_env(language, name, fleet, &[])
    }

    /// With settings for the script.
    pub(crate) fn with_env(
        language: Language,
        name: &str,
        fleet: &Fleet,
        env: &[(&str, &str)],
    ) -> Self {
        let compat: Compat = name.parse().unwrap();
        Self {
            places: Places::new(compat, fleet),
            peer: language.start(name, fleet, env),
            own: Own::new(compat, fleet),
        }
    }

    /// Every key in both directions.
    pub(crate) fn both_ways(&mut self, fleet: &mut Fleet, when: &str) -> BothWays {
        let Self { places, peer, own } = self;
        let theirs = places.trips(fleet, peer, own, &format!("theirs, {when}"));
        let ours = places.trips(fleet, own, peer, &format!("ours, {when}"));
        BothWays {
            to_own: theirs.count,
            from_own: ours.count,
            compressed: theirs.compressed.min(ours.compressed),
        }
    }

    /// Asks both until they know that the server was stopped.
    pub(crate) fn notice(&mut self) {
        self.places.notice(&mut self.peer);
        self.places.notice(&mut self.own);
    }
}
