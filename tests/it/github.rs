//! The GitHub source against the forge.

use std::path::PathBuf;
use std::sync::Arc;

use skillpm_format::advice::CommandLine;
use skillpm_format::spec::{Reference, Repository};
use skillpm_sources::error::{Error, ErrorKind, Result};
use skillpm_sources::fs::SharedFile;
use skillpm_sources::http::Client;
use skillpm_sources::reporter::Silent;
use skillpm_sources::settings::Settings;
use skillpm_sources::source::github::GitHub;

use crate::support::failed;
use crate::support::{Endpoint, Fault, Forge, Sandbox, Tree};

const LIMIT: u64 = 1 << 20;

/// A forge with `acme/skills`, and a machine that knows it.
struct Scene {
    forge: Forge,
    sandbox: Sandbox,
    first: String,
    second: String,
}

impl Scene {
    fn new() -> Self {
        let forge = Forge::start();
        let repo = forge.repo("acme/skills");
        let first = repo.commit(&Tree::new().skill("skills/pdf", "pdf"));
        let second = repo.commit(&Tree::new().skill("skills/pdf", "pdf").skill("skills/doc", "doc"));
        repo.tag("v1", &first).branch("feature/a b", &first);
        let mut sandbox = Sandbox::new();
        sandbox.forge(&forge);
        Self { forge, sandbox, first, second }
    }

    fn with<T>(&self, use_it: impl FnOnce(&GitHub<'_>) -> Result<T>) -> Result<T> {
        with(&self.sandbox.settings(), "acme/skills", use_it)
    }

    fn resolve(&self, reference: &Reference) -> Result<String> {
        self.with(|github| github.resolve(Some(reference)))
    }

    fn download(&self, commit: &str) -> Result<Vec<u8>> {
        self.with(|github| github.download(commit, LIMIT)).map(|file| content(&file))
    }

    fn cache(&self) -> PathBuf {
        self.sandbox.home().join(".cache/skillpm")
    }

    fn archives(&self) -> PathBuf {
        let host = self.forge.api_host().replace(':', "_");
        self.cache().join("github/archives").join(host).join("acme/skills")
    }
}

fn with<T>(
    settings: &Settings,
    repository: &str,
    use_it: impl FnOnce(&GitHub<'_>) -> Result<T>,
) -> Result<T> {
    let client = Client::new(settings, Arc::new(Silent));
    let repository = Repository::parse(repository).expect("a repository");
    use_it(&GitHub::new(&client, settings, &repository)?)
}

fn content(file: &SharedFile) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(file.len()).expect("a small file")];
    file.read_exact_at(&mut bytes, 0).expect("reads");
    bytes
}

/// An error as the program prints it, with the addresses of this run taken out.
fn told(error: &Error, scene: &Scene) -> String {
    let mut lines = vec![format!("error ({:?}): {}", error.kind(), error.message().worded(&CommandLine))];
    lines.extend(error.hints().iter().map(|hint| format!("hint: {}", hint.worded(&CommandLine))));
    lines.join("\n").replace(&scene.forge.api_host(), "[API]")
}

#[test]
fn references_become_commits() {
    let scene = Scene::new();
    let (first, second) = (scene.first.clone(), scene.second.clone());
    assert_eq!(scene.with(|github| github.resolve(None)).expect("the default"), second);
    for reference in [
        Reference::Tag("v1".into()),
        Reference::Branch("feature/a b".into()),
        Reference::Any("v1".into()),
        Reference::Any(first.clone()),
        Reference::Rev(first.clone()),
        Reference::Rev(first[..9].to_uppercase()),
    ] {
        // Git allows no blank in a name, so neither do we: it is refused before it is sent.
        let spaced = reference.name().contains(' ');
        assert_eq!(scene.resolve(&reference).ok(), (!spaced).then(|| first.clone()), "{reference:?}");
    }
    let paths: Vec<String> = scene.forge.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(paths[0], "/repos/acme/skills/commits/HEAD");
    assert_eq!(paths[1], "/repos/acme/skills/commits/tags/v1");
}

