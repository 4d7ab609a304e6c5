//! Registries: versions, ranges and dependencies of skills, from a directory and over HTTP.

mod back;
mod choice;
mod import;
mod places;
mod update;
mod words;

use std::fs;

use serde_json::{Value, json};
use skillpm_core::ops::install::{InstallRequest, install};
use skillpm_format::digest::Digest;
use skillpm_format::name::SkillName;
use skillpm_format::version::Version;
use skillpm_sources::context::Context;
use skillpm_sources::registry::{Artifact, Config, Listed, NameList, SearchIndex, SearchSkill, Timestamp};
use skillpm_testing::archive::{stored, zip};

use crate::support::{Forge, Sandbox, Tree};

/// The versions of skills in a registry.
#[derive(Default)]
pub(super) struct RegistryFiles {
    skills: Vec<Release>,
}

/// One version of a skill.
struct Release {
    name: &'static str,
    version: &'static str,
    needs: &'static str,
    yanked: bool,
    published: i64,
}

fn skill_name(text: &str) -> SkillName {
    SkillName::new(text).expect(text)
}

/// Long before any test runs.
const LONG_AGO: i64 = 1_700_000_000;

impl RegistryFiles {
    /// Adds version `version` of the skill `name`, which needs `needs`.
    pub(super) fn add(mut self, name: &'static str, version: &'static str, needs: &'static str) -> Self {
        self.skills.push(Release { name, version, needs, yanked: false, published: LONG_AGO });
        self
    }

    /// Yanks the version that was added last.
    pub(super) fn yanked(mut self) -> Self {
        self.skills.last_mut().expect("a version").yanked = true;
        self
    }

    /// Sets when the version that was added last was published.
    fn published(mut self, seconds: i64) -> Self {
        self.skills.last_mut().expect("a version").published = seconds;
        self
    }

    /// Returns the files of the registry.
    fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = vec![("config.json".to_owned(), Config::new(skill_name("acme")).to_bytes())];
        let mut names: Vec<&str> = self.skills.iter().map(|skill| skill.name).collect();
        names.sort_unstable();
        names.dedup();
        let mut search = SearchIndex::default();
        for name in names {
            let mut list = NameList { name: skill_name(name), versions: Vec::new() };
            for skill in self.skills.iter().filter(|skill| skill.name == name) {
                let (archive, listed) = skill.packed();
                files.push((format!("artifacts/sha256/{}.zip", listed.artifact.digest.hex()), archive));
                list.versions.push(listed);
            }
            list.versions.sort_by(|a, b| a.version.cmp(&b.version));
            let version = list.versions.last().expect("a version").version.clone();
            let description = format!("Does what {name} does.");
            search.skills.push(SearchSkill {
                name: list.name.clone(),
                description,
                tags: Vec::new(),
                version,
            });
            files.push((format!("index/{name}.json"), list.to_bytes()));
        }
        files.push(("search.json".to_owned(), search.to_bytes()));
        files
    }

    /// Writes the registry to `dir` of the sandbox.
    pub(super) fn write(&self, sandbox: &Sandbox, dir: &str) {
        for (path, bytes) in self.files() {
            sandbox.write(&format!("{dir}/{path}"), bytes);
        }
    }

    /// Serves the registry below `path`.
    pub(super) fn serve(&self, forge: &Forge, path: &str) {
        for (file, bytes) in self.files() {
            forge.serve(&format!("{path}/{file}"), bytes);
        }
    }
}

impl Release {
    fn packed(&self) -> (Vec<u8>, Listed) {
        let Self { name, version, needs, .. } = self;
        let needs = if needs.is_empty() { String::new() } else { format!("\n  skill-dependencies: {needs}") };
        let text = format!(
            "---\nname: {name}\ndescription: Does what {name} does.\nmetadata:\n  version: \"{version}\"{needs}\n---\n\n# {name}\n\nVersion {version}.\n"
        );
        let archive = zip(&[stored("SKILL.md", &text).mode(0o644)]);
        let listed = Listed {
            version: Version::new(version).expect(version),
            digest: Digest::of(format!("SKILL.md\0644\0{}\n", Digest::of(text.as_bytes()).hex()).as_bytes()),
            artifact: Artifact { digest: Digest::of(&archive), size: archive.len() as u64 },
            dependencies: self.needs.split(' ').filter(|need| !need.is_empty()).map(str::to_owned).collect(),
            published: Timestamp::new(self.published),
            yanked: self.yanked.then(String::new),
        };
        (archive, listed)
    }
}

