//! Copies that wait for the next run.

use super::*;

/// A script that prints where it runs from, and which other files are there.
const SAYS: &str = "dirname \"$SKILL_BASE_DIR\"; ls -A \"$HOME\" \"$SKILL_BASE_DIR\" >&2\n";

/// Returns a skill whose copy waits after a run, if the kernel can restrict access to files.
fn waiting(text: &str) -> Option<Demo> {
    let mut demo = Demo::sh(text);
    demo.options.copies = CopyPool::waiting();
    has_landlock().then_some(demo)
}

/// Returns the directory of the run.
fn place(ran: &Ran) -> PathBuf {
    assert_eq!(ran.exit, Exit::Code(0), "{}", ran.stderr.text());
    ran.stdout.text().lines().next().expect("a line").into()
}

/// Returns the path `name` beside `copy`.
fn beside(copy: &Path, name: &str) -> PathBuf {
    copy.parent().expect("a directory").join(name)
}

fn set_mode(path: &Path, mode: u32) {
    rustix::fs::chmod(path, rustix::fs::Mode::from_raw_mode(mode)).expect("changes");
}

fn is_there(dir: &Path) -> bool {
    fs::kind(dir).expect("looks").is_some()
}

#[test]
fn the_next_run_uses_the_same_copy() {
    let Some(demo) = waiting(SAYS) else { return };
    let first = place(&demo.run());
    assert!(is_there(&first));
    assert_eq!(place(&demo.run()), first);
    // A skill inside another one uses the copy of the outer skill.
    let part = Script { base: "scripts".into(), path: "demo.sh".into(), ..demo.script() };
    let ran = run(&demo.settings(), &part, &demo.surroundings, &demo.options, &mut Unwatched).expect("runs");
    assert_eq!(place(&ran), first.join("skill"));
    assert_eq!(place(&demo.run()), first);
    let others = demo.options.copies.clone();
    drop(demo);
    assert!(is_there(&first), "somebody may still run it");
    drop(others);
    assert!(!is_there(&first));
}

/// Whatever happens to a waiting copy, only checked bytes run.
#[test]
fn a_copy_that_was_changed_does_not_run() {
    use std::os::unix::ffi::OsStringExt as _;
    let changes: [fn(&Path); 16] = [
        |copy| fs::write_atomic(&beside(copy, "home"), b"").expect("writes"),
        |copy| fs::create_dir_all(&beside(copy, "home/.local")).expect("creates"),
        |copy| fs::symlink(Path::new("/etc"), &beside(copy, "home")).expect("links"),
        |copy| fs::create_dir_all(&beside(copy, "more")).expect("creates"),
        |copy| set_mode(&beside(copy, ""), 0o777),
        |copy| set_mode(&beside(copy, ""), 0o710),
        |copy| set_mode(&copy.join("SKILL.md"), 0o755),
        |copy| {
            let name = OsString::from_vec(vec![b'a', 0xff]);
            fs::symlink(Path::new("SKILL.md"), &copy.join(name)).expect("links");
        },
        |copy| {
            // The bytes are the same, but a write to one file changes the other.
            let other = copy.join("references/b.md");
            fs::remove_if_there(&other).expect("removes");
            fs::symlink(Path::new("a.md"), &other).expect("links");
        },
        |copy| fs::remove_tree(&copy.join("scripts")).expect("removes"),
        |copy| fs::write_atomic(&copy.join("scripts/demo.sh"), b"echo EVIL\n").expect("writes"),
        |copy| fs::write_atomic(&copy.join("scripts/ls"), b"echo EVIL\n").expect("writes"),
        |copy| fs::create_dir_all(&copy.join(".git")).expect("creates"),
        |copy| fs::symlink(Path::new("demo.sh"), &copy.join("scripts/more.sh")).expect("links"),
        |copy| fs::remove_tree(copy).expect("removes"),
        |copy| {
            fs::remove_tree(copy).expect("removes");
            fs::symlink(Path::new("/etc"), copy).expect("links");
        },
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let Some(demo) = waiting(SAYS) else { return };
        for name in ["a.md", "b.md"] {
            demo.world.write(&format!("demo/references/{name}"), "the same\n");
        }
        let first = place(&demo.run());
        change(&first.join("skill"));
        let ran = demo.run();
        assert_ne!(place(&ran), first, "{at}");
        assert!(!ran.stdout.text().contains("EVIL"), "{at}");
        assert!(!is_there(&first), "{at}: what was changed goes");
    }
}

/// A changed skill gets a new copy.
#[test]
fn other_bytes_are_copied_anew() {
    let Some(demo) = waiting(SAYS) else { return };
    let first = place(&demo.run());
    demo.world.write("demo/references/a.md", "new\n");
    let second = place(&demo.run());
    assert_ne!(second, first);
    fs::remove_tree(&demo.world.project().join("demo/references")).expect("removes");
    assert_eq!(place(&demo.run()), first);
}

