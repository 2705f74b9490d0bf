"""Trials: one input of recorded decisions changed, to find the input that does not fit the recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import attrs

__all__ = ["Input", "Trial", "number_trials"]

#: Inputs of a decision that may not fit a recording.
Input = Literal["racks", "tags", "configuration", "topology", "version", "session timeout"]


@attrs.frozen
class Trial:
    """One changed input.

    Args:
        input: The input.
        words: The change, as it ends the sentence "Kafka's assignor reproduces 12 of 12 decisions ...".
        settings: Keys of the configuration to values, as ``-c`` takes them.
        edited: Returns the changed document of a decision; ``None``: the document stays.
        assignor: Name of the assignor; ``None``: the group's own.
    """

    input: Input
    words: str
    settings: Mapping[str, str] = attrs.field(factory=dict)
    edited: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    assignor: str | None = None


def number_trials(key: str, values: Mapping[int, None]) -> list[Trial]:
    """A trial of the configuration for each value of a numeric key."""
    return [Trial("configuration", f"with {key}={value}", {key: str(value)}) for value in values]
