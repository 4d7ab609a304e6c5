//! Planned edits of files, and how they are carried out: all of them, or after an error none.

use super::file::ClientFile;
use super::outcome::{ClientChange, Effect, McpChangeOutcome};
use super::receipt::Receipt;
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::fs;
use crate::ops::diff::unified;
use crate::settings::Settings;

/// A planned edit of one file.
pub(super) struct Edit {
    /// The file.
    pub(super) file: ClientFile,
    /// The key of the server.
    pub(super) name: String,
    /// The command of the entry.
    pub(super) command: Vec<String>,
    /// What the edit does.
    pub(super) effect: Effect,
    /// The text of the file; `None` if the file does not exist.
    pub(super) old: Option<String>,
    /// The text that it gets; `None` if it is removed.
    pub(super) new: Option<String>,
    /// What is noted about the edit; `None` if an earlier note is removed.
    pub(super) receipt: Option<Receipt>,
    /// The number of directories above the file to remove if they are empty.
    pub(super) directories: usize,
}

/// Edits that were planned and are not carried out yet.
pub struct Planned<'c> {
    context: &'c Context,
    edits: Vec<Edit>,
}

impl<'c> Planned<'c> {
    pub(super) fn new(context: &'c Context, edits: Vec<Edit>) -> Self {
        Self { context, edits }
    }

    /// Returns what would be done.
    pub fn outcome(&self, dry_run: bool) -> McpChangeOutcome {
        let change = |edit: &Edit| {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            ClientChange {
                client: edit.file.client.id.to_owned(),
                title: edit.file.client.name.to_owned(),
                scope: edit.file.scope,
                file: edit.file.path.display().to_string(),
                name: edit.name.clone(),
                command: edit.command.clone(),
                effect: edit.effect,
                diff: unified(&edit.file.path, &text(&edit.old), &text(&edit.new)),
            }
        };
        McpChangeOutcome { dry_run, clients: self.edits.iter().map(change).collect() }
    }

    /// Writes the files. After an error, those that were written get their old text again, except one that another program
    /// has changed since: a hint of the error names it.
    ///
    /// # Errors
    ///
    /// Fails if a file has changed since it was read, and if one cannot be written.
    pub fn apply(self) -> Result<McpChangeOutcome> {
        let settings = &self.context.settings;
        let mut begun = Vec::new();
        for edit in self.edits.iter().filter(|edit| edit.old != edit.new) {
            let receipt = Receipt::read(settings, &edit.file.path, &edit.name);
            let done = edit.check(settings).and_then(|()| {
                begun.push((edit, receipt));
                edit.write(edit.new.as_deref())?;
                edit.note(settings, edit.receipt.as_ref())
            });
            if let Err(error) = done {
                let undone =
                    begun.iter().rev().map(|(edit, receipt)| edit.take_back(settings, receipt.as_ref()));
                return Err(undone
                    .filter_map(Result::err)
                    .fold(error, |error, left| error.hint(left.to_string())));
            }
        }
        Ok(self.outcome(false))
    }
}

impl Edit {
    /// Checks that the file is as it was read: clients write these files too, some of them often.
    fn check(&self, settings: &Settings) -> Result<()> {
        if self.file.read(settings)? == self.old {
            return Ok(());
        }
        let message = format!("`{}` was changed by another program meanwhile", self.file.path.display());
        Err(Error::new(ErrorKind::Findings, message).hint("run the command again"))
    }

    /// Keeps `receipt`, which says how the edit is undone later, or removes that of an earlier edit.
    fn note(&self, settings: &Settings, receipt: Option<&Receipt>) -> Result<()> {
        match receipt {
            Some(receipt) => receipt.write(settings, &self.file.path, &self.name),
            None => Receipt::remove(settings, &self.file.path, &self.name),
        }
    }

    /// Gives the file its old text again, and keeps the `receipt` that there was before.
    ///
    /// # Errors
    ///
    /// Fails if another program has changed the file since: what it wrote stays. Fails if the file cannot be written.
    fn take_back(&self, settings: &Settings, receipt: Option<&Receipt>) -> Result<()> {
        let text = self.file.read(settings)?;
        // The edit itself may have failed: then the file still has its old text.
        if text != self.old {
            if text != self.new {
                let message = format!(
                    "`{}` was changed by another program meanwhile and was not restored: check its entry `{}`",
                    self.file.path.display(),
                    self.name
                );
                return Err(Error::new(ErrorKind::Findings, message));
            }
            self.write(self.old.as_deref())?;
        }
        if self.old.is_none() {
            self.remove_directories(self.receipt.as_ref().map_or(0, |receipt| receipt.directories));
        }
        self.note(settings, receipt)
    }

