//! Medians, spreads and how numbers are written. It measures nothing.

use std::fmt;
use std::hint::black_box;
use std::time::Instant;

/// The middle one of several measurements, with the least and the greatest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) least: f64,
    pub(crate) median: f64,
    pub(crate) greatest: f64,
}

impl Spread {
    /// Of at least one value.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        Self {
            least: values[0],
            median: values[values.len() / 2],
            greatest: values[values.len() - 1],
        }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            least,
            median,
            greatest,
        } = self;
        write!(f, "{median:.2} [{least:.2}–{greatest:.2}]")
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

/// A whole number with commas between the thousands.
pub(crate) fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
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
