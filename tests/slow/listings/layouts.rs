//! Homes and projects with skills in all the ways in which they are found in the wild, and in some that are not.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::support::numbers::Numbers;

/// A home directory and the directory in which an agent is started.
pub(super) struct Layout {
    pub home: PathBuf,
    pub cwd: PathBuf,
    /// The variables with which it is started.
    pub env: Vec<(&'static str, String)>,
}

/// Writes a file and the directories around it.
pub(super) fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a directory around it")).expect("a directory");
    std::fs::write(path, text).expect("is written");
}

/// What the layouts of an agent are made of.
pub(super) struct Kinds {
    /// The directories of skills below the home directory.
    pub user: &'static [&'static str],
    /// Those below the project and a directory in it.
    pub project: &'static [&'static str],
    /// Whether several skills may have one name. If not, it tells the number of the layout.
    pub has_duplicates: bool,
    /// Whether the skills of the user are right: their files are those of several layouts.
    pub user_is_right: bool,
    /// How many directories a skill is at most below that of all.
    pub depth: usize,
}

/// Names of skills, odd ones among them.
const NAMES: &[&str] = &[
    "pdf",
    "docx",
    "pdf-forms",
    "code-review",
    "Brand",
    "a b",
    "x_y",
    "1.0",
    "true",
    "über",
    "git:commit",
    "a/b",
    "数据",
    "zeta",
    "Alpha",
    "<b>",
    "a&b",
    "notes",
    "deploy",
    "release-notes",
    "e2e",
    "sql",
    "figma",
    "k8s",
];

/// Words of descriptions.
const WORDS: &[&str] = &[
    "Reads",
    "PDF files",
    "and fills forms.",
    "Use when",
    "the user asks",
    "für",
    "Größe",
    "数据处理",
    "🙂",
    "a<b>",
    "&amp;",
    "x  y",
    "it's",
    "\"quoted\"",
    "`code`",
    "…",
    "100%",
    "tests",
    "#hash",
    "writes",
    "tables",
    "slides",
    "e.g. this",
];

/// What else `agents/openai.yaml` says: right, or not.
const INTERFACES: &[&str] = &[
    "",
    "",
    "interface:\n  display_name: Name\n  brand_color: ~\n",
    "interface: ~\ndependencies:\nother: [1]\n",
    "interface:\n  display_name: [Name]\n",
    "interface: text\n",
    "dependencies:\n  tools:\n    - type: mcp\n      value: 1\n      oauth: {a: b}\n",
    "dependencies:\n  tools: ~\n",
    "dependencies:\n  tools:\n    - oauth: text\n",
    "interface: {}\ninterface: {}\n",
    "\u{feff}# comment\n",
];

/// The products that it names: right, or not.
const PRODUCTS: &[&str] = &[
    "",
    "",
    "  products: [codex]\n",
    "  products: [CHATGPT, atlas]\n",
    "  products: []\n",
    "  products: [Codex]\n",
    "  products: chatgpt\n",
    "  products: ~\n",
    "  products:\n    - CODEX\n    - chatgpt\n",
    "---\n",
];

/// Manifests of plugins: right, or not.
const MANIFESTS: &[&str] = &[
    "{\"name\": \"kit\"}",
    "{\"name\": \" a b \", \"version\": \"1\"}",
    "{\"name\": \"\"}",
    "{}",
    "{\"name\": 5}",
    "{\"name\": null}",
    "[\"listed\"]",
    "{",
    "",
    "{\"name\": \"a\", \"name\": \"b\"}",
];

