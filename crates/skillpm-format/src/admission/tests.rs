//! Tests of admission.

mod addresses;

use super::*;
use crate::manifest::{Manifest, PolicySettings};
use crate::spec::SourceSpec;

fn admission(files: &[(&str, &str)]) -> Admission {
    admission_at(Dirs::default(), files)
}

/// As [`admission`], of a manifest that counts paths from `dirs`.
fn admission_at(dirs: Dirs, files: &[(&str, &str)]) -> Admission {
    let mut admission = Admission::new(dirs);
    for (file, text) in files {
        let manifest = Manifest::parse(&format!("[policy]\n{text}")).expect(text);
        admission.add(file, manifest.policy(), &admission.dirs.clone()).expect(text);
    }
    admission
}

fn spec(text: &str) -> SourceSpec {
    text.parse().expect(text)
}

fn asked(spec: &SourceSpec) -> PolicySubject<'_> {
    PolicySubject { origin: &spec.origin, path: spec.path.as_deref(), reference: spec.reference.as_ref() }
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
        ("mcp:mcp.example.com/team", "mcp:https://mcp.example.com/team/mcp", true),
        ("mcp:mcp.example.com", "mcp:docs", false),
        ("mcp:docs", "mcp:docs//team/pdf", true),
        ("mcp:Docs", "mcp:docs", true),
        ("mcp:our-*", "mcp:our-docs", true),
        ("mcp:our-*", "mcp:docs", false),
        ("mcp:localhost", "mcp:http://localhost/mcp", true),
        ("mcp:docs/x", "mcp:docs", false),
        ("mcp:*", "mcp:docs", true),
        ("registry:docs", "mcp:docs", false),
        ("url:*.example.com", "https://files.example.com/x.zip", true),
        ("site:docs.example.com", "https://docs.example.com", true),
        ("npm:@acme", "npm:@acme/x", true),
        ("python:acme-*", "python:acme-skills", true),
        ("python:Demo_Pkg", "python:demo-pkg", true),
        ("python:demo.pkg", "python:demo__pkg", true),
        ("python:acme_*", "python:acme-skills", true),
        ("python:acme_*", "python:acme", false),
        ("python:*_skills", "python:acme.skills", true),
        ("python:demo_pkg/skills", "python:demo-pkg//skills/pdf", true),
        ("crate:demo-pkg", "crate:demo_pkg", true),
        // Names of npm and R that differ in that are two packages.
        ("npm:demo-pkg", "npm:demo_pkg", false),
        ("r:data.table", "r:datatable", false),
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
    // A bare name may be either, and only its author can say which.
    let spec = SourceSpec { reference: Some(Reference::Any("v1".into())), ..spec("acme/x") };
    let ruled = |pin: &str| {
        let admission = admission(&[("m", &format!("require-pin = \"{pin}\""))]);
        let decision = admission.source(asked(&spec)).remove(0);
        (decision.reason, decision.hint.map(|hint| hint.to_string()))
    };
    let hint = "if it is a tag, say so: `tag=v1`, or `tag` in `skillpm.toml`";
    assert_eq!(ruled("tag"), ("does not say whether `v1` is a tag or a branch".into(), Some(hint.into())));
    assert_eq!(ruled("commit"), ("is not pinned to a commit".into(), None));
    // A source without revisions cannot be pinned.
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
    // A release time in the future has not passed.
    assert_eq!(decide("o/r", Some(now + day)), reason(false, "was released only 0 minutes ago"));
    assert_eq!(decide("o/r", None), reason(false, "does not say when it was released"));
    assert_eq!(decide("acme/x", Some(now)), None);
    let pending = |source: &str| {
        let pending = admission.pending(asked(&spec(source)));
        pending.into_iter().map(|pending| pending.reason).collect::<Vec<_>>()
    };
    assert_eq!(pending("o/r"), ["must be at least 7 days old to be installed"]);
    assert!(pending("acme/x").is_empty() && pending("./x").is_empty());
    assert!(pending("url:https://h.example/x.zip").is_empty(), "it never tells its age");
    // Local sources are exempt, a repository like a directory.
    for source in ["./x", "npm:x", "git+./x", "file:///srv/x.git"] {
        assert_eq!(decide(source, None), None, "{source}");
    }
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
        ("deny = [\"acme/x\"]", "2:9: `acme/x` is not a source pattern"),
        ("deny = [\"hg:acme\"]", "2:9: `hg:` is not a kind of source"),
        ("deny = [\"github:a//b\"]", "2:9: `github:a//b` does not name a source"),
        ("deny = [\"github:a/../b\"]", "2:9: `github:a/../b` does not name a source"),
        ("deny = [\"git:bücher.example\"]", "2:9: `git:bücher.example` has no valid host"),
        ("deny = [\"git:git@h:22/x\"]", "2:9: `git:git@h:22/x` may mean a port or a directory"),
        (
            "deny = [\"git:h/../x\"]",
            "2:9: `git:h/../x` is ambiguous: `..` in its address leads above the root of the server",
        ),
        (
            "minimum-release-age = \"7\"",
            "2:23: `7` is not an age: expected a number and a unit, such as `7d`",
        ),
        (
            "minimum-release-age = \"99999999999999999w\"",
            "2:23: `99999999999999999w` is not an age: expected a number and a unit, such as `7d`",
        ),
        ("require-pin = \"branch\"", "2:15: `branch` is not a kind of pin: expected `tag` or `commit`"),
        ("audit = \"info\"", "2:9: `info` is not a threshold: expected `error` or `warning`"),
    ] {
        let manifest = Manifest::parse(&format!("[policy]\n{text}")).expect(text);
        let error = Admission::default().add("m", manifest.policy(), &Dirs::default()).expect_err(text);
        assert_eq!(error.to_string(), message);
    }
}

