//! Tests of how addresses and paths are compared with patterns.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// Whether `list`, with this pattern only, refuses the source.
fn refuses(list: &str, pattern: &str, source: &str) -> bool {
    verdict(&admission(&[("m", &format!("{list} = ['{pattern}']"))]), source).is_err()
}

/// No spelling of an address leads around a line that denies it, or through one that allows another.
#[test]
fn an_address_counts_as_it_is_read_by_who_follows_it() {
    let github = [
        "acme/x",
        "github:Acme/X.git",
        "github:github.com/acme/x",
        "github:www.github.com/acme/x",
        "github:github.com./acme/x",
        "https://www.github.com/acme/x",
        "git+https://github.com:443/acme/x.git",
        "git+http://github.com:80/acme/x",
        "git+https://me@github.com/acme/x.git",
        "git+https://www.github.com/acme/x.git",
        "git+https://GitHub.com./acme/x.git",
        "git+https://github.com/%61cme/x.git",
        "git+https://github.com/evil/../acme/x.git",
        "git+https://github.com/evil/%2e%2E/acme/./x.git",
        "git+https://github.com/acme/x.git/.git",
        "git+ssh://git@github.com:22/acme/x.git",
        "ssh://git@ssh.github.com:443/acme/x.git",
        "ssh://git@github.com/~/acme/x.git",
        "ssh://git@github.com/~git/%61cme/x.git",
        "git+git@ssh.github.com:acme/x.git",
        "git+git@github.com:/evil/../acme/x",
        "url:https://github.com:443/acme/x/archive/main.zip",
        "url:https://raw.githubusercontent.com/evil/../acme/x/main/SKILL.md",
        "url:https://raw.github.com/%61cme/x/main/a.zip",
        "url:https://media.githubusercontent.com/media/acme/x/main/a.zip",
        "url:https://api.github.com/repos/./acme/x/zipball/main",
        "site:https://raw.githubusercontent.com/acme/x/main",
    ];
    for source in github {
        for pattern in ["github:acme", "github:github.com/acme/x.git", "github:*/X", "git:github.com/acme"] {
            assert!(refuses("deny", pattern, source), "deny {pattern} {source}");
            assert!(!refuses("allow", pattern, source), "allow {pattern} {source}");
        }
        for pattern in ["github:evil", "github:acme/y", "git:github.com/evil", "github:ghe.example.com/acme"]
        {
            assert!(!refuses("deny", pattern, source), "deny {pattern} {source}");
            assert!(refuses("allow", pattern, source), "allow {pattern} {source}");
        }
    }
    let same = [
        ("git:127.0.0.1/team", "git+http://127.0.0.1:80/team/x.git"),
        ("git:127.0.0.1/team", "git+http://127.1/team/x.git"),
        ("git:127.0.0.1/team", "git+http://0x7f000001/z/../team/x.git"),
        ("git:127.0.0.1/team", "git+http://0177.0.0.1./team/x.git"),
        ("url:127.0.0.1/team", "url:http://[::ffff:7f00:1]/%74eam/x.zip"),
        ("git:127.1/team", "git+http://2130706433/team/x.git"),
        ("git:h.example/team", "git@h.example:team/x.git"),
        ("git:h.example/1team", "git@h.example:1team/x.git"),
        ("git:h.example/80/x", "git@h.example:80/x.git"),
        ("git:h.example/team/x.git/skills", "git+https://h.example/team/x.git//skills/pdf"),
        ("git:gitlab.com/acme", "ssh://git@altssh.gitlab.com:443/acme/x.git"),
        ("git:h.example/a b", "git+https://h.example/a%20b/x.git"),
        ("git:h.example/\u{e9}", "git+https://h.example/e%CC%81/x.git"),
        ("github:ghe.example.com/acme", "git+https://ghe.example.com/acme/x.git"),
        ("github:ghe.example.com/acme", "url:https://ghe.example.com/api/v3/repos/acme/x/zipball"),
        ("github:acme.ghe.com/acme", "url:https://codeload.acme.ghe.com/acme/x/zip/main.zip"),
        ("github:acme.ghe.com/acme", "url:https://API.acme.ghe.com/repos/acme/x/zipball/main.zip"),
        ("github:acme.ghe.com/acme/x", "url:https://raw.acme.ghe.com/acme/x/main/a.zip"),
        ("git:acme.ghe.com/acme", "url:https://codeload.acme.ghe.com/acme/x/zip/main.zip"),
        ("git:ghe.example.com/acme", "github:ghe.example.com/acme/x"),
        ("url:h.example/a", "url:https://h.example/a/./b/../x.zip"),
        ("url:[0:0::1]/a", "url:https://[::1]/a/x.zip"),
        ("site:docs.example.com", "site:https://docs.example.com:443"),
        ("git:/srv/team", "file:///srv/x/../%74eam/x.git"),
        ("path:/srv/team", "file:///srv/team/x.git"),
        ("path:./vendor", "./a/../vendor/x"),
        ("path:vendor", "./vendor/x"),
        ("path:..", "../x"),
        ("path:..", "./x"),
        ("path:../..", "../x"),
        ("path:~/skills", "~/a/../skills/pdf"),
        ("path:/srv", "/../srv/x"),
    ];
    for (pattern, source) in same {
        assert!(refuses("deny", pattern, source), "deny {pattern} {source}");
        assert!(!refuses("allow", pattern, source), "allow {pattern} {source}");
    }
    let other = [
        ("git:127.0.0.1/good", "git+http://127.0.0.1/good/../team/x.git"),
        ("git:h.example/good", "git+git@h.example:good/../team/x.git"),
        ("url:h.example/good", "url:https://h.example/good/%2e%2e/x.zip"),
        ("git:h.example", "git+https://h.example.evil.example/x.git"),
        ("git:github.com/acme", "git+https://github.com@evil.example/acme/x.git"),
        ("github:*.example.com/acme", "acme/example.com"),
        ("github:*/skills", "github:evil.example/skills/x"),
        ("path:./vendor", "./vendor/../../evil"),
        ("path:./vendor", "../vendor/x"),
        ("path:./vendor", "/vendor/x"),
        ("path:./*", "../x"),
        ("path:..", "../../x"),
        ("path:../shared", "../../shared/x"),
        ("path:~/skills", "~/skills/../x"),
    ];
    for (pattern, source) in other {
        assert!(!refuses("deny", pattern, source), "deny {pattern} {source}");
        assert!(refuses("allow", pattern, source), "allow {pattern} {source}");
    }
    let host = "github:evil.example?.example.com/acme/x".parse::<SourceSpec>();
    assert!(host.is_err(), "a host is one, so that no pattern takes its end for the whole");
}

