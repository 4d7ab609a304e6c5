//! The fuzz targets of `fuzz/`, run with mutations of small inputs from a fixed seed: not a search,
//! but enough to show that the targets hold and stay in step with the library.

use std::panic::{AssertUnwindSafe, catch_unwind};

use skillpm_format::document::{Document, ProblemKind};

use crate::support::numbers::cases;
use crate::support::{Numbers, zip};

#[path = "../../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "the file is the library of another package too")]
mod targets;

impl Numbers {
    /// `bytes` with one change.
    fn mutate(&mut self, bytes: &mut Vec<u8>, others: &[&[u8]], words: &[&str]) {
        let at = self.below(bytes.len() + 1);
        let end = (at + self.below(16)).min(bytes.len());
        match self.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            1 if at < bytes.len() => {
                bytes[at] = self.pick(&["\0", "\u{7f}", "\n", "-", ":", "/"]).as_bytes()[0];
            }
            2 => drop(bytes.drain(at..end)),
            3 => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            4 => {
                let other = self.pick(others);
                let from = self.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend(&other[from..]);
            }
            5 => bytes.truncate(at),
            _ => drop(bytes.splice(at..at, self.pick(words).bytes())),
        }
    }
}

/// Calls `target` with `seeds` and with `cases` mutations of them; `repair` puts right what would
/// else hide what comes behind it, such as a checksum.
fn fuzz_with(target: fn(&[u8]), seeds: &[&[u8]], words: &[&str], cases: usize, repair: fn(&mut [u8])) {
    let mut numbers = Numbers(1);
    for seed in seeds {
        target(seed);
    }
    for case in 0..cases {
        let mut bytes = numbers.pick(seeds).to_vec();
        for _ in 0..=numbers.below(6) {
            numbers.mutate(&mut bytes, seeds, words);
        }
        if case % 2 == 0 {
            repair(&mut bytes);
        }
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(&bytes))) {
            eprintln!("case {case}: {:?}", String::from_utf8_lossy(&bytes));
            std::panic::resume_unwind(panic);
        }
    }
}

fn fuzz(target: fn(&[u8]), seeds: &[&str], words: &[&str], cases: usize) {
    let seeds: Vec<&[u8]> = seeds.iter().map(|seed| seed.as_bytes()).collect();
    fuzz_with(target, &seeds, words, cases, |_| {});
}

const SKILLS: &[&str] = &[
    "---\nname: pdf\ndescription: Reads PDF files. Use it for PDF.\nlicense: MIT\n---\n\n# PDF\n\n[a](references/a.md)\n",
    "\u{feff}---\r\nname: pdf\r\ndescription: >-\r\n  Reads.\r\n  Writes.\r\nmetadata:\r\n  version: \"1.0\"\r\n---\r\n",
    "---\nname: \"pdf\"\ndescription: 'It''s: x'\nallowed-tools: [Read, Bash(git:*)]\nmetadata: {a: {b: c}}\n---\n",
    "\n---\nname: Pdf--x\ndescription: Use when: a\nversion: 1.10\ntags:\n  - a\n  - b\n---\n<!-- x -->\n",
    "---\na: &x [1, *x]\n<<: *x\n? k\n: v\n<<<<<<< a\nb: |2+\n   c\n>>>>>>> b\n...\n--- !!str\n",
];

const YAML: &[&str] = &[
    "---\n",
    "\n",
    "\r",
    "\r\n",
    ": ",
    ":\n",
    "- ",
    "  ",
    "\t",
    "\"",
    "'",
    "#",
    " #",
    "&a ",
    "*a",
    "!!x ",
    "|",
    ">-",
    "{",
    "}",
    "[",
    "]",
    ",",
    "? ",
    "...",
    "%",
    "@",
    "é",
    "日",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "\0",
    "\u{7}",
    "\\u",
    "name: ",
    "description: ",
    "metadata:\n",
    "allowed-tools:",
    "compatibility: ",
    "<<<<<<< x\n",
    "=======\n",
];

#[test]
fn frontmatter() {
    fuzz(targets::frontmatter, SKILLS, YAML, cases(15_000));
}

#[test]
fn documents() {
    fuzz(targets::document, SKILLS, YAML, cases(5_000));
}

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

#[test]
fn zip_archives() {
    let tree =
        zip::Tree::new().skill("", "pdf").executable("a/b.sh", "x\n".repeat(99)).symlink("l", "a/b.sh");
    let plain = zip::raw(&[("SKILL.md", b"---\n"), ("a/b", b"")], "");
    let seeds = [tree.archive("o/r", COMMIT), plain];
    let seeds: Vec<&[u8]> = seeds.iter().map(Vec::as_slice).collect();
    let words = ["PK\x03\x04", "PK\x01\x02", "PK\x05\x06", "PK\x07\x08", "../", "/", "\0", "\u{8}"];
    fuzz_with(targets::zip, &seeds, &words, cases(6_000), |_| {});
}

