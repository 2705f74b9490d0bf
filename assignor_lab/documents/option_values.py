"""Values of options from a command or a caller of Python, each within its limits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from os import PathLike, fspath
from typing import Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from assignment_api import AssignorLabError
from assignor_lab.documents.shapes import INT_MAX, LONG_MAX, Check, Mismatch, boolean, described, text, whole

__all__ = [
    "MOST_SECONDS", "OptionValueError", "file_name", "file_names", "flag_value", "mapping_value", "number_value",
    "optional", "processes_value", "seconds_value", "seed_value", "sequence_value", "text_value", "texts_value",
    "whole_value", "zone_name",
]  # fmt: skip

T = TypeVar("T")

#: Longest time that an option of seconds has: a day.
MOST_SECONDS = 86_400


class OptionValueError(AssignorLabError):
    """An option has a value of another type, or outside its limits."""


def whole_value(option: str, value: object, least: int = 0, most: int = INT_MAX) -> int:
    """A whole number in these bounds, as :class:`int`; a boolean and ``1.0`` fail.

    Args:
        option: The option, as the message names it.

    Raises:
        OptionValueError: for another value.
    """
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    return _checked(option, whole(least, most), int(value) if is_whole else value)  # type: ignore[call-overload]


def seed_value(value: object) -> int:
    """The seed of draws.

    Raises:
        OptionValueError: for another value.
    """
    return whole_value("--seed", value, most=LONG_MAX)


def processes_value(value: object) -> int:
    """The number of processes; 0 means one for each core.

    Raises:
        OptionValueError: for another value.
    """
    return whole_value("--processes", value) or os.cpu_count() or 1


def seconds_value(option: str, value: object) -> float:
    """Seconds from 0 to :data:`MOST_SECONDS`.

    Raises:
        OptionValueError: for another value.
    """
    return number_value(option, value, 0, MOST_SECONDS)


def number_value(option: str, value: object, least: float = 0, most: float = LONG_MAX) -> float:
    """A number in these bounds; infinity and NaN fail.

    Raises:
        OptionValueError: for another value.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise OptionValueError(f"{option}: expected a number from {least:,} to {most:,}, found {_shown(value)}")
    return float(value)


def flag_value(option: str, value: object) -> bool:
    """True or false.

    Raises:
        OptionValueError: for another value.
    """
    return _checked(option, boolean, value)


def text_value(option: str, value: object) -> str:
    """A text.

    Raises:
        OptionValueError: for another value.
    """
    return _checked(option, text, value)


def texts_value(option: str, value: object) -> Sequence[str]:
    """A list or another sequence of texts; a single text fails, as its letters would count.

    Raises:
        OptionValueError: for another value.
    """
    return [text_value(option, each) for each in sequence_value(option, value)]


def sequence_value(option: str, value: object) -> Sequence[Any]:
    """A list or another sequence; a single text fails.

    Raises:
        OptionValueError: for another value.
    """
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise OptionValueError(f"{option}: expected a list, found {_shown(value)}")
    return list(value)


def zone_name(option: str, value: object) -> str:
    """The name of a time zone.

    Raises:
        OptionValueError: if there is no such zone.
    """
    name = text_value(option, value)
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        message = f"{option}: {name!r:.80} is no time zone: give a name such as Europe/Paris or UTC"
        raise OptionValueError(message) from None
    return name


def file_name(option: str, value: object) -> str:
    """The name of a file, from a text or a path.

    Raises:
        OptionValueError: for another value.
    """
    name = fspath(value) if isinstance(value, PathLike) else value
    if not isinstance(name, str) or not name or "\0" in name:
        raise OptionValueError(f"{option}: expected the name of a file, found {_shown(value)}")
    return name


def file_names(option: str, value: object) -> Sequence[str]:
    """The names of files: one, or several.

    Raises:
        OptionValueError: for another value.
    """
    several = [value] if isinstance(value, str | PathLike) or not isinstance(value, Iterable) else value
    return [file_name(option, each) for each in several]


def mapping_value(option: str, value: object) -> Mapping[str, Any]:
    """A mapping with texts as keys.

    Raises:
        OptionValueError: for another value.
    """
    if not isinstance(value, Mapping):
        raise OptionValueError(f"{option}: expected a mapping, found {_shown(value)}")
    return {text_value(option, key): each for key, each in value.items()}


def optional(check: Callable[[str, Any], T], option: str, value: object) -> T | None:
    """The checked value; ``None`` stays ``None``."""
    return None if value is None else check(option, value)


def _checked(option: str, check: Check[T], value: Any) -> T:
    try:
        return check(value)
    except Mismatch as mismatch:
        raise OptionValueError(f"{option}: {mismatch.reason}") from None


def _shown(value: object) -> str:
    return described(value) if isinstance(value, str | int | float | list | None) else f"{value!r:.40}"
