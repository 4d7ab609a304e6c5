//! The sources of skills: the table of their kinds.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use super::kind::{Kind, ReadTyped};
use super::{
    Address, Download, GitUrl, LocalPath, McpServer, OciRepository, Package, Registry, Repository, Site,
    SourceFacts, SourceSpec, SpecError,
};

/// Defines [`Origin`] and the table [`KINDS`] from rows, one for each kind of source: its name, and the type that
/// implements [`SourceKind`](super::SourceKind) and [`SourceFacts`].
macro_rules! kinds {
    ($($(#[$doc:meta])* $Kind:ident($Type:ty)),+ $(,)?) => {
        /// A source of skills.
        ///
        /// The methods of [`SourceFacts`] return the facts about it.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Origin {
            $($(#[$doc])* $Kind($Type)),+
        }

        /// All kinds of sources. Typed text belongs to the first kind that accepts it.
        pub static KINDS: &[Kind] = &[$(Kind::of::<$Type>()),+];

        impl Deref for Origin {
            type Target = dyn SourceFacts;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$Kind(it) => it),+
                }
            }
        }

        $(
            impl From<$Type> for Origin {
                fn from(it: $Type) -> Self {
                    Self::$Kind(it)
                }
            }

            impl TryFrom<Origin> for $Type {
                type Error = Origin;

                fn try_from(origin: Origin) -> Result<Self, Origin> {
                    match origin {
                        Origin::$Kind(it) => Ok(it),
                        other => Err(other),
                    }
                }
            }
        )+
    };
}

kinds! {
    /// A repository on GitHub or a GitHub Enterprise server.
    GitHub(Repository),
    /// Any other git repository.
    Git(GitUrl),
    /// A file on the network: an archive, or a single `SKILL.md`.
    Download(Download),
    /// A registry: skills with versions.
    Registry(Registry),
    /// A repository of an OCI registry.
    Oci(OciRepository),
    /// An MCP server that offers skills.
    Mcp(McpServer),
    /// A site that lists its skills under `/.well-known/`.
    Site(Site),
    /// A directory or archive on this machine, as typed.
    Local(LocalPath),
    /// The skills in an installed package of another language.
    Package(Package),
}

impl Origin {
    /// Returns the path `path` on this machine as a source.
    pub fn local(path: impl Into<String>) -> Self {
        LocalPath(path.into()).into()
    }

    /// Returns the source at the address `address`: a file if its path has the extension of one, otherwise a site.
    pub fn at(address: Address) -> Self {
        if address.is_file() { Download(address).into() } else { Site(address.site()).into() }
    }

    /// Returns the same source on the host `default`, if it can be on several hosts and none was named.
    #[must_use]
    pub fn or_on_host(self, default: &str) -> Self {
        self.on_host(default).unwrap_or(self)
    }
}

/// Returns the kind and the key whose text before the colon in lockfiles and in patterns of policies is `key`.
pub fn kind_of_key(key: &str) -> Option<(&'static Kind, &'static str)> {
    KINDS.iter().find_map(|kind| Some((kind, *kind.keys.iter().find(|known| **known == key)?)))
}

/// Returns all keys before the colon in lockfiles and in patterns of policies.
pub fn source_keys() -> impl Iterator<Item = &'static str> {
    KINDS.iter().flat_map(|kind| kind.keys.iter().copied())
}

/// Returns typed text as a source, according to the table of kinds. Returns `None` if no kind accepts it.
pub(super) fn recognize(text: &str, how: fn(&Kind) -> ReadTyped) -> Option<Result<SourceSpec, SpecError>> {
    KINDS.iter().find_map(|kind| how(kind)(text))
}

/// Writes the form in lockfiles: `github:owner/repo`, `git:https://host/repo.git`, `path:./skills`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind(), self.written())
    }
}

impl FromStr for Origin {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let unsupported = || SpecError::Unsupported(text.to_owned());
        let (key, rest) = text.split_once(':').ok_or_else(unsupported)?;
        let (kind, key) = kind_of_key(key).ok_or_else(unsupported)?;
        (kind.read)(key, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PUBLIC_HOST, Typed};
    use super::*;

    #[test]
    fn kinds_and_addresses() {
        let cases = [
            ("github:acme/skills", "github", Some("https://github.com/acme/skills")),
            ("github:ghe.example.com/acme/skills", "github", Some("https://ghe.example.com/acme/skills")),
            ("git:https://h/r.git", "git", Some("https://h/r.git")),
            ("url:https://h/x.zip", "url", Some("https://h/x.zip")),
            ("site:https://h", "site", Some("https://h")),
            ("registry:https://h/x", "registry", Some("https://h/x")),
            ("registry:./x", "registry", None),
            ("oci:h/x", "oci", Some("https://h/x")),
            ("mcp:https://h/mcp", "mcp", Some("https://h/mcp")),
            ("mcp:docs", "mcp", None),
            ("npm:@s/x", "npm", None),
            ("crate:x", "crate", None),
            ("path:./x", "path", None),
        ];
        for (text, kind, address) in cases {
            let origin: Origin = text.parse().expect(text);
            assert_eq!(origin.kind(), kind, "{text}");
            assert_eq!(origin.address().as_deref(), address, "{text}");
            assert_eq!(origin.to_string(), text);
        }
    }

    /// Rows do not get into each other's way: a key leads to one of them, and what can be typed to the row it stands in.
    #[test]
    fn each_kind_has_keys_and_forms_of_its_own() {
        let keys: Vec<_> = source_keys().collect();
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key), "`{key}` leads to two kinds");
        }
        for kind in KINDS {
            assert!(!kind.keys.is_empty() && !kind.typed.is_empty(), "{kind:?}");
            for text in kind.typed.iter().flat_map(|(texts, _)| *texts) {
                let origin = text.parse::<SourceSpec>().expect(text).origin.or_on_host(PUBLIC_HOST);
                assert!(kind.keys.contains(&origin.kind()), "{text} is {origin}");
                assert_eq!(origin.to_string().parse(), Ok(origin), "{text}");
            }
        }
    }

    #[test]
    fn the_reference_page_lists_what_can_be_typed() {
        let row = |(texts, meaning): &Typed| format!("| `{}` | {meaning} |\n", texts.join("`, `"));
        let rows: String = KINDS.iter().flat_map(|kind| kind.typed).map(row).collect();
        let table = format!("| what you type | what it means |\n| --- | --- |\n{rows}");
        skillpm_testing::check_reference("sources.md", &table);
    }
}
