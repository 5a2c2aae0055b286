//! Bars from left to right, one below the other, each of one or several parts.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, FAINT, INK, RULE};

/// The height of a bar with the space below it.
const PITCH: f64 = 16.0;
/// Legend above, axis below.
const HEAD: f64 = 30.0;
const FOOT: f64 = 60.0;
/// For the note at the end of the longest bar.
const MARGIN: f64 = 60.0;

/// One bar.
#[derive(Clone, Debug)]
pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) parts: Vec<f64>,
    /// What stands at its end.
    pub(crate) note: String,
}

impl Canvas {
    /// The height of a drawing with so many bars.
    pub(crate) fn height_of_bars(count: usize) -> f64 {
        60.0 + HEAD + PITCH * count as f64 + FOOT
    }

    /// The next bars, below what is there, with `left` pixels for their names; `parts` are the parts' names and colours.
    pub(crate) fn bars(&mut self, left: f64, unit: &str, parts: &[(&str, &str)], bars: &[Bar]) {
        let (top, width) = (self.used + HEAD, self.width - left - MARGIN);
        let bottom = top + PITCH * bars.len() as f64;
        let longest = bars.iter().map(|bar| bar.parts.iter().sum());
        let axis = Axis::linear(unit, longest.fold(0.0, f64::max));
        self.legend(left, self.used + 14.0, parts.iter().copied());
        for (place, text) in axis.marks() {
            let x = left + place * width;
            self.rule((x, top), (x, bottom), RULE);
            self.text(x, bottom + 16.0, Anchor::Middle, 11, FAINT, &text);
        }
        self.text(
            left + width / 2.0,
            bottom + 34.0,
            Anchor::Middle,
            12,
            INK,
            &axis.label,
        );
        for (number, bar) in bars.iter().enumerate() {
            let y = top + PITCH * number as f64;
            self.text(left - 8.0, y + 11.5, Anchor::End, 11, INK, &bar.label);
            let mut x = left;
            for (part, (_, colour)) in bar.parts.iter().zip(parts) {
                let length = axis.place(*part) * width;
                self.rect(x, y + 2.0, length, PITCH - 4.0, colour);
                x += length;
            }
            self.text(x + 5.0, y + 11.5, Anchor::Start, 10, FAINT, &bar.note);
        }
        self.used = bottom + FOOT;
    }
}
