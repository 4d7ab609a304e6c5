//! What scripts for Node.js import.

use super::{MAX, MAX_NAME};

/// The modules of Node.js itself. Source: `module.builtinModules` of Node.js 20. Newer ones have `node:` in front.
const BUILTIN: &str = "\
    assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns \
    domain events fs http http2 https inspector module net os path perf_hooks process punycode querystring \
    readline repl stream string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads \
    zlib";

/// The maximum number of bytes of a line that are examined: minified code has longer ones, and requires nothing.
const MAX_LINE: usize = 2048;

/// An import of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackageImport<'a> {
    /// The name of the package: `x` of `x/lib`, `@a/x` of `@a/x/lib`.
    pub package: &'a str,
    /// The byte where the line starts.
    pub at: usize,
    /// Whether it may fail: in `try`, or when its code is reached.
    pub optional: bool,
}

/// Returns the packages that `text` imports. Looks at single lines, without comments and templates: it does not parse JavaScript.
pub fn imports(text: &str) -> Vec<PackageImport<'_>> {
    let (mut found, mut at) = (Vec::new(), 0);
    let mut in_template = false;
    // The indentation of the line that opened `try`, until a line is indented as little.
    let mut tried: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let code = line.trim();
        let was_in_template = in_template;
        in_template ^= line.matches('`').count() % 2 == 1;
        let is_comment = code.starts_with("//") || code.starts_with('*') || code.starts_with("/*");
        if line.len() > MAX_LINE || was_in_template || is_comment || code.is_empty() {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        tried = tried.filter(|least| indent > *least);
        if code.ends_with("try {") {
            tried.get_or_insert(indent);
        }
        let here = found_in(code).filter_map(|(target, lazy)| Some((package(target)?, lazy)));
        found.extend(here.map(|(package, lazy)| PackageImport {
            package,
            at: start + indent,
            optional: lazy || tried.is_some() || code.contains("try {"),
        }));
        if found.len() >= MAX {
            break;
        }
    }
    found
}

/// Returns the targets of imports in a line of `code`, and whether each is loaded when it is reached.
fn found_in(code: &str) -> impl Iterator<Item = (&str, bool)> {
    let is_statement = code.starts_with("import") || code.starts_with("export") || code.starts_with('}');
    let from = code.rfind(" from ").filter(|_| is_statement).map(|at| &code[at + " from ".len()..]);
    let bare = code.strip_prefix("import ");
    let statement = from.or(bare).and_then(quoted).map(|target| (target, false));
    let calls = [("require(", false), ("import(", true)].into_iter().flat_map(move |(call, lazy)| {
        code.match_indices(call).filter_map(move |(at, _)| {
            let is_part = code[..at].ends_with(|c: char| c.is_alphanumeric() || "_$.'\"`".contains(c));
            Some((quoted(&code[at + call.len()..]).filter(|_| !is_part)?, lazy))
        })
    });
    statement.into_iter().chain(calls)
}

/// Returns the text in quotes at the start of `code`.
fn quoted(code: &str) -> Option<&str> {
    let code = code.trim_start();
    let quote = code.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    code[1..].split_once(quote).map(|(text, _)| text)
}

/// Returns the package of an import's `target`; `None` if that is a path, an address or a module of Node.js.
fn package(target: &str) -> Option<&str> {
    let mut ends = target.match_indices('/').map(|(at, _)| at);
    let end = if target.starts_with('@') { ends.nth(1) } else { ends.next() };
    let package = &target[..end.unwrap_or(target.len())];
    let is_name = |c: char| c.is_ascii_alphanumeric() || "@/._-".contains(c);
    let is_package = !package.is_empty()
        && package.len() <= MAX_NAME
        && package.chars().all(is_name)
        && !package.starts_with(['.', '/'])
        && package.starts_with('@') == package.contains('/')
        && BUILTIN.split(' ').all(|builtin| builtin != package);
    is_package.then_some(package)
}
