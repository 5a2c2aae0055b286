//! What befalls the connections: drawn from a seed for each connection and direction.

use crate::support::proxy::{Due, Fault, Plan, Schedule};
use crate::support::random::Random;
use crate::support::wait::ms;

/// Bytes between two faults of a direction, on the average. A command has about 60 and a reply about 40.
const GAP: u64 = 12_000;

/// What befalls the connection of this number to the server of this stream.
pub(super) fn plan(server: &Random, connection: u64) -> Plan {
    let mut random = server.clone();
    let seed = random.number();
    let mut first = Random::of(seed, &[connection, 0]);
    Plan {
        at_accept: (first.below(12) == 0).then(|| fault(&mut first)),
        requests: schedule(Random::of(seed, &[connection, 1])),
        replies: schedule(Random::of(seed, &[connection, 2])),
    }
}

fn schedule(mut random: Random) -> Schedule {
    Box::new(std::iter::repeat_with(move || {
        // Many soon after another, a few long after.
        let most = *random.pick(&[GAP / 40, GAP / 4, GAP, 3 * GAP]);
        Due {
            after: random.below(most) as usize,
            // An answer that is lost as a whole may be one to a command that was carried out.
            before_piece: random.below(4) != 0,
            fault: fault(&mut random),
        }
    }))
}

fn fault(random: &mut Random) -> Fault {
    match random.below(100) {
        0..10 => Fault::Fin,
        10..15 => Fault::HalfFin,
        15..25 => Fault::Rst,
        25..32 => Fault::Lose(ms(random.between(1, 200))),
        32..42 => Fault::Stall(ms(random.between(20, 500))),
        42..70 => Fault::Delay(ms(random.between(1, 20))),
        _ => Fault::Split(random.between(1, 60) as usize, ms(random.below(2))),
    }
}