/// C18: the strictest file decides, in a file the list of what is denied before that of what is allowed.
#[test]
fn scripts_run_where_every_file_lets_them() {
    let answer = |files: &[(&str, &str)], source: &str, unsaid| {
        let spec = spec(source);
        match admission(files).scripts(asked(&spec), unsaid) {
            Permission::Allowed(because) => ("allow", because.to_string()),
            Permission::Ask(because) => ("ask", because.to_string()),
            Permission::Denied(because) => ("deny", because.to_string()),
        }
    };
    let unsaid = |scripts| answer(&[("m", "")], "acme/x", scripts);
    assert_eq!(unsaid(Scripts::Allow), ("allow", "no policy applies".to_owned()));
    assert_eq!(unsaid(Scripts::Deny), ("deny", "no policy applies".to_owned()));
    let (machine, user) = (("etc", "scripts = \"deny\""), ("m", "scripts = \"allow\""));
    let denied = ("deny", "etc:2:11: `scripts = \"deny\"` says so".to_owned());
    assert_eq!(answer(&[machine, user], "acme/x", Scripts::Allow), denied);
    assert_eq!(answer(&[user, machine], "acme/x", Scripts::Allow), denied);
    assert_eq!(answer(&[user, ("etc", "scripts = \"ask\"")], "acme/x", Scripts::Allow).0, "ask");
    assert_eq!(answer(&[user], "acme/x", Scripts::Deny).0, "allow", "a file that says so is enough");
    let unlisted = answer(&[("m", "scripts-allow = [\"npm:*\"]")], "acme/x", Scripts::Allow).1;
    let expected = "its source is not on the `scripts-allow` list, m:2:18: `scripts-allow = \"npm:*\"`";
    assert_eq!(unlisted, expected);
    for (text, source, expected) in [
        ("scripts-allow = [\"github:acme\"]", "acme/x", "allow"),
        ("scripts-allow = [\"github:acme\"]", "other/x", "deny"),
        ("scripts = \"ask\"\nscripts-allow = [\"github:acme\"]", "other/x", "ask"),
        ("scripts = \"deny\"\nscripts-allow = [\"github:acme\"]", "acme/x/pdf", "allow"),
        ("scripts-allow = [\"github:acme\"]\nscripts-deny = [\"github:acme/x\"]", "acme/x", "deny"),
        ("scripts-deny = [\"github:acme/x\"]", "acme/x", "deny"),
        ("scripts-deny = [\"github:acme/x\"]", "acme/y", "allow"),
        ("scripts-deny = [\"path:*\"]", "./x", "deny"),
    ] {
        assert_eq!(answer(&[("m", text)], source, Scripts::Allow).0, expected, "{text}: {source}");
    }
}