/// A tar archive of `members`: name, type and content.
fn tar(members: &[(&str, u8, &str)]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, kind, content) in members {
        let mut block = [0; 512];
        block[..name.len()].copy_from_slice(name.as_bytes());
        block[100..107].copy_from_slice(b"0000644");
        block[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        block[136..147].copy_from_slice(b"00000000000");
        block[156] = *kind;
        block[257..265].copy_from_slice(b"ustar\x0000");
        archive.extend(block);
        archive.extend(content.as_bytes());
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.resize(archive.len() + 1024, 0);
    tar_checksums(&mut archive);
    archive
}

/// Puts the checksum of whatever looks like a header right.
fn tar_checksums(archive: &mut [u8]) {
    for block in archive.chunks_exact_mut(512).filter(|block| block[257..262] == *b"ustar") {
        block[148..156].fill(b' ');
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    }
}

#[test]
fn tar_archives() {
    let seeds = [
        tar(&[("r/", b'5', ""), ("r/SKILL.md", b'0', "---\nname: r\n---\n"), ("r/a/b.sh", b'0', "x")]),
        tar(&[
            ("g", b'g', &format!("52 comment={COMMIT}\n")),
            ("x", b'x', "13 path=é/b\n"),
            ("y", b'0', "z"),
        ]),
        tar(&[("l", b'2', ""), ("h", b'1', ""), ("p", b'6', "")]),
    ];
    let seeds: Vec<&[u8]> = seeds.iter().map(Vec::as_slice).collect();
    let words = ["ustar\x0000", "11 path=x\n", "../", "/", "\0", "0000644"];
    fuzz_with(targets::tar, &seeds, &words, cases(4_000), tar_checksums);
}

#[test]
fn lockfiles() {
    let text = format!(
        "version = 1\n\n[[skill]]\nname = \"pdf\"\nversion = \"1.0\"\nsource = \"github:a/b\"\npath = \"skills/pdf\"\n\
         requested = \"main\"\nrevision = \"{COMMIT}\"\ndigest = \"sha256:{}\"\n\n[[skill]]\nname = \"x\"\n\
         source = \"path:./x\"\ndigest = \"sha256:{}\"\ndependencies = [\"pdf\"]\n",
        "0".repeat(64),
        "af".repeat(32)
    );
    let words = [
        "[[skill]]\n",
        "=",
        "\"",
        "'",
        "\\u0000",
        "[",
        "]",
        "{",
        "path:",
        "github:",
        "\n",
        "<<<<<<< x\n",
        "é",
    ];
    fuzz(targets::lockfile, &[&text, "version = 1\n"], &words, cases(8_000));
}

#[test]
fn manifests() {
    let seeds = [
        "# ours\n[skills]\npdf = \"github:a/b\"\nx = { github = \"a/b\", path = \"skills/x\", tag = \"v1\" }\n\n\
         [agents]\ntargets = [\"claude-code\"]\ncopy = true\n",
        "[skills.y]\npath = \"./y\"\n[skills.\"z\"]\ngithub = \"c/d\"\nbranch = \"main\"\nname = \"q\"\n",
    ];
    let words = [
        "[skills]\n",
        "[agents]\n",
        "=",
        "\"",
        ".",
        "[",
        "]",
        "{",
        "}",
        ",",
        "rev",
        "path = ",
        "\n",
        "#",
        "é",
    ];
    fuzz(targets::manifest, &seeds, &words, cases(8_000));
}

#[test]
fn specs() {
    let seeds = [
        "owner/repo",
        "github:owner/repo/skills/pdf@v1.2",
        "https://github.com/owner/repo/tree/main/skills/pdf",
        "git@github.example.com:owner/repo.git",
        "./dir/x",
        "/tmp/a.zip",
        "path:../x",
        "https://example.com/a.tar.gz#x",
    ];
    let words = [
        "/", ":", "@", "#", "..", ".git", "~", "-", "tree/", "blob/", "https://", "\\", "%2e", " ", "é", "\0",
    ];
    fuzz(targets::spec, &seeds, &words, cases(15_000));
}

#[test]
fn safe_paths() {
    let seeds = ["SKILL.md", "references/guide.md", "a/b/c/d.txt", "é/日本.md", "con", "a."];
    let words = [
        "/", "//", "..", ".", "\\", ":", "\0", "é", "e\u{301}", "NUL", "~", " ", "\u{202e}", "\u{feff}",
        "aux.",
    ];
    fuzz(targets::safe_path, &seeds, &words, cases(20_000));
}

const SCRIPTS: &[&str] = &[
    "#!/usr/bin/env python3\n\"\"\"Reads.\"\"\"\nimport argparse\n\nMODES = ['a', 'b']\np = argparse.ArgumentParser(description='x')\n\
     p.add_argument('path', nargs='+', help='%(default)s')\np.add_argument('-n', '--count', type=int, default=3, choices=MODES)\n",
    "import json, sys\nasync def main(a: int, b: list[str] | None = None, *c, d: 'Literal[1, 2]' = 1, **e) -> None:\n    '''Does it.\n\n    \
     Args:\n        a: The first.\n    '''\nmain(**json.load(sys.stdin))\n",
    "import sys\na = sys.argv[1]\nb = int(sys.argv[2]) if len(sys.argv) > 2 else 5\nprint(f\"{a!r:>{b}} {'x'}\")\n",
    "#!/bin/sh\n# Says hello.\n# Usage: x.py [-v|--verbose] [-n COUNT] <a|b> [FILE]...\n#   -n COUNT  how many\nwhile getopts :vn: o; do :; done\na=${1:-b}\n",
    "/**\n * Adds.\n * @param {number} [a=1] - first\n */\nfunction main(a) {}\nconst [, , b = 'c'] = process.argv;\n",
    "tools:\n  - name: add\n    script: add.py\n    arguments: json\n    timeout: 5\n    parameters:\n      - {name: a, type: array, items: int, default: [1], enum: [1, 2]}\n",
];

#[test]
fn scripts() {
    let words = [
        "\"\"\"",
        "'''",
        "'",
        "\"",
        "f'",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "\\",
        "\n",
        "    ",
        "\t",
        "#",
        ",",
        ":",
        "=",
        "*",
        "**",
        "|",
        "-",
        "def main(",
        "add_argument(",
        "nargs=",
        "default=",
        "int",
        "None",
        "...",
        "sys.argv[1]",
        "Usage: x.py ",
        "<a>",
        "[b]",
        "process.argv",
        "- ",
        "name: ",
        "é",
        "\0",
        "\u{feff}",
    ];
    fuzz(targets::script, SCRIPTS, &words, cases(15_000));
}

/// The attacks that are known on YAML: each is refused, and nothing is made of it.
#[test]
fn yaml_attacks_are_refused() {
    let refused = |yaml: &str| {
        let document = Document::parse(format!("---\n{yaml}\n---\n"));
        targets::frontmatter(document.text().as_bytes());
        let kinds: Vec<_> = document.problems().iter().map(|problem| problem.kind.clone()).collect();
        (kinds, document.frontmatter().is_none())
    };
    let bomb: String = (1..40)
        .flat_map(|n| [format!("a{n}: &a{n} ["), format!("*a{},", n - 1).repeat(9), "]\n".to_owned()])
        .collect();
    let (kinds, _) = refused(&format!("a0: &a0 lol\n{bomb}"));
    assert_eq!(
        kinds.iter().filter(|kind| **kind == ProblemKind::Alias).count(),
        39 * 9,
        "named, not expanded"
    );

    let keys = |count: usize| (0..count).map(|n| ["k", &n.to_string(), ":\n"].concat()).collect::<String>();
    for (attack, yaml) in [
        ("100,000 levels", "[".repeat(100_000)),
        ("100,000 levels of blocks", "- ".repeat(100_000)),
        ("a huge key", "k".repeat(1 << 20) + ": v"),
        ("a scalar of 10 MB", "a: ".to_owned() + &"x".repeat(10_000_000)),
        ("100,000 keys", keys(100_000)),
    ] {
        let (kinds, empty) = refused(&yaml);
        assert!(matches!(kinds[..], [ProblemKind::TooLarge(_)]) && empty, "{attack}: {kinds:?}");
    }
    // As much of it as the size allows.
    for (attack, yaml, limit) in [
        ("deep brackets", "a: ".to_owned() + &"[".repeat(60_000), ProblemKind::TooDeep),
        ("deep braces", "a: ".to_owned() + &"{a: ".repeat(15_000), ProblemKind::TooDeep),
        ("deep blocks", "- ".repeat(30_000), ProblemKind::TooDeep),
        ("many keys", keys(9_000), ProblemKind::TooManyValues),
        ("many values", format!("a: [{}]", "x,".repeat(30_000)), ProblemKind::TooManyValues),
    ] {
        let (kinds, empty) = refused(&yaml);
        assert!(empty && kinds == [limit], "{attack}: {} problems, first {:?}", kinds.len(), kinds.first());
    }
}
