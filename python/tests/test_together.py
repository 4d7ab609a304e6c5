"""Many at the same time: threads, event loops, signals, panics."""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import World

from skillpm import InternalError, SkillManager, SkillNotFoundError, SkillpmError, _native


def write(world: World, version: int, source: str = ".claude/skills") -> None:
    for number in range(8):
        name = f"skill-{number:02}"
        world.skill(
            name,
            f"{version} $ARGUMENTS {version}",
            description=f"{name} {version}",
            fields=f'metadata:\n  version: "{version}"\n',
            source=source,
        )


@pytest.fixture
def _quick_switches() -> Iterator[None]:
    """Let threads take turns more often: the one that writes waits for all others."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.0001)
    yield
    sys.setswitchinterval(before)


@pytest.mark.req("S3-NFR-6")
@pytest.mark.usefixtures("_quick_switches")
@pytest.mark.parametrize("freshness", ["stat", "session"])
def test_threads_see_whole_views_during_rescans(world: World, freshness: str) -> None:
    """A store that was half filled during a rescan showed itself to readers."""
    write(world, 0)
    manager = SkillManager(freshness=freshness)  # type: ignore[arg-type]
    expected = [f"skill-{number:02}" for number in range(8)]
    done = threading.Event()

    def read(thread: int) -> int:
        rounds = 0
        while not done.is_set() or rounds == 0:
            skills = manager.list_skills()
            assert [skill.name for skill in skills] == expected
            for skill in skills:
                assert skill.description == f"{skill.name} {skill.version}"
            text = manager.invoke_skill(f"skill-{thread % 8:02}", f"<{thread}>")
            body = text.split("\n\n", 1)[1].split(" ")
            assert body[0] == body[2], "one version of the instructions"
            assert body[1] == f"<{thread}>"
            rounds += 1
        return rounds

    with ThreadPoolExecutor(33) as pool:
        readers = [pool.submit(read, thread) for thread in range(32)]
        try:
            for version in range(1, 6 if freshness == "stat" else 3):
                write(world, version, "new")
                # Each file is replaced as editors do it, by a rename.
                for new in sorted(world.project.glob("new/*/SKILL.md")):
                    new.replace(world.project / ".claude/skills" / new.parent.name / new.name)
                assert len(manager.discover()) == 8
        finally:
            done.set()
        assert all(reader.result() > 0 for reader in readers)


@pytest.fixture
def _no_switches() -> Iterator[None]:
    """Let no thread run but where the one that runs lets go of the lock by itself."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(3600)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_no_switches")
def test_other_threads_go_on_during_a_call(world: World) -> None:
    write(world, 0)
    manager = SkillManager()
    begun, went_on = threading.Event(), []

    def other() -> None:
        begun.wait()
        went_on.append(True)

    thread = threading.Thread(target=other)
    thread.start()
    begun.set()
    # The system may wake the other thread late.
    for _ in range(10_000):
        manager.discover()
        if went_on:
            break
    assert went_on
    thread.join()


@pytest.mark.req("C30")
def test_a_thousand_at_once_in_an_event_loop(world: World) -> None:
    write(world, 7)

    async def all_of_them() -> list[str]:
        manager = SkillManager()
        assert [skill.name for skill in await manager.adiscover()][:1] == ["skill-00"]
        calls = (manager.ainvoke_skill(f"skill-{n % 8:02}", f"<{n}>") for n in range(1000))
        return await asyncio.gather(*calls)

    texts = asyncio.run(all_of_them())
    for number, text in enumerate(texts):
        assert text.endswith(f"skill-{number % 8:02}\n\n7 <{number}> 7")


@pytest.mark.req("S0-K3", "C30")
def test_every_question_has_a_twin_for_event_loops(world: World) -> None:
    """There are no modes: skillkit refused one after the other."""
    world.skill("pdf", "Do $ARGUMENTS.")
    world.write(".claude/skills/pdf/a.md", "a")
    manager = SkillManager()

    async def ask() -> None:
        assert await manager.alist_skills() == manager.list_skills()
        assert await manager.aget_skill("pdf") == manager.get_skill("pdf")
        assert await manager.aload_skill("pdf") == manager.load_skill("pdf")
        assert await manager.ainvoke_skill("pdf", "x") == manager.invoke_skill("pdf", "x")
        assert await manager.aread_skill_file("pdf", "a.md") == "a"
        assert await manager.aread_skill_bytes("pdf", "a.md") == b"a"
        assert await manager.aget_skill_tools("pdf") == []
        assert await manager.acatalog("plain") == manager.catalog("plain")
        await manager.ainvalidate()
        with pytest.raises(SkillNotFoundError):
            await manager.aget_skill("word")

    asyncio.run(ask())
    questions = {name for name in dir(SkillManager) if not name.startswith(("_", "a"))}
    questions -= {"diagnostics", "shadowed", "sources"}
    assert {f"a{name}" for name in questions} <= set(dir(SkillManager))
    for name in questions:
        of_both = [getattr(SkillManager, each) for each in (name, f"a{name}")]
        one, other = (inspect.signature(each).parameters for each in of_both)
        assert one == other, name


def forked(work: Callable[[], bool]) -> int:
    """Return 0 where a process that is forked now does some work and finds it right."""
    with warnings.catch_warnings():
        # Newer versions of Python warn of threads.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        right = False
        try:
            # One that hangs is ended, whatever it waits for.
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(20)
            right = work()
        finally:
            os._exit(0 if right else 1)
    return os.waitpid(child, 0)[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_process_is_forked_during_a_call(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a thread holds that is not in the new process is held for ever."""
    for number in range(200):
        world.skill(f"skill-{number:03}", source="many")
    world.skill("of-the-project")
    manager = SkillManager(["many"], project=True)
    expected = manager.list_skills()
    assert len(expected) == 201
    sources = manager.sources
    begun, done = threading.Event(), threading.Event()

    def ask() -> None:
        while not done.is_set():
            manager.list_skills()
            begun.set()

    def goes_on() -> bool:
        def again() -> bool:
            return manager.list_skills() == expected

        return again() and manager.sources == sources and forked(again) == 0

    # What is relative is so to where the manager was made.
    monkeypatch.chdir(world.root)
    thread = threading.Thread(target=ask)
    thread.start()
    try:
        begun.wait()
        # One in ten would be right by chance.
        for _ in range(8):
            assert forked(goes_on) == 0
    finally:
        done.set()
        thread.join()
    assert manager.list_skills() == expected


@pytest.mark.skipif(not hasattr(_native, "fail"), reason="only builds for tests can panic at will")
def test_a_panic_is_an_exception_like_any_other(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InternalError, match="internal error in skillpm: it broke") as raised:
        _native.fail("it broke")
    assert isinstance(raised.value, SkillpmError)
    assert raised.value.code == "internal"
    assert "please report it" in str(raised.value)
