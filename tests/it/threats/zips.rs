//! Zip archives: zc, zn, zl, zs and zb.

use std::path::Path;

use super::{AFTER, BEFORE, COMMIT, Scene, Want, Way};
use skillpm_testing::archive::{ZipEntry, deflate, deflated, stored, zip, zip_with};

use Want::{Fails, Quiet, Refused, Told};

const WAYS: [Way; 3] = [Way::File("zip"), Way::Download("zip"), Way::Repository];

/// The entry that every archive begins with.
fn skill() -> ZipEntry {
    stored("r/demo/SKILL.md", AFTER)
}

/// An archive of the skill and of what comes with it.
fn with(entries: Vec<ZipEntry>) -> Vec<u8> {
    zip(&[vec![skill()], entries].concat())
}

fn one(name: &str) -> Vec<u8> {
    with(vec![stored(name, "x")])
}

/// Attacks with each archive by each way; `check` sees what an accepted one left.
fn each(cases: &[(&str, Vec<u8>, Want)], check: impl Fn(&str, &Scene)) {
    let control = zip(&[stored("r/demo/SKILL.md", BEFORE)]);
    for way in WAYS {
        let mut unchanged = None;
        for (id, bytes, want) in cases {
            let scene = unchanged.take().unwrap_or_else(|| Scene::new(way, &control));
            scene.offer(bytes, COMMIT);
            let output = scene.attack(id, *want);
            if output.code == Some(0) {
                check(id, &scene);
            } else {
                assert_eq!(std::fs::read_to_string(scene.skill().join("SKILL.md")).expect("there"), BEFORE);
            }
            unchanged = scene.again(&output);
        }
    }
}

fn nothing_more(_: &str, _: &Scene) {}

/// The skill is the one that everybody sees in the archive.
fn honest(id: &str, scene: &Scene) {
    let text = std::fs::read_to_string(scene.skill().join("SKILL.md")).expect("there");
    assert_eq!(text, AFTER, "{id}");
}

/// zc02-github-comment, zc07-odd-legal-names, zl16-setuid, zc08-symlink-elsewhere: what looks odd and
/// is in order is installed whole.
#[test]
fn accepted() {
    let odd = ["a b (1)+.md", ".hidden", "-rf", "--help/-x y"];
    let odd = odd.map(|name| stored(format!("r/demo/{name}"), "x"));
    let modes = [0o104_755, 0o102_755, 0o101_777, 0o100_777, 0o106_644, 0o100_000];
    let modes = modes.map(|mode| stored(format!("r/demo/{mode:o}"), "x").mode(mode));
    each(
        &[
            ("zc02", zip_with(&[skill()], COMMIT.as_bytes(), &[]), Quiet),
            ("zc07", with(odd.to_vec()), Quiet),
            ("zl16", with(modes.to_vec()), Quiet),
            ("zc08", with(vec![stored("r/link", "/etc/passwd").mode(0o120_777)]), Quiet),
        ],
        |id, scene| {
            honest(id, scene);
            let names: &[&str] = match id {
                "zc07" => &["644 --help/-x y", "644 -rf", "644 .hidden", "644 SKILL.md", "644 a b (1)+.md"],
                "zl16" => &[
                    "644 100000",
                    "644 106644",
                    "644 SKILL.md",
                    "755 100777",
                    "755 101777",
                    "755 102755",
                    "755 104755",
                ],
                _ => &["644 SKILL.md"],
            };
            assert_eq!(scene.files(), names, "{id}");
        },
    );
}

/// zn01, zn03, zn05, zn08, zn11, zn12, zn22, zn24, zn32: names that lead elsewhere or are two at once.
#[test]
fn names() {
    let outside = Path::new("/tmp/CANARY").display().to_string();
    each(
        &[
            ("zn01-dotdot", one("../CANARY"), Refused("it has a `.` or `..` component")),
            ("zn01-dotdot, deep", one("../../../../CANARY"), Refused("it has a `.` or `..` component")),
            ("zn03-dotdot-after-strip", one("r/../../CANARY"), Refused("it has a `.` or `..` component")),
            ("zn03, in the skill", one("r/demo/../../../CANARY"), Refused("it has a `.` or `..` component")),
            ("zn05-absolute", one(&outside), Refused("it is absolute")),
            ("zn08-backslash-dotdot", one("r\\demo\\..\\..\\CANARY"), Refused("it has a backslash")),
            ("zn11-nul", one("r/demo/SKILL.md\0.txt"), Refused("U+0000")),
            ("zn12-control-chars, newline", one("r/demo/a\nb"), Refused("U+000A")),
            ("zn12, tab", one("r/demo/a\tb"), Refused("U+0009")),
            ("zn12, escape", one("r/demo/\u{1b}]0;x\u{7}"), Refused("U+001B")),
            ("zn22-case-collision", one("r/demo/skill.md"), Refused("the same name on some file systems")),
            (
                "zn24-nfc-nfd",
                with(vec![stored("r/demo/\u{e9}", "1"), stored("r/demo/e\u{301}", "2")]),
                Refused("the same name on some file systems"),
            ),
            ("zn32-dot-git", one("r/demo/.git/hooks/post-checkout"), Refused("a git repository's own files")),
            ("zn32, other spellings", one("r/demo/.GIT/config"), Refused("a git repository's own files")),
            ("zn32, short name", one("r/demo/git~1/config"), Refused("a git repository's own files")),
        ],
        nothing_more,
    );
}

