//! How long the library's own work takes, without the file system where that can be: documents,
//! lint, digests, archives, paths, and the attacks on YAML.
//!
//! `cargo bench` prints one line for each: the median of the samples, and the throughput. A word
//! as argument chooses the lines that have it in their names.

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]
#![expect(clippy::expect_used, reason = "a bench that cannot be set up may panic")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use skillpm_format::document::{Document, ProblemKind};
use skillpm_format::lint::{self, Profile, Ruleset, Subject};
use skillpm_format::name::SkillName;
use skillpm_format::path::SafePath;
use skillpm_format::refusal::Limits;
use skillpm_format::tree::{Memory, Node, Tree, TreeEntry};
use skillpm_sources::archive;
use skillpm_sources::fs::{SharedFile, anonymous_temp_file};

/// How many samples are taken, and how long each is at least.
const SAMPLES: usize = 15;
const SAMPLE: Duration = Duration::from_millis(10);

/// Measures what it is given, if it was chosen.
struct Bench {
    chosen: Vec<String>,
}

impl Bench {
    /// Prints the median time of `work`, which handles `bytes` bytes.
    fn run<T>(&self, name: &str, bytes: usize, mut work: impl FnMut() -> T) {
        if !self.chosen.is_empty() && !self.chosen.iter().any(|word| name.contains(word)) {
            return;
        }
        let mut sample = |rounds: u32| {
            let start = Instant::now();
            for _ in 0..rounds {
                black_box(work());
            }
            start.elapsed()
        };
        // As many rounds as make a sample that the clock can tell; the first ones warm up.
        let mut rounds = 1;
        while sample(rounds) < SAMPLE {
            rounds *= 2;
        }
        let mut times: Vec<Duration> = (0..SAMPLES).map(|_| sample(rounds) / rounds).collect();
        times.sort_unstable();
        let median = times[SAMPLES / 2];
        let rate = match bytes {
            0 => String::new(),
            #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
            _ => format!("{:9.0} MB/s", bytes as f64 / median.as_secs_f64() / 1e6),
        };
        println!("{name:<36} {:>12} {rate}", format!("{median:.2?}"));
    }
}

/// A body of about `bytes` bytes.
fn body(bytes: usize) -> String {
    let part = "## A step\n\nRead the file, look at what is in it, and write down what you find.\n\n\
        - `name`: the name of the thing — as it is written\n- see [the guide](references/guide.md)\n\n\
        ```sh\n./scripts/run.sh --check \"$file\"\n```\n\n";
    part.repeat(bytes / part.len() + 1)
}

/// Frontmatter as most people write it.
const USUAL: &str = "name: pdf-reader\ndescription: \"Reads PDF files: text, tables and forms. Use it \
    when the user has a PDF and wants to know what is in it, or wants to fill a form.\"\nlicense: MIT\n\
    compatibility: needs python3\nmetadata:\n  author: somebody\n  version: \"1.2\"\n";

/// The same with what only a YAML parser can read.
const UNUSUAL: &str = "name: pdf-reader # the name\ndescription: \"Reads PDF files:\\ttext, tables and \
    forms. Use it when the user has a PDF and wants to know what is in it.\"\nlicense: MIT\n\
    compatibility: needs python3\nmetadata: {author: somebody, version: \"1.2\"}\n";

/// The same as somebody wrote it who does not know YAML.
const BROKEN: &str = "name: pdf-reader\ndescription: Reads PDF files: text, tables and forms. Use it \
    when: the user has a PDF.\nlicense: MIT\ncompatibility: needs python3\nmetadata:\n  version: 1.2\n";

fn skill(yaml: &str, bytes: usize) -> String {
    format!("---\n{yaml}---\n\n# PDF\n\n{}", body(bytes))
}

fn documents(bench: &Bench) {
    for (name, text) in [
        ("document: usual", skill(USUAL, 5_000)),
        ("document: any YAML", skill(UNUSUAL, 5_000)),
        ("document: broken YAML", skill(BROKEN, 5_000)),
        ("document: usual, 1 MB of body", skill(USUAL, 1_000_000)),
        ("document: no frontmatter", body(5_000)),
    ] {
        bench.run(name, text.len(), || Document::from_bytes(text.clone().into_bytes()));
    }
    let document = Document::parse(skill(USUAL, 5_000));
    bench.run("document: one position", document.text().len(), || document.position(4_000));
}

fn lints(bench: &Bench) {
    for (name, yaml, profile) in [
        ("lint: usual, spec", USUAL, Profile::Spec),
        ("lint: usual, publish", USUAL, Profile::Publish),
        ("lint: usual, reference", USUAL, Profile::Reference),
        ("lint: broken YAML, spec", BROKEN, Profile::Spec),
    ] {
        let document = Document::parse(skill(yaml, 5_000));
        let subject = Subject::new(&document, Some("pdf-reader"), "SKILL.md");
        let rules = Ruleset::new(profile);
        bench.run(name, document.text().len(), || lint::check_with(&subject, &rules));
    }
}

/// The files of one skill: 5 files, 20 KB.
fn files() -> Vec<(String, Vec<u8>)> {
    let files = [
        ("SKILL.md", skill(USUAL, 5_000)),
        ("references/forms.md", body(5_000)),
        ("references/guide.md", body(5_000)),
        ("scripts/check.sh", body(2_000)),
        ("scripts/run.sh", body(3_000)),
    ];
    files.into_iter().map(|(path, text)| (path.to_owned(), text.into_bytes())).collect()
}

