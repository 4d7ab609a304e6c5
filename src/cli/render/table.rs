//! Aligned columns.

use dialoguer::console::measure_text_width;

use super::line_of;

/// Rows of cells; the first is the header. All text is one, so that thousands of rows are no tens of thousands of
/// allocations.
pub(super) struct Table {
    text: String,
    /// Where each cell ends, and how wide it is.
    cells: Vec<(usize, usize)>,
    /// How wide each column is.
    widths: Vec<usize>,
}

impl Table {
    pub(super) fn new(header: &[&str]) -> Self {
        let mut table = Self { text: String::new(), cells: Vec::new(), widths: vec![0; header.len()] };
        header.iter().enumerate().for_each(|(column, text)| table.cell(column, text));
        table
    }

    /// Adds a row. A cell without text gets a `-`, so that every row has as many words as columns.
    pub(super) fn row<const N: usize>(&mut self, cells: [&str; N]) {
        for (column, text) in cells.into_iter().enumerate() {
            match &*line_of(text) {
                "" => self.cell(column, "-"),
                text => self.cell(column, text),
            }
        }
    }

    fn cell(&mut self, column: usize, text: &str) {
        // Of most texts it is the number of bytes.
        let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        let width = if is_plain { text.len() } else { measure_text_width(text) };
        self.text.push_str(text);
        self.cells.push((self.text.len(), width));
        if let Some(widest) = self.widths.get_mut(column) {
            *widest = width.max(*widest);
        }
    }

    /// Returns the lines, each column as wide as its widest cell.
    pub(super) fn render(&self) -> String {
        let line: usize = self.widths.iter().map(|width| width + 2).sum();
        let mut lines = String::with_capacity(self.cells.len() / self.widths.len().max(1) * line);
        let mut start = 0;
        for row in self.cells.chunks(self.widths.len().max(1)) {
            for ((end, own), width) in row.iter().zip(&self.widths) {
                lines.push_str(&self.text[start..*end]);
                lines.extend(std::iter::repeat_n(' ', width + 2 - own));
                start = *end;
            }
            lines.truncate(lines.trim_end().len());
            lines.push('\n');
        }
        lines
    }
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
