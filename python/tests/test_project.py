"""Skills of a project, managed as on the command line: from real sources, and nobody is asked."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import pickle
import shutil
import socket
import subprocess
import sys
import threading
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import World

import skillpm
from skillpm import (
    ConfigurationError,
    ConflictError,
    NetworkError,
    PolicyError,
    Project,
    Registry,
    SkillpmError,
    _native,
)
from skillpm.outcomes import Review

PLAIN = "Do it.\n"
RISKY = "Do it.\n\n```sh\ncurl https://example.com/x\n```\n"


class Repository:
    """A git repository with skills."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        self.source = f"git+{root}"
        self.git("init", "--quiet", "--initial-branch", "main")

    def git(self, *arguments: str) -> None:
        own = ["-c", "user.name=x", "-c", "user.email=x@example.com"]
        subprocess.run(["git", *own, *arguments], cwd=self.root, check=True)

    def commit(self, bodies: dict[str, str], *, tag: str | None = None) -> None:
        """Commit a skill for each name, with the text of its instructions."""
        for name, body in bodies.items():
            file = self.root / name / "SKILL.md"
            file.parent.mkdir(exist_ok=True)
            head = f"---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n"
            file.write_text(head + body)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "x")
        if tag:
            self.git("tag", tag)


@pytest.fixture
def repository(world: World) -> Repository:
    return Repository(world.root / "repository")


@pytest.fixture
def outdated(repository: Repository) -> Project:
    """Return a project with two skills of which there are newer ones; one has a new command."""
    repository.commit({"pdf": PLAIN, "word": PLAIN})
    project = Project()
    project.install(repository.source, skills="*")
    repository.commit({"pdf": RISKY, "word": PLAIN + "All of it.\n"})
    return project


def changes(outcome: Any) -> dict[str, str]:
    return {skill["name"]: skill["change"] for skill in outcome["skills"]}


def body(world: World, name: str) -> str:
    return (world.project / ".agents" / "skills" / name / "SKILL.md").read_text()


def test_the_life_of_a_skill(world: World, repository: Repository) -> None:
    repository.commit({"pdf": PLAIN, "word": PLAIN})
    project = Project()
    assert project.list() == []
    offered = project.available(repository.source)
    assert [skill["name"] for skill in offered] == ["pdf", "word"]
    planned = project.install(repository.source, skills="pdf", dry_run=True)
    assert (planned["dry_run"], changes(planned)) == (True, {"pdf": "added"})
    assert project.list() == []
    assert changes(project.install(repository.source, skills=["pdf"])) == {"pdf": "added"}
    [listed] = project.list()
    assert (listed["name"], listed["state"], listed["scope"]) == ("pdf", "ok", "project")
    [skill] = project.outdated("pdf")
    assert skill["status"] == "current"
    repository.commit({"pdf": PLAIN + "And more.\n"})
    [skill] = project.outdated()
    assert skill["status"] == "changed"
    assert changes(project.update(dry_run=True)) == {"pdf": "updated"}
    assert "And more." not in body(world, "pdf")
    assert changes(project.update("pdf")) == {"pdf": "updated"}
    assert "And more." in body(world, "pdf")
    assert project.verify()["ok"]
    world.write(".agents/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Mine.\n---\n")
    verified = project.verify("pdf", strict=True)
    assert (verified["ok"], verified["skills"][0]["verdict"]) == (False, "modified")
    with pytest.raises(ConflictError, match="was edited"):
        project.remove("pdf")
    assert project.remove("pdf", force=True)["removed"] == ["pdf"]
    assert project.list() == []


def test_a_scope_and_a_root(world: World, repository: Repository) -> None:
    repository.commit({"pdf": PLAIN})
    (world.project / "app" / ".git").mkdir(parents=True)
    app, own, both = Project("app"), Project(scope="user"), Project(scope=None)
    app.install(repository.source)
    own.install(repository.source)
    assert [skill["scope"] for skill in app.list()] == ["project"]
    assert [skill["scope"] for skill in own.list()] == ["user"]
    assert Project().list() == []
    assert [skill["scope"] for skill in both.list()] == ["user"]
    assert (world.project / "app" / "skillpm.lock").exists()
    with pytest.raises(NetworkError) as raised:
        Project(offline=True).install("acme/pdf")
    assert raised.value.code == "offline"


