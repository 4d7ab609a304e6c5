//! The names of tools and the keys of their parameters, as models see them.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::digest::Digest;

/// The maximum length of a name in the APIs of models.
const MAX_NAME: usize = 64;
/// The length of the digest that distinguishes two names.
const HASH: usize = 8;
/// The separator between the skill and the script.
const BETWEEN: &str = "__";

/// The parts of a tool that its name depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named<'a> {
    /// The bare name.
    pub(super) name: &'a str,
    /// The path of its script.
    pub(super) script: &'a str,
}

/// Returns a name for each of `tools` of the skill `skill`: 1 to 64 of the characters `A-Z a-z 0-9 _ -` (conflicts C2,
/// C21). It consists of the skill's name, two underscores, and the bare name. If two tools of the skill would have the
/// same name, the extension of the script is added, and if that is not enough, a short hash.
///
/// Names of tools of different skills do not collide either: a name that had to be changed or shortened has a hash of
/// the original. A skill that is hidden by another one of the same name gets the same names as that skill.
pub(super) fn tool_names(skill: &str, tools: &[Named<'_>]) -> Vec<String> {
    let plain: Vec<String> = tools.iter().map(|tool| mapped(tool.name)).collect();
    let with_ending: Vec<String> = tools.iter().map(|tool| mapped(&ended(tool))).collect();
    let alone = |of: &[String], name: &String| of.iter().filter(|other| *other == name).count() == 1;
    let mut taken = BTreeSet::new();
    let mut names = Vec::with_capacity(tools.len());
    for (at, tool) in tools.iter().enumerate() {
        let part = if alone(&plain, &plain[at]) {
            &plain[at]
        } else if alone(&with_ending, &with_ending[at]) && !plain.contains(&with_ending[at]) {
            &with_ending[at]
        } else {
            &format!("{}_{}", with_ending[at], hash(&[tool.name, tool.script]))
        };
        let mut name = joined(skill, part);
        if taken.contains(&name) {
            name = joined(skill, &format!("{part}_{}", hash(&[tool.name, tool.script])));
        }
        taken.insert(name.clone());
        names.push(name);
    }
    names
}

/// Returns the name with the extension of its script: `echo_py`.
fn ended(tool: &Named<'_>) -> String {
    let file = tool.script.rsplit('/').next().unwrap_or_default();
    match file.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => format!("{}_{ending}", tool.name),
        _ => tool.name.to_owned(),
    }
}

/// Returns `skill__part`, or a shorter form with a hash.
fn joined(skill: &str, part: &str) -> String {
    let of_skill = mapped(skill);
    let length = of_skill.len() + BETWEEN.len() + part.len();
    // A skill's name with two underscores could be the name of another skill and the start of a script's name.
    let is_clear = of_skill == skill && !skill.contains(BETWEEN) && !skill.ends_with('_');
    if is_clear && length <= MAX_NAME {
        return format!("{of_skill}{BETWEEN}{part}");
    }
    let hash = hash(&[skill, part]);
    // The space that both names share. Each may use what the other does not need.
    let room = MAX_NAME - BETWEEN.len() - 1 - HASH;
    let of_part = part.len().min(room.saturating_sub(of_skill.len()).max(room / 2));
    let of_skill = &of_skill[..of_skill.len().min(room - of_part)];
    format!("{of_skill}{BETWEEN}{}_{hash}", &part[..of_part])
}

/// Returns `name` with an underscore in place of each character that tool names cannot have.
fn mapped(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let mapped: String = name.chars().map(|c| if fits(c) { c } else { '_' }).collect();
    if mapped.is_empty() { "_".to_owned() } else { mapped }
}

/// Returns a key for each of the parameters `names`: 1 to 64 of the characters `A-Z a-z 0-9 _ . -`, which the APIs of
/// models accept. It is the name itself if possible, otherwise the name with underscores and a short hash of the
/// original. A single key that is not accepted would break every request with that tool.
pub(super) fn keys<'a>(names: &[&'a str]) -> Vec<Cow<'a, str>> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_plain = |name: &str| (1..=MAX_NAME).contains(&name.len()) && name.chars().all(fits);
    let mut taken: BTreeSet<String> =
        names.iter().filter(|name| is_plain(name)).map(|name| (*name).to_owned()).collect();
    let changed = |name: &str, taken: &mut BTreeSet<String>| {
        let mapped: String = name.chars().map(|c| if fits(c) { c } else { '_' }).collect();
        let start = &mapped[..mapped.len().min(MAX_NAME - 1 - HASH)];
        let mut salt = String::new();
        loop {
            let key = format!("{start}_{}", hash(&[name, &salt]));
            if taken.insert(key.clone()) {
                return key;
            }
            salt.push('_');
        }
    };
    let key = |name: &'a str, taken: &mut BTreeSet<String>| {
        if is_plain(name) { Cow::Borrowed(name) } else { Cow::Owned(changed(name, taken)) }
    };
    names.iter().map(|name| key(name, &mut taken)).collect()
}

