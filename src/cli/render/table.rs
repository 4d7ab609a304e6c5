//! Aligned columns, as wide as the terminal allows. Nothing is shortened in a pipe or a file.

use anstyle::Style;
use dialoguer::console::truncate_str;

use super::line_of;
use crate::cli::appearance::Appearance;
use crate::cli::printer::Printer;
use crate::cli::style::{FAINT, STRONG, paint, style_of_state, width_of};

/// The number of blanks between two columns.
const GAP: usize = 2;

/// Rows of cells; the first is the header. All text is in one string, so that thousands of rows do not need
/// tens of thousands of allocations.
pub(super) struct Table {
    text: String,
    /// The end of each cell in the text, and its width.
    cells: Vec<(usize, usize)>,
    columns: Vec<Column>,
}

/// A column: the width of its widest cell, and its kind.
struct Column {
    width: usize,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A text that is shortened if there is no room.
    Text,
    /// A right-aligned number, which is never shortened.
    Number,
    /// Coloured words, which are never shortened.
    State,
    /// Sentences, which continue on the next line. Only a last column has them.
    Prose,
}

impl Kind {
    /// Returns the smallest width of a column whose widest cell has `width`.
    fn least(self, width: usize, header: usize, is_first: bool) -> usize {
        match self {
            Self::Number | Self::State => width,
            Self::Prose => width.min(header.max(24)),
            // People copy the first column into commands.
            Self::Text if is_first => width.min(header.max(24)),
            Self::Text => width.min(header.max(10)),
        }
    }
}

impl Table {
    pub(super) fn new(header: &[&str]) -> Self {
        let columns = header.iter().map(|_| Column { width: 0, kind: Kind::Text }).collect();
        let mut table = Self { text: String::new(), cells: Vec::new(), columns };
        header.iter().enumerate().for_each(|(column, text)| table.cell(column, text));
        table
    }

    /// Makes `title` a column of numbers or sizes.
    pub(super) fn number(self, title: &str) -> Self {
        self.with(title, Kind::Number)
    }

    /// Makes `title` a column of states.
    pub(super) fn state(self, title: &str) -> Self {
        self.with(title, Kind::State)
    }

    /// Makes `title`, the last column, one of sentences.
    pub(super) fn prose(self, title: &str) -> Self {
        self.with(title, Kind::Prose)
    }

    fn with(mut self, title: &str, kind: Kind) -> Self {
        let at = (0..self.columns.len()).find(|at| self.at(*at).0 == title);
        if let Some(column) = at.and_then(|at| self.columns.get_mut(at)) {
            column.kind = kind;
        }
        self
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
        let width = width_of(text);
        self.text.push_str(text);
        self.cells.push((self.text.len(), width));
        if let Some(column) = self.columns.get_mut(column) {
            column.width = width.max(column.width);
        }
    }

    /// Returns the text of a cell, and its width.
    fn at(&self, cell: usize) -> (&str, usize) {
        let start = cell.checked_sub(1).map_or(0, |before| self.cells[before].0);
        let (end, width) = self.cells[cell];
        (&self.text[start..end], width)
    }

    /// Prints the table as data.
    pub(super) fn show(&self, printer: &Printer) {
        printer.styled_data(&self.render(printer.look()));
    }

    /// Returns the lines: each row on one line if the terminal has room for that, otherwise on a few.
    pub(super) fn render(&self, look: &Appearance) -> String {
        let colour = look.out_colour;
        match look.width {
            None => self.in_columns(&self.widest(), colour),
            Some(room) => match self.narrowed(room) {
                Some(widths) => self.in_columns(&widths, colour),
                None => self.below(room, colour),
            },
        }
    }

    fn widest(&self) -> Vec<usize> {
        self.columns.iter().map(|column| column.width).collect()
    }

