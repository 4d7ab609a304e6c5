//! Hints for commands that could not ask, or were answered with no.

use crate::advice::{Message, Opt, Verb, message};

/// Returns how to name the skills to remove.
pub fn name_what_goes() -> Message {
    let all = Verb::Remove.call().word("*");
    message!(Verb::List, " shows what is installed; ", all, " removes all of it")
}

/// Returns where to see what there is, if nothing is installed here.
pub fn installed_elsewhere() -> Message {
    message!(Verb::List, " shows what is installed, and where")
}

/// Returns how to update only some skills.
pub fn name_what_changes() -> Message {
    message!(Verb::Update.call().word("NAME"), " updates only the skills that it names")
}

/// Returns how to name one of `clients`, if none is on this machine.
pub fn name_a_client(clients: &str) -> Message {
    message!((Opt::Client, "NAME"), format_args!(" sets up one of {clients}"))
}

/// Returns how to pass a token.
pub fn pass_token() -> Message {
    message!("pass it on standard input with ", Opt::WithToken)
}

/// Returns how to make a client start the server.
pub fn set_up_client() -> Message {
    message!(Verb::Mcp.call().word("install"), " sets up a client")
}