    /// Makes `text` the content of the file, or removes it.
    fn write(&self, text: Option<&str>) -> Result<()> {
        let path = &self.file.path;
        let Some(text) = text else {
            fs::remove_if_there(path)?;
            self.remove_directories(self.directories);
            return Ok(());
        };
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        Ok(fs::write_atomic(path, text.as_bytes())?)
    }

    fn remove_directories(&self, number: usize) {
        let directories = self.file.path.ancestors().skip(1).take(number);
        let _ = directories.take_while(|directory| fs::remove_dir_if_empty(directory)).count();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;
    use crate::ops::mcp::{McpInstallRequest, McpUninstallRequest, plan_install, plan_uninstall};

    const CURSOR: &str = "../home/.cursor/mcp.json";

    fn request(clients: &[&str]) -> McpInstallRequest {
        let clients = clients.iter().map(|id| (*id).to_owned()).collect();
        McpInstallRequest { clients, ..McpInstallRequest::default() }
    }

    /// The path of the receipt for the server in the file of `edit`.
    fn receipt(context: &Context, edit: &Edit) -> std::path::PathBuf {
        Receipt::place(&context.settings, &edit.file.path, &edit.name).expect("a state directory")
    }

    fn text(edit: &Edit) -> Option<String> {
        let bytes = fs::read_capped(&edit.file.path, 1 << 20).expect("reads")?;
        Some(String::from_utf8(bytes).expect("UTF-8"))
    }

    #[test]
    fn after_an_error_files_and_receipts_are_as_they_were() {
        let world = World::new();
        let context = world.context();
        world.write(CURSOR, "{}");
        let planned = plan_install(&context, &request(&["cursor", "windsurf"])).expect("plans");
        let receipts = [0, 1].map(|at| receipt(&context, &planned.edits[at]));
        let file = planned.edits[1].file.path.clone();
        // A directory where the second receipt is to be.
        fs::create_dir_all(&receipts[1].join("x")).expect("creates");
        planned.apply().expect_err("no receipt");
        let planned = plan_install(&context, &request(&["cursor"])).expect("plans");
        assert_eq!(text(&planned.edits[0]).as_deref(), Some("{}"));
        assert!(fs::kind(&receipts[0]).expect("looks").is_none(), "no receipt is left");
        assert!(fs::kind(file.parent().expect("a directory")).expect("looks").is_none());
        // Nor does an uninstallation that fails lose what undoes it.
        fs::remove_tree(&receipts[1]).expect("removes");
        plan_install(&context, &request(&["cursor", "windsurf"])).expect("plans").apply().expect("installs");
        fs::remove_if_there(&receipts[1]).expect("removes");
        fs::create_dir_all(&receipts[1].join("x")).expect("creates");
        let uninstall = || plan_uninstall(&context, &McpUninstallRequest::default()).expect("plans");
        uninstall().apply().expect_err("the receipt stays");
        fs::remove_tree(&receipts[1]).expect("removes");
        let outcome = uninstall().apply().expect("uninstalls");
        assert_eq!(outcome.clients[0].effect, Effect::Restored);
    }

    #[test]
    fn what_another_program_wrote_meanwhile_stays() {
        let world = World::new();
        let context = world.context();
        let settings = &context.settings;
        for before in [None, Some("{}")] {
            if let Some(before) = before {
                world.write(CURSOR, before);
            }
            let planned = plan_install(&context, &request(&["cursor"])).expect("plans");
            let edit = &planned.edits[0];
            edit.write(edit.new.as_deref()).expect("writes");
            let theirs = format!("{}\n", text(edit).expect("there"));
            world.write(CURSOR, &theirs);
            let left = edit.take_back(settings, None).expect_err("changed").to_string();
            assert!(left.contains("was not restored") && left.contains("mcp.json"), "{left}");
            assert_eq!(text(edit), Some(theirs));
            // What nobody else touched is restored.
            edit.write(edit.new.as_deref()).expect("writes");
            edit.take_back(settings, None).expect("restores");
            assert_eq!(text(edit).as_deref(), before);
        }
    }
}