    /// Returns the width of each column on a terminal of `room` columns, or `None` if even the narrowest ones
    /// do not fit.
    fn narrowed(&self, room: usize) -> Option<Vec<usize>> {
        let mut widths = self.widest();
        let room = room.saturating_sub(GAP * self.columns.len().saturating_sub(1));
        let least: Vec<usize> =
            self.columns.iter().enumerate().map(|(at, column)| self.least(at, column)).collect();
        if least.iter().sum::<usize>() > room {
            return None;
        }
        for (width, least) in widths.iter_mut().zip(&least) {
            *width = (*width).min(room.max(*least));
        }
        while widths.iter().sum::<usize>() > room {
            let can = |at: &usize| widths[*at] > least[*at];
            // The widest column is narrowed first, and the first column last.
            let widest = (1..widths.len()).filter(can).max_by_key(|at| widths[*at]);
            widths[widest.unwrap_or(0)] -= 1;
        }
        Some(widths)
    }

    fn least(&self, at: usize, column: &Column) -> usize {
        column.kind.least(column.width, self.at(at).1, at == 0)
    }

    fn in_columns(&self, widths: &[usize], colour: bool) -> String {
        let line: usize = widths.iter().map(|width| width + GAP).sum();
        let mut lines = String::with_capacity(self.cells.len() / widths.len().max(1) * line);
        for first in (0..self.cells.len()).step_by(widths.len().max(1)) {
            let mut more = Vec::new();
            for (at, width) in widths.iter().enumerate() {
                let (text, own) = self.at(first + at);
                let style = self.style(first == 0, at, text).filter(|_| colour);
                if own <= *width {
                    self.place(&mut lines, at, (text, own), *width, style);
                } else if self.columns[at].kind == Kind::Prose {
                    more = wrapped(text, *width);
                    let start = more.remove(0);
                    self.place(&mut lines, at, (&start, width_of(&start)), *width, style);
                } else {
                    let text = truncate_str(text, *width, "…");
                    self.place(&mut lines, at, (&text, width_of(&text)), *width, style);
                }
            }
            end_line(&mut lines);
            for text in more {
                let before: usize = widths[..widths.len() - 1].iter().map(|width| width + GAP).sum();
                spaces(&mut lines, before);
                lines.push_str(&text);
                end_line(&mut lines);
            }
        }
        lines
    }

    /// Appends a cell and the gap after it.
    fn place(
        &self,
        lines: &mut String,
        at: usize,
        (text, own): (&str, usize),
        width: usize,
        style: Option<Style>,
    ) {
        let room = width.saturating_sub(own);
        let (before, behind) = if self.columns[at].kind == Kind::Number { (room, 0) } else { (0, room) };
        spaces(lines, before);
        paint(lines, text, style.unwrap_or_default(), style.is_some());
        spaces(lines, behind + GAP);
    }

    /// Returns rows that begin with their first cell; the others are below, each with its title, as many on a
    /// line as fit.
    fn below(&self, room: usize, colour: bool) -> String {
        let mut lines = String::new();
        for first in (0..self.cells.len()).step_by(self.columns.len().max(1)).skip(1) {
            paint(&mut lines, &truncate_str(self.at(first).0, room, "…"), STRONG, colour);
            let mut used = usize::MAX;
            for at in 1..self.columns.len() {
                let (title, (text, own)) = (self.at(at), self.at(first + at));
                if text == "-" {
                    continue;
                }
                let width = title.1 + 1 + own;
                let indent = if used.saturating_add(GAP + width) <= room { GAP } else { 0 };
                if indent == 0 {
                    lines.push_str("\n  ");
                    used = GAP;
                }
                spaces(&mut lines, indent);
                paint(&mut lines, title.0, FAINT, colour);
                lines.push(' ');
                let left = room.saturating_sub(used + indent + title.1 + 1);
                let style = self.style(false, at, text).filter(|_| colour);
                if own > left && self.columns[at].kind == Kind::Prose {
                    lines.push_str(&wrapped(text, left).join(&format!("\n  {:1$}", "", title.1 + 1)));
                } else {
                    paint(
                        &mut lines,
                        &truncate_str(text, left, "…"),
                        style.unwrap_or_default(),
                        style.is_some(),
                    );
                }
                used = used.saturating_add(indent + width);
            }
            lines.push('\n');
        }
        lines
    }

