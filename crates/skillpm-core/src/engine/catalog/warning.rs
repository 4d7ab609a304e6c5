//! The warning about what a catalog lacks.

use super::Catalog;
use crate::advice::{Message, Opt, Warning, message};
use crate::codes;
use crate::text::{and_more, visible_name};

/// The number of skills that the warning names.
const NAMED: usize = 5;

impl Catalog {
    /// Returns the warning about what the catalog lacks, or about its size if that exceeds the budget: how much was cut,
    /// the first skills concerned, and which budget is enough.
    pub fn warning(&self) -> Option<Warning> {
        let (loss, unit) = (&self.loss, self.measure.unit());
        let (budget, enough) = self.budget.zip(loss.enough)?;
        let (gone, shortened): (Vec<_>, Vec<_>) = loss.cut.iter().partition(|cut| cut.kept == 0);
        let longest = shortened.iter().map(|cut| cut.kept).max().unwrap_or(0);
        let lost = [
            (loss.left_out.len(), "skill", " left out".to_owned()),
            (gone.len(), "description", " left out".to_owned()),
            (shortened.len(), "description", format!(" cut to {longest} characters")),
        ];
        let lost = lost.into_iter().filter(|(count, ..)| *count > 0);
        let lost: Vec<_> = lost
            .map(|(count, what, how)| format!("{count} {what}{}{how}", if count == 1 { "" } else { "s" }))
            .collect();
        // The worst comes first.
        let names = loss.left_out.iter().chain(gone.iter().chain(&shortened).map(|cut| &cut.name));
        let names: Vec<_> = names.map(|name| format!("`{}`", visible_name(name))).collect();
        let what = (!lost.is_empty())
            .then(|| format!("{} for {budget} {unit}: {}; ", lost.join(", "), and_more(&names, NAMED)));
        let names = loss.names.map(|names| match &what {
            Some(_) => format!("names alone need {names}; "),
            None => format!("names alone need {names} {unit}, more than {budget}; "),
        });
        let all: Message = message!(what, names, (Opt::Budget, enough), " shows all");
        Some(Warning::new(codes::CATALOG_CUT, all))
    }
}
