"""What is done for a project or a registry, with the verbs of the command line."""

# Hints are values here: nothing is postponed, and everything that they name is imported.
import logging
from collections.abc import Iterable
from functools import partial
from os import PathLike
from typing import Any, Optional, Union

from skillpm._native import manage
from skillpm._twin import waiting

StrPath = Union[str, PathLike[str]]
Texts = Union[str, Iterable[str]]


def managed(
    verb: str, options: dict[str, Any], *, root: Optional[str], scope: Optional[str], offline: bool
) -> Any:
    """Do what a command does, for whoever waits, and log the warnings."""
    who = waiting.get()
    accept = options.get("accept")
    if who is not None and callable(accept):
        options["accept"] = partial(who.ask, accept)
    outcome, warnings = manage(
        verb,
        options,
        root=root,
        scope=scope,
        offline=offline,
        waiter=None if who is None else who.waiter,
    )
    for warning in warnings:
        logging.getLogger("skillpm").warning("%s", warning)
    return outcome
