//! The variables that a caller passes to a script.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use crate::advice::{Opt, message};
use crate::context::Context;
use crate::error::{Error, Result};

/// Returns the variables that `wanted` names, each as `NAME` or `NAME=VALUE`, with their values.
pub(super) fn variables(context: &Context, wanted: &[OsString]) -> Result<BTreeMap<OsString, OsString>> {
    let one = |wanted: &OsString| {
        if let Some((name, value)) = assignment(wanted) {
            // The value may be a secret, and a model may see the error.
            let has_nul = |text: &OsString| text.as_encoded_bytes().contains(&0);
            if name.is_empty() || has_nul(&name) {
                return Err(Error::usage(format!("`{}=` names no variable", name.display())).hint(message!(
                    (Opt::Env, "NAME"),
                    " passes a variable through, ",
                    (Opt::Env, "NAME=VALUE"),
                    " sets one"
                )));
            }
            if has_nul(&value) {
                let shown = name.display();
                return Err(Error::usage(format!("the value of the variable `{shown}` has a NUL in it"))
                    .hint("variables cannot hold that: pass it in a file, or on standard input"));
            }
            return Ok((name, value));
        }
        match context.settings.env.vars.get::<OsStr>(wanted) {
            Some(value) => Ok((wanted.clone(), value.clone())),
            None => Err(Error::usage(format!("the variable `{}` is not set", wanted.display()))
                .hint(message!("set it first, or give it a value with ", (Opt::Env, "NAME=VALUE")))),
        }
    };
    wanted.iter().map(one).collect()
}

/// Returns the name and the value of `text`, which is `NAME=VALUE`. A value can be any bytes that the system knows.
#[cfg(unix)]
fn assignment(text: &OsStr) -> Option<(OsString, OsString)> {
    use std::os::unix::ffi::OsStrExt as _;

    let bytes = text.as_bytes();
    let (name, value) = bytes.split_at(memchr::memchr(b'=', bytes)?);
    let [name, value] = [name, &value[1..]].map(|bytes| OsStr::from_bytes(bytes).to_owned());
    Some((name, value))
}

/// Returns the name and the value of `text`, which is `NAME=VALUE`.
#[cfg(not(unix))]
fn assignment(text: &OsStr) -> Option<(OsString, OsString)> {
    let (name, value) = text.to_str()?.split_once('=')?;
    Some((name.into(), value.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;

    /// The value of a variable is in no error: it may be a secret, and a model may read the error.
    #[test]
    fn variables_that_cannot_be_set() {
        let context = World::new().context();
        let told = |text: &str| variables(&context, &[text.into()]).expect_err(text).to_string();
        assert_eq!(told("=s3cret"), "`=` names no variable");
        assert_eq!(told("TOKEN=s3cret\0"), "the value of the variable `TOKEN` has a NUL in it");
        assert!(!told("TO\0KEN=s3cret").contains("s3cret"));
        let set = variables(&context, &["A=B=C".into()]).expect("a variable");
        assert_eq!(set.get(OsStr::new("A")), Some(&OsString::from("B=C")));
    }
}