/// Versions of three skills, two of which need the third.
fn usual() -> RegistryFiles {
    RegistryFiles::default()
        .add("base", "1.0.0", "")
        .add("base", "1.2", "")
        .add("base", "2.0.0", "")
        .add("base", "2.1.0", "")
        .yanked()
        .add("base", "3.0.0-rc.1", "")
        .add("chart", "0.9.1", "base@^1")
        .add("report", "1.0.0", "base@^1")
        .add("report", "1.1.0", "base@^2")
}

/// A project whose default registry is in the directory `registry` beside it.
fn project(files: &RegistryFiles) -> Sandbox {
    let sandbox = Sandbox::new();
    files.write(&sandbox, "../registry");
    sandbox.write("skillpm.toml", "[registries]\ndefault = \"../registry\"\n");
    sandbox
}

/// Name and version of each locked skill.
fn locked(sandbox: &Sandbox) -> Vec<String> {
    let lock: toml::Table = toml::from_str(&sandbox.read("skillpm.lock")).expect("TOML");
    let skills = lock.get("skill").and_then(toml::Value::as_array).cloned().unwrap_or_default();
    let text = |skill: &toml::Value, key: &str| {
        skill.get(key).and_then(toml::Value::as_str).unwrap_or("-").to_owned()
    };
    skills.iter().map(|skill| format!("{} {}", text(skill, "name"), text(skill, "revision"))).collect()
}

/// The lines of `[skills]`.
fn requested(sandbox: &Sandbox) -> Vec<String> {
    let text = sandbox.read("skillpm.toml");
    let section = text.split_once("[skills]\n").map_or("", |(_, section)| section);
    section.lines().map(str::to_owned).collect()
}

/// The code of the error of `install SOURCE`.
fn refusal(sandbox: &Sandbox, source: &str) -> &'static str {
    let context = Context::silent(sandbox.settings());
    let request = InstallRequest { sources: vec![source.to_owned()], ..InstallRequest::default() };
    install(&context, &request).expect_err("it is refused").code()
}

fn json_of(sandbox: &Sandbox, args: &[&str]) -> Value {
    let output = sandbox.run(args);
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"))
}

