//! Downloads: archives and single files from any address, with logins, tags and faults.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use crate::support::proxy::Proxy;
use crate::support::sandbox::Output;
use crate::support::tar::{gzip, tar, tar_gz};
use crate::support::{Endpoint, Fault, Forge, Sandbox, Tree, program};

fn pdf() -> Tree {
    Tree::new().skill("", "pdf").executable("scripts/run.sh", "#!/bin/sh\n").file("references/a b.md", "a\n")
}

fn two() -> Tree {
    Tree::new().skill("skills/pdf", "pdf").skill("skills/docx", "docx")
}

/// What a person sees, with the addresses of this run taken out.
fn told(forge: &Forge, output: &Output) -> String {
    let port = forge.api_host().rsplit_once(':').expect("a port").1.to_owned();
    let text = output.to_string().replace(&forge.api_host(), "HOST").replace(&forge.archive_host(), "OTHER");
    text.replace(&format!("127_0_0_1___{port}"), "[LOCAL]")
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
    insta::assert_snapshot!(told(&forge, &sandbox.run(&["install", &url])), @"
    exit: 0
    --- stderr
    + pdf (url:http://HOST/dl/pdf-tools.zip)
    1 skill added in `.agents/skills`
    available to agents that read `.agents/skills`; `--agent` adds others
    `skillpm.toml` and `skillpm.lock` changed: commit both
    hint: `skillpm list` shows what is installed, `skillpm invoke pdf` what an agent gets
    ");
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
    insta::assert_snapshot!(told(&forge, &sandbox.run(&["install", "--list", &url])), @"
    exit: 0
    --- stdout
    docx
      Does what docx does.
      docx in http://HOST/all.tgz
    pdf
      Does what pdf does.
      pdf in http://HOST/all.tgz
    --- stderr
    hint: `--skill docx` instead of `--list` installs `docx`, `--skill '*'` all
    ");
    insta::assert_snapshot!(told(&forge, &sandbox.run(&["install", &url])), @"
    exit: 2
    --- stderr
    error: `http://HOST/all.tgz` has 2 skills; choose some with `--skill`:
      docx (docx)
      pdf (pdf)
    hint: `skillpm install http://HOST/all.tgz --skill docx` (more names may follow), or `--skill '*'` for all
    ");
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
    let refused = told(&forge, &sandbox.run(&["install"]));
    insta::assert_snapshot!(refused, @"
    exit: 5
    --- stderr
    error: `pdf` from `url:http://HOST/all.zip` is not what was locked: expected sha256:04b9d227b4981f4e9aa2239428f07f098daacc541dc9718ef47ebb3b0ea2e91d, found sha256:5200c3635fab79c4ef38773cc2899c2da992c3472949fe0d733356c2cce5cf4b
    hint: it has changed since: `skillpm update pdf` locks what is there now
    ");
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
    let cases: &[(&str, &[u8])] = &[
        ("/x.zip", b"<!DOCTYPE html><title>Sign in</title>"),
        ("/x.tar.gz", b"{\"error\": \"no\"}"),
        ("/x.zip", b"---\nname: x\ndescription: y\n---\n"),
        ("/x.tar.xz", b"\xFD7zXZ\0\0"),
        ("/x/SKILL.md", b"# No frontmatter\n"),
        ("/x/SKILL.md", b"<html>"),
        ("/x.md", b"---\nname: x\n"),
        ("/x.zip", b"PK\x03\x04"),
        ("/x.zip", b""),
    ];
    let mut shown = String::new();
    for (path, bytes) in cases {
        let (forge, sandbox) = (Forge::start(), Sandbox::new());
        forge.serve(path, bytes);
        let output = sandbox.run(&["install", &forge.url(path)]);
        shown.push_str(&told(&forge, &output));
        assert!(!sandbox.project().join("skillpm.toml").is_file(), "{path}");
        let offline = sandbox.run(&["install", "--offline", &forge.url(path)]);
        assert_eq!(offline.code, Some(if *path == "/x.md" { 5 } else { 4 }), "{path}: {offline}");
    }
    insta::assert_snapshot!(shown, @"
    exit: 5
    --- stderr
    error: `http://HOST/x.zip` is refused
      caused by: this is not a zip, tar or tar.gz archive: it looks like an HTML page
    exit: 5
    --- stderr
    error: `http://HOST/x.tar.gz` is refused
      caused by: this is not a zip, tar or tar.gz archive: it looks like JSON
    exit: 5
    --- stderr
    error: `http://HOST/x.zip` is refused
      caused by: this is not a zip, tar or tar.gz archive: it looks like a text file
    hint: a single `SKILL.md` begins with `---`, and its address ends in `.md`
    exit: 5
    --- stderr
    error: `http://HOST/x.tar.xz` is refused
      caused by: this is not a zip, tar or tar.gz archive: it looks like an xz file
    exit: 5
    --- stderr
    error: `http://HOST/x/SKILL.md` is refused
      caused by: this is not a `SKILL.md`, whose first line is `---`: it looks like a text file
    hint: a single `SKILL.md` begins with `---`, and its address ends in `.md`
    exit: 5
    --- stderr
    error: `http://HOST/x/SKILL.md` is refused
      caused by: this is not a `SKILL.md`, whose first line is `---`: it looks like an HTML page
    exit: 5
    --- stderr
    error: `SKILL.md` cannot be loaded: the frontmatter is never closed: a line with only `---` must follow it
    exit: 5
    --- stderr
    error: `http://HOST/x.zip` is refused
      caused by: the archive is cut off: its directory of entries is missing
    exit: 5
    --- stderr
    error: `http://HOST/x.zip` is refused
      caused by: this is not a zip, tar or tar.gz archive: it looks like an empty file
    ");
}

/// INTEROP 10: a token or a password goes to its own host, over every hop, and is never shown or kept.
#[test]
fn logins() {
    let (forge, mut sandbox) = (Forge::start(), Sandbox::new());
    forge.want_login("Bearer t0ken");
    forge.serve("/a.zip", pdf().zip());
    let url = forge.url("/a.zip");
    let variable = variable(&forge);
    insta::assert_snapshot!(told(&forge, &sandbox.run(&["install", &url])), @"
    exit: 4
    --- stderr
    error: `http://HOST/a.zip` requires a login: Log in
    hint: set `SKILLPM_TOKEN_[LOCAL]` to a token, or write `machine 127.0.0.1 login NAME password PASSWORD` into `[DIR]/home/.netrc`
    ");
    sandbox.env(&variable, "wr0ng");
    insta::assert_snapshot!(told(&forge, &sandbox.run(&["install", &url])), @"
    exit: 4
    --- stderr
    error: `HOST` does not allow access to `http://HOST/a.zip` with the token in `SKILLPM_TOKEN_[LOCAL]`: Not you
    hint: it may have expired, or belong to another address
    ");
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
    let refused = told(&forge, &sandbox.run(&["install", &url]));
    insta::assert_snapshot!(refused.replace(&netrc.display().to_string(), "NETRC"), @"
    exit: 4
    --- stderr
    error: `HOST` does not allow access to `http://HOST/a.zip` with the login in `../netrc`: Not you
    hint: it may have expired, or belong to another address
    ");
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
    insta::assert_snapshot!(told(&forge, &sandbox.run(&["install", &forge.url("/c.zip")])), @"
    exit: 4
    --- stderr
    error: `HOST` redirects to `http://OTHER/d.zip`, which requires a login (status 403): From the forge
    hint: credentials are only sent to `OTHER`; use its own URL
    ");
}

/// Plain `http` to another machine is used, with a warning and without credentials.
#[test]
fn plain_http_is_told() {
    let (forge, mut sandbox) = (Forge::start(), Sandbox::new());
    let proxy = Proxy::leading_to(&forge.api_host());
    sandbox.env("http_proxy", &proxy.url()).env("SKILLPM_TOKEN_SKILLS_EXAMPLE", "t0ken");
    sandbox.env("SKILLPM_TOKEN_SKILLS_EXAMPLE___80", "t0ken");
    forge.serve("/a.zip", pdf().zip());
    insta::assert_snapshot!(sandbox.run(&["install", "http://skills.example/a.zip"]), @"
    exit: 0
    --- stderr
    + pdf (url:http://skills.example/a.zip)
    1 skill added in `.agents/skills`
    available to agents that read `.agents/skills`; `--agent` adds others
    `skillpm.toml` and `skillpm.lock` changed: commit both
    warning: `http://skills.example/a.zip` was read over `http`: anyone on the network could have changed it
    hint: `skillpm list` shows what is installed, `skillpm invoke pdf` what an agent gets
    ");
    assert_eq!(forge.requests()[0].header("authorization"), None);
    forge.want_login("Bearer t0ken");
    insta::assert_snapshot!(sandbox.run(&["install", "http://skills.example/a.zip"]), @"
    exit: 4
    --- stderr
    error: `http://skills.example/a.zip` requires a login: Log in
    hint: credentials are only sent over a secure connection: use an address with `https://`
    ");
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
    let mut shown = String::new();
    for (what, fault) in [
        ("missing", Fault::Status(404, vec![], "")),
        ("gone", Fault::Status(410, vec![], "")),
        ("broken", Fault::Status(500, vec![], "")),
        ("limited", Fault::Status(429, vec![], "")),
        ("cut off", Fault::Truncated),
        ("cut off in chunks", Fault::TruncatedChunks),
        ("stalled", Fault::Stalled),
        ("too long", Fault::WrongLength(1)),
        ("gzip bomb", Fault::Gzip(1 << 24)),
        ("loop", Fault::Loop),
        ("a local file", Fault::Redirect("file:///etc/passwd".to_owned())),
        ("huge header", Fault::HugeHeader),
        ("no HTTP", Fault::Garbage),
        ("a page", Fault::Html),
    ] {
        let (forge, mut sandbox) = (Forge::start(), Sandbox::new());
        sandbox.env("SKILLPM_HTTP_RETRIES", "0").env("SKILLPM_HTTP_TIMEOUT", "1");
        forge.serve("/a.zip", &bytes);
        forge.fail_always(Endpoint::File, fault);
        let output = sandbox.run(&["install", &forge.url("/a.zip")]);
        write!(shown, "# {what}\n{}", told(&forge, &output)).expect("memory");
        assert_eq!(sandbox.tree(&sandbox.project()), Vec::<String>::new(), "{what}");
        let left = sandbox.tree(&sandbox.home());
        assert!(left.iter().all(|line| line.ends_with('/')), "{what}: {left:?}");
    }
    insta::assert_snapshot!(shown, @"
    # missing
    exit: 4
    --- stderr
    error: `http://HOST/a.zip` does not exist (status 404)
    hint: check the address; if it needs a login, set `SKILLPM_TOKEN_[LOCAL]` to a token, or write `machine 127.0.0.1 login NAME password PASSWORD` into `[DIR]/home/.netrc`
    # gone
    exit: 4
    --- stderr
    error: `http://HOST/a.zip` does not exist (status 410)
    hint: check the address; if it needs a login, set `SKILLPM_TOKEN_[LOCAL]` to a token, or write `machine 127.0.0.1 login NAME password PASSWORD` into `[DIR]/home/.netrc`
    # broken
    exit: 4
    --- stderr
    error: `http://HOST/a.zip` answered with status 500
    hint: the server has a problem: try again later
    # limited
    exit: 4
    --- stderr
    error: the rate limit of `HOST` is reached
    hint: run it again when the limit has reset
    # cut off
    exit: 4
    --- stderr
    error: the response from `HOST` was cut off: 1595 bytes arrived, 3190 were expected
    hint: run it again
    # cut off in chunks
    exit: 4
    --- stderr
    error: the response from `HOST` was cut off: 1595 bytes arrived, more were expected
    hint: run it again
    # stalled
    exit: 4
    --- stderr
    error: the response from `HOST` stalled: no data for 1 second after 1024 bytes
    hint: run it again; for a slow connection, set `SKILLPM_HTTP_TIMEOUT` to more seconds
    # too long
    exit: 4
    --- stderr
    error: the response from `HOST` was cut off: 3190 bytes arrived, 3191 were expected
    hint: run it again
    # gzip bomb
    exit: 4
    --- stderr
    error: `http://HOST/a.zip` answered in the encoding `gzip`, which was not requested
    hint: a proxy or a login page may have changed the response
    # loop
    exit: 4
    --- stderr
    error: `http://HOST/a.zip` redirects too often
    # a local file
    exit: 4
    --- stderr
    error: `http://HOST/a.zip` redirects to `file:///etc/passwd`: only `https` and `http` are supported
    # huge header
    exit: 4
    --- stderr
    error: the response from `HOST` cannot be read: its head has more than 65536 bytes
    hint: a proxy or a login page may have changed the response
    # no HTTP
    exit: 4
    --- stderr
    error: the response from `HOST` cannot be read: invalid HTTP version parsed
    hint: a proxy or a login page may have changed the response
    # a page
    exit: 5
    --- stderr
    error: `http://HOST/a.zip` is refused
      caused by: this is not a zip, tar or tar.gz archive: it looks like an HTML page
    ");
}

#[test]
fn unknown_hosts_and_closed_ports() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run(&["install", "https://127.0.0.1:9/a.zip"]), @"
    exit: 4
    --- stderr
    failed to connect to `127.0.0.1:9`; retrying in 1 s (1 of 1)
    error: failed to connect to `127.0.0.1:9`
      caused by: Connection refused (os error 111)
    hint: check the connection; behind a proxy, set `HTTPS_PROXY`
    hint: skills in the store can be installed without a network: `--offline`
    ");
    insta::assert_snapshot!(sandbox.run(&["install", "--offline", "https://h.example/a.zip"]), @"
    exit: 4
    --- stderr
    error: `https://h.example/a.zip` is not in the cache, and `--offline` forbids the network
    hint: run it again without `--offline`, and with `SKILLPM_OFFLINE` unset
    ");
    let (forge, secure) = (Forge::start(), Sandbox::new());
    let address = forge.url("/a.zip").replace("http:", "https:");
    insta::assert_snapshot!(told(&forge, &secure.run(&["install", &address])), @"
    exit: 4
    --- stderr
    error: no secure connection to `HOST`: it does not speak TLS on this port
    hint: if a proxy on your network replaces certificates, set `SSL_CERT_FILE` to the file that holds it
    ");
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
