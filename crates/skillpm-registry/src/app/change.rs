//! Changes by callers: publish, yank, and set owners and visibility.

use std::sync::Arc;

use axum::body::Bytes;
use skillpm_core::ops::registry::check_package;

use super::App;
use crate::access::{Caller, Scope, check_new_name, is_unclaimed};
use crate::codes;
use crate::error::{Error, Result, not_permitted, unknown};
use crate::name::SkillName;
use crate::registry::{
    Account, Decide, Event, History, Package, Publication, Record, Staged, Timestamp, TrustedPublisher,
    Visibility,
};
use crate::storage::blocking;
use crate::version::Version;

/// The result of a publication.
#[derive(Debug)]
pub(crate) struct Published {
    /// The version.
    pub(crate) record: Record,
    /// Whether the version existed before, with the same files.
    pub(crate) already: bool,
}

impl App {
    /// Checks that the caller may publish the skill `name`, as far as this server knows. It copies nothing.
    pub(crate) async fn check_publisher(
        &self,
        caller: &Caller,
        name: &SkillName,
        time: Timestamp,
    ) -> Result<()> {
        caller.check_scope(Scope::Publish, name)?;
        let check = || self.catalog.skill(name).map_or(Ok(None), |known| caller.publishes(&known, time));
        if check().is_err() {
            // Another server may just have made the caller an owner.
            self.catalog.refresh(&self.storage).await?;
        }
        check().map(drop)
    }

    /// Publishes the archive `bytes` as `version` of `name`. Fails if the archive is not fit for publication or is something
    /// else, if the caller may not publish it, if the version exists with other files, and if the store fails.
    pub(crate) async fn publish(
        &self,
        caller: &Caller,
        name: &SkillName,
        version: &Version,
        bytes: Bytes,
        time: Timestamp,
    ) -> Result<Published> {
        // Another server may just have recorded an owner: read that before deciding.
        self.catalog.refresh(&self.storage).await?;
        let known = self.catalog.history(name);
        caller.publishes(&known, time)?;
        let mut package = read_package(bytes).await?;
        check_is(&package, name, version)?;
        // Until the catalog has the new name, no other is checked.
        let mut turn = None;
        if is_unclaimed(&known) {
            turn = Some(self.new_names.lock().await);
            let is_seen = |history: &History| self.is_seen(caller, history);
            check_new_name(name, &self.config.reserved_names, &self.catalog, is_seen)?;
            self.check_quota(caller)?;
        }
        package.provenance = caller.provenance();
        let package = Arc::new(package);
        let permit = {
            let caller = caller.clone();
            Arc::new(move |history: &History| caller.publishes(history, time))
        };
        let publication = Publication { package, permit, time, by: caller.by(), known };
        let (staged, history) = self.storage.publish(publication).await?;
        self.catalog.set(history);
        drop(turn);
        Ok(match staged {
            Staged::New(record) => Published { record, already: false },
            Staged::Already(record) => Published { record, already: true },
        })
    }

    fn check_quota(&self, caller: &Caller) -> Result<()> {
        let Some(account) = caller.account().filter(|_| !caller.has_scope(Scope::Admin)) else {
            return Ok(());
        };
        let limit = self.config.limits.skills_per_account;
        let owned = self.catalog.all().iter().filter(|skill| skill.owners().contains(account)).count();
        if owned < limit {
            return Ok(());
        }
        Err(not_permitted(format!("`{account}` owns {owned} skills, {limit} are allowed")))
    }

    /// Yanks `version` of `name` for `reason`, or with `None` restores it. Returns whether that changed anything. Fails if
    /// the caller may not, if the version does not exist, and if the store fails.
    pub(crate) async fn yank(
        &self,
        caller: &Caller,
        name: &SkillName,
        version: &Version,
        reason: Option<String>,
        time: Timestamp,
    ) -> Result<bool> {
        let version = version.clone();
        self.change(caller, name, Scope::Yank, time, move |history| {
            let Some(record) = history.get(&version) else {
                return Err(unknown(format!("`{}` has no version `{version}`", history.name())));
            };
            if history.yanked(&version) == reason.as_deref() {
                return Ok(None);
            }
            let version = record.version.clone();
            Ok(Some(match reason.clone() {
                Some(reason) => Event::Yank { version, reason, time },
                None => Event::Unyank { version, time },
            }))
        })
        .await
    }

