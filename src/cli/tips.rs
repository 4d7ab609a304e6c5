//! How often hints after a success are shown: each kind three times on a user's terminals. Who reads logs, and who sets
//! `[hints]`, gets them always or never.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use skillpm_format::advice::{Message, Part};
use skillpm_format::manifest::{self, HintSettings, Manifest};
use skillpm_sources::fs;
use skillpm_sources::settings::Settings;

/// How often a hint is shown.
const TIMES: u32 = 3;
/// The file with the numbers, in the directory of the user's state.
const FILE_NAME: &str = "hints.json";
/// The maximum size of the files that are read, in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// Where the user says when hints are shown, and where the numbers are.
#[derive(Debug, Clone, Default)]
pub(super) struct Tips {
    manifest: Option<PathBuf>,
    counts: Option<PathBuf>,
    wanted: OnceCell<HintSettings>,
}

impl Tips {
    pub(super) fn new(settings: &Settings) -> Self {
        let dirs = &settings.dirs;
        Self {
            manifest: dirs.config.as_ref().map(|dir| dir.join(manifest::FILE_NAME)),
            counts: dirs.state.as_ref().map(|dir| dir.join(FILE_NAME)),
            wanted: OnceCell::new(),
        }
    }

    /// Reports whether to show `hint`, and counts it if a person sees it (`is_live`). What cannot be counted is shown.
    pub(super) fn shows(&self, hint: &Message, is_live: bool) -> bool {
        match self.wanted.get_or_init(|| self.wanted()) {
            HintSettings::Always => true,
            HintSettings::Never => false,
            HintSettings::First => !is_live || self.counts(hint),
        }
    }

    /// Returns what the user's manifest says. One that cannot be read is reported by what needs it.
    fn wanted(&self) -> HintSettings {
        let text = self.manifest.as_ref().and_then(|file| fs::read_text(file, MAX_SIZE).ok().flatten());
        text.and_then(|text| Manifest::parse(&text).ok()).map(|manifest| manifest.hints()).unwrap_or_default()
    }

    fn counts(&self, hint: &Message) -> bool {
        let Some(file) = &self.counts else { return true };
        let text = fs::read_text(file, MAX_SIZE).ok().flatten();
        let mut counts: BTreeMap<String, u32> =
            text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let count = counts.entry(kind(hint)).or_default();
        if *count >= TIMES {
            return false;
        }
        *count += 1;
        if let (Ok(text), Some(dir)) = (serde_json::to_string_pretty(&counts), file.parent()) {
            // A home that cannot be written changes nothing but the number.
            let _ = fs::create_dir_all(dir).and_then(|()| fs::write_atomic(file, (text + "\n").as_bytes()));
        }
        true
    }
}

/// Returns what hints with the same advice have in common: the verbs and options in them, without names and paths.
fn kind(hint: &Message) -> String {
    let words = hint.parts().iter().filter_map(|part| match part {
        Part::Run(call) => Some(call.verb.name().to_owned()),
        Part::Option(option, _) => Some(format!("--{}", option.name())),
        Part::Text(_) | Part::Setting(..) => None,
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillpm_format::advice::{Opt, Verb, message};

    #[test]
    fn hints_of_one_kind_differ_in_values_only() {
        let invoke = |name: &str| message!(Verb::List, " shows, ", Verb::Invoke.call().word(name), " gives");
        assert_eq!(kind(&invoke("pdf")), kind(&invoke("docx")));
        assert_eq!(kind(&invoke("pdf")), "list invoke");
        assert_eq!(kind(&message!((Opt::Agent, "NAME"), " links")), "--agent");
    }
}
