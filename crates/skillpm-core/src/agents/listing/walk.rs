//! Where an agent looks, and the files that it finds there.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Asked;
use super::config::Config;
use crate::agents::resolve;
use crate::agents::rules::{At, Owner, Root, Rules, Walking};
use crate::error::Error;
use crate::fs::{self, Kind};
use crate::skill::SKILL_FILE;

/// The most files and directories below one root that are looked at for an agent without a limit of its own.
const MOST_ENTRIES: usize = 20_000;

/// The files that make a directory a plugin, below it.
const PLUGIN_MANIFESTS: [&str; 3] =
    [".codex-plugin/plugin.json", ".claude-plugin/plugin.json", ".cursor-plugin/plugin.json"];
/// The largest such file that is read, in bytes.
const MAX_MANIFEST: u64 = 1 << 20;

/// A directory in which an agent looks for skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dir {
    /// The path.
    pub path: PathBuf,
    /// Whose skills it holds.
    pub owner: Owner,
    /// The plugin that it belongs to, whose name is put before those of its skills.
    pub plugin: Option<String>,
    /// Whether directories in it are skipped whose names begin with a dot.
    pub skips_hidden: bool,
}

/// A file that may be a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundFile {
    /// The file.
    pub file: PathBuf,
    /// Its directory.
    pub dir: PathBuf,
    /// The file with all links followed.
    pub real: PathBuf,
    /// The directory in which the agent looked.
    pub root: PathBuf,
    /// Whose it is.
    pub owner: Owner,
    /// The plugin that it belongs to.
    pub plugin: Option<String>,
    /// The number of files that were found before it.
    pub at: usize,
    /// The description of a skill that the agent writes when it starts, and that may not be on the disk yet.
    pub built_in: Option<&'static str>,
}

impl FoundFile {
    /// Makes what the file `SKILL.md` of a directory below `root` is, whose file with all links followed is `real`.
    fn in_dir(dir: PathBuf, real: PathBuf, root: &Path, owner: Owner) -> Self {
        let (file, root) = (dir.join(SKILL_FILE), root.to_owned());
        Self { file, dir, real, root, owner, plugin: None, at: 0, built_in: None }
    }
}

/// The file that makes a directory a plugin.
#[derive(Debug, Deserialize)]
pub(super) struct Manifest {
    /// The name as it is written; that of the directory if it is blank.
    #[serde(default)]
    pub name: String,
    /// Where the skills are.
    #[serde(default)]
    pub skills: serde_json::Value,
}

impl Manifest {
    /// Reads the manifest of the plugin in `dir`: the first file of the three counts, and if it is not right there is none.
    pub(super) fn read(dir: &Path) -> Option<Self> {
        let is_file = |path: &PathBuf| is_kind(&fs::resolved(path), Kind::File);
        let path = PLUGIN_MANIFESTS.iter().map(|manifest| dir.join(manifest)).find(is_file)?;
        let text = fs::read_text(&path, MAX_MANIFEST).ok()??;
        let mut manifest: Self = serde_json::from_str(&text).ok()?;
        if manifest.name.trim().is_empty() {
            dir.file_name()?.to_str()?.clone_into(&mut manifest.name);
        }
        Some(manifest)
    }
}

/// Returns the directories in which the agent looks, in its order, each once.
pub(super) fn dirs(rules: &Rules, asked: Asked<'_>, config: &Config) -> Vec<Dir> {
    let upwards = upwards(&asked.settings.cwd, config, fs::exists);
    let mut dirs: Vec<Dir> = config.before.clone();
    let is_on =
        |root: &&Root| !config.without.contains(&root.owner) && !config.without_dirs.contains(&root.dir);
    // Codex reads its plugins before the directories from the outermost to the innermost, and nobody else has these.
    let (late, early): (Vec<&Root>, Vec<&Root>) =
        rules.roots.iter().filter(is_on).partition(|root| root.at == At::Downwards);
    let paths = |root: &Root| -> Vec<PathBuf> {
        let below = |dir: &PathBuf| dir.join(root.dir);
        match root.at {
            At::Working => upwards.first().map(below).into_iter().collect(),
            At::Opened => vec![asked.project.join(root.dir)],
            At::Upwards | At::Beside => upwards.iter().map(below).collect(),
            At::Downwards => upwards.iter().rev().map(below).collect(),
            At::Repository => upwards.last().map(below).into_iter().collect(),
            At::Machine => resolve(root.dir, asked.settings).into_iter().collect(),
        }
    };
    let of_root = |root: &Root| {
        let (owner, skips_hidden) = (root.owner, root.skips_hidden);
        paths(root).into_iter().map(move |path| Dir { path, owner, plugin: None, skips_hidden })
    };
    let mut beside = 0;
    for root in early {
        if root.at != At::Beside {
            beside = 0;
            dirs.extend(of_root(root));
            continue;
        }
        // Each right after that of the row before, in the same directory.
        beside += 1;
        let start = dirs.len() - upwards.len() * beside;
        for (at, dir) in of_root(root).enumerate() {
            dirs.insert(start + at * (beside + 1) + beside, dir);
        }
    }
    dirs.extend(config.after.iter().cloned());
    dirs.extend(late.into_iter().flat_map(of_root));
    // In the home directory itself the project's directories are the user's.
    let others: BTreeSet<_> =
        dirs.iter().filter(|dir| dir.owner != Owner::Project).map(|dir| dir.path.clone()).collect();
    dirs.retain(|dir| dir.owner != Owner::Project || !others.contains(&dir.path));
    let mut seen = BTreeSet::new();
    dirs.retain(|dir| seen.insert(dir.path.clone()));
    dirs
}

