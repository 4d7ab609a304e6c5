//! `validate`: whether skills are what the specification says.

mod baseline;
mod check;
mod config;
mod one;
mod outcome;
mod repair;
mod request;
mod tree;
mod watch;

pub use self::baseline::{BaselineRequest, WrittenBaseline};
pub use self::check::validate;
pub use self::config::rules_of;
pub use self::outcome::{Checked, Repaired, ValidateOutcome};
pub use self::request::{LintOptions, Repairs, ValidateRequest};
pub use self::tree::Tree;
pub use self::watch::{News, Watch};
pub use crate::paths::{Changes, Target};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;
    use crate::error::Result;
    use crate::fs;
    use crate::lint::{FILE_KIND, Profile, Severity};

    fn validated(world: &World, paths: &[&str]) -> Result<ValidateOutcome> {
        let targets = paths.iter().map(|path| Target::Path(path.into())).collect();
        validate(&world.context(), &ValidateRequest { targets, ..ValidateRequest::default() })
    }

    /// Each file with the rules that found something.
    fn found(world: &World, paths: &[&str]) -> Vec<(String, Vec<&'static str>)> {
        let outcome = validated(world, paths).expect("can be checked");
        let one = |checked: &Checked| {
            let rules = checked.findings.iter().map(|finding| finding.rule).collect();
            (checked.file.to_string_lossy().replace('\\', "/"), rules)
        };
        outcome.skills.iter().map(one).collect()
    }

    fn files(world: &World, paths: &[&str]) -> Vec<String> {
        found(world, paths).into_iter().map(|(file, _)| file).collect()
    }

    /// S0-US5.1: a file, a skill's directory, a directory of skills.
    #[test]
    fn files_are_shown_below_the_path_as_typed() {
        let world = World::new();
        world.skill("skills/b", "b");
        world.skill("skills/a", "a");
        world.skill("elsewhere/deep/c", "c");
        world.skill("skills/a/nested", "nested");
        assert_eq!(found(&world, &["skills/a/SKILL.md"]), [("skills/a/SKILL.md".into(), vec![])]);
        assert_eq!(files(&world, &["./skills/b/"]), ["./skills/b/SKILL.md"]);
        assert_eq!(
            files(&world, &["."]),
            [
                "./elsewhere/deep/c/SKILL.md",
                "./skills/a/SKILL.md",
                "./skills/a/nested/SKILL.md",
                "./skills/b/SKILL.md"
            ],
            "nothing is hidden by a directory of skills"
        );
        let all = files(&world, &["skills/b", "skills", "./skills/a/../a"]);
        let each = ["skills/b/SKILL.md", "skills/a/SKILL.md", "skills/a/nested/SKILL.md"];
        assert_eq!(all, each, "each once");
        let absolute = world.project().join("skills/a");
        assert_eq!(
            files(&world, &[&absolute.to_string_lossy()])[0],
            absolute.join("SKILL.md").to_string_lossy()
        );
    }

    #[test]
    fn the_directory_s_real_name_counts() {
        let world = World::new();
        world.skill(".", "project");
        assert_eq!(found(&world, &["."]), [("./SKILL.md".into(), vec![])]);
        world.skill(".", "other");
        assert_eq!(found(&world, &["SKILL.md"]), [("SKILL.md".into(), vec!["name-directory"])]);
    }

    /// S0-FR-002, conflict C13: found in any case, and reported.
    #[test]
    fn another_case_is_a_finding() {
        let world = World::new();
        world.write("a/Skill.md", &crate::engine::testing::skill_text("a"));
        let expected = [("a/Skill.md".to_owned(), vec!["file-name"])];
        assert_eq!(found(&world, &["a"]), expected);
        assert_eq!(found(&world, &["a/Skill.md"]), expected);
    }

    #[test]
    fn too_large_a_file_is_a_finding() {
        let world = World::new();
        world.write("a/SKILL.md", &"x".repeat(11 << 20));
        let outcome = validated(&world, &["a"]).expect("no error");
        assert_eq!(
            outcome.skills[0].findings[0].message,
            "the file cannot be checked: it has more than 10 MiB"
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_pipes_and_directories_are_findings() {
        let world = World::new();
        world.write("secret", "key");
        world.write("in/real.md", &crate::engine::testing::skill_text("in"));
        for (target, link) in
            [("nowhere", "gone"), ("../secret", "out"), ("real.md", "in"), ("SKILL.md", "loop")]
        {
            world.link(target, &format!("{link}/SKILL.md"));
        }
        fs::create_dir_all(&world.project().join("dir/SKILL.md")).expect("creates");
        fs::create_dir_all(&world.project().join("pipe")).expect("creates");
        let pipe = world.project().join("pipe/SKILL.md");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .expect("a pipe");
        for name in ["gone", "out", "in", "loop", "dir", "pipe"] {
            let file = format!("{name}/SKILL.md");
            let expected = [(file.clone(), vec![FILE_KIND])];
            assert_eq!(found(&world, &[name]), expected);
            assert_eq!(found(&world, &[&file]), expected);
        }
        let outcome = validated(&world, &["out", "in"]).expect("no error");
        assert_eq!(outcome.skills[0].text, "", "nothing of the secret is shown");
        assert!(!outcome.skills[1].text.is_empty());
        assert_eq!(files(&world, &["."]).len(), 6);
    }

    #[cfg(unix)]
    #[test]
    fn an_agent_s_directory_of_links_is_followed() {
        let world = World::new();
        world.skill(".agents/skills/pdf", "pdf");
        world.link("../../.agents/skills/pdf", ".claude/skills/pdf");
        world.link("../../.agents/skills/pdf", ".claude/skills/alias");
        assert_eq!(found(&world, &[".claude/skills"]), [(".claude/skills/alias/SKILL.md".into(), vec![])]);
        assert_eq!(files(&world, &[".", ".claude/skills"]), ["./.agents/skills/pdf/SKILL.md"]);
    }

    /// An editable skill is a link in `.agents/skills`: it is checked wherever that is searched from, and once.
    #[cfg(unix)]
    #[test]
    fn editable_skills_are_found_below_the_directory_of_agents() {
        let world = World::new();
        world.skill("work/brand", "brand");
        world.skill("work/hidden", "hidden");
        world.link("../../work/brand", ".agents/skills/brand");
        world.link("../../.agents/skills/brand", ".agents/other/skills/brand");
        world.link("../../work/hidden", ".agents/elsewhere/hidden");
        assert_eq!(
            files(&world, &[".agents"]),
            [".agents/skills/brand/SKILL.md"],
            "no other link is followed"
        );
        assert_eq!(files(&world, &["."]), ["./work/brand/SKILL.md", "./work/hidden/SKILL.md"]);
        assert_eq!(files(&world, &[".agents", "work"]).len(), 2);
    }

    /// The default profile finds what a skill names, wherever in it that is, and follows no link.
    #[test]
    fn named_files_are_looked_for() {
        let world = World::new();
        let text = |license: &str, links: &str| {
            let fields = format!("name: a\ndescription: Does a. Use it in tests.\nlicense: {license}");
            world.write("a/SKILL.md", &format!("---\n{fields}\n---\n\n{links}\n"));
        };
        let rules = || found(&world, &["a"]).remove(0).1;
        for path in ["a/x.md", "a/b/y.md", "a/terms/LICENSE.txt", "outside.md"] {
            world.write(path, "");
        }
        fs::create_dir_all(&world.project().join("a/empty")).expect("creates");
        text("see terms/LICENSE.txt", "[x](x.md) [y](b/y.md) [b](b/) [self](SKILL.md)");
        assert_eq!(rules(), Vec::<&str>::new());
        for link in ["gone.md", "X.md", "x.md/y", "empty/", "b/x.md", "empty/y.md"] {
            text("MIT", &format!("[x]({link})"));
            assert_eq!(rules(), ["link-missing"], "{link}");
        }
        for license in ["LICENSE.txt", "terms/LICENSE", "../outside.md", "./x.md/LICENSE.txt"] {
            text(&format!("see {license}"), "");
            assert_eq!(rules(), ["license-unknown"], "{license}");
        }
        #[cfg(unix)]
        {
            world.link("../elsewhere", "a/link");
            text("see link/LICENSE.txt", "[x](link) [y](link/y.md)");
            assert_eq!(rules(), Vec::<&str>::new());
        }
    }

    /// The obstacles to an installation are reported of a skill that is named, and where files are listed anyway.
    #[cfg(target_os = "linux")]
    #[test]
    fn names_that_are_not_utf_8_are_findings() {
        use std::os::unix::ffi::OsStrExt as _;

        let world = World::new();
        world.skill("skills/pdf", "pdf");
        let odd = std::ffi::OsStr::from_bytes(b"a\xff.md");
        fs::write_atomic(&world.project().join("skills/pdf").join(odd), b"").expect("writes");
        for named in ["skills/pdf", "skills/pdf/SKILL.md"] {
            let outcome = validated(&world, &[named]).expect("can be checked");
            let [finding] = &outcome.skills[0].findings[..] else { panic!("{named}") };
            assert_eq!((finding.rule, finding.severity), (FILE_KIND, Severity::Error));
            assert!(finding.message.contains("is not UTF-8"), "{}", finding.message);
        }
        let request = |profile: Profile| ValidateRequest {
            targets: vec![Target::Path("skills".into())],
            options: profile.into(),
            ..ValidateRequest::default()
        };
        let outcome = validate(&world.context(), &request(Profile::Publish)).expect("can be checked");
        assert!(outcome.findings().any(|finding| finding.rule == FILE_KIND));
    }

    /// A skill that contains a link to itself has an end, and a file behind a link belongs to the skill there.
    #[cfg(unix)]
    #[test]
    fn links_lead_nowhere_twice() {
        let world = World::new();
        world.skill("a", "a");
        world.link(".", "a/self");
        assert_eq!(files(&world, &["a"]), ["a/SKILL.md"]);
        world.skill(".", "project");
        world.skill("elsewhere/b", "b");
        world.write("elsewhere/b/sub/x.md", "");
        world.link("elsewhere/b/sub", "link");
        let [file] = &files(&world, &["link/x.md"])[..] else { panic!("one skill") };
        assert!(file.ends_with("elsewhere/b/SKILL.md"), "{file}");
    }

    /// A manifest without `[lint]` changes nothing, and what is excluded has no say.
    #[test]
    fn the_lint_table_nearest_to_a_skill_counts() {
        let world = World::new();
        world.write("skillpm.toml", "[lint]\nexclude = [\"fix/**\"]\nrules = { name-directory = \"off\" }\n");
        world.skill("s/a", "other");
        world.write("s/skillpm.toml", "[skills]\n");
        world.skill("fix/b", "other");
        world.write("fix/skillpm.toml", "[lint\n");
        assert_eq!(found(&world, &["."]), [("./s/a/SKILL.md".to_owned(), vec![])]);
    }

    /// A copy for another agent is not a second skill; one with another text is.
    #[test]
    fn the_same_name_twice_is_found() {
        let world = World::new();
        for place in ["a/pdf", "b/pdf"] {
            world.skill(place, "pdf");
        }
        assert!(found(&world, &["."]).iter().all(|(_, rules)| rules.is_empty()));
        world.write("c/pdf/SKILL.md", &(crate::engine::testing::skill_text("pdf") + "\nMore.\n"));
        let twice: Vec<_> =
            found(&world, &["."]).into_iter().filter(|(_, rules)| !rules.is_empty()).collect();
        assert_eq!(twice, [("./c/pdf/SKILL.md".to_owned(), vec!["name-twice"])]);
    }

    /// Each skill is checked among the others, wherever they were found.
    #[test]
    fn a_circle_of_skills_is_found() {
        let world = World::new();
        let skill = |name: &str, needs: &str| {
            let text = format!(
                "---\nname: {name}\ndescription: Does {name}. Use it in tests.\nmetadata:\n  \
                 skill-dependencies: {needs}\n---\n\n# {name}\n"
            );
            world.write(&format!("skills/{name}/SKILL.md"), &text);
        };
        skill("a", "b");
        skill("b", "c");
        assert_eq!(found(&world, &["skills/a", "skills"]).len(), 2);
        assert!(found(&world, &["skills"]).iter().all(|(_, rules)| rules.is_empty()));
        skill("c", "a");
        for (file, rules) in found(&world, &["skills/b", "skills"]) {
            assert_eq!(rules, ["dependency-cycle"], "{file}");
        }
        assert!(found(&world, &["skills/b"])[0].1.is_empty(), "alone it is in no circle");
    }
}
