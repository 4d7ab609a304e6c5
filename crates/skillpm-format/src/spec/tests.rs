//! Tests of source specifications.

use proptest::prelude::*;

use super::*;

fn show(text: &str) -> String {
    let spec = text.parse::<SourceSpec>();
    if let Ok(spec) = &spec {
        // Of a revision its name is written, not whether it is a tag or a branch.
        let typed = spec.typed().parse::<SourceSpec>().map(|typed| typed.to_string());
        assert_eq!(typed, Ok(spec.to_string()), "{text}: {}", spec.typed());
    }
    spec.map_or_else(|e| format!("error: {e}"), |spec| spec.to_string())
}

/// The forms that other tools taught people (INTEROP, verbs and flags).
#[test]
fn forms() {
    let cases = [
        ("owner/repo", "github:owner/repo"),
        ("owner/repo/skills/pdf", "github:owner/repo/skills/pdf"),
        ("owner/repo/", "github:owner/repo"),
        ("owner/repo@pdf", "github:owner/repo@pdf"),
        ("owner/repo#v2", "github:owner/repo#v2"),
        ("https://github.com/owner/repo@pdf ?tab=readme", "github:github.com/owner/repo@pdf"),
        ("owner/repo#v2@pdf", "github:owner/repo#v2@pdf"),
        ("owner/repo#feature/x@pdf", "github:owner/repo#feature/x@pdf"),
        ("owner/repo#@scope/pkg", "github:owner/repo#@scope/pkg"),
        ("owner/repo#pkg@1.2.0", "github:owner/repo#pkg@1.2.0"),
        ("owner/repo#pkg@v2@pdf", "github:owner/repo#pkg@v2@pdf"),
        ("owner/repo/skills/pdf#v2@pdf", "github:owner/repo/skills/pdf#v2@pdf"),
        ("github:owner/repo.js", "github:owner/repo.js"),
        ("github:ghe.example.com/owner/repo/x", "github:ghe.example.com/owner/repo/x"),
        ("github.com/owner/repo@pdf", "github:github.com/owner/repo@pdf"),
        ("git@github.com:owner/repo.git", "github:github.com/owner/repo"),
        ("https://github.com/owner/repo", "github:github.com/owner/repo"),
        ("https://github.com/owner/repo.git#v1", "github:github.com/owner/repo#v1"),
        (
            "https://www.github.com/owner/repo/tree/main/skills/pdf",
            "github:github.com/owner/repo/skills/pdf#main",
        ),
        (
            "https://github.com/owner/repo/blob/main/skills/pdf/SKILL.md",
            "github:github.com/owner/repo/skills/pdf#main",
        ),
        ("https://github.com/owner/repo/tree/v1/a@b", "github:github.com/owner/repo/a@b/#v1"),
        (
            "https://github.com/owner/repo/tree/v1/My%20Skills/a%20b#usage",
            "github:github.com/owner/repo/My Skills/a b#v1",
        ),
        (
            "https://github.com/owner/repo/blob/f%2Fx/a/SKILL.md?plain=1#L3",
            "github:github.com/owner/repo/a#f/x",
        ),
        ("github.com/owner/repo/tree/v1/a", "github:github.com/owner/repo/a#v1"),
        ("gitlab.com/g/r/-/tree/v1/a", "git+https://gitlab.com/g/r.git//a#v1"),
        ("www.bitbucket.org/team/repo", "git+https://bitbucket.org/team/repo.git"),
        ("https://ghe.example.com/owner/repo", "github:ghe.example.com/owner/repo"),
        ("https://host.example/team/repo.git", "git+https://host.example/team/repo.git"),
        ("https://me@Host.example/team/repo.git#v1@pdf", "git+https://host.example/team/repo.git#v1@pdf"),
        ("https://host.example/repo.git/skills/pdf", "git+https://host.example/repo.git//skills/pdf"),
        ("https://host.example/repo.git//skills/pdf#v1", "git+https://host.example/repo.git//skills/pdf#v1"),
        ("git+https://host.example/team/repo//a", "git+https://host.example/team/repo//a"),
        ("ssh://git@host.example:2222/team/repo.git", "git+ssh://git@host.example:2222/team/repo.git"),
        ("git@host.example:team/repo.git@pdf", "git+git@host.example:team/repo.git@pdf"),
        ("git@host.example:repo", "git+git@host.example:repo"),
        ("git@github.example.com:team/repo.git", "git+git@github.example.com:team/repo.git"),
        ("file:///srv/repo.git//a#v1", "git+file:///srv/repo.git//a#v1"),
        ("git+./repo.git//a#v1@pdf", "git+./repo.git//a#v1@pdf"),
        ("gitlab:group/sub/repo//a/b#v1@pdf", "git+https://gitlab.com/group/sub/repo.git//a/b#v1@pdf"),
        ("https://gitlab.com/group/sub/repo", "git+https://gitlab.com/group/sub/repo.git"),
        ("https://gitlab.example.com/g/r/-/tree/v1/a%20b", "git+https://gitlab.example.com/g/r.git//a b#v1"),
        ("https://git.example.com/g/r/-/blob/v1/a/SKILL.md?x=1", "git+https://git.example.com/g/r.git//a#v1"),
        ("https://bitbucket.org/team/repo/src/v1/a/", "git+https://bitbucket.org/team/repo.git//a#v1"),
        ("https://codeberg.org/o/r/src/tag/v1/a", "git+https://codeberg.org/o/r.git//a#v1"),
        ("https://codeberg.org/o/r/src/branch/main/a/SKILL.md", "git+https://codeberg.org/o/r.git//a#main"),
        ("https://git.example.org/o/r/src/branch/main/SKILL.md", "git+https://git.example.org/o/r.git#main"),
        ("https://bitbucket.org/o/r/src/main/a/b/SKILL.md", "git+https://bitbucket.org/o/r.git//a/b#main"),
        ("https://dev.azure.com/o/p/_git/r?path=/a/SKILL.md", "git+https://dev.azure.com/o/p/_git/r//a"),
        ("https://codeberg.org/o/r#v1@pdf", "git+https://codeberg.org/o/r.git#v1@pdf"),
        ("https://git.example.com/o/r/src/branch/main/a", "git+https://git.example.com/o/r.git//a#main"),
        ("https://gitlab.com/g/r/-/archive/v1/r-v1.zip", "url:https://gitlab.com/g/r/-/archive/v1/r-v1.zip"),
        ("https://gitlab.com/g/r/-/raw/main/a/SKILL.md", "url:https://gitlab.com/g/r/-/raw/main/a/SKILL.md"),
        ("https://bitbucket.org/team/repo/get/v1.zip", "url:https://bitbucket.org/team/repo/get/v1.zip"),
        ("https://codeberg.org/o/r/archive/v1.zip", "url:https://codeberg.org/o/r/archive/v1.zip"),
        ("git@ssh.dev.azure.com:v3/org/proj/repo", "git+git@ssh.dev.azure.com:v3/org/proj/repo"),
        ("https://git.sr.ht/~me/repo.git", "git+https://git.sr.ht/~me/repo.git"),
        ("bitbucket:team/repo", "git+https://bitbucket.org/team/repo.git"),
        (
            "https://me@dev.azure.com/org/proj/_git/repo?path=%2Fskills%2Fpdf&version=GBmain",
            "git+https://dev.azure.com/org/proj/_git/repo//skills/pdf#main",
        ),
        ("https://docs.example.com", "site:https://docs.example.com"),
        ("https://Docs.example.com:8443/team/@pdf", "site:https://docs.example.com:8443/team@pdf"),
        ("https://host.example/a/all.zip@pdf", "url:https://host.example/a/all.zip@pdf"),
        ("https://host.example/a/SKILL.md?x=1", "url:https://host.example/a/SKILL.md?x=1"),
        ("url:https://host.example/get?id=1", "url:https://host.example/get?id=1"),
        ("url:https://host.example/get?id=a@b", "url:https://host.example/get?id=a@b"),
        ("https://host.example?x/-/_@-", "site:https://host.example?x/-/_@-"),
        ("owner/repo/a@b/", "github:owner/repo/a@b/"),
        ("owner/repo@pdf#v2", "github:owner/repo#v2@pdf"),
        ("owner/repo@pdf#pdf@1.2.0", "github:owner/repo#pdf@1.2.0@pdf"),
        ("https://host.example/team/repo.git@pdf#v1", "git+https://host.example/team/repo.git#v1@pdf"),
        ("git@host.example:team/x@y/", "git+git@host.example:team/x@y/"),
        ("https://host.example/pdf.md", "url:https://host.example/pdf.md"),
        ("https://host.example/.well-known/agent-skills/index.json@pdf", "site:https://host.example/@pdf"),
        ("https://host.example//pdf", "site:https://host.example//pdf"),
        (
            "https://github.com/o/r/archive/refs/tags/v1.zip",
            "url:https://github.com/o/r/archive/refs/tags/v1.zip",
        ),
        (
            "https://github.com/o/r/releases/download/v1/pdf.skill@pdf",
            "url:https://github.com/o/r/releases/download/v1/pdf.skill@pdf",
        ),
        ("site:http://localhost:8080/x.zip", "site:http://localhost:8080/x.zip"),
        ("python:some_Pkg.x@pdf", "python:some-pkg-x@pdf"),
        ("npm:@scope/pkg//skills/a@pdf", "npm:@scope/pkg//skills/a@pdf"),
        ("npm:@scope/pkg", "npm:@scope/pkg"),
        ("r:data.table", "r:data.table"),
        ("crate:serde_json", "crate:serde_json"),
        ("./a#b@c", "./a#b@c"),
        ("../a.zip", "../a.zip"),
        ("~/x", "~/x"),
        ("/x", "/x"),
    ];
    for (text, full) in cases {
        assert_eq!(show(text), full, "{text}");
        assert_eq!(show(full), full);
    }
}

