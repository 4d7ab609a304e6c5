//! What agents list, by the agents themselves: the programs of Codex, Gemini and OpenCode print their listings without a
//! network or a model, and what skillpm computes equals them, byte for byte.
//!
//! A new version of an agent that disagrees fails here with the first difference.

mod codex;
mod gemini;
mod layouts;
mod opencode;

use std::path::Path;

use skillpm_core::agents;
use skillpm_core::agents::listing::{Asked, Listing, listing};
use skillpm_sources::env::Env;
use skillpm_sources::settings::Settings;

use self::layouts::Layout;

/// What skillpm computes for `agent` in a layout, with `path` for programs.
fn computed(agent: &str, layout: &Layout, path: &Path) -> Listing {
    let vars = [("HOME", layout.home.as_os_str()), ("PATH", path.as_os_str())].into_iter();
    let vars = vars.chain(layout.env.iter().map(|(name, value)| (*name, value.as_ref())));
    let vars = vars.map(|(name, value)| (name.into(), value.to_owned()));
    let cwd = &layout.cwd;
    let env = Env { vars: vars.collect(), cwd: cwd.clone(), interactive: false };
    let settings = Settings::from_env(env).expect("settings");
    let agent = agents::find(agent).expect("an agent of the table");
    listing(agent, Asked { settings: &settings, project: cwd, window: None }).expect("an agent with rules")
}

/// The variables of a layout, as JSON.
fn env(layout: &Layout) -> serde_json::Value {
    layout
        .env
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone().into()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Where listings differ.
#[derive(Default)]
struct Differences {
    told: Vec<String>,
    /// The lines that were compared.
    lines: usize,
}

impl Differences {
    /// Compares what was `computed` for a layout with what the agent `printed`.
    fn compare(&mut self, number: usize, layout: &Layout, computed: &str, printed: &str) {
        self.lines += printed.lines().count();
        if computed == printed {
            return;
        }
        let dir = layout.home.parent().expect("a directory");
        std::fs::write(dir.join(format!("computed-{number}-{}", self.told.len())), computed)
            .expect("is written");
        std::fs::write(dir.join(format!("printed-{number}-{}", self.told.len())), printed)
            .expect("is written");
        let (ours, theirs): (Vec<_>, Vec<_>) = (computed.lines().collect(), printed.lines().collect());
        let at = (0..=ours.len()).find(|at| ours.get(*at) != theirs.get(*at)).unwrap_or_default();
        let line = |lines: &[&str]| lines.get(at).map_or("(end)", |line| line).to_owned();
        let (ours, theirs) = (line(&ours), line(&theirs));
        self.told.push(format!("layout {number}, line {}\n  computed: {ours}\n  printed:  {theirs}", at + 1));
    }

    /// Fails if something differs, and keeps the layouts then.
    fn end(self, agent: &str, root: tempfile::TempDir) {
        if !self.told.is_empty() {
            let kept = root.keep();
            panic!("{} listings differ, in {}:\n{}", self.told.len(), kept.display(), self.told.join("\n"));
        }
        assert!(self.lines > 1000, "{} lines", self.lines);
        println!("{agent}: {} lines are equal", self.lines);
    }
}
