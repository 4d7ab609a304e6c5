//! Archives that may lie in every field.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};

/// Bytes that replace those at a position of a header.
type Patch = (usize, Vec<u8>);

/// An entry of a zip archive.
#[derive(Clone, Default)]
pub struct ZipEntry {
    name: Vec<u8>,
    method: u16,
    flags: u16,
    crc: u32,
    packed: Vec<u8>,
    size: u32,
    attributes: u32,
    local_extra: Vec<u8>,
    central_extra: Vec<u8>,
    local_patches: Vec<Patch>,
    central_patches: Vec<Patch>,
    behind: Vec<u8>,
    unlisted: bool,
}

/// Returns an entry that is stored as it is.
pub fn stored(name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> ZipEntry {
    let content = content.as_ref();
    ZipEntry {
        name: name.as_ref().to_vec(),
        crc: crc32fast::hash(content),
        packed: content.to_vec(),
        size: u32::try_from(content.len()).expect("small"),
        attributes: 0o100_644 << 16,
        ..ZipEntry::default()
    }
}

/// Returns an entry that is deflated.
pub fn deflated(name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> ZipEntry {
    let packed = deflate(content.as_ref());
    ZipEntry { method: 8, packed, ..stored(name, content) }
}

/// Returns `content` as a raw deflate stream.
pub fn deflate(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).expect("to memory");
    encoder.finish().expect("to memory")
}

/// Returns `content` as a gzip member.
pub fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).expect("to memory");
    encoder.finish().expect("to memory")
}

impl ZipEntry {
    /// Gives it a mode with its type.
    pub fn mode(mut self, mode: u32) -> Self {
        self.attributes = mode << 16;
        self
    }

    /// Gives both headers these flags.
    pub fn flags(mut self, flags: u16) -> Self {
        self.flags = flags;
        self
    }

    /// Moves the checksum and the sizes behind the content.
    pub fn streamed(mut self) -> Self {
        let packed = u32::try_from(self.packed.len()).expect("small");
        self.behind =
            [&b"PK\x07\x08"[..], &self.crc.to_le_bytes(), &packed.to_le_bytes(), &self.size.to_le_bytes()]
                .concat();
        self.flags(8).local(14, [0; 12])
    }

    /// Replaces the bytes at `at` of the local header.
    pub fn local(mut self, at: usize, bytes: impl AsRef<[u8]>) -> Self {
        self.local_patches.push((at, bytes.as_ref().to_vec()));
        self
    }

    /// Replaces the bytes at `at` of the central header.
    pub fn central(mut self, at: usize, bytes: impl AsRef<[u8]>) -> Self {
        self.central_patches.push((at, bytes.as_ref().to_vec()));
        self
    }

    /// Replaces the bytes of a field that both headers have, by its place in the local one.
    pub fn both(self, at: usize, bytes: impl AsRef<[u8]> + Copy) -> Self {
        self.local(at, bytes).central(at + 2, bytes)
    }

    /// Adds an extra field to the local header.
    pub fn local_extra(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.local_extra.extend(bytes.as_ref());
        self
    }

    /// Adds an extra field to the central header.
    pub fn central_extra(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.central_extra.extend(bytes.as_ref());
        self
    }

    /// Puts bytes behind the content.
    pub fn behind(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.behind.extend(bytes.as_ref());
        self
    }

    /// Leaves it out of the directory.
    pub fn unlisted(mut self) -> Self {
        self.unlisted = true;
        self
    }

    /// The fields from the flags to the lengths, which both headers have alike.
    fn shared_fields(&self, extra: &[u8]) -> Vec<u8> {
        let packed = u32::try_from(self.packed.len()).expect("small");
        let mut bytes = Vec::new();
        for short in [20, self.flags, self.method, 0, 0] {
            bytes.extend(short.to_le_bytes());
        }
        for long in [self.crc, packed, self.size] {
            bytes.extend(long.to_le_bytes());
        }
        bytes.extend(short(self.name.len()));
        bytes.extend(short(extra.len()));
        bytes
    }
}

fn short(len: usize) -> [u8; 2] {
    u16::try_from(len).expect("small").to_le_bytes()
}

fn long(len: usize) -> [u8; 4] {
    u32::try_from(len).expect("small").to_le_bytes()
}

fn apply(bytes: &mut [u8], patches: &[Patch]) {
    for (at, patch) in patches {
        bytes[*at..at + patch.len()].copy_from_slice(patch);
    }
}

