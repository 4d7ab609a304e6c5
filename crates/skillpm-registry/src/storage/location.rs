//! The location of a registry.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, S3ConditionalPut};
use object_store::{BackoffConfig, ClientOptions, RetryConfig};

use super::Objects;
use crate::config::{BucketSettings, Config};
use crate::error::{Error, Result};
use crate::name::SkillName;
use crate::registry::RegistryDir;

/// The location of a registry.
#[derive(Debug, Clone)]
pub(crate) enum Location {
    /// A directory of this machine.
    Directory(PathBuf),
    /// A bucket.
    Bucket(Bucket),
}

/// A part of a bucket.
#[derive(Debug, Clone)]
pub(crate) struct Bucket {
    name: String,
    prefix: String,
    settings: BucketSettings,
}

impl Location {
    /// Returns the location that `config` names. Fails if it is not set, or is not valid.
    pub(crate) fn of(config: &Config) -> Result<Self> {
        let Some(text) = &config.registry else {
            return Err(Error::usage("no registry is named")
                .hint("name its directory, or `s3://BUCKET/PREFIX`, or set `registry` in the file"));
        };
        let Some(rest) = text.strip_prefix("s3://") else { return Ok(Self::Directory(PathBuf::from(text))) };
        let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if name.is_empty() {
            return Err(Error::usage(format!("`{text}` names no bucket")).hint("write `s3://BUCKET/PREFIX`"));
        }
        Ok(Self::Bucket(Bucket {
            name: name.to_owned(),
            prefix: prefix.trim_matches('/').to_owned(),
            settings: config.bucket.clone(),
        }))
    }

    /// Returns the default name of a registry at this location: that of the directory, or the last part of the prefix in the
    /// bucket. Fails if that is not a valid name.
    pub(crate) fn default_name(&self) -> Result<SkillName> {
        match self {
            // `.` is called what the working directory is called.
            Self::Directory(path) => {
                RegistryDir::default_name(&std::path::absolute(path).unwrap_or_else(|_| path.clone()))
            }
            Self::Bucket(bucket) => RegistryDir::default_name(&Path::new(&bucket.name).join(&bucket.prefix)),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) => write!(f, "{}", path.display()),
            Self::Bucket(bucket) => bucket.fmt(f),
        }
    }
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}/{}", self.name, self.prefix)
    }
}

impl Bucket {
    /// Returns the objects of the bucket. No request is made. Fails for settings that do not fit together.
    pub(crate) fn objects(&self) -> Result<Objects> {
        crate::encrypt_with_ring();
        let retry = RetryConfig {
            backoff: BackoffConfig {
                init_backoff: Duration::from_millis(50),
                max_backoff: Duration::from_secs(2),
                base: 2.0,
            },
            max_retries: 5,
            retry_timeout: Duration::from_secs(20),
        };
        let client = ClientOptions::new()
            .with_timeout(Duration::from_secs(30))
            .with_connect_timeout(Duration::from_secs(5))
            .with_allow_http(self.settings.allow_http);
        let mut builder = AmazonS3Builder::from_env()
            .with_bucket_name(&self.name)
            .with_retry(retry)
            .with_client_options(client)
            .with_allow_http(self.settings.allow_http)
            .with_conditional_put(S3ConditionalPut::ETagMatch);
        if let Some(endpoint) = &self.settings.endpoint {
            builder = builder.with_endpoint(endpoint);
        }
        if let Some(region) = &self.settings.region {
            builder = builder.with_region(region);
        }
        let store = builder.build().map_err(|error| Error::config(format!("`{self}`")).because(error))?;
        Ok(Objects::new(Arc::new(store), &self.prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_directory_or_a_part_of_a_bucket() {
        let location =
            |text: &str| Location::of(&Config { registry: Some(text.to_owned()), ..Config::default() });
        assert_eq!(location("s3://bucket/skills/").expect("a place").to_string(), "s3://bucket/skills");
        assert!(
            location("s3:///skills").is_err() && location("s3://").is_err() && location("skills").is_ok()
        );
        assert!(Location::of(&Config::default()).is_err());
    }
}
