//! Only checked bytes run, and nothing is left of them.

use super::*;

/// Only checked bytes run: files that change between the check and the start never do, whenever they change.
#[test]
fn bytes_that_were_not_checked_never_run() {
    let demo = Demo::sh("echo good; cat \"$SKILL_BASE_DIR/references/a.md\"\n");
    demo.world.write("demo/references/a.md", "good\n");
    let script = demo.script();
    assert_eq!(demo.run().stdout.text(), "good\ngood\n");
    let at = |path: &str| demo.world.project().join("demo").join(path);
    let (good, bad) =
        (fs::read_capped(&at("scripts/demo.sh"), 1 << 20).unwrap().unwrap(), b"echo EVIL\n".as_slice());
    let stop = std::sync::atomic::AtomicBool::new(false);
    let (mut ran, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                for bytes in [bad, &good] {
                    fs::write_atomic(&at("scripts/demo.sh"), bytes).expect("writes");
                    fs::write_atomic(
                        &at("references/a.md"),
                        if bytes == bad { b"EVIL\n" } else { b"good\n" },
                    )
                    .expect("writes");
                }
            }
        });
        for _ in 0..100 {
            match run(&demo.settings(), &script, &demo.surroundings, &demo.options, &mut Unwatched) {
                Ok(outcome) => {
                    assert_eq!(outcome.stdout.text(), "good\ngood\n", "{}", outcome.stderr.text());
                    ran += 1;
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Integrity, "{}", error.with_causes());
                    refused += 1;
                }
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    eprintln!("{ran} ran, {refused} were refused");
    fs::write_atomic(&at("scripts/demo.sh"), bad).expect("writes");
    let error = run(&demo.settings(), &script, &demo.surroundings, &demo.options, &mut Unwatched)
        .expect_err("changed");
    assert_eq!(error.kind(), ErrorKind::Integrity);
    assert!(error.to_string().contains("changed while they were checked"), "{error}");
}

/// A run leaves nothing in the temporary directory, not even files that their owner may not write to.
#[test]
fn the_copy_goes_with_the_run() {
    let text = "mkdir \"$HOME/a\" && touch \"$HOME/a/b\" && chmod 500 \"$HOME/a\"\n\
                ls \"$HOME\" \"$SKILL_BASE_DIR\" >&2; echo \"$HOME\"; dirname \"$SKILL_BASE_DIR\"\n";
    let ran = Demo::sh(text).run();
    let (shown, there) = (ran.stdout.text(), ran.stderr.text());
    assert!(there.contains("\na\n") && there.contains("\nSKILL.md\n"), "{there}");
    assert_eq!(shown.lines().count(), 2, "{shown}");
    for dir in shown.lines() {
        assert_eq!(fs::kind(Path::new(dir)).expect("looks"), None, "{dir}");
    }
}

/// S1-FR-205.1, S1-SM-5: only files of the skill can be scripts.
#[test]
fn a_script_is_one_of_the_skill_s_files() {
    for path in ["../../etc/passwd", "/etc/passwd", "scripts", "", ".", "scripts/../scripts/demo.sh"] {
        let mut demo = Demo::sh("echo x\n");
        demo.path = path.to_owned();
        let error = demo.fails();
        assert_eq!(error.kind(), ErrorKind::Usage, "{path}");
        assert!(error.to_string().starts_with("there is no file"), "{error}");
    }
}
