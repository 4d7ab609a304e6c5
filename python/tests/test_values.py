"""The values that other packages carry: as dictionaries, in models, in patterns, pickled."""

from __future__ import annotations

import ast
import copy
import dataclasses
import inspect
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, Union

import pytest

import skillpm
from skillpm import ConfigurationError, Diagnostic, Script, ScriptResult, Skill, SkillMetadata
from skillpm._native import Value

METADATA = SkillMetadata(
    "pdf",
    "Reads PDF files.",
    "/skills/pdf/SKILL.md",
    ["Read", "Bash(git:*)"],
    version="1.10",
    tags=("office",),
    dependencies=["base"],
    license="MIT",
    compatibility="Python",
    metadata={"author": "Ada", "nested": {"list": [1, 2.5, None, True, 2**63]}},
    extra={"color": "red"},
    source="project",
)
LEAST = SkillMetadata("a", "b", "/a/SKILL.md")
SCRIPT: dict[str, Any] = {
    "skill": "pdf",
    "script": "scripts/fill.py",
    "language": "python",
    "input_schema": {},
}
VALUES: list[Any] = [
    METADATA,
    LEAST,
    Skill(METADATA, "Read it.\n", "/skills/pdf", ["forms.md", "日本語.md"]),
    Skill(LEAST, "", "/a"),
    Script("fill", "pdf__fill", "Fills.", "/skills/pdf/scripts/fill.py", timeout=1.5, **SCRIPT),
    Script("fill", "pdf__fill", "Fills.", "/skills/pdf/scripts/fill.py", **SCRIPT),
    ScriptResult("out\0\n", "err", 3, True, 0.25),
    ScriptResult(""),
    Diagnostic("unknown-field", "note", "unknown", "/skills/pdf/SKILL.md", 4, 1),
    Diagnostic("unreadable", "error", "it cannot be read"),
]
CLASSES: list[Any] = [SkillMetadata, Skill, Script, ScriptResult, Diagnostic]

every_value = pytest.mark.parametrize("value", VALUES, ids=repr)
every_class = pytest.mark.parametrize("kind", CLASSES)


@every_value
def test_a_dictionary_makes_the_value_again(value: Any) -> None:
    plain = value.to_dict()
    assert type(value).from_dict(plain) == value
    again = json.loads(json.dumps(plain))
    assert again == plain
    assert type(value).from_dict(again) == value
    assert hash(type(value).from_dict(again)) == hash(value)


@every_value
def test_a_dictionary_is_nobody_elses(value: Any) -> None:
    first = value.to_dict()
    for held in first.values():
        if isinstance(held, (dict, list)):
            held.clear()
    assert value.to_dict() == copy.copy(value).to_dict()
    assert type(value).from_dict(value.to_dict()) == value


@every_value
def test_what_has_a_default_may_be_left_out(value: Any) -> None:
    kind, plain = type(value), value.to_dict()
    needed = kind.json_schema()["required"]
    least = {name: plain[name] for name in needed}
    assert kind.from_dict(least).to_dict() == {
        **{name: told.get("default") for name, told in kind.json_schema()["properties"].items()},
        **least,
    }
    for name in needed:
        without = {field: held for field, held in least.items() if field != name}
        with pytest.raises(ConfigurationError, match=f"^`{kind.__name__}` needs `{name}`$"):
            kind.from_dict(without)


@every_value
def test_other_fields_are_refused(value: Any) -> None:
    fields = ", ".join(f"`{field}`" for field in value.to_dict())
    with pytest.raises(ConfigurationError) as raised:
        type(value).from_dict({**value.to_dict(), "colour": "red"})
    kind = type(value).__name__
    assert str(raised.value) == f"`{kind}` has no field `colour`: it has {fields}"