def test_reinstalled_from_the_lockfile(world: World, repository: Repository) -> None:
    repository.commit({"pdf": PLAIN})
    Project().install(repository.source)
    shutil.rmtree(world.project / ".agents")
    assert changes(Project(offline=True).install(frozen=True)) == {"pdf": "added"}
    assert Project().verify()["ok"]


def test_new_capabilities_are_refused(outdated: Project) -> None:
    planned = outdated.update(dry_run=True)
    assert planned["refused"] == ["pdf"]
    review = next(skill["review"] for skill in planned["skills"] if skill["name"] == "pdf")
    assert review is not None
    new = [(change["kind"], change["line"]) for change in review["changes"]]
    assert ("command", 8) in new
    with pytest.raises(PolicyError) as raised:
        outdated.update()
    error = raised.value
    assert error.code == "new-capability"
    [accept, rest] = error.hints
    assert accept["text"].endswith('then run `skillpm.Project().update(accept=["pdf"])`')
    assert rest["parts"][0]["run"]["verb"] == "update"
    assert rest["parts"][0]["run"]["arguments"] == ["word"]
    assert error.hint == "\n".join(hint["text"] for hint in error.hints)
    assert pickle.loads(pickle.dumps(error)).hints == error.hints
    assert {skill["status"] for skill in outdated.outdated()} == {"changed"}, "nothing was changed"


@pytest.mark.parametrize("accept", [True, "pdf", ["pdf"], ("pdf",)])
def test_new_capabilities_are_accepted(outdated: Project, world: World, accept: Any) -> None:
    assert changes(outdated.update(accept=accept)) == {"pdf": "updated", "word": "updated"}
    assert "curl" in body(world, "pdf")


def test_a_review_is_a_value(outdated: Project, world: World) -> None:
    seen: list[tuple[str, Review, int]] = []

    def accept(name: str, review: Review) -> bool:
        seen.append((name, review, threading.get_ident()))
        return False

    assert changes(outdated.update(accept=accept)) == {"word": "updated"}
    assert "curl" not in body(world, "pdf")
    [(name, review, thread)] = seen
    assert (name, thread) == ("pdf", threading.get_ident())
    assert {change["kind"] for change in review["changes"]} >= {"command", "url"}
    assert json.loads(json.dumps(review)) == review
    with pytest.raises(PolicyError, match="the answer was no") as raised:
        outdated.update(accept=accept)
    assert raised.value.code == "new-capability"
    assert changes(outdated.update(accept=lambda name, review: True))["pdf"] == "updated"
    assert "curl" in body(world, "pdf")


def test_a_review_before_an_installation(repository: Repository, world: World) -> None:
    repository.commit({"pdf": PLAIN}, tag="v1")
    repository.commit({"pdf": RISKY}, tag="v2")
    project = Project()
    project.install(repository.source, tag="v1")
    with pytest.raises(PolicyError) as raised:
        project.install(repository.source, tag="v2")
    assert "accept=" in str(raised.value)
    with pytest.raises(PolicyError, match="the answer was no"):
        project.install(repository.source, tag="v2", accept=lambda name, review: False)
    assert "curl" not in body(world, "pdf")
    outcome = project.install(
        repository.source, tag="v2", accept=lambda name, review: name == "pdf"
    )
    assert [(one["name"], one["refused"]) for one in outcome["reviewed"]] == [("pdf", False)]
    assert "curl" in body(world, "pdf")


def test_what_a_reviewer_raises(outdated: Project) -> None:
    class Odd(Exception):
        pass

    def accept(name: str, review: Review) -> bool:
        raise Odd(name)

    with pytest.raises(Odd, match="pdf"):
        outdated.update(accept=accept)

    async def later(name: str, review: Review) -> bool:
        return True

    wrong = "it answers an object of the type `coroutine`, not `True` or `False`"
    with pytest.warns(RuntimeWarning, match="never"), pytest.raises(TypeError, match=wrong):
        outdated.update(accept=later)
    assert {skill["status"] for skill in outdated.outdated()} == {"changed"}


