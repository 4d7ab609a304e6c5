//! Files that are made of what the registry has.

use std::sync::Arc;

use axum::body::Bytes;

use crate::digest::Digest;
use crate::registry::{Config, Head, History, SearchIndex, ai_catalog, discovery};

/// A file as it is answered.
#[derive(Debug, Clone)]
pub(crate) struct File {
    /// The bytes.
    pub(crate) bytes: Bytes,
    /// The media type.
    pub(crate) kind: &'static str,
    /// The entity tag, without quotes: it differs if the bytes do.
    pub(crate) tag: String,
}

impl File {
    /// Returns the file with these bytes and this media type.
    pub(crate) fn new(bytes: impl Into<Bytes>, kind: &'static str) -> Self {
        let bytes = bytes.into();
        let tag = Digest::of(&bytes).hex()[..32].to_owned();
        Self { bytes, kind, tag }
    }

    /// Returns a file of JSON.
    pub(crate) fn json(bytes: impl Into<Bytes>) -> Self {
        Self::new(bytes, "application/json")
    }
}

/// The files about all skills.
#[derive(Debug)]
pub(crate) struct Overview {
    pub(crate) search: File,
    pub(crate) discovery: File,
    pub(crate) ai_catalog: File,
}

impl Overview {
    /// Returns the files about these skills of the registry with this configuration.
    pub(super) fn of(config: &Config, skills: &[Arc<History>]) -> Self {
        let heads: Vec<Head> = skills.iter().filter_map(|skill| skill.head()).collect();
        Self {
            search: File::json(SearchIndex::of(&heads).to_bytes()),
            discovery: File::json(discovery(&heads)),
            ai_catalog: File::json(ai_catalog(config, &heads)),
        }
    }
}