/// Manifests are written by hand: their paths come as they stand there.
#[test]
fn a_git_repository_on_this_machine_is_found_by_its_path() {
    for (list, pattern, path, refused) in [
        ("allow", "path:./vendor", "./vendor/../../lt", true),
        ("allow", "path:./vendor", "./vendor/lt.git", false),
        ("deny", "path:./lt.git", "./lt.git", true),
        ("deny", "git:./lt", "./x/../lt.git", true),
        ("deny", "path:*", "file:///srv/lt.git", true),
    ] {
        let origin = Origin::from(crate::spec::GitUrl::new(path).expect(path));
        let asked = PolicySubject { origin: &origin, path: None, reference: None };
        let said = admission(&[("m", &format!("{list} = [\"{pattern}\"]"))]).source(asked);
        assert_eq!(said.iter().any(|decision| !decision.admitted), refused, "{list} {pattern} {path}");
    }
}

/// Whether a path is written from the manifest, from home or from the root makes no difference where all are known.
#[test]
fn a_path_counts_by_where_it_leads() {
    use std::path::Path;
    let dirs = |dir: &str| Dirs::new(Path::new(dir), Some(Path::new("/home/me")));
    let git = |path: &str| Origin::from(crate::spec::GitUrl::new(path).expect(path));
    let path = |path: &str| Origin::local(path);
    for (pattern, origin, means) in [
        ("path:/home/me/work/shared", path("../shared/s"), true),
        ("path:/home/me/work/Shared/s", path("../shared/s"), true),
        ("path:/home/me/work/shared", path("../other/s"), false),
        ("path:/home/me/work/shared", path("../../../../../../home/me/work/shared"), true),
        ("path:~/work/shared", path("../shared/s"), true),
        ("path:~/work/*/s", path("../shared/s"), true),
        ("path:~", path("./s"), true),
        ("path:/home/you", path("./s"), false),
        ("path:/home/me", path("~/s"), true),
        ("path:/", path("./s"), true),
        ("path:../shared", git("file:///home/me/work/shared/s"), true),
        ("path:../shared", git("file:///home/me/work/other/s"), false),
        ("path:../team/x", path("./x"), true),
        ("path:./x", path("/home/me/work/team/x/s"), true),
        ("path:./x", path("~/work/team/x"), true),
        ("path:..", path("/home/me/work"), true),
        ("path:..", path("/home/me"), false),
        ("git:/home/me/work/s", git("../s.git"), true),
        ("git:../s", git("file:///home/me/work/s.git"), true),
        ("git:file:///home/me/work/team", git("./.git"), true),
    ] {
        let asked = PolicySubject { origin: &origin, path: None, reference: None };
        for list in ["deny", "allow"] {
            let admission =
                admission_at(dirs("/home/me/work/team"), &[("m", &format!("{list} = [\"{pattern}\"]"))]);
            let is_meant =
                admission.source(asked).iter().any(|decision| !decision.admitted) == (list == "deny");
            assert_eq!(is_meant, means, "{list} {pattern} {origin}");
        }
    }
    // A `*` in the name of the directory is not part of the pattern.
    let files = [("m", "allow = [\"path:./x\"]")];
    let elsewhere = Origin::local("/home/me/other/x");
    let asked = PolicySubject { origin: &elsewhere, path: None, reference: None };
    assert!(!admission_at(dirs("/home/me/*"), &files).source(asked).remove(0).admitted);
}