@pytest.mark.parametrize(
    "kind, fields, message",
    [
        (ScriptResult, [], "the fields of `ScriptResult` are a mapping, not `list`"),
        (ScriptResult, {"stdout": 1}, "`stdout` of `ScriptResult` is a text: "),
        (ScriptResult, {"stdout": "", "exit_code": "3"}, "`exit_code` .* is a whole number: "),
        (ScriptResult, {"stdout": "", "exit_code": 2**40}, "`exit_code` .* is a whole number: "),
        (ScriptResult, {"stdout": "", "truncated": 1}, "`truncated` .* is true or false: "),
        (ScriptResult, {"stdout": "", "duration": None}, "`duration` .* is a number: "),
        (ScriptResult, {1: ""}, "has no field `1`"),
        (Skill, {"metadata": {}, "content": "", "base_directory": ""}, "`SkillMetadata` needs"),
        (Skill, {"metadata": None, "content": "", "base_directory": ""}, "not `NoneType`"),
        (Diagnostic, {"code": "a", "severity": "bad", "message": ""}, "`severity` is `error`"),
        (Diagnostic, {**VALUES[-1].to_dict(), "line": -1}, "`line` .* is a whole number: "),
        (Script, {**VALUES[5].to_dict(), "timeout": -1}, "`timeout` is not a duration"),
        (SkillMetadata, {**LEAST.to_dict(), "skill_path": 1}, "`skill_path` .* is a path: "),
        (SkillMetadata, {**LEAST.to_dict(), "tags": "office"}, "`tags` .* is a list of texts: "),
        (SkillMetadata, {**LEAST.to_dict(), "extra": {"a": {1}}}, "`extra` .* is a JSON object: "),
    ],
)
def test_what_is_wrong_with_fields_is_told(kind: Any, fields: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as raised:
        kind.from_dict(fields)
    # Data are read as `json.loads` reads them: what is wrong is a `ValueError`.
    assert isinstance(raised.value, ValueError)
    assert raised.value.code == "usage"


def test_a_severity_is_one_of_three() -> None:
    for severity in ("error", "warning", "note"):
        made = Diagnostic.from_dict({"code": "a", "severity": severity, "message": "b"})
        assert made.severity == severity
    with pytest.raises(ConfigurationError, match="`error`, `warning` or `note`, not `fatal`"):
        Diagnostic("a", "fatal", "b")  # type: ignore[arg-type]


@every_value
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(value: Any, protocol: int) -> None:
    assert pickle.loads(pickle.dumps(value, protocol)) == value


@every_value
def test_copies(value: Any) -> None:
    assert copy.copy(value) == value == copy.deepcopy(value)


def test_pickle_keeps_a_path_that_is_not_text() -> None:
    skill = Skill(LEAST, "", Path("/\udcff"))
    assert pickle.loads(pickle.dumps(skill)) == skill == copy.deepcopy(skill)
    json.dumps(skill.to_dict(), ensure_ascii=False).encode()


@every_value
def test_it_is_as_good_as_a_dataclass(value: Any) -> None:
    kind = type(value)
    assert dataclasses.is_dataclass(type(value))
    fields = dataclasses.fields(value)
    assert [field.name for field in fields] == list(value.to_dict())
    made = dataclasses.asdict(value)
    assert made.keys() == value.to_dict().keys()
    assert dataclasses.replace(value) == value
    first = fields[0].name
    changed = LEAST if first == "metadata" else "changed"
    assert getattr(dataclasses.replace(value, **{first: changed}), first) == changed
    if sys.version_info >= (3, 13):
        assert getattr(copy.replace(value, **{first: changed}), first) == changed
    least = {
        field.name: getattr(value, field.name)
        for field in fields
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    assert list(least) == kind.json_schema()["required"]
    for field in fields:
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        if default is not dataclasses.MISSING:
            assert getattr(kind(**least), field.name) == default


def test_a_wrong_change_is_refused() -> None:
    with pytest.raises(TypeError):
        dataclasses.replace(VALUES[-1], colour="red")
    with pytest.raises(TypeError):
        VALUES[-1].__replace__(colour="red")


@pytest.mark.skipif(sys.version_info < (3, 10), reason="Python 3.9 knows no signatures of classes")
@every_class
def test_the_constructor_has_the_fields(kind: Any) -> None:
    """In their order, with a default exactly where the table has one."""
    parameters = inspect.signature(kind).parameters.values()
    assert [parameter.name for parameter in parameters] == list(kind.json_schema()["properties"])
    assert [
        parameter.name for parameter in parameters if parameter.default is parameter.empty
    ] == kind.json_schema()["required"]
    assert kind.__match_args__ == tuple(
        parameter.name
        for parameter in parameters
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    )


@pytest.mark.skipif(sys.version_info < (3, 10), reason="Python 3.9 has no patterns")
def test_patterns() -> None:
    names: dict[str, Any] = {**vars(skillpm), "value": VALUES[6]}
    program = (
        "match value:\n"
        "    case ScriptResult('', ''): found = None\n"
        "    case ScriptResult(stdout, 'err', 3, duration=took): found = stdout, took\n"
    )
    exec(program, names)
    assert names["found"] == ("out\0\n", 0.25)


@every_class
def test_schemas(kind: Any) -> None:
    schema = kind.json_schema()
    assert json.loads(json.dumps(schema)) == schema
    assert (schema["title"], schema["type"]) == (kind.__name__, "object")
    assert schema["additionalProperties"] is False
    for name, told in schema["properties"].items():
        documented = (getattr(kind, name).__doc__ or "").split("\n\n")[0]
        assert told["description"] == " ".join(documented.split()).replace("``", "`"), name
    schema.clear()
    assert kind.json_schema()


def test_what_a_schema_says() -> None:
    properties = Diagnostic.json_schema()["properties"]
    assert properties["severity"]["enum"] == ["error", "warning", "note"]
    assert properties["line"]["anyOf"] == [{"type": "integer", "minimum": 0}, {"type": "null"}]
    assert Skill.json_schema()["properties"]["metadata"]["required"] == [
        "name",
        "description",
        "skill_path",
    ]
    assert ScriptResult.json_schema()["properties"]["stderr"]["default"] == ""


@every_class
def test_sequences_are_taken(kind: Any) -> None:
    class Text(str):
        """A text of a library of its own."""

    for made in (list, tuple):
        skill = SkillMetadata(
            Text("a"), Text("b"), Text("c"), made([Text("d")]), tags=made("e"), dependencies=made()
        )
        assert (skill.name, skill.allowed_tools, skill.tags) == ("a", ("d",), ("e",))
        assert Skill(skill, "", "", made(["f"])).files == ("f",)


STUBS = Path(skillpm.__file__).parent / "_native.pyi"


@pytest.mark.parametrize("kind", [*CLASSES, Value])
def test_everything_of_it_is_documented_as_in_the_stubs(kind: Any) -> None:
    """Editors show what the stubs say, and `help()` what the module says."""
    [stub] = [
        node
        for node in ast.parse(STUBS.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef) and node.name == kind.__name__
    ]

    def words(text: str | None) -> list[str]:
        return (text or "").split()

    assert words(ast.get_docstring(stub)) == words(kind.__doc__)
    told = {
        member.name: ast.get_docstring(member)
        for member in stub.body
        if isinstance(member, ast.FunctionDef)
    }
    for name in vars(kind):
        if not name.startswith("_"):
            documented = words(getattr(kind, name).__doc__)
            assert documented, name
            assert words(told[name]) == documented, name


def test_only_values_have_fields() -> None:
    assert not dataclasses.is_dataclass(Value)
    assert not hasattr(Value, "__match_args__")
    for work in (lambda: Value.from_dict({}), Value.json_schema, Value):
        with pytest.raises(TypeError):
            work()


def test_orjson_takes_no_property_for_what_an_object_holds() -> None:
    """It would for a class that has the fields itself, and end the process."""
    orjson = pytest.importorskip("orjson", reason="orjson is not installed")
    assert orjson.loads(orjson.dumps(VALUES, default=lambda value: value.to_dict())) == [
        value.to_dict() for value in VALUES
    ]


def test_what_others_ask_for_is_imported_for_them_alone() -> None:
    program = (
        "import sys; before = set(sys.modules); import skillpm; new = set(sys.modules) - before\n"
        "print(new & {'dataclasses', 'pathlib', 'pydantic_core', 'skillpm._values'})"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout == "set()\n", ran.stderr


def test_pydantic() -> None:
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
    model = pydantic.create_model(
        "Answer",
        result=(ScriptResult, ...),
        found=(list[Diagnostic], []),
        either=(Union[Skill, SkillMetadata, str, None], None),
    )
    made = model(result=VALUES[6], found=VALUES[-2:], either=METADATA)
    assert (made.result, made.found, made.either) == (VALUES[6], VALUES[-2:], METADATA)
    plain = made.model_dump()
    assert plain["result"] == VALUES[6].to_dict()
    assert plain["either"] == METADATA.to_dict()
    assert model.model_validate(plain) == made
    assert model.model_validate_json(made.model_dump_json()) == made
    assert model(result=VALUES[6], either="text").model_dump()["either"] == "text"
    assert model.model_json_schema()["properties"]["result"] == ScriptResult.json_schema()


@every_value
def test_type_adapters(value: Any) -> None:
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
    adapter = pydantic.TypeAdapter(type(value))
    assert adapter.validate_python(value) is value
    assert adapter.validate_python(value.to_dict()) == value
    assert adapter.validate_json(json.dumps(value.to_dict())) == value
    assert adapter.dump_python(value) == value.to_dict()
    assert json.loads(adapter.dump_json(value)) == value.to_dict()
    for mode in ("validation", "serialization"):
        assert adapter.json_schema(mode=mode) == type(value).json_schema()
    for wrong in ({}, {"colour": "red"}, None, "text", [value]):
        with pytest.raises(pydantic.ValidationError):
            adapter.validate_python(wrong)


def test_what_pydantic_refuses_says_why() -> None:
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
    with pytest.raises(pydantic.ValidationError, match="`ScriptResult` needs `stdout`"):
        pydantic.TypeAdapter(ScriptResult).validate_python({"exit_code": 1})
