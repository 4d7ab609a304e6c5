"""The installer for Linux and macOS, run against a web server on this machine."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from distribution import project

from .support import Quiet, Release, serve

# What the installer calls.
TOOLS = (
    "sh",
    *("cat", "chmod", "cp", "cut", "dirname", "head", "mkdir", "mktemp", "mv", "rm", "uname"),
    *("curl", "getconf", "sha256sum", "tar", "xz"),
)


class Installer(Release):
    """`install.sh`, in a home of its own."""

    def setUp(self) -> None:
        """Make a home, and serve the release."""
        directory = self.enterContext(tempfile.TemporaryDirectory())
        self.home = Path(directory) / "home"
        self.temporary = Path(directory) / "tmp"
        for path in (self.home, self.temporary):
            path.mkdir()
        self.address = self.enterContext(serve(Quiet, directory=str(self.dist)))

    def install(
        self, *arguments: str, shell: str = "sh", path: str = "", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the installer as a stranger does, and return what it said."""
        environment = {
            "HOME": str(self.home),
            "PATH": path or os.environ["PATH"],
            "TMPDIR": str(self.temporary),
            "SKILLPM_DOWNLOAD_URL": self.address,
            **variables,
        }
        done = subprocess.run(
            [
                shutil.which(shell) or shell,
                str(project.PACKAGING / "install.sh"),
                *arguments,
            ],
            env={key: value for key, value in environment.items() if value},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(list(self.temporary.iterdir()), [], "temporary files are removed")
        return done

    def tools(self, *without: str, **instead: str) -> str:
        """Return a directory for PATH with the tools of the installer but some, and scripts instead of others."""
        directory = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for tool in TOOLS:
            found = shutil.which(tool)
            if tool not in without and tool not in instead and found:
                (directory / tool).symlink_to(found)
        for tool, script in instead.items():
            (directory / tool).write_text(f"#!/bin/sh\n{script}\n")
            (directory / tool).chmod(0o755)
        return str(directory)

    def assert_refused(self, done: subprocess.CompletedProcess[str], text: str) -> None:
        """Check that the installer failed with a message and a hint, and left nothing."""
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(text, done.stderr)
        self.assertIn("hint: ", done.stderr)
        self.assertEqual(list(self.home.rglob("*")), [])

    def test_it_installs_under_every_shell(self) -> None:
        for shell in ("dash", "bash", "sh"):
            if shutil.which(shell) is None:
                continue
            shutil.rmtree(self.home / ".local", ignore_errors=True)
            done = self.install(shell=shell)
            self.assertEqual((done.returncode, done.stderr), (0, ""), shell)
            self.assertIn(
                f"installed {self.home}/.local/bin/skillpm: skillpm {project.version()}",
                done.stdout,
            )
            self.assertIn(f'export PATH="{self.home}/.local/bin:$PATH"', done.stdout)
            self.assertEqual(
                [file.name for file in (self.home / ".local/bin").iterdir()],
                ["skillpm"],
            )

    def test_a_directory_on_path_needs_no_hint_and_an_older_program_is_replaced(
        self,
    ) -> None:
        directory = self.home / "with space"
        directory.mkdir()
        (directory / "skillpm").write_text("old")
        variables = {
            "SKILLPM_INSTALL_DIR": str(directory),
            "path": f"{directory}:{os.environ['PATH']}",
        }
        done = self.install(**variables)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("hint", done.stdout)
        self.assertNotEqual((directory / "skillpm").read_text(), "old")
        self.assertEqual([file.name for file in directory.iterdir()], ["skillpm"])

    def test_wget_and_openssl_do_as_well(self) -> None:
        self.needs("wget", "openssl")
        tools = self.tools(
            "curl",
            "sha256sum",
            wget=f'exec {shutil.which("wget")} "$@"',
            openssl=f'exec {shutil.which("openssl")} "$@"',
        )
        done = self.install(path=tools)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_other_bytes_than_the_published_ones_are_refused(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            mirror = Path(directory)
            for file in self.dist.glob("skillpm-x86_64-unknown-linux-gnu*"):
                shutil.copy(file, mirror)
            with (mirror / "skillpm-x86_64-unknown-linux-gnu.tar.xz").open("ab") as file:
                file.write(b"more")
            with serve(Quiet, directory=directory) as address:
                done = self.install(path=self.tools(uname=LINUX), SKILLPM_DOWNLOAD_URL=address)
        self.assert_refused(done, "nothing was installed")

    def test_a_version_that_does_not_exist_is_named(self) -> None:
        done = self.install(SKILLPM_DOWNLOAD_URL=f"{self.address}/missing")
        self.assert_refused(done, f"could not download {self.address}/missing/skillpm-")

    def test_each_tool_that_is_missing_is_named(self) -> None:
        self.assert_refused(self.install(path=self.tools("xz")), "`xz` was not found")
        other = self.tools(
            "xz", tar=f'[ "$1" != --version ] && PATH={os.environ["PATH"]} exec {shutil.which("tar")} "$@"'
        )
        self.assertEqual(self.install(path=other).returncode, 0, "the tar of macOS needs no xz")
        shutil.rmtree(self.home / ".local")
        self.assert_refused(self.install(path=self.tools("curl")), "neither `curl` nor `wget` was found")
        self.assert_refused(self.install(path=self.tools("sha256sum")), "none of `sha256sum`")

    def test_machines_without_a_program_are_refused(self) -> None:
        for system, machine, text in (
            ("FreeBSD", "x86_64", "system `FreeBSD`"),
            ("Linux", "riscv64", "processor `riscv64`"),
            ("MINGW64_NT-10.0", "x86_64", "for Linux and macOS"),
        ):
            uname = f'case "$1" in -s) echo {system} ;; -m) echo {machine} ;; esac'
            self.assert_refused(self.install(path=self.tools(uname=uname)), text)
        done = self.install(path=self.tools(uname=LINUX, getconf="echo 32"))
        self.assert_refused(done, "32 bits")

    def test_each_machine_gets_its_program(self) -> None:
        no_libc = 'case "$1" in LONG_BIT) echo 64 ;; *) exit 1 ;; esac'
        for system, machine, libc, triple in (
            ("Linux", "x86_64", "glibc 2.17", "x86_64-unknown-linux-gnu"),
            ("Linux", "x86_64", "glibc 2.12", "x86_64-unknown-linux-musl"),
            ("Linux", "aarch64", "", "aarch64-unknown-linux-musl"),
            ("Linux", "arm64", "glibc 2.40", "aarch64-unknown-linux-gnu"),
            ("Darwin", "arm64", "", "aarch64-apple-darwin"),
            ("Darwin", "x86_64", "", "x86_64-apple-darwin"),
        ):
            project.target(triple)
            getconf = f'case "$1" in LONG_BIT) echo 64 ;; *) echo {libc} ;; esac' if libc else no_libc
            uname = f'case "$1" in -s) echo {system} ;; -m) echo {machine} ;; esac'
            done = self.install(path=self.tools(uname=uname, getconf=getconf))
            self.assertEqual((done.returncode, done.stderr), (0, ""), triple)
            self.assertIn(f"/skillpm-{triple}.tar.xz\n", done.stdout)
        # A shell under Rosetta.
        tools = self.tools(
            uname='case "$1" in -s) echo Darwin ;; -m) echo x86_64 ;; esac',
            sysctl="echo 1",
        )
        self.assertIn("/skillpm-aarch64-apple-darwin.tar.xz\n", self.install(path=tools).stdout)

    def test_a_program_that_does_not_run_is_not_installed(self) -> None:
        broken = self.tools(
            uname=LINUX,
            tar='it="$4/skillpm-x86_64-unknown-linux-gnu" && mkdir -p "$it" && : > "$it/skillpm"',
        )
        self.assert_refused(self.install(path=broken), "does not run on this machine")

    def test_contradictions_and_unknown_arguments_are_refused(self) -> None:
        self.assert_refused(self.install(SKILLPM_VERSION="0.1.0"), "both set")
        self.assert_refused(self.install("--directory"), "unknown argument `--directory`")

    def test_help_names_every_variable(self) -> None:
        done = self.install("--help")
        self.assertEqual(done.returncode, 0)
        text = (project.PACKAGING / "install.sh").read_text()
        for variable in (
            "SKILLPM_INSTALL_DIR",
            "SKILLPM_VERSION",
            "SKILLPM_DOWNLOAD_URL",
        ):
            self.assertIn(variable, done.stdout)
            self.assertIn(f"${{{variable}:-}}", text)

    def test_half_of_the_script_does_nothing(self) -> None:
        script = (project.PACKAGING / "install.sh").read_text()
        half = script[: script.rindex("main ")]
        done = subprocess.run(
            ["sh"],
            input=half,
            env={"HOME": str(self.home), "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(list(self.home.rglob("*")), [])

    def test_the_installer_for_windows_knows_the_same_targets(self) -> None:
        script = (project.PACKAGING / "install.ps1").read_text()
        machines = {target.triple.split("-")[0] for target in project.targets() if target.npm_os == "win32"}
        for machine in machines:
            self.assertIn(f"'{machine}'", script)
        self.assertIn('"skillpm-$machine-pc-windows-msvc"', script)


LINUX = 'case "$1" in -s) echo Linux ;; -m) echo x86_64 ;; esac'
