//! How a program was installed, judged by its path: each package manager keeps programs in places of its own.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::fs;

/// The page that lists all ways to install skillpm.
const INSTALL_PAGE: &str = "https://github.com/skillpm/skillpm/blob/main/docs/guide/install.md";
/// Where cargo notes what it installed, beside the directory `bin`.
const CARGO_RECORD: &str = ".crates.toml";
/// The maximum size of that file, in bytes.
const MAX_RECORD: u64 = 1 << 20;
/// Where dpkg keeps the list of the files of the package.
const DPKG_LIST: &str = "/var/lib/dpkg/info/skillpm.list";
/// Where rpm keeps its database, today and formerly.
const RPM: [&str; 2] = ["/usr/lib/sysimage/rpm", "/var/lib/rpm"];

/// How a program was installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Installed {
    /// The manager that installed it.
    pub by: Manager,
    /// The command that updates it; `None` if that is not known.
    pub update: Option<&'static str>,
    /// The page that describes how to update it otherwise.
    pub page: &'static str,
}

/// A manager of programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Manager {
    /// `cargo install` or `cargo binstall`.
    Cargo,
    /// Homebrew.
    Homebrew,
    /// npm, or a program that reads its packages.
    Npm,
    /// `pip`, `uv` or `pipx`: the program runs inside Python.
    Python,
    /// Scoop.
    Scoop,
    /// winget.
    Winget,
    /// dpkg, on Debian and its relatives.
    Dpkg,
    /// rpm, on Fedora and its relatives.
    Rpm,
    /// None: it was built from source.
    Source,
    /// Unknown, such as an installer script or a person.
    Unknown,
}

/// Parts of the paths of package managers, in lower case with `/`, and the commands that update from there.
const PLACES: &[(&str, Manager, Option<&str>)] = &[
    ("/cellar/skillpm/", Manager::Homebrew, Some("brew upgrade skillpm")),
    ("/node_modules/@skillpm/", Manager::Npm, Some("npm install --global @skillpm/cli@latest")),
    ("/scoop/apps/skillpm/", Manager::Scoop, Some("scoop update skillpm")),
    ("/microsoft/winget/", Manager::Winget, Some("winget upgrade skillpm.skillpm")),
    ("/target/debug/", Manager::Source, None),
    ("/target/quick/", Manager::Source, None),
    ("/target/release/", Manager::Source, None),
];

impl Installed {
    fn by(by: Manager, update: Option<&'static str>) -> Self {
        Self { by, update, page: INSTALL_PAGE }
    }

    /// Returns the answer for a program whose path is not known.
    pub(super) fn unknown() -> Self {
        Self::by(Manager::Unknown, None)
    }
}

/// Returns how the program at `path`, an absolute one without links, was installed.
pub(super) fn detect(path: &Path) -> Installed {
    let text = path.to_string_lossy().replace('\\', "/").to_lowercase();
    let name = text.rsplit('/').next().unwrap_or_default();
    if name.starts_with("python") || name.starts_with("pypy") {
        return Installed::by(Manager::Python, Some("uv tool upgrade skillpm-py"));
    }
    if let Some((_, by, update)) = PLACES.iter().find(|(part, ..)| text.contains(part)) {
        return Installed::by(*by, *update);
    }
    if is_recorded_by_cargo(path) {
        return Installed::by(Manager::Cargo, Some("cargo install --locked skillpm"));
    }
    let is_of_system = text == "/usr/bin/skillpm";
    let is_there = |path: &&str| fs::kind(Path::new(path)).is_ok_and(|kind| kind.is_some());
    if is_of_system && is_there(&DPKG_LIST) {
        return Installed::by(Manager::Dpkg, None);
    }
    if is_of_system && RPM.iter().any(is_there) {
        return Installed::by(Manager::Rpm, None);
    }
    Installed::unknown()
}

/// Reports whether cargo noted that it installed the program at `path`.
fn is_recorded_by_cargo(path: &Path) -> bool {
    let record = path.parent().and_then(Path::parent).map(|root| root.join(CARGO_RECORD));
    let text = record.and_then(|record| fs::read_text(&record, MAX_RECORD).ok().flatten());
    text.is_some_and(|text| text.lines().any(|line| line.starts_with("\"skillpm ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_package_manager_is_known_by_its_places() {
        let cases = [
            ("/opt/homebrew/Cellar/skillpm/0.1.0/bin/skillpm", Manager::Homebrew),
            ("/home/linuxbrew/.linuxbrew/Cellar/skillpm/0.1.0/bin/skillpm", Manager::Homebrew),
            ("/usr/lib/node_modules/@skillpm/cli-linux-x64/bin/skillpm", Manager::Npm),
            (r"C:\Users\ada\scoop\apps\skillpm\current\skillpm.exe", Manager::Scoop),
            (r"C:\Users\ada\AppData\Local\Microsoft\WinGet\Packages\skillpm\skillpm.exe", Manager::Winget),
            ("/home/ada/.local/share/uv/tools/skillpm-py/bin/python3.13", Manager::Python),
            ("/home/ada/skillpm/target/release/skillpm", Manager::Source),
            ("/home/ada/.local/bin/skillpm", Manager::Unknown),
        ];
        for (path, by) in cases {
            assert_eq!(detect(Path::new(path)).by, by, "{path}");
        }
    }

    #[test]
    fn cargo_notes_what_it_installs() {
        let root = tempfile::tempdir().expect("a directory");
        let program = root.path().join("bin/skillpm");
        let record = |line: &str| {
            fs::write_atomic(&root.path().join(CARGO_RECORD), format!("[v1]\n{line}\n").as_bytes())
                .expect("writes");
            detect(&program)
        };
        assert_eq!(detect(&program).by, Manager::Unknown);
        assert_eq!(record("\"ripgrep 15.0.0 (registry+x)\" = [\"rg\"]").by, Manager::Unknown);
        let installed = record("\"skillpm 0.1.0 (registry+x)\" = [\"skillpm\"]");
        assert_eq!(
            (installed.by, installed.update),
            (Manager::Cargo, Some("cargo install --locked skillpm"))
        );
    }
}
