//! Parses sources as they were typed.

use super::request::InstallRequest;
use crate::advice::{Message, Opt, Verb, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fetch::registries::{self, RegistryWord};
use crate::fs::{self, Kind};
use crate::manifest::Manifest;
use crate::scope::Scope;
use crate::scope_kind::ScopeKind;
use crate::source;
use crate::spec::{Reference, Registry, SourceSpec, SpecError};
use crate::text::shell_word;
use crate::version::Version;

/// Parses a source as it was typed.
fn parse_source(text: &str, scope: ScopeKind, manifest: &Manifest) -> Result<SourceSpec> {
    text.parse().map_err(|error: SpecError| {
        let told = Error::usage(error.to_string());
        match error {
            SpecError::Credentials => told.hint(
                "the part before `@` in a host is a login; name a skill after a slash: `https://host/@skill`",
            ),
            SpecError::Word(word) => match revision_of(&word, scope, manifest) {
                Some(hint) => told.hint(hint),
                None => of_word(told, &word),
            },
            _ if let Some(meant) = with_revision(text) => told.hint(format!(
                "`@` names a skill, and `#` a version, tag or branch: did you mean `{}`?",
                shell_word(meant.typed())
            )),
            _ => told.hint(
                "a source is `owner/repo`, an address of a git repository, a file or a site, an installed package such as `npm:name`, or a path such as `./skills`",
            ),
        }
    })
}

/// Adds to `error` what `word`, which names no source, may have meant: a skill, perhaps with a branch, a tag or a range.
fn of_word(error: Error, word: &str) -> Error {
    let (name, reference) = word.split_once('@').unwrap_or((word, ""));
    let reference = if reference.is_empty() { String::new() } else { format!("#{reference}") };
    let search = Verb::Search.call().flag(Opt::SkillsSh).word(name);
    let install = Verb::Install.call().word(format!("owner/repo{reference}@{name}"));
    error
        .hint(message!(search, " looks for it on skills.sh, a public site"))
        .hint(message!("a skill is named after its source: ", install))
        .hint("to install from a registry, name it in `skillpm.toml`: `[registries]` and `default = \"https://…\"`")
}

/// Returns the source that `text` means if the text after its last `@` is a revision: `owner/repo@pdf@1.2.0`.
fn with_revision(text: &str) -> Option<SourceSpec> {
    let (source, revision) = text.rsplit_once('@')?;
    let spec: SourceSpec = source.parse().ok()?;
    let is_open = spec.skill.is_some() && spec.reference.is_none() && spec.origin.has_revisions();
    is_open.then_some(SourceSpec { reference: Some(Reference::any(revision).ok()?), ..spec })
}

/// Returns where the revision or version goes that follows the name of a skill in `word`, if the manifest of `scope` has that
/// skill and its source has such.
pub(in crate::ops) fn revision_of(word: &str, scope: ScopeKind, manifest: &Manifest) -> Option<Message> {
    let (name, revision) = word.split_once('@')?;
    let mut skills = manifest.skills().iter();
    let origin = &skills.find(|(known, _)| known.as_str() == name)?.1.origin;
    if origin.has_versions() && Version::new(revision).is_ok() {
        let update = Verb::Update.within(scope).word(name).option(Opt::Precise, revision);
        return Some(message!("an option chooses the version: ", update));
    }
    let source = format!("{}#{revision}", origin.typed());
    let install = Verb::Install.within(scope).word(source).option(Opt::Skill, name);
    origin.has_revisions().then(|| message!("a revision follows the source: ", install))
}

/// Returns the skill that `text` means in a registry that has a name: `pdf@^1.2`, `acme:pdf`, `registry:acme//pdf`.
/// Returns `None` if it means something else.
fn of_named_registry(
    context: &Context,
    scope: &Scope,
    manifest: &Manifest,
    text: &str,
) -> Result<Option<SourceSpec>> {
    match (text.parse::<SourceSpec>(), RegistryWord::read(text)) {
        (Ok(spec), _) => match Registry::try_from(spec.origin.clone()) {
            Ok(Registry::Named(name)) => {
                let origin = registries::named(context, scope, manifest, &name)?.into();
                Ok(Some(SourceSpec { origin, ..spec }))
            }
            _ => Ok(None),
        },
        (Err(_), Some(word)) => word.source(context, scope, manifest),
        (Err(_), None) => {
            let lower = text.to_lowercase();
            let meant = RegistryWord::read(&lower).map(|word| word.source(context, scope, manifest));
            match meant.transpose()?.flatten() {
                Some(_) => {
                    let told = format!("`{text}` is not the name of a skill: names are in lower case");
                    Err(Error::usage(told).hint(format!("did you mean `{lower}`?")))
                }
                None => Ok(None),
            }
        }
    }
}

/// Parses a source as it was typed, together with the flags that apply to it.
pub(super) fn parse(
    context: &Context,
    scope: &Scope,
    manifest: &Manifest,
    request: &InstallRequest,
    text: &str,
) -> Result<SourceSpec> {
    if let Some(spec) = of_named_registry(context, scope, manifest, text)? {
        let origin = registries::spelled(context, scope, manifest.registries(), spec.origin)?;
        let spec = SourceSpec { origin, ..spec };
        return match &request.reference {
            None => Ok(spec),
            Some(reference) => {
                let hint = format!(
                    "write the range after the name: `{}@{}`",
                    spec.path.unwrap_or_default(),
                    reference.name()
                );
                Err(Error::usage(format!(
                    "`{text}` is a skill of a registry, which has versions instead of tags"
                ))
                .hint(hint))
            }
        };
    }
    if let Some(name) = RegistryWord::with_latest(text) {
        return Err(Error::usage(format!("`{text}` names a tag, and registries have versions only"))
            .hint(message!(Verb::Install.call().word(name), " installs the highest version")));
    }
    let mut spec = parse_source(text, scope.kind, manifest)?;
    if let Some(reference) = &request.reference {
        if let Some(said) = &spec.reference {
            return Err(Error::usage(format!(
                "the revision is given twice: `{}` and `{}`",
                said.name(),
                reference.name()
            ))
            .hint("remove `#` from the source, or leave out the flag"));
        }
        if let Some(origin) = source::with_revisions(context, scope.as_root(), &spec.origin)? {
            spec.origin = origin;
            spec.reference = Some(reference.clone());
            return Ok(spec);
        }
        if !spec.origin.has_revisions() {
            let is_path = spec.origin.local_path().is_some();
            let what = if is_path { "is a path, so it has" } else { "has" };
            return Err(Error::usage(format!("`{text}` {what} no revisions")).hint(message!(
                "leave out ",
                Opt::Tag,
                ", ",
                Opt::Branch,
                " or ",
                Opt::Rev
            )));
        }
        spec.reference = Some(reference.clone());
    }
    check_no_directory(context, text, &spec)?;
    let origin = source::settled(context, scope.as_root(), spec.origin)?;
    spec.origin = registries::spelled(context, scope, manifest.registries(), origin)?;
    Ok(spec)
}

/// Refuses a text such as `skills/pdf` that is read as a repository if a directory, or a file, with that path exists here: a
/// user who forgot `./` would get a stranger's skills.
pub(in crate::ops) fn check_no_directory(context: &Context, text: &str, spec: &SourceSpec) -> Result<()> {
    let typed = text.trim().trim_end_matches('/');
    // A text without any prefix is a repository on GitHub.
    let marked = || format!("github:{}", text.trim()).parse::<SourceSpec>();
    let is_bare = !text.contains(':') && marked().is_ok_and(|marked| marked.origin == spec.origin);
    let what = match fs::kind(&context.settings.cwd.join(typed)) {
        Ok(Some(Kind::Directory)) if is_bare => "directory",
        Ok(Some(Kind::File)) if is_bare => "file",
        _ => return Ok(()),
    };
    Err(Error::usage(format!("`{typed}` is a {what} here, but could also be a repository on GitHub")).hint(
        format!(
            "`{}` is the {what}, `{}` the repository",
            shell_word(format!("./{typed}")),
            shell_word(format!("github:{typed}")),
        ),
    ))
}

/// Returns the sources that `request` names, as they were typed. With a marketplace, these are names of its plugins.
pub(super) fn parse_all(
    context: &Context,
    scope: &Scope,
    manifest: &Manifest,
    request: &InstallRequest,
) -> Result<Vec<SourceSpec>> {
    let typed = request.sources.iter().filter(|_| request.marketplace.is_none() && !request.from_project);
    typed.map(|text| parse(context, scope, manifest, request, text)).collect()
}
