"""The examples of the documentation, run as they stand there."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from conftest import World
from support.documents import GUIDE, ROOT, examples

import skillpm

PYTHON = ROOT / "python"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel of what is tested. It is built before a test has a home of its own."""
    wheels = tmp_path_factory.mktemp("wheels")
    # The profile of published wheels takes minutes, and proves nothing more here.
    build = [sys.executable, "-m", "maturin", "build", "--profile", "dev", "--quiet", "--locked"]
    done = subprocess.run(
        [*build, "--out", str(wheels)],
        cwd=PYTHON,
        env={"CARGO_TARGET_DIR": str(ROOT / "target"), **os.environ},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    [wheel] = wheels.iterdir()
    return wheel


@pytest.mark.req("S0-US6.2", "S0-FR-046", "S0-FR-048", "S0-FR-049", "S0-SC-005", "S0-SC-008", "C31")
def test_the_example_of_the_readme_in_a_clean_environment(wheel: Path, world: World) -> None:
    """skillkit could be installed and not be imported."""
    assert "-cp39-abi3-" in wheel.name, "one wheel for Python 3.9 and all after it"
    environment = world.root / "environment"
    venv.create(environment, with_pip=True)
    python = str(environment / ("Scripts" if os.name == "nt" else "bin") / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--no-index", str(wheel)]
    subprocess.run(install, check=True)
    [example] = examples(PYTHON / "README.md")
    # Any directory will do, also one that is not where a repository starts.
    deep = world.project / "deep"
    deep.mkdir()
    ran = subprocess.run(
        [python, "-c", example], cwd=deep, capture_output=True, text=True, check=True
    )
    skill = deep / ".claude" / "skills" / "code-reviewer"
    assert ran.stdout == (
        "code-reviewer: Reviews code for defects. Use it before a commit.\n"
        f"Base directory for this skill: {skill}\n\n"
        "Review src/main.py. Name the file and the line of each defect.\n\n"
    )
    version = subprocess.run([python, "-m", "skillpm", "--version"], capture_output=True, text=True)
    assert version.stdout.startswith("skillpm ")
    licenses = list(environment.glob("**/skillpm_py-*.dist-info/licenses/LICENSE"))
    assert [license.read_text()[:11] for license in licenses] == ["MIT License"]


def test_the_examples_of_the_guide(
    world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # What the guide installs is on another machine.
    world.skill("pdf", "Read $ARGUMENTS.\n", source="vendor")
    world.write("vendor/pdf/forms.md", "About forms.\n")
    world.write(
        "vendor/pdf/scripts/check_fillable_fields.py",
        '"""Check whether a PDF has form fields."""\n\n'
        'import sys\n\nprint("Checked", sys.argv[1])\n',
    )
    install = skillpm.install

    def installed(source: str, skills: str) -> object:
        assert source == "anthropics/skills"
        outcome = install("./vendor", skills=skills)
        # There is a newer version, with a new command.
        world.skill("pdf", "Read $ARGUMENTS.\n\n```sh\npdftotext a.pdf\n```\n", source="vendor")
        return outcome

    monkeypatch.setattr(skillpm, "install", installed)
    found = examples(GUIDE / "python.md")
    assert len(found) == 14
    names: dict[str, object] = {"__name__": "guide"}
    for example in found:
        exec(compile(example, "docs/guide/python.md", "exec"), names)
    said = capsys.readouterr().out
    for expected in (
        "pdf Does pdf. Use it in tests.",
        "About forms.",
        "did you mean `pdf`?",
        "Check whether a PDF has form fields.",
        "Checked a.pdf",
        "pdf changed",
        "['pdf'] can do more than before",
        "pdf command SKILL.md 8 pdftotext a.pdf",
        "usage `spreadsheets` is not installed in this project",
        "'verb': 'list'",
        "['pdf'] True",
    ):
        assert expected in said


def test_the_examples_that_a_newcomer_meets_first(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.skill("pdf", "Fill in: $ARGUMENTS.\n")
    world.skill("code-reviewer", "Review $ARGUMENTS.\n")
    [quick_start] = examples(ROOT / "docs" / "start" / "build.md")
    names: dict[str, object] = {"__name__": "quick start"}
    exec(compile(quick_start, "docs/start/build.md", "exec"), names)
    assert "Does code-reviewer. Use it in tests." in str(names["system_prompt"])
    assert "Fill in: fill in form.pdf." in str(names["answer"])
    [readme] = examples(ROOT / "README.md")
    exec(compile(readme, "README.md", "exec"), {"__name__": "readme"})
    assert "Review src/main.py." in capsys.readouterr().out
