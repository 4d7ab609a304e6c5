//! Aligned columns.

use dialoguer::console::measure_text_width;

use super::one_line;

/// Rows of cells; the first is the header.
pub(super) struct Table(Vec<Vec<String>>);

impl Table {
    pub(super) fn new(header: &[&str]) -> Self {
        Self(vec![header.iter().map(ToString::to_string).collect()])
    }

    /// Adds a row. A cell without text gets a `-`, so that every row has as many words as columns.
    pub(super) fn row<const N: usize>(&mut self, cells: [&str; N]) {
        let cell = |text: &str| match one_line(text) {
            text if text.is_empty() => "-".to_owned(),
            text => text,
        };
        self.0.push(cells.map(cell).into());
    }

    /// Returns the lines, each column as wide as its widest cell.
    pub(super) fn render(&self) -> String {
        let columns = self.0.first().map_or(0, Vec::len);
        let width =
            |column: usize| self.0.iter().map(|row| measure_text_width(&row[column])).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        self.0.iter().map(|row| line(row, &widths) + "\n").collect()
    }
}

fn line(row: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (cell, width) in row.iter().zip(widths) {
        line.push_str(cell);
        line.extend(std::iter::repeat_n(' ', width + 2 - measure_text_width(cell)));
    }
    line.truncate(line.trim_end().len());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&["name", "state"]);
        table.row(["a", ""]);
        table.row(["日本語", "ok\nforged  row"]);
        table.row(["\u{1b}[2J", "ok"]);
        assert_eq!(
            table.render(),
            "name       state\na          -\n日本語     ok forged row\n\\u{1b}[2J  ok\n"
        );
    }
}
