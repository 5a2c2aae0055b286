//! Lines over two axes.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, FAINT, INK, RULE};

/// Where the lines go, without the numbers beside them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// One line.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) colour: &'static str,
    pub(crate) points: Vec<(f64, f64)>,
}

impl Series {
    pub(crate) fn new(name: &str, colour: &'static str, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.to_owned(),
            colour,
            points,
        }
    }

    /// How high its last point is: names stand in the order in which the lines end.
    pub(crate) fn end(&self) -> f64 {
        self.points.last().map_or(0.0, |point| point.1)
    }
}

impl Canvas {
    /// A frame with axes, a title above it, and the lines in it.
    pub(crate) fn lines(
        &mut self,
        frame: Frame,
        title: &str,
        across: &Axis,
        up: &Axis,
        series: &[Series],
    ) {
        let Frame {
            left,
            top,
            width,
            height,
        } = frame;
        let (right, bottom) = (left + width, top + height);
        for (place, text) in across.marks() {
            let x = left + place * width;
            self.rule((x, top), (x, bottom), RULE);
            self.text(x, bottom + 16.0, Anchor::Middle, 11, FAINT, &text);
        }
        for (place, text) in up.marks() {
            let y = bottom - place * height;
            self.rule((left, y), (right, y), RULE);
            self.text(left - 6.0, y + 4.0, Anchor::End, 11, FAINT, &text);
        }
        self.rule((left, bottom), (right, bottom), FAINT);
        self.rule((left, top), (left, bottom), FAINT);
        self.text(
            left + width / 2.0,
            top - 8.0,
            Anchor::Middle,
            13,
            INK,
            title,
        );
        self.text(
            left + width / 2.0,
            bottom + 34.0,
            Anchor::Middle,
            12,
            INK,
            &across.label,
        );
        self.upright(left - 56.0, top + height / 2.0, 12, INK, &up.label);
        for line in series {
            let points = line.points.iter();
            let points = points.map(|(x, y)| {
                (
                    left + across.place(*x) * width,
                    bottom - up.place(*y) * height,
                )
            });
            self.path(&points.collect::<Vec<_>>(), line.colour);
        }
    }
}
