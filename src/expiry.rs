//! When an item ends. Time enters as an argument.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Longer relative times are read by the server as seconds since 1970 (memcached `doc/protocol.txt`, "Expiration times").
const MAX_RELATIVE: u64 = 60 * 60 * 24 * 30;

/// The exptime of an item that is gone at once: every negative number is (memcached `doc/protocol.txt`, "Expiration times").
const GONE: i32 = -1;

/// When an item ends.
///
/// The server counts whole seconds. A duration is rounded up, so that half a second does not become "never",
/// as it did with memcacheddotnet; more than 30 days are sent as a date, since the server would take the number for one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Expiry(When);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum When {
    #[default]
    Never,
    After(Duration),
    At(SystemTime),
}

impl Expiry {
    /// The item stays until the server needs the room. The default.
    pub const fn never() -> Self {
        Self(When::Never)
    }

    /// The item ends after this time, rounded up to a second. Zero means gone at once.
    pub const fn after(time: Duration) -> Self {
        Self(When::After(time))
    }

    /// The item ends at this time, rounded up to a second; by the clock of the server. The past means gone at once.
    pub const fn at(time: SystemTime) -> Self {
        Self(When::At(time))
    }

    /// The number that goes over the wire.
    pub(crate) fn exptime(self, now: impl FnOnce() -> SystemTime) -> i32 {
        match self.0 {
            When::Never => 0,
            When::After(time) => match whole_seconds(time) {
                0 => GONE,
                seconds if seconds <= MAX_RELATIVE => seconds as i32,
                seconds => clamp(unix_seconds(now()).saturating_add(seconds)),
            },
            When::At(time) => {
                let seconds = unix_seconds(time);
                if time <= now() || seconds <= MAX_RELATIVE {
                    GONE
                } else {
                    clamp(seconds)
                }
            }
        }
    }
}

impl From<Duration> for Expiry {
    fn from(time: Duration) -> Self {
        Self::after(time)
    }
}

impl From<SystemTime> for Expiry {
    fn from(time: SystemTime) -> Self {
        Self::at(time)
    }
}

fn whole_seconds(time: Duration) -> u64 {
    time.as_secs()
        .saturating_add(u64::from(time.subsec_nanos() > 0))
}

/// Zero for a time before 1970.
fn unix_seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, whole_seconds)
}

/// The server reads a signed 32-bit number.
fn clamp(seconds: u64) -> i32 {
    i32::try_from(seconds).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    fn exptime(expiry: impl Into<Expiry>) -> i32 {
        let now = NOW + Duration::from_secs(1_800_000_000);
        expiry.into().exptime(|| now)
    }

    #[test]
    fn durations() {
        assert_eq!(exptime(Expiry::never()), 0);
        assert_eq!(exptime(Duration::ZERO), -1);
        assert_eq!(exptime(Duration::from_nanos(1)), 1);
        assert_eq!(exptime(Duration::from_millis(500)), 1);
        assert_eq!(exptime(Duration::from_secs(2_592_000)), 2_592_000);
        assert_eq!(exptime(Duration::from_millis(2_592_000_001)), 1_802_592_001);
        assert_eq!(exptime(Duration::from_secs(31_536_000)), 1_831_536_000);
        assert_eq!(exptime(Duration::MAX), i32::MAX);
    }

    #[test]
    fn dates() {
        let at = |seconds| NOW + Duration::from_secs(seconds);
        assert_eq!(exptime(at(1_800_000_000)), -1);
        assert_eq!(exptime(at(5)), -1);
        assert_eq!(exptime(NOW - Duration::from_secs(5)), -1);
        assert_eq!(exptime(at(1_800_000_001)), 1_800_000_001);
        assert_eq!(
            exptime(at(1_800_000_001) + Duration::from_millis(1)),
            1_800_000_002
        );
        assert_eq!(exptime(at(5_000_000_000)), i32::MAX);
    }
}
