//! Tests of admission.

use super::*;
use crate::manifest::Manifest;
use crate::spec::SourceSpec;

fn admission(files: &[(&str, &str)]) -> Admission {
    let mut admission = Admission::default();
    for (file, text) in files {
        let manifest = Manifest::parse(&format!("[policy]\n{text}")).expect(text);
        admission.add(file, manifest.policy()).expect(text);
    }
    admission
}

fn spec(text: &str) -> SourceSpec {
    text.parse().expect(text)
}

fn asked(spec: &SourceSpec) -> Asked<'_> {
    Asked { origin: &spec.origin, path: spec.path.as_deref(), reference: spec.reference.as_ref() }
}

/// Whether all files admit the source, and the line that refused it.
fn verdict(admission: &Admission, text: &str) -> Result<(), String> {
    let spec = spec(text);
    let refused = admission.source(asked(&spec)).into_iter().find(|decision| !decision.admitted);
    refused.map_or(Ok(()), |decision| Err(decision.line.to_string()))
}

#[test]
fn patterns_mean_a_source_and_what_is_below() {
    let cases = [
        ("github:acme", "acme/skills", true),
        ("github:acme", "Acme/Skills/pdf#v1", true),
        ("github:acme", "acme2/skills", false),
        ("github:acme/skills", "acme/skills/pdf", true),
        ("github:acme/skills/pdf", "acme/skills", false),
        ("github:acme/*-skills", "acme/our-skills", true),
        ("github:acme/*-skills", "acme/our-tools", false),
        ("github:*", "acme/x", true),
        ("github:ghe.example.com/acme", "github:ghe.example.com/acme/x", true),
        ("github:acme", "git+https://github.com/Acme/x", true),
        ("github:acme", "ssh://git@github.com/acme/x.git", true),
        ("github:acme", "https://codeload.github.com/acme/x/zip/main.zip", true),
        ("github:acme", "https://raw.githubusercontent.com/acme/x/main/SKILL.md", true),
        ("github:acme/y", "https://api.github.com/repos/acme/x/x.zip", false),
        ("git:git.example.com/team", "ssh://git@git.example.com/team/x.git", true),
        ("git:git.example.com/team", "git@git.example.com:team/x.git", true),
        ("git:git@git.example.com:team/x.git", "https://git.example.com/team/x.git", true),
        ("git:git.example.com/team", "https://git.example.com/other/x.git", false),
        ("git:git.example.com:8443", "https://git.example.com:8443/x.git", true),
        ("url:*.example.com", "https://files.example.com/x.zip", true),
        ("site:docs.example.com", "https://docs.example.com", true),
        ("npm:@acme", "npm:@acme/x", true),
        ("python:acme-*", "python:acme-skills", true),
        ("*", "npm:x", true),
    ];
    for (pattern, source, matches) in cases {
        let denying = admission(&[("m", &format!("deny = [\"{pattern}\"]"))]);
        assert_eq!(verdict(&denying, source).is_err(), matches, "{pattern} {source}");
        let allowing = admission(&[("m", &format!("allow = [\"{pattern}\"]"))]);
        assert_eq!(verdict(&allowing, source).is_ok(), matches, "{pattern} {source}");
    }
}

#[test]
fn no_file_can_loosen_another() {
    let both = admission(&[
        ("/etc/policy", "allow = [\"github:acme\"]\ndeny = [\"github:acme/bad\"]"),
        ("skillpm.toml", "allow = [\"*\"]"),
    ]);
    assert_eq!(verdict(&both, "acme/good"), Ok(()));
    assert_eq!(verdict(&both, "acme/bad"), Err("/etc/policy:3:9: `deny = \"github:acme/bad\"`".to_owned()));
    assert_eq!(verdict(&both, "other/x"), Err("/etc/policy:2:10: `allow = \"github:acme\"`".to_owned()));
    let tighter =
        admission(&[("/etc/policy", "deny = [\"npm:*\"]"), ("skillpm.toml", "allow = [\"path:*\"]")]);
    assert!(verdict(&tighter, "acme/x").is_err());
    assert_eq!(verdict(&tighter, "./x"), Ok(()));
    assert!(verdict(&tighter, "npm:x").is_err());
}

