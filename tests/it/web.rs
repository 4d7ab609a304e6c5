//! Downloads: archives and single files from any address, with logins, tags and faults.

use std::path::PathBuf;
use std::process::Command;

use crate::support::proxy::Proxy;
use crate::support::tar::{gzip, tar, tar_gz};
use crate::support::{Endpoint, Fault, Forge, Sandbox, Tree, program};

fn pdf() -> Tree {
    Tree::new().skill("", "pdf").executable("scripts/run.sh", "#!/bin/sh\n").file("references/a b.md", "a\n")
}

fn two() -> Tree {
    Tree::new().skill("skills/pdf", "pdf").skill("skills/docx", "docx")
}

fn installed(sandbox: &Sandbox, name: &str) -> Vec<String> {
    sandbox.tree(&sandbox.project().join(".agents/skills").join(name))
}

/// Takes away what was installed, and what the store has of it.
fn clear(sandbox: &Sandbox) {
    for dir in [sandbox.project().join(".agents"), sandbox.home().join(".local")] {
        let _ = std::fs::remove_dir_all(dir);
    }
}

fn cached(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".cache/skillpm/web")
}

/// S4: from an address to a skill, a line in the manifest and an entry in the lockfile.
#[test]
fn an_archive_is_installed_locked_and_restored() {
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    forge.serve("/dl/pdf-tools.zip", pdf().zip());
    let url = forge.url("/dl/pdf-tools.zip");
    sandbox.tells(&["install", &url], 0, "skills: name change", &["pdf added"]);
    insta::assert_snapshot!(sandbox.read("skillpm.toml").replace(&forge.api_host(), "HOST"), @r#"
    [skills]
    pdf = { url = "http://HOST/dl/pdf-tools.zip" }
    "#);
    insta::assert_snapshot!(sandbox.read("skillpm.lock").replace(&forge.api_host(), "HOST"), @r#"
    # Written by skillpm; `skillpm install` restores exactly this.
    version = 1

    [[skill]]
    name = "pdf"
    source = "url:http://HOST/dl/pdf-tools.zip"
    digest = "sha256:13c40e8b5050808a31209f549153ee1553d844a0068bd556c46fb61843cb1e4f"
    "#);
    assert_eq!(installed(&sandbox, "pdf").iter().filter(|line| line.starts_with("755")).count(), 1);
    let lock = sandbox.read("skillpm.lock");
    clear(&sandbox);
    forge.clear_requests();
    for args in [&["install", "--locked"][..], &["install", "--frozen"], &["install", "--offline"]] {
        clear(&sandbox);
        let output = sandbox.run(args);
        assert_eq!(output.code, Some(0), "{args:?}: {output}");
        assert_eq!(installed(&sandbox, "pdf").len(), 5, "{args:?}");
    }
    assert_eq!(sandbox.read("skillpm.lock"), lock);
    let tags: Vec<_> = forge.requests().iter().map(|r| r.header("if-none-match").is_some()).collect();
    assert_eq!(tags, [true, true], "asked for with the tag that is known, and not at all when offline");
}

/// The same skill in each form, local and remote, has one digest.
#[test]
fn each_form_of_a_file() {
    let forge = Forge::start();
    let tree = pdf();
    let wrapped = tar(&tree, "pdf-1.0/");
    let document = tree.files().find(|(path, ..)| *path == "SKILL.md").expect("there").1.to_vec();
    let files: Vec<(&str, Vec<u8>, &str)> = vec![
        ("a.zip", tree.zip(), "archive"),
        ("a.skill", tree.zip(), "archive"),
        ("a.tar", wrapped.clone(), "archive"),
        ("a.tar.gz", gzip(&wrapped), "archive"),
        ("a.tgz", tar_gz(&tree), "archive"),
        ("lying.zip", tar_gz(&tree), "archive"),
        ("SKILL.md", document.clone(), "document"),
        ("pdf.md", document, "document"),
    ];
    let mut digests = std::collections::BTreeMap::new();
    for (name, bytes, kind) in files {
        forge.serve(&format!("/x/{name}"), &bytes);
        let local = Sandbox::new();
        let file = local.write(&format!("files/{name}"), &bytes);
        for source in [forge.url(&format!("/x/{name}")), file.display().to_string()] {
            let sandbox = Sandbox::new();
            let output = sandbox.run(&["install", &source, "--json"]);
            assert_eq!(output.code, Some(0), "{source}: {output}");
            let report: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
            assert_eq!(report["skills"][0]["name"], "pdf", "{source}");
            let digest = report["skills"][0]["digest"].to_string();
            assert_eq!(*digests.entry(kind).or_insert(digest.clone()), digest, "{source}");
        }
    }
    assert_ne!(digests["archive"], digests["document"]);
}

/// What people make of a directory: with `./` in front of each name, and for the directory itself.
#[test]
fn a_directory_that_tar_packed() {
    let Some(program) = program("tar") else { return };
    let place = Sandbox::new();
    // The last one is longer than the field for names.
    let long = format!("references/{}/{}.md", "d".repeat(60), "e".repeat(60));
    for (path, bytes, _) in pdf().file(&long, "long\n").files() {
        place.write(&format!("source/{path}"), bytes);
    }
    let source = place.project().join("source");
    let mut digests = Vec::new();
    for format in [None, Some("ustar"), Some("pax")] {
        let target = match format {
            None => source.clone(),
            Some(format) => {
                let archive = place.project().join(format!("{format}.tgz"));
                let mut tar = Command::new(&program);
                let format = format!("--format={format}");
                tar.args(["-c", "-z", &format, "-f"]).arg(&archive).arg("-C").arg(&source).arg(".");
                assert!(tar.status().expect("tar starts").success(), "{format}");
                archive
            }
        };
        let output = Sandbox::new().run(&["install", &target.display().to_string(), "--json"]);
        assert_eq!(output.code, Some(0), "{format:?}: {output}");
        let report: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
        digests.push(report["skills"][0]["digest"].to_string());
    }
    assert_eq!(digests, [&*digests[0]; 3]);
}

#[test]
fn skills_of_an_archive_are_listed_and_picked() {
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    forge.serve("/all.tgz", tar_gz(&two()));
    let url = forge.url("/all.tgz");
    sandbox.tells(&["install", "--list", &url], 0, ": name path", &["docx docx", "pdf pdf"]);
    sandbox.fails(&["install", &url], 2, "usage", &["docx (docx)", "pdf (pdf)", "--skill '*'"]);
    let picked = sandbox.run(&["install", &format!("{url}@docx")]);
    assert_eq!(picked.code, Some(0), "{picked}");
    insta::assert_snapshot!(sandbox.read("skillpm.toml").replace(&forge.api_host(), "HOST"), @r#"
    [skills]
    docx = { url = "http://HOST/all.tgz", path = "docx" }
    "#);
}

/// An address without an ending has to say that it is a file, and stays one in manifest and lockfile.
#[test]
fn any_address_can_be_a_file() {
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    forge.serve("/get", pdf().zip());
    let output = sandbox.run(&["install", &format!("url:{}", forge.url("/get?id=1"))]);
    assert_eq!(output.code, Some(0), "{output}");
    insta::assert_snapshot!(sandbox.read("skillpm.toml").replace(&forge.api_host(), "HOST"), @r#"
    [skills]
    pdf = { url = "url:http://HOST/get?id=1" }
    "#);
    clear(&sandbox);
    let again = sandbox.run(&["install", "--locked"]);
    assert_eq!(again.code, Some(0), "{again}");
}

/// THREATS h33: other bytes than were locked are refused, with the way to take them.
#[test]
fn other_bytes_are_refused_and_can_be_locked() {
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    forge.serve("/all.zip", two().zip());
    let url = forge.url("/all.zip");
    assert_eq!(sandbox.run(&["install", &format!("{url}@pdf")]).code, Some(0));
    forge.serve("/all.zip", two().file("skills/pdf/new.md", "new\n").zip());
    clear(&sandbox);
    sandbox.fails(&["install"], 5, "integrity", &["sha256:04", "sha256:5200", "skillpm update pdf"]);
    assert!(!sandbox.project().join(".agents/skills/pdf").is_dir());
    let updated = sandbox.run(&["install", &format!("{url}//pdf")]);
    assert_eq!(updated.code, Some(0), "{updated}");
    assert!(installed(&sandbox, "pdf").contains(&"644 new.md".to_owned()));
    clear(&sandbox);
    assert_eq!(sandbox.run(&["install", "--locked"]).code, Some(0));
}

/// A file that did not change does not come again, by tag or by time; without either it does.
#[test]
fn unchanged_files_do_not_come_again() {
    for (manner, header) in
        [("tags", Some("if-none-match")), ("dates", Some("if-modified-since")), ("none", None)]
    {
        let (forge, sandbox) = (Forge::start(), Sandbox::new());
        match manner {
            "dates" => forge.send_dates(),
            "none" => forge.forget_tags(),
            _ => {}
        }
        forge.serve("/a.zip", pdf().zip());
        let url = forge.url("/a.zip");
        for _ in 0..2 {
            assert_eq!(sandbox.run(&["install", &url]).code, Some(0));
        }
        let requests = forge.requests();
        let conditional = |at: usize| header.is_some_and(|header| requests[at].header(header).is_some());
        assert_eq!(
            (requests.len(), conditional(0), conditional(1)),
            (2, false, header.is_some()),
            "{manner}"
        );
        // A kept file that was damaged is fetched anew, not used.
        for entry in std::fs::read_dir(cached(&sandbox).join("answers")).expect("kept") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none() {
                std::fs::write(path, "damaged").expect("writes");
            }
        }
        forge.clear_requests();
        clear(&sandbox);
        assert_eq!(sandbox.run(&["install"]).code, Some(0));
        let request = &forge.requests()[0];
        assert!(request.header("if-none-match").or(request.header("if-modified-since")).is_none());
    }
}

/// THREATS zs21, h28: what comes in place of an archive is named, is not kept, and nothing is changed.
#[test]
fn what_is_no_archive() {
    let cases: &[(&str, &[u8], &str)] = &[
        ("/x.zip", b"<!DOCTYPE html><title>Sign in</title>", "HTML"),
        ("/x.tar.gz", b"{\"error\": \"no\"}", "JSON"),
        ("/x.zip", b"---\nname: x\ndescription: y\n---\n", "text"),
        ("/x.tar.xz", b"\xFD7zXZ\0\0", "xz"),
        ("/x/SKILL.md", b"# No frontmatter\n", "text"),
        ("/x/SKILL.md", b"<html>", "HTML"),
        ("/x.md", b"---\nname: x\n", "frontmatter"),
        ("/x.zip", b"PK\x03\x04", "cut off"),
        ("/x.zip", b"", "empty"),
    ];
    for (path, bytes, what) in cases {
        let (forge, sandbox) = (Forge::start(), Sandbox::new());
        forge.serve(path, bytes);
        sandbox.fails(&["install", &forge.url(path)], 5, "integrity", &[what]);
        assert!(!sandbox.project().join("skillpm.toml").is_file(), "{path}");
        let offline = sandbox.run(&["install", "--offline", &forge.url(path)]);
        assert_eq!(offline.code, Some(if *path == "/x.md" { 5 } else { 4 }), "{path}: {offline}");
    }
}

/// INTEROP 10: a token or a password goes to its own host, over every hop, and is never shown or kept.
#[test]
fn logins() {
    let (forge, mut sandbox) = (Forge::start(), Sandbox::new());
    forge.want_login("Bearer t0ken");
    forge.serve("/a.zip", pdf().zip());
    let url = forge.url("/a.zip");
    let variable = variable(&forge);
    sandbox.fails(&["install", &url], 4, "network", &["/a.zip"]);
    sandbox.env(&variable, "wr0ng");
    sandbox.fails(&["install", &url], 4, "network", &["/a.zip"]);
    sandbox.env(&variable, "t0ken");
    assert_eq!(sandbox.run(&["install", &url]).code, Some(0));
    // A name and a password do as well.
    forge.want_login("Basic YWRhOnMzY3JldA==");
    let netrc = sandbox.write("../netrc", "machine 127.0.0.1 login ada password s3cret\n");
    sandbox.env(&variable, "").env("NETRC", &netrc.display().to_string());
    clear(&sandbox);
    let output = sandbox.run(&["install"]);
    assert_eq!(output.code, Some(0), "{output}");
    std::fs::write(&netrc, "default login eve password no\n").expect("writes");
    sandbox.fails(&["install", &url], 4, "network", &["/a.zip", "../netrc"]);
    // Nothing of it lies anywhere.
    for dir in [sandbox.home(), sandbox.project()] {
        let found = Command::new("grep").args(["-rE", "t0ken|s3cret|YWRh"]).arg(dir).output();
        assert_eq!(String::from_utf8_lossy(&found.expect("grep").stdout), "");
    }
}

fn variable(forge: &Forge) -> String {
    format!("SKILLPM_TOKEN_{}", forge.api_host().replace('.', "_").replace(':', "___"))
}

/// THREATS h09: a redirect to another origin gets no credential, also not that of the other origin.
#[test]
fn redirects_and_credentials() {
    let (forge, mut sandbox) = (Forge::start(), Sandbox::new());
    forge.want_login("Bearer t0ken");
    forge.serve("/there.zip", pdf().zip());
    forge.redirect("/a.zip", &forge.other_url("/there.zip?signature=s1gned"));
    forge.redirect("/b.zip", "../x/../there.zip");
    let netrc = sandbox.write("../netrc", "default login ada password s3cret\n");
    sandbox.env(&variable(&forge), "t0ken").env("NETRC", &netrc.display().to_string());
    for path in ["/a.zip", "/b.zip"] {
        let output = sandbox.run(&["install", &forge.url(path), "--force"]);
        assert_eq!(output.code, Some(0), "{path}: {output}");
    }
    for request in forge.requests() {
        let expected = (request.host == forge.api_host()).then_some("Bearer t0ken");
        assert_eq!(request.header("authorization"), expected, "{}", request.path);
    }
    let kept = Command::new("grep").args(["-r", "s1gned"]).arg(sandbox.home()).output();
    assert_eq!(String::from_utf8_lossy(&kept.expect("grep").stdout), "");
    // The second host wants a login of its own: that is said, and nothing is sent.
    forge.redirect("/c.zip", &forge.other_url("/d.zip"));
    forge.serve("/d.zip", "");
    forge.fail(Endpoint::Any, Fault::Redirect(forge.other_url("/d.zip")));
    forge.fail(Endpoint::File, Fault::status(403));
    sandbox.fails(&["install", &forge.url("/c.zip")], 4, "network", &["/d.zip", "status 403"]);
}

/// Plain `http` to another machine is used, with a warning and without credentials.
#[test]
fn plain_http_is_told() {
    let (forge, mut sandbox) = (Forge::start(), Sandbox::new());
    let proxy = Proxy::leading_to(&forge.api_host());
    sandbox.env("http_proxy", &proxy.url()).env("SKILLPM_TOKEN_SKILLS_EXAMPLE", "t0ken");
    sandbox.env("SKILLPM_TOKEN_SKILLS_EXAMPLE___80", "t0ken");
    forge.serve("/a.zip", pdf().zip());
    sandbox.tells(
        &["install", "http://skills.example/a.zip"],
        0,
        "skills: name change; warnings: code",
        &["pdf added", "unprotected"],
    );
    assert_eq!(forge.requests()[0].header("authorization"), None);
    forge.want_login("Bearer t0ken");
    sandbox.fails(
        &["install", "http://skills.example/a.zip"],
        4,
        "network",
        &["http://skills.example/a.zip"],
    );
    // What is locked is checked, so a restore need not warn.
    clear(&sandbox);
    let restored = sandbox.run(&["install", "--offline"]);
    assert!(restored.code == Some(0) && !restored.stderr.contains("warning"), "{restored}");
}

/// THREATS section 3: each fault of a server is one clear error, and leaves nothing behind.
#[test]
fn faults() {
    let bytes = pdf()
        .file(
            "noise",
            (0..20_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect::<Vec<_>>(),
        )
        .zip();
    for (what, exit, code, values, fault) in [
        ("missing", 4, "network", &["status 404"][..], Fault::Status(404, vec![], "")),
        ("gone", 4, "network", &["status 410"], Fault::Status(410, vec![], "")),
        ("broken", 4, "http-status", &["status 500"], Fault::Status(500, vec![], "")),
        ("limited", 4, "rate-limit", &[], Fault::Status(429, vec![], "")),
        ("cut off", 4, "response-cut-off", &[], Fault::Truncated),
        ("cut off in chunks", 4, "response-cut-off", &[], Fault::TruncatedChunks),
        ("stalled", 4, "request-timeout", &[], Fault::Stalled),
        ("too long", 4, "response-cut-off", &[], Fault::WrongLength(1)),
        ("gzip bomb", 4, "network", &["gzip"], Fault::Gzip(1 << 24)),
        ("loop", 4, "redirect-refused", &[], Fault::Loop),
        (
            "a local file",
            4,
            "redirect-refused",
            &["file:///etc/passwd", "https"],
            Fault::Redirect("file:///etc/passwd".to_owned()),
        ),
        ("huge header", 4, "network", &["65536 bytes"], Fault::HugeHeader),
        ("no HTTP", 4, "network", &["invalid HTTP"], Fault::Garbage),
        ("a page", 5, "integrity", &["HTML"], Fault::Html),
    ] {
        let (forge, mut sandbox) = (Forge::start(), Sandbox::new());
        sandbox.env("SKILLPM_HTTP_RETRIES", "0").env("SKILLPM_HTTP_TIMEOUT", "1");
        forge.serve("/a.zip", &bytes);
        forge.fail_always(Endpoint::File, fault);
        sandbox.fails(&["install", &forge.url("/a.zip")], exit, code, values);
        assert_eq!(sandbox.tree(&sandbox.project()), Vec::<String>::new(), "{what}");
        let left = sandbox.tree(&sandbox.home());
        assert!(left.iter().all(|line| line.ends_with('/')), "{what}: {left:?}");
    }
}

#[test]
fn unknown_hosts_and_closed_ports() {
    let sandbox = Sandbox::new();
    sandbox.fails(
        &["install", "https://127.0.0.1:9/a.zip"],
        4,
        "host-unreachable",
        &["127.0.0.1:9", "--offline"],
    );
    sandbox.fails(
        &["install", "--offline", "https://h.example/a.zip"],
        4,
        "offline",
        &["https://h.example/a.zip", "--offline"],
    );
    let (forge, secure) = (Forge::start(), Sandbox::new());
    let address = forge.url("/a.zip").replace("http:", "https:");
    secure.fails(&["install", &address], 4, "tls", &["SSL_CERT_FILE"]);
    let unknown = sandbox.run(&["install", "https://no-such-host.invalid/a.zip"]);
    assert_eq!(unknown.code, Some(4), "{unknown}");
    assert!(unknown.stderr.contains("`no-such-host.invalid` was not found"), "{unknown}");
}

/// A fault that passes is waited for, and the file that came in two goes is whole.
#[test]
fn faults_that_pass() {
    let (forge, mut sandbox) = (Forge::start(), Sandbox::new());
    sandbox.env("SKILLPM_HTTP_RETRIES", "2");
    forge.serve("/a.zip", pdf().zip());
    forge.fail(Endpoint::File, Fault::Truncated);
    forge.fail(Endpoint::File, Fault::Status(503, vec![("retry-after", "0".into())], ""));
    let output = sandbox.run(&["install", &forge.url("/a.zip")]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(forge.requests().len(), 3);
}