/// A server of GitHub Enterprise may have a name without a dot, as an owner has.
#[test]
fn a_server_without_a_dot_is_named_as_others_are() {
    for (pattern, host, means) in [
        ("github:ghe/acme", Some("ghe"), true),
        ("github:GHE/acme/x.git", Some("ghe"), true),
        ("github:ghe/other", Some("ghe"), false),
        ("github:ghe:8443/acme", Some("ghe:8443"), true),
        ("github:ghe:8443/acme", Some("ghe"), false),
        ("github:acme/x", Some("ghe"), false),
        ("github:acme/x", None, true),
        ("github:acme/x/pdf", None, false),
        // It would be any server.
        ("github:*/acme", Some("ghe"), false),
        ("github:g*/acme", Some("ghe"), false),
    ] {
        let repository = crate::spec::Repository {
            host: host.map(ToOwned::to_owned),
            owner: "acme".to_owned(),
            name: "x".to_owned(),
        };
        let origin = Origin::from(repository);
        let asked = PolicySubject { origin: &origin, path: None, reference: None };
        for list in ["deny", "allow"] {
            let said = admission(&[("m", &format!("{list} = [\"{pattern}\"]"))]).source(asked);
            let is_meant = said.iter().any(|decision| !decision.admitted) == (list == "deny");
            assert_eq!(is_meant, means, "{list} {pattern} {host:?}");
        }
    }
    // An owner of the same name is still meant.
    assert!(
        refuses("deny", "github:ghe/acme", "ghe/acme") && !refuses("allow", "github:ghe/acme", "ghe/acme/x")
    );
    assert!(refuses("deny", "github:ghe/acme", "git+https://ghe/acme/x.git"));
    assert!(refuses("allow", "github:*/acme", "git+https://evil.example/acme/acme.git"));
}

