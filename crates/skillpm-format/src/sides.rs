//! The sides of a text in which git left conflict markers.

/// The texts that git could not merge. The common ancestor, which some settings of git include, is left out.
#[derive(Debug, Default)]
pub(crate) struct Sides {
    /// The text of the first side.
    pub(crate) ours: String,
    /// The text of the other side.
    pub(crate) theirs: String,
    /// The text with the lines of both sides in place of each conflict: those of the first side, then those of the other one
    /// that the first does not have.
    pub(crate) both: String,
}

impl Sides {
    /// Reads each side of the conflicts in `text`. Without markers, all are the whole text.
    ///
    /// # Errors
    ///
    /// Fails with the line, from 1, of a marker that does not come in its turn.
    pub(crate) fn of(text: &str) -> Result<Self, usize> {
        enum In {
            Both,
            Ours,
            Base,
            Theirs,
        }
        let mut sides = Self::default();
        let mut part = In::Both;
        let mut begun = 0;
        let mut first: Vec<&str> = Vec::new();
        for (at, line) in text.split_inclusive('\n').enumerate() {
            let marks =
                (line.starts_with("<<<<<<< "), line.starts_with("||||||| "), line.trim_end() == "=======");
            part = match (part, marks, line.starts_with(">>>>>>> ")) {
                (In::Both, (true, ..), _) => {
                    begun = at + 1;
                    first.clear();
                    In::Ours
                }
                (In::Ours, (_, true, _), _) => In::Base,
                (In::Ours | In::Base, (.., true), _) => In::Theirs,
                (In::Theirs, _, true) => In::Both,
                (_, (true, ..), _) | (_, _, true) => return Err(at + 1),
                (In::Both, ..) => {
                    for side in [&mut sides.ours, &mut sides.theirs, &mut sides.both] {
                        side.push_str(line);
                    }
                    In::Both
                }
                (In::Ours, ..) => {
                    first.push(line);
                    sides.ours.push_str(line);
                    sides.both.push_str(line);
                    In::Ours
                }
                (In::Theirs, ..) => {
                    sides.theirs.push_str(line);
                    if !first.contains(&line) {
                        sides.both.push_str(line);
                    }
                    In::Theirs
                }
                (In::Base, ..) => In::Base,
            };
        }
        if matches!(part, In::Both) { Ok(sides) } else { Err(begun) }
    }
}
