"""What tracers are told of calls, where a program has one: OpenTelemetry and LangSmith.

Neither is imported here. A program that traces has imported its tracer.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

# What of a call is told, by the names that it has in a trace.
_TOLD = {
    "skill": "skillpm.skill",
    "source": "skillpm.source",
    "version": "skillpm.version",
    "digest": "skillpm.digest",
    "script": "skillpm.script",
    "exit_code": "skillpm.exit_code",
    "status": "skillpm.status",
    "interpreter": "skillpm.interpreter",
}


@contextmanager
def traced(tool: str, arguments: Mapping[str, Any]) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Trace the call of a tool, as a span and as metadata of the run that is under way.

    Args:
        tool: The name of the tool.
        arguments: What it got: only the name of a skill and of a script are told.

    Yields:
        What is called with what is known after the call: ``skill``, ``digest``, ``exit_code``.

    """
    known: dict[str, Any] = {"skill": arguments.get("name"), "script": arguments.get("script")}
    telemetry: Any = sys.modules.get("opentelemetry.trace")
    if telemetry is None:
        yield known.update
    else:
        with telemetry.get_tracer("skillpm").start_as_current_span(f"execute_tool {tool}") as span:
            yield known.update
            span.set_attribute("gen_ai.operation.name", "execute_tool")
            span.set_attribute("gen_ai.tool.name", tool)
            for name, value in _attributes(known).items():
                span.set_attribute(name, value)
            if known.get("is_error"):
                span.set_status(telemetry.StatusCode.ERROR)
    helpers: Any = sys.modules.get("langsmith.run_helpers")
    run = helpers and helpers.get_current_run_tree()
    if run is not None:
        run.metadata.update(_attributes(known))


def _attributes(known: Mapping[str, Any]) -> dict[str, Any]:
    return {told: known[name] for name, told in _TOLD.items() if known.get(name) is not None}
