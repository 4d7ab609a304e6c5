//! Resolution of names to commits: tags, branches and the digits of commits, and the errors for missing ones.

use git2::Oid;

use super::objects::{FoundObject, Objects};
use crate::advice::{Opt, message};
use crate::codes;
use crate::error::{Error, Result};
use crate::spec::Reference;
use crate::text::{closest, shell_word};

/// Returns the commit that `reference` means in `objects`; `None` is the newest of the default branch.
pub(super) fn tip(objects: &Objects, reference: Option<&Reference>, shown: &str) -> Result<Oid> {
    match reference {
        None => head(objects, shown),
        Some(reference) => resolve(objects, reference, shown),
    }
}

/// Returns the error for a missing commit. `locked` says that a lockfile names it.
pub(super) fn no_commit(shown: &str, commit: &str, locked: bool) -> Error {
    if locked {
        return Error::commit_gone(shown, commit);
    }
    Error::usage(format!("`{shown}` has no commit `{commit}`"))
        .hint("check the digits, or name a tag or branch")
}

/// Returns the error for digits that begin several commits.
pub(super) fn ambiguous(shown: &str, digits: &str) -> Error {
    Error::usage(format!("`{shown}` has more than one commit that begins with `{digits}`"))
        .hint("give more of its digits")
}

/// Returns the error for a name that no reference has. `names` are the existing references.
pub(super) fn no_reference(shown: &str, reference: &Reference, names: &[String]) -> Error {
    let (kind, prefixes): (_, &[&str]) = match reference {
        Reference::Tag(_) => ("tag", &["refs/tags/"]),
        Reference::Range(_) => ("tag in the range", &[]),
        Reference::Branch(_) => ("branch", &["refs/heads/"]),
        Reference::Any(_) | Reference::Rev(_) => ("tag, branch or commit", &["refs/heads/", "refs/tags/"]),
    };
    let error = Error::usage(format!("`{shown}` has no {kind} `{}`", reference.name()))
        .coded(codes::REVISION_UNKNOWN);
    let known = names.iter().filter_map(|name| prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)));
    match closest(reference.name(), known) {
        Some(close) => error.hint(format!("did you mean `{close}`?")),
        None => error.hint(format!("`{}` lists them", ls_remote(shown))),
    }
}

/// Returns the command that lists the references of the repository at `address`, quoted for a shell: the address may come
/// from a stranger's manifest or lockfile.
pub(super) fn ls_remote(address: &str) -> String {
    // The shell expands `~`, git does not: it must stay outside the quotes.
    let (home, rest) = address.strip_prefix("~/").map_or(("", address), |rest| ("~/", rest));
    format!("git ls-remote -- {home}{}", shell_word(rest))
}

/// Returns the error for a repository without a newest commit. `names` are the existing references.
pub(super) fn no_head(shown: &str, names: &[String]) -> Error {
    let branches: Vec<&str> = names.iter().filter_map(|name| name.strip_prefix("refs/heads/")).collect();
    match branches[..] {
        [] => {
            let error = Error::usage(format!("the repository `{shown}` is empty"));
            // Git reads a short web page as a list without references.
            let hint = if shown.starts_with("http") {
                "push a commit to it first; if it has one, a proxy or a login page may be in the way"
            } else {
                "push a commit to it first"
            };
            error.hint(hint)
        }
        [first, ..] => {
            let usual = ["main", "master", "trunk"].into_iter().find(|usual| branches.contains(usual));
            let first = usual.unwrap_or(first);
            Error::usage(format!(
                "`{shown}` has no default branch: `HEAD` names a branch that does not exist"
            ))
            .hint(message!("name a branch: ", (Opt::Branch, first)))
        }
    }
}

fn head(objects: &Objects, shown: &str) -> Result<Oid> {
    match objects.head() {
        Ok(Some(commit)) => Ok(commit),
        Ok(None) => Err(no_head(shown, &objects.references())),
        Err(error) => Err(Error::io(format!("`HEAD` of `{shown}` cannot be read"))
            .because(std::io::Error::other(error.message().to_owned()))
            .hint(message!("`git fsck` there shows more; ", Opt::Branch, " names a branch instead"))),
    }
}

