//! What each case must come to: from the bytes that the server sent and the rules of retry, not from the client.

use sockio::ErrorKind;

use super::commands::{Calls, Command, Part, Told, value};
use super::faults::{DRIP, Pace, Plan, Then};
use super::modes::Mode;
use super::reading::{End, Fate, Reading, read};

/// What is right for a case.
#[derive(Debug)]
pub(super) struct Expected {
    /// For each key all that the call may tell of it.
    pub(super) answers: Vec<Vec<Told>>,
    /// What becomes of the first connection.
    pub(super) fate: Fate,
    /// How many of the command's requests the server may have seen in all.
    pub(super) requests: Vec<usize>,
    /// Whether the call ends by its deadline.
    pub(super) times_out: bool,
    /// Whether the server may be marked dead.
    pub(super) may_die: bool,
}

pub(super) fn expect(command: &Command, plan: &Plan, mode: Mode) -> Expected {
    let once = vec![command.requests];
    match plan {
        Plan::Reply(bytes, pace, then) => replied(command, bytes, (*pace, *then), mode),
        Plan::Hasty(bytes) => hasty(command, bytes),
        Plan::Tail(_) => Expected {
            answers: answers(command, &read_right(command), ErrorKind::Connection),
            fate: Fate::Close,
            requests: once,
            times_out: false,
            may_die: false,
        },
        Plan::Before(then) => before(command, *then, mode),
        Plan::Gone => {
            let mut expected = before(command, Then::Fin, mode);
            // What was sent may have been carried out; what was not has met a server that is none.
            let unsent = unsent(command, mode, ErrorKind::Connect);
            for (part, answers) in each_key(command).zip(&mut expected.answers) {
                answers.retain(|told| matches!(told, Told::Fault(ErrorKind::Ambiguous, _)));
                if !writes(part) || mode == Mode::Contended {
                    answers.extend(unsent.iter().cloned());
                }
            }
            expected.requests = vec![0];
            expected.may_die = true;
            expected
        }
        Plan::Refused => failed(command, unsent(command, mode, ErrorKind::Connect), false),
        Plan::Hang => failed(command, unsent(command, mode, ErrorKind::Timeout), true),
        Plan::NeverReads => Expected {
            answers: lost_all(command, ErrorKind::Timeout),
            requests: vec![0, command.requests],
            ..failed(command, Vec::new(), true)
        },
    }
}

/// The server took the command, sent these bytes, and did that.
fn replied(command: &Command, bytes: &[u8], (pace, then): (Pace, Then), mode: Mode) -> Expected {
    // Before the first part has come the time is over.
    let drips = pace == Pace::Each(DRIP);
    let bytes = if drips { &[] } else { bytes };
    let reading = read(command.parts, bytes);
    let stalls = reading.end == End::Short && then == Then::Open;
    let cause = match (reading.end, then) {
        (End::Wrong, _) => ErrorKind::Protocol,
        (End::Refused, _) | (_, Then::Fin | Then::Rst) => ErrorKind::Connection,
        (End::Short, _) => ErrorKind::Timeout,
        // Nothing is lost.
        (End::Whole(..), _) => ErrorKind::Connection,
    };
    // A connection that had rested may have been closed meanwhile: what only reads is asked again.
    let again = mode != Mode::Fresh && bytes.is_empty() && then != Then::Open;
    let mut expected = Expected {
        answers: answers(command, &reading, cause),
        fate: match reading.end {
            End::Whole(fate, 0) if then == Then::Open => lenient(command, &reading, fate),
            _ => Fate::Close,
        },
        requests: vec![command.requests],
        times_out: stalls,
        may_die: stalls,
    };
    if again {
        let reads = each_key(command).map(|part| !writes(part));
        let right = right_answers(command);
        let mut repeated = 0;
        for (number, reads) in reads.enumerate() {
            if reads {
                expected.answers[number] = vec![right[number].clone()];
                repeated = 1;
            }
        }
        expected.requests = vec![command.requests + repeated];
    }
    if reading.end == End::Refused {
        // Whatever else the refusal of another command is called, that of these was lost.
        for (part, answers) in each_key(command).zip(&mut expected.answers) {
            let lost = |kind| lost(part, kind);
            if answers[..] == [lost(ErrorKind::Connection)] && writes(part) {
                answers.extend([lost(ErrorKind::Client), lost(ErrorKind::Server)]);
            }
        }
    }
    expected
}

/// Not even the command need have gone out. If it did, the connection owes an answer.
fn hasty(command: &Command, bytes: &[u8]) -> Expected {
    let reading = read(command.parts, bytes);
    let mut answers = answers(command, &reading, ErrorKind::Timeout);
    for (part, answers) in each_key(command).zip(&mut answers) {
        answers.push(lost(part, ErrorKind::Timeout));
        answers.push(Told::Fault(ErrorKind::Timeout, None));
    }
    Expected {
        answers,
        fate: Fate::Close,
        requests: vec![0, command.requests],
        times_out: true,
        may_die: false,
    }
}

