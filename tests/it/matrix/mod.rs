//! Every command, with every fault, on every kind of connection: after each case the same rules hold.

mod commands;
mod faults;
mod invariants;
mod many;
mod modes;
mod oracle;
mod reading;
mod run;
mod wrong;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::child;
use crate::support::wait::{eventually, lost, ms, timed};
use commands::Command;
use faults::Fault;
use invariants::Broken;
use modes::MODES;
use run::Case;

/// Most of the time of a case it waits.
const AT_ONCE: usize = 48;

/// A connection that has rested for a second is looked at.
const RESTED: Duration = ms(900);

/// A case and what it broke.
struct Failure {
    case: usize,
    broken: Vec<Broken>,
    /// Whether want of time may be the cause.
    late: bool,
}

#[test]
fn every_command_meets_every_fault() {
    if !child::runs_alone("matrix::every_command_meets_every_fault") {
        return;
    }
    // The thread that sees how late the machine is stays.
    timed(|| ());
    let before = (open_files(), threads());
    let plans = plans();
    let cases = cases(&plans);
    print(&cases);
    assert!(cases.len() >= 6000, "{} cases", cases.len());

    let start = Instant::now();
    let failures = at_once(&cases);
    let took = start.elapsed();
    // What may have failed for want of time is tried again, alone.
    let (late, mut failures): (Vec<_>, Vec<_>) =
        failures.into_iter().partition(|failure| failure.late);
    let repeated = late.len();
    failures.extend(
        late.iter()
            .filter_map(|failure| alone(&cases, failure.case)),
    );
    println!(
        "{} cases in {took:?}, {repeated} repeated alone",
        cases.len()
    );
    let failed = report(&cases, &failures);
    assert!(
        failed.is_empty(),
        "{} broken:\n{}",
        failed.len(),
        failed.join("\n")
    );
    eventually("no thread and no descriptor is left", || {
        (open_files(), threads()) == before
    });
}

fn plans() -> Vec<(Command, Vec<Fault>)> {
    let commands = commands::all_commands().into_iter();
    let plans = commands.map(|command| {
        let faults = faults::all_faults(&command);
        (command, faults)
    });
    plans
        .chain([(commands::huge(), faults::never_reads())])
        .collect()
}

fn cases(plans: &[(Command, Vec<Fault>)]) -> Vec<Case<'_>> {
    let pairs = plans.iter();
    let pairs =
        pairs.flat_map(|(command, faults)| faults.iter().map(move |fault| (command, fault)));
    let all = pairs.flat_map(|(command, fault)| {
        let modes = MODES.into_iter();
        let modes = modes.filter(move |mode| faults::applies(command, &fault.plan, *mode));
        modes.map(move |mode| Case {
            command,
            fault,
            mode,
            expected: oracle::expect(command, &fault.plan, mode),
        })
    });
    all.collect()
}

/// Runs all, many at the same time.
fn at_once(cases: &[Case<'_>]) -> Vec<Failure> {
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= cases.len() {
                        break;
                    }
                    if let Some(failure) = one(cases, number) {
                        failures.lock().expect("the failures").push(failure);
                    }
                }
            });
        }
    });
    failures.into_inner().expect("the failures")
}

/// Runs one; what it broke, if it did.
fn one(cases: &[Case<'_>], number: usize) -> Option<Failure> {
    let case = &cases[number];
    let start = Instant::now();
    let (mut reached, mut rested) = (true, false);
    let broken = match catch_unwind(AssertUnwindSafe(|| run::run(case))) {
        Ok(observed) => {
            reached = observed.reached;
            rested = observed.rested >= RESTED;
            invariants::check(case, &observed)
        }
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied());
            let detail = format!("panicked: {}", text.unwrap_or("?"));
            vec![Broken { rule: 3, detail }]
        }
    };
    // The machine stood still, or the server had not come to the fault when the call was over.
    let late = !reached || !lost(start.elapsed()).is_zero();
    // Cases with hardly any time need it; a connection that rested for too long is looked at before it is used.
    let late = case.expected.times_out && late || rested;
    (!broken.is_empty()).then_some(Failure {
        case: number,
        broken,
        late,
    })
}

/// Runs one by itself, and again, a few times, as long as it may have failed for want of time.
fn alone(cases: &[Case<'_>], number: usize) -> Option<Failure> {
    let mut failure = one(cases, number)?;
    for _ in 0..4 {
        if !failure.late {
            break;
        }
        failure = one(cases, number)?;
    }
    Some(failure)
}

fn report(cases: &[Case<'_>], failures: &[Failure]) -> Vec<String> {
    let lines = failures.iter().flat_map(|failure| {
        let Case {
            command,
            fault,
            mode,
            ..
        } = &cases[failure.case];
        failure.broken.iter().map(move |Broken { rule, detail }| {
            let (name, group, what) = (command.name, fault.group, &fault.detail);
            format!("{name} | {group}: {what} | {mode:?} | rule {rule}: {detail}")
        })
    });
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines
}

fn print(cases: &[Case<'_>]) {
    let count = |name: fn(&Case<'_>) -> &'static str| {
        let mut counts = BTreeMap::new();
        for case in cases {
            *counts.entry(name(case)).or_insert(0_usize) += 1;
        }
        counts
    };
    println!("by command: {:?}", count(|case| case.command.name));
    println!("by fault: {:?}", count(|case| case.fault.group));
}

#[cfg(target_os = "linux")]
fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd")
        .expect("its descriptors")
        .count()
}

#[cfg(target_os = "linux")]
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task")
        .expect("its threads")
        .count()
}

#[cfg(not(target_os = "linux"))]
fn open_files() -> usize {
    0
}

#[cfg(not(target_os = "linux"))]
fn threads() -> usize {
    0
}
