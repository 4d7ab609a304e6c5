//! Steps of a plan in words.

use super::and;
use crate::agents::{CANONICAL_DIR, DISABLED_DIR};
use crate::cli::printer::Printer;
use crate::install::plan::{ChangedFiles, Location, Step};
use crate::{lockfile, manifest};

/// Prints the plan of a dry run.
pub(super) fn plan(printer: &Printer, steps: &[Step], files: ChangedFiles) {
    let lines = lines(steps, files);
    printer.data(&lines.join("\n"));
    let dry = "nothing was changed: this was a dry run";
    printer.note(if lines.is_empty() { "there is nothing to do" } else { dry });
}

/// Returns a line for each step, and one for the files that would be written.
pub(super) fn lines(steps: &[Step], files: ChangedFiles) -> Vec<String> {
    let names = file_names(files);
    let write = (!names.is_empty()).then(|| format!("would write {}", and(&names)));
    steps.iter().map(would).chain(write).collect()
}

/// Returns the names of the files that change.
pub(super) fn file_names(changed: ChangedFiles) -> Vec<&'static str> {
    let files = [(changed.manifest, manifest::FILE_NAME), (changed.lockfile, lockfile::FILE_NAME)];
    files.into_iter().filter(|(changed, _)| *changed).map(|(_, name)| name).collect()
}

/// Returns a sentence about what a step would do.
pub(super) fn would(step: &Step) -> String {
    match step {
        Step::Put { place, name, replaces: None, .. } => format!("would put {name} in {}", words(place)),
        Step::Put { place, name, replaces: Some(_), .. } => {
            format!("would replace {name} in {}", words(place))
        }
        Step::Remove { place, name, .. } => format!("would remove {name} from {}", words(place)),
        Step::Link { agent, name } => format!("would link {name} for {agent}"),
        Step::Unlink { place: Location::Agent(agent), name } => {
            format!("would remove the link to {name} for {agent}")
        }
        Step::Unlink { place, name } => format!("would remove the link {name} from {}", words(place)),
        Step::Disable { name, .. } => format!("would hide {name} from agents"),
        Step::Enable { name, .. } => format!("would move {name} back to {CANONICAL_DIR}"),
        Step::Edit { name } => format!("would link {name} in {CANONICAL_DIR} to its directory"),
        Step::Relink { place, name, .. } => format!("would put the link {name} back in {}", words(place)),
    }
}

fn words(place: &Location) -> String {
    match place {
        Location::Canonical => CANONICAL_DIR.to_owned(),
        Location::Disabled => DISABLED_DIR.to_owned(),
        Location::Agent(agent) => format!("the directory of {agent}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;

    /// Returns steps of each kind.
    fn steps() -> Vec<Step> {
        let name = || "pdf".parse().unwrap();
        let digest: Digest = format!("sha256:{}", "0".repeat(64)).parse().unwrap();
        let agent = || Location::Agent("goose".to_owned());
        vec![
            Step::Put { place: Location::Canonical, name: name(), digest, replaces: None },
            Step::Put { place: agent(), name: name(), digest, replaces: Some(digest) },
            Step::Remove { place: Location::Canonical, name: name(), old: digest },
            Step::Link { agent: "goose".to_owned(), name: name() },
            Step::Unlink { place: agent(), name: name() },
            Step::Unlink { place: Location::Canonical, name: name() },
            Step::Disable { name: name(), digest: Some(digest) },
            Step::Enable { name: name(), digest: None },
            Step::Put { place: Location::Disabled, name: name(), digest, replaces: None },
            Step::Edit { name: name() },
            Step::Relink { place: agent(), name: name(), says: digest },
        ]
    }

    #[test]
    fn every_step_in_words() {
        let text = steps().iter().map(would).collect::<Vec<_>>().join("\n");
        insta::assert_snapshot!(text, @r#"
        would put pdf in .agents/skills
        would replace pdf in the directory of goose
        would remove pdf from .agents/skills
        would link pdf for goose
        would remove the link to pdf for goose
        would remove the link pdf from .agents/skills
        would hide pdf from agents
        would move pdf back to .agents/skills
        would put pdf in .agents/.skillpm-disabled
        would link pdf in .agents/skills to its directory
        would put the link pdf back in the directory of goose
        "#);
    }

    /// Only `undo` restores a link; all other steps may be in every plan.
    #[test]
    fn each_schema_knows_all_steps() {
        let mut schemas = 0;
        for file in skillpm_testing::Schema::names() {
            let schema = skillpm_testing::Schema::read(&file);
            if !schema.has("/$defs/step") {
                continue;
            }
            schemas += 1;
            for step in steps() {
                let (is_relink, is_undo) = (matches!(step, Step::Relink { .. }), file == "undo.schema.json");
                let faults = schema.faults_at("/$defs/step", &serde_json::to_value(&step).unwrap());
                assert_eq!(faults.is_empty(), is_undo || !is_relink, "{file}: {step:?}: {faults:?}");
            }
        }
        assert_eq!(schemas, 6);
    }
}
