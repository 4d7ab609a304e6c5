//! What sources have now, asked without a download.

use skillpm_core::scope::Scope;
use skillpm_core::scope::state::Files as ScopeFiles;
use skillpm_format::scope_kind::ScopeKind;
use skillpm_format::spec::Reference;
use skillpm_sources::context::Context;
use skillpm_sources::source::newest::{Answer, Query, ask, latest};

use crate::support::{Endpoint, Fault, Forge, GitRepo, GitServer, Sandbox, Tree};

/// Asks for all locked skills: `pdf 1a2b3c4 changed`, a line each, and the errors of sources.
fn told(sandbox: &Sandbox) -> Vec<String> {
    let context = Context::silent(sandbox.settings());
    told_by(&context)
}

fn told_by(context: &Context) -> Vec<String> {
    let (names, answers) = answers(context, false);
    let mut lines = Vec::new();
    for answer in answers {
        match &answer.newest {
            Ok(newest) => lines.extend(answer.at.iter().zip(newest).map(|(at, newest)| {
                let revision = newest.revision.as_deref().unwrap_or("-");
                format!("{} {} {:?}", names[*at], &revision[..revision.len().min(7)], newest.files)
            })),
            Err(error) => lines.push(format!("{}: {error}", answer.at.len())),
        }
    }
    lines.sort();
    lines
}

fn answers(context: &Context, past: bool) -> (Vec<String>, Vec<Answer>) {
    let scope = Scope::new(&context.settings, ScopeKind::Project).expect("a scope");
    let files = ScopeFiles::read(&scope).expect("a lockfile");
    let queries: Vec<_> = files
        .lock
        .skills
        .iter()
        .map(|(name, locked)| Query::new(locked, files.manifest.skills().get(name)))
        .collect();
    let names = files.lock.skills.keys().map(ToString::to_string).collect();
    (names, ask(context, scope.as_root(), &queries, past))
}

fn skills(names: &[&str]) -> Tree {
    names.iter().fold(Tree::new(), |tree, name| tree.skill(&format!("skills/{name}"), name))
}

/// A machine with `pdf` and `doc` of `acme/skills`.
fn with_github() -> (Forge, Sandbox, String) {
    let forge = Forge::start();
    let first = forge.repo("acme/skills").commit(&skills(&["doc", "pdf"]));
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    let output = sandbox.run(&["install", "acme/skills", "--skill", "*"]);
    assert_eq!(output.code, Some(0), "{output}");
    forge.clear_requests();
    (forge, sandbox, first)
}

#[test]
fn one_conditional_request_tells_that_nothing_is_new() {
    let (forge, sandbox, first) = with_github();
    let short = &first[..7];
    assert_eq!(told(&sandbox), [format!("doc {short} Same"), format!("pdf {short} Same")]);
    let requests = forge.requests();
    assert_eq!(forge.asked(), ["/repos/acme/skills/commits/HEAD"]);
    assert!(requests[0].header("if-none-match").is_some());
}

/// One request for the trees of a commit, however many skills there are, and no archive.
#[test]
fn trees_tell_which_skills_changed() {
    let (forge, sandbox, first) = with_github();
    let tree = skills(&["doc", "pdf"]).file("skills/pdf/more.md", "x").file("README.md", "x");
    let second = forge.repo("acme/skills").commit(&tree);
    let short = &second[..7];
    let expected = [format!("doc {short} Same"), format!("pdf {short} Changed")];
    assert_eq!(told(&sandbox), expected);
    let trees = |commit: &str| format!("/repos/acme/skills/git/trees/{commit}?recursive=1");
    assert_eq!(forge.asked(), ["/repos/acme/skills/commits/HEAD".to_owned(), trees(&second), trees(&first)]);
    forge.clear_requests();
    assert_eq!(told(&sandbox), expected);
    assert_eq!(forge.asked(), ["/repos/acme/skills/commits/HEAD"], "commits do not change");
    let third = forge.repo("acme/skills").commit(&skills(&["pdf"]));
    assert_eq!(told(&sandbox), [format!("doc {} Gone", &third[..7]), format!("pdf {} Same", &third[..7])]);
}

