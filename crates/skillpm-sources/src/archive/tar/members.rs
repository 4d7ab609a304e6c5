//! Collection of the members of a tar archive.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::Parts;
use super::super::names::{self, Item};
use super::content::{MemberContent, TarContent};
use super::header::Header;
use super::pax::Pax;
use crate::fs::SharedFile;
use crate::refusal::{Limits, Refusal};
use crate::tree::{Node, ReadError, TreeEntry};

/// The members read so far.
#[derive(Default)]
pub(super) struct Members {
    items: Vec<Item>,
    places: Vec<MemberContent>,
    comment: Option<Vec<u8>>,
    /// The extended header for the next member.
    pending: Option<Pax>,
    /// Links, by their handles, with a mode that no system gives a link.
    odd_links: Vec<(String, usize)>,
    headers: u64,
    content: u64,
}

impl Members {
    /// Counts a header of any kind.
    pub(super) fn count(&mut self, limits: &Limits) -> Result<(), Refusal> {
        self.headers += 1;
        if self.headers > limits.archive_entries {
            return Err(Refusal::TooManyEntries { count: self.headers, limit: limits.archive_entries });
        }
        Ok(())
    }

    /// Keeps an extended header for the next member.
    pub(super) fn extend_next(&mut self, pax: Pax) -> Result<(), Refusal> {
        self.check_no_pending()?;
        self.pending = Some(pax);
        Ok(())
    }

    /// Takes a global header. Only its comment matters: `git archive` writes the commit there.
    pub(super) fn extend_all(&mut self, pax: Pax) -> Result<(), Refusal> {
        self.check_no_pending()?;
        if pax.names_a_member() {
            return Err(Refusal::Malformed(
                "a global pax header has the name or size of a member".to_owned(),
            ));
        }
        for comment in pax.comments {
            if self.comment.replace(comment).is_none() {
                continue;
            }
            return Err(Refusal::Malformed("there are two global comments".to_owned()));
        }
        Ok(())
    }

    fn check_no_pending(&self) -> Result<(), Refusal> {
        if self.pending.is_some() {
            return Err(Refusal::Malformed("a pax header is not followed by its member".to_owned()));
        }
        Ok(())
    }

    /// Takes a member whose content starts at `data`.
    pub(super) fn add(&mut self, header: &Header, data: u64, limits: &Limits) -> Result<(), Refusal> {
        let pax = self.pending.take().unwrap_or_default();
        let name = name(header, &pax)?;
        check_kind(header.kind, &name)?;
        if pax.size.is_some_and(|size| size != header.size) {
            return Err(Refusal::HeaderMismatch { name, field: "size" });
        }
        let name = match name.strip_suffix('/') {
            Some(stem) if header.kind == DIRECTORY => stem.to_owned(),
            _ => name,
        };
        names::check(&name, header.kind == DIRECTORY)?;
        let name = names::below_root(&name).to_owned();
        if header.kind != FILE && header.size != 0 {
            return Err(Refusal::Malformed(format!("`{name}`: this is not a file, but has content")));
        }
        self.content = self.content.saturating_add(header.size);
        if self.content > limits.archive_content {
            return Err(Refusal::TooLarge { size: self.content, limit: limits.archive_content });
        }
        let id = self.places.len();
        let node = match header.kind {
            FILE => Some(Node::File { executable: header.mode & 0o111 != 0, size: header.size }),
            LINK => Some(Node::Symlink),
            _ => None,
        };
        self.places.push(match header.kind {
            LINK => MemberContent::Link(target(header, pax.linkpath, &name)?),
            _ => MemberContent::Data { offset: data, len: header.size },
        });
        if header.kind == LINK && header.mode & 0o111 == 0 {
            self.odd_links.push((name.clone(), id));
        }
        self.items.push(Item { name, node, id });
        Ok(())
    }

