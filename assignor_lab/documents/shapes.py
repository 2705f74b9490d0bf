"""Checks of JSON values, and how they are put together to the checks of whole documents.

A check takes a value, returns what was read from it, and raises :class:`Mismatch` where the value is not what was
expected. Containers add their own step to the mismatch on its way out, so that the path to the fault costs nothing
as long as there is none. :func:`faults_at` turns a mismatch into the error that users see.
"""

from __future__ import annotations

import binascii
import difflib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from assignor_lab.documents.errors import DocumentFormatError, Place, key_path, printable

__all__ = [
    "INT_MAX",
    "LONG_MAX",
    "LONG_MIN",
    "Check",
    "Mismatch",
    "any_value",
    "at",
    "boolean",
    "count",
    "described",
    "faults_at",
    "format_number",
    "hexadecimal",
    "list_of",
    "map_of",
    "nullable",
    "number",
    "one_of",
    "open_record",
    "record",
    "suggestion",
    "text",
    "whole",
]

INT_MAX = 2**31 - 1
LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1

#: Deepest nesting of values whose shape is not checked further.
_MAX_DEPTH = 64

T = TypeVar("T")
Check = Callable[[Any], T]


class Mismatch(Exception):  # noqa: N818 - it is a signal between checks; users get DocumentFormatError
    """A value is not what the format asks for.

    Args:
        reason: What was expected, what was found, and what to do.
        steps: Path from the value where it was raised down to the fault.
        line: Line of the fault, from 1, where the text is no JSON or TOML at all.
    """

    def __init__(self, reason: str, *steps: str | int, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path: list[str | int] = list(steps)
        self.line = line

    def inside(self, *steps: str | int) -> Mismatch:
        """The same mismatch seen from ``steps`` further up."""
        self.path[:0] = steps
        return self


@contextmanager
def faults_at(place: Place) -> Iterator[None]:
    """Turns a mismatch in the block into the user's error for the document at ``place``.

    Raises:
        DocumentFormatError: for a mismatch, with its place and the path to the value at fault.
    """
    try:
        yield
    except Mismatch as mismatch:
        line = mismatch.line if place.line is None else place.line
        raise DocumentFormatError(place.file, line, key_path(mismatch.path), mismatch.reason) from None


def described(value: object) -> str:
    """A short description of a JSON value for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"{str(value).lower()} (a boolean)"
    if isinstance(value, str):
        return f'"{printable(value)}" (a text)'
    if isinstance(value, (int, float)):
        # Never format a huge integer: that takes quadratic time.
        if isinstance(value, int) and value.bit_length() > 128:
            return "a number of more than 38 digits"
        return f"{value} (a number)"
    return "a list" if isinstance(value, list) else "an object"


def _expected(what: str, value: object) -> Mismatch:
    remedy = "; null means unknown, which is not possible here: give the value" if value is None else ""
    return Mismatch(f"expected {what}, found {described(value)}{remedy}")


def at(check: Check[T], value: Any, *steps: str | int) -> T:
    """What ``check`` reads from a value that lies ``steps`` below the one that the caller checks."""
    try:
        return check(value)
    except Mismatch as mismatch:
        raise mismatch.inside(*steps) from None


def text(value: Any) -> str:
    """A text."""
    if type(value) is not str:
        raise _expected("a text", value)
    return value


def hexadecimal(value: Any) -> bytes:
    """A text of pairs of hexadecimal digits, as the bytes that it stands for."""
    try:
        return binascii.unhexlify(text(value))
    except ValueError:
        raise Mismatch("expected pairs of hexadecimal digits, and nothing else") from None


def boolean(value: Any) -> bool:
    """True or false; a number is neither."""
    if type(value) is not bool:
        raise _expected("true or false", value)
    return value


def whole(minimum: int, maximum: int) -> Check[int]:
    """A check for a whole number from ``minimum`` to ``maximum``; a boolean and ``1.0`` are none."""

    def check(value: Any) -> int:
        if type(value) is not int:
            raise _expected("a whole number", value)
        if not minimum <= value <= maximum:
            raise Mismatch(f"expected a whole number from {minimum} to {maximum}, found {described(value)}")
        return value

    return check


def format_number(known: int) -> Check[int]:
    """A check for the number of a document's format, of which only ``known`` is read."""

    def check(value: Any) -> int:
        if type(value) is not int or value != known:
            raise Mismatch(
                f"unknown format: this version reads format {known}, found {described(value)}; convert the file, or "
                "use the version of the program that wrote it"
            )
        return known

    return check


#: A number of things, at most what Java's int holds.
count = whole(0, INT_MAX)


def number(value: Any) -> float:
    """A finite number that is not negative."""
    if type(value) not in (int, float):
        raise _expected("a number", value)
    if not 0 <= value <= LONG_MAX or math.isnan(value):
        raise Mismatch(f"expected a number from 0 to {LONG_MAX}, found {described(value)}")
    return float(value)


def nullable(check: Check[T]) -> Check[T | None]:
    """``check``, or null."""

    def read(value: Any) -> T | None:
        return None if value is None else check(value)

    return read


def one_of(*choices: str) -> Check[str]:
    """One of a few texts."""

    def check(value: Any) -> str:
        if type(value) is not str or value not in choices:
            raise _expected("one of " + ", ".join(f'"{choice}"' for choice in choices), value)
        return value

    return check


def list_of(check: Check[T]) -> Check[list[T]]:
    """A list whose items pass ``check``."""

    def read(value: Any) -> list[T]:
        if type(value) is not list:
            raise _expected("a list", value)
        index = 0
        try:
            result = []
            for index, item in enumerate(value):  # noqa: B007 - the handler below says which item it was
                result.append(check(item))
            return result
        except Mismatch as mismatch:
            raise mismatch.inside(index) from None

    return read


def map_of(key_check: Check[Any], check: Check[T]) -> Check[dict[str, T]]:
    """An object with free keys that pass ``key_check`` and values that pass ``check``; the order is kept."""

    def read(value: Any) -> dict[str, T]:
        if type(value) is not dict:
            raise _expected("an object", value)
        key = ""
        try:
            result = {}
            for key, item in value.items():
                key_check(key)
                result[key] = check(item)
            return result
        except Mismatch as mismatch:
            raise mismatch.inside(key) from None

    return read


def record(
    required: Mapping[str, Check[Any]], optional: Mapping[str, Check[Any]] | None = None
) -> Check[dict[str, Any]]:
    """An object with exactly these keys; an optional one may be missing, and is then missing in what is read."""
    checks = {**required, **(optional or {})}
    needed = required.keys()

    def read(value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise _expected("an object", value)
        keys = value.keys()
        if not needed <= keys or not keys <= checks.keys():
            raise _wrong_keys(keys, needed, checks.keys())
        key = ""
        try:
            result = {}
            for key, item in value.items():
                result[key] = checks[key](item)
            return result
        except Mismatch as mismatch:
            raise mismatch.inside(key) from None

    return read


def open_record(
    required: Mapping[str, Check[Any]], optional: Mapping[str, Check[Any]] | None = None, *, hint: str = ""
) -> Check[dict[str, Any]]:
    """An object of others that has at least these keys; those that are not named here are left out of what is read.

    Args:
        required: Keys that must be there, with their checks.
        optional: Keys that may be there; what is read lacks those that are not.
        hint: What to do, or to ask oneself, where it is no object or a required key is not there.
    """
    checks = {**required, **(optional or {})}
    remedy = f": {hint}" if hint else ""

    def read(value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise Mismatch(f"expected an object, found {described(value)}{remedy}")
        for key in required:
            if key not in value:
                raise Mismatch(f'required key "{key}" is missing{remedy}', key)
        return {key: at(check, value[key], key) for key, check in checks.items() if key in value}

    return read


def _wrong_keys(found: Iterable[str], needed: Iterable[str], known: Iterable[str]) -> Mismatch:
    known = list(known)
    for key in found:
        if key not in known:
            return Mismatch(f'unknown key "{printable(key)}": {suggestion(key, known, "keys")}', key)
    found = list(found)
    missing = next(key for key in needed if key not in found)
    return Mismatch(f'required key "{missing}" is missing: add it; nothing is guessed for it', missing)


def suggestion(word: str, known: Iterable[str], what: str) -> str:
    """What may have been meant by a word that is none of the known ones; ``what`` they are called together."""
    known = list(known)
    near = difflib.get_close_matches(word[:100], known, n=1, cutoff=0.7)
    return f'did you mean "{near[0]}"?' if near else f"known {what} are " + ", ".join(known)


def any_value(value: Any) -> Any:
    """Any value of at most 64 levels; its meaning is checked by whoever uses it."""
    level = [value]
    for _ in range(_MAX_DEPTH):
        deeper: list[Any] = []
        for item in level:
            inner = item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
            deeper.extend(value for value in inner if isinstance(value, (dict, list)))
        if not deeper:
            return value
        level = deeper
    raise Mismatch(f"nested deeper than {_MAX_DEPTH} levels: no value of the format is")
