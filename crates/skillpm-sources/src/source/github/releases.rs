//! Releases of a repository: made as a draft, given a file, and then published. A release that never changes again
//! ("immutable") must be made in this order.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{GitHub, TEXT_BYTES};
use crate::codes;
use crate::error::{Error, Result};
use crate::http::{Content, Credential, HttpError, Method, Request, Submitted, Upload, Url, encode, said};

/// The media type of the API.
const JSON: &str = "application/vnd.github+json";
/// The number of details that are repeated from a refusal.
const MOST_DETAILS: usize = 5;

/// A release to make.
#[derive(Debug, Clone, Copy)]
pub struct NewRelease<'a> {
    /// The tag, which is made with it unless it exists.
    pub tag: &'a str,
    /// The commit that the tag names: 40 hexadecimal digits.
    pub commit: &'a str,
    /// The title.
    pub title: &'a str,
    /// The text, in Markdown.
    pub text: &'a str,
    /// Whether it is a pre-release.
    pub is_prerelease: bool,
}

/// A release that only those who may write to the repository see.
#[derive(Debug, Clone)]
pub struct Draft {
    id: u64,
    /// Where files are sent to.
    upload: Url,
}

#[derive(Deserialize)]
struct RawRelease {
    id: u64,
    html_url: String,
    upload_url: String,
    draft: bool,
}

#[derive(Deserialize)]
struct RawAsset {
    size: u64,
    #[serde(default)]
    digest: Option<String>,
}

