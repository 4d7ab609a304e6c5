//! The agents that a person uses, which is a matter of their own and not of a project: `use` under `[agents]` in the user's
//! manifest. Without it, the agents that are found on the machine count.

use std::collections::BTreeSet;

use super::Scope;
use super::files::read_manifest_at;
use crate::agents::{self, Agent};
use crate::manifest::FILE_NAME;
use crate::settings::Settings;

/// The agents that a person uses.
#[derive(Debug, Clone, Default)]
pub(crate) struct InUse {
    /// Their ids; `None` if the person never said.
    said: Option<BTreeSet<&'static str>>,
}

impl InUse {
    /// Reads what the user's manifest says. A manifest that cannot be read says nothing: whoever needs it reports that.
    pub(crate) fn read(settings: &Settings) -> Self {
        let file = settings.dirs.config.as_ref().map(|dir| dir.join(FILE_NAME));
        let manifest = file.and_then(|file| read_manifest_at(&file).ok());
        let said = manifest.and_then(|(manifest, _)| manifest.agents().used.clone());
        let known = |said: &str| agents::find(said).ok().map(|agent| agent.id);
        Self { said: said.map(|said| said.iter().filter_map(|id| known(id)).collect()) }
    }

    /// Returns the ids of the agents that the person named; `None` if they never said.
    pub(crate) fn said(&self) -> Option<&BTreeSet<&'static str>> {
        self.said.as_ref()
    }

    /// Sets what the person says.
    pub(crate) fn say(&mut self, said: Option<BTreeSet<&'static str>>) {
        self.said = said;
    }

    /// Reports whether `agent` counts in `scope`: the person uses it, or it was found and they never said.
    pub(crate) fn has(&self, settings: &Settings, scope: &Scope, agent: &Agent) -> bool {
        match &self.said {
            Some(said) => said.contains(agent.id),
            None => agent.detected(settings, &scope.root, &|path| scope.is_used(path)),
        }
    }
}