/// A skill comes in the highest version, with what it needs, and the lockfile has all of it.
#[test]
fn the_highest_version_with_what_it_needs() {
    let sandbox = project(&usual());
    sandbox.tells(
        &["install", "report"],
        0,
        "skills: name change version needed_by",
        &["base added 2.0.0 report", "report added 1.1.0 -"],
    );
    assert_eq!(locked(&sandbox), ["base 2.0.0", "report 1.1.0"]);
    assert_eq!(requested(&sandbox), ["report = \"^1.1.0\""]);
    insta::assert_snapshot!(sandbox.read("skillpm.lock"), @r#"
    # Written by skillpm; `skillpm install` restores exactly this.
    version = 1

    [[skill]]
    name = "base"
    version = "2.0.0"
    source = "registry:../registry"
    path = "base"
    revision = "2.0.0"
    digest = "sha256:a1e5d9edb10ac4a6a2c471af0ded44da653b12876b4786d796ba676a64354c7b"

    [[skill]]
    name = "report"
    version = "1.1.0"
    source = "registry:../registry"
    path = "report"
    revision = "1.1.0"
    digest = "sha256:3326990e6047ca395a2c7fc53fb6c262776c34ad3caa874e2d7ad12dda454fbb"
    dependencies = ["base"]
    "#);
    // What is locked is restored, although there is a newer version by now.
    usual().add("report", "1.2.0", "").write(&sandbox, "../registry");
    fs::remove_dir_all(sandbox.project().join(".agents")).expect("removes");
    sandbox.ok(&["install", "--locked"]);
    assert_eq!(locked(&sandbox), ["base 2.0.0", "report 1.1.0"]);
    sandbox.ok(&["verify"]);
}

/// Ranges are typed, written by hand and changed; yanked versions and pre-releases do not come by themselves.
#[test]
fn ranges_and_what_they_mean() {
    let sandbox = project(&usual());
    for (typed, version, entry) in [
        ("base", "2.0.0", "base = \"^2.0.0\""),
        ("base@^1", "1.2", "base = \"^1\""),
        ("default:base@=1.0.0", "1.0.0", "base = \"=1.0.0\""),
        ("base@^3.0.0-rc.1", "3.0.0-rc.1", "base = \"^3.0.0-rc.1\""),
        ("registry:default//base#>=1,<2", "1.2", "base = \">=1,<2\""),
    ] {
        sandbox.ok(&["install", typed]);
        assert_eq!(locked(&sandbox), [format!("base {version}")], "{typed}");
        assert_eq!(requested(&sandbox), [entry], "{typed}");
    }
    sandbox.ok(&["install", "base", "--as", "old"]);
    assert_eq!(locked(&sandbox), ["base 1.2", "old 1.2"]);
    for (typed, code) in
        [("base@^9", "version-missing"), ("base@=2.1.0", "version-missing"), ("nope", "usage")]
    {
        assert_eq!(refusal(&sandbox, typed), code, "{typed}");
        assert_eq!(locked(&sandbox), ["base 1.2", "old 1.2"], "{typed}");
    }
    let told = sandbox.run(&["install", "base@=2.1.0"]).stderr;
    assert!(told.contains("version 2.1.0 of `base` was yanked"), "{told}");
    assert!(told.contains("hint: it has 3.0.0-rc.1, 2.0.0, 1.2\n"), "{told}");
    sandbox.fails(&["install", "BASE"], 2, "usage", &["`BASE`", "did you mean `base`?"]);
}

/// Skills that need different versions of one cannot be together, and the message says who wants what.
#[test]
fn what_does_not_fit_together_is_explained() {
    let sandbox = project(&usual());
    sandbox.ok(&["install", "report"]);
    let before = (sandbox.read("skillpm.toml"), sandbox.read("skillpm.lock"));
    sandbox.fails(
        &["install", "chart"],
        1,
        "versions-conflict",
        &["chart", "base@^1", "report@^1.1.0", "base@^2"],
    );
    assert_eq!((sandbox.read("skillpm.toml"), sandbox.read("skillpm.lock")), before);
    // With a wider range an older version of the other one fits.
    let manifest = before.0.replace("^1.1.0", "^1");
    sandbox.write("skillpm.toml", manifest);
    sandbox.ok(&["install", "chart"]);
    assert_eq!(locked(&sandbox), ["base 1.2", "chart 0.9.1", "report 1.0.0"]);
    // And an override decides against a range.
    let manifest =
        sandbox.read("skillpm.toml").replace("[skills]", "[override]\nbase = \"=2.0.0\"\n\n[skills]");
    sandbox.write("skillpm.toml", manifest);
    sandbox.ok(&["update"]);
    assert_eq!(locked(&sandbox), ["base 2.0.0", "chart 0.9.1", "report 1.1.0"]);
}

#[test]
fn updates_go_as_far_as_the_ranges() {
    let sandbox = project(&usual());
    sandbox
        .write("skillpm.toml", "[registries]\ndefault = \"../registry\"\n\n[skills]\nreport = \"=1.0.0\"\n");
    sandbox.ok(&["install"]);
    assert_eq!(locked(&sandbox), ["base 1.2", "report 1.0.0"]);
    let rows = json_of(&sandbox, &["outdated", "--json"]);
    let row = |at: usize| ["name", "locked", "newest", "latest", "status"].map(|key| rows[at][key].clone());
    assert_eq!(row(0), [json!("base"), json!("1.2"), json!("1.2"), json!("2.0.0"), json!("current")]);
    assert_eq!(row(1), [json!("report"), json!("1.0.0"), json!("1.0.0"), json!("1.1.0"), json!("current")]);
    sandbox.ok(&["update"]);
    assert_eq!(locked(&sandbox), ["base 1.2", "report 1.0.0"]);
    sandbox.ok(&["update", "--latest"]);
    assert_eq!(locked(&sandbox), ["base 2.0.0", "report 1.1.0"]);
    assert_eq!(requested(&sandbox), ["report = \"^1.1.0\""]);
    // A version that was withdrawn is told of and stays, until something else is asked for.
    let yanked = RegistryFiles::default()
        .add("base", "2.0.0", "")
        .yanked()
        .add("base", "2.0.1", "")
        .add("report", "1.1.0", "base@^2");
    yanked.write(&sandbox, "../registry");
    assert_eq!(json_of(&sandbox, &["outdated", "base", "--json"])[0]["yanked"], json!(true));
    sandbox.ok(&["install", "--locked"]);
    sandbox.ok(&["update", "base"]);
    assert_eq!(locked(&sandbox), ["base 2.0.1", "report 1.1.0"]);
    sandbox.ok(&["update", "base", "--precise", "2.0.1"]);
    assert_eq!(sandbox.run(&["update", "base", "--precise", "2.0.0"]).code, Some(1));
}

#[test]
fn the_lowest_versions_on_request() {
    let sandbox = project(&usual());
    sandbox.ok(&["install", "report", "--minimal"]);
    assert_eq!(locked(&sandbox), ["base 1.0.0", "report 1.0.0"]);
    sandbox.ok(&["update"]);
    assert_eq!(locked(&sandbox), ["base 2.0.0", "report 1.1.0"]);
    sandbox.ok(&["update", "--minimal"]);
    assert_eq!(locked(&sandbox), ["base 1.0.0", "report 1.0.0"]);
}

/// A release that is too young for the policy is passed over, and named where nothing else would do.
#[test]
fn young_releases_wait() {
    let forge = Forge::start();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time").as_secs();
    let young = i64::try_from(now).expect("a time") - 3600;
    let files = RegistryFiles::default().add("base", "1.0.0", "").add("base", "1.1.0", "").published(young);
    files.serve(&forge, "/registry");
    let sandbox = Sandbox::new();
    let manifest = format!(
        "[registries]\ndefault = \"{}\"\n\n[policy]\nminimum-release-age = \"7d\"\n",
        forge.url("/registry")
    );
    sandbox.write("skillpm.toml", &manifest);
    sandbox.ok(&["install", "base"]);
    assert_eq!(locked(&sandbox), ["base 1.0.0"]);
    let failed = sandbox.run(&["install", "base@^1.1"]);
    assert_eq!(failed.code, Some(1), "{failed}");
    assert!(failed.stderr.contains("1.1.0") && failed.stderr.contains("old enough in"), "{failed}");
    sandbox.write(
        "skillpm.toml",
        manifest
            + &format!(
                "minimum-release-age-exclude = [\"registry:{}:*\"]\n",
                forge.api_host().split(':').next().expect("a host")
            ),
    );
    sandbox.ok(&["install", "base@^1.1"]);
    assert_eq!(locked(&sandbox), ["base 1.1.0"]);
}

/// A rule about the age holds without dependencies, too, and for what a skill from elsewhere needs.
#[test]
fn young_releases_wait_in_any_case() {
    let forge = Forge::start();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time").as_secs();
    let young = i64::try_from(now).expect("a time") - 3600;
    RegistryFiles::default()
        .add("base", "1.0.0", "")
        .add("base", "1.1.0", "")
        .published(young)
        .serve(&forge, "/registry");
    let registry = forge.url("/registry");
    let sandbox = Sandbox::new();
    let manifest =
        format!("[registries]\ndefault = \"{registry}\"\n\n[policy]\nminimum-release-age = \"7d\"\n");
    sandbox.write("skillpm.toml", manifest);
    sandbox.ok(&["install", "base", "--no-deps"]);
    assert_eq!(locked(&sandbox), ["base 1.0.0"]);
    sandbox.ok(&["remove", "base"]);
    let needs = format!("metadata:\n  skill-dependencies: registry:{registry}//base");
    sandbox.write("own/SKILL.md", format!("---\nname: own\ndescription: Own.\n{needs}\n---\n"));
    sandbox.ok(&["install", "./own"]);
    assert_eq!(locked(&sandbox), ["base 1.0.0", "own -"]);
}

/// The files agree after each change: an alias keeps its range, and an override is not written as one.
#[test]
fn aliases_overrides_and_ranges_agree_with_the_lock() {
    let sandbox = project(&usual());
    sandbox.ok(&["install", "base@^1"]);
    sandbox.ok(&["install", "base", "--as", "old"]);
    assert_eq!(refusal(&sandbox, "base@^2"), "versions-conflict");
    assert_eq!(locked(&sandbox), ["base 1.2", "old 1.2"]);
    sandbox.ok(&["remove", "old"]);
    // What is locked stays while another range allows it.
    let write = |from: &str, to: &str| {
        let text = sandbox.read("skillpm.toml");
        assert!(text.contains(from), "{text}");
        sandbox.write("skillpm.toml", text.replace(from, to));
    };
    sandbox.ok(&["update", "base", "--precise", "1.0.0"]);
    write("^1", ">=1,<3");
    sandbox.ok(&["install", "--locked"]);
    sandbox.ok(&["install"]);
    assert_eq!(locked(&sandbox), ["base 1.0.0"]);
    // An override holds for `install`, too, and the manifest keeps its range.
    write("[skills]", "[override]\nbase = \"=2.0.0\"\n\n[skills]");
    write(">=1,<3", "^1");
    assert_eq!(sandbox.run(&["install", "--locked"]).code, Some(3));
    sandbox.ok(&["install"]);
    assert_eq!(locked(&sandbox), ["base 2.0.0"]);
    sandbox.ok(&["install", "--locked"]);
    sandbox.ok(&["update"]);
    assert_eq!(requested(&sandbox), ["base = \"^1\""]);
    let failed = sandbox.run(&["install", "base", "--tag", "1.0.0"]);
    assert_eq!(failed.code, Some(2), "{failed}");
    assert!(failed.stderr.contains("`base@1.0.0`"), "{failed}");
}

/// What only others need follows them to another registry.
#[test]
fn what_others_need_comes_from_their_registry() {
    let sandbox = project(&usual());
    usual().write(&sandbox, "../other");
    sandbox.write("skillpm.toml", "[registries]\ndefault = \"../registry\"\nother = \"../other\"\n");
    sandbox.ok(&["install", "report"]);
    sandbox.ok(&["install", "other:report"]);
    let lock = sandbox.read("skillpm.lock");
    assert_eq!(lock.matches("registry:../other").count(), 2, "{lock}");
    assert_eq!(locked(&sandbox), ["base 2.0.0", "report 1.1.0"]);
}

/// Over HTTP: a list for each name and an archive for each version, kept for a run without the network.
#[test]
fn over_http_and_then_offline() {
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    usual().serve(&forge, "/team");
    sandbox.write("skillpm.toml", format!("[registries]\nacme = \"{}\"\n", forge.url("/team")));
    sandbox.ok(&["install", "acme:report"]);
    let asked = forge.asked();
    assert_eq!(asked.iter().filter(|path| path.starts_with("/team/index/")).count(), 2, "{asked:?}");
    assert_eq!(asked.iter().filter(|path| path.starts_with("/team/artifacts/")).count(), 2, "{asked:?}");
    // What makes it a registry is asked for once.
    assert_eq!(asked.len(), 5, "{asked:?}");
    assert_eq!(requested(&sandbox), ["report = { registry = \"acme\", version = \"^1.1.0\" }"]);
    fs::remove_dir_all(sandbox.project().join(".agents")).expect("removes");
    fs::remove_dir_all(sandbox.home().join(".local")).expect("removes");
    sandbox.ok(&["--offline", "install", "--locked"]);
    sandbox.ok(&["--offline", "install", "acme:report@^1"]);
    assert_eq!(locked(&sandbox), ["base 2.0.0", "report 1.1.0"]);
}

/// A name that is bound to one registry does not come from another.
#[test]
fn a_name_belongs_to_one_registry() {
    let sandbox = project(&usual());
    RegistryFiles::default()
        .add("base", "9.0.0", "")
        .add("tool", "1.0.0", "base")
        .write(&sandbox, "../other");
    sandbox.write("skillpm.toml", "[registries]\ndefault = \"../registry\"\nother = \"../other\"\n");
    let told = sandbox.ok(&["install", "base@^2"]);
    assert!(told.stderr.contains("`skillpm install other:base --force` installs that one instead"), "{told}");
    sandbox.ok(&["install", "report"]);
    let failed = sandbox.run(&["install", "other:tool"]);
    assert_ne!(failed.code, Some(0), "{failed}");
    assert_eq!(locked(&sandbox), ["base 2.0.0", "report 1.1.0"]);
}

/// One lie at a time, each with its own error, and nothing changes.
#[test]
fn a_registry_that_lies() {
    type Lie = fn(&mut Value);
    let lies: [(Lie, &str); 7] = [
        (|list| list["name"] = json!("other"), "registry-unusable"),
        (|list| list["versions"][0]["version"] = json!("01.0"), "registry-unusable"),
        (|list| list["versions"][0]["version"] = json!("1.5.0"), "registry-mismatch"),
        (|list| list["versions"][0]["artifact"]["size"] = json!(3), "registry-mismatch"),
        (
            |list| list["versions"][0]["digest"] = list["versions"][0]["artifact"]["digest"].clone(),
            "registry-mismatch",
        ),
        (|list| list["versions"] = json!({}), "registry-unusable"),
        (|list| list["versions"][0]["dependencies"] = json!(["nope@^1"]), "versions-conflict"),
    ];
    for (lie, code) in lies {
        let sandbox = project(&RegistryFiles::default().add("base", "1.0.0", ""));
        let path = "../registry/index/base.json";
        let mut list: Value = serde_json::from_str(&sandbox.read(path)).expect("JSON");
        lie(&mut list);
        sandbox.write(path, list.to_string());
        assert_eq!(refusal(&sandbox, "base"), code, "{list}");
        assert!(
            !sandbox.project().join("skillpm.lock").exists() && !sandbox.project().join(".agents").exists()
        );
    }
}

/// What a newer program wrote is not guessed at; without the file, the lists decide.
#[test]
fn formats_are_checked() {
    let sandbox = project(&RegistryFiles::default().add("base", "1.0.0", ""));
    let config = "../registry/config.json";
    for (text, code, part) in [
        ("{\"format\":2,\"name\":\"acme\"}", 3, "update skillpm"),
        ("{\"format\":\"1\",\"name\":\"acme\"}", 5, "config.json"),
        ("[]", 5, "config.json"),
    ] {
        sandbox.write(config, text);
        for args in [&["install", "base"][..], &["search", "base"]] {
            let output = sandbox.run(args);
            assert!(output.code == Some(code) && output.stderr.contains(part), "{text} {args:?}: {output}");
        }
        assert!(!sandbox.project().join("skillpm.lock").exists());
    }
    fs::remove_file(sandbox.project().join(config)).expect("removes");
    sandbox.ok(&["install", "base"]);
    assert_eq!(locked(&sandbox), ["base 1.0.0"]);
}

/// A version that lists more than any registry takes is refused before anything is asked about what it lists.
#[test]
fn too_many_dependencies_are_not_asked_for() {
    let needs = (0..100_000).map(|at| format!("s{at}")).collect::<Vec<_>>();
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    let files = RegistryFiles::default().add("base", "1.0.0", "").add("base", "2.0.0", "");
    files.serve(&forge, "/r");
    let (_, bytes) = files.files().into_iter().find(|(path, _)| path == "index/base.json").expect("a list");
    let mut list: Value = serde_json::from_slice(&bytes).expect("JSON");
    list["versions"][1]["dependencies"] = json!(needs);
    forge.serve("/r/index/base.json", list.to_string().into_bytes());
    sandbox.write("skillpm.toml", format!("[registries]\ndefault = \"{}\"\n", forge.url("/r")));
    let output = sandbox.run(&["install", "base"]);
    assert!(
        output.code == Some(0) && output.stderr.contains("100000 dependencies, 256 are allowed"),
        "{output}"
    );
    assert_eq!(locked(&sandbox), ["base 1.0.0"]);
    // Nothing else is there: that is the reason.
    list["versions"].as_array_mut().expect("versions").remove(0);
    forge.serve("/s/index/base.json", list.to_string().into_bytes());
    sandbox.write("skillpm.toml", format!("[registries]\ndefault = \"{}\"\n", forge.url("/s")));
    let output = sandbox.run(&["install", "base"]);
    assert!(output.code != Some(0) && output.stderr.contains("256 are allowed"), "{output}");
    assert!(forge.asked().iter().all(|path| !path.contains("/index/s")), "{:?}", forge.asked());
}

/// The tags of a repository are versions too: a range means the highest one in it.
#[test]
fn tags_of_a_repository() {
    let (forge, mut sandbox) = (Forge::start(), Sandbox::new());
    sandbox.forge(&forge);
    let repo = forge.repo("acme/skills");
    let commit =
        |text: &str| repo.commit(&Tree::new().skill("skills/pdf", "pdf").file("skills/pdf/x.md", text));
    for tag in ["v1.0.0", "v1.2.0", "2.0.0", "v2.1.0-rc.1", "next"] {
        repo.tag(tag, &commit(tag));
    }
    repo.branch("main", &commit("main"));
    let file = |sandbox: &Sandbox| sandbox.read(".agents/skills/pdf/x.md");
    sandbox.ok(&["install", "acme/skills", "--tag", "~1.0", "--skill", "pdf"]);
    assert_eq!(file(&sandbox), "v1.0.0");
    sandbox.ok(&["install", "acme/skills#^1", "--skill", "pdf"]);
    assert_eq!(file(&sandbox), "v1.2.0");
    assert!(sandbox.read("skillpm.toml").contains("tag = \"^1\""), "{}", sandbox.read("skillpm.toml"));
    assert!(sandbox.read("skillpm.lock").contains("requested = \"versions/^1\""));
    // A tag that comes later is newer.
    repo.tag("v1.3.0", &commit("v1.3.0"));
    let row = json_of(&sandbox, &["outdated", "--json"])[0].clone();
    assert_eq!([&row["status"], &row["latest"]], [&json!("changed"), &json!("2.0.0")]);
    sandbox.ok(&["update"]);
    assert_eq!(file(&sandbox), "v1.3.0");
    // What is past the range is told, compared, and comes on request.
    let row = json_of(&sandbox, &["outdated", "--json"])[0].clone();
    assert_eq!([&row["status"], &row["latest"]], [&json!("current"), &json!("2.0.0")]);
    let manifest = sandbox.read("skillpm.toml");
    let diff = json_of(&sandbox, &["diff", "--latest", "--json"])[0].clone();
    assert_eq!(diff["new"]["requested"], json!("tags/2.0.0"), "{diff}");
    sandbox.ok(&["update", "--latest"]);
    assert_eq!(file(&sandbox), "2.0.0");
    assert!(sandbox.read("skillpm.toml").contains("tag = \"^2.0.0\""), "{}", sandbox.read("skillpm.toml"));
    assert_eq!(json_of(&sandbox, &["outdated", "--json"])[0]["latest"], Value::Null);
    sandbox.write("skillpm.toml", manifest);
    sandbox.ok(&["install"]);
    sandbox.write("skillpm.toml", sandbox.read("skillpm.toml").replace("^1", ">=1, <3"));
    sandbox.ok(&["install"]);
    assert_eq!(file(&sandbox), "2.0.0");
    sandbox.write("skillpm.toml", sandbox.read("skillpm.toml").replace(">=1, <3", "^7"));
    let failed = sandbox.run(&["install"]);
    assert_eq!(failed.code, Some(2), "{failed}");
    assert!(failed.stderr.contains("its newest versions are `v2.1.0-rc.1`, `2.0.0`, `v1.3.0`"), "{failed}");
}
