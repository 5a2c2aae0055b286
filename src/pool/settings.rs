//! The sizes and times of a pool, checked. Each is explained where it is set: in `config`.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

use crate::clock::{Moment, nanos};

use crate::error::{Error, Result};
use crate::sock::{Limits, SocketSettings};

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) initial_conn: usize,
    pub(crate) min_conn: usize,
    pub(crate) max_conn: usize,
    /// The limit of open connections; `max_conn` where none is set.
    pub(crate) max_open: usize,
    pub(crate) max_create: usize,
    pub(crate) closing_divisor: usize,
    pub(crate) max_idle: Duration,
    pub(crate) max_busy: Duration,
    pub(crate) max_lifetime: Option<Duration>,
    pub(crate) maint_sleep: Duration,
    pub(crate) operation_timeout: Duration,
    pub(crate) wait_timeout: Duration,
    pub(crate) dead_start: Duration,
    pub(crate) dead_limit: Duration,
    pub(crate) failure_limit: u32,
    pub(crate) failover: bool,
    pub(crate) failback: bool,
    pub(crate) alive_check: bool,
    pub(crate) retry_writes: bool,
    pub(crate) max_value_len: usize,
    pub(crate) combine: bool,
    pub(crate) fork_check: bool,
    pub(crate) socket: SocketSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            initial_conn: 1,
            min_conn: 1,
            max_conn: 32,
            max_open: 32,
            max_create: 32,
            closing_divisor: 4,
            max_idle: Duration::from_secs(5 * 60),
            max_busy: Duration::from_secs(30),
            max_lifetime: None,
            maint_sleep: Duration::from_secs(30),
            operation_timeout: Duration::from_secs(5),
            wait_timeout: LONGEST,
            dead_start: Duration::from_millis(100),
            dead_limit: Duration::from_secs(10 * 60),
            failure_limit: 1,
            failover: true,
            failback: true,
            alive_check: false,
            retry_writes: false,
            max_value_len: 128 * 1024 * 1024,
            combine: false,
            fork_check: false,
            socket: SocketSettings {
                connect_timeout: Duration::from_secs(1),
                socket_timeout: Duration::from_secs(3),
                nagle: false,
                keep_alive: None,
            },
        }
    }
}

/// Longer times cannot be added to the clock on every system; nobody waits for a century.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

impl Settings {
    /// Refuses what cannot work, each with its own message; ends without an end are made finite.
    pub(crate) fn check(mut self) -> Result<Self> {
        for (name, value) in [
            ("max_conn", self.max_conn),
            ("max_open", self.max_open),
            ("max_create", self.max_create),
        ] {
            if value == 0 {
                return Err(Error::config(format!(
                    "{name} is 0; it must be 1 at the least"
                )));
            }
        }
        let sizes = [
            ("initial_conn", self.initial_conn, "max_open", self.max_open),
            ("min_conn", self.min_conn, "max_conn", self.max_conn),
            ("min_conn", self.min_conn, "max_open", self.max_open),
        ];
        for (small, small_value, large, large_value) in sizes {
            if small_value > large_value {
                return Err(Error::config(format!(
                    "{small} is {small_value}, more than {large}, which is {large_value}"
                )));
            }
        }
        let times = [
            ("operation_timeout", &mut self.operation_timeout),
            ("socket_timeout", &mut self.socket.socket_timeout),
            ("connect_timeout", &mut self.socket.connect_timeout),
            ("wait_timeout", &mut self.wait_timeout),
            ("max_busy", &mut self.max_busy),
            ("max_idle", &mut self.max_idle),
            ("maint_sleep", &mut self.maint_sleep),
            ("dead_backoff's start", &mut self.dead_start),
            ("dead_backoff's limit", &mut self.dead_limit),
        ];
        for (name, time) in times {
            if time.is_zero() && name != "max_idle" {
                return Err(Error::config(format!(
                    "{name} is zero; it must be longer, and is never endless"
                )));
            }
            *time = (*time).min(LONGEST);
        }
        if let Some(idle) = self.socket.keep_alive {
            // Linux takes whole seconds up to this (`tcp.h`, `MAX_TCP_KEEPIDLE`), and nobody takes less than one.
            let possible = Duration::from_secs(1)..=Duration::from_secs(32_767);
            if !possible.contains(&idle) {
                return Err(Error::config(format!(
                    "keep_alive is {idle:?}; it must be from 1 s to 32,767 s"
                )));
            }
        }
        if self.dead_start > self.dead_limit {
            return Err(Error::config("dead_backoff starts above its limit"));
        }
        if self.max_lifetime.is_some_and(|time| time.is_zero()) {
            return Err(Error::config(
                "max_lifetime is zero: every connection would be closed at once",
            ));
        }
        Ok(self)
    }

    pub(crate) fn limits(&self) -> Limits {
        Limits {
            socket_timeout: nanos(self.socket.socket_timeout),
            max_value_len: self.max_value_len,
        }
    }

    /// When a connection opened now has to go: up to a tenth earlier than its lifetime, so that they do not all go at once.
    pub(crate) fn retire_at(&self, now: Moment) -> Option<Moment> {
        let lifetime = self.max_lifetime?.min(LONGEST);
        let random = RandomState::new().hash_one(now.number()) % 1000;
        Some(now + (lifetime - lifetime / 10 * random as u32 / 1000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_impossible_setting_has_its_own_message() {
        type Spoil = fn(&mut Settings);
        let bad: [(&str, Spoil); 10] = [
            ("keep_alive is 0ns", |s| {
                s.socket.keep_alive = Some(Duration::ZERO)
            }),
            ("keep_alive is 129600s", |s| {
                s.socket.keep_alive = Some(Duration::from_secs(129_600))
            }),
            ("initial_conn is 40", |s| s.initial_conn = 40),
            ("min_conn is 40, more than max_conn", |s| s.min_conn = 40),
            ("max_conn is 0", |s| s.max_conn = 0),
            ("max_open is 0", |s| s.max_open = 0),
            ("max_create is 0", |s| s.max_create = 0),
            ("socket_timeout is zero", |s| {
                s.socket.socket_timeout = Duration::ZERO
            }),
            ("starts above its limit", |s| {
                s.dead_limit = Duration::from_millis(1)
            }),
            ("max_lifetime is zero", |s| {
                s.max_lifetime = Some(Duration::ZERO)
            }),
        ];
        for (message, spoil) in bad {
            let mut settings = Settings::default();
            spoil(&mut settings);
            let error = settings.check().unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
        }
    }

    #[test]
    fn endless_times_become_finite() {
        let mut settings = Settings {
            max_lifetime: Some(Duration::MAX),
            ..Settings::default()
        };
        settings.operation_timeout = Duration::MAX;
        let settings = settings.check().unwrap();
        assert!(
            std::time::Instant::now()
                .checked_add(settings.operation_timeout)
                .is_some()
        );
        assert!(settings.retire_at(Moment::now()).is_some());
    }

    #[test]
    fn lifetimes_spread_over_a_tenth() {
        let settings = Settings {
            max_lifetime: Some(Duration::from_secs(100)),
            ..Settings::default()
        };
        let now = Moment::now();
        for _ in 0..100 {
            let lifetime = settings.retire_at(now).unwrap().since(now);
            assert!(
                (Duration::from_secs(90)..=Duration::from_secs(100)).contains(&lifetime),
                "{lifetime:?}"
            );
        }
    }
}
