//! The texts of a skill's metadata, as they stand in its file.
//!
//! [`super::load_with`] makes values that own their texts, of any file there may be, and tells what is off. Most
//! skills have nothing off, and of thousands of them only the texts are wanted: those are read here without a copy
//! of each. Whatever may be off in any way is left to the loader, and the tests compare the two.

use std::collections::BTreeMap;

use super::SkillMeta;
use super::read::{MAX_COMPATIBILITY, MAX_DESCRIPTION, listed};
use crate::document::{Usual, split_tools};
use crate::name::SkillName;
use crate::policy::{AllowedTools, NameRule, Policy};

/// What [`SkillMeta`] holds, with the texts of something else.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Texts<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) version: Option<&'a str>,
    pub(crate) license: Option<&'a str>,
    pub(crate) compatibility: Option<&'a str>,
    pub(crate) tags: Vec<&'a str>,
    pub(crate) dependencies: Vec<&'a str>,
    pub(crate) allowed_tools: Vec<&'a str>,
    /// The `metadata` mapping as JSON; empty where there is none in it.
    pub(crate) metadata: String,
    /// The fields that the specification does not have as JSON; empty where there is none.
    pub(crate) extra: String,
}

impl<'a> Texts<'a> {
    /// The texts of `meta`.
    pub(crate) fn of(meta: &'a SkillMeta) -> Self {
        let list = |list: &'a [String]| list.iter().map(String::as_str).collect();
        let json = |map: &serde_json::Map<_, _>| {
            // Texts as keys, and values of JSON: writing them cannot fail.
            if map.is_empty() { String::new() } else { serde_json::to_string(map).unwrap_or_default() }
        };
        Self {
            name: &meta.name,
            description: &meta.description,
            version: meta.version.as_deref(),
            license: meta.license.as_deref(),
            compatibility: meta.compatibility.as_deref(),
            tags: list(&meta.tags),
            dependencies: list(&meta.dependencies),
            allowed_tools: list(&meta.allowed_tools),
            metadata: json(&meta.metadata),
            extra: json(&meta.extra),
        }
    }

    /// The texts of frontmatter with these `entries`, in a file that starts with it and lies in `directory`: what
    /// is loaded by `policy`. `None` where the loader has to say that, because something may be off.
    pub(crate) fn plain(
        entries: &'a [(Usual<'a>, Usual<'a>)],
        policy: &Policy,
        directory: &str,
    ) -> Option<Self> {
        let mut texts = Self { version: policy.default_version, ..Self::default() };
        for (key, value) in entries {
            match key.text()? {
                "name" => texts.name = value.text()?.trim(),
                "description" => texts.description = within(value, MAX_DESCRIPTION)?,
                "license" => texts.license = filled(value.text()?),
                "compatibility" => texts.compatibility = filled(within(value, MAX_COMPATIBILITY)?),
                "allowed-tools" => texts.allowed_tools = tools(value, policy.allowed_tools)?,
                "metadata" => texts.metadata(value)?,
                _ => return None,
            }
        }
        let is_named = policy.names == NameRule::AsIs
            || (texts.name == directory && SkillName::problems(texts.name).is_empty());
        (is_named && !texts.name.is_empty() && !texts.description.is_empty()).then_some(texts)
    }

    /// Reads the mapping of keys to texts; `None` for anything else.
    fn metadata(&mut self, value: &'a Usual<'a>) -> Option<()> {
        let Usual::Mapping(pairs) = value else { return None };
        let mut map = BTreeMap::new();
        for (key, value) in pairs {
            let (key, text) = (key.text()?, value.text()?);
            match key {
                "version" => self.version = filled(text).or(self.version),
                "tags" => self.tags = listed(text),
                "dependencies" => self.dependencies = listed(text),
                _ => {}
            }
            map.insert(key, (*value != Usual::Absent).then_some(text));
        }
        self.metadata = serde_json::to_string(&map).ok()?;
        Some(())
    }
}

