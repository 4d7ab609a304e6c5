//! The table `[search]`: what a search may tell others.

use toml_edit::Item;

use super::Manifest;
use super::error::ManifestError;
use super::read::Reader;
use super::settings::LocatedText;
use crate::advice::Message;

/// The table `[search]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchSettings {
    /// Whether to ask skills.sh where no registry is configured, as written.
    skills_sh: Option<LocatedText>,
}

impl SearchSettings {
    /// Returns whether skills.sh, a public site, may see what is searched for; `None` if nothing says it.
    pub fn skills_sh(&self) -> Option<bool> {
        self.skills_sh.as_ref().map(|answer| answer.text == "true")
    }

    /// Returns the error for a manifest that may not say this, with `hint`, if it does.
    pub fn misplaced(&self, hint: impl FnOnce() -> Message) -> Option<ManifestError> {
        let message = "`[search]` says who sees your words, which only your own manifest may do";
        Some(self.skills_sh.as_ref()?.error(message, Some(hint())))
    }
}

impl Reader<'_> {
    /// Reads `[search]`.
    pub(super) fn search(&self, item: &Item) -> Result<SearchSettings, ManifestError> {
        let table = self.table(item, "`search`")?;
        self.known(table, &["skills-sh"])?;
        let Some(item) = table.get("skills-sh") else { return Ok(SearchSettings::default()) };
        let answer = self.flag(table, "skills-sh")?.to_string();
        Ok(SearchSettings { skills_sh: Some(self.placed(item.span(), &answer)) })
    }
}

impl Manifest {
    /// Returns what searches may tell others.
    pub fn search(&self) -> &SearchSettings {
        &self.search
    }
}

#[cfg(test)]
mod tests {
    use crate::manifest::Manifest;

    #[test]
    fn an_answer_is_kept_beside_all_that_is_there() {
        let mut manifest = Manifest::parse("# mine\n[agents]\ntargets = []\n").expect("a manifest");
        assert_eq!(manifest.search().skills_sh(), None);
        for answer in [true, false] {
            manifest.set_search_of_site(answer);
            let text = manifest.written().expect("reads back");
            assert_eq!(text, format!("# mine\n[agents]\ntargets = []\n\n[search]\nskills-sh = {answer}\n"));
            manifest = Manifest::parse(&text).expect("reads back");
            assert_eq!(manifest.search().skills_sh(), Some(answer));
        }
        let misplaced = manifest.search().misplaced(|| "x".into()).expect("is told");
        assert_eq!((misplaced.line, misplaced.column), (6, 13));
        assert!(Manifest::parse("[search]\nskills-sh = \"yes\"\n").is_err());
        assert!(Manifest::parse("[search]\nskillssh = true\n").is_err());
    }
}
