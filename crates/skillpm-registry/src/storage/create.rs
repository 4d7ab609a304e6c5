//! Making a directory or a bucket a registry.

use skillpm_sources::fs::{self, Kind};

use super::Location;
use super::probe::{PROBES, probe};
use crate::error::{Error, Result};
use crate::name::SkillName;
use crate::registry::{Config, NewRegistry, files};

/// Creates a registry without skills at `location`, with the name `name`, or else that of the place. Returns its name. Fails if
/// `location` already is a registry, and if it cannot be written.
pub(crate) async fn create(location: &Location, name: Option<SkillName>) -> Result<SkillName> {
    let name = name.map_or_else(|| location.default_name(), Ok)?;
    match location {
        Location::Directory(path) => {
            let new = NewRegistry::new(path, Some(&name))?;
            new.check().map_err(|error| {
                error.hint("move these files away; `skillpm registry init --force` replaces or removes them")
            })?;
            new.create(|| ())?;
        }
        Location::Bucket(bucket) => {
            let config = Config::new(name.clone());
            let objects = bucket.objects()?;
            probe(&objects, location).await?;
            let is_new = !objects.exists(files::CONFIG).await?
                && objects.create(files::CONFIG, config.to_bytes().into()).await?;
            if !is_new {
                return Err(Error::usage(format!("`{location}` already is a registry")));
            }
        }
    }
    Ok(name)
}

/// Creates a registry at `location` if the directory is missing or empty, or the bucket has no objects. Returns the name of the
/// new registry; `None` if `location` was not empty. Fails if `location` cannot be read, and if it is empty and cannot be written.
pub(crate) async fn create_if_empty(location: &Location) -> Result<Option<SkillName>> {
    if !is_empty(location).await? {
        return Ok(None);
    }
    let name = location
        .default_name()
        .map_err(|error| error.hint("`skillpm-registry init` takes it as `--name`"))?;
    match create(location, Some(name)).await {
        Ok(name) => Ok(Some(name)),
        // Another server that started at the same time was faster.
        Err(_) if !is_empty(location).await? => Ok(None),
        Err(error) => Err(error.context(format!("no registry can be created in `{location}`"))),
    }
}

async fn is_empty(location: &Location) -> Result<bool> {
    match location {
        Location::Directory(path) => match fs::real_path(path)? {
            Some(real) => Ok(fs::kind(&real)? == Some(Kind::Directory) && fs::list_dir(&real)?.is_empty()),
            // A link may lead to nothing.
            None => Ok(fs::kind(path)?.is_none()),
        },
        Location::Bucket(bucket) => {
            let objects = bucket.objects()?;
            Ok(!objects.exists(files::CONFIG).await?
                && objects.is_empty_but(&format!("{}/{PROBES}", files::PRIVATE)).await?)
        }
    }
}
