"""Patterns of topics that a sink reads: a list, or an expression with bounded matching time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["pattern_problem", "topic_matcher"]

# Private modules of Python, which type checkers know or not by the order of the files.
op, parser = import_module("re._constants"), import_module("re._parser")

_MOST_CHARS, _MOST_REPEATS = 500, 3
_REPEAT = re.compile(r"(?<!\\)(?:\\\\)*[*+{]")
_REPEATED_GROUP = re.compile(r"(?<!\\)(?:\\\\)*\)[*+{]")
#: Ways through an expression that are tried for one name at most: of three repeats.
_LONGEST_NAME = 249
_MOST_WAYS = (_LONGEST_NAME + 1) ** _MOST_REPEATS
_BACK_REFERENCE = re.compile(r"\\[1-9]|\(\?P=|\(\?\(")


def pattern_problem(pattern: str) -> str | None:
    """Problem of an expression for topic names; ``None`` if it can be used.

    Python's expressions can take exponential time. Without repeated groups and with few ways through them, they do not.
    """
    if len(pattern) > _MOST_CHARS:
        return f"longer than {_MOST_CHARS} characters"
    if _REPEATED_GROUP.search(pattern) or _BACK_REFERENCE.search(pattern):
        return "repeated groups and references to groups are not supported: list alternatives side by side"
    if len(_REPEAT.findall(pattern)) > _MOST_REPEATS:
        return f"more than {_MOST_REPEATS} repeats (*, +, {{}}) are not supported"
    try:
        re.compile(pattern)
        if _ways(parser.parse(pattern)) > _MOST_WAYS:
            return (
                "so many optional parts and alternatives behind one another are not supported: list them side by side"
            )
    except (re.error, RecursionError, OverflowError) as error:
        return f"not an expression: {error}"
    return None


def _ways(parts: Any) -> float:
    """Ways through an expression that a search without success tries, at most."""
    ways = 1.0
    for kind, value in parts:
        if kind is op.SUBPATTERN:
            ways *= _ways(value[3])
        elif kind is op.ATOMIC_GROUP:
            ways *= _ways(value)
        elif kind is op.BRANCH:
            ways *= sum(_ways(branch) for branch in value[1])
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            ways *= _ways(value[1])
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            least, most, inner = value
            ways *= (min(most, _LONGEST_NAME) - min(least, _LONGEST_NAME) + 1) * _ways(inner)
    return ways


def topic_matcher(config: Mapping[str, str]) -> Callable[[str], bool]:
    """Returns whether a sink reads a topic. A sink with an unusable expression reads none."""
    topics = frozenset(name.strip() for name in config.get("topics", "").split(",") if name.strip())
    pattern = config.get("topics.regex", "")
    if topics or not pattern or pattern_problem(pattern) is not None:
        return topics.__contains__
    compiled = re.compile(pattern)
    return lambda topic: compiled.fullmatch(topic) is not None
