//! The situations, by what their commands are about.

mod changes;
mod faults;
mod looks;
mod market;
mod published;
mod runs;
mod servers;
mod sources;
mod state;
mod typed;
mod written;

use super::{Scene, Situation};
use crate::support::Tree;

/// All of them.
pub(super) const SITUATIONS: &[&[Situation]] = &[
    changes::SITUATIONS,
    faults::SITUATIONS,
    looks::SITUATIONS,
    market::SITUATIONS,
    published::SITUATIONS,
    runs::SITUATIONS,
    servers::SITUATIONS,
    sources::SITUATIONS,
    state::SITUATIONS,
    typed::SITUATIONS,
    written::SITUATIONS,
];

/// Nothing is there.
fn nothing(_: &mut Scene) {}

/// A skill's file; `more` is added to its frontmatter.
fn skill(name: &str, more: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: Does what {name} does. Use it when {name} is asked for.\n{more}---\n# Do\n\nDo it.\n"
    )
}

/// A skill that needs others.
fn needs(name: &str, others: &str) -> String {
    skill(name, &format!("metadata:\n  skill-dependencies: {others}\n"))
}

/// `pdf`, which needs `tables`, which needs `brand`; and `alone`.
fn kit() -> Tree {
    Tree::new()
        .file("skills/pdf/SKILL.md", needs("pdf", "tables"))
        .file("skills/tables/SKILL.md", needs("tables", "brand"))
        .file("skills/brand/SKILL.md", skill("brand", ""))
        .file("skills/alone/SKILL.md", skill("alone", ""))
}

/// GitHub has the kit.
fn with_kit(scene: &mut Scene) {
    scene.forge.repo("acme/kit").commit(&kit());
}

/// All of the kit is installed.
fn installed(scene: &mut Scene) {
    with_kit(scene);
    scene.ok("skillpm install acme/kit --skill pdf --skill alone");
}

/// The kit is installed, and what is in `.agents` is gone: as in a fresh clone.
fn cloned(scene: &mut Scene) {
    installed(scene);
    scene.ok("rm -r .agents");
}

/// Claude Code is on this machine.
fn claude(scene: &mut Scene) {
    std::fs::create_dir_all(scene.sandbox.home().join(".claude")).expect("a directory");
}

/// `list` says of `name` that it is `state`.
fn is(scene: &Scene, name: &str, state: &str) {
    let output = scene.ok("skillpm list");
    let row = output.stdout.lines().find(|line| line.split_whitespace().next() == Some(name));
    assert!(row.is_some_and(|row| row.ends_with(state)), "`{name}` is to be {state}: {output}");
}

/// What `list` prints on standard error, its hints among it.
fn listed(scene: &Scene) -> String {
    scene.ok("skillpm list").stderr
}

/// Somebody wrote a skill where skills are installed.
fn by_hand(scene: &mut Scene) {
    scene.sandbox.write(".agents/skills/own/SKILL.md", skill("own", ""));
}

/// The project has the skill `pdf`, with this version.
fn versioned(scene: &Scene, version: &str) {
    scene
        .sandbox
        .write("pdf/SKILL.md", skill("pdf", &format!("license: MIT\nmetadata:\n  version: \"{version}\"\n")));
}
