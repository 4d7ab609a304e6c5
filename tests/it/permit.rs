//! Which scripts may run: trusted directories, policies, and what is locked.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillpm_core::engine::{Hit, Skill};
use skillpm_core::session::Session;
use skillpm_core::session::permit::{Permit, PermitRequest, permit};
use skillpm_core::session::provenance::{Checked, Provenance, provenance};
use skillpm_format::admission::Scripts;
use skillpm_format::scope_kind::ScopeKind;
use skillpm_sources::context::Context;
use skillpm_sources::error::{Error, ErrorKind, Result};
use skillpm_sources::reporter::{Choice, Interact};
use skillpm_sources::settings::{Policies, Settings};

use crate::support::{Output, Sandbox};

const SCRIPT: &str = "scripts/greet.sh";

/// The skill `name` that a person means who types it.
fn found(context: &Context, name: &str) -> Result<Hit> {
    Ok(Session::of_person(context)?.find(name)?)
}

fn skill(sandbox: &Sandbox, dir: &str, name: &str) {
    sandbox.write(
        &format!("{dir}/SKILL.md"),
        format!("---\nname: {name}\ndescription: Shows. Use it in tests.\n---\n\n# {name}\n"),
    );
    sandbox.write(&format!("{dir}/{SCRIPT}"), "echo hello\n");
}

/// A project with a skill `demo` that nothing is locked of.
fn unlocked() -> Sandbox {
    let sandbox = Sandbox::new();
    skill(&sandbox, ".agents/skills/demo", "demo");
    sandbox
}

/// A project with the skill `demo` installed.
fn locked(args: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    skill(&sandbox, "src/demo", "demo");
    let output = sandbox.run(&[&["install", "./src/demo"], args].concat());
    assert_eq!(output.code, Some(0), "{output}");
    sandbox
}

fn greet(sandbox: &Sandbox) -> Output {
    sandbox.run(&["run", "demo", "greet"])
}

fn trust_file(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".local/state/skillpm/trust.jsonl")
}

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("chmod");
}

/// Nothing runs of a skill that nobody locked, unless its directory is trusted.
#[test]
fn an_unlocked_skill_runs_where_its_directory_is_trusted() {
    let sandbox = unlocked();
    sandbox.fails(
        &["run", "demo", "greet"],
        5,
        "script-not-permitted",
        &["scripts/greet.sh", "skillpm trust"],
    );
    sandbox.tells(
        &["trust", ".agents"],
        0,
        "directories: path state; changed:",
        &["[DIR]/project/.agents trusted", "[DIR]/project/.agents"],
    );
    assert_eq!(std::fs::metadata(trust_file(&sandbox)).expect("there").permissions().mode() & 0o777, 0o600);
    assert_eq!(greet(&sandbox).stdout, "hello\n");
    sandbox.tells(&["trust"], 0, "directories: path state", &["[DIR]/project/.agents trusted"]);
    sandbox.tells(
        &["trust", ".agents", ".agents/."],
        0,
        "directories: path state",
        &["[DIR]/project/.agents trusted"],
    );
    sandbox.fails(
        &["untrust", ".agents/skills/demo"],
        2,
        "usage",
        &[".agents/skills/demo", "skillpm untrust"],
    );
    sandbox.tells(
        &["untrust", ".agents"],
        0,
        "directories: path state; changed:",
        &["[DIR]/project/.agents"],
    );
    assert_eq!(greet(&sandbox).code, Some(5));
    sandbox.tells(&["trust"], 0, "directories: path state", &[]);
}