#[test]
fn names_are_encoded_and_read_back() {
    let scene = Scene::new();
    scene.forge.repo("acme/skills").branch("feature/ä#1%", &scene.first);
    let reference = Reference::Branch("feature/ä#1%".into());
    assert_eq!(scene.resolve(&reference).expect("a branch"), scene.first);
    let path = &scene.forge.requests()[0].path;
    assert_eq!(path, "/repos/acme/skills/commits/heads/feature/%C3%A4%231%25");
}

#[test]
fn h26_a_commit_that_has_not_changed_is_not_sent_again() {
    let scene = Scene::new();
    let main = Reference::Branch("main".into());
    assert_eq!(scene.resolve(&main).expect("the first time"), scene.second);
    assert_eq!(scene.resolve(&main).expect("the second time"), scene.second);
    let tags: Vec<bool> =
        scene.forge.requests().iter().map(|r| r.header("if-none-match").is_some()).collect();
    assert_eq!(tags, [false, true]);
    scene.forge.repo("acme/skills").branch("main", &scene.first);
    assert_eq!(scene.resolve(&main).expect("the branch moved"), scene.first);
}

#[test]
fn h27_a_broken_or_unwritable_cache_changes_nothing() {
    let scene = Scene::new();
    let main = Reference::Branch("main".into());
    scene.resolve(&main).expect("the first time");
    let refs = scene.cache().join("github/refs");
    for entry in std::fs::read_dir(refs).expect("the cache") {
        std::fs::write(entry.expect("an entry").path(), "{").expect("writes");
    }
    assert_eq!(scene.resolve(&main).expect("without the cache"), scene.second);
    std::fs::remove_dir_all(scene.cache()).expect("removes");
    std::fs::write(scene.cache(), "a file in the way").expect("writes");
    assert_eq!(scene.resolve(&main).expect("without a directory"), scene.second);
    assert!(scene.download(&scene.second).expect("a nameless file").starts_with(b"PK"));
}

#[test]
fn gg13_a_branch_with_the_name_of_a_commit_does_not_win() {
    let scene = Scene::new();
    scene.forge.repo("acme/skills").branch(&scene.first, &scene.second);
    let expected = format!(
        "error (Integrity): commit `{}` of `acme/skills` was requested, but the server answered with `{}`\n\
         hint: a branch or tag of that name hides the commit: name another revision",
        scene.first, scene.second
    );
    for reference in [Reference::Rev(scene.first.clone()), Reference::Any(scene.first.clone())] {
        let error = scene.resolve(&reference).expect_err("another commit");
        assert_eq!(told(&error, &scene), expected);
    }
}

#[test]
fn lk19_a_revision_that_is_a_name_is_refused_without_a_request() {
    let scene = Scene::new();
    assert_eq!(scene.resolve(&Reference::Rev("main".into())).expect_err("a name").kind(), ErrorKind::Usage);
    assert_eq!(scene.download("main").expect_err("a name").kind(), ErrorKind::Usage);
    assert_eq!(scene.forge.requests(), []);
}

#[test]
fn what_is_not_there_is_told_apart() {
    let scene = Scene::new();
    let error = scene.resolve(&Reference::Tag("v9".into())).expect_err("no tag");
    failed(&error, 2, "revision-unknown", &["acme/skills", "v9"]);
    scene.forge.fail(Endpoint::Commit, Fault::status(404));
    let error = scene.resolve(&Reference::Any("v9".into())).expect_err("no tag");
    assert_eq!(error.to_string(), "`acme/skills` has no revision `v9`");
    let settings = scene.sandbox.settings();
    let error = with(&settings, "acme/other", |g| g.resolve(None)).expect_err("none");
    failed(&error, 4, "network", &["acme/other"]);
    scene.forge.repo("acme/empty");
    let error = with(&settings, "acme/empty", |g| g.resolve(None)).expect_err("empty");
    assert_eq!(told(&error, &scene), "error (Usage): the repository `acme/empty` is empty");
}

