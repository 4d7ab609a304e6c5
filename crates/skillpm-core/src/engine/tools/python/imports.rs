//! The modules that a Python file imports.

use super::tokens::{self, Token};

/// An import of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) struct ModuleImport<'a> {
    /// The first part of the module's name: `a` of `a.b`.
    pub(in crate::engine) module: &'a str,
    /// The byte where the statement's line starts.
    pub(in crate::engine) at: usize,
    /// Whether the script may work without it: it is in `try` or its handlers, or behind a condition.
    pub(in crate::engine) optional: bool,
}

/// The words that begin a block of which the file may do without.
const BRANCHES: [&str; 5] = ["try", "except", "if", "elif", "else"];

/// Returns the modules that `text` imports by `import` and `from`, except those beside it (`from . import x`). Returns
/// none if strings or brackets in it have no end: then nothing is reliable.
pub(in crate::engine) fn imports(text: &str) -> Vec<ModuleImport<'_>> {
    let source = tokens::read(text);
    let mut found = Vec::new();
    if source.broken {
        return found;
    }
    // The indentations of the branches that are open.
    let mut branches: Vec<usize> = Vec::new();
    for line in &source.lines {
        let words = source.words(line);
        branches.retain(|indent| *indent < line.indent);
        for statement in words.split(|word| word.is_op(";")) {
            let modules = modules(statement);
            let optional = !branches.is_empty();
            found.extend(modules.map(|module| ModuleImport { module, at: line.at, optional }));
        }
        let is_main = words.iter().any(|word| word.is_name("__name__"));
        if BRANCHES.iter().any(|branch| words[0].is_name(branch)) && !is_main {
            branches.push(line.indent);
        }
    }
    found
}

/// Returns the modules that a statement imports.
fn modules<'a>(statement: &[Token<'a>]) -> impl Iterator<Item = &'a str> {
    let (first, all) = match statement {
        [Token::Name("import"), rest @ ..] => (rest, true),
        [Token::Name("from"), rest @ ..] => (rest, false),
        _ => (&[][..], false),
    };
    let parts = first.split(move |word| all && word.is_op(","));
    parts.filter_map(|part| if let [Token::Name(name), ..] = part { Some(*name) } else { None })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn imports_of_all_kinds() {
        let text = "'''\nimport no\n'''\nimport a.b as c, d  # import no\nfrom e.f import (\n    g,\n    no,\n)\nfrom . import no\n\
            from ..no import no\nx = 1; import h\nraise X from no\ndef f():\n    import i\n    yield from no\n\
            try:\n    import j\nexcept ImportError:\n    import k\nif __name__ == '__main__':\n    import l\n\
            if a:\n  if b:\n    import m\n  import n\nimport o\nimport (\n";
        assert_eq!(imports(text), [], "a bracket has no end");
        let found = imports(text.trim_end_matches("import (\n"));
        let found: Vec<_> = found.iter().map(|one| (one.module, one.optional)).collect();
        let needed = ["a", "d", "e", "h", "i"].map(|module| (module, false));
        let branches = [("j", true), ("k", true), ("l", false), ("m", true), ("n", true), ("o", false)];
        assert_eq!(found, [&needed[..], &branches].concat());
    }

    proptest! {
        #[test]
        fn any_text_is_scanned(text in "(import |from |try:|if |\n|  |\\(|\\)|'|'''|;|,|\\.|a|é|#){0,60}") {
            for one in imports(&text) {
                prop_assert!(text.is_char_boundary(one.at) && one.at < text.len() && !one.module.is_empty());
            }
        }
    }
}