/// Returns the names that git tries for `reference`, in its order.
pub(super) fn candidates(reference: &Reference) -> Vec<String> {
    match reference {
        Reference::Tag(name) => vec![format!("refs/tags/{name}")],
        Reference::Branch(name) => vec![format!("refs/heads/{name}")],
        Reference::Any(name) if name == "HEAD" => vec![name.clone()],
        Reference::Any(name) => {
            let whole = name.starts_with("refs/").then(|| name.clone());
            let parts = ["refs/", "refs/tags/", "refs/heads/"].map(|prefix| format!("{prefix}{name}"));
            whole.into_iter().chain(parts).collect()
        }
        // No reference is called like a range: callers with a range look for the highest tag in it first.
        Reference::Rev(_) | Reference::Range(_) => Vec::new(),
    }
}

fn resolve(objects: &Objects, reference: &Reference, shown: &str) -> Result<Oid> {
    if let Some(commit) = reference.commit() {
        return named_commit(objects, &commit, shown, false);
    }
    for name in candidates(reference) {
        if objects.has_reference(&name) {
            return objects.commit_at(&name).ok_or_else(|| not_a_commit(shown, reference.name()));
        }
    }
    let digits = reference.commit_digits();
    let found = digits.as_deref().map(|digits| objects.by_digits(digits)).transpose();
    match found.map_err(|error| Error::io(format!("`{shown}` cannot be read")).because(error))? {
        Some(FoundObject::One(commit)) => Ok(commit),
        Some(FoundObject::Many) => Err(ambiguous(shown, reference.name())),
        Some(FoundObject::None) if matches!(reference, Reference::Rev(_)) => {
            Err(no_commit(shown, reference.name(), false))
        }
        Some(FoundObject::None) | None => {
            let names = objects.references();
            Err(no_reference(shown, reference, &names))
        }
    }
}

/// Returns the error for a tag of something other than a commit.
pub(super) fn not_a_commit(shown: &str, name: &str) -> Error {
    Error::usage(format!("`{name}` of `{shown}` does not lead to a commit"))
        .hint("name another tag, branch or commit")
}

/// Returns the commit with the id `commit`. `locked` says that a lockfile names it.
pub(super) fn named_commit(objects: &Objects, commit: &str, shown: &str, locked: bool) -> Result<Oid> {
    match Oid::from_str(commit) {
        Ok(id) if objects.has_commit(id) => Ok(id),
        _ => Err(no_commit(shown, commit, locked)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_tried_in_the_order_of_git() {
        assert_eq!(candidates(&Reference::Any("v1".into())), ["refs/v1", "refs/tags/v1", "refs/heads/v1"]);
        assert_eq!(candidates(&Reference::Any("HEAD".into())), ["HEAD"]);
        assert_eq!(candidates(&Reference::Any("refs/heads/main".into()))[0], "refs/heads/main");
        assert_eq!(candidates(&Reference::Tag("v1".into())), ["refs/tags/v1"]);
    }

    /// Addresses and branches may come from a stranger: a shell runs nothing in them.
    #[test]
    fn hints_can_be_typed() {
        let tag = Reference::Tag("v9".into());
        let hint = |shown: &str| no_reference(shown, &tag, &[]).hints()[0].clone();
        for (shown, typed) in [
            ("../r", "../r"),
            ("../r;touch${IFS}x", "'../r;touch${IFS}x'"),
            ("~/my r", "~/'my r'"),
            ("https://h/r.git?a=1&b=`x`", "'https://h/r.git?a=1&b=`x`'"),
        ] {
            assert_eq!(hint(shown), format!("`git ls-remote -- {typed}` lists them"));
        }
        let branch = ["refs/heads/a;touch${IFS}x".to_owned()];
        assert_eq!(no_head("r", &branch).hints(), ["name a branch: `branch=a;touch${IFS}x`"]);
    }
}
