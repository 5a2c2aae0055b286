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

    pub(crate) fn print(&self) {
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column].chars().count());
            cells.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.rows[0].len()).map(width).collect();
        for (number, row) in self.rows.iter().enumerate() {
            let cells = row.iter().zip(&widths).enumerate();
            let cells = cells.map(|(column, (cell, width))| {
                if column < self.text_columns {
                    format!("| {cell:<width$} ")
                } else {
                    format!("| {cell:>width$} ")
                }
            });
            println!("{}|", cells.collect::<String>());
            if number == 0 {
                let rules = widths.iter().enumerate().map(|(column, width)| {
                    let end = if column < self.text_columns { "-" } else { ":" };
                    format!("|{}{end}", "-".repeat(width + 1))
                });
                println!("{}|", rules.collect::<String>());
            }
        }
        println!();
    }
}
