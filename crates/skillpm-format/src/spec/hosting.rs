//! Pages of hosting sites other than GitHub: the repository, revision and directory that they show.

use super::address::split_scheme;
use super::github::is_github_host;
use super::{
    Address, GitUrl, PUBLIC_HOST, Reference, Repository, SourceSpec, SpecError, skill_name, split_suffixes,
    subdirectory,
};
use crate::text::percent_decoded;

/// The file whose page means its skill.
const SKILL_FILE: &str = "SKILL.md";

/// The words typed before the colon, and the hosts that they stand for.
const PREFIXES: &[(&str, &str)] =
    &[("gitlab", "gitlab.com"), ("bitbucket", "bitbucket.org"), ("codeberg", "codeberg.org")];

/// Sites that list skills of repositories on GitHub, with the text before `owner/repo/skill` in the addresses of their
/// pages.
const LISTS: &[(&str, &str)] =
    &[("skills.sh", ""), ("playbooks.com", "skills/"), ("claude-plugins.dev", "skills/@")];

/// Reads the page of a site that lists other people's skills, with or without its scheme, and returns the skill it is
/// about, in its repository.
pub(super) fn listed(text: &str) -> Option<SourceSpec> {
    let rest = split_scheme(text).map_or(text, |(_, rest)| rest);
    let (host, path) = rest.split_once('/')?;
    let host = host.strip_prefix("www.").unwrap_or(host);
    let (_, before) = LISTS.iter().find(|(known, _)| known.eq_ignore_ascii_case(host))?;
    let path = path.split(['?', '#']).next().unwrap_or(path).strip_prefix(before)?;
    let parts: Vec<_> = path.trim_end_matches('/').split('/').map(percent_decoded).collect();
    let (owner, name, skill) = match &parts[..] {
        [owner, name] => (owner, name, None),
        [owner, name, skill] => (owner, name, Some(skill_name(skill).ok()?)),
        _ => return None,
    };
    // They also list skills from other places, under names that no owner has.
    let repository = Repository::new(Some(PUBLIC_HOST), owner, name).ok()?;
    Some(SourceSpec { skill, ..SourceSpec::new(repository) })
}

/// Reads `gitlab:group/repo`, if `text` has such a prefix.
pub(super) fn prefixed(text: &str) -> Option<Result<SourceSpec, SpecError>> {
    let (prefix, rest) = text.split_once(':')?;
    let (_, host) = PREFIXES.iter().find(|(known, _)| *known == prefix)?;
    let (place, reference, skill) = split_suffixes(rest);
    let (place, path) = match place.split_once("//") {
        Some((place, path)) => (place, Some(path)),
        None => (place, None),
    };
    Some(repository(host, place, path, reference.map(Reference::any), skill))
}

/// Returns the full address, if `text` is an address of a known site as browsers show it: without its scheme. A
/// repository on GitHub, and a path in it, may be written this way without being a page.
pub(super) fn with_scheme(text: &str) -> Option<String> {
    let (host, rest) = text.split_once('/')?;
    let host = host.strip_prefix("www.").unwrap_or(host).to_ascii_lowercase();
    let is_known = PREFIXES.iter().any(|(_, known)| *known == host);
    let is_page = || is_github_host(&host) && ["/tree/", "/blob/"].iter().any(|page| rest.contains(page));
    (is_known || is_page()).then(|| format!("https://{text}"))
}

/// Reports whether `text` is the address of a page, which does not show where the name of a branch ends and a directory
/// begins.
pub fn is_page(text: &str) -> bool {
    let has = |pages: &[&str]| pages.iter().any(|page| text.contains(page));
    (text.contains("://") || with_scheme(text).is_some()) && has(&["/tree/", "/blob/", "/src/"])
}

