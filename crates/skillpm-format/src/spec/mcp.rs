//! MCP servers that offer skills.

use super::address::{self, Address};
use super::kind::{Compared, PatternForm, SourceFacts, SourceKind, Typed};
use super::{
    SourceSpec, SpecError, is_registry_name, skill_name, split_directory, split_suffixes, subdirectory,
};
use crate::digest::Digest;

/// An MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum McpServer {
    /// A server that is reached over HTTP.
    Web(Address),
    /// A program that serves on its standard input and output, by its name in `[mcp]` of the user's manifest.
    Program(String),
}

impl McpServer {
    /// Returns its host, or the name of the program.
    pub fn name(&self) -> &str {
        match self {
            Self::Web(address) => address.host(),
            Self::Program(name) => name,
        }
    }
}

/// Reports whether `text` can be the name of a program in `[mcp]`. The rule is that of names in `[registries]`.
pub fn is_program_name(text: &str) -> bool {
    is_registry_name(text)
}

impl SourceKind for McpServer {
    const KEYS: &'static [&'static str] = &["mcp"];
    const MANIFEST_KEYS: &'static [&'static str] = &["mcp"];
    const EXAMPLE: Option<&'static str> = Some("mcp = \"https://host/mcp\"");
    const PATTERN: PatternForm = PatternForm::AddressOrName;
    const TYPED: &'static [Typed] = &[
        (&["mcp:https://host/mcp"], "the skills of an [MCP server](#mcp-servers)"),
        (&["mcp:https://host/mcp@pdf"], "the skill `pdf` of an MCP server"),
        (&["mcp:https://host/mcp//team/pdf"], "the same by its path: that of `skill://team/pdf/SKILL.md`"),
        (
            &["mcp:docs@pdf"],
            "the skill `pdf` of an MCP server that is a [program](#programs-as-mcp-servers), by its name in your own manifest",
        ),
    ];

    fn read(_: &'static str, text: &str) -> Result<Self, SpecError> {
        if is_program_name(text) {
            Ok(Self::Program(text.to_owned()))
        } else if text.contains("://") {
            Address::new(text).map(Self::Web)
        } else {
            Err(SpecError::BadServer(text.to_owned()))
        }
    }

    fn named(text: &str) -> Option<Result<SourceSpec, SpecError>> {
        text.strip_prefix("mcp:").map(typed)
    }
}

/// Reads `URL//directory@skill` or `NAME//directory@skill`.
fn typed(text: &str) -> Result<SourceSpec, SpecError> {
    if text.contains("://") {
        return address::typed(text, |address| McpServer::Web(address).into());
    }
    let (rest, reference, skill) = split_suffixes(text);
    if reference.is_some() {
        return Err(SpecError::NoRevisions(rest.to_owned()));
    }
    let (place, path) = split_directory(rest);
    Ok(SourceSpec {
        origin: McpServer::read("mcp", place)?.into(),
        path: subdirectory(path)?,
        reference: None,
        skill: skill.map(skill_name).transpose()?,
    })
}

impl SourceFacts for McpServer {
    fn kind(&self) -> &'static str {
        "mcp"
    }

    fn written(&self) -> String {
        match self {
            Self::Web(address) => address.to_string(),
            Self::Program(name) => name.clone(),
        }
    }

    fn web_address(&self) -> Option<&Address> {
        match self {
            Self::Web(address) => Some(address),
            Self::Program(_) => None,
        }
    }

    fn delivers_each(&self) -> bool {
        true
    }

    fn check_revision(&self, revision: &str) -> Result<(), String> {
        match revision.parse::<Digest>() {
            Ok(_) => Ok(()),
            Err(error) => Err(format!(
                "the revision of a skill of an MCP server is the digest of its list of files: {error}"
            )),
        }
    }

    fn compared(&self) -> Compared<'_> {
        match self {
            Self::Web(address) => Compared::Address(address),
            Self::Program(name) => Compared::Name(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn servers_and_their_skills() {
        let cases = [
            ("mcp:https://H.example:443/mcp/", "mcp:https://h.example/mcp", None, None),
            ("mcp:https://h/mcp@pdf", "mcp:https://h/mcp", None, Some("pdf")),
            ("mcp:https://h/@pdf", "mcp:https://h", None, Some("pdf")),
            (
                "mcp:http://127.0.0.1:8000/mcp//team/pdf",
                "mcp:http://127.0.0.1:8000/mcp",
                Some("team/pdf"),
                None,
            ),
            ("mcp:https://h/mcp//repo:/team/pdf", "mcp:https://h/mcp", Some("repo:/team/pdf"), None),
            ("mcp:https://h/mcp//gr%C3%B6%C3%9Fe", "mcp:https://h/mcp", Some("gr%C3%B6%C3%9Fe"), None),
            ("mcp:docs", "mcp:docs", None, None),
            ("mcp:docs@pdf", "mcp:docs", None, Some("pdf")),
            ("mcp:docs//team/pdf", "mcp:docs", Some("team/pdf"), None),
            ("mcp:docs//repo:/team/pdf", "mcp:docs", Some("repo:/team/pdf"), None),
        ];
        for (text, origin, path, skill) in cases {
            let spec: SourceSpec = text.parse().expect(text);
            assert_eq!(spec.origin.to_string(), origin, "{text}");
            assert_eq!((spec.path.as_deref(), spec.skill.as_deref()), (path, skill), "{text}");
            assert_eq!(spec.to_string().parse(), Ok(spec), "{text}");
        }
    }

    #[test]
    fn what_is_no_server() {
        for text in [
            "mcp:",
            "mcp:host/mcp",
            "mcp:https://",
            "mcp:https://h/mcp#1",
            "mcp:https://h/mcp@",
            "mcp:file:///x",
            "mcp:Docs",
            "mcp:docs#1",
            "mcp:docs@",
            "mcp:docs//../x",
            "mcp:/docs",
            "mcp:x",
        ] {
            assert!(text.parse::<SourceSpec>().is_err(), "{text}");
        }
        assert_eq!("mcp:host/mcp".parse::<SourceSpec>(), Err(SpecError::BadServer("host/mcp".to_owned())));
        let secret = "mcp:https://me:s3cret@h/mcp".parse::<SourceSpec>();
        assert_eq!(secret, Err(SpecError::Credentials));
    }

    proptest! {
        #[test]
        fn specifications_come_back(text in "(/|//|@|#|%|:|a|b\\.c|é| ){0,12}") {
            for server in ["https://h", "docs"] {
                if let Ok(spec) = format!("mcp:{server}{text}").parse::<SourceSpec>() {
                    prop_assert_eq!(spec.to_string().parse(), Ok(spec.clone()), "{:?}", spec);
                }
            }
        }
    }
}
