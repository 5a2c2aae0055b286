//! A drawing with a title, as the text of an SVG file. It knows lines, rectangles and words, but no axes.

use std::fs;
use std::io;
use std::path::Path;

pub(super) const INK: &str = "#1f2328";
pub(super) const FAINT: &str = "#59636e";
pub(super) const RULE: &str = "#d8dee4";

/// Where a text stands from its point.
#[derive(Clone, Copy, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing that grows by what is put on it; points are pixels from the upper left corner.
#[derive(Debug)]
pub(crate) struct Canvas {
    pub(super) width: f64,
    height: f64,
    body: String,
    /// How far down the drawing is in use: where the next bars begin.
    pub(super) used: f64,
}

impl Canvas {
    pub(crate) fn new(width: f64, height: f64, title: &str, note: &str) -> Self {
        let mut canvas = Self {
            width,
            height,
            body: String::new(),
            used: 60.0,
        };
        canvas.rect(0.0, 0.0, width, height, "#ffffff");
        canvas.put(
            24.0,
            30.0,
            Anchor::Start,
            17,
            INK,
            " font-weight=\"600\"",
            title,
        );
        canvas.text(24.0, 50.0, Anchor::Start, 12, FAINT, note);
        canvas
    }

    /// Names side by side, each with its colour.
    pub(crate) fn legend<'a>(
        &mut self,
        mut left: f64,
        middle: f64,
        names: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) {
        for (name, colour) in names {
            self.rect(left, middle - 5.0, 14.0, 10.0, colour);
            self.text(left + 20.0, middle + 4.0, Anchor::Start, 12, INK, name);
            left += 44.0 + 7.0 * name.len() as f64;
        }
    }

    /// Names one below the other, each with its colour.
    pub(crate) fn column_of_names<'a>(
        &mut self,
        left: f64,
        top: f64,
        names: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) {
        for (number, name) in names.into_iter().enumerate() {
            self.legend(left, top + 22.0 * number as f64, [name]);
        }
    }

    /// Writes `benches/plots/NAME.svg`.
    pub(crate) fn save(self, name: &str) -> io::Result<()> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/plots");
        fs::create_dir_all(&folder)?;
        let Self {
            width,
            height,
            body,
            ..
        } = self;
        let head = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             font-family=\"Helvetica, Arial, DejaVu Sans, sans-serif\">\n"
        );
        fs::write(
            folder.join(name).with_extension("svg"),
            head + &body + "</svg>\n",
        )
    }

    pub(super) fn rect(&mut self, left: f64, top: f64, width: f64, height: f64, fill: &str) {
        self.body += &format!(
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\"/>\n"
        );
    }

    pub(super) fn rule(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str) {
        self.body += &format!(
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{stroke}\"/>\n",
            from.0, from.1, to.0, to.1
        );
    }

    /// A line through the points, with a dot at each.
    pub(super) fn path(&mut self, points: &[(f64, f64)], stroke: &str) {
        let list: Vec<String> = points
            .iter()
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        self.body += &format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"2\" stroke-linejoin=\"round\"/>\n",
            list.join(" ")
        );
        for (x, y) in points {
            self.body +=
                &format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{stroke}\"/>\n");
        }
    }

    pub(super) fn text(
        &mut self,
        x: f64,
        y: f64,
        anchor: Anchor,
        size: u32,
        fill: &str,
        text: &str,
    ) {
        self.put(x, y, anchor, size, fill, "", text);
    }

    /// A text that reads from below to above, in the middle of its height.
    pub(super) fn upright(&mut self, x: f64, y: f64, size: u32, fill: &str, text: &str) {
        let turn = format!(" transform=\"rotate(-90 {x:.1} {y:.1})\"");
        self.put(x, y, Anchor::Middle, size, fill, &turn, text);
    }

    #[allow(clippy::too_many_arguments)]
    fn put(
        &mut self,
        x: f64,
        y: f64,
        anchor: Anchor,
        size: u32,
        fill: &str,
        more: &str,
        text: &str,
    ) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        self.body += &format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{fill}\"{more}>{text}</text>\n"
        );
    }
}
