//! The table `[search]`: what a search may tell others.

use toml_edit::Item;

use super::Manifest;
use super::error::ManifestError;
use super::read::Reader;

/// The table `[search]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SearchSettings {
    skills_sh: Option<bool>,
}

impl SearchSettings {
    /// Returns whether skills.sh, a public site, may see what is searched for; `None` if nothing says it.
    pub fn skills_sh(&self) -> Option<bool> {
        self.skills_sh
    }
}

impl Reader<'_> {
    /// Reads `[search]`.
    pub(super) fn search(&self, item: &Item) -> Result<SearchSettings, ManifestError> {
        let table = self.table(item, "`search`")?;
        self.known(table, &["skills-sh"])?;
        let answer = || self.flag(table, "skills-sh");
        Ok(SearchSettings { skills_sh: table.get("skills-sh").map(|_| answer()).transpose()? })
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
        let misplaced = manifest.misplaced(|| "x".into()).expect("is told");
        assert_eq!((misplaced.line, misplaced.column), (5, 1));
        assert!(Manifest::parse("[search]\nskills-sh = \"yes\"\n").is_err());
        assert!(Manifest::parse("[search]\nskillssh = true\n").is_err());
    }
}
