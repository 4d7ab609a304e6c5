//! Files on the network: archives, and single `SKILL.md`s.

use super::address::{self, Address, split_scheme};
use super::kind::{Compared, Foreign, NotExpressible, PatternForm, SourceFacts, SourceKind, Typed};
use super::{Origin, SourceSpec, SpecError, github};

/// A file on the network.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Download(pub Address);

impl SourceKind for Download {
    const KEYS: &'static [&'static str] = &["url"];
    const MANIFEST_KEYS: &'static [&'static str] = &["url"];
    const EXAMPLE: Option<&'static str> = Some("url = \"https://host/skills.zip\"");
    const PATTERN: PatternForm = PatternForm::Address;
    const TYPED: &'static [Typed] = &[
        (&["https://host/skills.zip", "https://host/pdf/SKILL.md"], "a [file on the web](#files-on-the-web)"),
        (
            &["https://github.com/owner/repo/releases/download/v2/x.zip"],
            "a file of a release, or an archive of a repository on GitHub",
        ),
        (&["url:https://host/get?id=7"], "a file, where the address does not tell"),
        (&["https://host/x.zip//skills/pdf"], "a directory in an archive"),
        (&["https://host/x.zip@pdf"], "the skill `pdf` in an archive"),
    ];

    fn read(_: &'static str, text: &str) -> Result<Self, SpecError> {
        Address::new(text).map(Self)
    }

    /// Reads an address of a file or of a site, which share a key. A prefix `url:` or `site:` states which one it is.
    fn from_manifest(_: &'static str, text: &str) -> Result<Origin, SpecError> {
        match text.split_once(':') {
            Some(("url" | "site", _)) => text.parse(),
            _ => Address::new(text).map(Origin::at),
        }
    }

    fn named(text: &str) -> Option<Result<SourceSpec, SpecError>> {
        Some(address::typed(text.strip_prefix("url:")?, |address| Self(address).into()))
    }

    fn recognized(text: &str) -> Option<Result<SourceSpec, SpecError>> {
        if github::is_address(text) {
            return github::is_file(text).then(|| address::typed(text, |address| Self(address).into()));
        }
        // Errors in an address are reported by the kind that accepts all of them.
        split_scheme(text)?;
        let spec = address::typed(text, Origin::at).ok()?;
        spec.origin.is_file().then_some(Ok(spec))
    }
}

impl SourceFacts for Download {
    fn kind(&self) -> &'static str {
        "url"
    }

    fn written(&self) -> String {
        self.0.to_string()
    }

    /// Returns the bare address, unless it would be read as another kind.
    fn typed(&self) -> String {
        if self.0.is_file() { self.0.to_string() } else { self.in_full() }
    }

    fn manifest(&self) -> (&'static str, String) {
        ("url", self.typed())
    }

    fn web_address(&self) -> Option<&Address> {
        Some(&self.0)
    }

    fn is_file(&self) -> bool {
        true
    }

    fn check_revision(&self, _: &str) -> Result<(), String> {
        Err("a download has no `revision`".to_owned())
    }

    fn compared(&self) -> Compared<'_> {
        Compared::Address(&self.0)
    }

    fn foreign(&self) -> Result<Foreign<'_>, NotExpressible> {
        Err(NotExpressible::Kind("downloads"))
    }
}
