//! Errors: what failed, why, and what to do.

use crate::cli::printer::Printer;
use crate::cli::words::worded;
use crate::error::Error;

pub(crate) fn show(printer: &Printer, error: &Error) {
    let hints: Vec<_> = error.hints().iter().map(worded).collect();
    printer.failure(&worded(error.message()), &causes(error), &hints);
}

/// Returns the chain of causes, without those that add nothing.
fn causes(error: &Error) -> Vec<String> {
    let mut told = worded(error.message());
    let mut causes = Vec::new();
    for text in error.causes().map(|cause| worded(&cause)) {
        if !told.contains(&text) {
            told.push('\n');
            told.push_str(&text);
            causes.push(text);
        }
    }
    causes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;

    #[test]
    fn message_causes_and_hints() {
        let error = Error::io("failed to write `x`: disk full")
            .because(std::io::Error::other("disk full"))
            .context("failed to install `pdf`")
            .hint("free some space")
            .hint("or use `--scope`");
        let (printer, out, err) = printer(Appearance::PLAIN);
        show(&printer, &error);
        assert_eq!(out.text(), "");
        insta::assert_snapshot!(err.text(), @r#"
        error: failed to install `pdf`
          caused by: failed to write `x`: disk full
        hint: free some space
        hint: or use `--scope`
        "#);
    }
}