/// An address that means the one kind by its form and is the other one says so, wherever it is kept.
#[test]
fn kinds_of_addresses_survive() {
    for text in [
        "https://h.example/x.zip",
        "https://h.example/docs",
        "url:https://h.example/get?id=1",
        "site:https://h.example/x.zip",
        "site:https://h.example/.well-known/skills",
    ] {
        let origin = text.parse::<SourceSpec>().expect(text).origin;
        assert_eq!(origin.typed(), text);
        assert_eq!(Download::from_manifest("url", text), Ok(origin), "{text}");
    }
}

#[test]
fn remotes_of_git() {
    let of =
        |url: &str| Repository::of_remote(url, "git.corp.example").map(|repository| repository.to_string());
    for url in [
        "https://github.com/acme/skills",
        "https://user:t0ken@GitHub.com/acme/skills.git/",
        "git@github.com:acme/skills.git",
        "ssh://git@ssh.github.com:443/acme/skills.git",
        "git://github.com/acme/skills",
    ] {
        assert_eq!(of(url).as_deref(), Some("acme/skills"), "{url}");
    }
    let own = Some("git.corp.example/acme/skills");
    assert_eq!(of("git@git.corp.example:acme/skills.git").as_deref(), own);
    for url in [
        "https://gitlab.com/acme/skills",
        "https://github.com/acme",
        "https://github.com/acme/skills/tree",
        "https://evil.example/github.com/acme/skills",
        "../skills",
        "/srv/github.com:acme/skills",
        "",
    ] {
        assert_eq!(of(url), None, "{url}");
    }
}

