"""Checks of JSON values, and their combination to checks of whole documents.

A check returns the read value, or raises :class:`Mismatch`. Containers add their step to the mismatch, so a path costs
nothing without a fault. :func:`faults_at` turns it into the user's error.
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

#: Deepest nesting of unchecked values.
_MAX_DEPTH = 64

T = TypeVar("T")
Check = Callable[[Any], T]


class Mismatch(Exception):  # noqa: N818 - it is a signal between checks; users get DocumentFormatError
    """A value has a wrong format.

    Args:
        reason: Expected and found content, and the remedy.
        steps: Path from the checked value to the fault.
        line: Line of the fault, from 1, if the text is no JSON or TOML.
    """

    def __init__(self, reason: str, *steps: str | int, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path: list[str | int] = list(steps)
        self.line = line

    def inside(self, *steps: str | int) -> Mismatch:
        """The same mismatch below ``steps``."""
        self.path[:0] = steps
        return self


@contextmanager
def faults_at(place: Place) -> Iterator[None]:
    """Turns a mismatch into the user's error.

    Raises:
        DocumentFormatError: for a mismatch, with its place and the path to the wrong value.
    """
    try:
        yield
    except Mismatch as mismatch:
        line = mismatch.line if place.line is None else place.line
        raise DocumentFormatError(place.file, line, key_path(mismatch.path), mismatch.reason) from None


def described(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"{str(value).lower()} (a boolean)"
    if isinstance(value, str):
        return f'"{printable(value)}" (a text)'
    if isinstance(value, (int, float)):
        # Formatting a huge integer takes quadratic time.
        if isinstance(value, int) and value.bit_length() > 128:
            return "a number of more than 38 digits"
        return f"{value} (a number)"
    return "a list" if isinstance(value, list) else "an object"


def _expected(subject: str, value: object) -> Mismatch:
    remedy = "; null means unknown, which is not possible here: give the value" if value is None else ""
    return Mismatch(f"expected {subject}, found {described(value)}{remedy}")


def at(check: Check[T], value: Any, *steps: str | int) -> T:
    """Checks a value ``steps`` below the caller's value."""
    try:
        return check(value)
    except Mismatch as mismatch:
        raise mismatch.inside(*steps) from None


def text(value: Any) -> str:
    if type(value) is not str:
        raise _expected("a text", value)
    return value


def hexadecimal(value: Any) -> bytes:
    try:
        return binascii.unhexlify(text(value))
    except ValueError:
        raise Mismatch("expected pairs of hexadecimal digits, and nothing else") from None


def boolean(value: Any) -> bool:
    """A number is neither true nor false."""
    if type(value) is not bool:
        raise _expected("true or false", value)
    return value


def whole(minimum: int, maximum: int) -> Check[int]:
    """A whole number in these bounds; a boolean and ``1.0`` fail."""

    def check(value: Any) -> int:
        if type(value) is not int:
            raise _expected("a whole number", value)
        if not minimum <= value <= maximum:
            raise Mismatch(f"expected a whole number from {minimum} to {maximum}, found {described(value)}")
        return value

    return check


def format_number(
    known: int, remedy: str = "convert the file, or use the version of the program that wrote it"
) -> Check[int]:
    """Only the ``known`` number of a document's format passes."""

    def check(value: Any) -> int:
        if type(value) is not int or value != known:
            raise Mismatch(f"unknown format: this version reads format {known}, found {described(value)}; {remedy}")
        return known

    return check


#: At most Java's largest int.
count = whole(0, INT_MAX)


def number(value: Any) -> float:
    """A finite number that is not negative."""
    if type(value) not in (int, float):
        raise _expected("a number", value)
    if not 0 <= value <= LONG_MAX or math.isnan(value):
        raise Mismatch(f"expected a number from 0 to {LONG_MAX}, found {described(value)}")
    return float(value)


def nullable(check: Check[T]) -> Check[T | None]:
    def read(value: Any) -> T | None:
        return None if value is None else check(value)

    return read


def one_of(*choices: str) -> Check[str]:
    def check(value: Any) -> str:
        if type(value) is not str or value not in choices:
            raise _expected("one of " + ", ".join(f'"{choice}"' for choice in choices), value)
        return value

    return check


def list_of(check: Check[T]) -> Check[list[T]]:
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
    """An object with free keys, in their order."""

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
    """An object with exactly these keys; missing optional keys stay missing."""
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
    """A foreign object with at least these keys; the result lacks other and missing ones.

    Args:
        hint: Remedy for a missing key, or a value that is no object.
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


def suggestion(word: str, known: Iterable[str], subject: str) -> str:
    """For an unknown word; ``subject`` is the common name of the known ones."""
    known = list(known)
    near = difflib.get_close_matches(word[:100], known, n=1, cutoff=0.7)
    return f'did you mean "{near[0]}"?' if near else f"known {subject} are " + ", ".join(known)


def any_value(value: Any) -> Any:
    """Any value of at most 64 levels, unchecked."""
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
