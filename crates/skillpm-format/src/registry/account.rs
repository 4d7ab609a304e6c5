//! Accounts and publishers.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest number of characters in the name of an account.
const MAX_ACCOUNT: usize = 64;
/// The largest number of characters in a part of a [`TrustedPublisher`].
const MAX_PART: usize = 256;

/// The name of an account: a person or a team that has tokens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Account(String);

/// Why a text is not the name of an account.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccountError {
    /// Another form.
    #[error(
        "`{0}` is not the name of an account: it has `a` to `z`, digits, and `-` between them, at most 64 characters"
    )]
    Account(String),
    /// A part of a publisher that is empty, too long or has characters that cannot be shown.
    #[error(
        "`{0}` of a publisher is empty, longer than 256 characters, or has characters that it cannot have"
    )]
    Publisher(&'static str),
}

impl Account {
    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Account {
    type Err = AccountError;

    fn from_str(text: &str) -> Result<Self, AccountError> {
        let is_part = |part: &str| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        if text.len() <= MAX_ACCOUNT && text.split('-').all(is_part) {
            Ok(Self(text.to_owned()))
        } else {
            Err(AccountError::Account(text.chars().take(MAX_ACCOUNT).collect()))
        }
    }
}

impl TryFrom<String> for Account {
    type Error = AccountError;