    /// Adds or removes an owner. Returns whether that is new. Fails if the caller may not, if the last owner would go, and if
    /// the store fails.
    pub(crate) async fn own(
        &self,
        caller: &Caller,
        name: &SkillName,
        owner: Account,
        owns: bool,
        time: Timestamp,
    ) -> Result<bool> {
        self.change(caller, name, Scope::Owner, time, move |history| {
            if history.owners().contains(&owner) == owns {
                return Ok(None);
            }
            if owns {
                return Ok(Some(Event::AddOwner { owner: owner.clone(), time }));
            }
            if history.owners().len() == 1 {
                return Err(Error::usage(format!("`{owner}` is the only owner of `{}`", history.name()))
                    .hint("add another one first"));
            }
            Ok(Some(Event::RemoveOwner { owner: owner.clone(), time }))
        })
        .await
    }

    /// Lets the jobs of a workflow publish a skill, or no longer. Without an id of the repository, one that is known stays with
    /// a workflow that is added again, and one with any id is removed. Returns whether that is new. Fails if the caller may
    /// not, and if the store fails.
    pub(crate) async fn trust(
        &self,
        caller: &Caller,
        name: &SkillName,
        publisher: TrustedPublisher,
        is_trusted: bool,
        time: Timestamp,
    ) -> Result<bool> {
        self.change(caller, name, Scope::Owner, time, move |history| {
            let mut known = history.publishers().iter().filter(|known| known.is_same(&publisher));
            let is_id = |known: &TrustedPublisher| {
                publisher.repository_id.is_none() || publisher.repository_id == known.repository_id
            };
            if known.any(is_id) == is_trusted {
                return Ok(None);
            }
            let publisher = publisher.clone();
            Ok(Some(if is_trusted {
                Event::AddPublisher { publisher, time }
            } else {
                Event::RemovePublisher { publisher, time }
            }))
        })
        .await
    }

    /// Sets who may see a skill. Returns whether that is new. Fails if the caller may not, and if the store fails.
    pub(crate) async fn show_to(
        &self,
        caller: &Caller,
        name: &SkillName,
        visibility: Visibility,
        time: Timestamp,
    ) -> Result<bool> {
        self.change(caller, name, Scope::Owner, time, move |history| {
            Ok((history.visibility() != visibility).then_some(Event::SetVisibility { visibility, time }))
        })
        .await
    }

    async fn change(
        &self,
        caller: &Caller,
        name: &SkillName,
        scope: Scope,
        time: Timestamp,
        decide: impl Fn(&History) -> Result<Option<Event>> + Send + Sync + 'static,
    ) -> Result<bool> {
        caller.check_scope(scope, name)?;
        self.catalog.refresh(&self.storage).await?;
        let known = self.catalog.skill(name);
        let known = known.unwrap_or_else(|| Arc::new(History::empty(name.clone())));
        let exists = !known.records().is_empty();
        if !exists || !(self.is_seen(caller, &known) || caller.owns(&known)) {
            // The answer is the same whether the skill does not exist or must not be seen.
            return Err(unknown(format!("there is no skill `{name}`")));
        }
        let change: Decide = {
            let caller = caller.clone();
            Arc::new(move |history: &History| {
                caller.check(scope, history)?;
                decide(history)
            })
        };
        change(&known)?;
        let (is_new, history) =
            self.storage.change(known.as_ref().clone(), change, caller.by(), time).await?;
        self.catalog.set(history);
        Ok(is_new)
    }
}

/// Reads a package and checks that it is fit for publication.
async fn read_package(bytes: Bytes) -> Result<Package> {
    blocking(move || {
        let package = Package::new(bytes.into())?;
        check_package(&format!("{}.zip", package.facts.name), &package)?;
        Ok(package)
    })
    .await
}

/// Checks that `package` has the name and version of the address.
fn check_is(package: &Package, name: &SkillName, version: &Version) -> Result<()> {
    let facts = &package.facts;
    if facts.name == *name && facts.version.as_str() == version.as_str() {
        return Ok(());
    }
    Err(Error::usage(format!(
        "the archive has `{}` {}, and not `{name}` {version} as the address says",
        facts.name, facts.version
    ))
    .coded(codes::RELEASE_REFUSED))
}
