"""Topics that match a regular expression, in bounded time.

The expression is Java's and comes from a file. Python's parser reads it; the matcher follows all paths at once, and
stops after a fixed number of steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import attrs

__all__ = ["matching_topics"]

op: Any = import_module("re._constants")
parser: Any = import_module("re._parser")

_LONGEST = 1000
_LONGEST_NAME = 249
_MOST_STEPS = 20_000
_BEGINNING = frozenset([0])
_LITERALS = (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN)
_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT)


def matching_topics(pattern: str, topics: Iterable[str]) -> tuple[str, ...] | None:
    """Sorted whole matches; ``None`` if the pattern is not supported.

    Java and Python agree on common patterns. Look-around and back-references are not supported.
    """
    try:
        parsed = parser.parse(pattern) if len(pattern) <= _LONGEST else None
        if parsed is None or parsed.state.flags & ~re.UNICODE:
            return None
        names = (topic for topic in topics if len(topic) <= _LONGEST_NAME)
        return tuple(sorted(name for name in names if len(name) in _Matching(name).after(parsed, _BEGINNING)))
    except (re.error, RecursionError, OverflowError, _UnknownPartError):
        return None


class _UnknownPartError(Exception):
    """An unsupported part of an expression."""


@attrs.define
class _Matching:
    text: str
    steps: int = 0

    def after(self, parts: Any, places: frozenset[int]) -> frozenset[int]:
        """Ends of matches of ``parts`` from any of ``places``."""
        for kind, value in parts:
            self.steps += 1
            if self.steps > _MOST_STEPS:
                raise _UnknownPartError
            if not places:
                break
            places = self._after_one(kind, value, places)
        return places

    def _after_one(self, kind: Any, value: Any, places: frozenset[int]) -> frozenset[int]:
        if kind in _LITERALS:
            return frozenset(at + 1 for at in places if at < len(self.text) and _is(kind, value, self.text[at]))
        if kind is op.SUBPATTERN and not (value[1] or value[2]):
            return self.after(value[3], places)
        if kind is op.BRANCH:
            return frozenset().union(*(self.after(branch, places) for branch in value[1]))
        if kind in _REPEATS:
            least, most, inner = value
            return self._repeated(least, most, inner, places)
        if kind is op.AT and value in (op.AT_BEGINNING, op.AT_BEGINNING_STRING):
            return places & {0}
        if kind is op.AT and value in (op.AT_END, op.AT_END_STRING):
            return places & {len(self.text)}
        raise _UnknownPartError

    def _repeated(self, least: int, most: int, inner: Any, places: frozenset[int]) -> frozenset[int]:
        # A repetition without a character changes nothing.
        enough = len(self.text) + 1
        for _ in range(min(least, enough)):
            places = self.after(inner, places)
        found = places
        for _ in range(min(most - least, enough)):
            places = self.after(inner, places) - found
            if not places:
                break
            found |= places
        return found


def _is(kind: Any, value: Any, character: str) -> bool:
    if kind is op.LITERAL:
        return bool(ord(character) == value)
    if kind is op.NOT_LITERAL:
        return bool(ord(character) != value)
    return kind is op.ANY or _in_class(value, character)


def _in_class(items: Any, character: str) -> bool:
    negated, found = False, False
    for kind, value in items:
        if kind is op.NEGATE:
            negated = True
        elif kind is op.LITERAL:
            found |= ord(character) == value
        elif kind is op.RANGE:
            found |= value[0] <= ord(character) <= value[1]
        elif kind is op.CATEGORY and value in _CATEGORIES:
            found |= bool(_CATEGORIES[value](character))
        else:
            raise _UnknownPartError
    return found is not negated


def _is_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")


def _is_digit(character: str) -> bool:
    return character in "0123456789"


_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    op.CATEGORY_DIGIT: _is_digit,
    op.CATEGORY_NOT_DIGIT: lambda character: not _is_digit(character),
    op.CATEGORY_WORD: _is_word,
    op.CATEGORY_NOT_WORD: lambda character: not _is_word(character),
    op.CATEGORY_SPACE: str.isspace,
    op.CATEGORY_NOT_SPACE: lambda character: not character.isspace(),
}
