//! Planned edits of files, and how they are carried out: all of them, or after an error none.

use super::file::ClientFile;
use super::outcome::{ClientChange, Effect, McpChangeOutcome};
use super::receipt::Receipt;
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::fs;
use crate::ops::diff::unified;

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

    /// Writes the files. After an error, those that were written get their old text again.
    ///
    /// # Errors
    ///
    /// Fails if a file has changed since it was read, and if one cannot be written.
    pub fn apply(self) -> Result<McpChangeOutcome> {
        let edits: Vec<_> = self.edits.iter().filter(|edit| edit.old != edit.new).collect();
        for edit in &edits {
            edit.check(self.context)?;
        }
        for (at, edit) in edits.iter().enumerate() {
            if let Err(error) = edit.write(edit.new.as_deref()) {
                take_back(&edits[..at])?;
                return Err(error);
            }
        }
        if let Err(error) = edits.iter().try_for_each(|edit| edit.note(self.context)) {
            take_back(&edits)?;
            return Err(error);
        }
        Ok(self.outcome(false))
    }
}

/// Gives the files of `edits` their old text again.
fn take_back(edits: &[&Edit]) -> Result<()> {
    edits.iter().rev().try_for_each(|edit| {
        edit.write(edit.old.as_deref())?;
        if edit.old.is_none() {
            edit.remove_directories(edit.receipt.as_ref().map_or(0, |receipt| receipt.directories));
        }
        Ok(())
    })
}

impl Edit {
    /// Checks that the file is as it was read: clients write these files too, some of them often.
    fn check(&self, context: &Context) -> Result<()> {
        if self.file.read(&context.settings)? == self.old {
            return Ok(());
        }
        let message = format!("`{}` was changed by another program meanwhile", self.file.path.display());
        Err(Error::new(ErrorKind::Findings, message).hint("run the command again"))
    }

    /// Notes how the edit is taken back, or removes the note of an earlier one.
    fn note(&self, context: &Context) -> Result<()> {
        match &self.receipt {
            Some(receipt) => receipt.write(&context.settings, &self.file.path, &self.name),
            None => Receipt::remove(&context.settings, &self.file.path, &self.name),
        }
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