/// The text without white space around it; `None` for an empty one.
fn filled(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

/// As [`filled`], but any text of no more than `max` characters.
fn within<'a>(value: &'a Usual<'_>, max: usize) -> Option<&'a str> {
    let text = value.text()?.trim();
    // A text has at least as many bytes as characters.
    (text.len() <= max || text.chars().count() <= max).then_some(text)
}

fn tools<'a>(value: &'a Usual<'a>, rule: AllowedTools) -> Option<Vec<&'a str>> {
    match (value, rule) {
        (_, AllowedTools::Hidden) => Some(Vec::new()),
        (Usual::List(items), AllowedTools::Any) => {
            Some(items.iter().filter_map(Usual::text).map(str::trim).collect())
        }
        (value, AllowedTools::Any) => Some(split_tools(value.text()?).collect()),
        (value, AllowedTools::Spaces) => {
            let text = value.text().filter(|text| !text.contains(','))?;
            Some(split_tools(text).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::document::{Document, usual};
    use crate::skill::load_with;

    /// The loader tells the same of `yaml`, and nothing else. Returns whether it was not asked.
    fn agree(yaml: &str, policy: &Policy, directory: &str) -> bool {
        let Some(entries) = usual(yaml) else { return false };
        let Some(texts) = Texts::plain(&entries, policy, directory) else { return false };
        let document = Document::parse(format!("---\n{yaml}---\nbody\n"));
        assert!(document.problems().is_empty(), "{yaml:?}");
        let loaded = load_with(&document, policy, Some(directory)).expect("loads");
        assert!(loaded.deviations.is_empty(), "{yaml:?}: {:?}", loaded.deviations);
        assert_eq!(texts, Texts::of(&loaded.meta), "{yaml:?}");
        true
    }

    #[test]
    fn plain_skills_need_no_loader() {
        for yaml in [
            "name: a\ndescription: d\n",
            "description: \"Use when: it matters\"\nname: 'a'\nlicense:\n",
            "name: a\ndescription: >-\n  Reads.\n  Writes.\nlicense: MIT\ncompatibility: git\n",
            "name: a\ndescription: d\nmetadata:\n  version: \"1.0\"\n  tags: a, b c\n  dependencies: d e\n  x:\n  a: \"\\\"\"\n",
            "name: a\ndescription: d\nallowed-tools: Bash(git add:*) Read\n",
        ] {
            let is_plain = !yaml.contains('\\');
            assert_eq!(agree(yaml, &Policy::DEFAULT, "a"), is_plain, "{yaml:?}");
            assert_eq!(agree(yaml, &Policy::STRICT, "a"), is_plain, "{yaml:?}");
        }
        let list = "name: a\ndescription: d\nallowed-tools:\n  - Read\n  - \" Bash(a b) \"\n";
        assert!(agree(list, &Policy::DEFAULT, "a"));
    }

    #[test]
    fn what_may_be_off_is_left_to_the_loader() {
        let long = "x".repeat(1025);
        for (yaml, directory) in [
            ("name: a\n", "a"),
            ("description: d\n", "a"),
            ("name: a\ndescription:\n", "a"),
            ("name: a\ndescription: d\n", "b"),
            ("name: A\ndescription: d\n", "A"),
            ("name: a\ndescription: d\nversion: 1\n", "a"),
            ("name: a\ndescription: d\nmetadata:\n", "a"),
            ("name: a\ndescription: d\nmetadata: x\n", "a"),
            ("name: a\ndescription: d\nlicense:\n  - MIT\n", "a"),
            ("name: a\ndescription: d\nallowed-tools:\n  a: b\n", "a"),
            (&format!("name: a\ndescription: {long}\n"), "a"),
            (&format!("name: a\ndescription: d\ncompatibility: {long}\n"), "a"),
        ] {
            assert!(!agree(yaml, &Policy::DEFAULT, directory), "{yaml:?}");
        }
        for yaml in [
            "name: a\ndescription: d\nallowed-tools: A, B\n",
            "name: a\ndescription: d\nallowed-tools:\n  - A\n",
        ] {
            assert!(!agree(yaml, &Policy::STRICT, "a"), "{yaml:?}");
        }
    }

    /// As the proptest, with skills as people write them: most of them take this way.
    #[test]
    fn real_skills_are_what_the_loader_says() {
        let (mut short, mut all) = (0, 0);
        crate::testing::real_skills(|text| {
            let document = Document::parse(text.to_owned());
            let (Some(yaml), Some(name)) = (document.yaml_span(), document.name()) else { return };
            for (_, policy) in Policy::PRESETS {
                short += usize::from(agree(&text[yaml.clone()], &policy, name));
                all += 1;
            }
        });
        eprintln!("{short} of {all} took the short way");
        assert!(all == 0 || short * 2 > all, "{short} of {all}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn what_is_plain_is_what_the_loader_says(
            mut entries in proptest::collection::vec(
                "(license|compatibility|allowed-tools|metadata|version|tags|x):( |  |)(b|A b|Bash\\(a b\\),? c|\"\"|\" é \"|>-\n  a\n  b|\n  version: (1|\"\"|\" \")\n  tags: (a, ,b|\"a \u{a0}b\")|\n  dependencies: (c d|\n)|\n  - e\n  -  \"f \"|)\n",
                0..4,
            ),
            name in "(a|b|A|é|\"\"|\" a \"|)",
            description in "(d|\"d é \"|>\n  d|\\|-\n  d\n  e|\"\"|\"\u{a0}\"|)",
            directory in "(a|a|b|é|A)",
            at in 0..6_usize,
        ) {
            entries.insert(0, format!("name: {name}\n"));
            entries.insert(at % (entries.len() + 1), format!("description: {description}\n"));
            for (_, policy) in Policy::PRESETS {
                agree(&entries.concat(), &policy, &directory);
            }
        }
    }
}
