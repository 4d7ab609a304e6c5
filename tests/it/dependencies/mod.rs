//! The skills that skills need (`metadata.skill-dependencies`), conflict C32.

mod bad;
mod life;
mod random;
mod sources;

use crate::support::{Forge, Sandbox, Tree};

/// A `SKILL.md` of the skill `name`, which says that it needs `needs`.
fn document(name: &str, version: &str, needs: &str) -> String {
    let metadata =
        if needs.is_empty() { String::new() } else { format!("  skill-dependencies: \"{needs}\"\n") };
    format!(
        "---\nname: {name}\ndescription: Does {name}. Use it in tests.\nmetadata:\n  version: \"{version}\"\n{metadata}---\n\n# {name}\n"
    )
}

/// A repository with these skills: names, versions, and what they need.
fn tree(skills: &[(&str, &str, &str)]) -> Tree {
    let add = |tree: Tree, (name, version, needs): &(&str, &str, &str)| {
        tree.file(&format!("skills/{name}/SKILL.md"), document(name, version, needs))
    };
    skills.iter().fold(Tree::new(), add)
}

/// A machine that reaches `forge` as GitHub.
fn machine(forge: &Forge) -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.forge(forge);
    sandbox
}

/// The names in the lockfile, and what each needs.
fn locked(sandbox: &Sandbox) -> Vec<String> {
    let lock: toml::Table = sandbox.read("skillpm.lock").parse().expect("a lockfile");
    let skills = lock.get("skill").and_then(|skills| skills.as_array().cloned()).unwrap_or_default();
    let text = |skill: &toml::Value| {
        let needs = skill.get("dependencies").and_then(|needs| needs.as_array().cloned()).unwrap_or_default();
        let needs: Vec<_> = needs.iter().filter_map(|need| need.as_str().map(ToOwned::to_owned)).collect();
        let name = skill["name"].as_str().expect("a name").to_owned();
        if needs.is_empty() { name } else { format!("{name}: {}", needs.join(" ")) }
    };
    skills.iter().map(text).collect()
}

/// The names in the manifest.
fn asked(sandbox: &Sandbox) -> Vec<String> {
    let manifest: toml::Table = sandbox.read("skillpm.toml").parse().expect("a manifest");
    manifest["skills"].as_table().expect("skills").keys().cloned().collect()
}

/// The directories in which agents find skills.
fn there(sandbox: &Sandbox) -> Vec<String> {
    let Ok(dirs) = std::fs::read_dir(sandbox.project().join(".agents/skills")) else { return Vec::new() };
    let mut names: Vec<_> =
        dirs.map(|dir| dir.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    names
}