def test_edits_are_merged_and_conflicts_are_told(outdated: Project, world: World) -> None:
    world.write(".agents/skills/word/SKILL.md", body(world, "word") + "Mine.\n")
    assert changes(outdated.update("word"))["word"] == "conflict"
    with pytest.raises(ConflictError) as raised:
        outdated.update("word")
    assert 'skillpm.Project().update("word", ours=True)' in str(raised.value)
    assert changes(outdated.update("word", abort=True))["word"] == "aborted"
    assert changes(outdated.update("word", theirs=True))["word"] in ("merged", "updated")


def test_hints_name_the_project(world: World, repository: Repository) -> None:
    repository.commit({"pdf": PLAIN, "word": PLAIN})
    (world.project / "app" / ".git").mkdir(parents=True)
    with pytest.raises(ConfigurationError) as raised:
        Project("app").install(repository.source)
    told = 'skillpm.Project("app").install("git+../../repository", skills="pdf")'
    assert told in str(raised.value)
    # It says what to do.
    assert changes(Project("app").install("git+../../repository", skills="pdf"))


def test_the_plugins_of_a_marketplace(world: World) -> None:
    world.skill("pdf", source="market/docs/skills")
    plugin = {"name": "docs", "description": "d", "source": "./docs"}
    market = {"name": "acme", "owner": {"name": "x"}, "plugins": [plugin]}
    world.write("market/.claude-plugin/marketplace.json", json.dumps(market))
    project = Project()
    assert [plugin["name"] for plugin in project.plugins("./market")] == ["docs"]
    assert [skill["name"] for skill in project.available("docs", marketplace="./market")] == ["pdf"]
    assert changes(project.install("docs", marketplace="./market")) == {"pdf": "added"}


def test_a_search(world: World) -> None:
    world.write(
        "src/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Fills in forms. Use it in tests.\nlicense: MIT\n"
        'metadata:\n  version: "1.0.0"\n---\nDo it.\n',
    )
    site = Registry("site")
    site.init(name="acme")
    site.add("src/pdf")
    world.write("skillpm.toml", '[registries]\ndefault = "./site"\n')
    project = Project(offline=True)
    found = project.search("fill forms", registry="default")
    [skill] = found["skills"]
    assert (skill["name"], skill["version"], skill["found_in"]) == ("pdf", "1.0.0", "registry")
    assert skill["source"] is not None
    assert changes(project.install(skill["source"])) == {"pdf": "added"}
    assert [skill["name"] for skill in project.search("forms", installed=True)["skills"]] == ["pdf"]
    with pytest.raises(ConfigurationError, match="no word"):
        project.search(" ")
    with pytest.raises(ConfigurationError, match="exclude each other"):
        project.search("x", registry="default", installed=True)


def test_a_doctor(world: World, repository: Repository) -> None:
    repository.commit({"pdf": PLAIN})
    project = Project()
    project.install(repository.source, agents="claude-code")
    link = world.project / ".claude" / "skills" / "pdf"
    link.unlink()
    [finding] = [one for one in project.doctor()["findings"] if one["skill"] == "pdf"]
    assert (finding["agent"], finding["fixed"]) == ("claude-code", False)
    assert project.doctor(fix=True, dry_run=True)["dry_run"]
    assert not link.is_symlink()
    [finding] = [one for one in project.doctor(fix=True)["findings"] if one["skill"] == "pdf"]
    assert finding["fixed"]
    assert link.is_symlink()


def test_trust(world: World) -> None:
    directory = world.skill("pdf").parent
    project = Project()
    assert project.trusted()["directories"] == []
    assert project.trust(directory)["changed"] == [str(directory)]
    assert [one["state"] for one in project.trusted()["directories"]] == ["trusted"]
    assert project.untrust(str(directory))["changed"] == [str(directory)]
    with pytest.raises(ConfigurationError) as raised:
        project.trust(world.home)
    assert "force=True" in str(raised.value)


