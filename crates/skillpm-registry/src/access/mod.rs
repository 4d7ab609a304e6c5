//! Permissions: the identity of a caller, and the operations that it allows.

mod names;
mod oidc;
mod token;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::ReadAccess;
use crate::error::{Error, Result, not_permitted};
use crate::name::SkillName;
use crate::registry::{
    Account, Event, History, Provenance, RepositoryChange, Timestamp, TrustedPublisher, Visibility,
};
pub(crate) use names::check_new_name;
pub(crate) use oidc::Issuers;
pub(crate) use token::{Holder, Issued, Token, TokenRequest, Tokens};

/// An operation that a token allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Scope {
    /// Read what the account may see: its private skills, and everything that requires a token.
    Read,
    /// To publish versions.
    Publish,
    /// To yank versions, and to take that back.
    Yank,
    /// To change who owns a skill, who publishes it from CI, and who sees it.
    Owner,
    /// Everything, also with skills of others.
    Admin,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Publish => "publish",
            Self::Yank => "yank",
            Self::Owner => "owner",
            Self::Admin => "admin",
        })
    }
}

/// The caller of a request: anonymous, or the holder of a token.
#[derive(Debug, Clone)]
pub(crate) struct Caller(pub(crate) Option<Token>);

impl Caller {
    /// Returns the name under which the log records a change by this caller.
    pub(crate) fn by(&self) -> Option<String> {
        self.0.as_ref().map(|token| token.holder.to_string())
    }

    /// Returns the caller's token.
    pub(crate) fn token(&self) -> Option<&Token> {
        self.0.as_ref()
    }

    /// Returns what the caller works on, as a CI system states it.
    pub(crate) fn provenance(&self) -> Option<Provenance> {
        match &self.0.as_ref()?.holder {
            Holder::Publisher { provenance, .. } => provenance.clone(),
            Holder::Account { .. } => None,
        }
    }

    /// Reports whether the caller's token has `scope` for all skills.
    pub(crate) fn has_scope(&self, scope: Scope) -> bool {
        self.token().is_some_and(|token| token.names.is_empty() && token.scopes.contains(&scope))
    }

    /// Reports whether the caller's token has `scope` for the skill `name`.
    fn has(&self, scope: Scope, name: &SkillName) -> bool {
        self.token().is_some_and(|token| token.allows(scope, name))
    }

    /// Reports whether the caller's token allows to read, be it one skill only.
    pub(crate) fn may_read(&self) -> bool {
        self.token().is_some_and(|token| token.has(Scope::Read))
    }

    /// Reports whether the caller sees a skill of a registry that `readers` may read.
    pub(crate) fn sees(&self, history: &History, readers: ReadAccess) -> bool {
        let name = history.name();
        match (readers, history.visibility()) {
            (ReadAccess::Public, Visibility::Public) => true,
            // Every job of a CI system can get a token, so it sees only what it publishes.
            (ReadAccess::Token, Visibility::Public) => {
                self.has(Scope::Read, name) && (self.account().is_some() || self.owns(history))
            }
            (_, Visibility::Private) => {
                self.has(Scope::Read, name) && (self.owns(history) || self.has(Scope::Admin, name))
            }
        }
    }

    /// Returns the id of the caller's token, if it keeps the caller from seeing all public skills of a registry that takes
    /// a token.
    pub(crate) fn limited_to(&self) -> Option<&str> {
        let is_limited = |token: &&Token| !token.names.is_empty() || self.account().is_none();
        self.token().filter(is_limited).map(|token| &*token.id)
    }

    /// Reports whether a skill is the caller's.
    pub(crate) fn owns(&self, history: &History) -> bool {
        match self.token().map(|token| &token.holder) {
            None => false,
            Some(Holder::Account { account }) => history.owners().contains(account),
            Some(Holder::Publisher { publisher, .. }) => history.publisher_of(publisher).is_some(),
        }
    }

    /// Checks that the caller may do what takes `scope` with a skill that exists.
    pub(crate) fn check(&self, scope: Scope, history: &History) -> Result<()> {
        let name = history.name();
        self.check_scope(scope, name)?;
        if self.has(Scope::Admin, name) {
            return Ok(());
        }
        if self.owns(history) {
            return Ok(());
        }
        let error = not_permitted(format!("`{name}` belongs to others"));
        Err(match self.token().map(|token| &token.holder) {
            Some(Holder::Publisher { publisher, .. }) => changed_repository([history], publisher)
                .unwrap_or_else(|| {
                    error.hint(format!("an owner of `{name}` can let {publisher} publish it"))
                }),
            _ => error.hint("an owner of it can add you, or choose another name"),
        })
    }