/// A shared request is of several callers: whether an error line is that of the last command, nobody need know.
fn lenient(command: &Command, reading: &Reading, fate: Fate) -> Fate {
    let mut told = reading.told.iter();
    let refused = told.any(|told| {
        matches!(
            told,
            Some(Told::Fault(ErrorKind::Client | ErrorKind::Server, _))
        )
    });
    let shared = matches!(command.calls, Calls::Shared(_));
    match fate {
        Fate::Keep if refused && shared => Fate::Either,
        fate => fate,
    }
}

/// The connection ended before the command came.
fn before(command: &Command, then: Then, mode: Mode) -> Expected {
    let right = right_answers(command);
    let keys = each_key(command).zip(right);
    let answers = keys.map(|(part, right)| {
        let lost = lost(part, ErrorKind::Connection);
        // Of a command that meets a reset no byte has been written.
        let unsent = Told::Fault(ErrorKind::Connection, None);
        match (mode, then) {
            // The reset may come while the connection is being opened.
            (Mode::Fresh, Then::Rst) => {
                let mut faults = self::unsent(command, mode, ErrorKind::Connect);
                faults.extend([lost, unsent]);
                faults
            }
            (Mode::Fresh, _) => vec![lost, unsent],
            (_, Then::Rst) => vec![right],
            (Mode::Pooled, _) if writes(part) => vec![lost],
            // Who comes second gets a new one.
            (Mode::Contended, _) if writes(part) => vec![lost, right],
            _ => vec![right],
        }
    });
    let answers = answers.collect();
    Expected {
        answers,
        fate: Fate::Close,
        requests: vec![0, command.requests],
        times_out: false,
        may_die: mode == Mode::Fresh && then == Then::Rst,
    }
}

/// Nothing was sent; all keys may have these faults.
fn failed(command: &Command, faults: Vec<Told>, times_out: bool) -> Expected {
    Expected {
        answers: each_key(command).map(|_| faults.clone()).collect(),
        fate: Fate::Close,
        requests: vec![0],
        times_out,
        may_die: true,
    }
}

/// Why nothing was sent. A call with many keys asks on where each may live; whoever comes second finds the server dead.
fn unsent(command: &Command, mode: Mode, kind: ErrorKind) -> Vec<Told> {
    let many =
        command.parts.len() > 1 || matches!(command.parts, [Part::Values { each: true, .. }]);
    let mut faults = vec![Told::Fault(kind, None)];
    if kind == ErrorKind::Timeout {
        // The time was up just when the connect had failed: a timeout, and its cause another one.
        faults.push(Told::Fault(kind, Some(kind)));
    }
    if many || mode == Mode::Contended {
        faults.push(Told::Fault(ErrorKind::NoServer, None));
    }
    faults
}

fn answers(command: &Command, reading: &Reading, cause: ErrorKind) -> Vec<Vec<Told>> {
    let shared = matches!(command.calls, Calls::Shared(_));
    let keys = each_key(command).zip(&reading.told);
    let answers = keys.map(|(part, told)| match told {
        // Who shares a request hears of his answer when all have come, or that his time is over.
        Some(told) if shared && cause == ErrorKind::Timeout => {
            vec![told.clone(), lost(part, cause)]
        }
        Some(told) => vec![told.clone()],
        None => vec![lost(part, cause)],
    });
    answers.collect()
}

fn lost_all(command: &Command, cause: ErrorKind) -> Vec<Vec<Told>> {
    each_key(command)
        .map(|part| vec![lost(part, cause)])
        .collect()
}

/// The command was sent and its answer did not come.
fn lost(part: &Part, cause: ErrorKind) -> Told {
    if writes(part) {
        Told::Fault(ErrorKind::Ambiguous, Some(cause))
    } else {
        Told::Fault(cause, None)
    }
}

/// The part that each key of a command belongs to.
fn each_key(command: &Command) -> impl Iterator<Item = &Part> {
    let keys = |part: &Part| match part {
        Part::Values { keys, .. } => keys.len(),
        _ => 1,
    };
    let parts = command.parts.iter();
    parts.flat_map(move |part| std::iter::repeat_n(part, keys(part)))
}

/// Whether the command changes something.
fn writes(part: &Part) -> bool {
    match part {
        Part::Values { .. } | Part::Version | Part::Stats => false,
        Part::Line(lines) => lines.verb != super::commands::Verb::Exists,
        Part::Number => true,
    }
}

fn read_right(command: &Command) -> Reading {
    read(command.parts, (command.reply)().as_bytes())
}

/// What comes of a command that a connection without a fault serves. The value of a key is the key itself.
fn right_answers(command: &Command) -> Vec<Told> {
    let parts = command.parts.iter();
    let replies: String = parts.map(served).collect();
    let told = read(command.parts, replies.as_bytes()).told.into_iter();
    told.map(|told| told.expect("a whole reply")).collect()
}

fn served(part: &Part) -> String {
    match part {
        Part::Values { keys, cas, .. } => {
            let token = if *cas { " 1" } else { "" };
            let values = keys.iter();
            let values = values.map(|key| value(&format!("{key} 0 {}{token}", key.len()), key));
            values.collect::<String>() + "END\r\n"
        }
        Part::Line(lines) => format!("{}\r\n", lines.answers[0].0),
        Part::Number => "1\r\n".to_owned(),
        Part::Version => "VERSION 1.6.18\r\n".to_owned(),
        Part::Stats => "STAT pid 1\r\nEND\r\n".to_owned(),
    }
}