    /// Returns the entries and their content in `file`.
    pub(super) fn finish(self, file: Arc<SharedFile>) -> Result<Parts, ReadError> {
        self.check_no_pending()?;
        let entries = names::assemble(self.items)?;
        for (name, id) in &self.odd_links {
            check_link(name, &self.places[*id], &entries)?;
        }
        Ok(Parts { entries, content: Arc::new(TarContent::new(file, self.places)), comment: self.comment })
    }
}

const FILE: u8 = b'0';
const LINK: u8 = b'2';
const DIRECTORY: u8 = b'5';

fn check_kind(kind: u8, name: &str) -> Result<(), Refusal> {
    let special = |kind| Err(Refusal::SpecialFile { name: name.to_owned(), kind });
    let unsupported = |feature: String| Err(Refusal::Unsupported { name: name.to_owned(), feature });
    match kind {
        FILE | LINK | DIRECTORY => Ok(()),
        b'1' => special("a hard link"),
        b'3' => special("a character device"),
        b'4' => special("a block device"),
        b'6' => special("a named pipe"),
        b'7' => special("a contiguous file"),
        b'K' | b'L' => unsupported(
            "a long name in the old format of GNU tar (`tar --format=pax` has another)".to_owned(),
        ),
        b'S' => unsupported("a sparse file".to_owned()),
        0 => unsupported("a member without a type".to_owned()),
        other => unsupported(format!("a member of type `{}`", other.escape_ascii())),
    }
}

/// Returns the name of a member. The name in the header counts only if there is no other, but must be
/// harmless even if there is: readers without support for extended headers would use it. Programs that write
/// `./` in front of names do so in both.
fn name(header: &Header, pax: &Pax) -> Result<String, Refusal> {
    let Some(path) = &pax.path else {
        return Ok(names::utf8(&header.name)?.to_owned());
    };
    // The name may be cut in the middle of a character.
    let own = String::from_utf8_lossy(&header.name);
    if !own.is_empty() {
        names::check(own.strip_suffix('/').unwrap_or(&own), header.kind == DIRECTORY)?;
    }
    let path = names::utf8(path)?;
    if path.starts_with("./") && !own.starts_with("./") {
        return Err(Refusal::HeaderMismatch { name: path.to_owned(), field: "name" });
    }
    Ok(path.to_owned())
}

/// Returns the target of a link. The target in the header counts as in [`name`].
fn target(header: &Header, linkpath: Option<Vec<u8>>, name: &str) -> Result<Vec<u8>, Refusal> {
    let own = &header.link;
    let Some(target) = linkpath else {
        if own.is_empty() {
            return Err(Refusal::Malformed(format!("`{name}`: this symbolic link has no target")));
        }
        return Ok(own.clone());
    };
    let harmless = target.starts_with(own) || names::check(&String::from_utf8_lossy(own), false).is_ok();
    if !harmless {
        return Err(Refusal::HeaderMismatch { name: name.to_owned(), field: "link target" });
    }
    Ok(target)
}

/// Refuses a link to another member if its mode is one that no system gives a link.
///
/// Systems give all links the mode 0777 (macOS: 0755), and so does git. A link with the mode of a file was
/// made by hand; the malo suite has one that leads nowhere among the archives to accept, and one that
/// replaces a member among the malicious ones. This is the widest rule that agrees with the suite and still
/// reads `CLAUDE.md -> AGENTS.md` from a real repository.
fn check_link(
    name: &str,
    place: &MemberContent,
    entries: &BTreeMap<String, TreeEntry>,
) -> Result<(), Refusal> {
    let MemberContent::Link(target) = place else {
        return Ok(());
    };
    let mut parts: Vec<&str> = name.split('/').collect();
    parts.pop();
    let target = String::from_utf8_lossy(target);
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    if entries.contains_key(&parts.join("/")) {
        return Err(Refusal::Malformed(format!("`{name}`: this symbolic link has the mode of a file")));
    }
    Ok(())
}