/// What the store has is compared first: where nothing changed, the old commit is not asked for.
#[test]
fn the_store_knows_the_ids_of_what_is_locked() {
    let (forge, sandbox, _) = with_github();
    let second = forge.repo("acme/skills").commit(&skills(&["doc", "pdf", "other"]));
    assert_eq!(told(&sandbox)[0], format!("doc {} Same", &second[..7]));
    assert_eq!(forge.asked().len(), 2, "{:?}", forge.asked());
}

/// THREATS: pages of proxies, limits and lies are no answers, and no failures either.
#[test]
fn without_trees_it_is_not_known_what_changed() {
    let (forge, sandbox, _) = with_github();
    let second = forge.repo("acme/skills").commit(&skills(&["doc", "pdf"]));
    for fault in [Fault::Html, Fault::status(404), Fault::rate_limit(3600), Fault::Garbage, Fault::Endless] {
        forge.fail(Endpoint::Trees, fault.clone());
        assert_eq!(told(&sandbox)[1], format!("pdf {} Unknown", &second[..7]), "{fault:?}");
    }
    let other = Fault::Status(
        200,
        Vec::new(),
        "{\"tree\":[{\"path\":\"skills/pdf\",\"mode\":\"040000\",\"sha\":\"x\"}]}",
    );
    forge.fail(Endpoint::Trees, other);
    assert_eq!(told(&sandbox)[1], format!("pdf {} Unknown", &second[..7]));
    assert_eq!(told(&sandbox)[1], format!("pdf {} Same", &second[..7]), "the next time it is known");
}

#[test]
fn a_source_that_cannot_be_reached_is_one_answer() {
    let (forge, sandbox, _) = with_github();
    forge.fail_always(Endpoint::Commit, Fault::rate_limit(3600));
    let lines = told(&sandbox);
    assert_eq!(lines.len(), 1);
    assert!(lines[0].starts_with("2: the requests that") || lines[0].contains("limit"), "{lines:?}");
}

#[test]
fn without_a_network_what_was_asked_last_is_told() {
    let (forge, sandbox, first) = with_github();
    let second = forge.repo("acme/skills").commit(&skills(&["doc"]).file("skills/pdf/SKILL.md", "x"));
    let mut settings = sandbox.settings();
    settings.offline = true;
    let offline = Context::silent(settings);
    assert_eq!(told_by(&offline)[1], format!("pdf {} Same", &first[..7]));
    told(&sandbox);
    forge.clear_requests();
    assert_eq!(told_by(&offline)[1], format!("pdf {} Changed", &second[..7]));
    assert!(forge.requests().is_empty());
}

#[test]
fn pins_are_not_asked_for_and_what_lies_past_them_is() {
    let (forge, sandbox, first) = with_github();
    let repo = forge.repo("acme/skills");
    repo.tag("v1.9", &first).tag("v1.10", &first).tag("v2.0-rc.1", &first).tag("docs-v9", &first);
    let head = repo.commit(&skills(&["doc"]));
    let context = Context::silent(sandbox.settings());
    let scope = Scope::new(&context.settings, ScopeKind::Project).expect("a scope");
    let origin = "github:acme/skills".parse().expect("an origin");
    let past = |reference: Reference| {
        latest(&context, scope.as_root(), &origin, Some(&reference)).expect("an answer")
    };
    assert_eq!(past(Reference::Tag("v1.9".into())), Some(Reference::Tag("v1.10".into())));
    assert_eq!(forge.asked(), ["/repos/acme/skills/git/matching-refs/tags/v"]);
    assert_eq!(past(Reference::Tag("v1.10".into())), None);
    assert_eq!(past(Reference::Branch("main".into())), None);
    assert_eq!(past(Reference::Rev(first.clone())), Some(Reference::Rev(head.clone())));
    assert_eq!(past(Reference::Rev(head)), None);
    let pinned = |name: &str| {
        format!("{name} = {{ github = \"acme/skills\", path = \"skills/{name}\", rev = \"{first}\" }}\n")
    };
    sandbox.write("skillpm.toml", format!("[skills]\n{}{}", pinned("doc"), pinned("pdf")));
    forge.clear_requests();
    assert_eq!(told(&sandbox)[1], format!("pdf {} Same", &first[..7]));
    assert_eq!(forge.asked(), [""; 0]);
}

