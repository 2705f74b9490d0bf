"""Hard texts for a pattern: each part of a match, repeated, after the parts before it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.patterns.steps import CATEGORIES, ops, parser

__all__ = ["hard_texts"]

_USUAL = "a0 -_.,:=[](){}'\"/\\\x1b@\u00e9\x01"
_MOST_PIECES = 10
#: Approximate length of the shorter texts.
_CHARACTERS = 120


def hard_texts(pattern: re.Pattern[Any], times: int) -> Iterator[tuple[str, str, str]]:
    """A repeated part, a text with some repetitions of it, and a text with ``times`` as many."""
    tree = parser.parse(pattern.pattern, pattern.flags)
    pieces = [piece for piece in _pieces(tree) if piece]
    while len(pieces) > _MOST_PIECES:
        shortest = min(range(len(pieces) - 1), key=lambda at: len(pieces[at]) + len(pieces[at + 1]))
        pieces[shortest : shortest + 2] = [pieces[shortest] + pieces[shortest + 1]]
    starts = range(len(pieces) + 1)
    parts = {("".join(pieces[:i]), "".join(pieces[i:j])) for i in starts for j in starts if i < j}
    parts |= {("", literal) for literal in _literals(tree)}
    for before, repeated in sorted(parts):
        few = max(4, _CHARACTERS // len(repeated))
        for end in ("", "\n\x00"):
            yield repeated, before + few * repeated + end, before + times * few * repeated + end


def _pieces(tree: Any) -> list[str]:
    found = [""]
    for op, argument in tree:
        if op is ops.LITERAL:
            found[-1] += chr(argument)
        elif op in (ops.NOT_LITERAL, ops.ANY, ops.IN):
            found += [_sign(op, argument), ""]
        elif op is ops.SUBPATTERN:
            found += [*_pieces(argument[3]), ""]
        elif op is ops.ATOMIC_GROUP:
            found += [*_pieces(argument), ""]
        elif op is ops.BRANCH:
            found += [*_pieces(max(argument[1], key=len)), ""]
        elif op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
            least, _, inner = argument
            found += [*(_pieces(inner) if least < 2 else ["".join(_pieces(inner)) * least]), ""]
    return found


def _literals(tree: Any) -> set[str]:
    """All runs of literals, at any depth, and their beginnings up to a border of words."""
    found: set[str] = set()
    run = ""
    for op, argument in [*tree, (None, None)]:
        if op is ops.LITERAL:
            run += chr(argument)
            continue
        if run:
            found.add(run)
            found |= {run[: at.end()] for at in re.finditer(r"\W+", run)}
        run = ""
        if op is ops.BRANCH:
            for way in argument[1]:
                found |= _literals(way)
        elif op is ops.SUBPATTERN:
            found |= _literals(argument[3])
        elif op is ops.ATOMIC_GROUP:
            found |= _literals(argument)
        elif op in (ops.ASSERT, ops.ASSERT_NOT):
            found |= _literals(argument[1])
        elif op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
            found |= _literals(argument[2])
        elif op in (ops.IN, ops.NOT_LITERAL, ops.ANY):
            found.add(_sign(op, argument))
    return found - {""}


def _sign(op: Any, argument: Any) -> str:
    if op is ops.ANY:
        return "a"
    if op is ops.NOT_LITERAL:
        return next(sign for sign in _USUAL if ord(sign) != argument)
    one = re.compile(_class_of(argument))
    return next((sign for sign in (*_USUAL, *map(chr, range(256))) if one.match(sign)), "\ud800")


def _class_of(parts: Any) -> str:
    text = ""
    for op, value in parts:
        if op is ops.NEGATE:
            text += "^"
        elif op is ops.LITERAL:
            text += re.escape(chr(value))
        elif op is ops.RANGE:
            text += f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
        else:
            text += CATEGORIES[value]
    return f"[{text}]"
