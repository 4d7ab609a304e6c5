//! Who may publish.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The largest number of characters in the name of an account.
const MAX_ACCOUNT: usize = 64;
/// The largest number of characters in a part of a [`TrustedPublisher`].
const MAX_PART: usize = 256;

/// The name of an account: a person or a team that has tokens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct TrustedPublisher {
    /// Who signs the statement: its address, as the operator configured it.
    pub issuer: String,
    /// The repository, as `owner/name`.
    pub repository: String,
    /// The file of the workflow, such as `publish.yml`.
    pub workflow: String,
    /// The environment that the job must run in, if one is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
}

#[derive(Deserialize)]
struct Parts {
    issuer: String,
    repository: String,
    workflow: String,
    #[serde(default)]
    environment: Option<String>,
}

impl TryFrom<Parts> for TrustedPublisher {
    type Error = AccountError;

    fn try_from(parts: Parts) -> Result<Self, AccountError> {
        let Parts { issuer, repository, workflow, environment } = parts;
        Self::new(issuer, repository, workflow, environment)
    }
}

impl TrustedPublisher {
    /// Returns the publisher with these parts.
    ///
    /// # Errors
    ///
    /// Fails for a part that is empty, too long, or has spaces or control characters, and for a repository that is not
    /// `owner/name`.
    pub fn new(
        issuer: String,
        repository: String,
        workflow: String,
        environment: Option<String>,
    ) -> Result<Self, AccountError> {
        let is_fit = |part: &str| {
            !part.is_empty() && part.len() <= MAX_PART && part.chars().all(|c| c.is_ascii_graphic())
        };
        let is_repository = |text: &str| {
            text.split_once('/')
                .is_some_and(|(owner, name)| !owner.is_empty() && !name.is_empty() && !name.contains('/'))
        };
        if !is_fit(&issuer) {
            return Err(AccountError::Publisher("issuer"));
        }
        if !is_fit(&repository) || !is_repository(&repository) {
            return Err(AccountError::Publisher("repository"));
        }
        if !is_fit(&workflow) || workflow.contains('/') {
            return Err(AccountError::Publisher("workflow"));
        }
        if environment.as_deref().is_some_and(|environment| !is_fit(environment)) {
            return Err(AccountError::Publisher("environment"));
        }
        Ok(Self { issuer, repository, workflow, environment })
    }

    /// Reports whether the job `job` is one of this workflow. If an environment is required, it has to run in that.
    pub fn allows(&self, job: &Self) -> bool {
        let is_workflow =
            (&self.issuer, &self.repository, &self.workflow) == (&job.issuer, &job.repository, &job.workflow);
        is_workflow && (self.environment.is_none() || self.environment == job.environment)
    }
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
        for (repository, workflow, environment, part) in [
            ("acme", "publish.yml", None, "repository"),
            ("acme/a/b", "publish.yml", None, "repository"),
            ("/a", "publish.yml", None, "repository"),
            ("acme/skills", "", None, "workflow"),
            ("acme/skills", "a/publish.yml", None, "workflow"),
            ("acme/skills", "publish.yml", Some(""), "environment"),
            ("acme/skills", "publish.yml", Some("a b"), "environment"),
        ] {
            assert_eq!(new(repository, workflow, environment), Err(AccountError::Publisher(part)));
        }
    }
}
