//! The claims of a statement, and the checks of its validity.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Deserializer};

use super::refused;
use crate::config::GITHUB;
use crate::digest::Digest;
use crate::error::Result;
use crate::registry::{Provenance, Timestamp, TrustedPublisher};

/// How far the clocks of the issuer and of this machine may be apart, in seconds.
const LEEWAY: i64 = 60;
/// The largest statement, in bytes.
const MAX_STATEMENT: usize = 16 << 10;

#[derive(Deserialize)]
pub(super) struct Header {
    pub(super) alg: String,
    pub(super) kid: String,
}

/// The members of a statement that count: those of GitHub's, and those of GitLab's.
#[derive(Deserialize)]
pub(super) struct Claims {
    pub(super) iss: String,
    pub(super) aud: Audience,
    pub(super) exp: i64,
    #[serde(default)]
    nbf: Option<i64>,
    #[serde(default)]
    iat: Option<i64>,
    #[serde(default)]
    pub(super) jti: Option<String>,
    #[serde(default, alias = "project_path")]
    repository: Option<String>,
    #[serde(default, alias = "project_id", deserialize_with = "text_or_number")]
    repository_id: Option<String>,
    #[serde(default, alias = "ci_config_ref_uri")]
    workflow_ref: Option<String>,
    #[serde(default)]
    environment: Option<String>,
    #[serde(default)]
    sha: Option<String>,
    #[serde(default)]
    server_url: Option<String>,
}

/// Reads an id, which issuers write as a text or as a number.
fn text_or_number<'de, D: Deserializer<'de>>(value: D) -> std::result::Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Id {
        Text(String),
        Number(u64),
    }
    Ok(Option::<Id>::deserialize(value)?.map(|id| match id {
        Id::Text(text) => text,
        Id::Number(number) => number.to_string(),
    }))
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Audience {
    One(String),
    Several(Vec<String>),
}

impl Audience {
    /// Reports whether `wanted` is the only audience of the statement.
    pub(super) fn is(&self, wanted: &str) -> bool {
        match self {
            Self::One(one) => one == wanted,
            // For several servers at once: any of them could use it at the others.
            Self::Several(all) => matches!(&all[..], [one] if one == wanted),
        }
    }
}

/// A statement that was checked, and not yet used.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(super) holder: (TrustedPublisher, Provenance),
    /// Identifies the statement, independent of its signature's encoding.
    pub(super) seen: Digest,
    pub(super) expires: i64,
}

impl Statement {
    /// Returns the workflow that the statement is about.
    pub(crate) fn publisher(&self) -> &TrustedPublisher {
        &self.holder.0
    }
}

/// Returns the claims, the header, what is signed, and the signature. Fails if the text is not a signed JSON Web Token.
pub(super) fn parts(statement: &str) -> Result<(Claims, Header, &[u8], Vec<u8>)> {
    let malformed = || refused("the statement is not a signed JSON Web Token");
    if statement.len() > MAX_STATEMENT {
        return Err(malformed());
    }
    let (signed, signature) = statement.rsplit_once('.').ok_or_else(malformed)?;
    let (header, claims) = signed.split_once('.').ok_or_else(malformed)?;
    let decode = |text: &str| BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| malformed());
    let header = serde_json::from_slice(&decode(header)?).map_err(|_| malformed())?;
    let claims = serde_json::from_slice(&decode(claims)?).map_err(|_| malformed())?;
    Ok((claims, header, signed.as_bytes(), decode(signature)?))
}

/// Checks that the claims are valid at `now`. Fails before and after their time.
pub(super) fn check_time(claims: &Claims, now: Timestamp) -> Result<()> {
    let now = now.seconds();
    if claims.exp <= now.saturating_sub(LEEWAY) {
        return Err(refused(format!(
            "the statement expired at {}, and here it is {}",
            Timestamp::new(claims.exp),
            Timestamp::new(now)
        ))
        .hint("the clock of this server or of the issuer may be wrong"));
    }
    let starts = claims.nbf.into_iter().chain(claims.iat).max();
    if let Some(starts) = starts.filter(|starts| *starts > now.saturating_add(LEEWAY)) {
        return Err(refused(format!(
            "the statement is not valid before {}, and here it is {}",
            Timestamp::new(starts),
            Timestamp::new(now)
        ))
        .hint("the clock of this server or of the issuer may be wrong"));
    }
    Ok(())
}

