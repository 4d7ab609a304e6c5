//! Planned edits of files, and how they are carried out: all of them, or after an error none.

use super::file::ClientFile;
use super::outcome::{ClientChange, Effect, McpChangeOutcome};
use super::receipt::Receipt;
use super::shape::is_ours;
use crate::advice::{Opt, message};
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::fs::{self, DirLock};
use crate::interop::servers::Shown;
use crate::ops::diff::unified;
use crate::settings::Settings;

/// A planned edit of one file.
pub(super) struct Edit {
    /// The file.
    pub(super) file: ClientFile,
    /// The key of the server.
    pub(super) name: String,
    /// The command of the entry; empty if it is another server's.
    pub(super) command: Vec<String>,
    /// Whether the entry of another server is replaced or removed.
    pub(super) takes_another: bool,
    /// The effect of the edit.
    pub(super) effect: Effect,
    /// The text of the file; `None` if the file does not exist.
    pub(super) old: Option<String>,
    /// The text that it gets; `None` if it is removed.
    pub(super) new: Option<String>,
    /// The receipt of the edit; `None` if an earlier one is removed.
    pub(super) receipt: Option<Receipt>,
    /// The number of directories above the file to remove if they are empty.
    pub(super) directories: usize,
}

/// Edits that were planned and are not carried out yet.
pub struct Planned<'c> {
    context: &'c Context,
    edits: Vec<Edit>,
    plan: Box<dyn Fn() -> Result<Vec<Edit>> + 'c>,
}

impl<'c> Planned<'c> {
    /// Returns the edits that `plan` makes of the files as they are.
    pub(super) fn new(context: &'c Context, plan: impl Fn() -> Result<Vec<Edit>> + 'c) -> Result<Self> {
        Ok(Self { context, edits: plan()?, plan: Box::new(plan) })
    }

    /// Returns what would be done.
    pub fn outcome(&self, dry_run: bool) -> McpChangeOutcome {
        let change = |edit: &Edit| ClientChange {
            client: edit.file.client.id.to_owned(),
            title: edit.file.client.name.to_owned(),
            scope: edit.file.scope,
            file: edit.file.path.display().to_string(),
            name: edit.name.clone(),
            command: edit.command.clone(),
            effect: edit.effect,
            diff: unified(
                &edit.file.path,
                &edit.shown(edit.old.as_deref()),
                &edit.shown(edit.new.as_deref()),
            ),
        };
        McpChangeOutcome { dry_run, clients: self.edits.iter().map(change).collect() }
    }

    /// Writes the files, as they are by then: another run may have changed them during a question. After an error, those
    /// that were written get their old text again, except one that another program has changed since: a hint of the error
    /// names it.
    ///
    /// # Errors
    ///
    /// Fails as planning does, if a file changes while it is written, and if one cannot be written.
    pub fn apply(mut self) -> Result<McpChangeOutcome> {
        let settings = &self.context.settings;
        // One run at a time: of two that read a file before either has written, one would take back what the other did.
        let _lock = match Receipt::directory(settings) {
            Some(dir) => Some(DirLock::acquire(&dir, || self.context.reporter.waiting_for_lock(&dir))?),
            None => None,
        };
        let shown = std::mem::replace(&mut self.edits, (self.plan)()?);
        let is_new = |edit: &&Edit| {
            edit.takes_another
                && !shown.iter().any(|old| old.takes_another && old.file.path == edit.file.path)
        };
        if let Some(edit) = self.edits.iter().find(is_new) {
            return Err(edit.changed());
        }
        let mut begun = Vec::new();
        for edit in self.edits.iter().filter(|edit| edit.old != edit.new) {
            let receipt = Receipt::read(settings, &edit.file.path, &edit.name);
            let error = match edit.write(edit.old.as_deref(), edit.new.as_deref()) {
                // The text of another program stays.
                Ok(false) => edit.changed(),
                written => {
                    begun.push((edit, receipt));
                    match written.and_then(|_| edit.note(settings, edit.receipt.as_ref())) {
                        Ok(()) => continue,
                        Err(error) => error,
                    }
                }
            };
            let undone = begun.iter().rev().map(|(edit, receipt)| edit.take_back(settings, receipt.as_ref()));
            return Err(undone
                .filter_map(Result::err)
                .fold(error, |error, left| error.hint(left.to_string())));
        }
        Ok(self.outcome(false))
    }
}

impl Edit {
    /// Returns `text`, a text of the file, as it is shown: with the values of this program's entry, and without those of
    /// others, which may be secrets.
    fn shown(&self, text: Option<&str>) -> String {
        let Some(text) = text else { return String::new() };
        let client = self.file.client;
        let servers = client.format.servers(text, client.servers).unwrap_or_default();
        let is_own = servers.get(&self.name).is_some_and(|entry| is_ours(&client.shape.command(entry)));
        let fields = client.shape.field_names();
        let own = is_own.then_some(Shown { name: &self.name, fields: &fields });
        client.format.redacted(text, client.servers, own)
    }