    /// Checks that the caller's token has `scope` for the skill `name`. Fails if not, and without a token.
    pub(crate) fn check_scope(&self, scope: Scope, name: &SkillName) -> Result<()> {
        if self.token().is_none() {
            return Err(Error::usage("this takes a token").coded(crate::codes::TOKEN_REFUSED));
        }
        match self.token() {
            Some(token) if !token.has(scope) => Err(missing(scope)),
            Some(token) if !token.is_for(name) => {
                Err(not_permitted(format!("the token is not for `{name}`"))
                    .hint("the operator of the registry can create one that is"))
            }
            _ => Ok(()),
        }
    }

    /// Decides whether the caller may publish a version of a skill. Returns the event that has to happen with it: by one a new
    /// skill becomes the caller's, by another the repository of a job becomes the only one of its name. Fails if the caller may
    /// not.
    pub(crate) fn publishes(&self, history: &History, time: Timestamp) -> Result<Option<Event>> {
        if !is_unclaimed(history) {
            self.check(Scope::Publish, history)?;
            return Ok(self.known_by_id(history).map(|publisher| Event::AddPublisher { publisher, time }));
        }
        self.check_scope(Scope::Publish, history.name())?;
        match self.account() {
            Some(owner) => Ok(Some(Event::AddOwner { owner: owner.clone(), time })),
            None => Err(not_permitted(format!("`{}` does not exist yet", history.name())).hint(
                "a first version is published with the token of an account, which owns the skill then",
            )),
        }
    }

    /// Returns the workflow as which the caller may publish, with the id of its repository, if that was not known before.
    fn known_by_id(&self, history: &History) -> Option<TrustedPublisher> {
        let Holder::Publisher { publisher: job, .. } = &self.token()?.holder else { return None };
        let known = history.publisher_of(job).filter(|known| known.repository_id.is_none())?;
        job.repository_id.as_ref()?;
        Some(TrustedPublisher { repository_id: job.repository_id.clone(), ..known.clone() })
    }

    /// Returns the account of the caller.
    pub(crate) fn account(&self) -> Option<&Account> {
        match &self.token()?.holder {
            Holder::Account { account } => Some(account),
            Holder::Publisher { .. } => None,
        }
    }
}

/// Returns the error for a token without `scope`.
pub(crate) fn missing(scope: Scope) -> Error {
    not_permitted(format!("the token does not have the scope `{scope}`"))
        .hint(format!("the operator of the registry can create one with `--scope {scope}`"))
}

/// Reports whether a skill has no owner yet.
pub(crate) fn is_unclaimed(history: &History) -> bool {
    history.records().is_empty() && history.owners().is_empty() && history.publishers().is_empty()
}

/// Returns the refusal of `job` if one of `skills` trusted its repository before that got another id or another name.
pub(crate) fn changed_repository<'a>(
    skills: impl IntoIterator<Item = &'a History>,
    job: &TrustedPublisher,
) -> Option<Error> {
    let mut publishers = skills.into_iter().flat_map(History::publishers);
    let change = publishers.find_map(|publisher| publisher.repository_change(job))?;
    let repository = &job.repository;
    let add = "an owner of the skill runs `skillpm registry publisher add";
    Some(match (change, &job.repository_id) {
        (RepositoryChange::Renamed, _) => not_permitted(format!(
            "`{repository}` had another name when it was trusted, and may have another owner now"
        ))
        .hint(format!("if it is still to be trusted, {add} --repository {repository} …`")),
        (RepositoryChange::Replaced, Some(id)) => not_permitted(format!(
            "`{repository}` is another repository than the one that was trusted: its id is `{id}`"
        ))
        .hint(format!(
            "if it was created again on purpose, {add} --repository {repository} --repository-id {id} …`"
        )),
        (RepositoryChange::Replaced, None) => {
            not_permitted(format!("the statement does not say which id the repository `{repository}` has"))
        }
    })
}
