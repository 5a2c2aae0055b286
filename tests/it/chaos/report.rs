//! The sums of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use sockio::ServerStats;

use super::history::{Event, MAX_EVENTS, Verdict};
use super::workload::Log;
use crate::support::proxy::{Fault, Proxy};

#[derive(Default)]
pub(super) struct Report {
    commands: BTreeMap<&'static str, usize>,
    ok: usize,
    failed: BTreeMap<String, usize>,
    maybe: usize,
    faults: [usize; Fault::NAMES.len()],
    connections: usize,
    keys: usize,
    events: usize,
    longest_history: usize,
    longest_check: Duration,
    longest_excess: Duration,
    wrong: Vec<String>,
}

impl Report {
    /// Adds what one caller did, and returns the events.
    pub(super) fn take(&mut self, log: Log) -> Vec<(usize, Event)> {
        for (name, count) in log.commands {
            *self.commands.entry(name).or_default() += count;
        }
        for (kind, count) in log.failed {
            *self.failed.entry(format!("{kind:?}")).or_default() += count;
        }
        self.ok += log.ok;
        self.maybe += log.maybe;
        self.longest_excess = self.longest_excess.max(log.longest_excess);
        self.tell(log.wrong);
        log.events
    }

    pub(super) fn key(&mut self, key: &str, events: usize, verdict: Verdict, took: Duration) {
        self.keys += 1;
        self.events += events;
        self.longest_history = self.longest_history.max(events);
        self.longest_check = self.longest_check.max(took);
        match verdict {
            Verdict::Good => {}
            Verdict::Bad(story) => self.tell([format!("{key}: {story}")]),
            Verdict::Open => self.tell([format!("{key}: {events} events could not be decided")]),
        }
    }

    pub(super) fn phase(
        &mut self,
        name: &str,
        epochs: u64,
        took: Duration,
        stats: &[ServerStats],
        proxies: &[Proxy],
    ) {
        let sum = |count: fn(&ServerStats) -> u64| stats.iter().map(count).sum::<u64>();
        println!(
            "{name}: {epochs} epochs in {took:.1?}; connects {}, failed {}; timeouts {}; evicted {}",
            sum(|stats| stats.connects),
            sum(|stats| stats.connect_failures),
            sum(|stats| stats.timeouts),
            sum(|stats| stats.evicted),
        );
        for proxy in proxies {
            self.connections += proxy.connections();
            for (sum, count) in self.faults.iter_mut().zip(proxy.faults()) {
                *sum += count;
            }
        }
    }

    pub(super) fn print(&self) {
        let calls: usize = self.commands.values().sum();
        println!("{calls} calls: {:?}", self.commands);
        let failed: usize = self.failed.values().sum();
        println!(
            "answers by key: {} ok, {failed} failed without effect {:?}, {} maybe",
            self.ok, self.failed, self.maybe
        );
        let faults = Fault::NAMES.into_iter().zip(self.faults);
        let all: usize = self.faults.iter().sum();
        println!(
            "{all} faults on {} connections: {:?}",
            self.connections,
            faults.collect::<BTreeMap<_, _>>()
        );
        println!(
            "{} keys checked, {} events, {} at the most (of {MAX_EVENTS}), the longest check {:.1?}",
            self.keys, self.events, self.longest_history, self.longest_check
        );
        println!(
            "the longest excess over a deadline: {:.1?}",
            self.longest_excess
        );
        println!("{} violations", self.wrong.len());
    }

    /// No violation, and enough of everything that there could have been one.
    pub(super) fn is_good(&self) -> bool {
        self.wrong.is_empty()
            && self.faults.iter().all(|count| *count > 0)
            && self.commands.len() == 18
            && [self.maybe, self.keys].iter().all(|count| *count > 10)
            && self.ok > 1000
    }

    fn tell(&mut self, wrong: impl IntoIterator<Item = String>) {
        for wrong in wrong {
            if self.wrong.len() < 10 {
                println!("VIOLATION: {wrong}");
            }
            self.wrong.push(wrong);
        }
    }
}
