"""Changes: single differences in the input of a decision, for any kind of group.

A change is a few edits of the scenario's document, or one key of the configuration. The same edit by hand gets the same
answer from the assignor. A trial changes one input of recorded decisions, to find the input that does not fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Generic, Literal, Protocol, TypeVar

import attrs

from assignment_api.plugins import Setting
from assignor_lab.documents.edits import Edit
from assignor_lab.scenarios import Scenario

__all__ = [
    "CLASSES",
    "InputChange",
    "ChangesOf",
    "Input",
    "Knob",
    "InputTrial",
    "choice_knob",
    "fresh",
    "number_knob",
    "number_trials",
    "setting_knobs",
    "single",
    "tag_knobs",
]

S_contra = TypeVar("S_contra", contravariant=True)

CLASSES = ("lag", "time", "previous owner", "tag", "rack", "threads", "setting", "client")


@attrs.frozen
class InputChange:
    """One single change.

    Args:
        what: One of :data:`CLASSES`.
        words: The change as a condition without its ``if``: ``the lag of 0_3 on i2 were 100 instead of 12,400``.
        edits: Edits of the document.
        setting: Key and value of the configuration, in the form of ``-c key=value``.
    """

    what: str
    words: str
    edits: tuple[Edit, ...] = ()
    setting: tuple[str, str] | None = None


@attrs.frozen
class Knob:
    """A property with several possible values.

    Args:
        values: Values to try, in this order.
        now: Its value, if it is a number and all numbers between it and the others can be tried; else ``None``.
        concerns: Its client, or ``None``.
    """

    what: str
    values: Sequence[Any]
    at: Callable[[Any], InputChange]
    now: int | None = None
    concerns: str | None = None


class ChangesOf(Protocol, Generic[S_contra]):
    """Possible changes in the states of one kind."""

    def knobs(
        self, scenario: Scenario, number: int, state: S_contra, task: str, label: Callable[[str], str]
    ) -> Iterable[Knob]:
        """Knobs that may decide the place of a task, without the assignor's own settings."""

    def one_more(self, scenario: Scenario, number: int, state: S_contra) -> InputChange | None:
        """A further client without tasks, otherwise like the first one; ``None`` if there is no client."""

    def facts(self, state: S_contra, task: str) -> Mapping[str, str]:
        """Facts of a state about a task on each client, in a few words; clients without facts are left out."""


def single(change: InputChange, concerns: str | None = None) -> Knob:
    """One change without a choice of values."""

    def at(_value: None) -> InputChange:
        return change

    return Knob(change.what, [None], at, concerns=concerns)


def fresh(taken: Iterable[str], pattern: str) -> str:
    """The first unused name of a pattern, with a number from 1 in it."""
    known = set(taken)
    return next(name for number in count(1) if (name := pattern.format(number)) not in known)


def tag_knobs(
    where: str, tags_of: Mapping[str, Mapping[str, str]], keys: Iterable[str], label: Callable[[str], str]
) -> Iterator[Knob]:
    """Tags of clients, each with the values of the other clients.

    Args:
        where: Key of the clients in the document.
        tags_of: Client to its tags, in the order of the document.
    """
    for key in keys:
        values = list(dict.fromkeys(tags[key] for tags in tags_of.values() if key in tags))
        for place, (client, tags) in enumerate(tags_of.items()):
            now = tags.get(key)
            others = [value for value in values if value != now]

            def at(
                value: str, place: int = place, key: str = key, now: str | None = now, client: str = client
            ) -> InputChange:
                words = f"the tag {key} of {label(client)} were {value} instead of {now}"
                return InputChange("tag", words, (Edit((where, place, "tags", key), value),))

            if others and now is not None:
                yield Knob("tag", others, at, concerns=client)


def number_knob(key: str, now: int, values: Iterable[int], low: int = 0) -> Knob:
    """A number of the configuration; values are tried from the nearest on, never below ``low``, Kafka's minimum."""
    wanted = sorted({value for value in values if value >= low and value != now}, key=lambda value: abs(value - now))
    return Knob(
        "setting",
        wanted,
        lambda value: InputChange("setting", f"{key} were {value:,} instead of {now:,}", setting=(key, str(value))),
        now=now,
    )


def choice_knob(key: str, now: str, values: Iterable[str]) -> Knob:
    """A word of the configuration, or a comma-separated list of words."""

    def at(value: str) -> InputChange:
        return InputChange(
            "setting", f"{key} were {value or 'empty'} instead of {now or 'empty'}", setting=(key, value)
        )

    return Knob("setting", [value for value in values if value != now], at)


def setting_knobs(settings: Mapping[str, object], declared: Iterable[Setting] = ()) -> Iterable[Knob]:
    """The settings of an assignor: numbers a little higher and lower, switches inverted.

    Args:
        declared: Settings with a type and a least number; other values show their type.
    """
    known = {each.key: each for each in declared}
    for key, value in settings.items():
        text, setting = str(value), known.get(key)
        if setting is not None and setting.type in ("text", "list"):
            continue
        if setting is not None and setting.type == "float":
            now = float(setting.read(value))
            values = {number for number in (now / 2, now * 2, now * 10, now + 1, 0.0) if number != now}
            lowest = -math.inf if setting.least is None else setting.least
            yield choice_knob(key, f"{now:g}", [f"{number:g}" for number in sorted(values) if number >= lowest])
        elif text.lower() in ("true", "false"):
            yield choice_knob(key, text, ["false" if text.lower() == "true" else "true"])
        elif text.lstrip("-").isascii() and text.lstrip("-").isdigit() and len(text) < 16:
            whole = int(text)
            least = None if setting is None else setting.least
            low = min(whole, 0) if least is None else math.ceil(least)
            yield number_knob(key, whole, (whole - 1, whole + 1, whole * 2, whole * 10, 0), low=low)


#: Inputs of a decision that may not fit a recording.
Input = Literal["racks", "tags", "configuration", "topology", "version", "session timeout", "names", "client library"]


@attrs.frozen
class InputTrial:
    """One changed input.

    Args:
        words: The change, as the end of the sentence "Kafka's assignor reproduces 12 of 12 decisions ...".
        settings: Keys of the configuration to values, in the form of ``-c``.
        edits: Of a decision's document.
        assignor: Name of the assignor; ``None``: the group's own.
    """

    input: Input
    words: str
    settings: Mapping[str, str] = attrs.field(factory=dict)
    edits: Callable[[Scenario], tuple[Edit, ...]] | None = None
    assignor: str | None = None


def number_trials(key: str, values: Mapping[int, None]) -> list[InputTrial]:
    return [InputTrial("configuration", f"with {key}={value}", {key: str(value)}) for value in values]
