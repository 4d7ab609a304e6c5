//! MCP servers that offer skills.

use super::address::{self, Address};
use super::kind::{Compared, PatternForm, SourceFacts, SourceKind, Typed};
use super::{SourceSpec, SpecError};
use crate::digest::Digest;

/// An MCP server that is reached over HTTP.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct McpServer(pub Address);

impl SourceKind for McpServer {
    const KEYS: &'static [&'static str] = &["mcp"];
    const MANIFEST_KEYS: &'static [&'static str] = &["mcp"];
    const EXAMPLE: Option<&'static str> = Some("mcp = \"https://host/mcp\"");
    const PATTERN: PatternForm = PatternForm::Address;
    const TYPED: &'static [Typed] = &[
        (&["mcp:https://host/mcp"], "the skills of an [MCP server](#mcp-servers)"),
        (&["mcp:https://host/mcp@pdf"], "the skill `pdf` of an MCP server"),
        (&["mcp:https://host/mcp//team/pdf"], "the same by its path: that of `skill://team/pdf/SKILL.md`"),
    ];

    fn read(_: &'static str, text: &str) -> Result<Self, SpecError> {
        Address::new(text).map(Self)
    }

    fn named(text: &str) -> Option<Result<SourceSpec, SpecError>> {
        Some(address::typed(text.strip_prefix("mcp:")?, |address| Self(address).into()))
    }
}

impl SourceFacts for McpServer {
    fn kind(&self) -> &'static str {
        "mcp"
    }

    fn written(&self) -> String {
        self.0.to_string()
    }

    fn web_address(&self) -> Option<&Address> {
        Some(&self.0)
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
        Compared::Address(&self.0)
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
        ] {
            assert!(text.parse::<SourceSpec>().is_err(), "{text}");
        }
        let secret = "mcp:https://me:s3cret@h/mcp".parse::<SourceSpec>();
        assert_eq!(secret, Err(SpecError::Credentials));
    }

    proptest! {
        #[test]
        fn specifications_come_back(text in "(/|//|@|#|%|:|a|b\\.c|é| ){0,12}") {
            if let Ok(spec) = format!("mcp:https://h{text}").parse::<SourceSpec>() {
                prop_assert_eq!(spec.to_string().parse(), Ok(spec.clone()), "{:?}", spec);
            }
        }
    }
}
