//! How long things take, and waiting for them. It knows neither client nor server.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What a busy machine may add to a deadline.
pub(crate) const MARGIN: Duration = Duration::from_millis(250);

/// What a call returns, and how long it took.
pub(crate) fn timed<R>(call: impl FnOnce() -> R) -> (R, Duration) {
    control();
    let start = Instant::now();
    let answer = call();
    (answer, start.elapsed())
}

/// What a call returns; it must not take longer than `limit` and the margin.
#[track_caller]
pub(crate) fn within<R>(limit: Duration, call: impl FnOnce() -> R) -> R {
    let (answer, took) = timed(call);
    in_time(took, limit);
    answer
}

/// Something that ended just now must not have taken longer than `limit` and the margin.
#[track_caller]
pub(crate) fn in_time(took: Duration, limit: Duration) {
    let lost = lost(took);
    assert!(
        took <= limit + MARGIN + lost,
        "{took:?}, more than {limit:?}; the machine stood still for {lost:?}"
    );
}

/// The turn of a case that measures time: no other one of this process does until it is given back.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a case that measures time while no other one of this process does. If it fails although the machine stood still
/// for longer than the [`MARGIN`] meanwhile, it runs once more.
pub(crate) fn alone(case: impl Fn()) {
    let _turn = turn();
    let (answer, took) = timed(|| catch_unwind(AssertUnwindSafe(&case)));
    let Err(failure) = answer else { return };
    let lost = lost(took);
    if lost <= MARGIN {
        resume_unwind(failure);
    }
    println!("the machine stood still for {lost:?} of {took:?}: once more");
    case();
}

/// How much of the last `span` the machine took from a thread that only wanted to sleep for moments.
pub(crate) fn lost(span: Duration) -> Duration {
    let from = Instant::now().checked_sub(span);
    let lost = control().lock().unwrap_or_else(PoisonError::into_inner);
    let late = lost
        .iter()
        .rev()
        .take_while(|(end, _)| from.is_none_or(|from| *end >= from));
    late.map(|(_, late)| *late).sum()
}

/// When a sleep ended late, and how late: kept by a thread of its own from the first call on.
fn control() -> &'static Mutex<Vec<(Instant, Duration)>> {
    static LATE: Mutex<Vec<(Instant, Duration)>> = Mutex::new(Vec::new());
    static START: Once = Once::new();
    START.call_once(|| {
        thread::spawn(|| {
            const NAP: Duration = ms(5);
            loop {
                let start = Instant::now();
                thread::sleep(NAP);
                let late = start.elapsed().saturating_sub(NAP);
                if late > ms(10) {
                    let mut lost = LATE.lock().unwrap_or_else(PoisonError::into_inner);
                    lost.push((Instant::now(), late));
                }
            }
        });
    });
    &LATE
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