#[test]
fn each_error() {
    let error = |text: &str| text.parse::<SourceSpec>().expect_err(text);
    assert_eq!(error(" "), SpecError::Empty);
    assert_eq!(error("pdf"), SpecError::Word("pdf".into()));
    assert_eq!(error("ext::sh -c touch x"), SpecError::Unsupported("ext::sh -c touch x".into()));
    for secret in [
        "https://user:pw@github.com/o/r",
        "https://u:pw@host.example/r.git",
        "https://token@host.example/x.zip",
    ] {
        assert_eq!(error(secret), SpecError::Credentials, "{secret}");
    }
    for hostile in [
        "ssh://-oProxyCommand=x/repo",
        "ssh://git@-oProxyCommand=x/repo",
        "git+--upload-pack=x",
        "git@-oProxyCommand=x:repo",
        "-x@host:repo",
        "git@host:-x",
        "git+ext::sh -c x",
        "git+https://host.example",
        "git://host.example/repo",
        "file://",
        "https://",
        "https://host.example/a b",
        "https://host.example:99999/x.zip",
        "https://gitlab.com/group",
        "https://gitlab.com/group/repo/-/issues/1",
        "https://bitbucket.org/team/repo/pull-requests/1",
    ] {
        assert!(matches!(error(hostile), SpecError::Unsupported(_)), "{hostile}: {}", error(hostile));
    }
    assert_eq!(
        error("https://host.example/x.zip#v1"),
        SpecError::NoRevisions("https://host.example/x.zip".into())
    );
    assert_eq!(error("npm:x#v1"), SpecError::NoRevisions("npm:x#v1".into()));
    assert_eq!(error("npm:../x"), SpecError::BadPackage("../x".into(), "npm"));
    assert_eq!(error("r:2x"), SpecError::BadPackage("2x".into(), "r"));
    assert_eq!(error("https://host.example/r.git//../x"), SpecError::BadPath("../x".into()));
    assert_eq!(error("-x/repo"), SpecError::BadName("-x".into(), "owner"));
    assert_eq!(error("owner/.."), SpecError::BadName("..".into(), "name"));
    assert_eq!(error("owner/repo/../x"), SpecError::BadPath("../x".into()));
    assert_eq!(error("owner/repo/x /"), SpecError::BadPath("x ".into()));
    assert_eq!(error("owner/repo#-x"), SpecError::BadReference("-x".into()));
    assert_eq!(error("owner/repo#a..b"), SpecError::BadReference("a..b".into()));
    assert_eq!(error("owner/repo@"), SpecError::BadSkill);
    assert_eq!(error("oci://host/a#_@#"), SpecError::BadSkill);
}