/// THREATS: 100,000 tags, and names that a terminal would act on.
#[test]
fn hostile_tags_are_bounded() {
    let (forge, sandbox, first) = with_github();
    let repo = forge.repo("acme/skills");
    for name in ["v1.0", "v1.1", "v9.0\u{1b}[2J", "v9.0\u{202e}", "v9.0\n", "v99999999999999999999.0"] {
        repo.tag(name, &first);
    }
    let context = Context::silent(sandbox.settings());
    let scope = Scope::new(&context.settings, ScopeKind::Project).expect("a scope");
    let origin = "github:acme/skills".parse().expect("an origin");
    let tag = Reference::Tag("v1.0".into());
    let past = || latest(&context, scope.as_root(), &origin, Some(&tag));
    assert_eq!(past().expect("an answer"), Some(Reference::Tag("v1.1".into())));
    for fault in [Fault::Html, Fault::Endless, Fault::Status(200, Vec::new(), "{}")] {
        forge.fail(Endpoint::Tags, fault);
        past().expect_err("no list");
    }
    let many: Vec<_> = (0..100_000).map(|n| format!("{{\"ref\":\"refs/tags/v1.{n}\"}}")).collect();
    let many: &'static str = format!("[{}]", many.join(",")).leak();
    forge.fail(Endpoint::Tags, Fault::Status(200, Vec::new(), many));
    assert_eq!(past().expect("an answer"), Some(Reference::Tag("v1.99999".into())));
}