#[test]
fn a_private_repository_needs_the_token() {
    let mut scene = Scene::new();
    scene.forge.repo("acme/skills").private();
    scene.forge.accept_token("s3cret");
    assert!(scene.with(|github| github.resolve(None)).is_err());
    scene.sandbox.env("GH_TOKEN", "s3cret");
    assert_eq!(scene.with(|github| github.resolve(None)).expect("a commit"), scene.second);
}

#[test]
fn a_wrong_token_names_its_variable_and_not_itself() {
    let mut scene = Scene::new();
    scene.forge.accept_token("right");
    scene.sandbox.env("GH_TOKEN", "wr0ng");
    let error = scene.with(|github| github.resolve(None)).expect_err("a wrong token");
    assert_eq!(scene.forge.requests().len(), 1);
    failed(&error, 4, "network", &["GH_TOKEN"]);
    scene.sandbox.env("GH_TOKEN", "two words");
    let error = scene.with(|github| github.resolve(None)).expect_err("no token at all");
    assert_eq!((error.kind(), scene.forge.requests().len()), (ErrorKind::Config, 1));
    assert!(!format!("{error:?}").contains("two words"));
}

#[test]
fn access_that_is_not_allowed_says_why() {
    let scene = Scene::new();
    scene.forge.fail(Endpoint::Commit, Fault::status(403));
    let error = scene.with(|github| github.resolve(None)).expect_err("forbidden");
    failed(&error, 4, "network", &["acme/skills"]);
}

/// Only GitHub gives more requests to those with this token.
#[test]
fn a_limit_names_the_token_that_raises_it() {
    let mut scene = Scene::new();
    scene.forge.fail_always(Endpoint::Commit, Fault::too_many("999999999"));
    let error = scene.with(|github| github.resolve(None)).expect_err("a limit");
    failed(&error, 4, "rate-limit", &[]);
    scene.sandbox.env("GITHUB_TOKEN", "s3cret");
    let error = scene.with(|github| github.resolve(None)).expect_err("a limit");
    failed(&error, 4, "rate-limit", &[]);
}

#[test]
fn h09_the_archive_comes_without_the_token_and_is_kept() {
    let mut scene = Scene::new();
    scene.forge.accept_token("s3cret");
    scene.sandbox.env("GITHUB_TOKEN", "s3cret");
    let bytes = scene.download(&scene.second).expect("an archive");
    assert!(bytes.starts_with(b"PK") && bytes.ends_with(scene.second.as_bytes()));
    let requests = scene.forge.requests();
    let sent: Vec<_> = requests.iter().map(|r| (r.host.clone(), r.header("authorization"))).collect();
    let (api, archives) = (scene.forge.api_host(), scene.forge.archive_host());
    assert_eq!(sent, [(api, Some("Bearer s3cret")), (archives, None)]);
    assert_eq!(scene.sandbox.tree(&scene.archives()), [format!("600 {}.zip", scene.second)]);

    let again = scene.download(&scene.second).expect("from the cache");
    assert_eq!((again, scene.forge.requests().len()), (bytes, 2));
    let mut settings = scene.sandbox.settings();
    settings.offline = true;
    let offline = |commit: &str| with(&settings, "acme/skills", |github| github.download(commit, LIMIT));
    assert!(offline(&scene.second).is_ok());
    assert_eq!(offline(&scene.first).expect_err("not kept").kind(), ErrorKind::Network);
    assert_eq!(scene.forge.requests().len(), 2);
}

/// As with other credentials: only a secure connection, or this machine, gets it.
#[test]
fn the_token_is_not_sent_in_clear_to_another_machine() {
    let mut scene = Scene::new();
    scene.sandbox.env("GITHUB_TOKEN", "s3cret").env("GITHUB_API_URL", "http://forge.example");
    let error = scene.resolve(&Reference::Tag("v1".into())).expect_err("refused");
    failed(&error, 3, "configuration", &["GITHUB_TOKEN", "http://forge.example/"]);
}

