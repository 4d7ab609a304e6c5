//! Sites that list their skills under `/.well-known/`.

use super::address::{self, Address, split_scheme};
use super::kind::{Compared, Foreign, NotExpressible, PatternForm, SourceFacts, SourceKind, Typed};
use super::{Origin, SourceSpec, SpecError};
use crate::digest::Digest;

/// A site that lists its skills.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site(pub Address);

impl SourceKind for Site {
    const KEYS: &'static [&'static str] = &["site"];
    /// None: a manifest names a site by `url`, which belongs to the kind for files.
    const MANIFEST_KEYS: &'static [&'static str] = &[];
    const PATTERN: PatternForm = PatternForm::Address;
    const FOREIGN_TYPES: &'static [&'static str] = &["well-known"];
    const TYPED: &'static [Typed] = &[
        (&["https://host", "https://host/team"], "a [site](#sites-that-list-their-skills)"),
        (&["https://host/@pdf", "https://host/team@pdf"], "the skill `pdf` of a site"),
        (&["https://host//pdf"], "the same by its path"),
        (&["site:https://host/x.zip"], "a site, where the address looks like a file"),
    ];

    fn read(_: &'static str, text: &str) -> Result<Self, SpecError> {
        Address::new(text).map(Self)
    }

    fn named(text: &str) -> Option<Result<SourceSpec, SpecError>> {
        Some(address::typed(text.strip_prefix("site:")?, |address| Self(address).into()))
    }

    fn recognized(text: &str) -> Option<Result<SourceSpec, SpecError>> {
        split_scheme(text).map(|_| address::typed(text, Origin::at))
    }

    fn from_foreign(source: &str, url: Option<&str>) -> Result<SourceSpec, String> {
        let spec = format!("site:{}", url.unwrap_or(source)).parse();
        spec.map_err(|error: SpecError| error.to_string())
    }
}

impl SourceFacts for Site {
    fn kind(&self) -> &'static str {
        "site"
    }

    fn written(&self) -> String {
        self.0.to_string()
    }

    /// Returns the bare address, unless it would be read as another source.
    fn typed(&self) -> String {
        let is_read_back = Origin::at(self.0.clone()) == Origin::from(self.clone());
        if is_read_back { self.0.to_string() } else { self.in_full() }
    }

    fn manifest(&self) -> (&'static str, String) {
        ("url", self.typed())
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
            Err(error) => Err(format!("the revision of a site is a digest: {error}")),
        }
    }

    fn compared(&self) -> Compared<'_> {
        Compared::Address(&self.0)
    }

    fn foreign(&self) -> Result<Foreign<'_>, NotExpressible> {
        let host = self.0.host();
        if ["github.com", "gitlab.com", "huggingface.co"].contains(&host) {
            return Err(NotExpressible::Kind("sites on hosts of repositories"));
        }
        Ok(Foreign {
            kind: "well-known",
            source: Some(host.strip_prefix("www.").unwrap_or(host).into()),
            url: Some(self.0.as_str().into()),
            in_repository: false,
        })
    }
}