def test_a_test(world: World) -> None:
    world.skill("pdf", source="skills", description="Fills in PDF forms. Use it for forms.")
    cases = [
        {"query": "fill in this PDF form", "should_trigger": True},
        {"query": "bake a cake", "should_trigger": False},
    ]
    world.write("skills/pdf/evals/trigger-eval.json", json.dumps(cases))
    tested = Project("skills").test()
    assert [case["verdict"] for file in tested["files"] for case in file["cases"]] == ["passed"] * 2
    assert tested["top"] == 5
    assert Project().test("skills/pdf", top=1, bodies=True)["top"] == 1
    with pytest.raises(ConfigurationError, match="`timeout`"):
        Project().test("skills", timeout=0)
    with pytest.raises(ConfigurationError, match="no agent"):
        Project().test("skills", agent="nobody")


def test_agents(world: World, repository: Repository) -> None:
    repository.commit({"pdf": PLAIN})
    project = Project()
    project.install(repository.source, agents=["claude-code"])
    [agent] = project.agents("claude-code")
    assert (agent["id"], agent["sees"]) == ("claude-code", 1)
    assert len(project.agents(all=True)) > 20


def test_what_is_left_out_is_told(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.skill("pdf", source="vendor")
    world.write("vendor/bad/SKILL.md", "---\nname: bad\n---\n")
    with caplog.at_level(logging.WARNING, "skillpm"):
        outcome = Project().install("./vendor", skills="*")
    assert [left["name"] for left in outcome["left_out"]] == ["bad"]
    assert outcome["left_out"][0]["code"]
    assert any("description" in line for line in caplog.messages)


@pytest.mark.parametrize(
    "options, told",
    [
        ({"dry_run": 1}, "argument 'dry_run': "),
        ({"names": 1}, "unexpected keyword argument 'names'"),
        ({"accept": 1}, "argument 'accept': "),
        ({"precise": 1}, "argument 'precise': "),
    ],
)
def test_wrong_types(world: World, options: dict[str, Any], told: str) -> None:
    with pytest.raises(TypeError, match=told):
        Project().update(**options)


def test_wrong_values(world: World) -> None:
    project: Any = Project()
    wrong: list[Callable[[], object]] = [
        lambda: project.update(ours=True, theirs=True),
        lambda: project.update(precise="x"),
        lambda: project.install("./x", tag="a", rev="b"),
        lambda: project.install("./x", branch="a..b"),
        lambda: project.remove(),
        lambda: project.search("x", limit=0),
        lambda: project.test("x", all=True),
        lambda: Project(scope="machine").list(),  # type: ignore[arg-type]
        lambda: project.install("\ud800"),
    ]
    for call in wrong:
        with pytest.raises(ConfigurationError) as raised:
            call()
        assert raised.value.code in ("usage", "not-text"), raised.value


def test_they_are_values() -> None:
    registry = Project("app", offline=True).registry("acme")
    assert registry == Registry("acme", root=Path("app"), offline=True)
    assert pickle.loads(pickle.dumps(registry)) == registry != Registry()
    assert {registry: 1}[registry]
    assert repr(registry) == "Registry('acme', root='app', offline=True)"
    project = Project(Path("app"), scope="user", offline=True)
    same = pickle.loads(pickle.dumps(project))
    assert (same, hash(same), repr(same)) == (project, hash(project), repr(project))
    assert repr(project) == "Project('app', scope='user', offline=True)"
    assert Project() != project
    assert Project() != "app"


def public(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the functions of a class."""
    for name, value in vars(kind).items():
        if inspect.isfunction(value) and not name.startswith("_"):
            yield name, value


def test_hints_resolve() -> None:
    functions = [*public(Project), *public(Registry)]
    functions += [(kind.__name__, kind.__init__) for kind in (Project, Registry)]
    functions += [(one.__name__, one) for one in (skillpm.install, skillpm.validate)]
    for name, function in functions:
        hints = typing.get_type_hints(function)
        parameters = set(inspect.signature(function).parameters) - {"self"}
        assert parameters | {"return"} == set(hints), name


@pytest.mark.parametrize("kind", [Project, Registry])
def test_each_method_has_a_twin(kind: type) -> None:
    methods = dict(public(kind))
    twins = {name for name, method in methods.items() if inspect.iscoroutinefunction(method)}
    # It looks at nothing.
    methods.pop("registry", None)
    assert twins == {f"a{name}" for name in set(methods) - twins}
    for name in twins:
        twin, method = methods[name], methods[name[1:]]
        assert inspect.signature(twin) == inspect.signature(method)
        assert (twin.__name__, twin.__qualname__) == (name, f"{kind.__name__}.{name}")
        assert f"``{name[1:]}``" in twin.__doc__


def test_the_twins(outdated: Project, world: World) -> None:
    asked: list[tuple[str, int]] = []

    async def accept(name: str, review: Review) -> bool:
        await asyncio.sleep(0)
        asked.append((name, threading.get_ident()))
        return name == "pdf"

    async def main() -> None:
        listed, found = await asyncio.gather(outdated.alist(), outdated.aoutdated())
        assert len(listed) == len(found) == 2
        with pytest.raises(PolicyError):
            await outdated.aupdate()
        assert changes(await outdated.aupdate(accept=accept)) == {
            "pdf": "updated",
            "word": "updated",
        }
        assert (await outdated.averify())["ok"]
        assert (await outdated.aremove("*"))["removed"] == ["pdf", "word"]

    asyncio.run(main())
    assert asked == [("pdf", threading.get_ident())]


def test_a_plain_function_reviews_for_a_twin(outdated: Project) -> None:
    def accept(name: str, review: Review) -> bool:
        raise StopIteration

    with pytest.raises(RuntimeError, match="StopIteration"):
        asyncio.run(outdated.aupdate(accept=accept))
    outcome = asyncio.run(outdated.aupdate(accept=lambda name, review: True))
    assert changes(outcome)["pdf"] == "updated"


def test_a_reviewer_may_ask_more(outdated: Project) -> None:
    seen: list[object] = []

    async def accept(name: str, review: Review) -> bool:
        # Without the event loop, and with it.
        seen.append(changes(outdated.update("word", accept=lambda name, review: True)))
        seen.append([skill["name"] for skill in await outdated.alist()])
        return False

    with pytest.raises(PolicyError, match="the answer was no"):
        asyncio.run(outdated.aupdate("pdf", accept=accept))
    assert seen == [{"word": "updated"}, ["pdf", "word"]]


def test_a_cancelled_review_changes_nothing(outdated: Project, world: World) -> None:
    ended: list[str] = []

    async def main() -> None:
        asks, over = asyncio.Event(), asyncio.Event()

        async def accept(name: str, review: Review) -> bool:
            try:
                asks.set()
                await asyncio.Event().wait()
            finally:
                ended.append(name)
                over.set()
            return True

        task = asyncio.create_task(outdated.aupdate(accept=accept))
        await asks.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(over.wait(), 60)

    asyncio.run(main())
    assert ended == ["pdf"]
    assert {skill["status"] for skill in outdated.outdated()} == {"changed"}


def test_a_cancelled_installation_ends(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server takes the request and never answers."""
    monkeypatch.setenv("SKILLPM_HTTP_TIMEOUT", "600")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    async def main(server: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        source = f"http://127.0.0.1:{server.getsockname()[1]}/pdf.zip"
        task = asyncio.create_task(Project().ainstall(source))
        waiting, _ = await loop.sock_accept(server)
        with waiting:
            assert await loop.sock_recv(waiting, 1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        asyncio.run(main(server))
    assert not (world.project / "skillpm.toml").exists()


def test_it_is_too_late_to_stop_a_change(world: World) -> None:
    world.skill("pdf", source="vendor")
    options: dict[str, Any] = {"sources": ["./vendor"]}
    early = _native.Waiter()
    assert early.stop()
    with pytest.raises((RuntimeError, SkillpmError)):
        _native.manage("install", options, waiter=early)
    assert not (world.project / "skillpm.toml").exists()
    late = _native.Waiter()
    outcome, _ = _native.manage("install", options, waiter=late)
    assert changes(outcome) == {"pdf": "added"}
    assert not late.stop()


def test_what_is_imported_later() -> None:
    code = (
        "import sys, skillpm\n"
        "print('skillpm._project' in sys.modules, 'asyncio' in sys.modules)\n"
        "print(skillpm.Project(), skillpm.install.__name__, skillpm.outcomes.__name__)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == [
        "False False",
        "Project(None, scope='project', offline=False) install skillpm.outcomes",
    ]
    assert {"Project", "Registry", "install", "outcomes", "validate"} <= set(dir(skillpm))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        skillpm.nothing  # type: ignore[attr-defined]  # noqa: B018
