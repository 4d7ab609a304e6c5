"""What `make dist` makes: complete, the same each time, and with the right digests."""

import contextlib
import hashlib
import json
import re
import subprocess
import tempfile
from pathlib import Path

import dist as command
from distribution import archive, project, templates

from .support import Release, make_release


def digests(directory: Path) -> dict[str, str]:
    """Return the digest of each file below a directory."""
    return {
        str(file.relative_to(directory)): archive.sha256(file)
        for file in sorted(directory.rglob("*"))
        if file.is_file()
    }


class Made(Release):
    """The files of a release of stand-ins."""

    def test_nothing_is_left_out_and_all_of_it_is_the_same_a_second_time(self) -> None:
        self.needs("dpkg-deb", "rpmbuild")
        self.assertEqual(self.left_out, [])
        # The same directory: the stand-in names it.
        with (
            tempfile.TemporaryDirectory() as directory,
            contextlib.redirect_stdout(None),
        ):
            make_release(Path(directory) / "dist")
            self.assertEqual(digests(Path(directory) / "dist"), digests(self.dist))

    def test_checksums_cover_every_file_beside_them(self) -> None:
        sums = dict(reversed(line.split("  ")) for line in (self.dist / "SHA256SUMS").read_text().splitlines())
        names = {file.name for file in self.dist.iterdir() if file.is_file()}
        self.assertEqual(
            set(sums),
            {name for name in names if not name.endswith(".sha256")} - {"SHA256SUMS"},
        )
        for name, digest in sums.items():
            self.assertEqual(
                hashlib.sha256((self.dist / name).read_bytes()).hexdigest(),
                digest,
                name,
            )
        for target in project.targets():
            name = target.archive_name("skillpm")
            self.assertEqual((self.dist / f"{name}.sha256").read_text(), f"{sums[name]}  {name}\n")

    def test_an_archive_brings_completions_pages_licences_and_the_bill_of_materials(
        self,
    ) -> None:
        target = project.target("x86_64-unknown-linux-gnu")
        files = archive.unpack(self.dist / target.archive_name("skillpm"))
        stem = target.archive_stem("skillpm")
        for path in (
            "skillpm",
            "LICENSE",
            "README.md",
            "CHANGELOG.md",
            "THIRD-PARTY-LICENSES.txt",
            "BUILD.txt",
            "skillpm.cdx.json",
            "completions/skillpm.bash",
            "completions/_skillpm",
            "completions/skillpm.fish",
            "completions/_skillpm.ps1",
            "completions/skillpm.elv",
            "man/skillpm.1",
            "man/skillpm-install.1",
        ):
            self.assertTrue(files[f"{stem}/{path}"], path)
        self.assertTrue(all(path.startswith(f"{stem}/") for path in files.paths()))

    def test_an_archive_names_what_it_was_built_with(self) -> None:
        target = project.target("x86_64-unknown-linux-gnu")
        files = archive.unpack(self.dist / target.archive_name("skillpm"))
        lines = files[f"{target.archive_stem('skillpm')}/BUILD.txt"].decode().splitlines()
        self.assertEqual([lines[0], lines[2]], [f"skillpm {project.version()}", "rustc 1.0.0"])
        self.assertRegex(lines[1], r"^commit [0-9a-f]{40}$")

    def test_the_manifests_are_a_file_of_the_release_with_a_checksum(self) -> None:
        file = self.dist / command.MANIFESTS
        made = {path for path, _, _ in archive.unpack(file).items()}
        written = {
            path.relative_to(self.dist).as_posix() for path in (self.dist / "manifests").rglob("*") if path.is_file()
        }
        self.assertEqual(made, written)
        self.assertIn("manifests/homebrew/skillpm.rb", made)
        self.assertIn(f"{archive.sha256(file)}  {file.name}\n", (self.dist / "SHA256SUMS").read_text())
        # What the workflow adds to a release is in the directory that is attested.
        workflow = (project.ROOT / ".github/workflows/release.yml").read_text()
        self.assertIn("target/dist/*\n", workflow)
        added = workflow.partition("xargs -0 gh release create")[2].partition("\n\n")[0]
        self.assertNotRegex(added, r"target/(?!notes\.md)")

    def test_the_scoop_manifest_has_the_digest_of_each_windows_archive(self) -> None:
        manifest = json.loads((self.dist / "manifests/scoop/skillpm.json").read_text())
        wanted = {target.scoop: target for target in project.targets() if target.scoop}
        self.assertEqual(set(manifest["architecture"]), set(wanted))
        self.assertEqual(set(manifest["autoupdate"]["architecture"]), set(wanted))
        for name, target in wanted.items():
            entry = manifest["architecture"][name]
            self.assert_download(target, entry["url"], entry["hash"])
            self.assertEqual(entry["extract_dir"], target.archive_stem("skillpm"))
            later = manifest["autoupdate"]["architecture"][name]["url"]
            self.assertEqual(later.replace("$version", project.version()), entry["url"])

    def test_the_winget_manifests_have_the_digest_of_each_windows_archive(self) -> None:
        directory = self.dist / "manifests/winget"
        text = (directory / "skillpm.skillpm.installer.yaml").read_text()
        entries = re.findall(
            r"- Architecture: (\S+)\n  NestedInstallerFiles:\n  - RelativeFilePath: (\S+)\n"
            r"    PortableCommandAlias: skillpm\n  InstallerUrl: (\S+)\n  InstallerSha256: (\S+)\n",
            text,
        )
        wanted = {target.winget: target for target in project.targets() if target.winget}
        self.assertEqual({entry[0] for entry in entries}, set(wanted))
        for architecture, path, url, digest in entries:
            target = wanted[architecture]
            self.assert_download(target, url, digest)
            self.assertEqual(path, f"{target.archive_stem('skillpm')}\\skillpm.exe")
        for file in directory.iterdir():
            self.assertIn(f"PackageVersion: {project.version()}\n", file.read_text(), file.name)

    def test_the_formula_has_the_digest_of_each_archive_for_macos_and_glibc(
        self,
    ) -> None:
        text = (self.dist / "manifests/homebrew/skillpm.rb").read_text()
        pairs = re.findall(r'url "([^"]+)"\n +sha256 "([^"]+)"', text)
        wanted = [target for target in project.targets() if target.triple.endswith(("-darwin", "-linux-gnu"))]
        self.assertEqual(len(pairs), len(wanted))
        for target in wanted:
            (digest,) = [digest for url, digest in pairs if target.archive_name("skillpm") in url]
            self.assert_download(
                target,
                project.download(target.archive_name("skillpm"), project.version()),
                digest,
            )
        files = archive.unpack(self.dist / "skillpm-x86_64-apple-darwin.tar.xz")
        for path in re.findall(r'(completions/[^"]+)"', text):
            self.assertIn(f"skillpm-x86_64-apple-darwin/{path}", files)

    def assert_download(self, target: project.Target, url: str, digest: str) -> None:
        """Check an address and a digest against the archive of a target."""
        name = target.archive_name("skillpm")
        self.assertEqual(url, f"{project.REPOSITORY}/releases/download/v{project.version()}/{name}")
        self.assertEqual(digest, archive.sha256(self.dist / name))

    def test_the_hooks_for_pre_commit_install_the_released_program(self) -> None:
        directory = self.dist / "manifests/pre-commit"
        hooks = (directory / ".pre-commit-hooks.yaml").read_text()
        self.assertEqual(hooks.count("language: python"), hooks.count("- id:"))
        self.assertNotIn("language: rust", hooks)
        self.assertIn(
            f'"skillpm-py=={project.version()}"',
            (directory / "pyproject.toml").read_text(),
        )

    def test_the_debian_package_puts_each_file_where_debian_looks_for_it(self) -> None:
        self.needs("dpkg-deb")
        package = self.dist / f"skillpm_{project.version()}-1_amd64.deb"
        listing = subprocess.run(
            ["dpkg-deb", "--contents", str(package)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        self.assertRegex(listing, r"-rwxr-xr-x root/root +\d+ .* \./usr/bin/skillpm\n")
        for path in (
            "usr/share/bash-completion/completions/skillpm",
            "usr/share/zsh/vendor-completions/_skillpm",
            "usr/share/fish/vendor_completions.d/skillpm.fish",
            "usr/share/man/man1/skillpm-install.1.gz",
            "usr/share/doc/skillpm/copyright",
        ):
            self.assertIn(f"./{path}\n", listing)

    def test_the_rpm_puts_each_file_where_fedora_looks_for_it(self) -> None:
        self.needs("rpmbuild", "rpm")
        package = self.dist / f"skillpm-{project.version()}-1.x86_64.rpm"
        listing = subprocess.run(["rpm", "-qplv", str(package)], check=True, capture_output=True, text=True).stdout
        self.assertRegex(listing, r"-rwxr-xr-x +1 root +root .* /usr/bin/skillpm\n")
        self.assertIn(" /usr/share/zsh/site-functions/_skillpm\n", listing)
        self.assertIn(" /usr/share/man/man1/skillpm-install.1.gz\n", listing)


class Unfinished(Release):
    """A machine that builds only some targets makes what these suffice for."""

    def test_a_manifest_whose_archives_are_missing_is_left_out_with_a_word(
        self,
    ) -> None:
        with tempfile.TemporaryDirectory() as directory:
            dist = Path(directory)
            name = "skillpm-x86_64-unknown-linux-gnu.tar.xz"
            (dist / name).write_bytes((self.dist / name).read_bytes())
            left_out = command.make_packages(dist)
            self.assertIn(
                "homebrew: `skillpm-aarch64-apple-darwin.tar.xz` was not made here",
                left_out,
            )
            self.assertFalse((dist / "manifests/homebrew").exists())
            self.assertTrue((dist / "npm" / f"skillpm-cli-linux-x64-{project.version()}.tgz").is_file())

    def test_an_unknown_placeholder_is_an_error(self) -> None:
        for text in ("@VERSON@", "@SHA255 skillpm.zip@"):
            with self.assertRaises(project.DistError):
                templates.fill(text, "0.1.0", self.dist)
        self.assertEqual(templates.fill("a@b.c @VERSION@", "0.1.0", self.dist), "a@b.c 0.1.0")

    def test_a_tag_has_to_name_the_version(self) -> None:
        with self.assertRaisesRegex(project.DistError, "is expected"):
            command.check_tag("v99.0.0")

    def test_the_notes_of_a_release_are_its_section_of_the_changelog(self) -> None:
        text = "# Changelog\n\n## [0.2.0] - 2027-01-01\n\n- new\n\n## [0.1.0]\n\n- old\n"
        self.assertEqual(command.changes("0.2.0", text), "- new\n")
        self.assertEqual(command.changes("0.1.0", text), "- old\n")
        with self.assertRaisesRegex(project.DistError, "has no section"):
            command.changes("0.3.0", text)

    def test_a_version_that_has_no_date_is_not_released(self) -> None:
        text = "## [0.2.0] - 2027-01-01\n\n- new\n\n## [0.1.0] - not released yet\n\n- old\n"
        command.check_changelog("0.2.0", text)
        with self.assertRaisesRegex(project.DistError, "has no date"):
            command.check_changelog("0.1.0", text)

    def test_the_notes_of_a_release_link_to_the_files_of_its_tag(self) -> None:
        links = re.findall(r"\]\(([^)]*)\)", command.notes())
        self.assertTrue(links)
        for link in links:
            self.assertRegex(link, "^https://")
            if path := re.match(rf"{project.REPOSITORY}/blob/v{project.version()}/([^#]+)", link):
                self.assertTrue((project.ROOT / path[1]).is_file(), link)
