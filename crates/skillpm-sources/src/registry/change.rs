//! Changes of one skill that require permission, as a server makes them.

use std::sync::Arc;

use super::ledger::already;
use super::{Carrier, Event, History, Objects, Package, Staged, Timestamp, Writer};
use crate::error::{Error, Result};
use crate::name::SkillName;

/// How often a change is decided again because another writer of the bucket changed the same skill.
const ATTEMPTS: usize = 16;

/// Decides from the history of a skill which event is to happen to it; `None` if none is.
pub type Decide = Arc<dyn Fn(&History) -> Result<Option<Event>> + Send + Sync>;

/// A version that is to be published.
pub struct Publication {
    /// The package.
    pub package: Arc<Package>,
    /// Whether it may be, and by which event a new skill becomes its publisher's.
    pub permit: Decide,
    /// When.
    pub time: Timestamp,
    /// The publisher.
    pub by: Option<String>,
    /// The history of the skill, as far as it is known.
    pub known: History,
}

/// Publishes a version in the registry with these files. Returns what came of it, and the skill as it is then.
///
/// # Errors
///
/// Fails if that is not permitted, if the version exists with other files, and if the files cannot be written. Then it is
/// not published, or the error is that of a store that did not say.
pub fn publish(objects: &dyn Objects, publication: Publication) -> Result<(Staged, History)> {
    let Publication { package, permit, time, by, known } = publication;
    let name = package.facts.name.clone();
    attempt(objects, &name, known, by.as_deref(), |writer| {
        let claim = permit(writer.ledger().history(&name)?)?;
        // An existing version makes no one an owner.
        if let Some(record) = already(writer.ledger().history(&name)?, &package) {
            return Ok((Staged::Already(record.clone()), false));
        }
        // The claim comes before the record: of two who publish a new skill, one gets both.
        if let Some(event) = claim {
            writer.event(&name, event, time)?;
        }
        Ok((writer.stage(&package, time)?, true))
    })
}

/// Lets an event happen to a skill, whose history is `known` so far. Returns whether one did, and the skill as it is then.
///
/// # Errors
///
/// Fails if `decide` does, and if the files cannot be written.
pub fn change(
    objects: &dyn Objects,
    known: History,
    decide: &Decide,
    by: Option<&str>,
    time: Timestamp,
) -> Result<(bool, History)> {
    let name = known.name().clone();
    attempt(objects, &name, known, by, |writer| {
        let Some(event) = decide(writer.ledger().history(&name)?)? else { return Ok((false, false)) };
        writer.event(&name, event, time)?;
        Ok((true, true))
    })
}

/// Changes the skill `name` as `work` says, which also returns whether there is something to commit. A writer of a directory
/// reads the skill anew, because it has the lock. One of a bucket begins with what is `known`: if that is behind, creating a
/// record or an event fails, and `work` decides again from what is there.
fn attempt<T>(
    objects: &dyn Objects,
    name: &SkillName,
    known: History,
    by: Option<&str>,
    work: impl Fn(&mut Writer<'_>) -> Result<(T, bool)>,
) -> Result<(T, History)> {
    let mut known = Some(known);
    for _ in 0..ATTEMPTS {
        let mut writer = Writer::new(objects, || ())?.by(by.map(str::to_owned));
        if let (Carrier::Bucket(_), Some(known)) = (objects.carrier(), known.take()) {
            writer.ledger().assume(known);
        }
        let (result, is_changed) = work(&mut writer)?;
        let history = writer.ledger().history(name)?.clone();
        if !is_changed || writer.try_commit()?.is_some() {
            return Ok((result, history));
        }
    }
    Err(Error::io(format!("`{name}` is changed by too many at the same time")).hint("try again"))
}
