//! What a manifest says about the check of skills: which files, and by which rules.

use super::profile::read;
use super::{Level, Profile, Rule, RuleOptions, Ruleset, rule};
use crate::manifest::{LintSettings, LocatedText, ManifestError};
use crate::tree::ignore::IgnoreRules;

/// The table `[lint]` of a manifest, interpreted. Paths are those of skills' files, relative to the manifest's directory
/// and separated by `/`.
#[derive(Debug, Clone, Default)]
pub struct LintConfig {
    exclude: IgnoreRules,
    /// `None` if all files are checked.
    include: Option<IgnoreRules>,
    /// The path of the baseline, as written.
    pub baseline: Option<LocatedText>,
    levels: RuleLevels,
    per_path: Vec<(IgnoreRules, RuleLevels)>,
}

/// A profile and the levels of rules in it.
#[derive(Debug, Clone, Default)]
struct RuleLevels {
    profile: Option<Profile>,
    rules: Vec<(&'static Rule, Level)>,
}

impl RuleLevels {
    fn new(table: &LintSettings) -> Result<Self, ManifestError> {
        let profile = table.profile.as_ref().map(read).transpose()?;
        let level = |(name, level): &(LocatedText, LocatedText)| {
            let level = read(level)?;
            Ok((rule(&name.text).map_err(|unknown| unknown.at(name))?, level))
        };
        Ok(Self { profile, rules: table.rules.iter().map(level).collect::<Result<_, _>>()? })
    }
}

impl LintConfig {
    /// Interprets `table`.
    ///
    /// # Errors
    ///
    /// Fails on an unknown name of a profile, a rule or a level, with the closest name, and on a text that is not
    /// a pattern, each with its position. A name that is not used this time is reported too.
    pub fn new(table: &LintSettings) -> Result<Self, ManifestError> {
        let per_path = |(pattern, table): &(LocatedText, LintSettings)| {
            Ok((patterns([pattern])?, RuleLevels::new(table)?))
        };
        Ok(Self {
            exclude: patterns(&table.exclude)?,
            include: (!table.include.is_empty()).then(|| patterns(&table.include)).transpose()?,
            baseline: table.baseline.clone(),
            levels: RuleLevels::new(table)?,
            per_path: table.per_path.iter().map(per_path).collect::<Result<_, _>>()?,
        })
    }

    /// Reports whether the file at `path` is not to be checked.
    pub fn excludes(&self, path: &str) -> bool {
        self.exclude.leaves_out(path)
            || self.include.as_ref().is_some_and(|include| !include.leaves_out(path))
    }

    /// Returns which settings for paths apply to the file at `path`, in the order of the manifest.
    pub fn sections(&self, path: &str) -> Vec<usize> {
        let applies =
            |(number, (pattern, _)): (usize, &(IgnoreRules, _))| pattern.leaves_out(path).then_some(number);
        self.per_path.iter().enumerate().filter_map(applies).collect()
    }

