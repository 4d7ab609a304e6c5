//! The picture of what depends on a skill and on what it depends.

use serde::Serialize;

/// The largest number of skills at one side.
const MOST: usize = 8;
/// The size of the box of a skill, and the room between two of them.
const WIDTH: usize = 190;
const HEIGHT: usize = 34;
const GAP: usize = 12;
/// The room for the lines between two columns.
const LINES: usize = 70;
/// The largest number of characters of a name in a box.
const CHARS: usize = 21;

/// A picture: boxes in up to three columns, and lines between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Graph {
    width: usize,
    height: usize,
    boxes: Vec<Node>,
    lines: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Node {
    x: usize,
    y: usize,
    text_x: usize,
    text_y: usize,
    width: usize,
    height: usize,
    text: String,
    is_center: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Line {
    x1: usize,
    y1: usize,
    x2: usize,
    y2: usize,
    middle: usize,
}

impl Graph {
    /// Returns the graph of the skill `name`; `None` if it has no neighbours.
    pub(super) fn of(name: &str, dependents: &[&str], dependencies: &[&str]) -> Option<Self> {
        if dependents.is_empty() && dependencies.is_empty() {
            return None;
        }
        let (left, right) = (column(dependents), column(dependencies));
        let rows = left.len().max(right.len()).max(1);
        let height = rows * (HEIGHT + GAP) + GAP;
        let mut graph = Self { width: 2, height, boxes: Vec::new(), lines: Vec::new() };
        let mut x = 1;
        let mut ends: Vec<(usize, usize)> = Vec::new();
        for (texts, is_center) in [(left, false), (vec![short(name)], true), (right, false)] {
            if texts.is_empty() {
                continue;
            }
            let top = usize::midpoint(height - texts.len() * (HEIGHT + GAP), GAP);
            let mut starts = Vec::new();
            for (at, text) in texts.into_iter().enumerate() {
                let y = top + at * (HEIGHT + GAP);
                let middle = y + HEIGHT / 2;
                for (from_x, from_y) in &ends {
                    let (x1, y1, x2, y2) = (*from_x, *from_y, x, middle);
                    graph.lines.push(Line { x1, y1, x2, y2, middle: usize::midpoint(x1, x2) });
                }
                starts.push((x + WIDTH, middle));
                let (text_x, text_y) = (x + WIDTH / 2, middle + 5);
                graph.boxes.push(Node {
                    x,
                    y,
                    text_x,
                    text_y,
                    width: WIDTH,
                    height: HEIGHT,
                    text,
                    is_center,
                });
            }
            ends = starts;
            graph.width = x + WIDTH + 1;
            x += WIDTH + LINES;
        }
        Some(graph)
    }
}

/// Returns the texts of a column: the first names, and the number of the others.
fn column(names: &[&str]) -> Vec<String> {
    let mut texts: Vec<_> = names.iter().take(MOST).map(|name| short(name)).collect();
    if names.len() > MOST {
        texts.push(format!("and {} more", names.len() - MOST));
    }
    texts
}

fn short(name: &str) -> String {
    if name.chars().count() <= CHARS {
        return name.to_owned();
    }
    name.chars().take(CHARS - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_columns_joined_by_lines() {
        let graph = Graph::of("pdf", &["forms", "letters"], &["fonts"]).expect("a picture");
        let texts: Vec<_> = graph.boxes.iter().map(|node| node.text.as_str()).collect();
        assert_eq!(texts, ["forms", "letters", "pdf", "fonts"]);
        assert_eq!(graph.lines.len(), 3);
        assert!(
            graph
                .boxes
                .iter()
                .all(|node| node.x + node.width < graph.width && node.y + node.height < graph.height)
        );
        assert_eq!(Graph::of("pdf", &[], &[]), None);
    }

    #[test]
    fn many_and_long_names() {
        let names = vec!["a-name-that-is-longer-than-its-box"; 100];
        let graph = Graph::of("pdf", &names, &[]).expect("a picture");
        assert_eq!((graph.boxes.len(), graph.boxes[8].text.as_str()), (10, "and 92 more"));
        assert_eq!(graph.boxes[0].text, "a-name-that-is-longe…");
    }
}
