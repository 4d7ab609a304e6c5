//! A report with everything that a format must handle.

use super::{LeftOut, LintReport, SkillReport};
use crate::document::Document;
use crate::lint::{Edit, Finding, Fix, Profile, Subject, check};

/// A text with hidden characters, markup, and characters of several bytes.
pub(super) const TEXT: &str = "---\nname: PDF\ndescription: <b>é\u{202e}</b> & \"x\"\nauthor: me\n---\n";

/// Returns the findings in [`TEXT`], one of them with a repair.
pub(super) fn findings() -> Vec<Finding> {
    let document = Document::parse(TEXT.to_owned());
    let mut findings = check(&Subject::new(&document, Some("pdf"), "SKILL.md"));
    findings.retain(|finding| finding.rule != "name-directory");
    let edits = vec![Edit::replace(10..13, "pdf")];
    findings[0].fix = Some(Fix::unsafe_("write the name in lower case", edits));
    findings[0].message.push_str(" \u{1b}[2J <&\">]]> 100%, a:b\nnext");
    findings
}

/// Returns a report on two skills; the first has `findings`, the second none.
pub(super) fn report(findings: &[Finding]) -> LintReport<'_> {
    let skill = |path: &str, findings| SkillReport {
        path: path.to_owned(),
        profile: Profile::Spec,
        text: TEXT,
        findings,
    };
    let skills = vec![skill("skills/my pdf,a:b/SKILL.md", findings), skill("skills/ok/SKILL.md", &[])];
    LintReport {
        verb: "validate",
        profile: Profile::Spec,
        strict: false,
        skills,
        left_out: LeftOut::default(),
    }
}
