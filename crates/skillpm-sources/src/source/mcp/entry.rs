//! A server's description of a skill: the entries of `skills/list` and `skills/get`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use super::message::Object;
use crate::digest::Digest;
use crate::path::SafePath;
use crate::skill::SkillMeta;
use crate::spec::check_directory;
use crate::text::{percent_decoded, visible_name};

/// The largest number of files in a skill that the extension lets a server offer.
const MOST_FILES: usize = 512;
/// The largest size of a skill that the extension lets a server offer, in bytes.
const MOST_BYTES: u64 = 16 << 20;
/// The scheme of most addresses, which paths leave out.
const SCHEME: &str = "skill";
/// The end of the address of a skill.
const SKILL_FILE: &str = "SKILL.md";

/// A skill that a server lists.
#[derive(Debug, Clone)]
pub(super) struct ListedSkill {
    /// The path in lockfiles: that of its address, or `skills[3]` if that cannot be used.
    pub(super) path: String,
    /// The frontmatter as the server states it.
    pub(super) frontmatter: Object,
    /// The files, or why they cannot be fetched.
    pub(super) files: Result<FileList, String>,
}

/// The files of a skill, sorted by their paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileList(pub(super) Vec<ListedFile>);

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListedFile {
    /// The path in the skill.
    pub(super) path: SafePath,
    /// The rest of the address after that of the skill's directory.
    pub(super) address: String,
    pub(super) digest: Digest,
    pub(super) size: u64,
}

/// Returns the path in lockfiles of the skill with the address `uri`: that of `skill://team/pdf/SKILL.md` is `team/pdf`,
/// that of `repo://team/pdf/SKILL.md` is `repo:/team/pdf`. Returns `None` for an address that no skill can have here.
pub(super) fn path_of(uri: &str) -> Option<String> {
    let (scheme, rest) = uri.strip_suffix(SKILL_FILE)?.strip_suffix('/')?.split_once("://")?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_lowercase())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte));
    let first = rest.split('/').next()?;
    if !is_scheme
        || first.ends_with(':')
        || rest.contains(['?', '#'])
        || rest.chars().any(char::is_whitespace)
    {
        return None;
    }
    let path = if scheme == SCHEME { rest.to_owned() } else { format!("{scheme}:/{rest}") };
    check_directory(&path).is_ok().then_some(path)
}

/// Returns the address of the directory of the skill at `path`, with a slash at its end.
pub(super) fn root_of(path: &str) -> String {
    match path.split_once(":/") {
        Some((scheme, rest)) if !scheme.contains('/') => format!("{scheme}://{rest}/"),
        _ => format!("{SCHEME}://{path}/"),
    }
}

/// Returns the address of the skill at `path`. Returns `None` if no skill can be there.
pub(super) fn uri_of(path: &str) -> Option<String> {
    let uri = format!("{}{SKILL_FILE}", root_of(path));
    (path_of(&uri).as_deref() == Some(path)).then_some(uri)
}

impl ListedSkill {
    /// Reads an entry, which is the one at `position` in its list. An error in it affects only that entry.
    pub(super) fn read(mut value: Value, position: usize) -> Self {
        let frontmatter = match value.get_mut("frontmatter").map(Value::take) {
            Some(Value::Object(frontmatter)) => Some(frontmatter),
            _ => None,
        };
        let uri = value.get("uri").and_then(Value::as_str).unwrap_or_default();
        let path = path_of(uri);
        let files = match (&path, &frontmatter) {
            (None, _) => Err(format!("its address `{}` is not that of a skill", visible_name(uri))),
            (_, None) => Err("its server states no frontmatter".to_owned()),
            (Some(path), Some(frontmatter)) => {
                check_name(path, frontmatter).and_then(|()| FileList::read(path, value.get("resources")))
            }
        };
        Self {
            path: path.unwrap_or_else(|| format!("skills[{position}]")),
            frontmatter: frontmatter.unwrap_or_default(),
            files,
        }
    }

    /// Returns the metadata in the frontmatter that matters before the files are there.
    pub(super) fn meta(&self) -> SkillMeta {
        let text = |object: &Object, key: &str| {
            object.get(key).and_then(Value::as_str).map(|text| text.trim().to_owned())
        };
        let metadata = self.frontmatter.get("metadata").and_then(Value::as_object);
        let metadata: Object = metadata.into_iter().flatten().map(as_written).collect();
        SkillMeta {
            name: text(&self.frontmatter, "name").unwrap_or_default(),
            description: text(&self.frontmatter, "description").unwrap_or_default(),
            version: text(&metadata, "version"),
            metadata,
            ..SkillMeta::default()
        }
    }
}

/// Returns an entry of `metadata` with a scalar as its text.
fn as_written((key, value): (&String, &Value)) -> (String, Value) {
    let text = match value {
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        other => return (key.clone(), other.clone()),
    };
    (key.clone(), text.into())
}

