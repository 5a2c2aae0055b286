//! How a connection comes to its command, and the script that its server plays.

use std::time::Duration;

use super::commands::{Calls, Command};
use super::faults::{Pace, Plan, Then};
use crate::support::fake::{Act, Fake, Flag, answer};
use crate::support::wait::ms;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// The command opens the connection.
    Fresh,
    /// The connection has answered a command before.
    Pooled,
    /// Likewise; it is the only one, and a second caller waits for it.
    Contended,
}

pub(super) const MODES: [Mode; 3] = [Mode::Fresh, Mode::Pooled, Mode::Contended];

/// What the server and the callers tell each other.
#[derive(Default)]
pub(super) struct Signals {
    /// The second caller waits.
    pub(super) waits: Flag,
    /// The first call is over, and its connection where it belongs.
    pub(super) over: Flag,
    /// The server has come to the fault: what it sends before it, or too much, is out.
    pub(super) sent: Flag,
}

const SERVE: Act = Act::Serve(Duration::ZERO);

/// Later than a reply.
const LATER: Duration = ms(5);

/// The server of a case, not yet asked. Its first connection has the fault, all others serve.
pub(super) fn server(command: &Command, plan: &Plan, mode: Mode, signals: &Signals) -> Fake {
    match plan {
        Plan::Refused => Fake::refusing(),
        Plan::Hang => Fake::never_accepting(),
        Plan::NeverReads => Fake::with_small_buffers(scripts(command, plan, mode, signals)),
        _ => Fake::new(scripts(command, plan, mode, signals)),
    }
}

/// Whether the connection of this mode is used once before.
pub(super) fn is_warmed(command: &Command, plan: &Plan, mode: Mode) -> bool {
    mode != Mode::Fresh
        && matches!(command.calls, Calls::One(_))
        && !matches!(plan, Plan::Refused | Plan::Hang)
}

fn scripts(command: &Command, plan: &Plan, mode: Mode, signals: &Signals) -> Vec<Vec<Act>> {
    let mut first = Vec::new();
    let shared = matches!(command.calls, Calls::Shared(_));
    if is_warmed(command, plan, mode) {
        first.extend([Act::Request, Act::Send(answer("get warm"))]);
    } else if shared {
        let wait = Act::Await(signals.waits.clone());
        first.extend([Act::Request, wait, Act::Send(answer("get held"))]);
    }
    let requests = std::iter::repeat_n(Act::Request, command.requests);
    let asked = |first: &mut Vec<Act>| {
        first.extend(requests);
        if mode == Mode::Contended && !shared {
            first.push(Act::Await(signals.waits.clone()));
        }
    };
    match plan {
        Plan::Reply(bytes, pace, then) => {
            asked(&mut first);
            let reached = Act::Raise(signals.sent.clone());
            if let Pace::Each(_) = pace {
                first.push(reached.clone());
            }
            first.extend(pieces(bytes, *pace));
            first.extend([reached, end(*then)]);
        }
        Plan::Hasty(bytes) => {
            asked(&mut first);
            let reached = Act::Raise(signals.sent.clone());
            first.extend([Act::Send(bytes.clone()), reached, SERVE]);
        }
        Plan::Tail(tail) => {
            asked(&mut first);
            first.push(Act::Send((command.reply)().into_bytes()));
            if mode != Mode::Contended {
                first.push(Act::Await(signals.over.clone()));
            }
            first.extend([
                Act::Pause(LATER),
                Act::Send(tail.clone()),
                Act::Raise(signals.sent.clone()),
                SERVE,
            ]);
        }
        Plan::Before(then) => first.push(end(*then)),
        Plan::NeverReads => first.push(Act::Await(signals.over.clone())),
        Plan::Gone => first.push(SERVE),
        Plan::Refused | Plan::Hang => {}
    }
    vec![first, vec![SERVE]]
}

fn pieces(bytes: &[u8], pace: Pace) -> Vec<Act> {
    match pace {
        Pace::AtOnce => vec![Act::Send(bytes.to_vec())],
        Pace::Split(at) => vec![
            Act::Send(bytes[..at].to_vec()),
            Act::Pause(ms(1)),
            Act::Send(bytes[at..].to_vec()),
        ],
        Pace::Each(gap) => vec![Act::SendEach(bytes.to_vec(), gap)],
    }
}

fn end(then: Then) -> Act {
    match then {
        Then::Open => SERVE,
        Then::Fin => Act::Fin,
        Then::Rst => Act::Rst,
    }
}
