"""What callers hand over: brought into one shape, and checked where the core would be too late."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import Union

from skillpm._types import StrPath


def named_sources(
    sources: StrPath | Iterable[StrPath] | Mapping[str, StrPath] | None,
) -> list[tuple[str | None, StrPath]]:
    """Return sources with the names that they were given."""
    if sources is None:
        return []
    if isinstance(sources, (str, os.PathLike)):
        return [(None, sources)]
    # The abstract class of mappings is not worth its import.
    items = getattr(sources, "items", None)
    if items is None:
        return [(None, source) for source in sources]
    listed = list(items())
    if any(name == "" for name, _ in listed):
        raise usage_error("a source's name is empty", hint="`source:name` finds its skills by it")
    return listed


def usage_error(message: str, *, hint: str | None = None) -> Exception:
    """Return what is raised of an argument that makes no sense."""
    from skillpm.errors import ConfigurationError

    return ConfigurationError(message, code="usage", hint=hint)


def unknown_option(name: str, known: Iterable[str]) -> Exception:
    """Return what is raised of an option that does not exist."""
    from difflib import get_close_matches

    close = get_close_matches(name, list(known), 1)
    return usage_error(
        f"there is no option `{name}`", hint=f"did you mean `{close[0]}`?" if close else None
    )


def kind_of(value: object) -> str:
    """Return what a message calls an object that is of another type than it should be."""
    return f"an object of the type `{type(value).__name__}`"


def working_directory() -> str:
    """Return the working directory, or an empty text where it is gone."""
    try:
        # `Path.cwd()` would import `pathlib`, which takes longer than all else here.
        return os.getcwd()  # noqa: PTH109
    except OSError:
        return ""


# What profiles were called, and what they are called.
_FORMER = {"s0": "skillkit", "s2": "langchain-skillkit", "s3": "langflow", "s4": "btw"}


def named_profile(profile: str) -> str:
    """Return the name of a profile, and warn of one that it had."""
    name = _FORMER.get(profile, profile)
    if name != profile:
        import warnings

        told = f"the profile `{profile}` is called `{name}`"
        warnings.warn(told, DeprecationWarning, stacklevel=3)
    return name


def named_interpreters(
    python: StrPath | None, interpreters: Mapping[str, StrPath] | None
) -> dict[str, StrPath]:
    """Return the programs that run scripts, by the names of their languages."""
    named = dict(interpreters or {})
    if python is not None:
        named["python"] = python
    return named


def own_python() -> StrPath | None:
    """Return the Python that runs this program, unless the program is frozen into one file."""
    return None if getattr(sys, "frozen", False) else sys.executable or None


def check_options(*, timeout: object, env: object) -> None:
    """Raise where a script cannot be run so. Other types are refused by the core."""
    if isinstance(timeout, (int, float)) and not 1e-9 <= timeout <= 1e15:
        try:
            shown = f"`{float(timeout):g}`"
        except OverflowError:
            shown = "a number with more than 300 digits"
        raise usage_error(f"`timeout` is a number of seconds from 1e-09 to 1e+15, not {shown}")
    if env is not None and not hasattr(env, "keys"):
        raise TypeError(f"argument 'env': {kind_of(env)} is not a mapping from names to texts")


def check_budget(budget: int | None) -> None:
    """Raise what ``catalog`` raises of it, which is called later."""
    if budget is None:
        return
    if not hasattr(budget, "__index__"):
        raise TypeError(f"argument 'budget': {kind_of(budget)} is no whole number")
    if not 0 <= budget < 1 << 64:
        raise usage_error(f"`budget` is a whole number from 0 to {(1 << 64) - 1}, not `{budget}`")


def texts(given: Union[str, Iterable[str]]) -> list[str]:
    """Return texts, of which one may stand alone."""
    return [given] if isinstance(given, str) else list(given)


def paths(given: Union[StrPath, Iterable[StrPath]]) -> list[StrPath]:
    """Return paths, of which one may stand alone."""
    return [given] if isinstance(given, (str, os.PathLike)) else list(given)
