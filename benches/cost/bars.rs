//! What an operation may cost at most. It counts nothing.

use crate::count::Counts;
use crate::digits::grouped;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    Sends,
    Receives,
    /// System calls that are neither.
    OtherCalls,
    Instructions,
    Allocations,
    Copied,
}

/// A limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bar {
    number: u8,
    measure: Measure,
    most: f64,
}

/// The background thread may wake while operations are counted: a call or an allocation of its own for hundreds of them.
const OF_OTHERS: f64 = 0.02;

impl Bar {
    pub(crate) const fn new(number: u8, measure: Measure, most: f64) -> Self {
        Self {
            number,
            measure,
            most,
        }
    }

    /// What it holds, in words.
    pub(crate) fn text(&self) -> String {
        let what = match (self.measure, self.most) {
            (Measure::Sends, 1.0) => return "1 send".to_owned(),
            (Measure::Receives, 1.0) => return "1 receive".to_owned(),
            (Measure::OtherCalls, 0.0) => return "no other call".to_owned(),
            (Measure::Sends, _) => "sends",
            (Measure::Receives, _) => "receives",
            (Measure::OtherCalls, _) => "other calls",
            (Measure::Instructions, _) => "instructions",
            (Measure::Allocations, 0.0) => return "no allocation".to_owned(),
            (Measure::Allocations, 1.0) => return "1 allocation".to_owned(),
            (Measure::Allocations, _) => "allocations",
            (Measure::Copied, _) => "bytes copied",
        };
        format!("≤ {} {what}", grouped(self.most))
    }

    /// Whether the column of `measure` is the one that this bar holds.
    pub(crate) fn holds(&self, measure: Measure) -> bool {
        self.measure == measure
    }

    /// Whether what was counted is over the bar; what could not be counted is not.
    pub(crate) fn is_over(&self, counts: &Counts) -> bool {
        let slack = match self.measure {
            Measure::Instructions | Measure::Copied => 0.0,
            _ => OF_OTHERS,
        };
        counts
            .of(self.measure)
            .is_some_and(|count| count > self.most + slack)
    }

    /// A line for those who exceed it.
    pub(crate) fn complaint(&self, title: &str, counts: &Counts) -> String {
        let count = counts.of(self.measure).unwrap_or_default();
        let (number, text) = (self.number, self.text());
        format!("{title}: {count:.2} where bar {number} says: {text}")
    }
}
