"""Changes: single differences that the input of a decision could have had, whatever the kind of group.

A change is a few edits of the scenario's document, or one key of the configuration: whoever makes it by hand and asks
the assignor gets the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Generic, Protocol, TypeVar

import attrs

from assignor_lab.scenarios import Scenario

__all__ = [
    "CLASSES",
    "Change",
    "ChangesOf",
    "Edit",
    "Knob",
    "changed",
    "choice_knob",
    "fresh",
    "number_knob",
    "setting_knobs",
    "single",
    "tag_knobs",
]

S_contra = TypeVar("S_contra", contravariant=True)

#: What may change, the smallest first: what drifts by itself, what somebody would have to set, who would have to go.
CLASSES = ("lag", "time", "previous owner", "tag", "rack", "threads", "setting", "client")


@attrs.frozen
class Edit:
    """One value of a document.

    Args:
        path: Keys and positions from the document on.
        value: What it is to be.
        remove: Take the entry out instead; positions are those before any other edit.
    """

    path: tuple[str | int, ...]
    value: Any = None
    remove: bool = False


@attrs.frozen
class Change:
    """One single change.

    Args:
        what: Which of :data:`CLASSES`.
        words: The change as a condition without its ``if``: ``the lag of 0_3 on i2 were 100 instead of 12,400``.
        edits: Edits of the document.
        setting: Key and value of the configuration, as ``-c key=value`` takes it.
    """

    what: str
    words: str
    edits: tuple[Edit, ...] = ()
    setting: tuple[str, str] | None = None


@attrs.frozen
class Knob:
    """Something that can be changed to several values.

    Args:
        what: Which of :data:`CLASSES`.
        values: Values to be tried, in this order.
        at: The change to a value.
        now: Its value, where it is a number between which and the others all numbers can be tried; else ``None``.
        concerns: The client that it is about, or ``None``.
    """

    what: str
    values: Sequence[Any]
    at: Callable[[Any], Change]
    now: int | None = None
    concerns: str | None = None


class ChangesOf(Protocol, Generic[S_contra]):
    """What could be changed in the states of one kind."""

    def knobs(
        self, scenario: Scenario, number: int, state: S_contra, task: str, label: Callable[[str], str]
    ) -> Iterable[Knob]:
        """What may decide where a task goes, but for settings of the assignor's own.

        Args:
            scenario: The scenario, as it was read.
            number: The round.
            state: What is asked.
            task: The task.
            label: Client to the name that it is shown under.
        """

    def one_more(self, scenario: Scenario, number: int, state: S_contra) -> Change | None:
        """A client more, that has nothing yet and else is like the first one; ``None``: there is none to be like.

        Args:
            scenario: The scenario, as it was read.
            number: The round.
            state: What is asked.
        """

    def facts(self, state: S_contra, task: str) -> Mapping[str, str]:
        """What a state says of a task on each client, in a few words; clients of which it says nothing are left out."""


def single(change: Change, concerns: str | None = None) -> Knob:
    """One change that has no values to choose from."""

    def at(_value: None) -> Change:
        return change

    return Knob(change.what, [None], at, concerns=concerns)


def fresh(taken: Iterable[str], pattern: str) -> str:
    """The first name of a pattern, with a number from 1 in it, that nobody has."""
    known = set(taken)
    return next(name for number in count(1) if (name := pattern.format(number)) not in known)


def tag_knobs(
    where: str, entries: Sequence[Mapping[str, Any]], identity: str, keys: Iterable[str], label: Callable[[str], str]
) -> Iterator[Knob]:
    """Tags of clients, each with the values that other clients have.

    Args:
        where: Key of the document that the clients are listed under.
        entries: The clients, as they are there.
        identity: The key of a client's id.
        keys: The keys of tags.
        label: Client to the name that it is shown under.
    """
    for key in keys:
        values = list(dict.fromkeys(entry["tags"][key] for entry in entries if key in entry["tags"]))
        for place, entry in enumerate(entries):
            now = entry["tags"].get(key)
            others = [value for value in values if value != now]

            def at(value: str, place: int = place, key: str = key, now: str | None = now) -> Change:
                words = f"the tag {key} of {label(entries[place][identity])} were {value} instead of {now}"
                return Change("tag", words, (Edit((where, place, "tags", key), value),))

            if others and now is not None:
                yield Knob("tag", others, at, concerns=entry[identity])


def changed(document: Mapping[str, Any], edits: Iterable[Edit]) -> dict[str, Any]:
    """A document after edits; the parts that are not edited are shared with the one before."""
    result: Any = dict(document)
    removed = []
    for edit in edits:
        if edit.remove:
            removed.append(edit)
        else:
            result = _edited(result, edit.path, edit)
    # The last ones first, so that positions are still those that were meant.
    for edit in sorted(removed, key=_position, reverse=True):
        result = _edited(result, edit.path, edit)
    return dict(result)


def _position(edit: Edit) -> tuple[bool, int]:
    last = edit.path[-1]
    return isinstance(last, int), last if isinstance(last, int) else 0


def _edited(value: Any, path: tuple[str | int, ...], edit: Edit) -> Any:
    copied: Any = list(value) if isinstance(value, Sequence) else dict(value)
    step, *rest = path
    if rest:
        copied[step] = _edited(copied[step], tuple(rest), edit)
    elif edit.remove:
        del copied[step]
    elif isinstance(copied, list) and step == len(copied):
        copied.append(edit.value)
    else:
        copied[step] = edit.value
    return copied


def number_knob(key: str, now: int, values: Iterable[int], low: int = 0) -> Knob:
    """A number of the configuration.

    Args:
        key: Kafka's key.
        now: Its value.
        values: Values to be tried, the nearest ones first whatever their order here.
        low: The smallest value that Kafka takes.
    """
    wanted = sorted({value for value in values if value >= low and value != now}, key=lambda value: abs(value - now))
    return Knob(
        "setting",
        wanted,
        lambda value: Change("setting", f"{key} were {value:,} instead of {now:,}", setting=(key, str(value))),
        now=now,
    )


def choice_knob(key: str, now: str, values: Iterable[str]) -> Knob:
    """A word of the configuration, or a list of words with commas."""

    def at(value: str) -> Change:
        return Change("setting", f"{key} were {value or 'empty'} instead of {now or 'empty'}", setting=(key, value))

    return Knob("setting", [value for value in values if value != now], at)


def setting_knobs(settings: Mapping[str, Any]) -> Iterable[Knob]:
    """The settings of an assignor's own that are configured: numbers a little up and down, switches the other way.

    Args:
        settings: Full key to value.
    """
    for key, value in settings.items():
        text = str(value)
        if text.lower() in ("true", "false"):
            yield choice_knob(key, text, ["false" if text.lower() == "true" else "true"])
        elif text.lstrip("-").isascii() and text.lstrip("-").isdigit() and len(text) < 16:
            now = int(text)
            yield number_knob(key, now, (now - 1, now + 1, now * 2, now * 10, 0), low=min(now, 0))