/// zn19-win-reserved: told, because the same skill may be shared with a machine that cannot hold it.
#[test]
fn names_that_windows_cannot_hold() {
    let told = Told("a name that Windows does not allow");
    each(
        &[
            ("zn19-win-reserved", one("r/demo/CON"), told),
            ("zn19, with an ending", one("r/demo/aux.md"), told),
            ("zn19, with a dot behind", one("r/demo/dot."), told),
        ],
        honest,
    );
}

/// zn34-own-metadata: names that skillpm keeps for itself are refused, and a manifest or lockfile in a
/// skill or beside it is not read as the project's.
#[test]
fn files_that_look_like_our_own() {
    let journal = one("r/demo/.skillpm-tx/journal.json");
    each(&[("zn34-own-metadata", journal, Refused("a name that skillpm reserves"))], nothing_more);
    let own = ["demo/skillpm.lock", "demo/skillpm.toml", "skillpm.lock", ".agents/.skillpm-tx/journal.json"];
    let own = own.map(|name| stored(format!("r/{name}"), "[hostile"));
    each(&[("zn34-own-metadata", with(own.to_vec()), Quiet)], |id, scene| {
        honest(id, scene);
        let lock = scene.sandbox.read("skillpm.lock");
        assert!(lock.contains("name = \"demo\"") && !lock.contains("hostile"), "{lock}");
        assert!(!scene.sandbox.project().join(".agents/.skillpm-tx").exists());
        for args in [&["list"][..], &["install", "--locked"], &["remove", "demo"]] {
            let output = scene.run(args);
            assert_eq!(output.code, Some(0), "{args:?}: {output}");
        }
    });
}

/// zn35-agent-config: it lies inside the skill and nowhere else, and it is told.
#[test]
fn settings_of_agents() {
    let names = [".claude/settings.json", ".mcp.json", "AGENTS.md", "hooks/hooks.json"];
    let entries = names.map(|name| stored(format!("r/demo/{name}"), "{}"));
    each(
        &[(
            "zn35-agent-config",
            with(entries.to_vec()),
            Told("settings or instructions: .claude/settings.json (and 3 more)"),
        )],
        |id, scene| {
            for name in names {
                assert!(scene.skill().join(name).is_file(), "{id}");
                let beside = scene.sandbox.project().join(name);
                assert!(!beside.exists(), "{id}: {name}");
            }
        },
    );
}

/// zn37-two-demos: neither is guessed.
#[test]
fn two_skills_of_one_name() {
    let two = with(vec![stored("r/other/SKILL.md", AFTER)]);
    each(&[("zn37-two-demos", two, Fails(2, "has 2 skills"))], nothing_more);
}

/// zl01, zl02, zl04, zl05, zl07, zl14: links and pipes.
#[test]
fn links_and_pipes() {
    let link = |name: &str, target: &str| stored(name, target).mode(0o120_777);
    let leads_out = Refused("a symbolic link that leads out of the skill");
    each(
        &[
            ("zl01-symlink-abs", with(vec![link("r/demo/passwd", "/etc/passwd")]), leads_out),
            (
                "zl02-symlink-then-write",
                with(vec![link("r/demo/d", "../../../.."), stored("r/demo/d/CANARY", "x")]),
                Refused("both a file and a directory"),
            ),
            (
                "zl04-symlink-chain",
                with(vec![link("r/demo/a", "."), link("r/demo/b", "a/../../CANARY")]),
                leads_out,
            ),
            (
                "zl04, over a directory of the skill",
                with(vec![
                    stored("r/demo/x/y/z", "x"),
                    link("r/demo/l", "x/y"),
                    link("r/demo/m", "l/../../../CANARY"),
                ]),
                leads_out,
            ),
            (
                "zl05-skillmd-symlink",
                zip(&[stored("r/real/x.md", AFTER), link("r/demo/SKILL.md", "../real/x.md")]),
                Refused("a symbolic link, it must be a real file"),
            ),
            (
                "zl14-fifo",
                with(vec![stored("r/demo/pipe", "").mode(0o010_644)]),
                Refused("a named pipe is not allowed"),
            ),
        ],
        nothing_more,
    );
    // The skill is found where it really lies.
    let linked = zip(&[stored("r/real/demo/SKILL.md", AFTER), link("r/demo", "real/demo")]);
    each(&[("zl07-skilldir-symlink", linked, Quiet)], honest);
}

