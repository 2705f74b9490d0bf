"""The work of each pattern is linear, for any repeated part of a match."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.patterns.collected import patterns
from tests.patterns.samples import hard_texts
from tests.patterns.steps import TooManyStepsError, program

#: A text this many times as long may take this many times the work: linear work stays below that.
_TIMES, _MOST = 4, 6


def superlinear(pattern: re.Pattern[Any]) -> str | None:
    """A part that takes superlinear work when repeated, or None."""
    machine = program(pattern)
    for part, short, long in hard_texts(pattern, _TIMES):
        try:
            machine.spans(short, budget=200_000)
            spans = machine.spans(long, budget=_MOST * machine.steps + 100)
        except TooManyStepsError:
            return part
        if machine.is_exact:
            text = long.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else long
            assert spans == [found.span() for found in pattern.finditer(text)], f"the model is wrong: {part!r}"
    return None


@pytest.mark.slow
def test_patterns_are_linear() -> None:
    found = {used.where: superlinear(used.pattern) for used in patterns()}

    assert {where: part for where, part in found.items() if part is not None} == {}


@pytest.mark.parametrize(
    "pattern",
    [
        r"\[Worker clientId=(.*?), groupId=(.*?)\]",
        r"([^\s]*-StreamThread-\d+)",
        r"Streams member (.+?) fenced because (.*?)\.*\s*\Z",
        r"id=(?P<id>.*?), .*?rack=(?P<rack>.*?), .*?tags=\{(?P<tags>.*?)\}",
        r"(?:a+a+)+b",
        r"\s*Source: (.+?) \(topics: (.*)\)\s*\Z",
        r"(?i)(?:x\d+)*y",
    ],
)
def test_superlinear_patterns_are_seen(pattern: str) -> None:
    assert superlinear(re.compile(pattern)) is not None
