//! Filters the system calls of a script.
//!
//! A filter decides about each call by its number and, if that is not enough, by its arguments. It cannot read the
//! memory that an argument points to. There is a filter for each error code; the kernel runs all of them and takes the
//! strictest answer.

mod calls;

use std::collections::BTreeMap;
use std::error::Error;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter, sock_filter,
};

use self::calls::{
    ABSENT, Calls, NO_SOCKETS, NO_UNIX_SOCKETS, ONLY_UNIX_SOCKETS, RING, SANDBOX, UNSUPPORTED,
};
use super::plan::Plan;

/// A condition on the argument of a call with this index. For all but addresses, the kernel reads only the low half of
/// the argument.
#[derive(Debug, Clone, Copy)]
enum Condition {
    /// The argument is this value.
    Is(u8, u32),
    /// The argument is another value.
    IsNot(u8, u32),
    /// The argument has all of these bits.
    Has(u8, u32),
    /// The argument has none of these bits.
    Lacks(u8, u32),
    /// The argument is not null.
    IsAddress(u8),
}

impl TryFrom<Condition> for SeccompCondition {
    type Error = BackendError;

    fn try_from(condition: Condition) -> Result<Self, BackendError> {
        use SeccompCmpArgLen::{Dword, Qword};
        use SeccompCmpOp::{Eq, MaskedEq, Ne};

        let (arg, length, operator, value) = match condition {
            Condition::Is(arg, value) => (arg, Dword, Eq, value),
            Condition::IsNot(arg, value) => (arg, Dword, Ne, value),
            Condition::Has(arg, bits) => (arg, Dword, MaskedEq(bits.into()), bits),
            Condition::Lacks(arg, bits) => (arg, Dword, MaskedEq(bits.into()), 0),
            Condition::IsAddress(arg) => (arg, Qword, Ne, 0),
        };
        Self::new(arg, length, operator, value.into())
    }
}

/// Installs the filters for this thread and everything that it starts. Returns whether that was possible.
pub(super) fn apply(plan: Plan) -> Result<bool, String> {
    let Some(filters) = filters(plan).map_err(|error| error.to_string())? else { return Ok(false) };
    match filters.iter().try_for_each(|filter| apply_filter(filter)) {
        Ok(()) => Ok(true),
        Err(error) if plan.no_network => Err(error.to_string()),
        Err(_) => Ok(false),
    }
}

/// Returns the filters for `plan`; `None` if it forbids nothing, or if the call numbers of this machine are unknown and
/// the filters are not required.
fn filters(plan: Plan) -> Result<Option<Vec<BpfProgram>>, Box<dyn Error>> {
    if !(plan.keep_mark || plan.no_network || plan.no_unix_sockets) {
        return Ok(None);
    }
    let arch = match TargetArch::try_from(std::env::consts::ARCH) {
        Ok(arch) => arch,
        Err(_) if !plan.no_network => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let sandbox = if plan.keep_mark { SANDBOX } else { &[] };
    let sockets = match (plan.no_network, plan.no_unix_sockets) {
        (true, true) => NO_SOCKETS,
        (true, false) => ONLY_UNIX_SOCKETS,
        (false, true) => NO_UNIX_SOCKETS,
        (false, false) => &[],
    };
    let denied = [&[RING][..], sandbox, sockets].concat();
    let mut filters = vec![no_x32(), compile(&denied, libc::EPERM, arch)?];
    if plan.keep_mark {
        filters.push(compile(ABSENT, libc::ENOSYS, arch)?);
        filters.push(compile(UNSUPPORTED, libc::EOPNOTSUPP, arch)?);
    }
    Ok(Some(filters))
}

/// Returns a filter in which `calls` fail with `error` and all others are allowed. Other machines than `arch` have
/// different call numbers, so their programs are killed.
fn compile(calls: &[Calls], error: i32, arch: TargetArch) -> Result<BpfProgram, BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for (numbers, lists) in calls {
        for number in *numbers {
            let rules = rules.entry(*number).or_default();
            for list in *lists {
                let conditions = list.iter().map(|condition| (*condition).try_into());
                rules.push(SeccompRule::new(conditions.collect::<Result<_, _>>()?)?);
            }
        }
    }
    let answer = SeccompAction::Errno(error.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, answer, arch)?.try_into()
}

/// The first call number of the x32 interface, which offers the same calls under other numbers.
const X32: u32 = 0x4000_0000;

/// Returns a filter in which the calls of the x32 interface fail as if they did not exist, as on most kernels. The
/// compiler only compares single numbers.
fn no_x32() -> BpfProgram {
    const LOAD: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    let step = |code, k, jt, jf| sock_filter { code, jt, jf, k };
    vec![
        // The number of the call.
        step(LOAD, 0, 0, 0),
        // This is the number of a call that a debugger has already answered.
        step(JUMP_IF_EQUAL, u32::MAX, 1, 0),
        step(JUMP_IF_AT_LEAST, X32, 1, 0),
        step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0),
        step(RETURN, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs(), 0, 0),
    ]
}

#[cfg(test)]
mod tests;