/// Returns the workflow that the claims describe, and the revision that it works on. Fails if a claim is missing, and for a
/// workflow of another repository.
pub(super) fn holder(issuer: &str, claims: Claims) -> Result<(TrustedPublisher, Provenance)> {
    let incomplete = || refused("the statement does not say which workflow of which repository it is about");
    let repository = claims.repository.ok_or_else(incomplete)?;
    let reference = claims.workflow_ref.ok_or_else(incomplete)?;
    // The name of a branch can have an `@` too, so the first one counts.
    let (path, _) = reference.split_once('@').ok_or_else(incomplete)?;
    // A reusable workflow runs the code of the repository that has it.
    let of_github = path.strip_prefix(&repository).and_then(|rest| rest.strip_prefix("/.github/workflows/"));
    // GitLab has its host before the path, and two slashes behind it.
    let of_gitlab =
        path.split_once('/').and_then(|(_, path)| path.strip_prefix(&repository)?.strip_prefix("//"));
    let workflow = of_github.or(of_gitlab).filter(|file| !file.contains('/'));
    let workflow = workflow
        .ok_or_else(|| refused("the workflow is one of another repository, or in a directory below"))?;
    let server = claims.server_url.as_deref().unwrap_or(issuer);
    let source = if issuer == GITHUB {
        format!("https://github.com/{repository}")
    } else {
        format!("{server}/{repository}")
    };
    let publisher =
        TrustedPublisher::new(issuer.to_owned(), repository, workflow.to_owned(), claims.environment)
            .and_then(|publisher| publisher.with_id(claims.repository_id))
            .map_err(|error| refused(error.to_string()))?;
    Ok((publisher, Provenance { source, revision: claims.sha }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes;
    use crate::config::GITHUB;

    fn claims(repository: &str, workflow_ref: &str) -> Claims {
        Claims {
            iss: GITHUB.to_owned(),
            aud: Audience::One("https://skills.example".to_owned()),
            exp: 1_000,
            nbf: None,
            iat: Some(900),
            jti: None,
            repository: Some(repository.to_owned()),
            repository_id: None,
            workflow_ref: Some(workflow_ref.to_owned()),
            environment: None,
            sha: Some("abc".to_owned()),
            server_url: None,
        }
    }

    #[test]
    fn a_job_is_that_of_a_workflow_of_its_own_repository() {
        let of = |repository: &str, workflow: &str| {
            holder(GITHUB, claims(repository, workflow)).map(|(publisher, _)| publisher.to_string())
        };
        let fine = of("acme/skills", "acme/skills/.github/workflows/publish.yml@refs/heads/main");
        assert_eq!(fine.ok().as_deref(), Some("publish.yml of acme/skills"));
        let gitlab = of("acme/skills", "gitlab.example/acme/skills//.gitlab-ci.yml@refs/heads/main");
        assert_eq!(gitlab.ok().as_deref(), Some(".gitlab-ci.yml of acme/skills"));
        let group = of("acme/a/skills", "gitlab.example/acme/a/skills//.gitlab-ci.yml@refs/heads/main");
        assert_eq!(group.ok().as_deref(), Some(".gitlab-ci.yml of acme/a/skills"));
        let branch = of("acme/skills", "acme/skills/.github/workflows/evil.yml@refs/heads/publish.yml@x");
        assert_eq!(branch.ok().as_deref(), Some("evil.yml of acme/skills"));
        for other in [
            "evil/skills/.github/workflows/publish.yml@refs/heads/main",
            "evil/x/acme/skills/.github/workflows/publish.yml@refs/heads/main",
            "acme/skills-of-others/.github/workflows/publish.yml@refs/heads/main",
            "acme/skills/.github/workflows/publish.yml",
            "acme/skills/.github/workflows/evil.yml/publish.yml@refs/heads/main",
            "gitlab.example/acme/skills//ci/publish.yml@refs/heads/main",
        ] {
            assert!(of("acme/skills", other).is_err(), "{other}");
        }
    }

    #[test]
    fn the_id_of_a_repository_is_a_text_or_a_number() {
        let id = |member: &str| {
            let text = format!(r#"{{"iss": "a", "aud": "b", "exp": 1{member}}}"#);
            serde_json::from_str::<Claims>(&text).ok().map(|claims| claims.repository_id)
        };
        assert_eq!(id(""), Some(None));
        assert_eq!(id(r#", "repository_id": null"#), Some(None));
        assert_eq!(id(r#", "repository_id": "74""#), Some(Some("74".to_owned())));
        assert_eq!(id(r#", "project_id": 74"#), Some(Some("74".to_owned())));
        assert_eq!(id(r#", "repository_id": -1.5"#), None);
        assert_eq!(id(r#", "repository_id": "1", "project_id": "2""#), None);
    }

    #[test]
    fn a_statement_is_valid_for_its_time() {
        let at = |now: i64| check_time(&claims("a/b", "a/b/c@d"), Timestamp::new(now)).is_ok();
        assert!(at(900) && at(999) && at(1_000 + LEEWAY - 1) && at(900 - LEEWAY));
        assert!(!at(1_000 + LEEWAY) && !at(900 - LEEWAY - 1) && !at(1_000 + 86_400) && !at(0));
    }

    #[test]
    fn a_statement_is_for_one_server() {
        let one = |text: &str| Audience::One(text.to_owned());
        let several = |texts: &[&str]| Audience::Several(texts.iter().map(|&text| text.to_owned()).collect());
        assert!(one("a").is("a") && several(&["a"]).is("a"));
        assert!(!one("b").is("a") && !several(&["a", "b"]).is("a") && !several(&[]).is("a"));
    }

    #[test]
    fn what_is_not_a_token_is_refused() {
        let long = "a".repeat(MAX_STATEMENT + 1);
        for text in ["", ".", "..", "a.b", "a.b.c", "e30.e30.", "e30.e30.e30", "!!.!!.!!", long.as_str()] {
            let error = parts(text).err();
            assert_eq!(
                error.map(|error| error.code().to_owned()).as_deref(),
                Some(codes::TOKEN_REFUSED),
                "{text:.20}"
            );
        }
    }
}
