//! `invoke`.

use clap::Args;

use crate::cli::args::LoadingArgs;
use crate::cli::help::after;
use crate::cli::{App, exit};
use skillpm_core::engine::{Arguments, Form};
use skillpm_core::ops::invoke::InvokeRequest;
use skillpm_sources::error::{Error, Result};

pub(super) const EXAMPLES: &str = after!("invoke",
    "skillpm invoke pdf                          the skill's instructions"
    "skillpm invoke code-reviewer src --fast     with `src --fast` as its arguments"
    "skillpm invoke ./skills/pdf                 one that you are writing"
    "skillpm invoke --json pdf                   for programs"
);

// Arguments of `invoke`.
#[derive(Debug, Clone, Args)]
pub(crate) struct InvokeArgs {
    /// the form: `plain`, `bare`, `markdown`, `json`, `xml`, `btw`
    ///
    /// `plain` has the directory and the instructions, `bare` the instructions only, `markdown` a list of files, too
    #[arg(long, value_name = "FORM", default_value_t = Form::Plain, conflicts_with = "json")]
    format: Form,

    /// short for `--format json`; before the name, as all options
    #[arg(long)]
    json: bool,

    /// end without a newline where the text has none, for programs that need each byte
    #[arg(long, hide_short_help = true)]
    exact: bool,

    /// Which skills, and how they are loaded.
    #[command(flatten)]
    loading: LoadingArgs,

    /// the skill, by its name or as `./directory`, and the arguments it gets
    ///
    /// all that follows, also what starts with `-`
    // One list, so that clap reads no flag of its own after the name.
    #[arg(value_name = "NAME", required = true, num_args = 1.., trailing_var_arg = true)]
    words: Vec<String>,
}

pub(super) fn run(app: &App, args: &InvokeArgs) -> Result<u8> {
    let outcome = args.loading.session(&app.context)?.invoke(&request(args)?)?;
    app.printer.warnings(&outcome.warnings);
    if form(args) == Form::Json {
        app.printer.json(&outcome.activation.as_json());
    } else {
        // A text file ends with a newline.
        let end = if args.exact || outcome.content.ends_with('\n') { "" } else { "\n" };
        app.printer.content(&format!("{}{end}", outcome.content));
    }
    Ok(exit::SUCCESS)
}

fn request(args: &InvokeArgs) -> Result<InvokeRequest> {
    // clap requires at least one word.
    let (name, arguments) = args.words.split_first().ok_or_else(|| Error::usage("no skill is named"))?;
    // One word is what the user would type after the name; several words were split by a shell already.
    let arguments = match arguments {
        [one] => Arguments::new(one.as_str()),
        words => Arguments::of_words(words.to_vec()),
    };
    Ok(InvokeRequest { arguments, form: form(args), ..InvokeRequest::new(name) })
}

fn form(args: &InvokeArgs) -> Form {
    if args.json { Form::Json } else { args.format }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::args::Cli;
    use crate::cli::commands::Command;

    fn parse(line: &str) -> Option<(String, String)> {
        match Cli::try_parse_from(line.split(' ')).ok()?.command {
            Command::Invoke(args) => request(&args).ok().map(|r| (r.name, r.arguments.text().to_owned())),
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
            ("skillpm invoke --format xml pdf --format json", Some(("pdf", "--format json"))),
            ("skillpm invoke --format xnl pdf", None),
            ("skillpm invoke --json pdf --json", Some(("pdf", "--json"))),
            ("skillpm invoke --json --format xml pdf", None),
        ];
        for (line, expected) in cases {
            let found = parse(line);
            let found = found.as_ref().map(|(name, rest)| (name.as_str(), rest.as_str()));
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn one_word_is_split_and_several_are_not() {
        let words = |words: &[&str]| {
            let words = words.iter().map(|word| (*word).to_owned()).collect();
            let args = InvokeArgs {
                format: Form::Plain,
                json: false,
                exact: false,
                loading: LoadingArgs::default(),
                words,
            };
            let arguments = request(&args).expect("a name").arguments;
            [0, 1].map(|index| arguments.word(index).map(str::to_owned))
        };
        let expected = [Some("a b".to_owned()), Some("c".to_owned())];
        assert_eq!(words(&["pdf", "'a b' c"]), expected);
        assert_eq!(words(&["pdf", "a b", "c"]), expected);
    }
}
