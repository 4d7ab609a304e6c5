//! Steps of a plan in words.

use crate::install::agents::CANONICAL_DIR;
use crate::install::plan::{Place, Step};

/// Says what a step would do.
pub(super) fn would(step: &Step) -> String {
    match step {
        Step::Put { place, name, replaces: None, .. } => format!("would put {name} in {}", words(place)),
        Step::Put { place, name, replaces: Some(_), .. } => {
            format!("would replace {name} in {}", words(place))
        }
        Step::Remove { place, name, .. } => format!("would remove {name} from {}", words(place)),
        Step::Link { agent, name } => format!("would link {name} for {agent}"),
        Step::Unlink { place: Place::Agent(agent), name } => {
            format!("would remove the link to {name} for {agent}")
        }
        Step::Unlink { place, name } => format!("would remove the link {name} from {}", words(place)),
    }
}

fn words(place: &Place) -> String {
    match place {
        Place::Canonical => CANONICAL_DIR.to_owned(),
        Place::Agent(agent) => format!("the directory of {agent}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;

    #[test]
    fn every_step_in_words() {
        let name = || "pdf".parse().unwrap();
        let digest: Digest = format!("sha256:{}", "0".repeat(64)).parse().unwrap();
        let agent = || Place::Agent("goose".to_owned());
        let steps = [
            Step::Put { place: Place::Canonical, name: name(), digest, replaces: None },
            Step::Put { place: agent(), name: name(), digest, replaces: Some(digest) },
            Step::Remove { place: Place::Canonical, name: name(), old: digest },
            Step::Link { agent: "goose".to_owned(), name: name() },
            Step::Unlink { place: agent(), name: name() },
            Step::Unlink { place: Place::Canonical, name: name() },
        ];
        let text = steps.iter().map(would).collect::<Vec<_>>().join("\n");
        insta::assert_snapshot!(text, @r#"
        would put pdf in .agents/skills
        would replace pdf in the directory of goose
        would remove pdf from .agents/skills
        would link pdf for goose
        would remove the link to pdf for goose
        would remove the link pdf from .agents/skills
        "#);
    }
}
