//! `pack`: what is in a package, what is not, and where it is.

use std::path::Path;

use super::cache::size;
use super::{count, error, one_line, validate};
use crate::cli::commands::validate::FormatArg;
use crate::cli::printer::Printer;
use skillpm_core::ops::pack::{LeaveReason, LeftOut, PackOutcome, PackedFile};
use skillpm_core::ops::validate::{Repairs, ValidateOutcome};

/// Shows the findings for which a skill was not `done`: packed, or published. With `json`, as `validate` has them for
/// programs.
pub(crate) fn refused(printer: &Printer, done: &str, findings: &ValidateOutcome, typed: &Path, json: bool) {
    if json {
        printer.data(&validate::text(findings, FormatArg::Json, false, None));
    } else {
        validate::show(printer, findings, FormatArg::Human, false, Repairs::None);
    }
    error::show(printer, &findings.refusal(done, typed));
}

pub(crate) fn show(printer: &Printer, outcome: &PackOutcome, cwd: &Path) {
    if outcome.dry_run {
        printer.data(&list(&outcome.files));
    }
    left_out(printer, &outcome.left_out);
    printer.warnings(&outcome.warnings);
    for path in &outcome.replaced {
        let shown = Path::new(path).strip_prefix(cwd).unwrap_or(Path::new(path));
        printer
            .note(&format!("replaced `{}`, which had other content", one_line(&shown.display().to_string())));
    }
    let (name, version) = (one_line(&outcome.name), one_line(&outcome.version));
    let files = count(outcome.files.len(), "file");
    let verb = match (outcome.dry_run, outcome.changed) {
        (true, _) => "would pack",
        (false, true) => "packed",
        (false, false) => "unchanged",
    };
    printer.status(verb, &format!("`{name}` {version}: {files}, {}", size(outcome.artifact.size)));
    for path in outcome.path.iter().chain(&outcome.sbom) {
        let shown = Path::new(path).strip_prefix(cwd).unwrap_or(Path::new(path));
        printer.note(&format!("  {}", one_line(&shown.display().to_string())));
    }
    printer.note(&format!("  archive {}", outcome.artifact.digest));
    printer.note(&format!("  tree    {}", outcome.digest));
}

/// Lists the files with their sizes, a line each.
pub(super) fn list(files: &[PackedFile]) -> String {
    let sizes: Vec<String> = files.iter().map(|file| size(file.size)).collect();
    let width = sizes.iter().map(String::len).max().unwrap_or_default();
    let line = |(file, size): (&PackedFile, &String)| {
        let mark = if file.executable { " (executable)" } else { "" };
        format!("{size:>width$}  {}{mark}\n", one_line(&file.path))
    };
    files.iter().zip(&sizes).map(line).collect()
}

/// Lists the files that stay out of a package, and why.
pub(super) fn left_out(printer: &Printer, left_out: &[LeftOut]) {
    for left in left_out {
        printer.note(&format!("left out `{}`: {}", one_line(&left.path), words(left.reason)));
    }
}

fn words(reason: LeaveReason) -> &'static str {
    match reason {
        LeaveReason::Ignored => "`.skillpmignore` names it",
        LeaveReason::IgnoreFile => "the rules for this list",
        LeaveReason::Evaluation => "evaluations",
        LeaveReason::VersionControl => "data of version control",
        LeaveReason::Leftover => "a tool left it",
        LeaveReason::Package => "an earlier package",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_core::ops::pack::{PackedArtifact, PackedKey};
    use skillpm_format::digest::Digest;

    fn outcome() -> PackOutcome {
        let file = |path: &str, size, executable| PackedFile {
            path: path.to_owned(),
            size,
            executable,
            digest: Digest::of(b"x"),
        };
        let left = |path: &str, reason| LeftOut { path: path.to_owned(), reason };
        PackOutcome {
            name: "pdf".to_owned(),
            version: "1.2".to_owned(),
            description: "Reads PDF files.".to_owned(),
            license: None,
            tags: Vec::new(),
            dependencies: vec!["base@^1".to_owned()],
            digest: Digest::of(b"tree"),
            artifact: PackedArtifact { digest: Digest::of(b"archive"), size: 2048 },
            path: Some("/p/pdf-1.2.zip".to_owned()),
            sbom: Some("/p/pdf-1.2.cdx.json".to_owned()),
            changed: true,
            replaced: Vec::new(),
            dry_run: false,
            files: vec![file("SKILL.md", 3000, false), file("scripts/run.sh", 20, true)],
            left_out: vec![
                left(".DS_Store", LeaveReason::Leftover),
                left(".git/", LeaveReason::VersionControl),
                left(".skillpmignore", LeaveReason::IgnoreFile),
                left("evals/", LeaveReason::Evaluation),
                left("notes.md", LeaveReason::Ignored),
                left("pdf-1.1.zip", LeaveReason::Package),
            ],
            secrets: vec![".env".to_owned()],
            keys: vec![PackedKey {
                path: "scripts/run.sh".to_owned(),
                line: 2,
                kind: "a token of npm".to_owned(),
                key: "npm_…".to_owned(),
            }],
            warnings: Vec::new(),
        }
    }

    #[test]
    fn a_package_is_told_with_what_is_not_in_it() {
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &outcome(), Path::new("/p"));
        assert_eq!(out.text(), "");
        insta::assert_snapshot!(err.text(), @"
        left out `.DS_Store`: a tool left it
        left out `.git/`: data of version control
        left out `.skillpmignore`: the rules for this list
        left out `evals/`: evaluations
        left out `notes.md`: `.skillpmignore` names it
        left out `pdf-1.1.zip`: an earlier package
        packed `pdf` 1.2: 2 files, 2.0 kB
          pdf-1.2.zip
          pdf-1.2.cdx.json
          archive sha256:0eb3e36bfb24dcd9bb1d1bece1531216b59539a8fde17ee80224af0653c92aa3
          tree    sha256:dc9c5edb8b2d479e697b4b0b8ab874f32b325138598ce9e7b759eb8292110622
        ");
    }

    #[test]
    fn a_list_is_data() {
        let (talking, out, err) = printer(Appearance::PLAIN);
        let listed = PackOutcome {
            path: None,
            sbom: None,
            changed: false,
            dry_run: true,
            left_out: Vec::new(),
            secrets: Vec::new(),
            keys: Vec::new(),
            ..outcome()
        };
        show(&talking, &listed, Path::new("/p"));
        assert_eq!(out.text(), "  3.0 kB  SKILL.md\n20 bytes  scripts/run.sh (executable)\n");
        assert!(err.text().starts_with("would pack `pdf` 1.2: 2 files"), "{}", err.text());
    }
}