#[test]
fn what_is_too_wide_or_no_directory_is_refused() {
    let sandbox = unlocked();
    for (dir, message) in [
        ("/", "contains everything on this machine"),
        ("../home", "contains all that is in your home directory"),
        ("..", "contains all that is in your home directory"),
        ("nowhere", "is not a directory"),
        (".agents/skills/demo/SKILL.md", "is not a directory"),
    ] {
        let output = sandbox.run(&["trust", ".agents", dir]);
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.contains(message), "{output}");
    }
    assert!(!trust_file(&sandbox).exists(), "nothing was changed");
    let output = sandbox.run(&["trust", "--force", "../home"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(sandbox.run(&["trust", "--force"]).code, Some(2));
}

/// A directory in which others decide what lies is no place to trust, nor does it stay one.
#[test]
fn what_others_may_write_into_is_refused() {
    let sandbox = unlocked();
    let agents = sandbox.project().join(".agents");
    for (mode, dir) in [(0o777, ".agents"), (0o1777, ".agents"), (0o777, ".agents/skills")] {
        chmod(&agents, mode);
        let output = sandbox.run(&["trust", dir]);
        assert_eq!(output.code, Some(5), "{output}");
        chmod(&agents, 0o755);
    }
    chmod(&agents, 0o1777);
    assert_eq!(sandbox.run(&["trust", ".agents/skills"]).code, Some(0), "as below a temporary directory");
    chmod(&agents, 0o755);
    assert_eq!(greet(&sandbox).code, Some(0));
    for dir in ["skills", "skills/demo"] {
        chmod(&agents.join(dir), 0o777);
        let output = greet(&sandbox);
        assert_eq!(output.code, Some(5), "{output}");
        assert!(output.stderr.contains("is no longer trusted: every user may write to it"), "{output}");
        chmod(&agents.join(dir), 0o755);
    }
    if rustix::process::geteuid().is_root() {
        let other = Some(rustix::fs::Uid::from_raw(4711));
        rustix::fs::chown(agents.join("skills"), other, None).expect("chown");
        let output = greet(&sandbox);
        assert!(output.stderr.contains("it belongs to another user, number 4711"), "{output}");
    }
}

/// Nor is a skill trusted whose files others may replace or change: each that is to run is looked at, and each
/// directory in which one lies.
#[test]
fn what_others_may_change_in_a_skill_is_refused() {
    let sandbox = unlocked();
    sandbox.write(".agents/skills/demo/references/deep/data.txt", "data");
    assert_eq!(sandbox.run(&["trust", "."]).code, Some(0));
    let demo = sandbox.project().join(".agents/skills/demo");
    std::os::unix::fs::symlink("SKILL.md", demo.join("link.md")).expect("links");
    assert_eq!(greet(&sandbox).code, Some(0), "the mode of a link says nothing");
    for (below, mode, before) in [
        ("scripts", 0o777, 0o755),
        ("scripts", 0o1777, 0o755),
        (SCRIPT, 0o666, 0o644),
        ("references/deep/data.txt", 0o646, 0o644),
        ("references", 0o757, 0o755),
    ] {
        chmod(&demo.join(below), mode);
        let output = greet(&sandbox);
        assert_eq!((output.code, output.stdout.as_str()), (Some(5), ""), "{below} {mode:o}: {output}");
        let expected = format!("demo/{below}` is no longer trusted: every user may write to it");
        assert!(output.stderr.contains(&expected), "{output}");
        chmod(&demo.join(below), before);
    }
    chmod(&demo.join(SCRIPT), 0o664);
    assert_eq!(greet(&sandbox).code, Some(0), "what a group may write is left to the user");
    if rustix::process::geteuid().is_root() {
        let other = Some(rustix::fs::Uid::from_raw(4711));
        rustix::fs::chown(demo.join(SCRIPT), other, None).expect("chown");
        sandbox.fails(
            &["run", "demo", "greet"],
            5,
            "script-not-permitted",
            &[".agents/skills/demo/scripts/greet.sh"],
        );
    }
}

/// Trust is in a directory, not in a path: what takes its place is not trusted.
#[test]
fn a_directory_that_was_replaced_is_not_trusted() {
    let sandbox = unlocked();
    assert_eq!(sandbox.run(&["trust", ".agents/skills"]).code, Some(0));
    let skills = sandbox.project().join(".agents/skills");
    std::fs::rename(&skills, sandbox.project().join("away")).expect("moves");
    skill(&sandbox, ".agents/skills/demo", "demo");
    sandbox.fails(
        &["run", "demo", "greet"],
        5,
        "script-not-permitted",
        &["scripts/greet.sh", "skillpm trust"],
    );
    sandbox.tells(&["trust"], 0, "directories: path state", &["[DIR]/project/.agents/skills replaced"]);
    std::fs::remove_dir_all(&skills).expect("removes");
    std::fs::rename(sandbox.project().join("away"), &skills).expect("moves");
    assert_eq!(greet(&sandbox).code, Some(0), "it is the one that was trusted");
}

/// The real path counts: a link leads neither into trust nor out of it.
#[test]
fn links_are_followed_before_trust_is_asked_for() {
    let sandbox = Sandbox::new();
    skill(&sandbox, "elsewhere/demo", "demo");
    std::fs::create_dir_all(sandbox.project().join(".agents/skills")).expect("creates");
    let link = sandbox.project().join(".agents/skills/demo");
    std::os::unix::fs::symlink("../../elsewhere/demo", &link).expect("links");
    std::os::unix::fs::symlink("elsewhere", sandbox.project().join("alias")).expect("links");
    assert_eq!(sandbox.run(&["trust", ".agents"]).code, Some(0));
    assert_eq!(greet(&sandbox).code, Some(5), "a link in a trusted directory leads out of it");
    assert_eq!(sandbox.run(&["trust", "alias"]).code, Some(0));
    assert_eq!(greet(&sandbox).code, Some(0), "the directory that a link meant is trusted");
    std::fs::remove_file(sandbox.project().join("alias")).expect("removes");
    assert_eq!(greet(&sandbox).code, Some(0), "not the link");
}

/// A file that is damaged, or that another user could have written, trusts nothing more.
#[test]
fn a_hostile_list_trusts_nothing() {
    let sandbox = unlocked();
    assert_eq!(sandbox.run(&["trust", ".agents"]).code, Some(0));
    let file = trust_file(&sandbox);
    let good = std::fs::read(&file).expect("reads");
    chmod(&file, 0o666);
    let output = greet(&sandbox);
    assert_eq!(output.code, Some(5), "{output}");
    assert!(
        output.stderr.contains("users other than its owner may write it; no directory is trusted"),
        "{output}"
    );
    chmod(&file, 0o600);
    let root = "{\"version\":1,\"path\":\"/\",\"inode\":null,\"created\":null,\"since\":\"\"}\n";
    for text in
        [root.as_bytes(), b"\xff\xfe/\n", b"/\n", b"{\"path\":\"/\"}\n", b"{\"version\":1,\"path\":\"", b"\0"]
    {
        std::fs::write(&file, text).expect("writes");
        let output = greet(&sandbox);
        assert_eq!(output.code, Some(5), "{output}");
    }
    std::fs::write(&file, [b"nonsense\n", &good[..]].concat()).expect("writes");
    let output = greet(&sandbox);
    assert_eq!(output.code, Some(0), "the other line counts: {output}");
    assert!(output.stderr.contains("line 1 cannot be read and trusts nothing"), "{output}");
    std::fs::remove_file(&file).expect("removes");
    let copy = sandbox.write("copy.jsonl", &good);
    std::os::unix::fs::symlink(copy, &file).expect("links");
    assert_eq!(greet(&sandbox).code, Some(5), "a link is no list");
    std::fs::remove_file(&file).expect("removes");
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &file, fifo, 0o600.into(), 0).expect("makes");
    assert_eq!(greet(&sandbox).code, Some(5), "nor is a pipe, which nobody waits for");
}