/// A copy that a script could have changed, or left files in, is not used again.
#[test]
fn only_a_copy_that_is_as_it_was_waits() {
    let texts = ["touch \"$HOME/a\"", "mkdir \"$HOME/.b\"", "setsid sleep 7501 >/dev/null 2>&1 </dev/null &"];
    for text in texts {
        let Some(demo) = waiting(&format!("{SAYS}{text}\n")) else { return };
        assert!(!is_there(&place(&demo.run())), "{text}");
    }
    let options: [fn(&mut Options); 4] = [
        |options| options.copies = CopyPool::default(),
        |options| options.sandbox = Mode::Off,
        |options| options.write = vec![std::env::temp_dir()],
        |options| options.write = vec![PathBuf::from("/")],
    ];
    for (at, change) in options.into_iter().enumerate() {
        let Some(mut demo) = waiting(SAYS) else { return };
        change(&mut demo.options);
        assert!(!is_there(&place(&demo.run())), "{at}");
    }
    let Some(mut demo) = waiting(&format!("{SAYS}sleep 7502\n")) else { return };
    demo.options.limits.timeout = Duration::from_millis(300);
    let ran = demo.run();
    assert_eq!(ran.ended, Some(Ended::Timeout));
    assert!(!is_there(Path::new(ran.stdout.text().trim())));
}

/// Only few and small copies wait, because they use space for temporary files.
#[test]
fn few_and_small_ones_wait() {
    let Some(demo) = waiting(SAYS) else { return };
    let of = |at: usize| {
        demo.world.write("demo/references/a.md", &format!("{at}\n"));
        place(&demo.run())
    };
    let first: Vec<_> = (0..5).map(of).collect();
    let there: Vec<_> = first.iter().map(|dir| is_there(dir)).collect();
    assert_eq!(there, [false, true, true, true, true]);
    // The most recently used copies stay.
    assert_eq!(of(1), first[1]);
    of(5);
    let there: Vec<_> = first.iter().map(|dir| is_there(dir)).collect();
    assert_eq!(there, [false, true, false, true, true]);
    demo.world.write("demo/references/a.md", &"x".repeat(17 << 20));
    assert!(!is_there(&place(&demo.run())));
}

#[test]
fn once_closed_nothing_waits() {
    let Some(demo) = waiting(SAYS) else { return };
    let first = place(&demo.run());
    assert!(is_there(&first));
    demo.options.copies.close();
    assert!(!is_there(&first));
    assert!(!is_there(&place(&demo.run())));
}

/// Runs another script when output arrives.
struct Nested<'a> {
    demo: &'a Demo,
    inner: Option<Ran>,
}

impl Watch for Nested<'_> {
    fn output(&mut self, _: Stream, _: &[u8]) {
        self.inner.get_or_insert_with(|| self.demo.run());
    }
}

/// Two runs at the same time use different copies.
#[test]
fn two_runs_share_no_copy() {
    let Some(demo) = waiting(SAYS) else { return };
    let first = place(&demo.run());
    let mut nested = Nested { demo: &demo, inner: None };
    let outer = place(&demo.run_watched(&mut nested));
    let inner = place(&nested.inner.expect("ran"));
    assert_eq!(outer, first);
    assert_ne!(inner, first);
    assert!(is_there(&inner) && is_there(&outer), "both wait");
}

/// A later run does not use anything that an earlier run could write to.
#[test]
fn each_run_has_a_directory_of_its_own() {
    let text = "dirname \"$SKILL_BASE_DIR\"; stat -c %a \"$HOME\"; chmod 777 \"$HOME\" \"$SKILL_BASE_DIR\"\n";
    let Some(demo) = waiting(text) else { return };
    let first = place(&demo.run());
    assert!(!is_there(&first.join("home")), "it goes with its run");
    let second = demo.run();
    assert_eq!(place(&second), first);
    assert_eq!(second.stdout.text().lines().nth(1), Some("700"));
}

/// If a script was a single process, its private directory may stay; files that were put there meanwhile do not reach
/// the next script.
#[test]
fn nothing_is_found_that_was_put_there_meanwhile() {
    // The shell does all of this itself, without other processes.
    let text = "printf '%s\\n' \"${SKILL_BASE_DIR%/*}\"\n\
                for found in \"$HOME\"/* \"$HOME\"/.[!.]*; do\n  [ ! -e \"$found\" ] || echo \"found $found\"\ndone\n";
    let changes: [fn(&Path); 3] = [
        |home| fs::create_dir_all(&home.join(".local")).expect("creates"),
        |home| {
            fs::create_dir_all(home).expect("creates");
            set_mode(home, 0o777);
        },
        |home| {
            fs::remove_tree(home).expect("removes");
            fs::symlink(Path::new("/etc"), home).expect("links");
        },
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let Some(demo) = waiting(text) else { return };
        let first = place(&demo.run());
        change(&first.join("home"));
        let ran = demo.run();
        assert_ne!(place(&ran), first, "{at}");
        assert_eq!(ran.stdout.text().lines().count(), 1, "{at}: {}", ran.stdout.text());
        assert!(!is_there(&first), "{at}");
    }
}
