//! Tests of what outlives changes of a manifest.

use super::*;
use crate::spec::Origin;

fn name(text: &str) -> SkillName {
    SkillName::new(text).expect(text)
}

/// Returns `text` after `change`.
fn changed(text: &str, change: impl Fn(&mut Manifest)) -> String {
    let mut manifest = Manifest::parse(text).expect(text);
    change(&mut manifest);
    manifest.written().unwrap_or_else(|| panic!("{manifest}"))
}

fn without(skills: &[&str]) -> impl Fn(&mut Manifest) {
    move |manifest| skills.iter().for_each(|skill| assert!(manifest.remove_skill(&name(skill)), "{skill}"))
}

fn seen_by(targets: &[&str]) -> impl Fn(&mut Manifest) {
    move |manifest| {
        let targets = Some(targets.iter().map(ToString::to_string).collect());
        manifest.set_agents(Agents { targets, ..Agents::default() });
    }
}

/// A comment directly above a skill goes with it where another entry stands in front; all others stay.
#[test]
fn comments_outlive_skills() {
    let text = "# whose file this is

[skills] # ours
# keep them few
pdf = { path = \"p\" } # the first
# needed for reports
docx = { path = \"d\" } # the second

# what others made

# for tables
xlsx = { path = \"x\" }
# last of all

[agents]
targets = []
# the end
";
    let few = text.replace("pdf = { path = \"p\" } # the first\n", "");
    assert_eq!(changed(text, without(&["pdf"])), few);
    assert_eq!(
        changed(text, without(&["docx"])),
        text.replace("# needed for reports\ndocx = { path = \"d\" } # the second\n", "")
    );
    assert_eq!(
        changed(text, without(&["xlsx"])),
        text.replace("# for tables\nxlsx = { path = \"x\" }\n", "")
    );
    let none = "# whose file this is

[skills] # ours
# keep them few

# what others made

# last of all

[agents]
targets = []
# the end
";
    assert_eq!(changed(text, without(&["xlsx", "docx", "pdf"])), none);
    let again = |manifest: &mut Manifest| {
        without(&["xlsx", "docx", "pdf"])(manifest);
        manifest.set_skill(&name("pdf"), Requirement::new(Origin::local("p")));
    };
    let again = changed(text, again);
    assert!(again.contains("# keep them few\n") && again.contains("# what others made\n"), "{again}");
    // At the end of the file nothing follows that could take them.
    let last = "[skills]\n# ours\n\n# a\npdf = { path = \"p\" }\n# the end";
    assert_eq!(changed(last, without(&["pdf"])), "[skills]\n# ours\n\n# a\n# the end");
}

/// A new skill comes between its neighbours where all are sorted, and at the end where they are not.
#[test]
fn a_new_skill_comes_in_sorted_order() {
    let with = |added: &'static str| {
        move |manifest: &mut Manifest| {
            manifest.set_skill(&name(added), Requirement::new(Origin::local(added)));
        }
    };
    let line = |name: &str| format!("{name} = {{ path = \"{name}\" }}\n");
    let (b, d, c) = (line("b"), line("d"), line("c"));
    let text = format!(
        "# the file\n[skills] # ours\n# keep them few\n\n# for b\n{b}\n# a group\n\n# for d\n{d}# the end\n\n[agents]\ntargets = []\n"
    );
    let after = |line: &str, new: &str| text.replace(line, &format!("{line}{new}"));
    assert_eq!(changed(&text, with("c")), after(&b, &c));
    assert_eq!(changed(&text, with("e")), after(&d, &line("e")));
    let first = changed(&text, with("a"));
    assert_eq!(first, text.replace("# for b\n", &format!("{}# for b\n", line("a"))));
    // An order that a person chose stays.
    for unsorted in [
        format!("[skills]\n{d}{b}"),
        "[skills]\nb.path = \"b\"\nb.disabled = true\nd.path = \"d\"\n".to_owned(),
    ] {
        assert_eq!(changed(&unsorted, with("c")), format!("{unsorted}{c}"));
    }
    // Sections of their own come where they came.
    let own = format!("[skills]\n{b}{d}\n[skills.a]\npath = \"a\"\n");
    assert_eq!(changed(&own, with("c")), own.replace(&d, &format!("{c}{d}")));
}

/// The head of a file stays there when its first section is written.
#[test]
fn the_head_of_the_file_stays_above_the_first_section() {
    let with_docx = |manifest: &mut Manifest| {
        manifest.set_skill(&name("docx"), Requirement::new(Origin::local("d")));
    };
    let docx = "[skills]\ndocx = { path = \"d\" }\n";
    let head = "#:schema https://example.com/schema.json\n# Skills of the team: ask before you add one.\n";
    for (text, expected) in [
        (head.to_owned(), format!("{head}{docx}")),
        (format!("{head}\n"), format!("{head}\n{docx}")),
        ("# no end".to_owned(), format!("# no end\n{docx}")),
        (String::new(), docx.to_owned()),
        (
            format!("{head}\n# for reports\n[skills.pdf]\npath = \"p\"\n"),
            format!("{head}\n{docx}\n# for reports\n[skills.pdf]\npath = \"p\"\n"),
        ),
        (
            format!("{head}\n[skills.pdf]\npath = \"p\"\n\n[agents]\ntargets = []\n"),
            format!("{head}\n{docx}\n[skills.pdf]\npath = \"p\"\n\n[agents]\ntargets = []\n"),
        ),
        // The head is above another section, or does not belong to the file.
        (
            format!("{head}\n[agents]\ntargets = []\n\n[skills.pdf]\npath = \"p\"\n"),
            format!("{head}\n[agents]\ntargets = []\n\n{docx}\n[skills.pdf]\npath = \"p\"\n"),
        ),
        (format!("[agents]\ntargets = []\n{head}"), format!("[agents]\ntargets = []\n\n{docx}{head}")),
    ] {
        assert_eq!(changed(&text, with_docx), expected, "{text}");
    }
    // Lines of a section that is there need no header.
    let own = format!("{head}\n[skills.docx]\npath = \"old\"\n");
    assert_eq!(changed(&own, with_docx), own.replace("old", "d"));
    let targets = "[agents]\ntargets = [\"claude-code\"]\n";
    assert_eq!(changed(head, seen_by(&["claude-code"])), format!("{head}{targets}"));
}

/// The same where skills have sections of their own, dotted keys or braces.
#[test]
fn comments_outlive_skills_in_other_forms() {
    let text = "# whose file this is
[skills.pdf]
path = \"p\"

# about reports

# for reports
[skills.docx]
path = \"d\"

# who
[agents]
targets = []
";
    assert_eq!(changed(text, without(&["pdf"])), text.replace("[skills.pdf]\npath = \"p\"\n", ""));
    assert_eq!(
        changed(text, without(&["docx"])),
        text.replace("# for reports\n[skills.docx]\npath = \"d\"\n\n", "")
    );
    let text = "[skills]\n# ours\n\n# one\npdf.path = \"p\"\npdf.disabled = true\n# two\ndocx.path = \"d\"\n";
    let left = "[skills]\n# ours\n\n# one\n# two\ndocx.path = \"d\"\n";
    assert_eq!(changed(text, without(&["pdf"])), left);
    let left = "[skills]\n# ours\n\n# one\npdf.path = \"p\"\npdf.disabled = true\n";
    assert_eq!(changed(text, without(&["docx"])), left);
    let text = "skills = { # ours
    # the first
    pdf = { path = \"p\" }, # p
    # the second
    docx = { path = \"d\" }, # d
    xlsx = { path = \"x\" } # x
}
";
    assert_eq!(changed(text, without(&["pdf"])), text.replace("    pdf = { path = \"p\" }, # p\n", ""));
    assert_eq!(
        changed(text, without(&["docx"])),
        text.replace("    # the second\n    docx = { path = \"d\" }, # d\n", "")
    );
    let left = text.replace("    xlsx = { path = \"x\" } # x\n", "").replace("}, # d", "} # d");
    assert_eq!(changed(text, without(&["xlsx"])), left);
    let new = |manifest: &mut Manifest| {
        manifest.set_skill(&name("new"), Requirement::new(Origin::local("n")));
    };
    assert_eq!(changed(text, new), text.replace("} # x\n", "}, # x\n    new = { path = \"n\" }\n"));
}

/// Lists are changed item by item.
#[test]
fn comments_in_lists_stay() {
    let text = "[agents]
targets = [ # why
    # the rest of us
    \"claude-code\", # everybody
    # Bob
    'junie', # too

    # and the others

    # C
    \"cursor\",
    # more to come
] # so far
";
    assert_eq!(
        changed(text, seen_by(&["claude-code", "cursor"])),
        text.replace("    # Bob\n    'junie', # too\n", "")
    );
    assert_eq!(
        changed(text, seen_by(&["junie", "cursor"])),
        text.replace("    \"claude-code\", # everybody\n", "")
    );
    assert_eq!(
        changed(text, seen_by(&["claude-code", "junie"])),
        text.replace("    # C\n    \"cursor\",\n", "")
    );
    assert_eq!(
        changed(text, seen_by(&["claude-code", "junie", "cursor", "amp"])),
        text.replace("\"cursor\",\n", "\"cursor\",\n    \"amp\",\n")
    );
    assert_eq!(
        changed(text, seen_by(&["claude-code", "amp", "junie", "cursor"])),
        text.replace("# everybody\n", "# everybody\n    \"amp\",\n")
    );
    let none = "[agents]
targets = [ # why
    # the rest of us

    # and the others

    # more to come
] # so far
";
    assert_eq!(changed(text, seen_by(&[])), none);
    let text = "[agents]\ntargets = [\n  \"a\", # one\n  \"b\" # two\n]\n";
    let more = "[agents]\ntargets = [\n  \"a\", # one\n  \"b\", # two\n  \"c\"\n]\n";
    assert_eq!(changed(text, seen_by(&["a", "b", "c"])), more);
    assert_eq!(changed(text, seen_by(&["a"])), "[agents]\ntargets = [\n  \"a\" # one\n]\n");
    assert_eq!(changed(text, seen_by(&["b"])), "[agents]\ntargets = [\n  \"b\" # two\n]\n");
    assert_eq!(changed(text, seen_by(&["c"])), "[agents]\ntargets = [\n  \"c\"\n]\n");
    for (text, list, new) in [
        ("[]", &["a", "b"][..], r#"["a", "b"]"#),
        ("[ 'a' ]", &["a", "b"], r#"[ 'a', "b" ]"#),
        ("[ 'a', 'b' ]", &["b"], "[ 'b' ]"),
        ("['a', 'b']", &["a"], "['a']"),
        ("['a', 'b',]", &["a", "c"], r#"['a', "c",]"#),
        ("['b', 'a']", &["a", "b"], r#"["a", 'b']"#),
        ("['b']", &["a", "b"], r#"["a", 'b']"#),
        ("[ # why\n]", &["a"], "[ # why\n    \"a\"\n]"),
        ("[ # why\n'a', 'b', # two\n'c']", &["a", "c"], "[ # why\n'a', # two\n'c']"),
        ("['a', 'a']", &["a"], "['a']"),
    ] {
        let whole = |list: &str| format!("[agents]\ntargets = {list} # x\n");
        assert_eq!(changed(&whole(text), seen_by(list)), whole(new), "{text}");
    }
}

/// The entry of a skill in braces around several lines.
#[test]
fn comments_in_entries_stay() {
    let text = "[skills]
# the good one
pdf = { # from our friends
    github = \"a/b\", # theirs
    # until the second one is out
    tag = \"v1\", # not v2
    agents = [
        \"junie\", # Bob
    ],
} # so far
";
    let change = |change: fn(&mut Requirement)| {
        changed(text, |manifest| {
            let mut pdf = manifest.skills()[&name("pdf")].clone();
            change(&mut pdf);
            manifest.set_skill(&name("pdf"), pdf);
        })
    };
    assert_eq!(
        change(|pdf| pdf.reference = Some(Reference::Tag("v3".into()))),
        text.replace("\"v1\"", "\"v3\"")
    );
    assert_eq!(change(|pdf| pdf.reference = None), text.replace("    tag = \"v1\", # not v2\n", ""));
    assert_eq!(
        change(|pdf| pdf.agents = Some(vec!["junie".into(), "amp".into()])),
        text.replace("# Bob\n", "# Bob\n        \"amp\",\n")
    );
    assert_eq!(change(|pdf| pdf.disabled = true), text.replace("    ],\n", "    ],\n    disabled = true,\n"));
    // A section loses a line, and what stands above it stays.
    let text = "[skills.pdf]\ngithub = \"a/b\"\n# ours\n\n# old\ntag = \"v1\"\n\n[agents]\ncopy = true\n";
    let bare = |manifest: &mut Manifest| {
        let pdf = manifest.skills()[&name("pdf")].clone();
        manifest.set_skill(&name("pdf"), Requirement { reference: None, ..pdf });
    };
    assert_eq!(changed(text, bare), text.replace("tag = \"v1\"\n", ""));
}

/// A line end is part of what stays to the byte, and it is doubled nowhere.
#[test]
fn line_ends_stay() {
    let text = "[skills]\r\npdf = { github = \"\"\"\\\r\n  a/b\"\"\" }\r\n# here\n# there\r\n\r\n[agents]\r\ntargets = [\n  'a', # one\r\n]";
    let xlsx = |manifest: &mut Manifest| {
        manifest.set_skill(&name("xlsx"), Requirement::new(Origin::local("d")));
    };
    let with = text.replace("}\r\n# here", "}\r\nxlsx = { path = \"d\" }\r\n# here");
    assert_eq!(changed(text, xlsx), with + "\r\n");
    let with = text.replace("# one\r\n", "# one\r\n  \"b\",\r\n");
    assert_eq!(changed(text, seen_by(&["a", "b"])), with + "\r\n");
    // Most lines end otherwise.
    let text = "[skills]\n# a\r\npdf = { path = \"p\" }\n# b\n";
    assert_eq!(
        changed(text, xlsx),
        "[skills]\n# a\r\npdf = { path = \"p\" }\nxlsx = { path = \"d\" }\n# b\n"
    );
}

/// A manifest that could not be read again is not written.
#[test]
fn nothing_else_is_written_than_what_is_meant() {
    let mut manifest = Manifest::parse("[skills]\n").expect("valid");
    manifest.set_skill(&name("pdf"), Requirement::new(Origin::local("a\nb")));
    assert_eq!(manifest.written(), None);
    let policy = "\n\n[policy]\naudit = \"error\"\n[lint]\nprofile = \"spec\"\n";
    assert!(
        changed(&("[skills]".to_owned() + policy), |manifest| {
            manifest.set_skill(&name("pdf"), Requirement::new(Origin::local("p")));
        })
        .ends_with(policy)
    );
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    /// A line of a section of skills: a comment, nothing, or an entry in one of its forms.
    fn lines(form: usize, number: usize) -> Vec<String> {
        match form {
            0 | 1 => vec![format!("# c{number}.")],
            2 => vec![String::new()],
            3 => vec![format!("s{number} = {{ path = 'p' }} # s{number}.")],
            4 => vec![format!("s{number} = {{ path = \"\"\"\\"), format!("  p{number}\"\"\" }}")],
            5 => vec![
                format!("s{number} = {{ # e{number}."),
                format!("  path = 'p', # f{number}."),
                format!("  agents = [ 'a', # g{number}."),
                format!("    'b' ] }} # s{number}."),
            ],
            _ => vec![format!("s{number}.path = 'p' # s{number}."), format!("s{number}.disabled = true")],
        }
    }

    /// Comments that may go with skills that are `gone`: those directly above, and those in the lines of the entry.
    fn may_go(lines: &[String], gone: &[String]) -> Vec<String> {
        let mut all = Vec::new();
        let mut above: Vec<String> = Vec::new();
        let mut is_gone = false;
        for line in lines {
            let comment = line.split_once('#').map(|(_, comment)| comment.to_owned());
            let starts = line.starts_with('s');
            if starts {
                is_gone = gone.iter().any(|name| {
                    line.starts_with(&format!("{name} ")) || line.starts_with(&format!("{name}."))
                });
                let above = std::mem::take(&mut above);
                all.extend(above.into_iter().filter(|_| is_gone));
            } else if line.starts_with('#') || line.is_empty() || line.starts_with('[') {
                is_gone = false;
            }
            match comment {
                Some(comment) if line.starts_with('#') => above.push(comment),
                Some(comment) if is_gone => all.push(comment),
                _ => above.clear(),
            }
        }
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn lines_that_nobody_changed_stay(
            forms in prop::collection::vec((0..7_usize, any::<bool>(), any::<bool>()), 0..14),
            ends in prop::collection::vec(any::<bool>(), 8),
            adds: bool,
            changes: bool,
            targets in prop::option::of(prop::sample::subsequence(vec!["a", "b", "c", "d"], 0..4)),
        ) {
            let mut written = vec!["# head.".to_owned(), "[skills] # header.".to_owned()];
            for (number, (form, ..)) in forms.iter().enumerate() {
                written.extend(lines(*form, number));
            }
            for line in ["", "# agents.", "[agents]", "targets = [ # why.", "  'b', # b.", "  # above.", "  'c' # c.", "]", "# end."] {
                written.push(line.to_owned());
            }
            let mut text = String::new();
            for (line, is_windows) in written.iter().zip(ends.iter().cycle()) {
                text.push_str(line);
                text.push_str(if *is_windows { "\r\n" } else { "\n" });
            }
            let mut manifest = Manifest::parse(&text).expect("valid");
            let is_skill = |number: &usize| forms[*number].0 > 2;
            let all = (0..forms.len()).filter(is_skill);
            let gone: Vec<String> = all.clone().filter(|at| forms[*at].1).map(|at| format!("s{at}")).collect();
            let kept: Vec<String> = all.filter(|at| !forms[*at].1 && forms[*at].2).map(|at| format!("s{at}")).collect();
            for skill in &gone {
                manifest.remove_skill(&name(skill));
            }
            for skill in kept.iter().filter(|_| changes) {
                let old = manifest.skills()[&name(skill)].clone();
                let agents = Some(vec!["b".to_owned(), "c".to_owned()]);
                manifest.set_skill(&name(skill), Requirement { agents, disabled: !old.disabled, ..old });
            }
            if adds {
                manifest.set_skill(&name("new"), Requirement::new(Origin::local("n")));
            }
            if let Some(targets) = &targets {
                seen_by(targets)(&mut manifest);
            }
            let new = manifest.written();
            prop_assert!(new.is_some(), "{text:?}\n{manifest}");
            let new = new.expect("there");
            prop_assert!(!new.contains("\r\r"), "{new:?}");
            // Lines that are there twice may have come from either.
            for line in text.split_inclusive('\n') {
                let bare = line.trim_end();
                let is_one = |text: &str| text.lines().filter(|other| *other == bare).count() == 1;
                if is_one(&text) && is_one(&new) {
                    prop_assert!(new.split_inclusive('\n').any(|other| other == line), "{line:?}\n{text:?}\n{new:?}");
                }
            }
            let lists = targets.iter().flat_map(|targets| {
                let lost = [("b", " b."), ("c", " above."), ("c", " c.")];
                lost.into_iter().filter(|(target, _)| !targets.contains(target)).map(|(_, comment)| comment.to_owned())
            });
            let mut may_go = may_go(&written, &gone);
            may_go.extend(lists);
            if changes {
                may_go.extend((0..forms.len()).map(|number| format!(" g{number}.")));
            }
            for line in &written {
                if let Some((_, comment)) = line.split_once('#')
                    && !may_go.iter().any(|other| other == comment)
                {
                    prop_assert!(new.contains(comment), "{comment}\n{text}\n{new}");
                }
            }
        }
    }
}
