"""The npm packages, installed by npm from a registry on this machine."""

import base64
import hashlib
import http.server
import json
import os
import signal
import subprocess
import tarfile
import tempfile
from pathlib import Path
from urllib.parse import unquote

from distribution import npm, project

from .support import Release, serve


def manifest(package: Path) -> dict[str, object]:
    """Return the `package.json` of a package."""
    with tarfile.open(package) as source:
        return json.load(source.extractfile("package/package.json"))  # type: ignore[arg-type]


class Registry(http.server.BaseHTTPRequestHandler):
    """The part of an npm registry that an installation needs."""

    def __init__(self, *arguments: object, packages: Path) -> None:
        """Serve the packages of a directory."""
        self.packages = packages
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Answer with a package, or with what is known of one."""
        path = unquote(self.path).lstrip("/")
        if path.endswith(".tgz"):
            return self.answer((self.packages / Path(path).name).read_bytes())
        file = self.packages / npm.file_name(path, project.version())
        if not file.is_file():
            return self.send_error(404)
        described = manifest(file)
        digest = base64.b64encode(hashlib.sha512(file.read_bytes()).digest()).decode()
        address = f"http://{self.headers['Host']}/{file.name}"
        described["dist"] = {"tarball": address, "integrity": f"sha512-{digest}"}
        about = {
            "name": path,
            "dist-tags": {"latest": project.version()},
            "versions": {project.version(): described},
        }
        return self.answer(json.dumps(about).encode())

    def answer(self, data: bytes) -> None:
        """Send bytes."""
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class Packages(Release):
    """`@skillpm/cli` and the packages with the programs."""

    def test_each_platform_has_a_package_that_npm_installs_only_there(self) -> None:
        command = manifest(self.dist / "npm" / npm.file_name("@skillpm/cli", project.version()))
        wanted = {npm.package_name(target): project.version() for target in project.targets()}
        self.assertEqual(command["optionalDependencies"], wanted)
        self.assertNotIn("scripts", command)
        limits = set()
        for target in project.targets():
            package = manifest(self.dist / "npm" / npm.file_name(npm.package_name(target), project.version()))
            self.assertNotIn("scripts", package)
            limits.add(json.dumps([package["os"], package["cpu"], package.get("libc")]))
        self.assertEqual(len(limits), len(wanted))

    def test_npm_installs_the_program_and_the_command_ends_as_it_ends(self) -> None:
        self.needs("node", "npm")
        with (
            tempfile.TemporaryDirectory() as directory,
            serve(Registry, packages=self.dist / "npm") as address,
        ):
            environment = {
                "HOME": directory,
                "PATH": os.environ["PATH"],
                "npm_config_registry": address,
            }
            environment |= {
                "npm_config_cache": f"{directory}/cache",
                "npm_config_update_notifier": "false",
            }
            install = [
                "npm",
                "install",
                "--no-audit",
                "--no-fund",
                "--loglevel=error",
                "--prefix",
                directory,
            ]
            done = subprocess.run(
                [*install, "@skillpm/cli"],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            scope = Path(directory) / "node_modules/@skillpm"
            installed = sorted(path.name for path in scope.iterdir())
            self.assertEqual(
                len(installed),
                2,
                f"one program, not those of other platforms: {installed}",
            )

            command = f"{directory}/node_modules/.bin/skillpm"
            done = subprocess.run(
                [command, "--version"],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout.startswith(f"skillpm {project.version()}"), done.stdout)
            self.assertEqual(
                subprocess.run([command, "end", "5"], env=environment, check=False).returncode,
                5,
            )

            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                waiting = subprocess.Popen(
                    [command, "wait"],
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    text=True,
                )
                self.assertEqual(waiting.stdout.readline(), "ready\n")  # type: ignore[union-attr]
                waiting.send_signal(number)
                # It waits for the end of the output: the program ended too, not only the command.
                rest, _ = waiting.communicate(timeout=600)
                self.assertEqual((rest, waiting.returncode), ("", -number))

            program = scope / next(name for name in installed if name != "cli")
            program.rename(f"{directory}/gone")
            done = subprocess.run([command], env=environment, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"the package `@skillpm/{program.name}` is not installed", done.stderr)
