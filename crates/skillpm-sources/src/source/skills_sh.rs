//! The search of skills.sh, a public site that counts installations of skills in GitHub repositories.
//!
//! It answers `GET /api/search?q=WORDS&limit=COUNT` with
//! `{"skills": [{"name": …, "source": "owner/repo", "installs": …, …}]}`, without descriptions.

use std::sync::Arc;

use serde::Deserialize;

use crate::context::Context;
use crate::env;
use crate::error::{Error, Result};
use crate::http::{Answer, Client, HttpError, Request, Url};
use crate::name::SkillName;
use crate::spec::Repository;

/// The address, unless the environment names another one.
const ADDRESS: &str = "https://skills.sh";
/// The largest answer that is read, in bytes.
const ANSWER_BYTES: u64 = 4 << 20;

/// A skill that the site lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteSkill {
    /// The name.
    pub name: SkillName,
    /// The repository that has it: `owner/repo`.
    pub source: String,
    /// How often it was installed, as the site counts.
    pub installs: Option<u64>,
}

#[derive(Deserialize)]
struct SiteAnswer {
    skills: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    name: String,
    source: String,
    #[serde(default)]
    installs: Option<u64>,
}

/// Returns at most `limit` skills that the site finds for `words`, in its order. Skips those that cannot be installed
/// by what it says about them.
///
/// # Errors
///
/// Fails if it cannot be reached, or if its answer is not such a list.
pub fn search(context: &Context, words: &str, limit: usize) -> Result<Vec<SiteSkill>> {
    let settings = &context.settings;
    let address = settings.env.get(env::SKILLS_API_URL).unwrap_or(ADDRESS);
    let url = format!("{}/api/search?q={}&limit={limit}", address.trim_end_matches('/'), encoded(words));
    let url = Url::parse(&url)?;
    let client = Client::new(settings, Arc::clone(&context.reporter));
    let request = Request { accept: "application/json", ..Request::new(url.clone()) };
    let wrong =
        |reason: &str| HttpError::Malformed { host: url.origin().to_string(), reason: reason.to_owned() };
    let text = match client.get_text(&request, ANSWER_BYTES)? {
        Answer::Text { text, .. } => text,
        // No conditional request was made.
        Answer::NotModified => return Err(Error::from(wrong("it is about a file that was not named"))),
    };
    let answer: SiteAnswer =
        serde_json::from_str(&text).map_err(|_| Error::from(wrong("it is not a list of skills")))?;
    Ok(answer.skills.into_iter().filter_map(Row::skill).take(limit).collect())
}

impl Row {
    fn skill(self) -> Option<SiteSkill> {
        let (owner, name) = self.source.split_once('/')?;
        let repository = Repository::new(None, owner, name).ok()?;
        let source = format!("{}/{}", repository.owner, repository.name);
        Some(SiteSkill { name: SkillName::new(&self.name).ok()?, source, installs: self.installs })
    }
}

/// Returns `words` as a value in a query.
fn encoded(words: &str) -> String {
    crate::http::encode(words).replace('/', "%2F")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names from a stranger's server become part of a command.
    #[test]
    fn only_what_can_be_installed() {
        let skill = |name: &str, source: &str| {
            Row { name: name.into(), source: source.into(), installs: None }.skill()
        };
        let found = skill("pdf", "acme/skills").map(|skill| format!("{}@{}", skill.source, skill.name));
        assert_eq!(found.as_deref(), Some("acme/skills@pdf"));
        for (name, source) in
            [("pdf", "acme"), ("pdf", "a/b/c"), ("PDF; rm", "acme/skills"), ("pdf", "a;b/c"), ("../x", "a/b")]
        {
            assert_eq!(skill(name, source), None, "{name} {source}");
        }
        assert_eq!(encoded("a b&c/d"), "a%20b%26c%2Fd");
    }
}