fn digests(bench: &Bench) {
    let files = files();
    let size: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    let entries: BTreeMap<String, TreeEntry> = files
        .iter()
        .enumerate()
        .map(|(id, (path, bytes))| {
            let node = Node::File { executable: path.starts_with("scripts"), size: bytes.len() as u64 };
            (path.clone(), TreeEntry { node, id })
        })
        .collect();
    let tree = Tree::new(entries, Arc::new(Memory(files.into_iter().map(|(_, bytes)| bytes).collect())));
    let limits = Limits::default();
    bench.run("tree: the files of a skill", 0, || tree.skill("", &limits).expect("a skill"));
    let skill = tree.skill("", &limits).expect("a skill");
    bench.run("tree: digest", size, || skill.digest().expect("no error"));
}

/// A zip archive of `skills` times the files, deflated where that is smaller.
fn zip(skills: usize) -> Vec<u8> {
    let (mut archive, mut directory, mut count) = (Vec::new(), Vec::new(), 0_u16);
    let number = |length: usize| u32::try_from(length).expect("a small archive").to_le_bytes();
    for n in 0..skills {
        for (path, content) in files() {
            let name = format!("top/skill-{n}/{path}");
            let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
            deflate.write_all(&content).expect("memory");
            let packed = deflate.finish().expect("memory");
            // Needs 2.0, no flags, deflated, 2024-01-01 at midnight.
            let mut common = vec![20, 0, 0, 0, 8, 0, 0, 0, 0x21, 0x58];
            common.extend(crc32fast::hash(&content).to_le_bytes());
            common.extend(number(packed.len()));
            common.extend(number(content.len()));
            common.extend(u16::try_from(name.len()).expect("a short name").to_le_bytes());
            common.extend([0, 0]);
            directory.extend(b"PK\x01\x02\x14\x00");
            directory.extend(&common);
            directory.extend([0; 10]);
            directory.extend(number(archive.len()));
            directory.extend(name.as_bytes());
            archive.extend([b"PK\x03\x04", &common[..], name.as_bytes(), &packed].concat());
            count += 1;
        }
    }
    let start = archive.len();
    archive.extend(&directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    archive.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    archive.extend([number(directory.len()), number(start)].concat());
    archive.extend([0, 0]);
    archive
}

fn archives(bench: &Bench) {
    let limits = Limits::default();
    let bytes = zip(100);
    let mut file = anonymous_temp_file().expect("a temporary file");
    file.write_all(&bytes).expect("room");
    let file = Arc::new(SharedFile::from_file(file).expect("a length"));
    let open = || archive::open_zip(Arc::clone(&file), &limits).expect("a zip archive").tree;
    bench.run("zip: open 500 files", bytes.len(), open);
    let tree = open();
    let size: usize = files().iter().map(|(_, bytes)| bytes.len()).sum();
    bench.run("zip: read 500 files", size * 100, || {
        tree.entries().map(|(path, _)| tree.read(path, 1 << 20).expect("reads").len()).sum::<usize>()
    });
}

fn names(bench: &Bench) {
    let path = "references/forms/fill-in.md";
    bench.run("SafePath: ASCII", path.len(), || SafePath::new(black_box(path)));
    let path = "references/größe/日本語.md";
    bench.run("SafePath: other letters", path.len(), || SafePath::new(black_box(path)));
    bench.run("SkillName: ASCII", 10, || SkillName::new(black_box("pdf-reader")));
    bench.run("SkillName: other letters", 6, || SkillName::new(black_box("技能")));
}

/// What is refused must be refused fast: this is milliseconds, whatever was sent.
fn attacks(bench: &Bench) {
    let keys = |count: usize| (0..count).map(|n| ["k", &n.to_string(), ":\n"].concat()).collect::<String>();
    let bomb: String = (1..1_000)
        .flat_map(|n| [format!("a{n}: &a{n} ["), format!("*a{},", n - 1).repeat(9), "]\n".to_owned()])
        .collect();
    for (name, yaml) in [
        ("attack: aliases of aliases", "a0: &a0 x\n".to_owned() + &bomb),
        ("attack: 100,000 levels", "[".repeat(100_000)),
        ("attack: 60,000 levels", "a: ".to_owned() + &"[".repeat(60_000)),
        ("attack: levels of blocks", "- ".repeat(30_000)),
        ("attack: a key of 60 KB", "k".repeat(60_000) + ": v"),
        ("attack: a scalar of 10 MB", "a: ".to_owned() + &"x".repeat(10_000_000)),
        ("attack: 100,000 keys", keys(100_000)),
        ("attack: 9,000 keys", keys(9_000)),
        ("attack: 4,500 keys and no YAML", keys(4_500) + "@"),
    ] {
        let text = format!("---\n{yaml}\n---\n");
        let document = Document::parse(text.clone());
        assert!(!document.problems().is_empty(), "{name} is not refused");
        assert!(!document.problems().iter().any(|problem| matches!(problem.kind, ProblemKind::Nul)));
        bench.run(name, text.len(), || {
            let document = Document::from_bytes(text.clone().into_bytes());
            lint::check(&Subject::new(&document, Some("x"), "SKILL.md")).len()
        });
    }
}

fn main() {
    // Cargo passes `--bench`.
    let chosen = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let bench = Bench { chosen };
    documents(&bench);
    lints(&bench);
    digests(&bench);
    archives(&bench);
    names(&bench);
    attacks(&bench);
}