fn hash(parts: &[&str]) -> String {
    let mut hex = Digest::of(parts.join("\0").as_bytes()).hex();
    hex.truncate(HASH);
    hex
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(skill: &str, tools: &[(&str, &str)]) -> Vec<String> {
        let tools: Vec<_> = tools.iter().map(|(name, script)| Named { name, script }).collect();
        tool_names(skill, &tools)
    }

    /// S1-FR-202.1, S1-FR-203.2, conflict C21.
    #[test]
    fn the_skill_and_the_script_and_the_ending_where_that_is_not_enough() {
        assert_eq!(names("pdf", &[("read", "scripts/read.py")]), ["pdf__read"]);
        assert_eq!(
            names("n", &[("echo", "scripts/echo.py"), ("echo", "scripts/echo.sh"), ("x", "scripts/x.py")]),
            ["n__echo_py", "n__echo_sh", "n__x"]
        );
        let both = names("n", &[("a", "scripts/x/a.py"), ("a", "scripts/y/a.py")]);
        assert!(both[0].starts_with("n__a_py_") && both[0].len() == 16 && both[0] != both[1], "{both:?}");
        let tricky = [("e", "e.py"), ("e", "e.sh"), ("e_py", "e_py.js")];
        assert_eq!(names("n", &tricky)[2], "n__e_py", "the one whose own name it is keeps it");
    }

    /// Conflict C2: a name that is too long is shortened, and a changed name has a hash.
    #[test]
    fn long_and_strange_names() {
        let long = names(&"s".repeat(64), &[("read", "read.py")]);
        assert!(
            long[0].starts_with(&format!("{}__read_", "s".repeat(49))) && long[0].len() == 64,
            "{long:?}"
        );
        let long = names("pdf", &[(&"r".repeat(90), "r.py")]);
        assert!(long[0].starts_with(&format!("pdf__{}_", "r".repeat(50))) && long[0].len() == 64, "{long:?}");
        let both = names(&"s".repeat(64), &[(&"r".repeat(90), "r.py")]);
        assert_eq!((both[0].len(), both[0].find("__")), (64, Some(27)));
        assert_ne!(names("a b", &[("x", "x.py")]), names("a.b", &[("x", "x.py")]));
        assert_ne!(names("a__b", &[("c", "c.py")]), names("a", &[("b__c", "b__c.py")]));
        assert_eq!(names("a", &[("b c", "b c.py")]), ["a__b_c"]);
        let both = names("a", &[("b c", "b c.py"), ("b.c", "b.c.py")]);
        assert_ne!(both[0], both[1]);
        assert_eq!(names("a", &[("", "")]), ["a___"]);
    }

    #[test]
    fn keys_that_no_interface_takes_are_changed() {
        let long = "x".repeat(65);
        let names = ["path", "$in", "größe", "ein gabe", "a/b", "a b", "a.b-c_1", "", &long];
        let keys = keys(&names);
        assert_eq!((&*keys[0], &*keys[6]), ("path", "a.b-c_1"));
        let starts = ["_in_", "gr__e_", "ein_gabe_", "a_b_", "a_b_"];
        for (key, start) in keys[1..6].iter().zip(starts) {
            assert!(key.starts_with(start) && key.len() == start.len() + HASH, "{key}");
        }
        assert!(keys[7].len() == 9 && keys[8].len() == MAX_NAME, "{keys:?}");
        // A name that equals the key of another parameter stays as it is.
        let both = super::keys(&["$in", &keys[1]]);
        assert!(both[1] == keys[1] && both[0] != both[1], "{both:?}");
    }

    proptest! {
        #[test]
        fn keys_are_unique_and_fit(names in proptest::collection::btree_set("(a|_|é|\\$|\\.|/| ){0,70}", 0..8)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let found = keys(&names);
            let unique: BTreeSet<_> = found.iter().collect();
            prop_assert_eq!(unique.len(), names.len(), "{:?}", found);
            for key in &found {
                prop_assert!((1..=MAX_NAME).contains(&key.len()), "{}", key);
                prop_assert!(key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')));
            }
        }

        #[test]
        fn names_are_unique_and_fit(
            skill in "(a|b|_|__|-|é| ){1,40}",
            stems in proptest::collection::btree_set(("(a|_py|_|é|b ){0,20}", "(py|sh|)"), 1..8),
        ) {
            let tools: Vec<_> =
                stems.iter().map(|(stem, ending)| (stem.clone(), format!("{stem}.{ending}"))).collect();
            let tools: Vec<_> = tools.iter().map(|(name, script)| (name.as_str(), script.as_str())).collect();
            let found = names(&skill, &tools);
            let unique: BTreeSet<_> = found.iter().collect();
            prop_assert_eq!(unique.len(), tools.len(), "{:?}", found);
            for name in found {
                prop_assert!((1..=MAX_NAME).contains(&name.len()), "{}", name);
                prop_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'));
            }
        }
    }
}
