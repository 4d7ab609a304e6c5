//! Names that collide: another name, an error, never a silent overwrite.

use crate::support::{GitRepo, Sandbox, Tree};

fn write_skill(sandbox: &Sandbox, dir: &str, name: &str, body: &str) {
    let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n{body}\n");
    sandbox.write(&format!("{dir}/SKILL.md"), text);
}

/// `one/pdf` is installed as `pdf`; `two/pdf` is another skill of that name.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "one/pdf", "pdf", "one");
    write_skill(&sandbox, "two/pdf", "pdf", "two");
    write_skill(&sandbox, "two/docx", "docx", "two");
    sandbox.ok(&["install", "./one/pdf"]);
    sandbox
}

fn body(sandbox: &Sandbox, name: &str) -> String {
    sandbox.read(&format!(".agents/skills/{name}/SKILL.md")).lines().last().expect("a line").to_owned()
}

/// DESIGN 4: names that collide get an alias, never a silent overwrite.
#[test]
fn another_source_under_a_name_that_is_taken() {
    let sandbox = sandbox();
    let before = (sandbox.read("skillpm.toml"), sandbox.read("skillpm.lock"));
    sandbox.fails(&["install", "./two/pdf"], 1, "findings", &["./one/pdf", "--as NAME", "--force"]);
    assert_eq!((sandbox.read("skillpm.toml"), sandbox.read("skillpm.lock")), before);
    assert_eq!(body(&sandbox, "pdf"), "one");
    sandbox.tells(
        &["install", "./two/pdf", "--as", "pdf-two"],
        0,
        "skills: name change; warnings: code",
        &["pdf-two added", "name-directory"],
    );
    let output = sandbox.ok(&["invoke", "pdf-two"]);
    assert!(
        output.stdout.contains("two") && output.stderr.is_empty(),
        "whoever gave it the name knows: {output}"
    );
    insta::assert_snapshot!(sandbox.read("skillpm.toml"), @r#"
    [skills]
    pdf = { path = "./one/pdf" }
    pdf-two = { path = "./two/pdf", name = "pdf" }
    "#);
    insta::assert_snapshot!(sandbox.read("skillpm.lock"), @r#"
    # Written by skillpm; `skillpm install` restores exactly this.
    version = 1

    [[skill]]
    name = "pdf"
    source = "path:./one/pdf"
    digest = "sha256:fb048881d16e65f4b66d18f850496959460eedc7691c0c47fe2e7ee31d4402e5"

    [[skill]]
    name = "pdf-two"
    alias-of = "pdf"
    source = "path:./two/pdf"
    digest = "sha256:45607eb19460e357296a3e6bf62ef5bab7af30aafa74b277e13489e13f8e9f6e"
    "#);
    assert_eq!((body(&sandbox, "pdf"), body(&sandbox, "pdf-two")), ("one".into(), "two".into()));
    // The same source is an update, and the same bytes are the same skill wherever they come from.
    write_skill(&sandbox, "one/pdf", "pdf", "newer");
    sandbox.ok(&["install", "./one/pdf"]);
    write_skill(&sandbox, "three/pdf", "pdf", "newer");
    sandbox.ok(&["install", "./three/pdf"]);
    assert!(sandbox.read("skillpm.toml").contains("pdf = { path = \"./three/pdf\" }"));
    sandbox.ok(&["install", "./two/pdf", "--force"]);
    assert_eq!(body(&sandbox, "pdf"), "two");
    let list: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["list", "--json"]).stdout).expect("JSON");
    assert_eq!(list[1]["alias_of"], "pdf");
    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removed");
    sandbox.ok(&["install", "--frozen"]);
}

/// What somebody takes out of the manifest by hand is in nobody's way.
#[test]
fn a_name_that_the_manifest_gave_up_is_free() {
    let sandbox = sandbox();
    sandbox.write("skillpm.toml", "[skills]\n");
    sandbox.ok(&["install", "./two/pdf"]);
    assert_eq!(body(&sandbox, "pdf"), "two");
    // With a lockfile alone, it says where what is there came from.
    std::fs::remove_file(sandbox.project().join("skillpm.toml")).expect("removed");
    assert_eq!(sandbox.run(&["install", "./one/pdf"]).code, Some(1));
    sandbox.ok(&["install", "./two/docx"]);
    insta::assert_snapshot!(sandbox.read("skillpm.toml"), @r#"
    [skills]
    docx = { path = "./two/docx" }
    pdf = { path = "./two/pdf" }
    "#);
}

#[test]
fn names_that_cannot_be() {
    let sandbox = sandbox();
    let before = sandbox.tree(&sandbox.project());
    for (args, code, message) in [
        (&["./two/docx", "--as", "PDF"][..], 2, "has an upper-case letter"),
        (&["./two/docx", "--as", "../x"], 2, "contains `.`"),
        (&["./two/docx", "--as", ""], 2, "is empty"),
        (&["./two/docx", "--as", "pаypal"], 5, "mixes alphabets"),
        // NFKC and case folding: never two names for one directory.
        (&["./two/docx", "--as", "ｐｄｆ"], 1, "`pdf` is already installed from `./one/pdf`"),
        (&["./two", "-s", "*", "--as", "x"], 2, "`--as x` is for one skill, but 2 were chosen"),
        (&["./two/pdf", "./two/docx", "--as", "x"], 2, "two different skills would be installed as `x`"),
        (&["--as", "x"], 2, "a source, such as `owner/repo`, is required"),
        (&["./two/docx", "--as", "x", "--list"], 2, "cannot be used with"),
    ] {
        let output = sandbox.run(&[&["install"], args].concat());
        assert_eq!(output.code, Some(code), "{args:?}: {output}");
        assert!(output.stderr.contains(message), "{args:?}: {output}");
        assert_eq!(sandbox.tree(&sandbox.project()), before, "{args:?}");
    }
    sandbox.ok(&["install", "./two/docx", "--as", "straße"]);
    for args in
        [&["--as", "strasse"][..], &["--as", "strasse", "--force"], &["--as", "strasse", "--editable"]]
    {
        let output = sandbox.run(&[&["install", "./two/pdf"], args].concat());
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains("are the same name on some file systems"), "{output}");
    }
    // What agents do not see still has its name.
    sandbox.ok(&["disable", "straße"]);
    assert_eq!(sandbox.run(&["install", "./two/pdf", "--as", "strasse"]).code, Some(1));
}