/// Answers every question in one way, and remembers it.
struct Says(bool);

impl Interact for Says {
    fn choose(&self, _question: &str, _items: &[Choice]) -> Option<Vec<usize>> {
        None
    }

    fn confirm(&self, question: &str) -> Option<bool> {
        assert_eq!(question, "run `scripts/greet.sh` of `demo` (path:./src/demo)?");
        Some(self.0)
    }
}

fn ask(context: &Context, change: impl Fn(&mut PermitRequest<'_>)) -> Result<Permit, Error> {
    let hit = found(context, "demo")?;
    let mut request = PermitRequest {
        skill: &hit.skill,
        script: SCRIPT,
        default_decision: Scripts::Allow,
        allow_scripts: false,
        allow_modified: false,
        trusted_by_host: false,
    };
    change(&mut request);
    permit(context, &request)
}

fn answer(context: &Context, change: impl Fn(&mut PermitRequest<'_>)) -> String {
    match ask(context, change) {
        Ok(_) => "yes".to_owned(),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Integrity);
            error.with_causes().to_string().replace("`scripts/greet.sh` of `demo` may not run: ", "")
        }
    }
}

/// Conflict C18: the strictest of machine, named file, project and user decides; a question is put to whoever can
/// answer.
#[test]
fn the_strictest_policy_decides() {
    let sandbox = locked(&[]);
    let skills = sandbox.read("skillpm.toml");
    let machine = sandbox.write("etc/machine.toml", "scripts = \"ask\"\nscripts-allow = [\"github:acme\"]\n");
    let with = |policies: Policies| Context::silent(Settings { policies, ..sandbox.settings() });
    let context = with(Policies { machine: Some(machine.clone()), named: None });
    assert_eq!(answer(&with(Policies::default()), |_| ()), "yes", "a person who types a command means it");
    let unsaid = answer(&with(Policies::default()), |request| request.default_decision = Scripts::Deny);
    assert_eq!(unsaid, "no policy applies");
    let nobody = answer(&context, |_| ());
    let expected = "a person must be asked, but nobody is there to answer: ";
    assert!(
        nobody.starts_with(expected) && nobody.ends_with("machine.toml:1:11: `scripts = \"ask\"` says so"),
        "{nobody}"
    );
    assert_eq!(answer(&context, |request| request.allow_scripts = true), "yes");
    for (says, expected) in [(true, "yes"), (false, "you said no")] {
        let context = Context { interact: Arc::new(Says(says)), ..context.clone() };
        assert_eq!(answer(&context, |_| ()), expected);
    }
    sandbox.write("skillpm.toml", format!("{skills}\n[policy]\nscripts-deny = [\"path:*\"]\n"));
    for unsaid in [Scripts::Allow, Scripts::Deny] {
        let denied = answer(&context, |request| {
            (request.default_decision, request.allow_scripts) = (unsaid, true);
        });
        assert!(
            denied.ends_with("/project/skillpm.toml:5:17: `scripts-deny = \"path:*\"` says so"),
            "{denied}"
        );
    }
    sandbox.write("skillpm.toml", format!("{skills}\n[policy]\nscripts = \"allow\"\n"));
    let project = answer(&with(Policies::default()), |request| request.default_decision = Scripts::Deny);
    assert_eq!(project, "no policy applies", "a project lets nothing run by itself");
    let user = sandbox.home().join(".config/skillpm/skillpm.toml");
    std::fs::create_dir_all(user.parent().expect("a directory")).expect("creates");
    std::fs::write(&user, "[policy]\nscripts = \"allow\"\n").expect("writes");
    let allowed = answer(&with(Policies::default()), |request| request.default_decision = Scripts::Deny);
    assert_eq!(allowed, "yes", "the user does");
    std::fs::write(&user, "[policy]\nscripts = \"never\"\n").expect("writes");
    let error = ask(&context, |_| ()).expect_err("a word that says nothing");
    assert_eq!(error.kind(), ErrorKind::Config, "a policy that cannot be read lets nothing run");
}

