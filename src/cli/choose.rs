//! Choosing from a list at the terminal: typing filters it, the space bar picks.

use std::io;

use dialoguer::console::{self, Key, Term, style};

use super::render::{one_line, wrapped};
use skillpm_sources::reporter::Choice;

/// The help on keys below the question.
const KEYS: &str = "type to filter, space picks, → all, ← none, enter ends, esc cancels";
/// The smallest terminal width for which lines are cut.
const NARROWEST: usize = 20;

/// The effect of a key.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    Ask,
    Done,
    Cancelled,
}

/// A list from which the user picks.
struct Picker<'a> {
    question: &'a str,
    items: &'a [Choice],
    picked: Vec<bool>,
    /// The filter as typed; only matching items are shown.
    filter: String,
    /// The index of the current item among those shown.
    at: usize,
    /// The index of the first item in the window.
    top: usize,
}

/// Lets the user pick from `items` on `term`, and replaces the list by the answer. Cancelling picks nothing.
pub(super) fn choose(term: &Term, question: &str, items: &[Choice]) -> io::Result<Vec<usize>> {
    let mut picker = Picker::new(question, items);
    let mut drawn = 0;
    let next = loop {
        let (height, width) = term.size();
        let lines = picker.lines(usize::from(width), usize::from(height));
        term.clear_last_lines(drawn)?;
        drawn = lines.len();
        for line in &lines {
            term.write_line(line)?;
        }
        term.flush()?;
        match picker.press(&term.read_key()?) {
            Next::Ask => {}
            next => break next,
        }
    };
    term.clear_last_lines(drawn)?;
    let picked = if next == Next::Done { picker.answer() } else { Vec::new() };
    let names: Vec<_> = picked.iter().map(|at| one_line(&items[*at].title)).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    term.write_line(&format!("{} {question} {}", sign(), style(names).for_stderr().green()))?;
    Ok(picked)
}

fn sign() -> console::StyledObject<&'static str> {
    style("?").for_stderr().yellow()
}

impl<'a> Picker<'a> {
    fn new(question: &'a str, items: &'a [Choice]) -> Self {
        let picked = items.iter().map(|item| item.picked).collect();
        Self { question, items, picked, filter: String::new(), at: 0, top: 0 }
    }

    /// Returns the indices of the items that match the filter: each of its words is in the title or the
    /// description. An item of that title comes first, then those whose titles begin with the filter, then those
    /// whose titles have its words.
    fn shown(&self) -> Vec<usize> {
        let filter = self.filter.trim().to_lowercase();
        let has = |text: &str| filter.split_whitespace().all(|word| text.contains(word));
        let rank = |item: &Choice| {
            let title = item.title.to_lowercase();
            let text = format!("{title} {}", item.description.to_lowercase());
            has(&text).then(|| (title != filter, !title.starts_with(&filter), !has(&title)))
        };
        let ranks = self.items.iter().enumerate().filter_map(|(at, item)| Some((rank(item)?, at)));
        let mut found: Vec<_> = ranks.collect();
        // Without a filter all are alike, and stay in their order.
        found.sort_unstable();
        found.into_iter().map(|(_, at)| at).collect()
    }

    /// Returns the picked items, in their order.
    fn answer(&self) -> Vec<usize> {
        (0..self.items.len()).filter(|at| self.picked[*at]).collect()
    }

    fn press(&mut self, key: &Key) -> Next {
        let shown = self.shown();
        let last = shown.len().saturating_sub(1);
        match key {
            Key::Enter => return Next::Done,
            Key::Escape if self.filter.is_empty() => return Next::Cancelled,
            Key::Escape => self.filter_by(String::new()),
            Key::ArrowDown => self.at = if self.at == last { 0 } else { self.at + 1 },
            Key::ArrowUp => self.at = if self.at == 0 { last } else { self.at - 1 },
            Key::PageDown => self.at = (self.at + 10).min(last),
            Key::PageUp => self.at = self.at.saturating_sub(10),
            Key::Home => self.at = 0,
            Key::End => self.at = last,
            Key::ArrowRight => shown.iter().for_each(|at| self.picked[*at] = true),
            Key::ArrowLeft => shown.iter().for_each(|at| self.picked[*at] = false),
            Key::Char(' ') => {
                if let Some(at) = shown.get(self.at) {
                    self.picked[*at] = !self.picked[*at];
                }
            }
            Key::Backspace => {
                let mut filter = self.filter.clone();
                filter.pop();
                self.filter_by(filter);
            }
            Key::Char(letter) if !letter.is_control() => self.filter_by(format!("{}{letter}", self.filter)),
            _ => {}
        }
        Next::Ask
    }

    fn filter_by(&mut self, filter: String) {
        (self.filter, self.at, self.top) = (filter, 0, 0);
    }