impl GitHub<'_> {
    /// Reports whether a published release has the tag `tag`.
    pub fn has_release(&self, tag: &str) -> Result<bool> {
        let url = self.url(&format!("releases/tags/{}", encode(tag)))?;
        let request = Request { accept: JSON, ..self.request(url) };
        match self.client.get_text(&request, TEXT_BYTES) {
            Ok(_) => Ok(true),
            Err(HttpError::Status { status: 404, .. }) => Ok(false),
            Err(error) => Err(self.explain(error, tag)),
        }
    }

    /// Makes the draft of `release`.
    ///
    /// # Errors
    ///
    /// Fails if the server refuses it, if the request fails, and for an address for files that is on a foreign host.
    pub fn create_draft(&self, release: &NewRelease<'_>) -> Result<Draft> {
        let body = json!({
            "tag_name": release.tag,
            "target_commitish": release.commit,
            "name": release.title,
            "body": release.text,
            "draft": true,
            "prerelease": release.is_prerelease,
        });
        let raw = self.change(Method::Post, self.url("releases")?, &body)?;
        match self.upload_address(&raw.upload_url) {
            Ok(upload) => Ok(Draft { id: raw.id, upload }),
            Err(error) => {
                let draft = Draft { id: raw.id, upload: self.api.clone() };
                Err(if self.discard(&draft) { error } else { error.hint(self.left_draft(release.tag)) })
            }
        }
    }

    /// Adds the zip archive `bytes` to `draft` as the file `name`.
    ///
    /// # Errors
    ///
    /// Fails if the server refuses it, if the request fails, and if the server has other bytes than were sent.
    pub fn attach(&self, draft: &Draft, name: &str, bytes: &[u8], digest: &str) -> Result<()> {
        let url = Url::parse(&format!("{}?name={}", draft.upload.secret_text(), encode(name)))?;
        let upload = Upload::new(Method::Post, url, "application/zip", Content::Bytes(bytes.into()));
        let body = self.submit(upload)?;
        let asset: RawAsset = serde_json::from_slice(&body).map_err(|_| self.no("a file of a release"))?;
        let is_other = asset.digest.is_some_and(|other| other != digest);
        if asset.size != bytes.len() as u64 || is_other {
            return Err(Error::integrity(format!(
                "`{}` has other bytes of `{name}` than were sent",
                draft.upload
            )));
        }
        Ok(())
    }

    /// Publishes `draft` and returns the address of its page.
    ///
    /// # Errors
    ///
    /// Fails if the server refuses it, and if the request fails. An answer that was lost is no failure if the release is
    /// published.
    pub fn publish_draft(&self, draft: &Draft) -> Result<String> {
        let raw = self.change(Method::Patch, self.draft_url(draft)?, &json!({ "draft": false }));
        match raw {
            Ok(raw) if !raw.draft => Ok(raw.html_url),
            Ok(_) => Err(self.no("a published release")),
            Err(error) => match self.release(draft) {
                Some(raw) if !raw.draft => Ok(raw.html_url),
                _ => Err(error),
            },
        }
    }

    /// Deletes `draft` if it still is one, and reports whether it is gone.
    pub fn discard(&self, draft: &Draft) -> bool {
        let is_draft = self.release(draft).is_some_and(|raw| raw.draft);
        let delete = |url| self.submit(Upload::new(Method::Delete, url, JSON, Content::Bytes([].into())));
        is_draft && self.draft_url(draft).and_then(delete).is_ok()
    }

    /// Returns the sentence about the draft for `tag`, which may be left.
    pub fn left_draft(&self, tag: &str) -> String {
        format!(
            "a draft for `{tag}` may be left on the page of releases of `{}`: delete it there",
            self.repository
        )
    }

    /// Returns the hint for a missing or weak token.
    pub fn needs_token(&self) -> Error {
        Error::usage(format!("a release in `{}` needs a token", self.repository)).hint(self.write_hint())
    }

    /// Reports whether there is a token.
    pub fn has_token(&self) -> bool {
        self.settings.github.token.is_some()
    }

    fn draft_url(&self, draft: &Draft) -> Result<Url> {
        self.url(&format!("releases/{}", draft.id))
    }

    /// Returns the release that the server has now instead of `draft`, if the server answers.
    fn release(&self, draft: &Draft) -> Option<RawRelease> {
        let request = Request { accept: JSON, ..self.request(self.draft_url(draft).ok()?) };
        let answer = self.client.get_text(&request, TEXT_BYTES).ok()?;
        let crate::http::Answer::Text { text, .. } = answer else { return None };
        serde_json::from_str(&text).ok()
    }

    /// Sends `body` as JSON and returns the release that the server answers with.
    fn change(&self, method: Method, url: Url, body: &Value) -> Result<RawRelease> {
        let content = Content::Bytes(body.to_string().into_bytes().into());
        let body = self.submit(Upload::new(method, url, "application/json", content))?;
        serde_json::from_slice(&body).map_err(|_| self.no("a release"))
    }

    /// Sends `upload` with the token and returns the body of the answer.
    fn submit(&self, upload: Upload) -> Result<Vec<u8>> {
        let credential = self.credential(upload.url.origin());
        let upload = Upload { accept: JSON, credential: credential.clone(), ..upload };
        let said = self.client.submit(&upload).map_err(|error| match error {
            HttpError::Redirect { .. } => {
                Error::from(error).hint("if the repository was renamed, use the name that it has now")
            }
            error => self.limited(error),
        })?;
        if said.is_success() { Ok(said.body) } else { Err(self.refused(&said, credential.as_ref())) }
    }

    /// Returns the error for a request that changes something and was refused.
    fn refused(&self, answer: &Submitted, credential: Option<&Credential>) -> Error {
        let (repository, host) = (&self.repository, self.api.origin());
        let details = details(&answer.body, credential);
        let why = if details.is_empty() { String::new() } else { format!(": {}", details.join("; ")) };
        match answer.status {
            401 => self.bad_token(),
            403 => Error::network(format!("`{host}` does not allow a release in `{repository}`{why}"))
                .hint(self.write_hint()),
            404 => Error::network(format!(
                "the repository `{repository}` was not found, or the token may not write to it"
            ))
            .hint(self.write_hint()),
            422 => Error::usage(format!("`{host}` refuses the release in `{repository}`{why}")),
            status => Error::network(format!("`{host}` answered with status {status}{why}"))
                .coded(codes::HTTP_STATUS),
        }
    }

    fn write_hint(&self) -> String {
        self.token_hint("that may write the contents of the repository; `gh auth token` prints yours")
    }

    /// Returns the address for files from its template in an answer. Neither the archive nor the token goes to a host
    /// other than the server's own.
    fn upload_address(&self, template: &str) -> Result<Url> {
        let url = Url::parse(template.split('{').next().unwrap_or(template));
        let url = url.map_err(|_| self.no("a release with an address for files"))?;
        if url.has_query() || !takes_files_of(&self.api, &url) {
            let message =
                format!("`{}` wants the archive at `{url}`, which is another server", self.api.origin());
            return Err(Error::network(message)
                .coded(codes::REDIRECT_REFUSED)
                .hint("neither the archive nor the token is sent there; check `GITHUB_API_URL`"));
        }
        Ok(url)
    }
}

