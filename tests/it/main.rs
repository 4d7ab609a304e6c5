//! End-to-end tests: the built program and the library against real files, archives and a local
//! server.

#![expect(
    clippy::disallowed_methods,
    reason = "tests arrange files and start the program; the rooms of `src` are not theirs"
)]
#![expect(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a test that skips itself says so, and one that counts tells its counts"
)]
#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "what helps a test may panic as the test itself may"
)]

pub mod support;

mod agents;
mod agents_team;
mod agents_used;
#[cfg(unix)]
mod agreement;
mod alias;
mod architecture;
mod audit;
mod cache;
mod catalog;
mod changes;
mod ci;
mod consent;
mod copies;
mod create;
mod dependencies;
mod diff;
mod disable;
mod disk;
mod doctor;
mod editable;
mod engine_levels;
mod faults;
mod fmt;
mod foreign;
mod fronts;
mod git;
mod github;
mod habits;
mod hints;
mod http;
mod http2;
mod http_upload;
mod index;
mod install;
#[cfg(unix)]
mod interpreters;
mod interrupt;
mod leftovers;
mod link;
mod loading;
mod login;
mod lsp;
mod mcp;
mod mcp_clients;
mod mcp_program;
mod mcp_source;
mod merge;
mod merge_ends;
mod mirror;
mod newest;
mod oci;
mod outdated;
mod own_source;
mod pack;
mod packages;
mod pending;
mod permit;
mod pictures;
mod placed;
mod plugins;
mod policy;
mod prerequisites;
mod profiles;
mod prompt;
mod publish;
mod publish_github;
mod publish_server;
mod real;
mod refusals;
mod registries;
mod registry;
mod repository;
mod requirements;
mod review;
mod rights;
mod run;
mod samples;
mod schemas;
mod scopes;
mod search;
mod self_check;
mod shells;
mod show;
mod sight;
mod site;
mod sources;
#[cfg(unix)]
mod stranger;
mod test_verb;
mod threats;
mod together;
mod together_all;
mod tools;
mod tree;
mod undo;
mod update;
mod update_edits;
mod updates;
mod usage;
mod validate;
mod validate_ci;
mod verify;
mod web;
mod web_nginx;
mod web_sites;
mod why;
