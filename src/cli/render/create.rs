//! `create`: where it is, and what to do with it.

use std::path::Path;

use crate::cli::printer::Printer;
use crate::ops::create::CreateOutcome;

pub(crate) fn show(printer: &Printer, outcome: &CreateOutcome, cwd: &Path) {
    let path = outcome.path.strip_prefix(cwd).unwrap_or(&outcome.path);
    let path = path.display();
    printer.status("created", &format!("`{path}`"));
    printer.hint(&format!("write `{path}/SKILL.md`, then run `skillpm validate {path}`"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::look::Look;
    use crate::cli::printer::testing::printer;

    #[test]
    fn paths_are_shown_from_where_the_person_is() {
        let (talking, _, err) = printer(Look::PLAIN);
        show(&talking, &CreateOutcome { path: "/w/skills/pdf".into() }, Path::new("/w"));
        insta::assert_snapshot!(err.text(), @r#"
        created `skills/pdf`
        hint: write `skills/pdf/SKILL.md`, then run `skillpm validate skills/pdf`
        "#);
    }
}