proptest! {
    #[test]
    fn display_of_other_sources_reads_back(text in "(git\\+|url:|site:|python:|npm:@|gitlab:|https://|ssh://git@|git@|file:///)[a-z.:-]{1,8}(/[a-zA-Z0-9._-]{1,8}){0,3}(\\.git|\\.zip)?(//?[a-z. ]{1,4}){0,2}(#[a-z/@.]{1,8})?(@ ?[a-z-]{1,5})?/? {0,2}") {
        if let Ok(spec) = text.parse::<SourceSpec>() {
            prop_assert_eq!(spec.to_string().parse::<SourceSpec>(), Ok(spec.clone()), "{}", spec);
            let origin = spec.origin;
            prop_assert_eq!(origin.to_string().parse::<Origin>(), Ok(origin));
        }
    }

    #[test]
    fn display_reads_back(text in "(github:|https://github.com/|\\./)?[a-z.~-]{1,8}/[a-zA-Z0-9._-]{1,8}(/[a-z. ]{1,4}){0,3}(#[a-z/@.]{1,8})?(@ ?[a-z0-9-]{1,5})? {0,3}") {
        if let Ok(spec) = text.parse::<SourceSpec>() {
            prop_assert_eq!(spec.to_string().parse::<SourceSpec>(), Ok(spec));
        }
    }

    #[test]
    fn nothing_panics(text in "\\PC{0,60}") {
        let _ = text.parse::<SourceSpec>();
    }
}