/// Returns a zip archive of `entries`.
pub fn zip(entries: &[ZipEntry]) -> Vec<u8> {
    zip_with(entries, b"", &[])
}

/// Returns a zip archive with a comment and with patches to its end record.
pub fn zip_with(entries: &[ZipEntry], comment: &[u8], patches: &[Patch]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    let mut count = 0;
    for entry in entries {
        let offset = bytes.len();
        let mut header = [&b"PK\x03\x04"[..], &entry.shared_fields(&entry.local_extra), &entry.name].concat();
        apply(&mut header, &entry.local_patches);
        bytes.extend([&header[..], &entry.local_extra, &entry.packed, &entry.behind].concat());
        if entry.unlisted {
            continue;
        }
        count += 1;
        let mut header = [&b"PK\x01\x02\x14\x03"[..], &entry.shared_fields(&entry.central_extra)].concat();
        header.extend([0; 6]);
        header.extend(entry.attributes.to_le_bytes());
        header.extend(long(offset));
        header.extend(&entry.name);
        apply(&mut header, &entry.central_patches);
        directory.extend([&header[..], &entry.central_extra].concat());
    }
    let mut end = [&b"PK\x05\x06\0\0\0\0"[..], &short(count), &short(count)].concat();
    end.extend([long(directory.len()), long(bytes.len())].concat());
    end.extend(short(comment.len()));
    apply(&mut end, patches);
    [bytes, directory, end, comment.to_vec()].concat()
}

/// A member of a tar archive.
#[derive(Clone)]
pub struct Member {
    name: Vec<u8>,
    kind: u8,
    mode: u32,
    content: Vec<u8>,
    link: Vec<u8>,
    patches: Vec<Patch>,
    late_patches: Vec<Patch>,
}

/// Returns a member of any kind.
pub fn member(kind: u8, name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Member {
    let (name, content) = (name.as_ref().to_vec(), content.as_ref().to_vec());
    Member { name, kind, mode: 0o644, content, link: vec![], patches: vec![], late_patches: vec![] }
}

/// Returns a symbolic link or hard link.
pub fn link(kind: u8, name: &str, target: &str) -> Member {
    Member { link: target.as_bytes().to_vec(), mode: 0o777, ..member(kind, name, "") }
}

/// Returns an extended header (`x`) or a global one (`g`).
pub fn pax(kind: u8, records: &[(&str, &str)]) -> Member {
    let mut content = Vec::new();
    for (key, value) in records {
        let body = key.len() + value.len() + 3;
        let len =
            (body + 1..body + 9).find(|len| body + len.to_string().len() == *len).expect("there is one");
        content.extend(format!("{len} {key}={value}\n").into_bytes());
    }
    member(kind, "PaxHeader", content)
}

impl Member {
    /// Gives it a mode.
    pub fn mode(mut self, mode: u32) -> Self {
        self.mode = mode;
        self
    }

    /// Replaces the bytes at `at` of the header; its checksum is right again afterwards.
    pub fn patch(mut self, at: usize, bytes: impl AsRef<[u8]>) -> Self {
        self.patches.push((at, bytes.as_ref().to_vec()));
        self
    }

    /// Replaces the bytes at `at` of the header and of what stands behind it.
    pub fn late_patch(mut self, at: usize, bytes: impl AsRef<[u8]>) -> Self {
        self.late_patches.push((at, bytes.as_ref().to_vec()));
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; 512];
        apply(
            &mut bytes,
            &[
                (0, self.name.clone()),
                (100, format!("{:07o}", self.mode).into_bytes()),
                (124, format!("{:011o}", self.content.len()).into_bytes()),
                (148, b"        ".to_vec()),
                (156, vec![self.kind]),
                (157, self.link.clone()),
                (257, b"ustar\x0000".to_vec()),
            ],
        );
        apply(&mut bytes, &self.patches);
        let sum: u64 = bytes.iter().map(|byte| u64::from(*byte)).sum();
        apply(&mut bytes, &[(148, format!("{sum:06o}\0 ").into_bytes())]);
        bytes.extend(&self.content);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
        apply(&mut bytes, &self.late_patches);
        bytes
    }
}

/// Returns a tar archive of `members`.
pub fn tar(members: &[Member]) -> Vec<u8> {
    let mut bytes: Vec<u8> = members.iter().flat_map(Member::bytes).collect();
    bytes.extend([0; 1024]);
    bytes
}