/// C18: a program that vouches for directories answers one question only, whether somebody trusts a directory of
/// which nothing is locked. It has no say over policies, over edited files, or over what a person is asked.
#[test]
fn who_vouches_for_a_directory_vouches_for_nothing_else() {
    let vouch = |request: &mut PermitRequest<'_>| request.trusted_by_host = true;
    let sandbox = unlocked();
    let machine = sandbox.write("etc/machine.toml", "scripts = \"ask\"\n");
    let with = |policies: Policies| Context::silent(Settings { policies, ..sandbox.settings() });
    let plain = with(Policies::default());
    assert!(answer(&plain, |_| ()).contains("its directory is not trusted"));
    assert_eq!(answer(&plain, vouch), "yes");
    let unsaid =
        answer(&plain, |request| (request.trusted_by_host, request.default_decision) = (true, Scripts::Deny));
    assert_eq!(unsaid, "no policy applies");
    let asked = answer(&with(Policies { machine: Some(machine.clone()), named: None }), vouch);
    assert!(asked.starts_with("a person must be asked, but nobody is there to answer"), "{asked}");
    std::fs::write(&machine, "scripts = \"deny\"\n").expect("writes");
    let denied = answer(&with(Policies { machine: Some(machine), named: None }), vouch);
    assert!(denied.ends_with("`scripts = \"deny\"` says so"), "{denied}");

    let sandbox = locked(&[]);
    let context = Context::silent(sandbox.settings());
    assert_eq!(answer(&context, vouch), "yes");
    sandbox.write(&format!(".agents/skills/demo/{SCRIPT}"), "echo other\n");
    let edited = answer(&context, vouch);
    assert!(edited.ends_with("differs from what is locked: `scripts/greet.sh`"), "{edited}");
}