/// Returns `cwd` and the directories above it up to the root of the repository: the innermost with something that
/// `is_marker` takes for the mark of one. Where there is no repository, only `cwd`, or all of them.
pub(super) fn upwards(cwd: &Path, config: &Config, is_marker: fn(&Path) -> bool) -> Vec<PathBuf> {
    let is_root = |dir: &Path| config.markers.iter().any(|marker| is_marker(&dir.join(marker)));
    let root = cwd.ancestors().position(is_root);
    let count = root.map_or(if config.unbounded { usize::MAX } else { 1 }, |at| at + 1);
    cwd.ancestors().take(count).map(Path::to_owned).collect()
}

/// Returns the files in `dirs` that the agent takes for skills: those of a directory before those below it, each sorted by
/// name. Records a problem with `config` where there is more than is looked at.
pub(super) fn walk(rules: &Rules, dirs: &[Dir], config: &mut Config) -> Vec<FoundFile> {
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    let (most_directories, most_entries) = rules.walk.most.unwrap_or((usize::MAX, MOST_ENTRIES));
    for dir in dirs {
        if dir.owner == Owner::BuiltIn && !config.built_in.is_empty() {
            let root = fs::resolved(&dir.path);
            for (name, description) in &config.built_in {
                let dir = root.join(name);
                let file = FoundFile::in_dir(dir.clone(), dir.join(SKILL_FILE), &root, Owner::BuiltIn);
                found.push(FoundFile { at: found.len(), built_in: Some(description), ..file });
            }
            continue;
        }
        let Ok(Some(real)) = fs::real_path(&dir.path) else { continue };
        let root = if rules.walk.real_paths { real.clone() } else { dir.path.clone() };
        let plugins = BTreeMap::new();
        let mut walk = Walk {
            rules,
            dir,
            root: root.clone(),
            seen: &mut seen,
            found: &mut found,
            plugins,
            room: Some(most_entries),
        };
        // A link may lead back to a directory that was looked at.
        let mut visited: BTreeSet<PathBuf> = [real.clone()].into();
        let mut next = VecDeque::from([(root, real, 0)]);
        let mut directories = most_directories - 1;
        while let Some((path, parent, depth)) = next.pop_front().filter(|_| walk.room.is_some()) {
            for (path, real) in walk.directory(&path, &parent, depth) {
                // A link to a directory around it would lead back for ever.
                let leads_back = parent.starts_with(&real);
                if directories > 0 && !leads_back && (visited.insert(real.clone()) || !rules.walk.once) {
                    directories -= 1;
                    next.push_back((path, real, depth + 1));
                }
            }
        }
        if walk.room.is_none() && rules.walk.most.is_none() {
            let dir = dir.path.display();
            config.problems.push(Error::config(format!(
                "`{dir}` has more than {MOST_ENTRIES} files and directories, and the skills beyond these are not counted"
            )));
        }
    }
    found
}

/// Returns the directories in the root of the project that the agent does not read, since it looks only into the working
/// directory, which is another one.
pub(super) fn missed(rules: &Rules, asked: Asked<'_>) -> Vec<PathBuf> {
    let is_here = asked.settings.cwd == asked.project;
    let roots = rules.roots.iter().filter(|root| !is_here && root.at == At::Working);
    roots.map(|root| asked.project.join(root.dir)).filter(|dir| is_kind(dir, Kind::Directory)).collect()
}

/// Adds the skills in the directories `added` that are not in `found`, as skills of the project: before those of others if
/// the first of `dirs` is one of the project. Returns their numbers.
pub(super) fn add(found: &mut Vec<FoundFile>, dirs: &[Dir], added: &[PathBuf]) -> Range<usize> {
    let known: BTreeSet<PathBuf> = found.iter().map(|found| found.real.clone()).collect();
    let file = |dir: &PathBuf| {
        let real = fs::resolved(&dir.join(SKILL_FILE));
        FoundFile::in_dir(dir.clone(), real, dir.parent().unwrap_or(dir), Owner::Project)
    };
    let new: Vec<_> = added.iter().map(file).filter(|file| !known.contains(&file.real)).collect();
    let is_first = |dir: &&Dir| matches!(dir.owner, Owner::Project | Owner::User);
    let is_before = dirs.iter().find(is_first).is_some_and(|dir| dir.owner == Owner::Project);
    let start = if is_before { 0 } else { found.len() };
    let numbers = start..start + new.len();
    found.splice(start..start, new);
    for (at, file) in found.iter_mut().enumerate() {
        file.at = at;
    }
    numbers
}