/// Checks that the last part of `path` is the name in `frontmatter`, which the extension demands.
fn check_name(path: &str, frontmatter: &Object) -> Result<(), String> {
    let text =
        |key: &str| frontmatter.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let name = text("name").ok_or("its frontmatter has no name")?;
    text("description").ok_or("its frontmatter has no description")?;
    let last = percent_decoded(path.rsplit('/').next().unwrap_or(path));
    if last.nfkc().eq(name.nfkc()) {
        return Ok(());
    }
    Err(format!("its address ends in `{}`, but its name is `{}`", visible_name(&last), visible_name(name)))
}

impl FileList {
    /// Reads the list `resources` of the skill at `path`.
    fn read(path: &str, resources: Option<&Value>) -> Result<Self, String> {
        let list = match resources {
            Some(Value::Array(list)) => list,
            Some(Value::String(kind)) if kind == "dynamic" => {
                return Err(
                    "its files are `dynamic`: its server states no digests, so there is nothing to lock"
                        .to_owned(),
                );
            }
            _ => return Err("its server states no list of files".to_owned()),
        };
        let root = root_of(path);
        let mut files = Vec::with_capacity(list.len().min(MOST_FILES));
        for file in list.iter().take(MOST_FILES + 1) {
            let uri = file.get("uri").and_then(Value::as_str).unwrap_or_default();
            let why = |problem: &str| format!("its file `{}` {problem}", visible_name(uri));
            let address = uri.strip_prefix(&root).ok_or_else(|| why("is not in its directory"))?;
            let digest = file.get("digest").and_then(Value::as_str).and_then(|text| text.parse().ok());
            let digest = digest.ok_or_else(|| why("has no SHA-256 digest"))?;
            let size = file.get("size").and_then(Value::as_u64).ok_or_else(|| why("has no size"))?;
            files.push(ListedFile::new(address, digest, size).map_err(|problem| why(&problem))?);
        }
        Self::checked(files)
    }

    /// Returns `files` as the files of a skill.
    fn checked(mut files: Vec<ListedFile>) -> Result<Self, String> {
        if files.len() > MOST_FILES {
            return Err(format!("it has more than {MOST_FILES} files"));
        }
        let bytes = files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.size));
        if bytes > MOST_BYTES {
            return Err(format!("it has {bytes} bytes, {MOST_BYTES} are allowed"));
        }
        files.sort_by(|one, other| one.path.cmp(&other.path));
        let mut seen = BTreeSet::new();
        if let Some(twice) = files.iter().find(|file| !seen.insert(file.path.as_str())) {
            return Err(format!("its file `{}` is listed twice", twice.path.as_str()));
        }
        if !files.iter().any(|file| file.address == SKILL_FILE) {
            return Err(format!("it lists no `{SKILL_FILE}`"));
        }
        Ok(Self(files))
    }

    /// Returns the number of bytes of all files.
    pub(super) fn bytes(&self) -> u64 {
        self.0.iter().map(|file| file.size).sum()
    }

    /// Returns the list as a text, a line for each file. Its digest is the revision in lockfiles.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for ListedFile { address, digest, size, .. } in &self.0 {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{digest} {size} {address}");
        }
        text
    }

    /// Returns the revision in lockfiles.
    pub(super) fn revision(&self) -> Digest {
        Digest::of(self.text().as_bytes())
    }

    /// Reads what [`FileList::text`] returned. Returns `None` for any other text.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let line = |line: &str| {
            let mut parts = line.splitn(3, ' ');
            let (digest, size) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            ListedFile::new(parts.next()?, digest, size).ok()
        };
        let list = Self::checked(text.lines().map(line).collect::<Option<_>>()?).ok()?;
        (list.text() == text).then_some(list)
    }
}

impl ListedFile {
    /// Returns the file with the `address` below its skill.
    fn new(address: &str, digest: Digest, size: u64) -> Result<Self, String> {
        if address.contains(['?', '#']) || address.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err("has an address that cannot be used".to_owned());
        }
        let parts: Vec<_> = address.split('/').map(percent_decoded).collect();
        if parts.iter().any(|part| part.contains('/')) {
            return Err("has a slash in a name".to_owned());
        }
        let path = SafePath::new(&parts.join("/")).map_err(|reason| format!("cannot be used: {reason}"))?;
        Ok(Self { path, address: address.to_owned(), digest, size })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn paths_and_addresses() {
        for (uri, path) in [
            ("skill://pdf/SKILL.md", Some("pdf")),
            ("skill://team/tools/pdf/SKILL.md", Some("team/tools/pdf")),
            ("skill://gr%C3%B6%C3%9Fe/SKILL.md", Some("gr%C3%B6%C3%9Fe")),
            ("repo://team/pdf/SKILL.md", Some("repo:/team/pdf")),
            ("skill://a:1/pdf/SKILL.md", Some("a:1/pdf")),
            ("skill://repo:/pdf/SKILL.md", None),
            ("skill:///pdf/SKILL.md", None),
            ("file:///pdf/SKILL.md", None),
            ("skill://SKILL.md", None),
            ("skill:///SKILL.md", None),
            ("skill://a/../pdf/SKILL.md", None),
            ("skill://a//pdf/SKILL.md", None),
            ("skill://pdf/SKILL.md?x", None),
            ("skill://pdf?x/SKILL.md", None),
            ("skill://p df/SKILL.md", None),
            ("Skill://pdf/SKILL.md", None),
            ("skill://pdf/skill.md", None),
            ("skill://a\\b/SKILL.md", None),
            ("pdf/SKILL.md", None),
            ("", None),
        ] {
            assert_eq!(path_of(uri).as_deref(), path, "{uri}");
            if let Some(path) = path {
                assert_eq!(uri_of(path).as_deref(), Some(uri));
            }
        }
        assert_eq!(uri_of("../pdf"), None);
        assert_eq!(uri_of("repo:/"), None);
    }