#[test]
fn unix_sockets_are_opened_by_a_flag_or_a_policy() {
    let mut sandbox = locked(&[]);
    let open = |sandbox: &Sandbox, flags: &[&str]| {
        let output = sandbox.run(&[&["run", "--json"], flags, &["demo", "greet"]].concat());
        assert_eq!(output.code, Some(0), "{output}");
        let report: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
        report["sandbox"]["unix_sockets"] == true
    };
    if open(&sandbox, &[]) {
        // This system has no filter of calls.
        return;
    }
    assert!(open(&sandbox, &["--allow-unix-sockets"]));
    assert!(open(&sandbox, &["--sandbox", "off"]));
    let skills = sandbox.read("skillpm.toml");
    let policy = "scripts-unix-sockets = [\"path:*\"]\n";
    sandbox.write("skillpm.toml", format!("{skills}\n[policy]\n{policy}"));
    assert!(!open(&sandbox, &[]), "a project opens nothing");
    let named = sandbox.write("rules.toml", policy);
    sandbox.env("SKILLPM_POLICY", &named.display().to_string());
    assert!(open(&sandbox, &[]) && open(&sandbox, &["--no-network"]));
    sandbox.tells(
        &["policy", "./src/demo", "npm:x"],
        0,
        "lines: line text; sources: source admitted scripts.answer unix_sockets.line",
        &[
            "1 scripts-unix-sockets = \"path:*\"",
            "5 scripts-unix-sockets = \"path:*\"",
            "./src/demo true allowed 1",
            "npm:x true allowed -",
        ],
    );
}

#[test]
fn the_verb_tells_what_holds_for_scripts() {
    let mut sandbox = locked(&[]);
    let named = sandbox.write("rules.toml", "scripts = \"ask\"\nscripts-deny = [\"npm:*\"]\n");
    sandbox.env("SKILLPM_POLICY", &named.display().to_string());
    let user = sandbox.home().join(".config/skillpm/skillpm.toml");
    std::fs::create_dir_all(user.parent().expect("a directory")).expect("creates");
    std::fs::write(&user, "[policy]\nrequire-pin = \"tag\"\nscripts-allow = [\"github:acme\"]\n")
        .expect("writes");
    sandbox.tells(
        &["policy"],
        0,
        "lines: line text",
        &["2 scripts-deny = \"npm:*\"", "1 scripts = \"ask\"", "3 scripts-allow = \"github:acme\""],
    );
    sandbox.tells(
        &["policy", "npm:x", "acme/x", "./src/demo"],
        0,
        "lines: line text; sources: source admitted scripts.answer scripts.because.line",
        &[
            "2 scripts-deny = \"npm:*\"",
            "1 scripts = \"ask\"",
            "3 scripts-allow = \"github:acme\"",
            "npm:x true denied 2",
            "github:acme/x true ask 1",
            "./src/demo true denied 3",
        ],
    );
    sandbox.fails(
        &["run", "demo", "greet"],
        5,
        "script-not-permitted",
        &[
            "scripts/greet.sh",
            "demo",
            "scripts-allow = \"github:acme\"",
            "/home/.config/skillpm/skillpm.toml:3:18",
            "skillpm policy",
        ],
    );
}

fn checked(sandbox: &Sandbox, name: &str) -> Checked {
    let context = Context::silent(sandbox.settings());
    provenance(&context, &found(&context, name).expect(name).skill).expect(name)
}

/// What is said of `skill` where it lies in `dir`.
fn of_directory(sandbox: &Sandbox, skill: &Skill, dir: &str) -> Checked {
    let real = std::fs::canonicalize(sandbox.project().join(dir)).expect(dir);
    let skill = Skill { real, ..Skill::clone(skill) };
    provenance(&Context::silent(sandbox.settings()), &skill).expect(dir)
}

/// What the lockfile says of it: its scope, and whether it is as locked.
fn as_locked(checked: &Checked) -> Option<(ScopeKind, bool)> {
    match &checked.provenance {
        Provenance::Locked(skill) => Some((skill.scope, skill.modified.is_none())),
        Provenance::Unlocked(_) => None,
    }
}

