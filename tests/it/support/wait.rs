//! How long things take, and waiting for them. It knows neither client nor server.

use std::thread;
use std::time::{Duration, Instant};

/// What a busy machine may add to a deadline.
pub(crate) const MARGIN: Duration = Duration::from_millis(250);

/// What a call returns, and how long it took.
pub(crate) fn timed<R>(call: impl FnOnce() -> R) -> (R, Duration) {
    let start = Instant::now();
    let answer = call();
    (answer, start.elapsed())
}

/// What a call returns; it must not take longer than `limit` and the margin.
#[track_caller]
pub(crate) fn within<R>(limit: Duration, call: impl FnOnce() -> R) -> R {
    let (answer, took) = timed(call);
    assert!(took <= limit + MARGIN, "{took:?}, more than {limit:?}");
    answer
}

/// Waits until something holds, for 5 seconds at the most; returns how long it took.
#[track_caller]
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) -> Duration {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < ms(5000), "never came true: {what}");
        thread::sleep(ms(2));
    }
    start.elapsed()
}

/// Something holds now, and all the time until `time` is over.
#[track_caller]
pub(crate) fn stays(what: &str, time: Duration, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while start.elapsed() < time {
        assert!(holds(), "did not stay true: {what}");
        thread::sleep(ms(5));
    }
}

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