/// Reports whether `url` is where the server at `api` takes files: on its own origin, or on the host that GitHub has for
/// that.
fn takes_files_of(api: &Url, url: &Url) -> bool {
    let (api, other) = (api.origin(), url.origin());
    if api == other {
        return true;
    }
    let Some(rest) = api.host.strip_prefix("api.") else { return false };
    let is_github = rest == "github.com" || rest.ends_with(".ghe.com");
    let is_secure = api.https && other.https && other.port == api.port;
    is_github && is_secure && other.host.strip_prefix("uploads.") == Some(rest)
}

/// Returns what a refusal in JSON says: its message, and then what is wrong with which field.
fn details(body: &[u8], credential: Option<&Credential>) -> Vec<String> {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    let text = |value: &Value, key: &str| value[key].as_str().map(ToOwned::to_owned);
    let of_field = |error: &Value| {
        text(error, "message")
            .or_else(|| Some(format!("{}: {}", text(error, "field")?, text(error, "code")?)))
    };
    let errors = value["errors"].as_array().into_iter().flatten().filter_map(of_field);
    let all = text(&value, "message").into_iter().chain(errors);
    all.filter_map(|text| said(&text, credential)).take(MOST_DETAILS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_go_to_the_server_itself() {
        let takes = |api: &str, url: &str| {
            let url_of = |text| Url::parse(text).expect("an address");
            takes_files_of(&url_of(api), &url_of(url))
        };
        for (api, url) in [
            ("https://api.github.com", "https://uploads.github.com/repos/a/b/releases/1/assets"),
            ("https://api.acme.ghe.com", "https://uploads.acme.ghe.com/x"),
            ("https://ghe.example.com/api/v3", "https://ghe.example.com/api/uploads/x"),
            ("http://127.0.0.1:8000", "http://127.0.0.1:8000/x"),
        ] {
            assert!(takes(api, url), "{url}");
        }
        for (api, url) in [
            ("https://api.github.com", "https://uploads.github.com.evil.example/x"),
            ("https://api.github.com", "http://uploads.github.com/x"),
            ("https://api.github.com", "https://uploads.github.com:8443/x"),
            ("https://api.acme.ghe.com", "https://uploads.other.ghe.com/x"),
            ("https://api.example.com", "https://uploads.example.com/x"),
            ("http://127.0.0.1:8000", "http://127.0.0.1:8001/x"),
        ] {
            assert!(!takes(api, url), "{url}");
        }
    }

    #[test]
    fn a_refusal_says_what_is_wrong_and_no_secret() {
        let origin = Url::parse("https://api.github.com").expect("an address").origin();
        let credential = Credential::bearer(origin, "s3cret");
        let body = br#"{"message":"Validation Failed\n","errors":[{"resource":"Release","code":"already_exists","field":"tag_name"},
            {"code":"custom","message":"Published releases must have a valid tag"},{"message":"token s3cret"},7]}"#;
        let expected =
            ["Validation Failed", "tag_name: already_exists", "Published releases must have a valid tag"];
        assert_eq!(details(body, Some(&credential)), expected);
        assert_eq!(details(b"<html>", None), [] as [&str; 0]);
    }
}