    fn read(name: &str, resources: &Value) -> ListedSkill {
        let frontmatter =
            json!({"name": name, "description": "D.", "metadata": {"version": 1.5, "internal": true}});
        ListedSkill::read(
            json!({"uri": "skill://t/pdf/SKILL.md", "frontmatter": frontmatter, "resources": resources}),
            3,
        )
    }

    fn file(uri: &str) -> Value {
        json!({"uri": uri, "digest": DIGEST, "size": 0})
    }

    #[test]
    fn entries_and_their_files() {
        let entry = read("pdf", &json!([file("skill://t/pdf/b%20c/x.py"), file("skill://t/pdf/SKILL.md")]));
        let files = entry.files.as_ref().expect("files");
        let paths: Vec<_> = files.0.iter().map(|file| (file.path.as_str(), file.address.as_str())).collect();
        assert_eq!(paths, [("SKILL.md", "SKILL.md"), ("b c/x.py", "b%20c/x.py")]);
        assert_eq!(files.text(), format!("{DIGEST} 0 SKILL.md\n{DIGEST} 0 b%20c/x.py\n"));
        assert_eq!(FileList::parse(&files.text()).as_ref(), Some(files));
        assert_eq!(FileList::parse(&format!("{DIGEST} 00 SKILL.md\n")), None);
        let meta = entry.meta();
        assert_eq!((meta.name.as_str(), meta.version.as_deref()), ("pdf", Some("1.5")));
        assert_eq!(meta.metadata["internal"], "true");
    }

    #[test]
    fn what_cannot_be_fetched_says_why() {
        let skill = || file("skill://t/pdf/SKILL.md");
        let with = |other: Value| json!([skill(), other]);
        let mut large = skill();
        large["size"] = json!(MOST_BYTES + 1);
        let mut odd = file("skill://t/pdf/x");
        odd["digest"] = json!("sha512:00");
        let many: Value = (0..=MOST_FILES).map(|number| file(&format!("skill://t/pdf/{number}"))).collect();
        for (resources, expected) in [
            (json!("dynamic"), "`dynamic`"),
            (json!(null), "no list of files"),
            (json!([]), "lists no `SKILL.md`"),
            (with(skill()), "listed twice"),
            (with(file("skill://t/pdf/SKILL%2Emd")), "listed twice"),
            (with(file("skill://t/pdf2/x")), "is not in its directory"),
            (with(file("skill://t/pdf/../x")), "a `.` or `..` component"),
            (with(file("skill://t/pdf/%2e%2E/x")), "a `.` or `..` component"),
            (with(file("skill://t/pdf/a%2fb")), "a slash in a name"),
            (with(file("skill://t/pdf/a%5Cb")), "a backslash"),
            (with(file("skill://t/pdf/")), "an empty component"),
            (with(file("skill://t/pdf/.git/config")), "git repository"),
            (with(file("skill://t/pdf/x?y")), "cannot be used"),
            (with(odd), "no SHA-256 digest"),
            (with(json!("x")), "is not in its directory"),
            (json!([large]), "bytes, 16777216 are allowed"),
            (many, "more than 512 files"),
        ] {
            let problem = read("pdf", &resources).files.expect_err(expected);
            assert!(problem.contains(expected), "{problem}");
        }
        let problem = read("docx", &json!([skill()])).files.expect_err("another name");
        assert!(problem.contains("ends in `pdf`, but its name is `docx`"), "{problem}");
        for value in [json!(null), json!([]), json!({"uri": 1}), json!({"uri": "skill://pdf/SKILL.md"})] {
            assert!(ListedSkill::read(value, 3).files.is_err());
        }
        assert_eq!(ListedSkill::read(json!("x"), 3).path, "skills[3]");
    }

    proptest! {
        #[test]
        fn nothing_panics(uri in "(skill|repo|:|//|/|\\.\\.|%2f|%|é|SKILL\\.md|pdf|\\?){0,12}") {
            if let Some(path) = path_of(&uri) {
                prop_assert_eq!(uri_of(&path), Some(uri.clone()));
            }
            let _ = read("pdf", &json!([file(&uri)]));
            let _ = FileList::parse(&uri);
        }
    }
}