    fn style(&self, is_header: bool, at: usize, text: &str) -> Option<Style> {
        match (is_header, self.columns[at].kind) {
            (true, _) => Some(STRONG),
            (_, Kind::State) => style_of_state(text),
            _ if text == "-" => Some(FAINT),
            _ => None,
        }
    }
}

/// Wraps a text into lines of at most `width` columns, between words. Shortens a longer word.
pub(in crate::cli) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let word = truncate_str(word, width.max(1), "…");
        let own = width_of(&word);
        if used > 0 && used + 1 + own > width {
            lines.push(String::new());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            spaces(line, usize::from(used > 0));
            used += own + usize::from(used > 0);
            line.push_str(&word);
        }
    }
    lines
}

fn spaces(lines: &mut String, count: usize) {
    lines.extend(std::iter::repeat_n(' ', count));
}

fn end_line(lines: &mut String) {
    lines.truncate(lines.trim_end().len());
    lines.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(width: usize) -> Appearance {
        Appearance { width: Some(width), ..Appearance::PLAIN }
    }

    fn table() -> Table {
        let mut table = Table::new(&["name", "bytes", "source", "state", "why"]);
        table = table.number("bytes").state("state").prose("why");
        table.row(["pdf", "7", "github:anthropics/skills-of-all-kinds", "ok", ""]);
        table.row([
            "docx",
            "1234",
            "github:acme/kit",
            "missing",
            "it was removed in a hurry and without a word",
        ]);
        table
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&["name", "state"]);
        table.row(["a", ""]);
        table.row(["日本語", "ok\nforged  row"]);
        table.row(["\u{1b}[2J", "ok"]);
        assert_eq!(
            table.render(&Appearance::PLAIN),
            "name       state\na          -\n日本語     ok forged row\n\\u{1b}[2J  ok\n"
        );
    }

    /// In a pipe everything is printed; on a terminal long texts are shortened, and sentences wrap.
    #[test]
    fn a_table_fits_the_terminal() {
        insta::assert_snapshot!(table().render(&Appearance::PLAIN), @"
        name  bytes  source                                 state    why
        pdf       7  github:anthropics/skills-of-all-kinds  ok       -
        docx   1234  github:acme/kit                        missing  it was removed in a hurry and without a word
        ");
        insta::assert_snapshot!(table().render(&on(80)), @"
        name  bytes  source                        state    why
        pdf       7  github:anthropics/skills-of…  ok       -
        docx   1234  github:acme/kit               missing  it was removed in a hurry
                                                            and without a word
        ");
        insta::assert_snapshot!(table().render(&on(40)), @"
        pdf
          bytes 7
          source github:anthropics/skills-of-al…
          state ok
        docx
          bytes 1234  source github:acme/kit
          state missing
          why it was removed in a hurry and
              without a word
        ");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let mut table = table();
        table.row([&"名".repeat(60), "99999", &"x".repeat(500), "ok, copy edited", &"y".repeat(300)]);
        for width in 20..160 {
            for line in table.render(&on(width)).lines() {
                assert!(width_of(line) <= width, "{width}: {line}");
            }
        }
    }

    #[test]
    fn states_have_colours() {
        let look = Appearance { out_colour: true, ..Appearance::PLAIN };
        let text = table().render(&look);
        assert!(text.starts_with("\u{1b}[1mname\u{1b}[0m  "), "{text:?}");
        let plain = dialoguer::console::strip_ansi_codes(&text).into_owned();
        assert_eq!(plain, table().render(&Appearance::PLAIN));
        let mut state = String::new();
        paint(&mut state, "missing", style_of_state("missing").expect("a style"), true);
        assert!(text.contains(&state), "{text:?}");
    }
}
