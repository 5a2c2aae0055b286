//! Medians, spreads and how numbers are written. It measures nothing.

use std::fmt;
use std::hint::black_box;
use std::time::Instant;

pub(crate) use crate::digits::grouped;

/// Several measurements of one thing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) least: f64,
    /// A quarter of the measurements are below it.
    lower: f64,
    pub(crate) median: f64,
    /// A quarter of them are above it.
    upper: f64,
    pub(crate) greatest: f64,
}

impl Spread {
    /// Of at least one value.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let last = values.len() - 1;
        Self {
            least: values[0],
            lower: values[last / 4],
            median: values[last.div_ceil(2)],
            upper: values[last - last / 4],
            greatest: values[last],
        }
    }

    /// The median, and in brackets the least and the greatest.
    pub(crate) fn whole(&self) -> String {
        let [median, least, greatest] = [self.median, self.least, self.greatest].map(short);
        format!("{median} [{least}–{greatest}]")
    }
}

/// The median, and in brackets the quartiles: single rounds on a busy machine say little.
impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [median, lower, upper] = [self.median, self.lower, self.upper].map(short);
        write!(f, "{median} [{lower}–{upper}]")
    }
}

/// The value that this share of ascending values does not exceed.
pub(crate) fn quantile(ascending: &[u32], share: f64) -> u32 {
    let last = ascending.len() - 1;
    ascending[(last as f64 * share).round() as usize]
}

/// Nanoseconds that one run of `work` takes.
pub(crate) fn nanos<T>(work: impl FnOnce() -> T) -> f64 {
    let begun = Instant::now();
    black_box(work());
    begun.elapsed().as_nanos() as f64
}

/// Three significant digits: `0.0123`, `1.23`, `12.3`, `1,230`.
pub(crate) fn short(number: f64) -> String {
    match number {
        ..0.0995 => format!("{number:.3}"),
        ..9.995 => format!("{number:.2}"),
        ..99.95 => format!("{number:.1}"),
        _ => grouped(number),
    }
}
