//! The script that a name means.

use std::path::Path;

use crate::context::Context;
use crate::engine::Skill;
use crate::error::{Error, Result};
use crate::fs;
use crate::session::named::find;
use crate::text::{self, shell_word};

/// Where the scripts of a skill are.
const SCRIPTS: &str = "scripts/";
/// The maximum number of names that an error lists.
const MAX_NAMES: usize = 10;

/// Returns the error for a request that names the skill `name` and none of its scripts.
pub fn script_missing(context: &Context, name: &str) -> Error {
    let skill = match find(context, name) {
        Ok(hit) => hit.skill,
        Err(error) => return error,
    };
    let tree = match fs::tree_of(&skill.real) {
        Ok(tree) => tree,
        Err(error) => return error.into(),
    };
    let scripts: Vec<&str> = tree.entries().filter_map(|(path, _)| path.strip_prefix(SCRIPTS)).collect();
    let error = Error::usage("name a script");
    if scripts.is_empty() {
        error.hint(format!("`{name}` has nothing in its `{SCRIPTS}`"))
    } else {
        error.hint(format!("`{name}` has {}", listed(scripts.into_iter())))
    }
}

/// Returns why `wanted` is not a script of `skill`, which was asked for as `name`.
pub(super) fn no_script(skill: &Skill, name: &str, wanted: &str) -> Error {
    match script_of(&skill.real, name, wanted) {
        Err(error) => error,
        Ok(path) => Error::usage(format!("the skill `{name}` has no script `{wanted}`"))
            .hint(format!("the file `{path}` exists, but it is not a script that an agent can call")),
    }
}

/// Returns the path below the skill's directory `dir` of what `wanted` names.
pub(super) fn script_of(dir: &Path, skill: &str, wanted: &str) -> Result<String> {
    if is_whole_path(dir, wanted) {
        return Ok(wanted.to_owned());
    }
    let tree = fs::tree_of(dir)?;
    let paths: Vec<&str> = tree.entries().map(|(path, _)| path).collect();
    let below = format!("{SCRIPTS}{wanted}");
    // A bare name means a file in `scripts/`, unless it starts with `./`.
    let of_skill = wanted.strip_prefix("./").unwrap_or(wanted);
    if let Some(path) = [below.as_str(), of_skill].into_iter().find(|path| paths.contains(path)) {
        return Ok(path.to_owned());
    }
    let scripts: Vec<&str> = paths.iter().filter_map(|path| path.strip_prefix(SCRIPTS)).collect();
    let stem = |name: &str| name.rsplit_once('.').is_some_and(|(stem, _)| stem == wanted);
    match scripts.iter().filter(|name| stem(name)).collect::<Vec<_>>()[..] {
        [name] => return Ok(format!("{SCRIPTS}{name}")),
        [] => {}
        ref more => {
            return Err(Error::usage(format!("the skill `{skill}` has several scripts called `{wanted}`"))
                .hint(format!("name one of them: {}", listed(more.iter().map(|name| **name)))));
        }
    }
    let mut error = Error::usage(format!("the skill `{skill}` has no script `{wanted}`"));
    // The ending is left out as often as not.
    let bare = |name: &str| name.rsplit_once('.').map_or(name, |(bare, _)| bare).to_owned();
    let bares: Vec<String> = scripts.iter().map(|name| bare(name)).collect();
    let near = |wanted| text::closest(wanted, bares.iter().map(String::as_str));
    let closest = text::closest(wanted, scripts.iter().copied()).or_else(|| {
        let near = near(wanted)?;
        scripts.iter().copied().find(|name| bare(name) == near)
    });
    if let Some(closest) = closest {
        error = error.hint(format!("did you mean `{closest}`?"));
    }
    Err(if scripts.is_empty() {
        error.hint(format!("there is nothing in its `{SCRIPTS}`"))
    } else {
        error.hint(format!("in its `{SCRIPTS}` are {}", listed(scripts.into_iter())))
    })
}

/// Reports whether `wanted` is the path of a file right in `scripts/` of the skill's directory `dir`, and can mean
/// nothing else. Programs ask by it, and nothing needs to be listed then.
fn is_whole_path(dir: &Path, wanted: &str) -> bool {
    let name = wanted.strip_prefix(SCRIPTS);
    if name.is_none_or(|name| name.starts_with('.') || name.contains(['/', '\\'])) {
        return false;
    }
    // A file that cannot be examined is looked up in the list.
    let is = |path: &Path, kind| fs::kind(&dir.join(path)).is_ok_and(|found| found == kind);
    let scripts = Path::new(SCRIPTS.trim_end_matches('/'));
    // A link may lead anywhere, and in `scripts/scripts/` there may be another one of that name.
    is(scripts, Some(fs::Kind::Directory))
        && is(wanted.as_ref(), Some(fs::Kind::File))
        && is(&scripts.join(scripts), None)
}

fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(MAX_NAMES);
    let names: Vec<_> = names.take(MAX_NAMES).map(|name| format!("`{name}`")).collect();
    match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// S1-FR-205.3: what a link leads to is not what its name says, and the bits of a set-id file are a
/// promise that is not kept here.
pub(super) fn check_plain(dir: &Path, path: &str) -> Result<()> {
    let at = dir.join(path);
    let error = |reason| Error::integrity(format!("`{path}` is not run: {reason}"));
    match fs::kind(&at)? {
        Some(fs::Kind::File) if fs::is_set_id(&at)? => {
            Err(error("it is setuid or setgid")
                .hint(format!("`chmod ug-s {}` removes that", shell_word(&at))))
        }
        Some(fs::Kind::File) => Ok(()),
        Some(fs::Kind::Symlink) => Err(error("it is a symbolic link").hint("run its target")),
        _ => Err(error("it is not a regular file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;

    /// A script has the same path by every search, and a missing one the same error.
    #[test]
    fn a_path_means_the_same_with_and_without_a_list() {
        let world = World::new();
        world.skill("demo", "demo");
        world.write("demo/scripts/a.sh", "");
        let dir = world.project().join("demo");
        let of = |wanted: &str| script_of(&dir, "demo", wanted).map_err(|error| error.to_string());
        assert!(is_whole_path(&dir, "scripts/a.sh"));
        for wanted in ["scripts/a.sh", "a.sh", "a"] {
            assert_eq!(of(wanted), Ok("scripts/a.sh".into()), "{wanted}");
        }
        let long = format!("scripts/{}", "x".repeat(300));
        for wanted in
            [&long, "scripts/a\0b", "scripts/", "scripts/..", "scripts/b.sh", "scripts/../SKILL.md", ""]
        {
            assert!(!is_whole_path(&dir, wanted), "{wanted}");
            assert_eq!(of(wanted), Err(format!("the skill `demo` has no script `{wanted}`")));
        }
        #[cfg(unix)]
        {
            fs::symlink(&dir.join("scripts"), &dir.join("linked")).expect("links");
            fs::symlink(Path::new("a.sh"), &dir.join("scripts/b.sh")).expect("links");
            assert!(!is_whole_path(&dir, "scripts/b.sh") && !is_whole_path(&dir, "linked/a.sh"));
        }
        world.write("demo/scripts/scripts/a.sh", "");
        assert_eq!(
            of("scripts/a.sh"),
            Ok("scripts/scripts/a.sh".into()),
            "what is in `scripts/` comes first"
        );
    }
}