/// The lockfile knows which skill of a source is meant, so a restore notices another `name`.
#[test]
fn a_restore_notices_another_name() {
    let sandbox = sandbox();
    let manifest = |name: &str| format!("[skills]\nx = {{ path = \"./two\"{name} }}\n");
    sandbox.write("skillpm.toml", manifest(", name = \"pdf\""));
    sandbox.ok(&["install"]);
    assert!(sandbox.read(".agents/skills/x/SKILL.md").contains("name: pdf"));
    sandbox.write("skillpm.toml", manifest(", name = \"docx\""));
    for flag in ["--locked", "--frozen"] {
        let output = sandbox.run(&["install", flag]);
        assert_eq!(output.code, Some(3), "{output}");
        assert!(output.stderr.contains("is locked as something else"), "{output}");
    }
    sandbox.ok(&["install"]);
    assert!(sandbox.read(".agents/skills/x/SKILL.md").contains("name: docx"));
    sandbox.ok(&["install", "--locked"]);
    for (entry, message) in [
        (", name = \"nothing\"", "`./two` has no skill named `nothing`"),
        (", subdir = \"pdf\", name = \"docx\"", "has no skill named `docx`"),
        ("", "`./two` has no skill named `x`"),
    ] {
        sandbox.write("skillpm.toml", manifest(entry));
        let output = sandbox.run(&["install"]);
        assert_eq!(output.code, Some(3), "{output}");
        assert!(output.stderr.contains(message), "{output}");
    }
}

/// As other package managers do: what is locked and no longer asked for is a lockfile that is out of date.
#[test]
fn locked_and_frozen_drop_nothing() {
    let sandbox = sandbox();
    sandbox.write("skillpm.toml", "[skills]\n");
    for flag in ["--locked", "--frozen"] {
        let output = sandbox.run(&["install", flag]);
        assert_eq!(output.code, Some(3), "{output}");
        assert!(output.stderr.contains(&format!("would change, but `{flag}` forbids that")), "{output}");
        assert_eq!(body(&sandbox, "pdf"), "one");
    }
    sandbox.ok(&["install"]);
    assert!(!sandbox.project().join(".agents/skills").exists());
}

/// As between two paths: what lies elsewhere in the same repository is another skill while the installed one is still
/// where it was, and the same one where it moved.
#[test]
fn another_skill_of_the_same_repository() {
    let mut sandbox = Sandbox::new();
    sandbox.env("PATH", &std::env::var("PATH").expect("a path"));
    let repository = GitRepo::new(&sandbox.project().parent().expect("a parent").join("mono"));
    let text = |body: &str| format!("---\nname: review\ndescription: Does it. Use it.\n---\n{body}\n");
    let (foo, bar) = ("plugins/foo/skills/review/SKILL.md", "plugins/bar/skills/review/SKILL.md");
    repository.commit(&Tree::new().file(foo, text("foo")).file(bar, text("bar")));
    let url = format!("git+file://{}", repository.path().display());
    sandbox.ok(&["install", &format!("{url}//plugins/foo")]);
    let before = sandbox.scope();
    let output = sandbox.run(&["install", &format!("{url}//plugins/bar")]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(
        output.stderr.contains("`review` is already installed from `plugins/foo/skills/review` in `"),
        "{output}"
    );
    assert!(output.stderr.contains("`--as NAME`"), "{output}");
    assert_eq!(sandbox.scope(), before);
    sandbox.ok(&["install", &format!("{url}//plugins/bar"), "--as", "review-bar"]);
    sandbox.ok(&["install", &format!("{url}//plugins/foo")]);
    assert_eq!(body(&sandbox, "review"), "foo");
    repository.commit(&Tree::new().file("skills/review/SKILL.md", text("moved")));
    sandbox.ok(&["install", &format!("{url}//skills/review")]);
    assert_eq!(body(&sandbox, "review"), "moved");
    repository.commit(&Tree::new().file("skills/review/SKILL.md", text("moved")).file(bar, text("bar")));
    sandbox.ok(&["install", &format!("{url}//plugins/bar"), "--force"]);
    assert_eq!(body(&sandbox, "review"), "bar");
}