#[test]
fn git_servers_are_asked_for_references_and_trees() {
    let dir = tempfile::tempdir().expect("a directory");
    let work = GitRepo::new(&dir.path().join("work"));
    let first = work.commit(&skills(&["doc", "pdf"]));
    work.git(&["tag", "v1.0"]);
    let bare = work.bare(&dir.path().join("served/skills.git"));
    let server = GitServer::start(&dir.path().join("served"));
    let url = server.url("skills.git");
    let sandbox = Sandbox::new();
    let output = sandbox.run(&["install", &url, "--skill", "*"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(told(&sandbox), [format!("doc {} Same", &first[..7]), format!("pdf {} Same", &first[..7])]);

    let large = "x".repeat(100_000);
    let tree = skills(&["doc", "pdf"]).file("skills/pdf/more.md", &large).file("README.md", "x");
    let second = work.commit(&tree);
    work.git(&["tag", "--annotate", "--message=x", "v1.1"]);
    work.push(&bare);
    assert_eq!(
        told(&sandbox),
        [format!("doc {} Same", &second[..7]), format!("pdf {} Changed", &second[..7])]
    );
    server.clear_requests();
    told(&sandbox);
    let posts = server.requests().iter().filter(|request| request.starts_with("POST")).count();
    assert_eq!(posts, 1, "only the references are asked for: {:?}", server.requests());
    let context = Context::silent(sandbox.settings());
    let cache = context.settings.dirs.cache.clone().expect("a cache").join("git");
    let repository =
        std::fs::read_dir(cache).expect("a cache").next().expect("a repository").expect("an entry");
    let fetched = GitRepo::at(&repository.path().join("repository"));
    let blob = work.git(&["rev-parse", "HEAD:skills/pdf/more.md"]);
    let there = fetched.git(&["cat-file", "--batch-check", "--batch-all-objects"]);
    assert!(!there.contains(&blob), "no content was fetched");

    let scope = Scope::new(&context.settings, ScopeKind::Project).expect("a scope");
    let origin = format!("git:{url}").parse().expect("an origin");
    let past = |reference: Reference| {
        latest(&context, scope.as_root(), &origin, Some(&reference)).expect("an answer")
    };
    assert_eq!(past(Reference::Tag("v1.0".into())), Some(Reference::Tag("v1.1".into())));
    assert_eq!(past(Reference::Rev(first)), Some(Reference::Rev(second.clone())));
    sandbox.write(
        "skillpm.toml",
        format!("[skills]\npdf = {{ git = \"{url}\", path = \"skills/pdf\", tag = \"v1.1\" }}\n"),
    );
    assert_eq!(
        told(&sandbox)[1],
        format!("pdf {} Changed", &second[..7]),
        "the commit of the tag, not the tag"
    );

    let mut settings = sandbox.settings();
    settings.offline = true;
    assert_eq!(told_by(&Context::silent(settings)).len(), 2);
}

#[test]
fn repositories_and_directories_on_this_machine_are_read() {
    let sandbox = Sandbox::new();
    let repo = GitRepo::new(&sandbox.project().join("repo"));
    let first = repo.commit(&skills(&["pdf"]));
    sandbox.write("own/SKILL.md", "---\nname: own\ndescription: Does.\n---\n");
    for source in ["git+./repo", "./own"] {
        let output = sandbox.run(&["install", source]);
        assert_eq!(output.code, Some(0), "{output}");
    }
    assert_eq!(told(&sandbox), ["own - Same".to_owned(), format!("pdf {} Same", &first[..7])]);
    let second = repo.commit(&skills(&["pdf"]).file("skills/pdf/x", "x"));
    sandbox.write("own/x", "x");
    assert_eq!(told(&sandbox), ["own - Changed".to_owned(), format!("pdf {} Changed", &second[..7])]);
    std::fs::remove_dir_all(sandbox.project().join("own")).expect("removes");
    assert!(told(&sandbox)[0].contains("does not exist"), "{:?}", told(&sandbox));
}

#[test]
fn files_and_sites_tell_by_tags_and_digests() {
    let forge = Forge::start();
    let archive = |text: &str| Tree::new().skill("zipped", "zipped").file("zipped/x", text).zip();
    let document = |text: &str| format!("---\nname: single\ndescription: Does.\n---\n{text}\n");
    forge.serve("/zipped.zip", archive("1")).serve("/single.md", document("1"));
    let index = |text: &str| {
        let artifact = document(text).replace("single", "listed");
        forge.serve("/listed.md", &artifact);
        let digest = skillpm_format::digest::Digest::of(artifact.as_bytes());
        let entry = serde_json::json!({
            "name": "listed", "type": "skill-md", "description": "Does.", "url": "/listed.md",
            "digest": digest.to_string(),
        });
        serde_json::json!({
            "$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
            "skills": [entry],
        })
        .to_string()
    };
    forge.serve("/.well-known/agent-skills/index.json", index("1"));
    let sandbox = Sandbox::new();
    for source in [forge.url("/zipped.zip"), forge.url("/single.md"), format!("site:{}", forge.url(""))] {
        let output = sandbox.run(&["install", &source]);
        assert_eq!(output.code, Some(0), "{output}");
    }
    forge.clear_requests();
    let lines = told(&sandbox);
    assert_eq!(
        (lines[0].split(' ').next_back(), &*lines[1], &*lines[2]),
        (Some("Same"), "single - Same", "zipped - Same")
    );
    assert!(forge.requests().iter().all(|request| request.header("if-none-match").is_some()));
    forge.serve("/zipped.zip", archive("2")).serve("/single.md", document("2"));
    forge.serve("/.well-known/agent-skills/index.json", index("2"));
    forge.clear_requests();
    let lines = told(&sandbox);
    assert_eq!(
        (lines[0].split(' ').next_back(), &*lines[1], &*lines[2]),
        (Some("Changed"), "single - Changed", "zipped - Unknown")
    );
    assert!(!forge.asked().contains(&"/listed.md".to_owned()));
}

#[test]
fn several_sources_are_asked_and_one_of_them_is_down() {
    let (forge, sandbox, first) = with_github();
    sandbox.write("own/SKILL.md", "---\nname: own\ndescription: Does.\n---\n");
    forge.serve("/single.md", "---\nname: single\ndescription: Does.\n---\n");
    for source in ["./own", &forge.url("/single.md")] {
        assert_eq!(sandbox.run(&["install", source]).code, Some(0));
    }
    forge.unserve("/single.md");
    let lines = told(&sandbox);
    assert!(lines[0].ends_with("does not exist (status 404)"), "{lines:?}");
    assert_eq!(
        lines[1..],
        [format!("doc {} Same", &first[..7]), "own - Same".into(), format!("pdf {} Same", &first[..7])]
    );
}
