//! The clock of pools: moments as plain numbers, so that comparing deadlines costs next to nothing.

use std::ops::Add;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A point of time: nanoseconds since the process first asked, plus one, so that 0 is free to mean "none".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(u64);

static EPOCH: OnceLock<Instant> = OnceLock::new();

impl Moment {
    pub(crate) fn now() -> Self {
        let epoch = EPOCH.get_or_init(Instant::now);
        // No process lives for the 500 years that would wrap it.
        Self(epoch.elapsed().as_nanos() as u64 + 1)
    }

    /// The number, never 0; for atomics.
    #[inline]
    pub(crate) fn number(self) -> u64 {
        self.0
    }

    #[inline]
    pub(crate) fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// Nanoseconds since `earlier`; 0 if that is later.
    #[inline]
    pub(crate) fn nanos_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The time since `earlier`; zero if that is later.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.nanos_since(earlier))
    }

    /// The same point of time for others.
    pub(crate) fn instant(self) -> Instant {
        *EPOCH.get_or_init(Instant::now) + Duration::from_nanos(self.0.saturating_sub(1))
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    /// Saturates: after more than 500 years.
    #[inline]
    fn add(self, time: Duration) -> Self {
        Self(self.0.saturating_add(nanos(time)))
    }
}

/// Nanoseconds, as many as fit.
#[inline]
pub(crate) fn nanos(time: Duration) -> u64 {
    time.as_secs()
        .saturating_mul(1_000_000_000)
        .saturating_add(u64::from(time.subsec_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_follow_the_clock_and_never_overflow() {
        let (before, first) = (Instant::now(), Moment::now());
        let (second, after) = (Moment::now(), Instant::now());
        assert!(first.number() > 0 && first <= second);
        assert!(second.since(first) <= after - before);
        assert_eq!(first.since(second + Duration::MAX), Duration::ZERO);
        assert_eq!((first + Duration::from_nanos(7)).nanos_since(first), 7);
        assert!(before - Duration::from_micros(1) <= first.instant() && first.instant() <= after);
    }
}
