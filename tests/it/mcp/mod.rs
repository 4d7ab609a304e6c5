//! `skillpm mcp`: the protocol line by line, real clients, hostile ones, and HTTP.
//!
//! Every message that comes is judged by the types of the protocol: see [`crate::support::mcp`].
#![cfg(unix)]

mod clients;
mod hostile;
mod http;
mod protocol;
mod scripts;
mod skills;

use crate::support::Sandbox;

/// Where the user's skills lie, below the project.
const USER: &str = "../home/.agents/skills";

/// Writes the `SKILL.md` of a skill of the user: `frontmatter` without its fences.
fn skill(sandbox: &Sandbox, dir: &str, frontmatter: &str) {
    let text = format!("---\n{frontmatter}\n---\n\n# Instructions of {dir}\n");
    sandbox.write(&format!("{USER}/{dir}/SKILL.md"), text);
}

/// Writes a usual skill of the user.
fn usual(sandbox: &Sandbox, name: &str) {
    skill(sandbox, name, &format!("name: {name}\ndescription: Does {name}. Use it for {name}."));
}

/// A machine whose user has one usual skill, `pdf`, with files of all kinds.
fn machine() -> Sandbox {
    let sandbox = Sandbox::new();
    skill(
        &sandbox,
        "pdf",
        "name: pdf\ndescription: Fills in forms. Use it for PDF files.\nlicense: MIT\nallowed-tools: Read, Bash\n\
         metadata:\n  version: 1.10\n  tags: [office, forms]\n  deep: { on: true, nothing: null, count: 3, text: '3' }\n\
         argument-hint: '[fast|slow]'",
    );
    for (path, bytes) in FILES {
        sandbox.write(&format!("{USER}/pdf/{path}"), bytes);
    }
    sandbox
}

/// The files of `pdf` besides its `SKILL.md`.
const FILES: [(&str, &[u8]); 5] = [
    ("assets/größe a?.txt", b"umlauts\n"),
    ("assets/logo.png", b"\x89PNG\r\n\x1a\n\0\xff"),
    ("empty.txt", b""),
    ("references/deep/forms.md", b"# Forms\n"),
    ("scripts/fill.py", b"print('filled')\n"),
];

/// A skill with a script for the shell, `scripts/NAME.sh`, for which somebody trusts the user's skills.
fn with_script(sandbox: &Sandbox, skill: &str, script: &str, text: &str) {
    usual(sandbox, skill);
    sandbox.write(&format!("{USER}/{skill}/scripts/{script}.sh"), text);
    sandbox.ok(&["trust", USER]);
}

/// The lines of the audit log.
fn audit(sandbox: &Sandbox) -> Vec<serde_json::Value> {
    let log = sandbox.home().join(".local/state/skillpm/audit.jsonl");
    let text = std::fs::read_to_string(log).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}