#[test]
fn pins() {
    let commit = "0123456789abcdef0123456789abcdef01234567";
    for (pin, reference, admitted) in [
        ("commit", None, false),
        ("commit", Some(Reference::Tag("v1".into())), false),
        ("tag", Some(Reference::Tag("v1".into())), true),
        ("tag", Some(Reference::Branch("main".into())), false),
        ("tag", Some(Reference::Any("v1".into())), false),
        ("commit", Some(Reference::Any(commit.into())), true),
        ("commit", Some(Reference::Rev(commit.into())), true),
    ] {
        let admission = admission(&[("m", &format!("require-pin = \"{pin}\""))]);
        let spec = SourceSpec { reference, ..spec("acme/x") };
        assert_eq!(admission.source(asked(&spec))[0].admitted, admitted, "{pin} {:?}", spec.reference);
    }
    // What has no revisions cannot be pinned to one.
    assert_eq!(verdict(&admission(&[("m", "require-pin = \"commit\"")]), "./x"), Ok(()));
}

#[test]
fn ages() {
    let text = "minimum-release-age = \"7d\"\nminimum-release-age-exclude = [\"github:acme\"]";
    let admission = admission(&[("m", text)]);
    let now = 1_000_000_000;
    let day = 86_400;
    let decide = |source: &str, released: Option<i64>| {
        admission
            .release(asked(&spec(source)), released, now)
            .into_iter()
            .map(|d| (d.admitted, d.reason))
            .next()
    };
    let reason = |admitted, text: &str| Some((admitted, text.to_owned()));
    assert_eq!(decide("o/r", Some(now - 8 * day)), reason(true, "was released 8 days ago"));
    assert_eq!(decide("o/r", Some(now - day)), reason(false, "was released only 1 day ago"));
    // A time in the future is none that has passed.
    assert_eq!(decide("o/r", Some(now + day)), reason(false, "was released only 0 minutes ago"));
    assert_eq!(decide("o/r", None), reason(false, "does not tell when it was released"));
    assert_eq!(decide("acme/x", Some(now)), None);
    assert_eq!(decide("./x", None), None);
}

#[test]
fn the_strictest_audit_counts() {
    let both = admission(&[("a", "audit = \"error\""), ("b", "audit = \"warning\"")]);
    let (line, severity) = both.audit().expect("a threshold");
    assert_eq!((line.file.as_str(), severity), ("b", Severity::Warning));
    assert!(admission(&[("a", "")]).audit().is_none());
    assert!(admission(&[("a", "")]).lines().is_empty());
}

#[test]
fn wrong_values_are_told_with_their_place() {
    for (text, message) in [
        ("deny = [\"acme/x\"]", "2:9: `acme/x` is no pattern of sources"),
        ("deny = [\"hg:acme\"]", "2:9: `hg:` is no kind of source"),
        ("deny = [\"github:a//b\"]", "2:9: `github:a//b` names no source"),
        ("minimum-release-age = \"7\"", "2:23: `7` is no age: a number and a unit such as `7d` are expected"),
        (
            "minimum-release-age = \"99999999999999999w\"",
            "2:23: `99999999999999999w` is no age: a number and a unit such as `7d` are expected",
        ),
        ("require-pin = \"branch\"", "2:15: `branch` is no kind of pin: `tag` or `commit` is expected"),
        ("audit = \"info\"", "2:9: `info` is no threshold: `error` or `warning` is expected"),
    ] {
        let manifest = Manifest::parse(&format!("[policy]\n{text}")).expect(text);
        let error = Admission::default().add("m", manifest.policy()).expect_err(text);
        assert_eq!(error.to_string(), message);
    }
}
