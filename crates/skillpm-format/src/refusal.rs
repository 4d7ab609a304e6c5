//! The reasons why bytes from outside are refused: the threat model as one enum.
//!
//! Every reader of foreign trees (archives, directories, later git) returns this type, so that one table of messages
//! and one test per variant cover them all.

use crate::path::PathError;
use crate::text::visible_name;

/// Why the content of an entry is not there: the kinds of a [`Node::Special`](crate::tree::Node::Special) of a git
/// repository that is not complete.
pub const ABSENT: [&str; 3] = [ABSENT_FILE, ABSENT_DIRECTORY, NOT_FETCHED];
/// A file is not in the repository.
pub const ABSENT_FILE: &str = "the repository lacks this file (`git fsck` there shows more)";
/// A directory is not in the repository, nor is what is below it.
pub const ABSENT_DIRECTORY: &str = "the repository lacks this directory (`git fsck` there shows more)";
/// A file was left out of a download.
pub const NOT_FETCHED: &str = "this file was not fetched, as it belongs to no skill";

/// A fault of an archive or a tree. Names are as in the archive and may contain control characters; the message has
/// them on one line, with nothing hidden.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    // The archive's structure.
    /// The bytes are of a different kind, such as an HTML page.
    #[error("this is not {expected}: it looks like {found}")]
    NotAnArchive {
        /// The expected kind, with its article: `a zip archive`.
        expected: &'static str,
        /// The kind of the first bytes: `an HTML page`.
        found: &'static str,
    },
    /// The archive ends too early.
    #[error("the archive is cut off: {0}")]
    Truncated(&'static str),
    /// Headers that contradict each other or the format.
    #[error("the archive is malformed: {}", visible_name(.0))]
    Malformed(String),
    /// The local header of an entry differs from the central directory.
    #[error("`{name}`: the two headers of this entry differ in {field}", name = visible_name(.name))]
    HeaderMismatch {
        /// The entry, by its name in the central directory.
        name: String,
        /// The field that differs.
        field: &'static str,
    },
    /// Bytes before, between or after the entries.
    #[error("the archive has bytes that belong to no entry: {0}")]
    StrayBytes(&'static str),
    /// Two entries share bytes.
    #[error("`{}`: this entry overlaps another one", visible_name(.0))]
    Overlap(String),
    /// A second archive is hidden in this one.
    #[error("the archive holds a second directory of entries in {0}")]
    SecondArchive(&'static str),
    /// A password is required.
    #[error("`{}`: this entry is encrypted", visible_name(.0))]
    Encrypted(String),
    /// A compression method other than stored and deflate, or a feature that no skill needs.
    #[error("`{name}`: {feature} is not supported", name = visible_name(.name))]
    Unsupported {
        /// The entry.
        name: String,
        /// The feature, as a noun.
        feature: String,
    },
    /// Compressed data that cannot be inflated, or that ends too early.
    #[error("`{}`: the compressed data is damaged", visible_name(.0))]
    BadData(String),
    /// The content does not match the checksum in the archive.
    #[error("`{}`: the content does not match its checksum", visible_name(.0))]
    BadChecksum(String),
    /// The content is longer or shorter than the archive says.
    #[error("`{name}`: {declared} bytes are declared, but the content has {actual}", name = visible_name(.name))]
    SizeMismatch {
        /// The entry.
        name: String,
        /// The size in the header.
        declared: u64,
        /// The actual size: for content that is too long, where reading stopped.
        actual: u64,
    },
    /// The commit in the archive's comment differs from the requested one.
    #[error("the archive is of commit {found}, but {expected} was requested")]
    WrongCommit {
        /// The requested commit.
        expected: String,
        /// The commit in the comment.
        found: String,
    },

    /// A file in the store does not match its name.
    #[error("`{}` does not match the digest in its name", visible_name(.0))]
    Damaged(String),

    // Names.
    /// A name that is not a safe path.
    #[error("`{name}`: this name is not allowed: {reason}", name = visible_name(.name))]
    Name {
        /// The name as in the archive.
        name: String,
        /// The rule that it breaks.
        reason: PathError,
    },
    /// A name that is not UTF-8, in its lossy form.
    #[error("`{}`: this name is not UTF-8", visible_name(.0))]
    NameEncoding(String),
    /// The same name twice.
    #[error("`{}`: this name appears twice", visible_name(.0))]
    Duplicate(String),
    /// Two names that are the same on a file system that folds case or normal forms.
    #[error("`{}` and `{}` are the same name on some file systems", visible_name(.0), visible_name(.1))]
    Collision(String, String),
    /// A name that is both a file and a directory.
    #[error("`{}`: this name is both a file and a directory", visible_name(.0))]
    FileAndDirectory(String),

    // Types.
    /// A symbolic link that does not lead to a regular file of the same skill.
    #[error("`{}`: this is a symbolic link that leads out of the skill or to no regular file", visible_name(.0))]
    Symlink(String),
    /// The skill's own `SKILL.md`, or the directory of the skill, is a symbolic link.
    #[error("`{}`: this is a symbolic link, it must be a real file", visible_name(.0))]
    SkillSymlink(String),
    /// A hard link, device, pipe or socket.
    #[error("`{name}`: {kind} is not allowed in a skill", name = visible_name(.name))]
    SpecialFile {
        /// The entry.
        name: String,
        /// The kind with its article: `a named pipe`.
        kind: &'static str,
    },
    /// A file or directory that the source names, but whose content is not there.
    #[error("`{name}`: {why}", name = visible_name(.name))]
    Absent {
        /// The entry.
        name: String,
        /// One of [`ABSENT`].
        why: &'static str,
    },

    // Sizes.
    /// The archive file itself is too large.
    #[error("the archive has more than {0} bytes")]
    ArchiveTooLarge(u64),
    /// Too many entries.
    #[error("there are {count} entries, {limit} are allowed")]
    TooManyEntries {
        /// The number of entries, as far as they were counted.
        count: u64,
        /// The maximum number.
        limit: u64,
    },
    /// Too many bytes once unpacked.
    #[error("the content has {size} bytes, {limit} are allowed")]
    TooLarge {
        /// The number of bytes, as far as they were counted.
        size: u64,
        /// The maximum number.
        limit: u64,
    },
    /// An entry that unpacks to many times its size.
    #[error("`{name}`: this entry unpacks to {ratio} times its size, {limit} times is allowed", name = visible_name(.name))]
    Ratio {
        /// The entry.
        name: String,
        /// The actual ratio.
        ratio: u64,
        /// The maximum ratio.
        limit: u64,
    },
}

impl Refusal {
    /// Returns the refusal of an entry that is neither a file nor a link: `kind` is that of its
    /// [`Node::Special`](crate::tree::Node::Special).
    pub fn special(name: String, kind: &'static str) -> Self {
        if ABSENT.contains(&kind) {
            Self::Absent { name, why: kind }
        } else {
            Self::SpecialFile { name, kind }
        }
    }
}

/// The limits beyond which an archive or a tree is refused.
///
/// The defaults leave room above everything in 50,102 real skills (largest skill 48 MB, most files 2,137, compression
/// ratio at the 99th percentile 11) and far above a repository of 10,000 skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the archive file.
    pub archive_bytes: u64,
    /// Entries in the archive, all kinds.
    pub archive_entries: u64,
    /// Unpacked bytes of the whole archive, as declared.
    pub archive_content: u64,
    /// Unpacked size over packed size of one entry; only counted above [`Limits::RATIO_FLOOR`].
    pub ratio: u64,
    /// Files in one skill.
    pub skill_files: u64,
    /// Bytes in one skill.
    pub skill_bytes: u64,
}

impl Limits {
    /// The size in bytes up to which an entry's compression ratio does not matter.
    pub const RATIO_FLOOR: u64 = 1024 * 1024;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            archive_bytes: 512 << 20,
            archive_entries: 200_000,
            archive_content: 4 << 30,
            ratio: 200,
            skill_files: 5_000,
            skill_bytes: 100 << 20,
        }
    }
}
