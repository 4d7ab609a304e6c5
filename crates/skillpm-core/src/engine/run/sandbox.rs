//! Restricts the access of a script.
//!
//! Landlock and seccomp act on the thread that requests them, and on everything that it starts. So a thread restricts
//! itself and then starts the interpreter; the other threads of this process stay unrestricted.

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

/// The newest version of Landlock that was tested; a kernel that supports fewer rights enforces those.
const RIGHTS: ABI = ABI::V6;
/// The first version that restricts truncating files.
const ENOUGH: ABI = ABI::V3;

/// The directory of the system's configuration, which also contains keys and passwords.
const SETTINGS: &str = "/etc";

/// The directories of the system's programs and the files that they need.
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
    // The configuration of name servers.
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager/resolv.conf",
    "/dev/random",
    "/dev/urandom",
];

/// Devices that store nothing.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];

/// The state of a thread that is restricted, except for files.
pub(super) struct Prepared {
    /// The rules for the files that it may access, if access to files is to be restricted.
    files: Option<(RulesetCreated, &'static [PathBuf])>,
    /// Whether its system calls are filtered.
    seccomp: bool,
}

/// Applies to this thread, and everything that it starts, the restrictions of `plan` that are the same for every
/// script.
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
    /// Restricts this thread, and everything that it starts, to the files of the system and those that are `open`.
    pub(super) fn restrict(self, open: &Open) -> Result<Done, String> {
        let mut done = Done { seccomp: self.seccomp, ..Done::default() };
        if let Some((ruleset, system)) = self.files {
            let kept = keep_files(ruleset, system, open).map_err(|error| error.to_string())?;
            (done.landlock, done.whole) = kept;
        }
        Ok(done)
    }
}

/// Permanently drops the capabilities of root except those for files and users. With them, a script could undo the
/// other restrictions, read the memory of other processes, and raise limits. Other users have no such capabilities.
fn drop_powers() -> Result<(), rustix::io::Errno> {
    // Otherwise the next program that root starts would regain all of them.
    set_no_new_privs(true)?;
    // Without `FSETID`, a file that is written to loses its setuid and setgid bits.
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

/// Returns the rights to a readable path.
fn reading() -> BitFlags<AccessFs> {
    AccessFs::from_read(RIGHTS)
}

/// Returns the rights to a writable path: all but creating devices and sending them arbitrary requests.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::from_all(RIGHTS) & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev)
}

/// Returns the rules for reading the directories of the `system`.
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

/// Returns the directories of [`SYSTEM`] except links into `/usr`, as `/bin` is on most systems, and except parts of
/// [`SETTINGS`] that only root may read. This is computed once, because it seldom changes.
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

/// Removes from `paths` those that are below another one: most of a system is in `/usr`, and each rule takes time.
fn topmost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    // Sorting puts each directory before its contents.
    paths.sort_unstable();
    paths.dedup_by(|next, kept| next.starts_with(kept));
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A common prefix alone does not put one path below another.
    #[test]
    fn a_directory_in_another_is_not_opened_twice() {
        let paths = ["/b/c", "/b", "/b-c", "/a", "/b", "/b/d/e"].map(PathBuf::from).to_vec();
        assert_eq!(topmost(paths), ["/a", "/b", "/b-c"].map(PathBuf::from));
    }
}
