//! The working directory: paths in messages are relative to it.

use std::borrow::Cow;
use std::path::{MAIN_SEPARATOR, Path};

use skillpm_core::scope::Scope;
use skillpm_format::scope_kind::ScopeKind;
use skillpm_sources::settings::Settings;

/// The working directory and the directories above it, up to the root of the outermost project.
#[derive(Debug, Default)]
pub(crate) struct WorkingDir {
    /// Their paths, each with a trailing separator and its relative form; the longest first.
    dirs: Vec<(String, String)>,
}

impl WorkingDir {
    /// Finds the projects around the working directory of `settings`. If that fails, only paths below the
    /// working directory are shortened.
    pub(crate) fn new(settings: &Settings) -> Self {
        let project = Scope::new(settings, ScopeKind::Project).ok();
        let outer = project.as_ref().and_then(|scope| scope.outer(settings).ok()?.pop());
        let root = outer.or(project).map(|scope| scope.root);
        Self::of(&settings.cwd, root.as_deref().unwrap_or(&settings.cwd))
    }

    /// Returns the directories from `cwd` up to `root`.
    fn of(cwd: &Path, root: &Path) -> Self {
        let root = if cwd.starts_with(root) { root } else { cwd };
        let around = cwd.ancestors().take_while(|dir| dir.starts_with(root));
        // Everything is below the root of the file system, so it is left out.
        let around = around.filter(|dir| dir.parent().is_some()).enumerate();
        let dir = |(up, dir): (usize, &Path)| {
            (format!("{}{MAIN_SEPARATOR}", dir.display()), format!("..{MAIN_SEPARATOR}").repeat(up))
        };
        Self { dirs: around.map(dir).collect() }
    }

    /// Returns `text` with absolute paths in or near the working directory made relative. Inside a command,
    /// which backticks mark, a path that would look like something else starts with `./`.
    pub(crate) fn shortened<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !self.dirs.iter().any(|(dir, _)| text.contains(dir.as_str())) {
            return Cow::Borrowed(text);
        }
        let (mut short, mut rest, mut before) = (String::new(), text, None);
        let mut is_literal = false;
        while let Some(next) = rest.chars().next() {
            let near =
                self.dirs.iter().find_map(|(dir, here)| Some((rest.strip_prefix(dir.as_str())?, here)));
            let near = near.filter(|(inside, _)| starts_path(before) && inside.starts_with(is_of_name));
            if let Some((inside, here)) = near {
                let is_whole = before == Some('`') || !is_literal;
                short.push_str(if here.is_empty() && !is_whole { "./" } else { here });
                (rest, before) = (inside, Some(MAIN_SEPARATOR));
            } else {
                is_literal ^= next == '`';
                short.push(next);
                (rest, before) = (&rest[next.len_utf8()..], Some(next));
            }
        }
        Cow::Owned(short)
    }
}

/// Returns whether a path can start after `before`.
fn starts_path(before: Option<char>) -> bool {
    before.is_none_or(|before| before.is_whitespace() || matches!(before, '`' | '\'' | '"' | '('))
}

/// Returns whether the name of a file can start with `next` where a path continues.
fn is_of_name(next: char) -> bool {
    !next.is_whitespace() && !matches!(next, '`' | '\'' | '"' | ')' | ':' | ',')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(cwd: &str, root: &str, text: &str) -> String {
        WorkingDir::of(Path::new(cwd), Path::new(root)).shortened(text).into_owned()
    }

    #[cfg(unix)]
    #[test]
    fn paths_are_those_from_here() {
        for (cwd, text, short) in [
            ("/p", "`/p/a b/c` is a link", "`a b/c` is a link"),
            ("/p", "/p/skillpm.toml:2:1: odd, as /p/x:1:1 says", "skillpm.toml:2:1: odd, as x:1:1 says"),
            ("/p", "run `rm -r '/p/-x y'`", "run `rm -r './-x y'`"),
            ("/p", "run `skillpm trust /p/a/b`, or `/p/c`", "run `skillpm trust ./a/b`, or `c`"),
            ("/p/x/y", "`/p/.agents/skills/pdf` and `/p/x/y/z`", "`../../.agents/skills/pdf` and `z`"),
            ("/p/x/y", "run `rm /p/x/a`", "run `rm ../a`"),
            // A path that is not near, another path, or the directory itself.
            (
                "/p",
                "`/q/a`, `/pp/a`, `/q/p/a`, `/p`, `/p/`, --dir=/p/a",
                "`/q/a`, `/pp/a`, `/q/p/a`, `/p`, `/p/`, --dir=/p/a",
            ),
            ("/q", "`/p/a`", "`/p/a`"),
        ] {
            assert_eq!(shown(cwd, "/p", text), short, "{cwd}: {text}");
        }
        assert_eq!(shown("/", "/", "`/etc/x`"), "`/etc/x`");
    }
}