/// A line without a port means every one where it denies, and the usual ones where it allows.
#[test]
fn a_port_counts_for_what_is_allowed() {
    for (pattern, source, denied, allowed) in [
        ("git:h.example/team", "git+https://h.example:8443/team/x.git", true, false),
        ("git:h.example/team", "ssh://git@h.example:2222/team/x.git", true, false),
        ("git:h.example:8443/team", "git+https://h.example:8443/team/x.git", true, true),
        ("git:h.example:8443/team", "git+https://h.example/team/x.git", false, false),
        ("git:h.example:443/team", "git+https://h.example/team/x.git", true, true),
        ("git:https://h.example:443/team", "ssh://git@h.example/team/x.git", true, true),
        ("git:h.example:*/team", "git+https://h.example:8443/team/x.git", true, true),
        ("git:*/team", "git+https://h.example:8443/team/x.git", true, false),
        ("git:*", "git+https://h.example:8443/team/x.git", true, true),
        ("url:*.example.com", "url:https://a.example.com:8443/x.zip", true, false),
        ("site:docs.example.com", "site:https://docs.example.com:444", true, false),
        ("github:acme", "git+https://github.com:8443/acme/x.git", true, false),
        ("github:ghe.example.com:8443/acme", "github:ghe.example.com:8443/acme/x", true, true),
    ] {
        assert_eq!(refuses("deny", pattern, source), denied, "deny {pattern} {source}");
        assert_eq!(!refuses("allow", pattern, source), allowed, "allow {pattern} {source}");
    }
    let allowing = admission(&[("m", "allow = [\"path:*\", \"git:h.example/team\"]")]);
    let spec = spec("git+https://h.example:8443/team/x.git");
    let decision = allowing.source(asked(&spec)).remove(0);
    assert_eq!(decision.line.text, "allow = \"git:h.example/team\"");
    assert!(decision.reason.starts_with("is allowed on the usual ports only"), "{}", decision.reason);
}

/// An ambiguous address is neither allowed nor let past a line that may deny it.
#[test]
fn an_address_that_nobody_can_compare_is_refused_where_a_line_has_a_say() {
    let unclear = [
        (r"git+https://h.example/a%2fteam/x.git", "an escape in its address"),
        (r"git+https://h.example/a%5c..%5cteam/x.git", "an escape in its address"),
        (r"git+https://h.example/%2574eam/x.git", "an escape in its address"),
        (r"git+https://h.example/%zz/x.git", "an escape in its address"),
        (r"git+https://h.example/%ff/x.git", "an escape in its address"),
        (r"git+git@h.example:%74eam/x.git", "an escape in its address"),
        (r"git+https://h.example/a\team/x.git", "a backslash"),
        (r"git+https://h.example/team;a=b/x.git", "a semicolon"),
        (r"git+https://h.example/../team/x.git", "`..` in its address leads above the root"),
        (r"git+git@h.example:../team/x.git", "`..` in its address leads above the root"),
        (r"git+https://h.example/team.git/x.git", "a directory in its address ends in `.git`"),
    ];
    for (source, why) in unclear {
        let asked_for = spec(source);
        for list in ["deny", "allow"] {
            let admission = admission(&[("m", &format!("{list} = [\"git:h.example/team\"]"))]);
            let decision = admission.source(asked(&asked_for)).remove(0);
            assert!(!decision.admitted && decision.reason.contains(why), "{source}: {}", decision.reason);
        }
        // A line that means the whole host, or another one, needs no path.
        assert!(refuses("deny", "git:h.example", source) && !refuses("allow", "git:h.example", source));
        assert!(!refuses("deny", "git:other.example/team", source), "{source}");
        assert!(!refuses("deny", "github:team", source), "{source}");
        let scripts = |text: &str| admission(&[("m", text)]).scripts(asked(&asked_for), Scripts::Allow);
        assert!(matches!(scripts("scripts-allow = [\"git:h.example/team\"]"), Permission::Denied(_)));
        assert!(matches!(scripts("scripts-deny = [\"git:h.example/team\"]"), Permission::Denied(_)));
        let young = "minimum-release-age = \"7d\"\nminimum-release-age-exclude = [\"git:h.example/team\"]";
        assert!(admission(&[("m", young)]).asks_for_age(asked(&asked_for)), "{source}");
    }
    for (pattern, source) in [
        ("github:acme", "url:https://api.github.com/repositories/1/zipball/main"),
        ("github:acme.ghe.com/acme", "url:https://api.acme.ghe.com/repositories/1/zipball/main"),
        ("github:acme/x/skills/pdf", "url:https://raw.githubusercontent.com/acme/x/main/skills/pdf/SKILL.md"),
    ] {
        assert!(refuses("deny", pattern, source) && refuses("allow", pattern, source), "{pattern} {source}");
    }
    // A manifest can hold what cannot be typed.
    let origin =
        Origin::at(crate::spec::Address::new("https://h.example/b/c//../../a/x.zip").expect("an address"));
    for list in ["deny", "allow"] {
        let admission = admission(&[("m", &format!("{list} = [\"url:h.example/a\"]"))]);
        let decision =
            admission.source(PolicySubject { origin: &origin, path: None, reference: None }).remove(0);
        assert!(!decision.admitted && decision.reason.contains("beside `//`"), "{}", decision.reason);
    }
}

