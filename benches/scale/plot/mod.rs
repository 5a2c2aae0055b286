//! Plots as SVG files, drawn by hand: lines over linear or logarithmic axes, and bars. It knows no measurement.

mod axis;
mod bars;
mod canvas;
mod lines;

pub(crate) use axis::Axis;
pub(crate) use bars::Bar;
pub(crate) use canvas::Canvas;
pub(crate) use lines::{Frame, Series};

/// Colours that can be told apart on white, also by most who are colour-blind.
pub(crate) const COLOURS: [&str; 8] = [
    "#0969da", "#d1242f", "#1a7f37", "#8250df", "#bf8700", "#1b7c83", "#bf3989", "#57606a",
];

/// For further lines beside blue, red and grey ones.
pub(crate) const MORE_COLOURS: [&str; 8] = [
    "#1a7f37", "#8250df", "#bf8700", "#1b7c83", "#bf3989", "#953800", "#6fdd8b", "#24292f",
];
