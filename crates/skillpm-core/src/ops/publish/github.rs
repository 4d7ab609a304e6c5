//! Publishing to GitHub: a release with the archive as its file.

use std::path::Path;
use std::sync::Arc;

use super::outcome::{PublishRequest, Release};
use super::work_tree::{files_of, head, remote};
use crate::advice::{Opt, Verb, message};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::http::Client;
use crate::ops::pack::Packed;
use crate::skill::find::is_skill_file;
use crate::source::github::{GitHub, NewRelease, settings_for};
use crate::spec::{Reference, Repository, SourceSpec};
use crate::version::Version;

/// The target that stands for the repository of the remote `origin`, and begins the name of any other.
const GITHUB: &str = "github";

/// The remote whose repository is meant if none is named.
const ORIGIN: &str = "origin";

/// The releases of a repository.
pub(super) struct ReleasesOf {
    repository: Repository,
    /// The tag that was asked for.
    tag: Option<String>,
}

/// The parts of the release.
struct Plan<'a> {
    packed: &'a Packed,
    commit: String,
    tag: String,
    /// The part of the tag before the version; `None` if the tag was given.
    prefix: Option<String>,
}

impl ReleasesOf {
    /// Returns the target of `request` for the skill in the directory `dir`, or `None` if it is not on GitHub.
    pub(super) fn typed(context: &Context, dir: &Path, request: &PublishRequest) -> Result<Option<Self>> {
        let repository = match request.to.split_once(':') {
            Some((GITHUB, _)) => named(context, &request.to)?,
            None if request.to == GITHUB => of_origin(context, dir)?,
            _ => return Ok(None),
        };
        if let Some(tag) = &request.tag {
            Reference::check(tag).map_err(|error| Error::usage(error.to_string()))?;
        }
        Ok(Some(Self { repository, tag: request.tag.clone() }))
    }

    /// Returns the repository as it is typed.
    pub(super) fn shown(&self) -> String {
        format!("{GITHUB}:{}", self.repository)
    }

    /// Makes the release of `packed`, the skill in the directory `dir`. With `dry_run`, only checks whether that is
    /// possible.
    pub(super) fn publish(
        &self,
        context: &Context,
        dir: &Path,
        packed: &Packed,
        dry_run: bool,
    ) -> Result<Release> {
        if context.settings.offline {
            let message = message!("GitHub cannot be reached: ", Opt::Offline, " forbids the network");
            return Err(Error::network(message).coded(codes::OFFLINE));
        }
        let plan = self.plan(context, dir, packed)?;
        let settings = settings_for(&context.settings, &self.repository);
        let client = Client::new(&settings, Arc::clone(&context.reporter));
        let github = GitHub::new(&client, &settings, &self.repository)?;
        if !dry_run && !github.has_token() {
            return Err(github.needs_token());
        }
        self.check_commit(&github, &plan.commit)?;
        self.check_new(&github, &plan)?;
        let url = if dry_run { None } else { Some(release(&github, &plan)?) };
        Ok(Release {
            repository: self.repository.to_string(),
            asset: packed.file_name(),
            tag: plan.tag,
            commit: plan.commit,
            url,
        })
    }

