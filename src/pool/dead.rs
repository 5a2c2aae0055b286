//! The back-off of a server that failed. Pure: time enters as an argument.

use std::time::Duration;

use crate::clock::Moment;

/// Whether a server is dead, and until when nobody tries it.
#[derive(Clone, Debug)]
pub(crate) struct Dead {
    start: Duration,
    limit: Duration,
    /// From how many failures in a row on the server's keys go to others.
    failure_limit: u32,
    failures: u32,
    until: Option<Moment>,
    delay: Duration,
}

/// What a server that failed is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeadUntil {
    /// Nobody tries it before.
    pub(crate) until: Moment,
    /// Whether its keys go to other servers: it has failed often enough.
    pub(crate) ejected: bool,
}

impl Dead {
    pub(crate) fn new(start: Duration, limit: Duration, failure_limit: u32) -> Self {
        Self {
            start,
            limit,
            failure_limit,
            failures: 0,
            until: None,
            delay: Duration::ZERO,
        }
    }

    /// A live server failed: it is dead for the first delay. Many callers may fail at the same time;
    /// only the first of them counts, so that ten threads do not double the delay ten times.
    pub(crate) fn fail(&mut self, now: Moment) -> bool {
        if self.until.is_some() {
            return false;
        }
        self.failures = 1;
        self.delay = self.start.min(self.limit);
        self.until = Some(now + self.delay);
        true
    }

    /// A dead server was tried again in vain: the delay doubles up to the limit.
    pub(crate) fn fail_again(&mut self, now: Moment) {
        self.failures = self.failures.saturating_add(1);
        self.delay = (self.delay * 2).min(self.limit);
        self.until = Some(now + self.delay);
    }

    pub(crate) fn revive(&mut self) {
        self.failures = 0;
        self.until = None;
    }

    /// The end of the delay, if the server is dead.
    pub(crate) fn until(&self) -> Option<DeadUntil> {
        let ejected = self.failures >= self.failure_limit;
        self.until.map(|until| DeadUntil { until, ejected })
    }

    pub(crate) fn delay(&self) -> Duration {
        self.delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(start: u64, limit: u64, count: usize) -> Vec<u64> {
        let mut dead = Dead::new(
            Duration::from_millis(start),
            Duration::from_millis(limit),
            1,
        );
        let now = Moment::now();
        let mut delays = Vec::new();
        for failure in 0..count {
            if failure == 0 {
                assert!(dead.fail(now))
            } else {
                dead.fail_again(now)
            }
            delays.push(dead.delay().as_millis() as u64);
        }
        delays
    }

    #[test]
    fn the_java_client_s_delays() {
        let measured = [
            1000, 2000, 4000, 8000, 16000, 32000, 64000, 128000, 256000, 512000, 600000, 600000,
        ];
        assert_eq!(delays(1000, 600_000, 12), measured);
    }

    #[test]
    fn the_dotnet_client_s_delays() {
        assert_eq!(
            delays(100, u64::MAX >> 16, 6),
            [100, 200, 400, 800, 1600, 3200]
        );
    }

    #[test]
    fn failures_at_the_same_time_count_once_and_success_starts_again() {
        let mut dead = Dead::new(Duration::from_millis(100), Duration::from_secs(600), 1);
        let now = Moment::now();
        assert!(dead.fail(now));
        assert!(!dead.fail(now));
        let until = now + Duration::from_millis(100);
        assert_eq!(
            dead.until(),
            Some(DeadUntil {
                until,
                ejected: true
            })
        );
        dead.fail_again(now);
        dead.revive();
        assert_eq!(dead.until(), None);
        assert!(dead.fail(now));
        assert_eq!(dead.delay(), Duration::from_millis(100));
    }

    #[test]
    fn keys_move_from_the_failure_on_that_the_limit_names() {
        let mut dead = Dead::new(Duration::from_millis(100), Duration::from_secs(600), 3);
        let now = Moment::now();
        let ejected = |dead: &Dead| dead.until().map(|dead| dead.ejected);
        dead.fail(now);
        dead.fail_again(now);
        assert_eq!(ejected(&dead), Some(false));
        dead.fail_again(now);
        assert_eq!(ejected(&dead), Some(true));
        dead.revive();
        dead.fail(now);
        assert_eq!(ejected(&dead), Some(false));
    }
}