/// Makes the layout `number` below `root`.
pub(super) fn make(root: &Path, number: u64, kinds: &Kinds) -> Layout {
    let mut numbers = Numbers(number.wrapping_mul(0x5851_f42d_4c95_7f2d));
    let (home, project) = (root.join("home"), root.join("project"));
    let sub = project.join("sub");
    for dir in [&home, &sub, &project.join(".git")] {
        std::fs::create_dir_all(dir).expect("a directory");
    }
    std::fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n").expect("is written");
    if number.is_multiple_of(2) {
        // Without them, git does not take it for a repository.
        for dir in ["objects", "refs"] {
            std::fs::create_dir(project.join(".git").join(dir)).expect("a directory");
        }
    }
    let user = kinds.user.iter().map(|dir| home.join(dir));
    let own = kinds.project.iter().flat_map(|dir| [project.join(dir), sub.join(dir)]);
    // Some have many skills, so that their budget is not enough.
    let most = [3, 3, 6, 40][numbers.below(4)];
    let mut unused: Vec<usize> = (0..NAMES.len()).collect();
    let mut made = Vec::new();
    for dir in user.chain(own) {
        if numbers.below(3) == 0 {
            continue;
        }
        std::fs::create_dir_all(&dir).expect("a directory");
        for count in 0..numbers.below(most) {
            let name = if kinds.has_duplicates && numbers.below(2) == 0 {
                NAMES[numbers.below(NAMES.len())].to_owned()
            } else if !unused.is_empty() && numbers.below(2) == 0 {
                NAMES[unused.swap_remove(numbers.below(unused.len()))].to_owned()
            } else {
                format!("skill-{}-{count}", made.len())
            };
            let name = if kinds.has_duplicates || number == 0 { name } else { format!("{name}-{number}") };
            let is_right = kinds.user_is_right && dir.starts_with(&home);
            made.push(skill(&mut numbers, &dir, &name, kinds, is_right, &made));
        }
    }
    let cwd = if numbers.below(3) == 0 { sub } else { project };
    Layout { home, cwd, env: Vec::new() }
}

/// Makes a skill, or a link to one of those that were `made`, and returns its directory.
fn skill(
    numbers: &mut Numbers,
    dir: &Path,
    name: &str,
    kinds: &Kinds,
    is_right: bool,
    made: &[PathBuf],
) -> PathBuf {
    let mut dir = dir.to_owned();
    if numbers.below(8) == 0 {
        for _ in 0..numbers.below(kinds.depth + 2) {
            dir.push(numbers.pick(&["group", ".hidden", "deep", "a"]));
        }
    }
    let folder = if numbers.below(6) == 0 { "folder".to_owned() } else { name.replace(['/', ':'], "-") };
    let dir = dir.join(folder);
    if dir.exists() {
        return dir;
    }
    std::fs::create_dir_all(dir.parent().expect("a directory around it")).expect("a directory");
    #[cfg(unix)]
    if numbers.below(12) == 0 && kinds.has_duplicates && !made.is_empty() {
        let target = &made[numbers.below(made.len())];
        std::os::unix::fs::symlink(target, &dir).expect("a link");
        return dir;
    }
    std::fs::create_dir_all(&dir).expect("a directory");
    let text = if is_right {
        format!("---\nname: \"{name}\"\ndescription: What it does.\n---\n")
    } else {
        text(numbers, name)
    };
    let file = dir.join("SKILL.md");
    match numbers.below(40) {
        0 => std::fs::write(dir.join("skill.md"), text).expect("is written"),
        #[cfg(unix)]
        1 => {
            std::fs::write(dir.join("real.md"), text).expect("is written");
            std::os::unix::fs::symlink("real.md", file).expect("a link");
        }
        _ => std::fs::write(file, text).expect("is written"),
    }
    if numbers.below(5) == 0 {
        let (before, word) =
            (numbers.pick(INTERFACES), numbers.pick(&["true", "false", "no", "\"false\"", "~"]));
        let products = numbers.pick(PRODUCTS);
        let policy = format!("{before}policy:\n  allow_implicit_invocation: {word}\n{products}");
        write(&dir.join("agents/openai.yaml"), &policy);
    }
    if numbers.below(10) == 0 {
        let kind = numbers.pick(&["codex", "claude", "cursor"]);
        write(&dir.join(format!(".{kind}-plugin/plugin.json")), numbers.pick(MANIFESTS));
        if numbers.below(3) == 0 {
            write(&dir.join(".claude-plugin/plugin.json"), "{\"name\": \"second\"}");
        }
    }
    dir
}

