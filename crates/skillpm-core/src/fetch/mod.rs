//! How skills come: what may be asked and taken ([`policy_check`]), sources that are opened once ([`fetcher`]), which of
//! their skills are meant ([`select`]), and what they need ([`dependencies`]).

pub(crate) mod alarms;
pub(crate) mod ask;
pub(crate) mod dependencies;
pub(crate) mod fetcher;
pub(crate) mod incomplete;
pub(crate) mod names;
pub(crate) mod policy_check;
pub(crate) mod registries;
pub(crate) mod select;
pub(crate) mod typed_source;
pub(crate) mod update_rules;