/// A spelling of one character of a path.
fn spelled(c: char, how: u8) -> String {
    match how % 4 {
        1 => c.to_ascii_uppercase().to_string(),
        2 => format!("%{:02X}", u32::from(c)),
        3 => format!("%{:02x}", u32::from(c.to_ascii_uppercase())),
        _ => c.to_string(),
    }
}

proptest! {
    /// Every spelling has the verdict of the plain address.
    #[test]
    fn all_spellings_of_a_repository_get_one_verdict(
        (start, host) in select(vec![
            ("https://github.com/", "github.com"),
            ("http://GITHUB.com./", "github.com"),
            ("https://www.github.com:443/", "github.com"),
            ("https://me@github.com/", "github.com"),
            ("ssh://git@github.com:22/", "github.com"),
            ("ssh://git@ssh.github.com:443/~/", "github.com"),
            ("git@github.com:", "github.com"),
            ("git@ssh.github.com:/", "github.com"),
            ("https://git.example.com/", "git.example.com"),
            ("http://Git.Example.Com.:80/", "git.example.com"),
            ("ssh://git@git.example.com/~git/", "git.example.com"),
            ("git@git.example.com:", "git.example.com"),
            ("http://10.1/", "10.0.0.1"),
            ("ssh://git@0xA000001:22/", "10.0.0.1"),
        ]),
        noise in prop::collection::vec(select(vec!["", "", "./", "zz/../", "zz/%2e%2E/", "%2e/"]), 2),
        how in prop::collection::vec(any::<u8>(), 5),
        end in select(vec!["", ".git", "/", ".git/", "/.", "/.git"]),
    ) {
        // Without a scheme git undoes no escape.
        let plain = !start.contains("://");
        let mut how = how.into_iter().map(|how| if plain { how % 2 } else { how });
        let mut part = |text: &str| -> String {
            text.chars().map(|c| spelled(c, how.next().unwrap_or_default())).collect()
        };
        let noise: Vec<_> = noise.into_iter().map(|one| if plain && one.contains('%') { "" } else { one }).collect();
        let source = format!("git+{start}{}{}/{}{}{end}", noise[0], part("acme"), noise[1], part("x"));
        for pattern in ["acme", "Acme/x", "acme/x.git", "*/x", "%61cme", "b/../acme"] {
            let pattern = format!("git:{host}/{pattern}");
            prop_assert!(refuses("deny", &pattern, &source), "deny {} {}", pattern, source);
            prop_assert!(!refuses("allow", &pattern, &source), "allow {} {}", pattern, source);
        }
        for pattern in ["zz", "acme/y", "acme/x/y", "x", "acm"] {
            let pattern = format!("git:{host}/{pattern}");
            prop_assert!(!refuses("deny", &pattern, &source), "deny {} {}", pattern, source);
            prop_assert!(refuses("allow", &pattern, &source), "allow {} {}", pattern, source);
        }
        prop_assert_eq!(refuses("deny", "github:acme", &source), host == "github.com", "{}", source);
        prop_assert_eq!(!refuses("allow", "github:acme/x", &source), host == "github.com", "{}", source);
    }
}
