//! The context of every verb: the settings, and where to report and ask.

use std::sync::Arc;

use crate::reporter::{Interact, Reporter, Silent};
use crate::settings::Settings;

/// The surroundings of a verb.
#[derive(Clone)]
pub struct Context {
    /// Where and how it runs.
    pub settings: Settings,
    /// Hears of progress.
    pub reporter: Arc<dyn Reporter>,
    /// Answers questions.
    pub interact: Arc<dyn Interact>,
}

impl Context {
    /// Returns a context that neither reports nor asks.
    pub fn silent(settings: Settings) -> Self {
        Self { settings, reporter: Arc::new(Silent), interact: Arc::new(Silent) }
    }
}
