//! `self check`: what this program is, how it was installed, and whether there is a newer version.

mod installed;

use std::sync::Arc;

use schemars::JsonSchema;
use semver::Version;
use serde::Serialize;

use crate::advice::Warning;
use crate::context::Context;
use crate::env;
use crate::error::{Error, ErrorKind, Result};
use crate::http::Client;
use crate::source::github::{GitHub, settings_for};
use crate::spec::Repository;

pub use self::installed::{Installed, Manager};

/// The repository whose tags `v0.1.0` are the released versions.
const OWNER: &str = "skillpm";
/// The name.
const NAME: &str = "skillpm";
/// The part of a tag before the version.
const TAG: &str = "v";

/// A request to describe this program.
#[derive(Debug, Clone)]
pub struct SelfRequest {
    /// The version of the program.
    pub version: &'static str,
    /// The commit that it was built from, in ten digits, if it is known.
    pub commit: Option<&'static str>,
    /// The target triple that it was built for.
    pub target: &'static str,
}

/// The facts about the program. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SelfOutcome {
    /// The version of the program.
    pub version: String,
    /// The commit that it was built from, in ten digits.
    pub commit: Option<String>,
    /// The target triple that it was built for.
    pub target: String,
    /// The path of the program; `None` if the system does not say.
    pub program: Option<String>,
    /// How it was installed.
    pub installed: Installed,
    /// The newest released version; `None` if no request was made or nothing is released.
    pub newest: Option<String>,
    /// Whether `newest` is newer than `version`.
    pub outdated: bool,
    /// Why the newest version is not known.
    pub warnings: Vec<Warning>,
    /// The kind of that failure.
    #[serde(skip)]
    pub failed: Option<ErrorKind>,
}

/// Returns what this program is, and asks GitHub for the newest release unless the user is offline. No other operation
/// asks for it. If GitHub cannot be asked, the outcome says why.
pub fn check(context: &Context, request: &SelfRequest) -> SelfOutcome {
    let program = env::own_program();
    let mut outcome = SelfOutcome {
        version: request.version.to_owned(),
        commit: request.commit.map(str::to_owned),
        target: request.target.to_owned(),
        installed: program.as_deref().map_or_else(Installed::unknown, installed::detect),
        program: program.map(|path| path.display().to_string()),
        newest: None,
        outdated: false,
        warnings: Vec::new(),
        failed: None,
    };
    if context.settings.offline {
        return outcome;
    }
    match newest(context) {
        Ok(Some(newest)) => {
            outcome.outdated = Version::parse(request.version).is_ok_and(|own| own < newest);
            outcome.newest = Some(newest.to_string());
        }
        Ok(None) => {}
        Err(error) => {
            outcome.failed = Some(error.kind());
            outcome.warnings.push(error.context("the newest version is not known").into());
        }
    }
    outcome
}

/// Returns the newest released version; pre-releases such as `1.0.0-rc.1` do not count.
fn newest(context: &Context) -> Result<Option<Version>> {
    let repository = Repository::new(None, OWNER, NAME).map_err(|error| Error::usage(error.to_string()))?;
    let settings = settings_for(&context.settings, &repository);
    let client = Client::new(&settings, Arc::clone(&context.reporter));
    let tags = GitHub::new(&client, &settings, &repository)?.tags(TAG)?;
    Ok(latest(tags.iter().map(String::as_str)))
}

/// Returns the highest version of `tags` that is not a pre-release.
fn latest<'a>(tags: impl Iterator<Item = &'a str>) -> Option<Version> {
    tags.filter_map(|tag| Version::parse(tag.strip_prefix(TAG)?).ok())
        .filter(|version| version.pre.is_empty())
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_released_version_is_the_newest() {
        let tags = ["v0.9.0", "v0.10.0", "v1.0.0-rc.1", "vendor", "0.11.0", "v0.10"];
        assert_eq!(latest(tags.into_iter()), Some(Version::new(0, 10, 0)));
        assert_eq!(latest(std::iter::empty()), None);
    }
}