/// Adds the files `*.md` directly in `dirs`, each of which counts as a skill of its name, behind those in `found`.
pub(super) fn add_commands(dirs: &[Dir], found: &mut Vec<FoundFile>) {
    for dir in dirs {
        let Ok(mut entries) = fs::entries(&dir.path) else { continue };
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        entries.truncate(MOST_ENTRIES);
        for file in entries.into_iter().map(|(name, _)| dir.path.join(name)) {
            let real = fs::real_path(&file).ok().flatten().filter(|real| !is_kind(real, Kind::Directory));
            let Some(real) = real.filter(|_| file.extension().is_some_and(|ending| ending == "md")) else {
                continue;
            };
            if found.iter().all(|other| other.real != real) {
                let name = file.with_extension("");
                let skill = FoundFile::in_dir(name, real, &dir.path, dir.owner);
                found.push(FoundFile { file, at: found.len(), ..skill });
            }
        }
    }
}

struct Walk<'a> {
    rules: &'a Rules,
    dir: &'a Dir,
    /// The directory, as paths are told.
    root: PathBuf,
    seen: &'a mut BTreeSet<PathBuf>,
    found: &'a mut Vec<FoundFile>,
    /// The plugins of the directories that were asked for one.
    plugins: BTreeMap<PathBuf, Option<String>>,
    /// How many more files and directories are looked at; `None` once there were more.
    room: Option<usize>,
}

impl Walk<'_> {
    /// Notes the skill in a directory, and returns the directories in it that are to be looked at, each as it is told and
    /// with all links followed.
    fn directory(&mut self, path: &Path, real: &Path, depth: usize) -> Vec<(PathBuf, PathBuf)> {
        let Walking { depth: most, nested, .. } = self.rules.walk;
        if depth == most {
            // Nothing else in it matters.
            self.file(path, real);
            return Vec::new();
        }
        let Ok(mut entries) = fs::entries(real) else { return Vec::new() };
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        if self.rules.walk.backwards {
            entries.reverse();
        }
        let room = self.room.unwrap_or_default();
        self.room = room.checked_sub(entries.len());
        entries.truncate(room);
        let is_skill = entries.iter().any(|(name, _)| name == SKILL_FILE)
            && (depth > 0 || self.rules.walk.root_file)
            && self.file(path, real);
        if is_skill && depth > 0 && !nested {
            return Vec::new();
        }
        let follows = self.dir.owner != Owner::BuiltIn;
        let below = entries.into_iter().filter_map(|(name, kind)| {
            if name.as_encoded_bytes().starts_with(b".") && self.dir.skips_hidden {
                return None;
            }
            let below = real.join(&name);
            let target = match kind {
                Kind::Directory => below,
                Kind::Symlink if follows => {
                    fs::real_path(&below).ok().flatten().filter(|real| is_kind(real, Kind::Directory))?
                }
                _ => return None,
            };
            Some((path.join(&name), target))
        });
        below.collect()
    }

    /// Notes the skill in a directory; returns whether there is one.
    fn file(&mut self, path: &Path, real: &Path) -> bool {
        let file = real.join(SKILL_FILE);
        let real_file = match fs::kind(&file) {
            Ok(Some(Kind::File)) => file,
            Ok(Some(Kind::Symlink)) if self.rules.walk.linked_files => fs::resolved(&file),
            _ => return false,
        };
        let plugin = match &self.dir.plugin {
            None if self.rules.walk.plugins_around => self.plugin(real),
            plugin => plugin.clone(),
        };
        if self.seen.insert(real_file.clone()) || !self.rules.walk.once {
            let file = FoundFile::in_dir(path.to_owned(), real_file, &self.root, self.dir.owner);
            self.found.push(FoundFile { plugin, at: self.found.len(), ..file });
        }
        true
    }

    /// Returns the name of the plugin that `dir` belongs to: that of the nearest manifest above it.
    fn plugin(&mut self, dir: &Path) -> Option<String> {
        if let Some(known) = self.plugins.get(dir) {
            return known.clone();
        }
        let own = Manifest::read(dir).map(|manifest| manifest.name);
        let plugin = own.or_else(|| self.plugin(dir.parent()?));
        self.plugins.insert(dir.to_owned(), plugin.clone());
        plugin
    }
}

/// Reports whether there is something of this kind at `path`. Links are not followed.
pub(super) fn is_kind(path: &Path, wanted: Kind) -> bool {
    matches!(fs::kind(path), Ok(Some(kind)) if kind == wanted)
}
