//! `dependency-cycle`

use std::collections::BTreeMap;

use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};
use crate::requirement::Requirement;
use crate::resolve::declared::declared_in;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "dependency-cycle",
    group: Group::Package,
    levels: Levels::PACKAGE,
    summary: "skills do not depend on each other in a circle",
    docs: Docs {
        what: "Looks for skills that this one needs and that need it in turn, over any number of steps. \
            It only knows the skills that are checked together. Here `docx` needs `pdf`.",
        why: "In a circle, each skill would have to be installed before the others.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  skill-dependencies: docx\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  skill-dependencies: xlsx\n---\n",
        source: "skillpm; the specification is silent",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some(own) = subject.document.name().filter(|_| !subject.others.is_empty()) else { return };
    for need in declared_in(subject.document) {
        let Ok(Requirement::Named { name, .. }) = &need.requirement else { continue };
        if let Some(way) = way(subject, name.as_str(), own).filter(|_| name.as_str() != own) {
            let circle = [&[own][..], &way[..]].concat().join("` → `");
            let finding =
                RULE.finding(format!("skills depend on each other in a circle: `{circle}`"), need.span);
            findings.push(finding.help("remove one of these dependencies"));
        }
    }
}

/// Returns the shortest path from skill `from` to skill `to`, both included.
fn way<'a>(subject: &Subject<'a>, from: &'a str, to: &'a str) -> Option<Vec<&'a str>> {
    let needs: BTreeMap<&str, &[String]> =
        subject.others.iter().map(|other| (other.name.as_str(), other.needs.as_slice())).collect();
    // Each skill with the one from which it was reached.
    let mut reached = BTreeMap::from([(from, from)]);
    let mut queue = std::collections::VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        if at == to {
            let mut way = vec![at];
            while let Some(before) = reached.get(way[way.len() - 1]).filter(|_| way[way.len() - 1] != from) {
                way.push(before);
            }
            way.reverse();
            return Some(way);
        }
        for next in needs.get(at).copied().unwrap_or_default() {
            if !reached.contains_key(next.as_str()) {
                reached.insert(next, at);
                queue.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::document::Document;
    use crate::lint::{OtherSkill, Subject};

    fn told(skills: &[(&str, &[&str])]) -> Vec<String> {
        let others: Vec<OtherSkill> = skills
            .iter()
            .map(|(name, needs)| OtherSkill {
                name: (*name).to_owned(),
                needs: needs.iter().map(|need| (*need).to_owned()).collect(),
            })
            .collect();
        let needs = skills[0].1.join(" ");
        let text = format!("---\nname: {}\nmetadata:\n  skill-dependencies: {needs}\n---\n", skills[0].0);
        let document = Document::parse(text);
        let mut findings = Vec::new();
        RULE.look(&Subject::new(&document, None, "SKILL.md").among(&others), &mut findings);
        findings.into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn circles_are_told_with_their_way() {
        assert_eq!(
            told(&[("a", &["b"]), ("b", &["a"])]),
            ["skills depend on each other in a circle: `a` → `b` → `a`"]
        );
        assert_eq!(
            told(&[("a", &["x", "b"]), ("b", &["d", "c"]), ("c", &["a"]), ("d", &["b"])]),
            ["skills depend on each other in a circle: `a` → `b` → `c` → `a`"]
        );
    }

    #[test]
    fn no_circle_through_this_skill_is_none_of_its_faults() {
        assert_eq!(told(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])]), Vec::<String>::new());
        assert_eq!(told(&[("a", &["b", "c"]), ("b", &["c"])]), Vec::<String>::new());
        assert_eq!(told(&[("a", &["a"])]), Vec::<String>::new(), "another rule says so");
    }
}
