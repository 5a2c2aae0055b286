//! Dates: `SystemTime`, Java's milliseconds, .NET's ticks. Everything in UTC; it knows no zone.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The ticks of 1970-01-01: days since 0001-01-01 times the ticks of a day (.NET `DateTime.UnixEpoch.Ticks`).
const TICKS_AT_1970: i64 = 719_162 * 864_000_000_000;

/// `DateTime.MaxValue.Ticks`, the end of the year 9999.
const MAX_TICKS: i64 = 3_155_378_975_999_999_999;

const TICKS_PER_MILLI: i64 = 10_000;

const NANOS_PER_TICK: u32 = 100;

/// `DateTime.ToBinary` keeps the kind in the two upper bits: 0 says nothing of the zone, 1 is UTC,
/// 2 and 3 are local time, of which the ticks are kept in UTC (.NET `DateTime.cs`, `ToBinary`).
const KIND_SHIFT: u32 = 62;
const KIND_UTC: i64 = 1;

/// Milliseconds since 1970, rounded down; a time out of range becomes the nearest that is in it.
pub(super) fn unix_millis(time: SystemTime) -> i64 {
    let clamped = |millis: u128| i64::try_from(millis).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => clamped(after.as_millis()),
        Err(before) => -clamped(before.duration().as_nanos().div_ceil(1_000_000)),
    }
}

/// The time that lies this many milliseconds from 1970, if the system can express it.
pub(super) fn from_unix_millis(millis: i64) -> Option<SystemTime> {
    let distance = Duration::from_millis(millis.unsigned_abs());
    from_unix(distance, millis < 0)
}

/// The time that `DateTime.ToBinary` of a UTC or local time stands for. `None` without a kind: the zone is not known.
pub(super) fn from_binary(binary: i64) -> Option<SystemTime> {
    if binary >> KIND_SHIFT == 0 {
        return None;
    }
    let ticks = binary & ((1 << KIND_SHIFT) - 1);
    let since_1970 = ticks - TICKS_AT_1970;
    let tick = since_1970.unsigned_abs();
    let per_second = u64::from(1_000_000_000 / NANOS_PER_TICK);
    let nanos = (tick % per_second) as u32 * NANOS_PER_TICK;
    from_unix(Duration::new(tick / per_second, nanos), since_1970 < 0)
}

/// `DateTime.ToBinary` of the UTC time at these milliseconds, if .NET's years 1 to 9999 have it.
pub(super) fn to_binary(millis: i64) -> Option<i64> {
    Some(to_ticks(millis)? | KIND_UTC << KIND_SHIFT)
}

/// The ticks of the UTC time at these milliseconds, if .NET's years 1 to 9999 have it.
pub(super) fn to_ticks(millis: i64) -> Option<i64> {
    let ticks = millis
        .checked_mul(TICKS_PER_MILLI)?
        .checked_add(TICKS_AT_1970)?;
    is_ticks(ticks).then_some(ticks)
}

/// Whether `DateTime` takes these ticks: 0001-01-01 to the end of 9999.
pub(super) fn is_ticks(ticks: i64) -> bool {
    (0..=MAX_TICKS).contains(&ticks)
}

fn from_unix(distance: Duration, before: bool) -> Option<SystemTime> {
    if before {
        UNIX_EPOCH.checked_sub(distance)
    } else {
        UNIX_EPOCH.checked_add(distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn millis_round_down_and_back() {
        let at = |nanos: u64| UNIX_EPOCH + Duration::from_nanos(nanos);
        let before = |nanos: u64| UNIX_EPOCH - Duration::from_nanos(nanos);
        assert_eq!(unix_millis(at(1_999_999)), 1);
        assert_eq!(unix_millis(before(1)), -1);
        assert_eq!(unix_millis(before(1_000_000)), -1);
        assert_eq!(unix_millis(before(1_000_001)), -2);
        for millis in [0, 1, -1, 1_325_376_000_000, -62_135_596_800_000] {
            assert_eq!(unix_millis(from_unix_millis(millis).unwrap()), millis);
        }
    }

    #[test]
    fn ticks_know_their_zone_by_the_kind() {
        assert_eq!(to_ticks(0), Some(0x089f_7ff5_f7b5_8000));
        assert_eq!(from_binary(to_ticks(0).unwrap()), None);
        for millis in [0, 1, -1, 1_325_376_000_000, -62_135_596_800_000] {
            let binary = to_binary(millis).unwrap();
            assert_eq!(from_binary(binary), from_unix_millis(millis));
        }
        assert_eq!(to_ticks(-62_135_596_800_001), None);
        assert_eq!(to_ticks(253_402_300_800_000), None);
        assert_eq!(to_ticks(i64::MAX), None);
        let local = to_ticks(5).unwrap() | i64::MIN;
        assert_eq!(from_binary(local), from_unix_millis(5));
    }
}