/// Reads the address of a page, if its host or form is that of a known site.
pub(super) fn page(text: &str) -> Option<Result<SourceSpec, SpecError>> {
    let (_, rest) = split_scheme(text)?;
    let (host, rest) = rest.split_once('/')?;
    let host = host.rsplit('@').next().unwrap_or(host).to_ascii_lowercase();
    let host = host.strip_prefix("www.").unwrap_or(&host);
    if let Some((project, page)) = rest.split_once("/-/") {
        // Archives and single files are downloads.
        let is_download = ["archive/", "raw/"].iter().any(|kind| page.starts_with(kind));
        return (!is_download).then(|| gitlab_page(host, project, page));
    }
    if rest.split(['/', '?', '#']).any(|part| part == "_git") {
        return Some(azure(host, rest));
    }
    let path = rest.split(['?', '#']).next().unwrap_or(rest).trim_end_matches('/');
    let parts: Vec<&str> = path.split('/').collect();
    // Forgejo and Gitea use this form on any host.
    if let [owner, name, "src", kind @ ("branch" | "tag" | "commit"), reference, ref path @ ..] = parts[..] {
        let reference = named(kind, &percent_decoded(reference));
        let path = path.join("/");
        let path = percent_decoded(&path);
        let project = format!("{owner}/{name}");
        return Some(repository(host, &project, Some(directory(&path)), Some(reference), None));
    }
    let groups = host == "gitlab.com" || host.starts_with("gitlab.");
    let known = groups || PREFIXES.iter().any(|(_, known)| *known == host);
    if !known || path.contains(".git") {
        return None;
    }
    match parts[..] {
        [owner, name, "src", reference, ref path @ ..] if !groups => {
            let (reference, path) = (percent_decoded(reference), path.join("/"));
            let path = percent_decoded(&path);
            let (project, reference) = (format!("{owner}/{name}"), Reference::any(&reference));
            Some(repository(host, &project, Some(directory(&path)), Some(reference), None))
        }
        // Anything below a repository on the other sites is a download, or not a source.
        [_, _, _, ..] if !groups => match Address::new(text) {
            Ok(address) if address.is_file() => None,
            _ => Some(Err(SpecError::Unsupported(text.to_owned()))),
        },
        _ => {
            let (place, reference, skill) = split_suffixes(rest.split('?').next().unwrap_or(rest));
            Some(repository(host, place, None, reference.map(Reference::any), skill))
        }
    }
}

/// Reads `group/repo/-/tree/REVISION/directory`.
fn gitlab_page(host: &str, project: &str, page: &str) -> Result<SourceSpec, SpecError> {
    let page = percent_decoded(page.split(['?', '#']).next().unwrap_or(page));
    let parts: Vec<&str> = page.trim_end_matches('/').split('/').collect();
    match parts[..] {
        ["tree", reference, ref path @ ..] | ["blob", reference, ref path @ .., SKILL_FILE] => {
            repository(host, project, Some(&path.join("/")), Some(Reference::any(reference)), None)
        }
        _ => Err(SpecError::Unsupported(format!("https://{host}/{project}/-/{page}"))),
    }
}

/// Returns the directory of the skill, if `path` is the path of its file, which is what a page shows.
fn directory(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some((directory, SKILL_FILE)) => directory,
        _ if path == SKILL_FILE => "",
        _ => path,
    }
}

/// Reads `organisation/project/_git/repo?path=/directory&version=GBbranch`.
fn azure(host: &str, rest: &str) -> Result<SourceSpec, SpecError> {
    let (rest, reference, skill) = split_suffixes(rest);
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let mut reference = reference.map(Reference::any);
    let mut path = None;
    for (key, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        let value = percent_decoded(value);
        match key {
            "path" => path = Some(directory(value.trim_matches('/')).to_owned()),
            "version" => {
                let (kind, name) = value.split_at_checked(2).unwrap_or_default();
                let kind = match kind {
                    "GB" => "branch",
                    "GT" => "tag",
                    "GC" => "commit",
                    _ => return Err(SpecError::BadReference(value.into_owned())),
                };
                reference = Some(named(kind, name));
            }
            _ => {}
        }
    }
    let skill = skill.map(skill_name).transpose()?;
    let url = GitUrl::new(&format!("https://{host}/{}", place.trim_end_matches('/')))?;
    Ok(SourceSpec {
        origin: url.into(),
        path: subdirectory(path.as_deref())?,
        reference: reference.transpose()?,
        skill,
    })
}

fn named(kind: &str, name: &str) -> Result<Reference, SpecError> {
    Reference::check(name)?;
    Ok(match kind {
        "branch" => Reference::Branch(name.to_owned()),
        "tag" => Reference::Tag(name.to_owned()),
        _ => Reference::Rev(name.to_owned()),
    })
}

fn repository(
    host: &str,
    place: &str,
    path: Option<&str>,
    reference: Option<Result<Reference, SpecError>>,
    skill: Option<&str>,
) -> Result<SourceSpec, SpecError> {
    let place = place.trim_end_matches('/');
    if place.split('/').count() < 2 {
        return Err(SpecError::Unsupported(format!("https://{host}/{place}")));
    }
    let name = place.strip_suffix(".git").unwrap_or(place);
    Ok(SourceSpec {
        origin: GitUrl::new(&format!("https://{host}/{name}.git"))?.into(),
        path: subdirectory(path)?,
        reference: reference.transpose()?,
        skill: skill.map(skill_name).transpose()?,
    })
}