    fn try_from(text: String) -> Result<Self, AccountError> {
        text.parse()
    }
}

impl From<Account> for String {
    fn from(account: Account) -> Self {
        account.0
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A workflow of a repository whose jobs may publish without a token of their own: they show a signed statement of who
/// they are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Parts")]
#[schemars(!try_from)]
pub struct TrustedPublisher {
    /// The address of the issuer that signs the statement, as the operator configured it.
    #[schemars(extend("pattern" = "^[!-~]{1,256}$"))]
    pub issuer: String,
    /// The repository, as `owner/name`; GitLab has groups in groups, as in `group/subgroup/name`.
    #[schemars(length(max = 256), extend("pattern" = "^[!-.0-~]+/[!-.0-~]+$"))]
    pub repository: String,
    /// The id of the repository at the issuer. A new repository with the name of an old one has another id. It is absent
    /// until an owner gives it or a job publishes for the first time.
    #[serde(default, rename = "repository-id", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = "^[!-~]{1,256}$"))]
    pub repository_id: Option<String>,
    /// The file of the workflow, such as `publish.yml`.
    #[schemars(extend("pattern" = "^[!-.0-~]{1,256}$"))]
    pub workflow: String,
    /// The environment that the job must run in, if one is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = "^[!-~]{1,256}$"))]
    pub environment: Option<String>,
}

#[derive(Deserialize)]
struct Parts {
    issuer: String,
    repository: String,
    #[serde(default, rename = "repository-id")]
    repository_id: Option<String>,
    workflow: String,
    #[serde(default)]
    environment: Option<String>,
}

impl TryFrom<Parts> for TrustedPublisher {
    type Error = AccountError;

    fn try_from(parts: Parts) -> Result<Self, AccountError> {
        let Parts { issuer, repository, repository_id, workflow, environment } = parts;
        Self::new(issuer, repository, workflow, environment)?.with_id(repository_id)
    }
}

impl TrustedPublisher {
    /// Returns the publisher with these parts, whose repository has any id.
    ///
    /// # Errors
    ///
    /// Fails for a part that is empty, too long, or has spaces or control characters, and for a repository that is not
    /// `owner/name`. An environment may have spaces, except at its ends.
    pub fn new(
        issuer: String,
        repository: String,
        workflow: String,
        environment: Option<String>,
    ) -> Result<Self, AccountError> {
        let is_repository =
            |text: &str| text.contains('/') && text.split('/').all(|part| !matches!(part, "" | "." | ".."));
        let is_environment = |text: &str| text.trim() == text && is_fit(&text.replace(' ', "-"));
        if !is_fit(&issuer) {
            return Err(AccountError::Publisher("issuer"));
        }
        if !is_fit(&repository) || !is_repository(&repository) {
            return Err(AccountError::Publisher("repository"));
        }
        if !is_fit(&workflow) || workflow.contains('/') {
            return Err(AccountError::Publisher("workflow"));
        }
        if environment.as_deref().is_some_and(|environment| !is_environment(environment)) {
            return Err(AccountError::Publisher("environment"));
        }
        Ok(Self { issuer, repository, repository_id: None, workflow, environment })
    }

    /// Returns the publisher with the id of its repository.
    ///
    /// # Errors
    ///
    /// Fails for an id that is empty, too long, or has spaces or control characters.
    pub fn with_id(self, repository_id: Option<String>) -> Result<Self, AccountError> {
        if repository_id.as_deref().is_some_and(|id| !is_fit(id)) {
            return Err(AccountError::Publisher("repository-id"));
        }
        Ok(Self { repository_id, ..self })
    }

    /// Reports whether `other` is the same workflow in the same environment. The ids of the repositories do not matter.
    pub fn is_same(&self, other: &Self) -> bool {
        self.is_in_repository(other)
            && (&self.workflow, &self.environment) == (&other.workflow, &other.environment)
    }

    /// Reports whether the repository of `other` has the same name at the same issuer.
    pub(super) fn is_in_repository(&self, other: &Self) -> bool {
        (&self.issuer, &self.repository) == (&other.issuer, &other.repository)
    }

    /// Reports whether the id of a repository is known, and `job` does not have it.
    pub(super) fn has_other_id(&self, job: &Self) -> bool {
        self.repository_id.is_some() && self.repository_id != job.repository_id
    }

    /// Reports whether the job `job` is one of this workflow. If an environment is required, it has to run in that; if the
    /// id of the repository is known, the repository has to be that one.
    pub fn allows(&self, job: &Self) -> bool {
        self.is_in_repository(job) && !self.has_other_id(job) && self.is_workflow(job)
    }

    /// Returns how the repository of `job` differs from the one of this publisher, if the two have either the name or the
    /// id in common.
    pub fn repository_change(&self, job: &Self) -> Option<RepositoryChange> {
        if self.issuer != job.issuer || self.repository_id.is_none() {
            return None;
        }
        match (self.repository == job.repository, self.repository_id == job.repository_id) {
            (true, false) => Some(RepositoryChange::Replaced),
            (false, true) => Some(RepositoryChange::Renamed),
            _ => None,
        }
    }

    fn is_workflow(&self, job: &Self) -> bool {
        self.workflow == job.workflow && (self.environment.is_none() || self.environment == job.environment)
    }
}

/// The history of a repository since it was trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepositoryChange {
    /// Another repository has its name now.
    Replaced,
    /// It has another name now, and perhaps another owner.
    Renamed,
}

/// Reports whether a part of a publisher is neither empty nor too long, and has no spaces or control characters.
fn is_fit(part: &str) -> bool {
    !part.is_empty() && part.len() <= MAX_PART && part.chars().all(|c| c.is_ascii_graphic())
}

impl fmt::Display for TrustedPublisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.workflow, self.repository)?;
        match &self.environment {
            Some(environment) => write!(f, " in `{environment}`"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_accounts_have_one_spelling() {
        for fine in ["a", "alice", "team-docs", "7", "a1-b2"] {
            assert_eq!(fine.parse::<Account>().map(String::from).as_deref(), Ok(fine));
        }
        let long = "a".repeat(65);
        for wrong in ["", "-a", "a-", "a--b", "Alice", "a b", "a_b", "аlice", "a/b", long.as_str()] {
            assert!(wrong.parse::<Account>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn publishers_have_fit_parts() {
        let new = |repository: &str, workflow: &str, environment: Option<&str>| {
            TrustedPublisher::new(
                "https://issuer.example".to_owned(),
                repository.to_owned(),
                workflow.to_owned(),
                environment.map(str::to_owned),
            )
        };
        assert!(new("acme/skills", "publish.yml", None).is_ok());
        assert!(new("acme/skills", "publish.yml", Some("release")).is_ok());
        assert!(new("acme/tools/skills", ".gitlab-ci.yml", Some("production, eu")).is_ok());
        for (repository, workflow, environment, part) in [
            ("acme", "publish.yml", None, "repository"),
            ("acme//b", "publish.yml", None, "repository"),
            ("acme/../b", "publish.yml", None, "repository"),
            ("acme/b/", "publish.yml", None, "repository"),
            ("/a", "publish.yml", None, "repository"),
            ("acme/skills", "", None, "workflow"),
            ("acme/skills", "a/publish.yml", None, "workflow"),
            ("acme/skills", "publish.yml", Some(""), "environment"),
            ("acme/skills", "publish.yml", Some(" a"), "environment"),
            ("acme/skills", "publish.yml", Some("a "), "environment"),
            ("acme/skills", "publish.yml", Some("a\tb"), "environment"),
        ] {
            assert_eq!(new(repository, workflow, environment), Err(AccountError::Publisher(part)));
        }
        for id in ["", "7 4", "7\n"] {
            let with_id =
                new("acme/skills", "publish.yml", None).and_then(|new| new.with_id(Some(id.to_owned())));
            assert_eq!(with_id, Err(AccountError::Publisher("repository-id")), "{id:?}");
        }
    }

    #[test]
    fn a_repository_is_known_by_its_name_and_its_id() {
        let of = |repository: &str, id: Option<&str>| {
            let texts = ["https://issuer.example", repository, "publish.yml"].map(str::to_owned);
            let [issuer, repository, workflow] = texts;
            let publisher = TrustedPublisher::new(issuer, repository, workflow, None);
            publisher.and_then(|new| new.with_id(id.map(str::to_owned))).expect("a publisher")
        };
        let (any, known) = (of("acme/skills", None), of("acme/skills", Some("74")));
        assert!(any.allows(&known) && any.allows(&any) && known.allows(&known));
        for (job, change) in [
            (of("acme/skills", Some("75")), Some(RepositoryChange::Replaced)),
            (any.clone(), Some(RepositoryChange::Replaced)),
            (of("acme/tools", Some("74")), Some(RepositoryChange::Renamed)),
            (of("acme/tools", Some("75")), None),
            (of("acme/tools", None), None),
        ] {
            assert!(!known.allows(&job), "{job:?}");
            assert_eq!(known.repository_change(&job), change, "{job:?}");
        }
        assert_eq!(any.repository_change(&of("acme/tools", Some("74"))), None);
    }
}
