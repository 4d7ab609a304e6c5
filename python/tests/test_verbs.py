"""What is done with skills without a manager: they are validated and installed."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys

import pytest
from conftest import World, names

import skillpm
from skillpm import ConfigurationError, SkillManager


def test_validation(world: World) -> None:
    directory = world.skill("pdf")
    assert skillpm.validate(directory) == []
    file = world.write(".claude/skills/word/SKILL.md", "---\nname: Word\ndescription: d\n---\n")
    found = skillpm.validate(world.project / ".claude" / "skills")
    assert {told.code for told in found} >= {"name-alphabet"}
    assert {told.path for told in found} == {file}
    [told] = [told for told in found if told.code == "name-alphabet"]
    assert (told.severity, told.line, told.column) == ("error", 2, 7)
    with pytest.raises(ConfigurationError, match="profile"):
        skillpm.validate(directory, profile="perfect")
    with pytest.raises(skillpm.SkillpmError):
        skillpm.validate(world.project / "nowhere")


def test_installation(world: World) -> None:
    world.skill("pdf", source="vendor")
    world.skill("word", source="vendor")
    with pytest.raises(ConfigurationError):
        skillpm.install("./vendor")
    planned = skillpm.install("./vendor", skills="pdf", dry_run=True)
    assert [(skill["name"], skill["change"]) for skill in planned] == [("pdf", "added")]
    assert names(SkillManager()) == []
    [installed] = skillpm.install("./vendor", skills=["pdf"])
    assert str(installed["digest"]).startswith("sha256:")
    assert names(SkillManager()) == ["pdf"]
    shutil.rmtree(world.project / ".agents")
    assert [skill["name"] for skill in skillpm.install(frozen=True, offline=True)] == ["pdf"]
    assert names(SkillManager()) == ["pdf"]
    with pytest.raises(ConfigurationError, match="scope"):
        skillpm.install("./vendor", scope="machine")  # type: ignore[arg-type]


@pytest.mark.req("C32")
def test_what_skills_need_comes_along(world: World) -> None:
    world.skill("base", source="vendor")
    world.write(
        "vendor/report/SKILL.md",
        "---\nname: report\ndescription: d\nmetadata:\n  skill-dependencies: base\n---\n",
    )
    alone = skillpm.install("./vendor", skills="report", no_deps=True, dry_run=True)
    assert [skill["name"] for skill in alone] == ["report"]
    both = skillpm.install("./vendor", skills="report")
    assert [(skill["name"], skill["needed_by"]) for skill in both] == [
        ("base", ["report"]),
        ("report", []),
    ]
    assert names(SkillManager()) == ["base", "report"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize(
    "source", ["http://{}/pdf.zip", "git+http://{}/pdf.git"], ids=["web", "git"]
)
def test_a_signal_ends_an_installation_that_waits(world: World, source: str) -> None:
    """The server takes the request and never answers: `KeyboardInterrupt` came after a minute."""
    code = (
        "import signal, sys, skillpm\n"
        # As at a terminal: what a shell starts in the background ignores the signal.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "try:\n    skillpm.install(sys.argv[1])\n"
        # The process is alive and goes on.
        "except KeyboardInterrupt:\n    print('stopped', flush=True)\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        host = subprocess.Popen(
            [sys.executable, "-c", code, source.format(address)],
            stdout=subprocess.PIPE,
            # Whatever waits of it, a minute is how long it waited.
            env={**os.environ, "SKILLPM_HTTP_TIMEOUT": "600", "NO_PROXY": "127.0.0.1"},
        )
        try:
            server.settimeout(60)
            waiting, _ = server.accept()
            with waiting:
                waiting.recv(1)
                os.kill(host.pid, signal.SIGINT)
                said, _ = host.communicate(timeout=30)
                # Nobody holds the connection any more: git has ended too.
                waiting.settimeout(30)
                while waiting.recv(1 << 16):
                    pass
        finally:
            host.kill()
            host.wait()
    assert said == b"stopped\n"
    assert host.returncode == 0
    assert not (world.project / "skillpm.toml").exists()