    fn plan<'a>(&self, context: &Context, dir: &Path, packed: &'a Packed) -> Result<Plan<'a>> {
        let no_commit = || {
            Error::usage(format!("`{}` is in no commit of a git repository", dir.display()))
                .hint("a release belongs to a commit: commit the skill and push it first")
        };
        let commit = head(&context.settings, dir).ok_or_else(no_commit)?;
        let files = files_of(&context.settings, dir, &commit).ok_or_else(no_commit)?;
        let prefix = if holds_several(&files) { format!("{}-v", packed.name) } else { "v".to_owned() };
        Ok(match &self.tag {
            Some(tag) => Plan { packed, commit, tag: tag.clone(), prefix: None },
            None => Plan { packed, commit, tag: format!("{prefix}{}", packed.version), prefix: Some(prefix) },
        })
    }

    /// Checks that the repository has `commit`.
    fn check_commit(&self, github: &GitHub<'_>, commit: &str) -> Result<()> {
        match github.resolve(Some(&Reference::Rev(commit.to_owned()))) {
            Ok(_) => Ok(()),
            // The repository exists, and this was the only thing requested from it.
            Err(error) if error.kind() == ErrorKind::Usage => {
                Err(Error::usage(format!("`{}` does not have the commit `{commit}`", self.repository))
                    .coded(codes::COMMIT_NOT_PUSHED)
                    .hint("`git push` first, so that the published commit is public"))
            }
            Err(error) => Err(error),
        }
    }

    /// Checks that nothing has the tag, except a tag of the same commit without a release.
    fn check_new(&self, github: &GitHub<'_>, plan: &Plan<'_>) -> Result<()> {
        if github.has_release(&plan.tag)? {
            let Packed { name, version, .. } = plan.packed;
            let message = format!(
                "`{name}` {version} is already published: `{}` has the release `{}`",
                self.repository, plan.tag
            );
            return Err(plan.taken(github, message));
        }
        match github.resolve(Some(&Reference::Tag(plan.tag.clone()))) {
            Ok(commit) if commit == plan.commit => Ok(()),
            Ok(commit) => {
                let message = format!(
                    "the tag `{}` of `{}` names another commit, `{commit}`",
                    plan.tag, self.repository
                );
                Err(plan.taken(github, message))
            }
            Err(error) if error.code() == codes::REVISION_UNKNOWN => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl Plan<'_> {
    /// Returns the error `message` for a tag that cannot be used any more.
    fn taken(&self, github: &GitHub<'_>, message: String) -> Error {
        let error = Error::usage(message).coded(codes::VERSION_EXISTS);
        let Some(prefix) = &self.prefix else {
            return error.hint(message!("name another tag: ", Opt::Tag));
        };
        let mut published = vec![self.packed.version.clone()];
        // The hint is a courtesy: without the other tags it is the version after this one.
        let tags = github.tags(prefix).unwrap_or_default();
        published.extend(tags.iter().filter_map(|tag| Version::new(tag.strip_prefix(prefix)?).ok()));
        let next = self.packed.version.next_patch(&published);
        error.hint(message!(
            format_args!("a published version never changes; the next one is `{next}`: "),
            Verb::Bump.call().word(&next)
        ))
    }
}

/// Makes the release and returns the address of its page. If a step fails, the draft is deleted, or the error says that
/// it is left.
fn release(github: &GitHub<'_>, plan: &Plan<'_>) -> Result<String> {
    let Packed { name, version, description, digest, artifact, .. } = plan.packed;
    let asset = plan.packed.file_name();
    let text = format!(
        "{description}\n\n`{asset}` is the package, `{artifact}`; its files have the digest `{digest}`.\n"
    );
    let draft = github.create_draft(&NewRelease {
        tag: &plan.tag,
        commit: &plan.commit,
        title: &format!("{name} {version}"),
        text: &text,
        is_prerelease: !version.number().pre.is_empty(),
    });
    let draft = draft.map_err(|error| match error.code() {
        // It may have come about all the same.
        codes::HTTP_STATUS | codes::REQUEST_TIMEOUT | codes::RESPONSE_CUT_OFF => {
            error.hint(github.left_draft(&plan.tag))
        }
        _ => error,
    })?;
    let attached = github.attach(&draft, &asset, &plan.packed.bytes, &artifact.to_string());
    attached.and_then(|()| github.publish_draft(&draft)).map_err(|error| {
        if github.discard(&draft) { error } else { error.hint(github.left_draft(&plan.tag)) }
    })
}

/// Returns the repository that `text` names, with the user's own server as the default.
fn named(context: &Context, text: &str) -> Result<Repository> {
    let wrong = || {
        Error::usage(format!("`{text}` is not a repository on GitHub"))
            .hint("write it as `github:OWNER/REPO`")
    };
    match text.parse::<SourceSpec>() {
        Ok(SourceSpec { origin, path: None, reference: None, skill: None }) => {
            let origin = origin.on_host(&context.settings.github.host).unwrap_or(origin);
            Repository::try_from(origin).map_err(|_| wrong())
        }
        _ => Err(wrong()),
    }
}

/// Returns the repository of the remote `origin` around the directory `dir`.
fn of_origin(context: &Context, dir: &Path) -> Result<Repository> {
    let url = remote(&context.settings, dir, ORIGIN);
    url.and_then(|url| Repository::of_remote(&url, &context.settings.github.host)).ok_or_else(|| {
        Error::usage(format!("`{}` has no remote `{ORIGIN}` that is a repository on GitHub", dir.display()))
            .hint("name the repository: `github:OWNER/REPO`")
    })
}

/// Reports whether a repository with `files` holds more than one skill. What is below the directory of a skill is part of
/// it. Directories such as `.agents` hold the skills that the repository uses, unless there are no others.
fn holds_several(files: &[String]) -> bool {
    let dirs = files.iter().filter_map(|path| {
        let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
        is_skill_file(name).then_some(dir)
    });
    let (used, own): (Vec<&str>, Vec<&str>) = dirs.partition(|dir| dir.starts_with('.'));
    count_outermost(if own.is_empty() { used } else { own }) > 1
}

/// Returns how many of `dirs` are not below another one.
fn count_outermost(mut dirs: Vec<&str>) -> usize {
    let is_below = |dir: &str, above: &str| {
        above.is_empty()
            || dir.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    // The contents of a directory come right after it.
    dirs.sort_by(|a, b| a.split('/').cmp(b.split('/')));
    dirs.dedup_by(|next, above| is_below(next, above));
    dirs.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_of_one_skill_and_of_several() {
        let several =
            |files: &[&str]| holds_several(&files.iter().map(|&file| file.into()).collect::<Vec<_>>());
        assert!(several(&["a/SKILL.md", "b/skill.md"]));
        assert!(several(&["a/SKILL.md", "a-b/SKILL.md", "a/c/SKILL.md"]));
        assert!(several(&[".claude/skills/a/SKILL.md", ".claude/skills/b/SKILL.md"]));
        for one in [
            &["README.md", "a/SKILL.md"][..],
            &["SKILL.md", "a/SKILL.md", "b/SKILL.md"],
            &["a/SKILL.md", "a-b/x.md", "a/b/SKILL.md", "a/c/SKILL.md"],
            &[".agents/skills/x/SKILL.md", "skills/a/SKILL.md"],
            &["skills/a/OTHER-SKILL.md", "x/SKILL.md"],
            &[],
        ] {
            assert!(!several(one), "{one:?}");
        }
    }
}
