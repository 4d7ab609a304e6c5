"""The workflows of GitHub build what `targets.tsv` says, with actions that cannot change."""

import dataclasses
import json
import re
import tomllib
import unittest

import dist as command
from distribution import licences, project

WORKFLOWS = project.ROOT / ".github/workflows"


class Workflows(unittest.TestCase):
    """The files in `.github/workflows`."""

    def test_the_matrix_of_the_release_is_the_table_of_targets(self) -> None:
        rows = json.loads(command.matrix())["include"]
        self.assertEqual(
            [row["triple"] for row in rows],
            [target.triple for target in project.targets()],
        )
        text = (WORKFLOWS / "release.yml").read_text()
        self.assertIn("matrix: ${{ fromJSON(needs.plan.outputs.matrix) }}", text)
        used = set(re.findall(r"matrix\.(\w+)", text))
        self.assertLessEqual(used, set(rows[0]))
        self.assertLessEqual({"triple", "runner"}, used)

    def test_the_steps_call_commands_that_exist(self) -> None:
        text = (WORKFLOWS / "release.yml").read_text()
        called = re.findall(r'packaging/dist\.py ([a-z-]+)((?: "\$\w+")?)', text)
        self.assertEqual(
            [name for name, _ in called],
            ["check-tag", "matrix", "build", "archive", "wheel", "packages", "notes"],
        )
        for name, argument in called:
            command.parser().parse_args([name, *([argument] if argument else [])])

    def test_the_site_is_published_with_the_names_that_begin_with_a_dot(self) -> None:
        text = (WORKFLOWS / "site.yml").read_text()
        self.assertIn("--directory target/site .\n", text)
        self.assertIn("path: artifact.tar\n", text)
        self.assertNotIn("uses: actions/upload-pages-artifact", text)

    def test_every_action_is_pinned_by_its_commit(self) -> None:
        for file in sorted(WORKFLOWS.iterdir()):
            for action in re.findall(r"uses: *(.*)", file.read_text()):
                self.assertRegex(action, r"^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", file.name)

    def test_nothing_that_a_workflow_is_passed_becomes_part_of_a_script(self) -> None:
        for file in sorted(WORKFLOWS.iterdir()):
            scripts = re.findall(r"run: \|\n((?: {10,}.*\n)+)|run: ([^|\n].*)", file.read_text())
            self.assertTrue(scripts)
            for script in scripts:
                self.assertNotIn("${{", "".join(script), file.name)


class Binstall(unittest.TestCase):
    """What `cargo binstall` reads in the manifests of both programs."""

    def test_it_finds_the_archive_of_each_target(self) -> None:
        manifests = {"skillpm": project.ROOT, "skillpm-registry": project.ROOT / "crates/skillpm-registry"}
        for program, directory in manifests.items():
            package = tomllib.loads((directory / "Cargo.toml").read_text())["package"]
            said = package["metadata"]["binstall"]
            for target in project.targets():
                settings = {**said, **said["overrides"].get(target.triple, {})}
                suffix = {"txz": ".tar.xz", "zip": ".zip"}[settings["pkg-fmt"]]
                values = {
                    "{ repo }": project.REPOSITORY,
                    "{ version }": project.version(),
                    "{ name }": package["name"],
                    "{ bin }": program,
                    "{ target }": target.triple,
                    "{ archive-suffix }": suffix,
                    "{ binary-ext }": ".exe" if target.npm_os == "win32" else "",
                }
                url, path = settings["pkg-url"], settings["bin-dir"]
                for key, value in values.items():
                    url, path = url.replace(key, value), path.replace(key, value)
                self.assertEqual(url, project.download(target.archive_name(program), project.version()))
                self.assertEqual(path, f"{target.archive_stem(program)}/{target.program(program)}")


class Licences(unittest.TestCase):
    """The page with the licences of all dependencies."""

    def test_the_page_is_what_the_lockfile_says(self) -> None:
        crates = licences.crates()
        self.assertGreater(len(crates), 100)
        message = "`make licences` writes the page again"
        self.assertEqual(
            licences.PAGE.read_text(encoding="utf-8"),
            licences.overview(crates),
            message,
        )

    def test_every_licence_has_its_text_once(self) -> None:
        crates = licences.crates()
        text = licences.texts(crates)
        for crate in crates:
            self.assertIn(f"{crate.name} {crate.version} ({crate.licence})", text)
        for _, component, licence, _ in licences.BUNDLED:
            self.assertRegex(text, rf"{re.escape(component)}, in .* \({re.escape(licence)}\)")

    def test_a_crate_without_a_text_gets_that_of_its_licence(self) -> None:
        crates = licences.crates()
        text = licences.texts(crates)
        for label, line in (
            ("governor", "Copyright (c) Andreas Fuchs"),
            ("priority-queue", "Mozilla Public License Version 2.0"),
            (licences.STANDARD_LIBRARY[0], "Copyright (c) The Rust Project Contributors"),
        ):
            below = text[text.index(f"\n{label}") :]
            self.assertIn(line, below[: below.index("\n" + "=" * 80, below.index("=" * 80) + 80)], label)
        other = dataclasses.replace(crates[0], licence="ISC", directory=project.PACKAGING / "tests")
        with self.assertRaisesRegex(project.DistError, "has no text of its licence, `ISC`"):
            licences.texts([other, *crates[1:]])

    def test_alternatives_are_shown_in_one_order(self) -> None:
        self.assertEqual(licences.normalise("Apache-2.0 / MIT"), "MIT OR Apache-2.0")
        self.assertEqual(licences.normalise("MIT/Apache-2.0"), "MIT OR Apache-2.0")
        self.assertEqual(licences.normalise("Apache-2.0 AND ISC"), "Apache-2.0 AND ISC")