/// Returns the text of a `SKILL.md`: mostly right, sometimes not.
fn text(numbers: &mut Numbers, name: &str) -> String {
    let description = description(numbers);
    let quoted = format!("'{}'", description.replace('\'', "''"));
    let plain = description.replace(['#', '`', '"', '&'], "");
    let (named, described) = match numbers.below(30) {
        0 => (String::new(), format!("description: {quoted}\n")),
        1 => (format!("name: {name}\n"), String::new()),
        2 => (format!("name: {name}\n"), "description:\n".to_owned()),
        3 => (format!("name: {name}\n"), "description: ''\n".to_owned()),
        4 => {
            (format!("name: {name}\n"), format!("description: >-\n  {plain}\n  second line\n\n  paragraph\n"))
        }
        5 => (format!("name: {name}\n"), format!("description: |\n  {plain}\n  - item\n    more\n")),
        6 => (format!("name: {name}\n"), format!("description: Use when: {plain}\n")),
        7 => (format!("name: {name}\n"), "description: [a, b]\n".to_owned()),
        8 => (format!("name: {name}\n"), "description: [a, b\n".to_owned()),
        9 => (format!("name: {name}\n"), format!("description: {plain}\n  and a line more\n")),
        10 => (format!("name: {name}{}\n", "x".repeat(70)), format!("description: {quoted}\n")),
        11 => (format!("name: {name}\nname: other\n"), format!("description: {quoted}\n")),
        12 => ("name: 12\n".to_owned(), "description: 1.50\n".to_owned()),
        13 => ("name:\n  - list\n".to_owned(), format!("description: {quoted}\n")),
        14 => (format!("name: {name}\n"), "description: null\n".to_owned()),
        15 => (format!("name: {name}\n"), format!("description: {quoted} # comment\n")),
        16 => (format!("name: \"{name}\"\n"), "description: \"a \\u00e9 \\n b\"\n".to_owned()),
        17 => (format!("name: {name}\n"), format!("description: {plain} # comment\n")),
        _ => (format!("name: {name}\n"), format!("description: {quoted}\n")),
    };
    let more = match numbers.below(12) {
        0 => "disable-model-invocation: true\n",
        1 => "user-invocable: false\nlicense: MIT\n",
        2 => "metadata:\n  short-description: short\n  version: \"1.0\"\n",
        3 => "allowed-tools: Read, Bash(git:*)\n",
        4 => "# a comment\n\n",
        5 => "\tbad: tab\n",
        6 => "when_to_use: Use when it helps.\n",
        _ => "",
    };
    let body = format!("# {name}\n\nDo it {}.\n", numbers.number());
    let mut text = format!("---\n{named}{described}{more}---\n\n{body}");
    match numbers.below(40) {
        0 => text = format!("\u{feff}{text}"),
        1 => text = text.replace('\n', "\r\n"),
        2 => text = format!("\n{text}"),
        3 => text = text.replacen("---\n", "--- \n", 1),
        4 => text = text.replacen("\n---\n", "\n", 1),
        5 => text = text.replacen("\n---\n", "\n...\n", 1),
        6 => text = text.replacen("---\n", "----\n", 1),
        7 => "# No frontmatter\n\nText.\n".clone_into(&mut text),
        8 => text = String::new(),
        9 => text = text.replacen("\n---\n\n", "\n---", 1),
        _ => {}
    }
    text
}

/// Returns words for a description, at times very many.
fn description(numbers: &mut Numbers) -> String {
    let most = [3, 12, 12, 40, 150, 400][numbers.below(6)];
    let mut text = String::new();
    for _ in 0..=numbers.below(most) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{} ", numbers.pick(WORDS));
    }
    text.trim_end().to_owned()
}
