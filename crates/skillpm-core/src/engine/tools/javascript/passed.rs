//! Determines which arguments a script passes on to its function `main`.

/// The ways in which the function `main` begins, up to the bracket before its parameters.
const STARTS: [&str; 5] = [
    "function main(",
    "const main = (",
    "const main = async (",
    "const main = function (",
    "const main = async function (",
];
/// Functions that convert an argument.
const CONVERSIONS: [&str; 4] = ["Number(", "String(", "parseFloat(", "parseInt("];

/// Returns the parameters of the function `main`, split at commas.
fn of_main(text: &str) -> Option<Vec<&str>> {
    let after = STARTS.iter().find_map(|start| Some(&text[text.find(start)? + start.len()..]))?;
    divided(inside(after)?)
}

/// Returns the name of a parameter, without its type and its default.
fn name(parameter: &str) -> Option<&str> {
    let name = parameter.split(['=', ':', '?']).next()?.trim();
    is_name(name).then_some(name)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_part)
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// Returns the arguments of each call of `main`.
fn calls(text: &str) -> Vec<Option<Vec<&str>>> {
    let is_call = |at: &usize| {
        let before = &text[..*at];
        let line = before.rsplit('\n').next().unwrap_or_default().trim_start();
        !before.ends_with(|c| is_part(c) || c == '.')
            && !before.trim_end().ends_with("function")
            && !["*", "//", "/*"].iter().any(|comment| line.starts_with(comment))
    };
    let starts = memchr::memmem::find_iter(text.as_bytes(), "main(").filter(is_call);
    starts.map(|at| divided(inside(&text[at + "main(".len()..])?)).collect()
}

/// Returns the names of the parameters that get command-line arguments, in the order of the arguments, if the only call
/// of `main` passes arguments in their order and nothing else uses them; `None` if that is in doubt, because the
/// arguments could belong to other parameters.
pub(super) fn words(text: &str) -> Option<Vec<&str>> {
    let mut names: Vec<_> = of_main(text)?.into_iter().map(name).collect::<Option<_>>()?;
    let calls = calls(text);
    let [Some(call)] = &calls[..] else { return None };
    let number = |part: &str| memchr::memmem::find_iter(text.as_bytes(), part).count();
    let uses = number("process.argv") - number("process.argv.length");
    if call[..] == ["...process.argv.slice(2)"] {
        return (uses == 1).then_some(names);
    }
    let in_order =
        call.iter().enumerate().all(|(at, word)| *word_of(word) == format!("process.argv[{}]", at + 2));
    if !in_order || uses != call.len() || call.len() > names.len() {
        return None;
    }
    names.truncate(call.len());
    Some(names)
}

/// Reports whether `comment` is about the whole script rather than the function that follows it.
pub(super) fn is_of_script(comment: &str, text: &str) -> bool {
    let behind = text.find(comment).and_then(|at| text[at + comment.len()..].strip_prefix("*/"));
    let next = behind.and_then(|rest| rest.trim_start().lines().next()).unwrap_or_default();
    let begins_one = ["function", "async ", "export ", "class "].iter().any(|word| next.starts_with(word));
    !begins_one && !next.contains("=>") && !next.contains("= function") && of_main(text).is_none()
}

/// Reports whether the script uses only the first `count` command-line arguments, or takes all of them.
pub(super) fn takes_so_many(text: &str, count: usize) -> bool {
    let is_one = |rest: &str| {
        let number = rest.strip_prefix('[').and_then(|rest| rest.split(']').next());
        let number = number.and_then(|number| number.parse::<usize>().ok());
        number.is_some_and(|number| (2..2 + count).contains(&number))
    };
    let mut uses = text.split("process.argv").skip(1);
    uses.all(|rest| is_one(rest) || rest.starts_with(".length") || rest.starts_with(".slice(2)"))
}

/// Returns an argument without the conversion around it.
fn word_of(argument: &str) -> &str {
    let inner = CONVERSIONS.iter().find_map(|start| argument.strip_prefix(start)?.strip_suffix(')'));
    inner.map_or(argument, |inner| inner.trim_end_matches(", 10"))
}

/// Reports whether the keys of the input object are the parameters `wanted`: `main` destructures the object, is called
/// with its values by these keys, or is not called. Nothing is known about the keys of an object that is passed as one
/// argument.
pub(super) fn has_keys(text: &str, wanted: &[&str]) -> bool {
    let Some(parameters) = of_main(text) else { return true };
    if let [whole] = parameters[..]
        && let Some(names) = taken_apart(whole)
    {
        return wanted.iter().all(|name| names.contains(name));
    }
    let takes = |argument: &str, parameter: &str| {
        let name = name(parameter).unwrap_or_default();
        let by_key = [format!(".{name}"), format!("[\"{name}\"]"), format!("['{name}']")];
        by_key.iter().any(|end| argument.ends_with(end.as_str()))
            || (argument == name && is_taken_out(text, name))
    };
    calls(text).iter().all(|call| {
        let Some(call) = call else { return false };
        call.len() <= parameters.len() && call.iter().zip(&parameters).all(|(one, of)| takes(one, of))
    })
}

/// Returns the names in `{ a, b = 1 }`, which a type or a default may follow.
fn taken_apart(parameter: &str) -> Option<Vec<&str>> {
    divided(inside(parameter.strip_prefix('{')?)?)?.into_iter().map(name).collect()
}

/// Reports whether a line such as `const { a, b } = ...` assigns the value with the key `name` to that name.
fn is_taken_out(text: &str, name: &str) -> bool {
    let apart = |line: &str| {
        let declared =
            ["const ", "let ", "var "].iter().find_map(|word| line.trim_start().strip_prefix(word))?;
        Some(taken_apart(declared)?.contains(&name))
    };
    text.lines().any(|line| apart(line) == Some(true))
}

/// Returns the text up to the bracket that closes the one before `text`.
fn inside(text: &str) -> Option<&str> {
    Some(&text[..ends(text)?.1])
}

/// Returns the parts of `text` between commas outside brackets; a trailing comma adds no part.
fn divided(text: &str) -> Option<Vec<&str>> {
    let closed = format!("{text})");
    let (commas, _) = ends(&closed)?;
    let mut parts = Vec::new();
    let mut start = 0;
    for end in commas.into_iter().chain([text.len()]) {
        parts.push(text[start..end].trim());
        start = end + 1;
    }
    parts.pop_if(|last| last.is_empty());
    Some(parts)
}

/// Returns the positions of the commas in `text` outside brackets and quotes, and that of the bracket that closes the
/// one before `text`.
fn ends(text: &str) -> Option<(Vec<usize>, usize)> {
    let (mut depth, mut commas, mut quote, mut escaped) = (0, Vec::new(), None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), _) => quote = quote.filter(|_| c != open),
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') if depth == 0 => return Some((commas, at)),
            (None, ')' | ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => commas.push(at),
            (None, _) => {}
        }
    }
    None
}
