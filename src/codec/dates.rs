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
    if !is_ticks(ticks) {
        return None;
    }
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

/// A date and time of day in the Gregorian calendar, extended to the time before it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Civil {
    pub(super) year: i64,
    /// From 0, January.
    pub(super) month: usize,
    /// From 1.
    pub(super) day: i64,
    /// From 0, Sunday.
    pub(super) weekday: usize,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
}

/// The date at these seconds since 1970, in UTC.
pub(super) fn civil(seconds: i64) -> Civil {
    /// From 0000-03-01, where the leap day is the last of a year, to 1970-01-01.
    const DAYS_TO_1970: i64 = 719_468;
    const DAYS_IN_400_YEARS: i64 = 146_097;
    const DAYS_IN_100_YEARS: i64 = 36_524;
    const DAYS_IN_4_YEARS: i64 = 1_461;
    /// March to January; February is what is left.
    const MONTHS: [i64; 11] = [31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 31];

    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let from_march = days + DAYS_TO_1970;
    let mut year = 400 * from_march.div_euclid(DAYS_IN_400_YEARS);
    let mut day = from_march.rem_euclid(DAYS_IN_400_YEARS);
    // The last century, and the last year, of a round is the one that has the extra day.
    for (length, years, last) in [
        (DAYS_IN_100_YEARS, 100, 3),
        (DAYS_IN_4_YEARS, 4, 24),
        (365, 1, 3),
    ] {
        let rounds = (day / length).min(last);
        day -= rounds * length;
        year += rounds * years;
    }
    let mut month = 2;
    for length in MONTHS {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    Civil {
        year: year + i64::from(month >= 12),
        month: month % 12,
        day: day + 1,
        weekday: (days + 4).rem_euclid(7) as usize,
        hour: second / 3_600,
        minute: second / 60 % 60,
        second: second % 60,
    }
}

/// Seconds since 1970, rounded down, of .NET ticks.
pub(super) fn unix_seconds_of_ticks(ticks: i64) -> i64 {
    (ticks - TICKS_AT_1970).div_euclid(1_000 * TICKS_PER_MILLI)
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
        assert_eq!(from_binary(-1), None);
        assert_eq!(from_binary(i64::MAX), None);
    }

    #[test]
    fn the_calendar_is_walked_day_by_day() {
        let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = |year, month| match month {
            1 => 28 + i64::from(leap(year)),
            3 | 5 | 8 | 10 => 30,
            _ => 31,
        };
        // 0001-01-01 was a Monday.
        let (mut year, mut month, mut day, mut weekday) = (1, 0, 1, 1);
        for number in -719_162..=800_000 {
            let at = civil(number * 86_400 + 86_399);
            assert_eq!((at.hour, at.minute, at.second), (23, 59, 59));
            assert_eq!(
                (at.year, at.month, at.day, at.weekday),
                (year, month, day, weekday)
            );
            weekday = (weekday + 1) % 7;
            day += 1;
            if day > days(year, month) {
                (day, month) = (1, month + 1);
            }
            if month == 12 {
                (month, year) = (0, year + 1);
            }
        }
        assert_eq!(year, 4160);
    }
}
