//! Tables in Markdown, with columns of equal width. It knows no measurement.

/// Rows of cells below a heading, all of one length; the first columns are text, the others numbers.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    text_columns: usize,
}

impl Table {
    pub(crate) fn new<S: Into<String>>(
        text_columns: usize,
        heading: impl IntoIterator<Item = S>,
    ) -> Self {
        Self {
            rows: vec![heading.into_iter().map(Into::into).collect()],
            text_columns,
        }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// With columns of equal width, for the terminal.
    pub(crate) fn padded(&self) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column].chars().count());
            cells.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.rows[0].len()).map(width).collect();
        self.lines(&widths)
    }

    /// Without any padding, for a file that is read as it is shown.
    pub(crate) fn compact(&self) -> String {
        self.lines(&vec![1; self.rows[0].len()])
    }

    fn lines(&self, widths: &[usize]) -> String {
        let is_text = |column: usize| column < self.text_columns;
        let mut lines = Vec::new();
        for (number, row) in self.rows.iter().enumerate() {
            let cells = row.iter().zip(widths).enumerate();
            let cells = cells.map(|(column, (cell, width))| match is_text(column) {
                true => format!("| {cell:<width$} "),
                false => format!("| {cell:>width$} "),
            });
            lines.push(format!("{}|", cells.collect::<String>()));
            if number == 0 {
                let rules = widths.iter().enumerate().map(|(column, width)| {
                    let end = if is_text(column) { "-" } else { ":" };
                    format!("|{}{end}", "-".repeat(width + 1))
                });
                lines.push(format!("{}|", rules.collect::<String>()));
            }
        }
        lines.join("\n")
    }
}
