//! Restricts what a script may access.
//!
//! Landlock and seccomp act on the thread that asks for them, and on all that it starts. So a thread
//! restricts itself and then starts the interpreter; the others of this process stay as they are.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, LandlockStatus, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
    path_beneath_rules,
};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_no_new_privs};

use super::filter;
use super::plan::{Done, Open, Plan};
use super::public::public;
use crate::fs;

/// The newest rights that were tested; a kernel that knows fewer grants those.
const RIGHTS: ABI = ABI::V6;
/// Before this version files can be emptied through a right to nothing.
const ENOUGH: ABI = ABI::V3;

/// The directory of the system's settings, which also contains keys and passwords.
const SETTINGS: &str = "/etc";

/// The directories of the system's programs and what they need.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    SETTINGS,
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/home/linuxbrew/.linuxbrew",
    "/snap",
    "/proc",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    // Where the addresses of name servers are.
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager/resolv.conf",
    "/dev/random",
    "/dev/urandom",
];

/// Devices that keep nothing.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];

/// A thread that is restricted, except for files.
pub(super) struct Prepared {
    /// The files that it may access so far, if it is to be kept from others.
    files: Option<(RulesetCreated, &'static [PathBuf])>,
    /// Whether its system calls are filtered.
    seccomp: bool,
}

/// Takes from this thread, and all that it starts, what `plan` keeps from every script.
///
/// # Errors
///
/// Fails with the error of the system if it supports the restrictions and refuses them.
pub(super) fn prepare(plan: Plan) -> Result<Prepared, String> {
    let mut files = None;
    if plan.files {
        drop_powers().map_err(|error| error.to_string())?;
        let system = system();
        files = Some((ruleset(system).map_err(|error| error.to_string())?, system));
    }
    let seccomp = filter::apply(plan)?;
    Ok(Prepared { files, seccomp })
}

impl Prepared {
    /// Keeps all files from this thread, and all that it starts, but those of the system and those that are `open`.
    ///
    /// # Errors
    ///
    /// Fails with the error of the system if it supports the restrictions and refuses them.
    pub(super) fn restrict(self, open: &Open) -> Result<Done, String> {
        let mut done = Done { seccomp: self.seccomp, ..Done::default() };
        if let Some((ruleset, system)) = self.files {
            let kept = keep_files(ruleset, system, open).map_err(|error| error.to_string())?;
            (done.landlock, done.whole) = kept;
        }
        Ok(done)
    }
}

/// Permanently gives up what root may do beyond files and users: with it, the other restrictions could be undone, the
/// memory of other processes read, and limits raised. Other users have no such powers.
fn drop_powers() -> Result<(), rustix::io::Errno> {
    // Otherwise the next program that root starts would have all of them again.
    set_no_new_privs(true)?;
    // Without `FSETID` a file that is written to loses the bits with which it would run as its owner.
    let kept = CapabilitySet::CHOWN
        | CapabilitySet::DAC_OVERRIDE
        | CapabilitySet::FOWNER
        | CapabilitySet::KILL
        | CapabilitySet::NET_BIND_SERVICE
        | CapabilitySet::SETGID
        | CapabilitySet::SETUID;
    let own = capabilities(None)?;
    let sets = CapabilitySets {
        effective: own.effective & kept,
        permitted: own.permitted & kept,
        inheritable: own.inheritable & kept,
    };
    set_capabilities(None, sets)
}

/// Returns what may be done to a file that may be read.
fn reading() -> BitFlags<AccessFs> {
    AccessFs::from_read(RIGHTS)
}

/// Returns what may be done to one that may be written: devices are not made, and none is asked to do what it likes.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::from_all(RIGHTS) & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev)
}

/// Rules by which the directories of the `system` may be read.
fn ruleset(system: &[PathBuf]) -> Result<RulesetCreated, RulesetError> {
    let settings = Path::new(SETTINGS);
    let in_pieces = !system.iter().any(|dir| dir == settings);
    let device: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(RIGHTS))?
        .scope(Scope::from_all(RIGHTS))?
        .create()?
        .add_rules(path_beneath_rules(system, reading()))?
        // The names of inaccessible entries there are still visible.
        .add_rules(path_beneath_rules(in_pieces.then_some(settings), AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(DEVICES, device))
}

fn keep_files(
    ruleset: RulesetCreated,
    system: &[PathBuf],
    open: &Open,
) -> Result<(Option<u32>, bool), RulesetError> {
    let mut read = topmost(open.read.clone());
    read.retain(|path| !system.iter().any(|dir| path.starts_with(dir)));
    let status = ruleset
        .add_rules(path_beneath_rules(read, reading()))?
        .add_rules(path_beneath_rules(&open.write, writing()))?
        .restrict_self()?;
    let (LandlockStatus::Available { effective_abi, .. }, true) =
        (status.landlock, status.ruleset != RulesetStatus::NotEnforced)
    else {
        return Ok((None, false));
    };
    Ok((Some(effective_abi as u32), effective_abi >= ENOUGH))
}

/// [`SYSTEM`] but for what are links into `/usr`, as `/bin` is on most systems, and for what of [`SETTINGS`] only root
/// may read. That seldom changes while a program runs.
fn system() -> &'static [PathBuf] {
    static TOPMOST: OnceLock<Vec<PathBuf>> = OnceLock::new();
    TOPMOST.get_or_init(|| {
        let is_root = rustix::process::geteuid().is_root();
        let of = |dir: &Path| match dir {
            dir if is_root && dir == Path::new(SETTINGS) => public(dir),
            dir => vec![dir.to_owned()],
        };
        SYSTEM.iter().map(Path::new).filter(|dir| !is_in_usr(dir)).flat_map(of).collect()
    })
}

/// Reports whether `dir` is a link into `/usr`, as `/bin` and others are on most systems.
fn is_in_usr(dir: &Path) -> bool {
    let is_link = matches!(fs::read_link(dir), Ok(Some(_)));
    is_link && matches!(fs::real_path(dir), Ok(Some(real)) if real.starts_with("/usr"))
}

/// `paths` but for those that are in another of them: most of a system is in `/usr`, and each rule takes time.
fn topmost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    // Each directory comes right before what is in it.
    paths.sort_unstable();
    paths.dedup_by(|next, kept| next.starts_with(kept));
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names alone make nothing lie in another.
    #[test]
    fn a_directory_in_another_is_not_opened_twice() {
        let paths = ["/b/c", "/b", "/b-c", "/a", "/b", "/b/d/e"].map(PathBuf::from).to_vec();
        assert_eq!(topmost(paths), ["/a", "/b", "/b-c"].map(PathBuf::from));
    }
}
