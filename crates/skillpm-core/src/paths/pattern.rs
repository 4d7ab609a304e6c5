//! Patterns for paths, for quoted patterns and for shells that do not expand them.

use std::path::{Component, Path, PathBuf};

use glob::{MatchOptions, Pattern as Glob};

use super::search::MAX_DEPTH;
use super::searched::Searched;
use crate::engine::load::skill_file;
use crate::error::{Error, Result};
use crate::fs::{self, Kind};
use crate::skill::find::is_skill_file;
use crate::skill::skipped::is_skipped;

/// The characters that make a pattern; each pattern has at least one.
const SIGNS: [char; 3] = ['*', '?', '['];

/// As in a shell: `*` stays in one directory, and does not match hidden names.
const OPTIONS: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// A path with `*`, `?`, `[...]` or `**` in it.
pub(crate) struct Pattern<'a> {
    typed: &'a Path,
    /// The part before the first such character.
    base: PathBuf,
    text: &'a str,
}

/// Parses `typed` as a pattern, if it can be one.
pub(crate) fn read(typed: &Path) -> Option<Pattern<'_>> {
    let text = typed.to_str().filter(|text| text.contains(SIGNS))?;
    let plain = |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(SIGNS);
    Some(Pattern { typed, base: typed.components().take_while(plain).collect(), text })
}

impl Pattern<'_> {
    /// Returns the skills that the pattern matches, by file or by directory, sorted, as paths with the same
    /// start. Records in `searched` where it looks.
    pub(crate) fn matches(&self, cwd: &Path, searched: &mut Searched) -> Result<Vec<PathBuf>> {
        let shown = self.typed.display();
        let text = self.text.strip_prefix("./").unwrap_or(self.text);
        let glob = Glob::new(text.trim_end_matches('/')).map_err(|error| {
            Error::usage(format!("`{shown}` is not a pattern: {}", error.msg.to_lowercase()))
                .hint("write `[*]` for a literal `*`")
        })?;
        let signs = self.typed.components().count() - self.base.components().count();
        let depth = if text.contains("**") { MAX_DEPTH } else { signs };
        let mut found = Vec::new();
        look(&glob, cwd, &self.base, depth, (&mut found, searched))?;
        if found.is_empty() {
            return Err(Error::usage(format!("`{shown}` matches no skill"))
                .hint("`*` stays in one directory, `**` goes through several: `skills/**/SKILL.md`"));
        }
        found.sort();
        Ok(found)
    }
}

/// Collects the matches in `dir`, `depth` directories deep.
fn look(
    glob: &Glob,
    cwd: &Path,
    dir: &Path,
    depth: usize,
    (found, searched): (&mut Vec<PathBuf>, &mut Searched),
) -> Result<()> {
    let at = cwd.join(dir);
    // Also if it holds nothing relevant: it may, later.
    searched.at(|| dir.to_owned());
    if depth == 0 || fs::kind(&at)? != Some(Kind::Directory) {
        return Ok(());
    }
    for (name, kind) in fs::entries(&at)? {
        let path = dir.join(&name);
        let matched = glob.matches_path_with(path.strip_prefix(".").unwrap_or(&path), OPTIONS);
        let is_directory = kind == Kind::Directory;
        let is_skill = if is_directory {
            matched && skill_file(&cwd.join(&path))?.is_some()
        } else {
            matched && is_skill_file(&name)
        };
        if is_directory && !is_skipped(&name) {
            look(glob, cwd, &path, depth - 1, (&mut *found, &mut *searched))?;
        }
        if is_skill {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;

    fn matched(world: &World, pattern: &str) -> Vec<String> {
        let pattern = read(Path::new(pattern)).expect("a pattern");
        let paths = pattern.matches(world.project(), &mut Searched::default());
        let shown = |path: PathBuf| path.to_string_lossy().replace('\\', "/");
        paths.map_or_else(|error| vec![error.to_string()], |paths| paths.into_iter().map(shown).collect())
    }

    #[test]
    fn patterns_match_files_and_directories_of_skills() {
        let world = World::new();
        for dir in ["skills/a", "skills/b", "skills/deep/c", ".agents/skills/d", "node_modules/e"] {
            world.skill(dir, "x");
        }
        world.write("skills/README.md", "");
        let all = ["skills/a/SKILL.md", "skills/b/SKILL.md", "skills/deep/c/SKILL.md"];
        assert_eq!(matched(&world, "skills/**/SKILL.md"), all);
        assert_eq!(matched(&world, "**/SKILL.md"), all);
        assert_eq!(matched(&world, "skills/*/SKILL.md"), all[..2]);
        assert_eq!(matched(&world, "./skills/*"), ["./skills/a", "./skills/b"]);
        assert_eq!(matched(&world, "skills/[ab]/SKILL.md"), all[..2]);
        assert_eq!(matched(&world, "s*/?/*"), all[..2]);
        assert_eq!(matched(&world, ".agents/*/d"), [".agents/skills/d"]);
        assert_eq!(matched(&world, "skills/*.md"), ["`skills/*.md` matches no skill"]);
        assert_eq!(matched(&world, "nowhere/*"), ["`nowhere/*` matches no skill"]);
        assert!(matched(&world, "skills/[a")[0].starts_with("`skills/[a` is not a pattern: "));
        assert!(read(Path::new("skills/a")).is_none());
    }

    /// To the same depth as the search in a named directory.
    #[test]
    fn two_stars_go_as_deep_as_a_search() {
        let world = World::new();
        let deep = format!("skills/{}x", "d/".repeat(20));
        world.skill(&deep, "x");
        assert_eq!(matched(&world, "skills/**/SKILL.md"), [format!("{deep}/SKILL.md")]);
    }

    #[test]
    fn an_absolute_pattern_matches_too() {
        let world = World::new();
        world.skill("skills/a", "a");
        let pattern = world.project().join("skills/*");
        let expected = world.project().join("skills/a");
        assert_eq!(matched(&world, &pattern.to_string_lossy()), [expected.to_string_lossy()]);
    }
}
