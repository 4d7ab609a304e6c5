//! `invoke`.

use clap::Args;

use crate::cli::{App, exit};
use crate::error::{Error, Result};
use crate::ops::invoke::{InvokeRequest, invoke};

// Arguments of `invoke`.
#[derive(Debug, Clone, Args)]
pub(crate) struct InvokeArgs {
    /// the skill, and the arguments it gets: all that follows the name, also what starts with `-`
    // One list, so that clap reads no flag of its own after the name.
    #[arg(value_name = "NAME", required = true, num_args = 1.., trailing_var_arg = true)]
    words: Vec<String>,
}

pub(super) fn run(app: &App, args: &InvokeArgs) -> Result<u8> {
    let outcome = invoke(&app.context, &request(args)?)?;
    for warning in &outcome.warnings {
        app.printer.warning(warning);
    }
    app.printer.content(&outcome.content);
    Ok(exit::SUCCESS)
}

fn request(args: &InvokeArgs) -> Result<InvokeRequest> {
    // The command line asks for one word at least.
    let (name, arguments) = args.words.split_first().ok_or_else(|| Error::usage("no skill is named"))?;
    Ok(InvokeRequest { name: name.clone(), arguments: arguments.join(" ") })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::args::{Cli, Command};

    fn parse(line: &str) -> Option<(String, String)> {
        match Cli::try_parse_from(line.split(' ')).ok()?.command {
            Command::Invoke(args) => request(&args).ok().map(|r| (r.name, r.arguments)),
            command => panic!("{command:?}"),
        }
    }

    #[test]
    fn all_that_follows_the_name_is_arguments() {
        let cases = [
            ("skillpm invoke pdf", Some(("pdf", ""))),
            ("skillpm invoke pdf a  b", Some(("pdf", "a  b"))),
            ("skillpm invoke pdf --help -q --offline", Some(("pdf", "--help -q --offline"))),
            ("skillpm invoke pdf a -- b", Some(("pdf", "a -- b"))),
            ("skillpm invoke pdf -- b", Some(("pdf", "-- b"))),
            ("skillpm invoke --offline pdf -V", Some(("pdf", "-V"))),
            ("skillpm invoke -- pdf -V", Some(("pdf", "-V"))),
            ("skillpm invoke", None),
            ("skillpm invoke --unknown pdf", None),
        ];
        for (line, expected) in cases {
            let found = parse(line);
            let found = found.as_ref().map(|(name, rest)| (name.as_str(), rest.as_str()));
            assert_eq!(found, expected, "{line}");
        }
    }
}