#[test]
fn copies_links_and_disabled_skills_are_as_locked() {
    let sandbox = locked(&["--agent", "claude-code"]);
    let found = found(&Context::silent(sandbox.settings()), "demo").expect("there").skill;
    assert_eq!(as_locked(&checked(&sandbox, "demo")), Some((ScopeKind::Project, true)));
    let of = |sandbox: &Sandbox, dir: &str| as_locked(&of_directory(sandbox, &found, dir));
    assert_eq!(of(&sandbox, ".claude/skills/demo"), Some((ScopeKind::Project, true)), "a link");
    assert_eq!(sandbox.run(&["disable", "demo"]).code, Some(0));
    let aside = of(&sandbox, ".agents/.skillpm-disabled/demo");
    assert_eq!(aside, Some((ScopeKind::Project, true)), "a disabled skill");

    let copied = Sandbox::new();
    skill(&copied, "src/demo", "demo");
    copied.write("skillpm.toml", "[agents]\ncopy = true\n");
    assert_eq!(copied.run(&["install", "./src/demo", "--agent", "claude-code"]).code, Some(0));
    copied.write(&format!(".claude/skills/demo/{SCRIPT}"), "echo EVIL\n");
    assert_eq!(of(&copied, ".agents/skills/demo"), Some((ScopeKind::Project, true)));
    assert_eq!(of(&copied, ".claude/skills/demo"), Some((ScopeKind::Project, false)), "a copy");
    skill(&copied, ".junie/skills/demo", "demo");
    assert_eq!(of(&copied, ".junie/skills/demo"), None, "no agent of the lockfile looks there");
}

/// Both scopes are in force, wherever one is.
#[test]
fn a_skill_of_the_user_is_locked_by_the_user_s_lockfile() {
    let sandbox = Sandbox::new();
    skill(&sandbox, "src/demo", "demo");
    assert_eq!(sandbox.run(&["install", "--global", "./src/demo"]).code, Some(0));
    assert_eq!(as_locked(&checked(&sandbox, "demo")), Some((ScopeKind::User, true)));
    assert_eq!(greet(&sandbox).code, Some(0));
}

/// The bytes are read anew: what was remembered of a file that has its old size and times is not asked.
#[test]
fn an_edit_that_keeps_size_and_time_is_seen() {
    let sandbox = locked(&[]);
    let script = sandbox.project().join(".agents/skills/demo").join(SCRIPT);
    let before = std::fs::metadata(&script).expect("there");
    sandbox.run(&["list"]);
    std::fs::write(&script, "echo hullo\n").expect("writes");
    let file = std::fs::File::options().append(true).open(&script).expect("opens");
    file.set_modified(before.modified().expect("a time")).expect("sets");
    let found = checked(&sandbox, "demo");
    assert_eq!(as_locked(&found), Some((ScopeKind::Project, false)));
    let Provenance::Locked(skill) = &found.provenance else { panic!("it is locked") };
    let files = skill.modified.as_ref().and_then(|modified| modified.files.clone()).expect("the store knows");
    assert_eq!(files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), [SCRIPT]);
    let script = found.files.get(SCRIPT).expect("there");
    assert_eq!(found.files.read(script).expect("reads"), b"echo hullo\n", "the bytes that were looked at");
    assert_eq!(found.files.digest().expect("reads"), found.digest);
}

/// A skill in an installed one is a part of it: whatever was put there changes what is locked.
#[test]
fn a_skill_in_another_one_is_a_part_of_it() {
    let sandbox = Sandbox::new();
    skill(&sandbox, "src/demo", "demo");
    skill(&sandbox, "src/demo/inner", "inner");
    assert_eq!(sandbox.run(&["install", "./src/demo"]).code, Some(0));
    let outer = found(&Context::silent(sandbox.settings()), "demo").expect("there").skill;
    let inner = |dir: &str| of_directory(&sandbox, &outer, dir);
    let found = inner(".agents/skills/demo/inner");
    assert_eq!((as_locked(&found), found.below.as_str()), (Some((ScopeKind::Project, true)), "inner"));
    assert!(found.files.get("inner/scripts/greet.sh").is_some());
    skill(&sandbox, ".agents/skills/demo/added", "added");
    assert_eq!(as_locked(&inner(".agents/skills/demo/added")), Some((ScopeKind::Project, false)));
}

/// An editable skill is somebody's own directory: it is not locked, and has to be trusted.
#[test]
fn an_editable_skill_has_to_be_trusted() {
    let sandbox = Sandbox::new();
    skill(&sandbox, "src/demo", "demo");
    assert_eq!(sandbox.run(&["install", "--editable", "./src/demo"]).code, Some(0));
    assert_eq!(greet(&sandbox).code, Some(5));
    assert_eq!(sandbox.run(&["trust", "src"]).code, Some(0));
    assert_eq!(greet(&sandbox).code, Some(0));
}