    /// Returns the rules of a file to which the settings `sections` apply: of several the last one wins, and `options`
    /// win over all.
    pub fn rules(&self, sections: &[usize], options: &RuleOptions) -> Ruleset {
        let levels = || std::iter::once(&self.levels).chain(sections.iter().map(|at| &self.per_path[*at].1));
        let written = levels().filter_map(|levels| levels.profile).next_back();
        let mut rules = Ruleset::new(options.profile.or(written).unwrap_or_default());
        for (rule, level) in levels().flat_map(|levels| &levels.rules) {
            rules.set(rule, *level);
        }
        rules.with(options)
    }
}

/// Reads patterns, as in a `.gitignore`.
fn patterns<'a>(list: impl IntoIterator<Item = &'a LocatedText>) -> Result<IgnoreRules, ManifestError> {
    let mut rules = IgnoreRules::default();
    for pattern in list {
        if !rules.add(&pattern.text) {
            let hint = "write it as in a `.gitignore`, such as `generated/**`";
            return Err(
                pattern.error(format!("`{}` is not a pattern for paths", pattern.text), Some(hint.into()))
            );
        }
    }
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::FILE_KIND;

    fn config(text: &str) -> Result<LintConfig, ManifestError> {
        LintConfig::new(crate::manifest::Manifest::parse(text)?.lint())
    }

    fn settings(profile: Option<Profile>, text: &str) -> Result<Ruleset, (String, Option<String>)> {
        let manifest = crate::manifest::Manifest::parse(text).expect(text);
        LintConfig::new(manifest.lint())
            .map(|config| config.rules(&[], &RuleOptions { profile, ..RuleOptions::default() }))
            .map_err(|error| (error.to_string(), error.hint.map(|hint| hint.to_string())))
    }

    #[test]
    fn the_manifest_chooses_a_profile_and_switches_rules() {
        let text = "[lint]\nprofile = \"publish\"\nrules = { name-directory = \"off\" }\n";
        let name_directory = rule("name-directory").expect("a rule");
        let rules = settings(None, text).expect("right");
        assert_eq!((rules.profile, rules.level(name_directory)), (Profile::Publish, Level::Off));
        let rules = settings(Some(Profile::Lenient), text).expect("right");
        assert_eq!((rules.profile, rules.level(name_directory)), (Profile::Lenient, Level::Off));
        assert!(rules.is_switched("name-directory") && !rules.is_switched("name-length"));
        assert_eq!(settings(None, ""), Ok(Ruleset::default()));
    }

    #[test]
    fn unknown_names_are_reported_with_their_place() {
        for (text, message, hint) in [
            (
                "[lint]\nprofile = \"referense\"",
                "2:11: there is no profile `referense`",
                "did you mean `reference`?",
            ),
            (
                "[lint]\nprofile = \"zzz\"",
                "2:11: there is no profile `zzz`",
                "profiles are `spec`, `reference`, `claude-code`, `claude-ai`, `publish`, `strict`, `lenient`",
            ),
            (
                "[lint.rules]\nname-lenght = \"off\"",
                "2:1: there is no rule `name-lenght`",
                "did you mean `name-length`?",
            ),
            (
                "[lint]\nexclude = [\"a\", \"b[\"]",
                "2:17: `b[` is not a pattern for paths",
                "write it as in a `.gitignore`, such as `generated/**`",
            ),
            (
                "[lint.per-path.\"\"]\nprofile = \"lenient\"",
                "1:16: `` is not a pattern for paths",
                "write it as in a `.gitignore`, such as `generated/**`",
            ),
            (
                "[lint.per-path.a]\nrules = { name-lenght = \"off\" }",
                "2:11: there is no rule `name-lenght`",
                "did you mean `name-length`?",
            ),
            (
                "[lint.rules]\nname-length = \"loud\"",
                "2:15: there is no level `loud`",
                "levels are `off`, `note`, `warning`, `error`",
            ),
        ] {
            let error = settings(Some(Profile::Spec), text).expect_err(text);
            assert_eq!(error, (message.to_owned(), Some(hint.to_owned())));
        }
    }

    #[test]
    fn the_last_settings_of_a_path_win() {
        let text = "[lint]\nprofile = \"publish\"\nrules = { file-kind = \"off\" }\n\
            [lint.per-path.\"generated/**\"]\nprofile = \"lenient\"\nrules = { name-ascii = \"error\" }\n\
            [lint.per-path.pdf]\nrules = { name-ascii = \"off\", file-kind = \"note\" }\n";
        let config = config(text).expect("right");
        let rules = |path: &str, options: &RuleOptions| {
            let rules = config.rules(&config.sections(path), options);
            let level = |id| rules.level(rule(id).expect("a rule"));
            (rules.profile, level(FILE_KIND), level("name-ascii"))
        };
        let own = |path| rules(path, &RuleOptions::default());
        assert_eq!(own("x/SKILL.md").0, Profile::Publish);
        assert_eq!(own("x/SKILL.md").1, Level::Off);
        assert_eq!(own("generated/x/SKILL.md"), (Profile::Lenient, Level::Off, Level::Error));
        assert_eq!(own("generated/pdf/SKILL.md"), (Profile::Lenient, Level::Note, Level::Off));
        let spec = rules("generated/x/SKILL.md", &Profile::Spec.into());
        assert_eq!(spec, (Profile::Spec, Level::Off, Level::Error), "rules stay switched");
    }

    #[test]
    fn files_are_excluded_as_by_a_gitignore() {
        let config = config(
            "[lint]\nexclude = [\"/old/\", \"draft-*\", \"!draft-1\"]\ninclude = [\"skills\", \"old\"]",
        );
        let config = config.expect("right");
        let checked =
            ["skills/x/SKILL.md", "a/skills/x/SKILL.md", "a/old/x/SKILL.md", "skills/draft-1/SKILL.md"];
        assert!(checked.iter().all(|path| !config.excludes(path)));
        for path in ["old/x/SKILL.md", "skills/draft-2/SKILL.md", "SKILL.md", "x/SKILL.md"] {
            assert!(config.excludes(path), "{path}");
        }
        assert!(!LintConfig::default().excludes("x/SKILL.md"));
    }
}
