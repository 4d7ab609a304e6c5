//! The error for conflicts of a plan.

use std::path::Path;

use crate::advice::{Opt, Verb, message};
use crate::context::Context;
use crate::error::{Error, ErrorKind};
use crate::fs;
use crate::scope::Scope;
use crate::scope::merges::has_conflicts;
use crate::scope::plan::{Conflict, ConflictKind, Goal, Location};
use crate::scope::state::{Files, HAS_REPOSITORY, not_kept};

/// Returns the error that lists the `conflicts` of `goal` with their places, and suggests what to do.
pub(crate) fn in_the_way(
    context: &Context,
    scope: &Scope,
    goal: &Goal,
    files: &Files,
    conflicts: &[Conflict],
) -> Error {
    let is_merge = |conflict: &Conflict, path: &Path| {
        let locked = files.lock.skills.get(&conflict.name);
        locked.is_some_and(|locked| has_conflicts(scope, &conflict.name, locked, path).unwrap_or(false))
    };
    let mut merging = None;
    let mut line = |conflict: &Conflict| {
        let name = conflict.name.as_str();
        let dir = scope.dir(&context.settings, &conflict.place);
        let path = dir.map_or_else(|_| name.to_owned(), |dir| dir.join(name).display().to_string());
        match &conflict.kind {
            ConflictKind::Modified if is_merge(conflict, Path::new(&path)) => {
                merging = Some(conflict.name.clone());
                format!("`{path}` has unresolved conflicts of an update")
            }
            ConflictKind::Modified => format!("`{path}` was edited since it was installed"),
            // Its lockfile may be lost.
            ConflictKind::Untracked
                if conflict.place == Location::Canonical
                    && files.manifest.asks_for(&conflict.name)
                    && !files.lock.skills.contains_key(&conflict.name) =>
            {
                format!("`{path}` has other files than what comes, and no lockfile says where they are from")
            }
            ConflictKind::Untracked => format!("`{path}` already exists and was not installed by skillpm"),
            ConflictKind::Link => format!("`{path}` is a link to somewhere else"),
            ConflictKind::SameName(other) => format!(
                "`{}` and the skill `{other}`, which already exists, are the same name on some file systems",
                conflict.name
            ),
            ConflictKind::OtherSource(origin) => {
                format!("`{name}` is already installed from `{}`, and this is another skill", origin.typed())
            }
            ConflictKind::OtherPath(origin, old) => format!(
                "`{name}` is already installed from `{old}` in `{}`, and this is another skill",
                origin.typed()
            ),
            ConflictKind::NotASkill if matches!(fs::kind(Path::new(&path)), Ok(Some(fs::Kind::File))) => {
                format!("`{path}` is a file where skillpm would put a skill or a link")
            }
            ConflictKind::NotASkill => not_kept(Path::new(&path)),
            ConflictKind::Repository => format!("`{path}` {HAS_REPOSITORY}"),
            ConflictKind::Source => {
                format!("`{path}` is both the source of `{name}` and the place where skillpm would put it")
            }
            ConflictKind::OnlyCopy => {
                format!("`{path}` is what `{name}` is installed from: no other copy would remain")
            }
        }
    };
    let lines: Vec<_> = conflicts.iter().map(&mut line).collect();
    let error = match &lines[..] {
        [one] => Error::new(ErrorKind::Findings, one.clone()),
        many => Error::new(
            ErrorKind::Findings,
            format!("{} paths are in the way:\n  {}", many.len(), many.join("\n  ")),
        ),
    };
    if let Some(other) = conflicts.iter().find_map(|conflict| match &conflict.kind {
        ConflictKind::SameName(other) => Some(other),
        _ => None,
    }) {
        error.hint(message!(
            "nothing was changed; ",
            (Opt::As, "NAME"),
            " installs the new one under another name, and ",
            Verb::Remove.within(scope.kind).word(other),
            " makes room for it"
        ))
    } else if conflicts
        .iter()
        .any(|conflict| matches!(conflict.kind, ConflictKind::OtherSource(_) | ConflictKind::OtherPath(..)))
    {
        error.hint(message!(
            "nothing was changed; ",
            (Opt::As, "NAME"),
            " installs it under another name beside the existing one; ",
            Opt::Force,
            " replaces that"
        ))
    } else if let Some(source) = conflicts.iter().find(|conflict| conflict.kind == ConflictKind::Source) {
        let name = &source.name;
        let import = Verb::Import.within(scope.kind).word(name);
        // `import` does not adopt what the manifest already names.
        let first =
            files.knows(name).then(|| message!(Verb::Remove.within(scope.kind).word(name), ", then "));
        let error = error.hint(message!(
            "nothing was changed; ",
            first,
            import,
            format_args!(" moves it to `skills/{name}` and installs it from there")
        ));
        match source.place {
            Location::Agent(_) => error.hint(message!(Opt::Editable, " leaves it where it is")),
            _ => error,
        }
    } else if conflicts
        .iter()
        .any(|conflict| matches!(conflict.kind, ConflictKind::NotASkill | ConflictKind::Repository))
    {
        error.hint("move it away and run the command again: nothing was changed")
    } else {
        // Force would drop what was merged so far.
        if let Some(name) = &merging {
            let update = || Verb::Update.within(scope.kind).word(name);
            return error.hint(message!(
                "nothing was changed; ",
                update(),
                " lists what to resolve first, and ",
                update().flag(Opt::Abort),
                " undoes the update"
            ));
        }
        let goes = conflicts.iter().all(|conflict| {
            let leaves = goal.put.iter().filter(|wanted| wanted.name == conflict.name).any(|wanted| {
                match &conflict.place {
                    Location::Agent(id) => wanted.disabled || wanted.leaving.contains(id.as_str()),
                    _ => false,
                }
            });
            leaves || goal.remove.contains(&conflict.name)
        });
        let verb = if goes { "removes" } else { "replaces" };
        error.hint(message!(
            "nothing was changed; ",
            Opt::Force,
            format_args!(" {verb} it anyway; the store keeps a copy")
        ))
    }
}
