"""What a component is made of: it comes from Langflow's executor, which says nothing of types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_core.tools import StructuredTool as Tool
    from typing_extensions import Self

    class Component:
        """A part of a flow. Its inputs are attributes."""

        status: Any
        _vertex: Any

        def set(self, **inputs: Any) -> Self:
            """Give values to inputs, or the outputs of other components."""

        def __getattr__(self, name: str) -> Any: ...

    class Message:
        """A text that goes from one component to another."""

        def __init__(self, *, text: str) -> None: ...

    class Output:
        """What a method of a component gives."""

        def __init__(self, **options: Any) -> None: ...

    class BoolInput(Output):
        """An input that is on or off."""

    class MultilineInput(Output):
        """An input for a text of several lines."""

    class StrInput(Output):
        """An input for a text."""
else:
    from lfx.custom.custom_component.component import Component
    from lfx.field_typing import Tool
    from lfx.io import BoolInput, MultilineInput, Output, StrInput
    from lfx.schema.message import Message

__all__ = ["BoolInput", "Component", "Message", "MultilineInput", "Output", "StrInput", "Tool"]