/// A stranger's project opens nothing.
#[test]
fn a_policy_opens_unix_sockets_to_scripts() {
    let spec = spec("acme/x");
    let text = "scripts-unix-sockets = [\"npm:*\", \"github:acme\"]";
    let line = |admission: &Admission| admission.unix_sockets(asked(&spec)).map(ToString::to_string);
    let expected = "etc:2:34: `scripts-unix-sockets = \"github:acme\"`";
    let mut opened = admission(&[("m", "scripts = \"allow\""), ("etc", text)]);
    assert_eq!(line(&opened).as_deref(), Some(expected));
    assert_eq!(line(&admission(&[("etc", "scripts-unix-sockets = [\"github:other\"]")])), None);
    let narrower = PolicySettings::parse("scripts-unix-sockets = [\"npm:*\"]").expect("is read");
    opened.add_project("p", &narrower, &Dirs::default()).expect("is added");
    assert!(line(&opened).is_some(), "and shuts nothing");
    assert_eq!(opened.lines().len(), 4);
    let mut project = admission(&[]);
    project
        .add_project("p", &PolicySettings::parse(text).expect("is read"), &Dirs::default())
        .expect("is added");
    assert_eq!(line(&project), None);
}

/// C18: where scripts are off by default, a stranger's project cannot turn them on.
#[test]
fn a_project_lets_no_script_run_that_would_not_run_without_it() {
    let spec = spec("acme/x");
    let answer = |machine: &str, project: &str, unsaid| {
        let mut admission = admission(&[("etc", machine)]);
        let manifest = Manifest::parse(&format!("[policy]\n{project}")).expect(project);
        admission.add_project("p", manifest.policy(), &Dirs::default()).expect(project);
        admission.scripts(asked(&spec), unsaid)
    };
    let project = |line: &str| ScriptsReason {
        line: Some(Line { file: "p".to_owned(), line: 2, column: 11, text: line.to_owned() }),
        unlisted: false,
    };
    let allow = "scripts = \"allow\"";
    assert_eq!(answer("", allow, Scripts::Deny), Permission::Denied(ScriptsReason::default()));
    assert_eq!(
        answer("", "scripts-allow = [\"*\"]", Scripts::Ask),
        Permission::Ask(ScriptsReason::default())
    );
    assert_eq!(answer("", allow, Scripts::Allow), Permission::Allowed(project(allow)));
    assert!(matches!(answer(allow, "", Scripts::Deny), Permission::Allowed(_)));
    let deny = "scripts = \"deny\"";
    assert_eq!(answer(allow, deny, Scripts::Allow), Permission::Denied(project(deny)));
}

#[test]
fn a_word_that_says_nothing_of_scripts_is_an_error_with_its_place() {
    for (text, message) in [
        ("scripts = \"yes\"", "2:11: `yes` is not a setting for scripts: expected `deny`, `ask` or `allow`"),
        ("scripts-deny = [\"acme\"]", "2:17: `acme` is not a source pattern"),
    ] {
        let manifest = Manifest::parse(&format!("[policy]\n{text}")).expect(text);
        let error = Admission::default().add("m", manifest.policy(), &Dirs::default()).expect_err(text);
        assert_eq!(error.to_string(), message);
    }
}