#[test]
fn a_damaged_archive_is_forgotten_and_fetched_anew() {
    let scene = Scene::new();
    let whole = scene.download(&scene.first).expect("an archive");
    let path = scene.archives().join(format!("{}.zip", scene.first));
    std::fs::write(&path, "PK damaged").expect("writes");
    assert_eq!(scene.download(&scene.first).expect("as it is"), b"PK damaged");
    scene.with(|github| github.forget(&scene.first)).expect("removes");
    assert_eq!(scene.download(&scene.first).expect("anew"), whole);
    scene.with(|github| github.forget(&scene.second)).expect("was never there");
    // An empty file is what a crash of the machine may leave: it is no archive.
    std::fs::write(&path, "").expect("writes");
    assert_eq!(scene.download(&scene.first).expect("anew"), whole);
}

#[test]
fn h28_a_page_in_place_of_an_archive_is_not_kept() {
    let scene = Scene::new();
    scene.forge.fail(Endpoint::Archive, Fault::Html);
    assert!(scene.download(&scene.first).expect("a page").starts_with(b"<!DOCTYPE"));
    assert_eq!(scene.sandbox.tree(&scene.archives()), Vec::<String>::new());
    scene.forge.fail(Endpoint::Commit, Fault::Html);
    let error = scene.with(|github| github.resolve(None)).expect_err("a page");
    failed(&error, 4, "network", &[]);
}

#[test]
fn h01_a_failed_download_leaves_nothing() {
    let mut scene = Scene::new();
    scene.sandbox.env("SKILLPM_HTTP_RETRIES", "0");
    for fault in [Fault::Truncated, Fault::Reset, Fault::Endless, Fault::Gzip(1000)] {
        scene.forge.fail(Endpoint::Archive, fault);
        assert!(scene.download(&scene.first).is_err());
        assert_eq!(scene.sandbox.tree(&scene.archives()), Vec::<String>::new());
    }
    assert!(scene.download(&scene.first).is_ok());
    let small = scene.with(|github| github.download(&scene.first, 10)).expect_err("a small limit");
    assert_eq!(small.kind(), ErrorKind::Integrity);
}

#[test]
fn a_repository_on_another_server_says_how_to_get_there() {
    let scene = Scene::new();
    let settings = scene.sandbox.settings();
    let error = with(&settings, "ghe.example.com/acme/skills", |github| github.resolve(None))
        .expect_err("another server");
    assert_eq!(scene.forge.requests(), []);
    failed(&error, 2, "usage", &["ghe.example.com/acme/skills", "github.com"]);
}

#[test]
fn the_program_runs_in_the_sandbox() {
    let mut sandbox = Sandbox::new();
    sandbox.write("a/b.txt", "x");
    sandbox.env("NO_COLOR", "1");
    assert_eq!(sandbox.run(&["--version"]).code, Some(0));
    assert_eq!(sandbox.tree(&sandbox.project()), ["644 a/b.txt", "a/"]);
}

/// Whoever looks for a reason sees what was asked of whom, and how it went.
#[test]
fn requests_are_told_to_whoever_wants_to_know() {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    forge.repo("acme/skills").commit(&Tree::new().skill("skills/pdf", "pdf"));
    let output = sandbox.run(&["-v", "install", "acme/skills@pdf"]);
    assert_eq!(output.code, Some(0), "{output}");
    let asked: Vec<_> = output.stderr.lines().filter(|line| line.starts_with("GET http")).collect();
    assert!(asked[0].contains("/repos/acme/skills/commits/HEAD: 200 in "), "{output}");
    assert!(asked.iter().any(|line| line.contains("/zipball/") && line.ends_with(" ms")), "{output}");
    let again = sandbox.run(&["--verbose", "install", "-g", "acme/skills@pdf"]);
    let cached = |line: &str| line.contains("/zipball/") && line.ends_with(": from the cache");
    assert!(again.stderr.lines().any(cached), "{again}");
    let calm = sandbox.run(&["update", "-g"]);
    assert!(!calm.stderr.contains("GET "), "{calm}");
}
