//! The names and paths that were probably meant.

/// Returns the one of `candidates` that `given` was probably meant to be. All that suggest a name ask here.
pub fn closest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let ranked = candidates.into_iter().filter_map(|candidate| Some((slip(given, candidate)?, candidate)));
    ranked.min_by(|a, b| a.0.cmp(&b.0)).map(|(_, candidate)| candidate)
}

/// Works like [`closest`], for paths: their names are compared, because paths in one directory are alike in most letters. Of
/// several paths with the closest name, the one in the directory of `given` wins.
pub fn closest_path<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = |path: &'a str| path.rsplit('/').next().unwrap_or(path);
    let wanted = given.rsplit('/').next().unwrap_or(given);
    let directory = given.strip_suffix(wanted).unwrap_or_default();
    let all: Vec<&str> = candidates.into_iter().collect();
    let same = all.iter().map(|path| name(path)).find(|other| *other == wanted);
    let close = same.or_else(|| closest(wanted, all.iter().map(|path| name(path))))?;
    let mut named = all.into_iter().filter(|path| name(path) == close);
    let first = named.next()?;
    let is_beside = |path: &&str| path.strip_suffix(close) == Some(directory);
    Some([first].into_iter().chain(named).find(is_beside).unwrap_or(first))
}

/// How far a candidate is from what was typed, the nearest first: whether only a beginning was compared, by how many
/// letters the two differ, and how unlike they are beyond that, in thousandths.
type Slip = (bool, usize, u32);

/// Returns how far `given` is from `candidate`, if it may be a slip: another case, a few letters that are wrong, missing,
/// too many or swapped, or the beginning of a longer name. Of a short word only one letter may differ: they are all alike.
fn slip(given: &str, candidate: &str) -> Option<Slip> {
    let (given, candidate) = (plain(given), plain(candidate));
    let length = given.chars().count();
    let most = match length {
        0 | 1 => 0,
        2..=5 => 1,
        6..=8 => 2,
        _ => 3,
    };
    // Of two letters, one that is wrong makes another word, such as `v1` and `v2`.
    let is_other = |candidate: &str| {
        length == 2 && candidate.chars().count() == 2 && !given.chars().rev().eq(candidate.chars())
    };
    let within = |candidate: &str| {
        let distance = Some(distance(&given, candidate)).filter(|distance| *distance <= most);
        distance.filter(|distance| *distance == 0 || !is_other(candidate))
    };
    let first = |text: &str| text.split('-').next().unwrap_or_default().to_owned();
    let by_beginning = || match length {
        0..=2 => None,
        _ if candidate.starts_with(&given) || first(&given) == candidate => Some(0),
        _ => within(&first(&candidate)),
    };
    let whole = within(&candidate);
    let distance = whole.or_else(by_beginning)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 1000")]
    let unlike = ((1.0 - strsim::jaro_winkler(&given, &candidate)) * 1000.0) as u32;
    Some((whole.is_none(), distance, unlike))
}

/// Returns how many letters have to be changed, added, removed or swapped to make one text of the other, whatever their
/// case.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    strsim::osa_distance(&plain(a), &plain(b))
}

/// Returns a name as it is compared.
fn plain(text: &str) -> String {
    text.to_lowercase().replace('_', "-")
}

/// Returns up to `count` of the paths `candidates` that are most similar to `given`, the best first: compared as whole
/// paths or by file name, ignoring case.
pub fn closest_paths<'a>(
    given: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    count: usize,
) -> Vec<&'a str> {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_lowercase();
    let (given, wanted) = (given.to_lowercase(), name(given));
    let mut alike: Vec<(Slip, &str)> = candidates
        .into_iter()
        .filter_map(|path| {
            let slips = slip(&given, &path.to_lowercase()).into_iter().chain(slip(&wanted, &name(path)));
            Some((slips.min()?, path))
        })
        .collect();
    // A stable sort: equally similar candidates keep their order.
    alike.sort_by_key(|(slip, _)| *slip);
    alike.into_iter().map(|(_, path)| path).take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_close_by_their_names() {
        let all = ["skills/pdf", "skills/tables", "other/tables"];
        for (given, meant) in [
            ("skill/pdf", Some("skills/pdf")),
            ("skills/pfd", Some("skills/pdf")),
            ("other/table", Some("other/tables")),
            ("tables", Some("skills/tables")),
            ("skills/alone", None),
            ("skills/nope", None),
        ] {
            assert_eq!(closest_path(given, all), meant, "{given}");
        }
        assert_eq!(closest_path("x", []), None);
    }

    #[test]
    fn short_names_are_close_too() {
        let names = ["docx", "pdf", "pdf-forms", "xlsx"];
        for (given, expected) in [
            ("pdfs", Some("pdf")),
            ("PDF", Some("pdf")),
            ("pfd", Some("pdf")),
            ("Xslx", Some("xlsx")),
            ("pdf-tools", Some("pdf-forms")),
            ("fpd", None),
            ("doc", Some("docx")),
            ("ab", None),
        ] {
            assert_eq!(closest(given, names), expected, "{given}");
        }
    }

    #[test]
    fn paths_are_alike_as_wholes_or_by_the_names_of_their_files() {
        let paths = ["LICENSE.txt", "references/forms.md", "references/format.md", "scripts/fill.py"];
        let closest = |given: &str| closest_paths(given, paths, 2);
        assert_eq!(closest("forms.md"), ["references/forms.md", "references/format.md"]);
        assert_eq!(closest("reference/forms.md")[0], "references/forms.md");
        assert_eq!(closest("script/fil.py"), ["scripts/fill.py"]);
        assert_eq!(closest("license.TXT"), ["LICENSE.txt"]);
        assert_eq!(closest("x"), [""; 0]);
    }

    #[test]
    fn names_that_were_probably_meant() {
        for (given, candidates, meant) in [
            ("githb", &["path", "github"][..], Some("github")),
            ("pfd", &["docx", "pdf"], Some("pdf")),
            ("PDF", &["docx", "pdf"], Some("pdf")),
            ("tdd", &["TDD"], Some("TDD")),
            ("NAME-LENGTH", &["name-format", "name-length"], Some("name-length")),
            ("dry_rn", &["dry-run"], Some("dry-run")),
            ("sl", &["ls"], Some("ls")),
            ("isntall", &["install", "uninstall"], Some("install")),
            ("unistall", &["install", "uninstall"], Some("uninstall")),
            ("claud", &["claude-code"], Some("claude-code")),
            ("gemni", &["gemini-cli"], Some("gemini-cli")),
            ("pdf-tools", &["pdf"], Some("pdf")),
            ("pdf-tool", &["pdf", "pdf-tools"], Some("pdf-tools")),
            ("pdf", &["pdf-forms", "pdg"], Some("pdg")),
            ("descripton", &["description"], Some("description")),
            // What is as long and has some of the letters is another word.
            ("tcsh", &["bash", "zsh", "fish"], None),
            ("nope", &["openai", "anthropic", "mcp"], None),
            ("nope", &["scope", "global", "json"], None),
            ("alone", &["pdf", "tables", "brand"], None),
            ("gem", &["new", "man", "mcp", "rm"], None),
            ("zzz", &["path", "github"], None),
            ("x", &["y", "xy"], None),
            ("v2", &["v1"], None),
            ("", &["pdf", ""], Some("")),
            ("", &["pdf"], None),
        ] {
            assert_eq!(closest(given, candidates.iter().copied()), meant, "{given} of {candidates:?}");
        }
    }
}
