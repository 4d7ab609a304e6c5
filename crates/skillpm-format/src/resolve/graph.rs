//! Graphs of skills: the dependencies between them.

use std::collections::{BTreeMap, BTreeSet};

use crate::lockfile::Locked;
use crate::name::SkillName;

/// Returns the skills `roots` and everything they need, directly or indirectly, using the entries that `lock` returns
/// for names. Names for which it returns nothing are included.
pub fn closure<'a>(
    roots: impl IntoIterator<Item = &'a SkillName>,
    lock: impl Fn(&SkillName) -> Option<&'a Locked>,
) -> BTreeSet<SkillName> {
    reached(roots, |name| lock(name).into_iter().flat_map(|locked| &locked.dependencies))
}

/// Returns `roots` and everything reachable from them, where `next` returns the names that a name leads to.
pub(super) fn reached<'a, 'b, I: Iterator<Item = &'a String>>(
    roots: impl IntoIterator<Item = &'b SkillName>,
    next: impl Fn(&SkillName) -> I,
) -> BTreeSet<SkillName> {
    let mut reached: BTreeSet<SkillName> = BTreeSet::new();
    let mut open: Vec<SkillName> = roots.into_iter().cloned().collect();
    while let Some(name) = open.pop() {
        let names: Vec<SkillName> = next(&name).filter_map(|text| SkillName::new(text).ok()).collect();
        if reached.insert(name) {
            open.extend(names.into_iter().filter(|name| !reached.contains(name)));
        }
    }
    reached
}

/// Returns the skills that others in `locked` need, each with the skills that need it directly.
pub fn dependents<'a>(
    locked: impl IntoIterator<Item = (&'a SkillName, &'a Locked)>,
) -> BTreeMap<SkillName, BTreeSet<SkillName>> {
    let mut dependents: BTreeMap<SkillName, BTreeSet<SkillName>> = BTreeMap::new();
    for (name, locked) in locked {
        for needed in locked.dependencies.iter().filter_map(|text| SkillName::new(text).ok()) {
            if needed != *name {
                dependents.entry(needed).or_default().insert(name.clone());
            }
        }
    }
    dependents
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lockfile::Lockfile;

    /// Conflict C32: a skill that is not requested stays for as long as another one needs it.
    #[test]
    fn who_is_needed_and_by_whom() {
        let name = |text: &str| SkillName::new(text).expect(text);
        let entry = |(text, needs): &(&str, &str)| {
            let digest = "0".repeat(64);
            format!(
                "[[skill]]\nname = \"{text}\"\nsource = \"path:./{text}\"\ndigest = \"sha256:{digest}\"\ndependencies = [{needs}]\n"
            )
        };
        let skills = [("a", "'b', 'absent', 'Not a name'"), ("b", "'c', 'a', 'b'"), ("c", ""), ("d", "'c'")];
        let text: String = skills.iter().map(entry).collect();
        let lock = Lockfile::parse(&format!("version = 1\n{text}")).expect("a lockfile").skills;
        let reached = |roots: &[&str]| -> Vec<String> {
            let roots: Vec<_> = roots.iter().map(|root| name(root)).collect();
            let reached = closure(&roots, |name| lock.get(name));
            reached.into_iter().map(String::from).collect()
        };
        assert_eq!(reached(&["a"]), ["a", "absent", "b", "c"]);
        assert_eq!(reached(&["d"]), ["c", "d"]);
        assert_eq!(reached(&[]), [""; 0]);
        let dependents: Vec<_> =
            dependents(&lock).into_iter().map(|(name, by)| (name.to_string(), by.len())).collect();
        assert_eq!(dependents, [("a", 1), ("absent", 1), ("b", 1), ("c", 2)].map(|(n, c)| (n.to_owned(), c)));
    }
}
