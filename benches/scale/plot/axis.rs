//! From a value to its place on an axis, and which values are written beside it.

use crate::numbers::short;

/// One direction of a plot.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(super) label: String,
    low: f64,
    high: f64,
    log: bool,
    ticks: Vec<f64>,
}

impl Axis {
    /// From 0 to a round number at or above `top`.
    pub(crate) fn linear(label: &str, top: f64) -> Self {
        // Four to ten steps of 1, 2 or 5 times a power of ten.
        let rough = top / 4.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [5.0, 2.0, 1.0].map(|times| times * power);
        let step = step
            .into_iter()
            .find(|step| *step <= rough)
            .unwrap_or(power);
        let steps = (top / step).ceil();
        Self {
            label: label.to_owned(),
            low: 0.0,
            high: steps * step,
            log: false,
            ticks: (0..=steps as usize).map(|n| n as f64 * step).collect(),
        }
    }

    /// From at most `low` to at least `high`, both above 0, by powers of ten.
    pub(crate) fn log(label: &str, low: f64, high: f64) -> Self {
        let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        let last = last.max(first + 1);
        Self {
            label: label.to_owned(),
            low: 10_f64.powi(first),
            high: 10_f64.powi(last),
            log: true,
            ticks: (first..=last).map(|power| 10_f64.powi(power)).collect(),
        }
    }

    /// The same with these values written beside it, from end to end.
    pub(crate) fn ticks<const N: usize>(mut self, ticks: [f64; N]) -> Self {
        (self.low, self.high) = (ticks[0], ticks[N - 1]);
        self.ticks = ticks.to_vec();
        self
    }

    /// From 0 at the low end to 1 at the high one.
    pub(super) fn place(&self, value: f64) -> f64 {
        let scaled = |value: f64| if self.log { value.ln() } else { value };
        (scaled(value) - scaled(self.low)) / (scaled(self.high) - scaled(self.low))
    }

    pub(super) fn marks(&self) -> impl Iterator<Item = (f64, String)> {
        self.ticks.iter().map(|value| {
            let text = if *value == 0.0 || (*value >= 1.0 && value.fract() == 0.0) {
                crate::numbers::grouped(*value)
            } else {
                short(*value).trim_end_matches('0').to_owned()
            };
            (self.place(*value), text)
        })
    }
}
