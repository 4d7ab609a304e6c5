//! Asking which skills of several sources to install.

use super::chosen::Chosen;
use crate::advice::Call;
use crate::context::Context;
use crate::error::Result;
use crate::fetch::ask::{description, offered, pick, several};
use crate::reporter::Choice;
use crate::source::discover::Candidate;

/// Keeps the skills of several `sources` that the user picks, or all of them with `all`. `what` names the
/// sources, which `call` installs.
pub(crate) fn ask_among(
    context: &Context,
    sources: &mut [Chosen],
    all: bool,
    what: &str,
    call: Call,
) -> Result<()> {
    let every = sources.iter().enumerate();
    let every = every.flat_map(|(at, source)| source.candidates.iter().map(move |candidate| (at, candidate)));
    let offered = offered(every.collect(), |(_, candidate)| candidate.is_internal());
    let title = |(at, candidate): (usize, &Candidate)| candidate.title(&sources[at].opened.name).to_owned();
    let picked = if offered.len() == 1 || all {
        (0..offered.len()).collect()
    } else {
        let item = |one: &(usize, &Candidate)| {
            Choice::new(&title(*one), &format!("({}) {}", sources[one.0].spec, description(one.1)))
        };
        let Some(picked) = pick(context, offered.iter().map(item).collect())? else {
            let named: Vec<_> =
                offered.iter().map(|one| (title(*one), sources[one.0].spec.to_string())).collect();
            return Err(several(&format!("{what} have"), call, &named));
        };
        picked
    };
    let mut keep: Vec<Vec<String>> = vec![Vec::new(); sources.len()];
    for (at, candidate) in picked.into_iter().filter_map(|at| offered.get(at)) {
        keep[*at].push(candidate.path.clone());
    }
    leave(sources, &keep);
    Ok(())
}

/// Keeps only the skills whose paths `keep` lists for each of the `sources`.
pub(crate) fn leave(sources: &mut [Chosen], keep: &[Vec<String>]) {
    for (source, keep) in sources.iter_mut().zip(keep) {
        source.candidates.retain(|candidate| keep.contains(&candidate.path));
    }
}