    /// Returns the lines to draw on a terminal of this size. Each line is narrower than the terminal:
    /// otherwise it would wrap and garble the picture.
    fn lines(&mut self, width: usize, height: usize) -> Vec<String> {
        let room = width.saturating_sub(1).max(NARROWEST);
        let shown = self.shown();
        let number = self.answer().len();
        let mut lines =
            wrapped(&format!("{} ({number} of {} picked)", self.question, self.items.len()), room - 2);
        for (at, line) in lines.iter_mut().enumerate() {
            *line = if at == 0 { format!("{} {line}", sign()) } else { format!("  {line}") };
        }
        lines.extend(
            wrapped(KEYS, room - 2).iter().map(|line| format!("  {}", style(line).for_stderr().dim())),
        );
        if !self.filter.is_empty() {
            let filter = console::truncate_str(&self.filter, room - 10, "…").into_owned();
            lines.push(format!("  filter: {filter}"));
        }
        // One line counts the items outside the window, and the cursor takes another.
        let window = height.saturating_sub(lines.len() + 2).clamp(1, 20);
        self.top = self.top.clamp((self.at + 1).saturating_sub(window), self.at);
        let titles: Vec<_> = shown.iter().map(|at| one_line(&self.items[*at].title)).collect();
        let widest = titles.iter().map(|title| console::measure_text_width(title)).max().unwrap_or(0);
        let column = widest.min(room / 2);
        for (row, (at, title)) in shown.iter().zip(&titles).enumerate().skip(self.top).take(window) {
            let item = &self.items[*at];
            let pointer = if row == self.at { ">" } else { " " };
            let mark = if self.picked[*at] { "[x]" } else { "[ ]" };
            let title = console::truncate_str(title, column, "…");
            let title = console::pad_str(&title, column, console::Alignment::Left, None);
            let note = item.note.as_deref().map(|note| format!("({note}) ")).unwrap_or_default();
            let text = format!("{pointer} {mark} {title}  {note}{}", one_line(&item.description));
            let text = console::truncate_str(text.trim_end(), room, "…").into_owned();
            lines.push(if row == self.at { style(text).for_stderr().cyan().to_string() } else { text });
        }
        if shown.is_empty() {
            lines.push("  nothing has that".to_owned());
        } else if shown.len() > window {
            let (from, to) = (self.top + 1, (self.top + window).min(shown.len()));
            lines.push(format!("  {from} to {to} of {}", shown.len()));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items() -> Vec<Choice> {
        let mut items = vec![
            Choice::new("pdf", "Reads\n\u{1b}[2J PDF files and many others"),
            Choice::new("spreadsheets", "Reads tables"),
            Choice::new("docx", "Writes letters"),
        ];
        items[2].note = Some("installed".to_owned());
        items
    }

    fn press(picker: &mut Picker<'_>, keys: &str) {
        for letter in keys.chars() {
            assert_eq!(picker.press(&Key::Char(letter)), Next::Ask);
        }
    }

    #[test]
    fn what_is_drawn() {
        let items = items();
        let mut picker = Picker::new("which skills do you want to install?", &items);
        press(&mut picker, " ");
        picker.press(&Key::ArrowDown);
        insta::assert_snapshot!(picker.lines(80, 24).join("\n"), @r"
        ? which skills do you want to install? (1 of 3 picked)
          type to filter, space picks, → all, ← none, enter ends, esc cancels
          [x] pdf           Reads \u{1b}[2J PDF files and many others
        > [ ] spreadsheets  Reads tables
          [ ] docx          (installed) Writes letters
        ");
        insta::assert_snapshot!(picker.lines(40, 9).join("\n"), @r"
        ? which skills do you want to install?
          (1 of 3 picked)
          type to filter, space picks, → all, ←
          none, enter ends, esc cancels
          [x] pdf           Reads \u{1b}[2J PD…
        > [ ] spreadsheets  Reads tables
          [ ] docx          (installed) Writes…
        ");
        for (width, height) in [(40, 9), (20, 4), (0, 0), (200, 60)] {
            let lines = picker.lines(width, height);
            assert!(lines.iter().all(|line| console::measure_text_width(line) < width.max(21)), "{lines:#?}");
        }
    }

    #[test]
    fn typing_filters_and_keys_act_on_what_is_shown() {
        let items = items();
        let mut picker = Picker::new("which?", &items);
        press(&mut picker, "READS");
        assert_eq!(picker.shown(), [1, 0], "its title has it");
        picker.press(&Key::ArrowRight);
        assert_eq!(picker.answer(), [0, 1]);
        press(&mut picker, "x");
        assert_eq!(picker.shown(), [0; 0]);
        assert!(picker.lines(80, 24).iter().any(|line| line == "  nothing has that"));
        press(&mut picker, " ");
        assert_eq!(picker.press(&Key::Escape), Next::Ask, "the filter goes first");
        assert_eq!((picker.shown().len(), picker.answer().len()), (3, 2));
        picker.press(&Key::ArrowUp);
        press(&mut picker, " ");
        picker.press(&Key::Home);
        press(&mut picker, " ");
        assert_eq!(picker.answer(), [1, 2]);
        assert_eq!(picker.press(&Key::Enter), Next::Done);
        assert_eq!(picker.press(&Key::Escape), Next::Cancelled);
    }

    #[test]
    fn names_come_before_descriptions() {
        let items = [("canvas", "Makes a pdf."), ("my-pdf", ""), ("pdf-forms", ""), ("pdf", "")]
            .map(|(title, text)| Choice::new(title, text));
        let mut picker = Picker::new("which?", &items);
        assert_eq!(picker.shown(), [0, 1, 2, 3]);
        press(&mut picker, "PDF");
        assert_eq!(picker.shown(), [3, 2, 1, 0]);
        press(&mut picker, " ");
        assert_eq!(picker.answer(), [3], "what is picked first is what was typed");
    }

    #[test]
    fn a_long_list_has_a_window() {
        let items: Vec<_> = (0..50).map(|at| Choice::new(&format!("s{at:02}"), "")).collect();
        let mut picker = Picker::new("which?", &items);
        let last = |picker: &mut Picker<'_>| picker.lines(80, 10).pop().unwrap_or_default();
        assert_eq!(last(&mut picker), "  1 to 6 of 50");
        for _ in 0..7 {
            picker.press(&Key::ArrowDown);
        }
        assert_eq!(last(&mut picker), "  3 to 8 of 50");
        picker.press(&Key::End);
        assert_eq!(last(&mut picker), "  45 to 50 of 50");
    }
}
