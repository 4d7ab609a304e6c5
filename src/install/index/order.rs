//! A scope that was found in order: all that was looked at when there was nothing to do, and what was told.
//!
//! While all of it is as it was, the same request has the same answer, and nothing need be parsed or
//! planned. Trees are compared by their entries in the index. Links need no look of their own: what a
//! link says cannot be changed, only another link can take its place, which changes its directory.

use super::bytes::{Reader, put_list, put_option, put_stat, put_text};
use crate::digest::Digest;
use crate::fs::FileStat;

/// All that decides that there is nothing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Where the manifest lies.
    pub manifest: String,
    /// The texts of manifest and lockfile, as far as they are there.
    pub files: [Option<Digest>; 2],
    /// The agents whose directories were looked into, and these directories.
    pub agents: Vec<(String, Option<String>)>,
    /// The directories that were looked into, each once.
    pub dirs: Vec<SeenDir>,
    /// What was told.
    pub told: Vec<u8>,
}

/// A directory that was looked into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenDir {
    /// The path that leads to it.
    pub path: String,
    /// Where it leads, and what was known of it; `None` where nothing was there.
    pub there: Option<(String, FileStat)>,
    /// The trees in it that matter, by name.
    pub trees: Vec<(String, Digest)>,
}

impl Order {
    pub(super) fn encode(&self, bytes: &mut Vec<u8>) -> Option<()> {
        put_text(bytes, self.manifest.as_bytes())?;
        for file in self.files {
            put_option(bytes, file, |bytes, digest| {
                bytes.extend(digest.as_bytes());
                Some(())
            })?;
        }
        put_list(bytes, &self.agents, |bytes, (id, dir)| {
            put_text(bytes, id.as_bytes())?;
            put_option(bytes, dir.as_ref(), |bytes, dir| put_text(bytes, dir.as_bytes()))
        })?;
        put_list(bytes, &self.dirs, |bytes, dir| {
            put_text(bytes, dir.path.as_bytes())?;
            put_option(bytes, dir.there.as_ref(), |bytes, (real, stat)| {
                put_text(bytes, real.as_bytes())?;
                bytes.extend(stat.device.to_le_bytes());
                put_stat(bytes, stat);
                Some(())
            })?;
            put_list(bytes, &dir.trees, |bytes, (name, digest)| {
                put_text(bytes, name.as_bytes())?;
                bytes.extend(digest.as_bytes());
                Some(())
            })
        })?;
        bytes.extend(u32::try_from(self.told.len()).ok()?.to_le_bytes());
        bytes.extend(&self.told);
        Some(())
    }

    pub(super) fn decode(rest: &mut Reader<'_>) -> Option<Self> {
        let manifest = rest.string()?;
        let files = [rest.option(Reader::digest).ok()?, rest.option(Reader::digest).ok()?];
        let agents = rest.list(|rest| Some((rest.string()?, rest.option(Reader::string).ok()?)))?;
        let dirs = rest.list(|rest| {
            let path = rest.string()?;
            let there = rest.option(|rest| {
                let (real, device) = (rest.string()?, rest.u64()?);
                Some((real, rest.stat(device)?))
            });
            let there = there.ok()?;
            let trees = rest.list(|rest| Some((rest.string()?, rest.digest()?)))?;
            Some(SeenDir { path, there, trees })
        })?;
        let length = usize::try_from(rest.u32()?).ok()?;
        let told = rest.take(length)?.to_owned();
        Some(Self { manifest, files, agents, dirs, told })
    }
}