/// zs01, zs03, zs05, zs08, zs10, zs11, zs12, zs13, zs18, zs21, zs25, zs30: archives that readers read
/// in several ways, or that are damaged.
#[test]
fn structure() {
    let path = |name: &str| {
        let mut data = vec![1];
        data.extend(crc32fast::hash(b"r/demo/x.md").to_le_bytes());
        data.extend(name.as_bytes());
        [&[0x75, 0x70], &u16::try_from(data.len()).expect("short").to_le_bytes()[..], &data].concat()
    };
    let named = |name: &str| with(vec![stored("r/demo/x.md", BEFORE).central_extra(path(name))]);
    let plain = with(vec![stored("r/demo/x.md", "x")]);
    let wide = [&[1, 0, 8, 0][..], &u64::MAX.to_le_bytes()].concat();
    let huge = deflated("r/demo/x.md", "x").both(22, [0xFF; 4]).central_extra(wide);
    each(
        &[
            (
                "zs01-dup-names",
                with(vec![stored("r/demo/SKILL.md", BEFORE)]),
                Refused("this name appears twice"),
            ),
            (
                "zs03-local-name-differs",
                with(vec![stored("r/demo/x.md", "x").local(30, "r/demo/y.md")]),
                Refused("the two headers of this entry differ in name"),
            ),
            (
                "zs05-hidden-local",
                zip(&[skill(), stored("r/demo/SKILL.md", BEFORE).unlisted(), stored("r/x", "")]),
                Refused("bytes that belong to no entry"),
            ),
            (
                "zs08-crc-bad",
                with(vec![stored("r/demo/x.md", "x").both(14, [0; 4])]),
                Refused("does not match its checksum"),
            ),
            ("zs10-unicode-extra", named("../../CANARY"), Refused("a second name in an extra field")),
            (
                "zs11-unicode-extra-skillmd",
                named("r/demo/SKILL.md"),
                Refused("a second name in an extra field"),
            ),
            (
                "zs12-zip-in-comment",
                zip_with(&[skill()], &zip(&[stored("r/demo/SKILL.md", BEFORE)]), &[]),
                Refused("a second directory of entries in its comment"),
            ),
            ("zs13-concat", [&plain[..], &plain].concat(), Refused("bytes that belong to no entry")),
            ("zs18-trunc-half", plain[..plain.len() / 2].to_vec(), Refused("the archive is cut off")),
            ("zs21-html", b"<!DOCTYPE html><title>Sign in</title>".to_vec(), Refused("like an HTML page")),
            ("zs25-z64-16eib", with(vec![huge]), Refused("are allowed")),
            ("zs30-encrypted", with(vec![stored("r/demo/x.md", "x").flags(1)]), Refused("is encrypted")),
        ],
        nothing_more,
    );
}

/// zb01, zb02, zb03, zb04: bombs, in little memory and without filling the disk.
#[test]
fn bombs() {
    let zeros = vec![0; 48 << 20];
    let many: Vec<_> = (0..20_000).map(|number| stored(format!("r/demo/f/{number}"), "")).collect();
    let lying = deflated("r/demo/x", &zeros[..40 << 20]).both(22, 10_u32.to_le_bytes().as_slice());
    // All entries share the content of one, as far as their directory says.
    let kernel = deflate(&zeros[..1 << 20]);
    let at = u32::try_from(30 + "r/demo/SKILL.md".len() + AFTER.len()).expect("small").to_le_bytes();
    let mut overlap = vec![deflated("r/demo/k00", &zeros[..1 << 20])];
    overlap.extend((1..46).map(|number| {
        let size = u32::try_from(kernel.len()).expect("small").to_le_bytes();
        let entry = stored(format!("r/demo/k{number:02}"), "").central(42, at).central(10, [8, 0]);
        entry.central(20, size).central(24, (1_u32 << 20).to_le_bytes())
    }));
    each(
        &[
            ("zb01-ratio", with(vec![deflated("r/demo/zeros", &zeros)]), Refused("times its size")),
            ("zb02-20k-files", with(many), Refused("there are 20001 entries, 5000 are allowed")),
            ("zb03-lying-size", with(vec![lying]), Refused("10 bytes are declared")),
            ("zb04-overlap", with(overlap), Refused("overlaps another one")),
        ],
        nothing_more,
    );
}