    /// Returns the error for a file that is not as it was read: clients write these files too, some of them often.
    fn changed(&self) -> Error {
        let message = format!("`{}` was changed by another program meanwhile", self.file.path.display());
        Error::new(ErrorKind::Findings, message).hint("run the command again")
    }

    /// Checks that the file may be written if the edit changes it: a rename replaces it in spite of its mode.
    pub(super) fn check_mode(&self) -> Result<()> {
        if self.old == self.new || !fs::is_read_only(&self.file.path) {
            return Ok(());
        }
        let message = format!("`{}` is read-only", self.file.path.display());
        Err(Error::new(ErrorKind::Findings, message).hint(message!(
            "something else may manage it: make it writable, or ",
            Opt::Force,
            " changes it nevertheless"
        )))
    }

    /// Keeps `receipt`, which says how the edit is undone later, or removes that of an earlier edit.
    fn note(&self, settings: &Settings, receipt: Option<&Receipt>) -> Result<()> {
        match receipt {
            Some(receipt) => receipt.write(settings, &self.file.path, &self.name),
            None => Receipt::remove(settings, &self.file.path, &self.name),
        }
    }

    /// Gives the file its old text again, and keeps the `receipt` that there was before.
    fn take_back(&self, settings: &Settings, receipt: Option<&Receipt>) -> Result<()> {
        // The edit itself may have failed: then the file still has its old text.
        if self.file.read(settings)? != self.old && !self.write(self.new.as_deref(), self.old.as_deref())? {
            let message = format!(
                "`{}` was changed by another program meanwhile and was not restored: check its entry `{}`",
                self.file.path.display(),
                self.name
            );
            return Err(Error::new(ErrorKind::Findings, message));
        }
        if self.old.is_none() {
            self.remove_directories(self.receipt.as_ref().map_or(0, |receipt| receipt.directories));
        }
        self.note(settings, receipt)
    }

    /// Makes `text` the content of the file, or removes it, if its content is still `old`. Returns whether it was.
    fn write(&self, old: Option<&str>, text: Option<&str>) -> Result<bool> {
        let path = &self.file.path;
        let old = old.map(str::as_bytes);
        let Some(text) = text else {
            if !fs::holds(path, old)? {
                return Ok(false);
            }
            fs::remove_if_there(path)?;
            self.remove_directories(self.directories);
            return Ok(true);
        };
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        Ok(fs::write_over(path, old, text.as_bytes())?)
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

    /// An answer may take long.
    #[test]
    fn what_another_program_wrote_since_it_was_planned_is_edited() {
        let world = World::new();
        let context = world.context();
        world.write(CURSOR, "{}");
        let planned = plan_install(&context, &request(&["cursor"])).expect("plans");
        world.write(CURSOR, "{\"mcpServers\": {\"b\": {}}, \"new\": 1}");
        let outcome = planned.apply().expect("installs");
        assert_eq!(outcome.clients[0].effect, Effect::Added);
        let planned = plan_install(&context, &request(&["cursor"])).expect("plans");
        let text = text(&planned.edits[0]).expect("there");
        assert!(text.contains("\"b\"") && text.contains("\"new\"") && text.contains("skillpm"), "{text}");
        // Another server that came meanwhile was not shown to those who were asked.
        let force = McpInstallRequest { force: true, ..request(&["zed"]) };
        let planned = plan_install(&context, &force).expect("plans");
        let zed = planned.edits[0].file.path.clone();
        fs::create_dir_all(zed.parent().expect("a directory")).expect("creates");
        let theirs = "{\"context_servers\": {\"skillpm\": {\"command\": \"x\"}}}";
        fs::write_atomic(&zed, theirs.as_bytes()).expect("writes");
        let error = planned.apply().expect_err("another server").to_string();
        assert!(error.contains("changed by another program"), "{error}");
        assert!(fs::holds(&zed, Some(theirs.as_bytes())).expect("reads"));
        plan_install(&context, &force).expect("plans").apply().expect("replaces");
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
            assert!(edit.write(edit.old.as_deref(), edit.new.as_deref()).expect("writes"));
            let theirs = format!("{}\n", text(edit).expect("there"));
            world.write(CURSOR, &theirs);
            assert!(!edit.write(edit.new.as_deref(), Some("{}")).expect("looks"), "it was changed");
            let left = edit.take_back(settings, None).expect_err("changed").to_string();
            assert!(left.contains("was not restored") && left.contains("mcp.json"), "{left}");
            assert_eq!(text(edit), Some(theirs.clone()));
            // A file that no other program changed is restored.
            assert!(edit.write(Some(&theirs), edit.new.as_deref()).expect("writes"));
            edit.take_back(settings, None).expect("restores");
            assert_eq!(text(edit).as_deref(), before);
        }
    }
}
