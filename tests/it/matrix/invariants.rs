//! What holds after every case, whatever the fault: eight rules, and one function that asserts them.

use std::time::Duration;

use sockio::ErrorKind;

use super::commands::{Part, Shows, Told};
use super::faults::Plan;
use super::modes::Mode;
use super::reading::{Fate, MAX_VALUE, read};
use super::run::{Case, LONG, Observed, right};
use crate::support::fake::{Seen, answer};
use crate::support::wait::{MARGIN, ms};

/// A rule that was broken, by its number, and how.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) rule: u8,
    pub(super) detail: String,
}

/// The requests of the matrix itself.
const OWN: [&str; 5] = [
    "get warm",
    "get held",
    "get waiter",
    "get next",
    "get again",
];

/// All rules that a case broke.
pub(super) fn check(case: &Case<'_>, observed: &Observed) -> Vec<Broken> {
    let mut broken = Vec::new();
    let mut rule = |rule, holds: bool, detail: &dyn Fn() -> String| {
        if !holds {
            let detail = detail();
            broken.push(Broken { rule, detail });
        }
    };
    let expected = &case.expected;
    let may_die = may_die(case, observed);

    // 1 and 6: a value is that of the key asked, whole; a miss is a miss, and each error has the right kind.
    let many = observed.told.len() == expected.answers.len();
    let mut told = observed.told.iter().zip(&expected.answers);
    let wrong = told.find(|(told, right)| !right.contains(told));
    let answered = matches!(wrong, Some((Told::Answer(_), _)));
    rule(
        if answered { 1 } else { 6 },
        many && wrong.is_none(),
        &|| format!("told {:?} for {:?}", observed.told, expected.answers),
    );

    // 2: in time, and a timeout not before its time.
    let limit = case.limit();
    rule(2, observed.took <= limit + MARGIN, &|| {
        format!("took {:?}", observed.took)
    });
    let waited = !expected.times_out || observed.took + ms(25) >= limit;
    rule(2, waited, &|| format!("gave up after {:?}", observed.took));

    rule(2, observed.waited <= LONG * 4 / 5, &|| {
        format!("the second caller waited for {:?}", observed.waited)
    });

    // 3: no announced length makes it ask for more than a value may have. Panics do not come this far.
    let most = MAX_VALUE as usize + 64 * 1024;
    rule(3, observed.asked <= own_bytes(case) + most, &|| {
        format!("{} bytes", observed.asked)
    });

    // 4: the connection is kept if nothing is left open, else it is closed, and the next command is right.
    let followers = || observed.waiter.iter().chain(&observed.next);
    if !matches!(case.fault.plan, Plan::Tail(_)) {
        rule(
            4,
            observed
                .waiter
                .as_ref()
                .is_none_or(|told| waiter_may(case, may_die, told)),
            &|| format!("the second caller was told {:?}", observed.waiter),
        );
        rule(4, kept(case, may_die, &observed.seen), &|| {
            format!(
                "{:?}: {:?} {:?}",
                expected.fate,
                observed.seen,
                followers().collect::<Vec<_>>()
            )
        });
    } else {
        rule(4, poison(case, observed), &|| {
            format!(
                "{:?} {:?} {:?}",
                observed.waiter, observed.poisoned, observed.seen
            )
        });
    }
    let next = observed.next.as_ref();
    rule(4, next.is_none_or(|told| *told == right("next")), &|| {
        format!("next: {next:?}")
    });

    // 5: sent again only where it can do no harm, and never a third time.
    let sent = requests(case, may_die, &observed.seen);
    rule(5, expected.requests.contains(&sent), &|| {
        format!(
            "{sent} requests, not {:?}: {:?}",
            expected.requests, observed.seen
        )
    });

    // 7: nothing is left behind.
    rule(7, observed.left == (0, 0), &|| {
        format!("busy and waiting: {:?}", observed.left)
    });
    rule(7, observed.ended == (0, 0, 0), &|| {
        format!("after the end: {:?}", observed.ended)
    });
    rule(7, observed.open == 0, &|| {
        format!("{} connections left open", observed.open)
    });

    // 8: only what a server does not do makes it dead, never what it says.
    rule(8, !observed.died || may_die, &|| "marked dead".to_owned());
    broken
}

/// A server that is waited for from the begin of the call to its end can be blamed if that is longer than this.
const FAIR: Duration = ms(50);

/// Whether the server may be marked dead.
fn may_die(case: &Case<'_>, observed: &Observed) -> bool {
    case.expected.may_die || case.expected.times_out && observed.took >= FAIR
}

/// What the caller's own value takes.
fn own_bytes(case: &Case<'_>) -> usize {
    if case.command.name == "huge set" {
        super::commands::HUGE
    } else {
        0
    }
}

/// Whether what the second caller was told is right.
fn waiter_may(case: &Case<'_>, may_die: bool, told: &Told) -> bool {
    match told {
        Told::Fault(ErrorKind::NoServer | ErrorKind::Connect, None) => may_die,
        // His own connect hangs, too.
        Told::Fault(ErrorKind::Timeout, None) => matches!(case.fault.plan, Plan::Hang),
        told => *told == right("waiter"),
    }
}

/// Whether the connections are those that the fate of the first one leads to.
fn kept(case: &Case<'_>, may_die: bool, seen: &[Seen]) -> bool {
    let plan = &case.fault.plan;
    let used_again = seen.first().is_some_and(|first| {
        let mut requests = first.requests.iter();
        requests.any(|request| request == "get next" || request == "get waiter")
    });
    if matches!(plan, Plan::Hasty(_)) && requests(case, may_die, seen) == 0 {
        return true;
    }
    // The tries to revive a server that was dead: some may come too late for the pool.
    let is_try = |seen: &&Seen| may_die && seen.requests.iter().all(|line| line == "version");
    let later = seen.iter().skip(1).filter(|seen| !is_try(seen)).count();
    match (plan, case.expected.fate) {
        (Plan::Hang, _) => seen.is_empty(),
        // The first connection is one without a fault.
        (Plan::Refused, _) => !seen.is_empty() && later <= 1,
        (_, Fate::Keep) => later == 0 && used_again,
        // A second caller who meets a dead server may leave another connection to those who come later.
        (_, Fate::Close) => {
            let most = 1 + usize::from(may_die && case.mode == Mode::Contended);
            (1..=most).contains(&later) && !used_again
        }
        (_, Fate::Either) => later == usize::from(!used_again),
    }
}

/// Bytes that come while the connection rests, or is used by another: whoever uses it at once may be told what the bytes
/// say, if they are a reply to his command; nobody else, and nobody once it has rested.
fn poison(case: &Case<'_>, observed: &Observed) -> bool {
    let Plan::Tail(tail) = &case.fault.plan else {
        return true;
    };
    let told: Vec<&Told> = observed.waiter.iter().chain(&observed.poisoned).collect();
    let keys: &[&str] = match case.mode {
        Mode::Fresh => &[],
        Mode::Pooled => &["next", "again"],
        Mode::Contended => &["waiter", "again"],
    };
    if told.len() != keys.len() {
        return false;
    }
    // The replies that stand in the stream, one behind the other, until one of them is out of step.
    let mut stream = tail.clone();
    for (told, key) in told.into_iter().zip(keys) {
        stream.extend(answer(&format!("get {key}")));
        let parts = [get_of(key)];
        let reading = read(&parts, &stream);
        let lost = Told::Fault(ErrorKind::Protocol, None);
        let from_stream = reading.told[0].clone().unwrap_or(lost);
        if *told != from_stream && *told != right(key) {
            return false;
        }
        stream = match reading.end {
            super::reading::End::Whole(Fate::Keep, left) => stream.split_off(stream.len() - left),
            _ => Vec::new(),
        };
    }
    // Its last user is not the first connection's.
    let first = observed.seen.first();
    let next = |seen: &Seen| {
        seen.requests
            .iter()
            .filter(|request| *request == "get next")
            .count()
    };
    let earlier = usize::from(case.mode == Mode::Pooled);
    first.is_some_and(|first| next(first) <= earlier) && observed.seen.len() == 2
}

fn get_of(key: &str) -> Part {
    let keys: &'static [&'static str] = match key {
        "next" => &["next"],
        "again" => &["again"],
        _ => &["waiter"],
    };
    Part::Values {
        keys,
        shows: Shows::Value,
        cas: false,
        each: false,
    }
}

/// How many requests of the command came, over all connections.
fn requests(case: &Case<'_>, may_die: bool, seen: &[Seen]) -> usize {
    // The pool itself asks a server that was dead for its version.
    let connections = seen.iter().enumerate();
    let of = connections.map(|(number, seen)| {
        let requests = seen.requests.iter();
        let probe =
            |request: &&String| *request == "version" && may_die && (number > 0 || refused(case));
        requests
            .filter(|request| !OWN.contains(&request.as_str()) && !probe(request))
            .count()
    });
    of.sum()
}

fn refused(case: &Case<'_>) -> bool {
    matches!(case.fault.plan, Plan::Refused)
}
