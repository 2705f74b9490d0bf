"""Steps of a backtracking match: a small model of Python's own engine, which has no counter.

The model runs the tree that Python's parser makes of a pattern. The test compares its answers with those of ``re``:
it counts the steps of the same search.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import attrs

__all__ = ["CATEGORIES", "Program", "TooManyStepsError", "ops", "parser", "program"]

# Private modules of Python: its own parser of patterns.
ops, parser = import_module("re._constants"), import_module("re._parser")

Instruction = tuple[Any, ...]
#: A larger bound costs as much as none in a line of some thousand characters.
LARGEST_BOUND = 64
#: The texts are short: a smaller bound shows in them.
_SEEN_BOUND = 8
#: Classes of characters to their pattern.
CATEGORIES = {
    ops.CATEGORY_DIGIT: r"\d",
    ops.CATEGORY_NOT_DIGIT: r"\D",
    ops.CATEGORY_SPACE: r"\s",
    ops.CATEGORY_NOT_SPACE: r"\S",
    ops.CATEGORY_WORD: r"\w",
    ops.CATEGORY_NOT_WORD: r"\W",
}


class TooManyStepsError(Exception):
    """The budget of steps is used up."""


@attrs.define(eq=False)
class Program:
    """A pattern as instructions of a backtracking machine.

    Args:
        code: The instructions.
        is_exact: False if a bound was left out: then answers may differ from Python's.
    """

    code: list[Instruction] = attrs.field(factory=list)
    is_exact: bool = True
    steps: int = 0
    budget: int = 0

    def run(self, text: str, start: int, code: Sequence[Instruction] | None = None) -> int | None:
        """End of the match that begins at ``start``, or None."""
        program = self.code if code is None else code
        waiting: list[tuple[int, int]] = [(0, start)]
        while waiting:
            counter, position = waiting.pop()
            while True:
                self.steps += 1
                if self.steps > self.budget:
                    raise TooManyStepsError
                instruction = program[counter]
                kind = instruction[0]
                if kind == "sign":
                    if position == len(text) or not instruction[1](text[position]):
                        break
                    position += 1
                    counter += 1
                elif kind == "split":
                    waiting.append((instruction[2], position))
                    counter = instruction[1]
                elif kind == "jump":
                    counter = instruction[1]
                elif kind == "at":
                    if not instruction[1](text, position):
                        break
                    counter += 1
                elif kind == "atomic":
                    end = self.run(text, position, instruction[1])
                    if end is None:
                        break
                    position, counter = end, counter + 1
                elif kind == "look":
                    _, inner, behind, wanted = instruction
                    found = position >= behind and self.run(text, position - behind, inner) is not None
                    if found is not wanted:
                        break
                    counter += 1
                else:
                    return position
        return None

    def spans(self, text: str, *, budget: int) -> list[tuple[int, int]]:
        """Spans of all matches, as of ``finditer``.

        Raises:
            TooManyStepsError: if more than ``budget`` steps are needed.
        """
        self.steps, self.budget = 0, budget
        found: list[tuple[int, int]] = []
        start = 0
        while start <= len(text):
            end = self.run(text, start)
            if end is not None:
                found.append((start, end))
            start = start + 1 if end is None or end == start else end
        return found


def program(pattern: re.Pattern[Any]) -> Program:
    """The program of a compiled pattern."""
    made = Program()
    tree = parser.parse(pattern.pattern, pattern.flags)
    _emit(tree, pattern.flags, made.code, made)
    made.code.append(("match",))
    return made


def _emit(tree: Any, flags: int, code: list[Instruction], made: Program) -> None:
    for op, argument in tree:
        if op in (ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.IN):
            code.append(("sign", _sign(op, argument, flags)))
        elif op is ops.SUBPATTERN:
            _, add, remove, inner = argument
            _emit(inner, (flags | add) & ~remove, code, made)
        elif op is ops.BRANCH:
            _branch(argument[1], flags, code, made)
        elif op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
            _repeat(op, argument, flags, code, made)
        elif op is ops.ATOMIC_GROUP:
            code.append(("atomic", _inner(argument, flags, made)))
        elif op in (ops.ASSERT, ops.ASSERT_NOT):
            direction, inner = argument
            behind = 0 if direction > 0 else inner.getwidth()[0]
            code.append(("look", _inner(inner, flags, made), behind, op is ops.ASSERT))
        elif op is ops.AT:
            code.append(("at", _place(argument, flags)))
        else:
            raise NotImplementedError(op)


def _inner(tree: Any, flags: int, made: Program) -> list[Instruction]:
    code: list[Instruction] = []
    _emit(tree, flags, code, made)
    return [*code, ("match",)]


def _branch(ways: Sequence[Any], flags: int, code: list[Instruction], made: Program) -> None:
    ends = []
    for number, way in enumerate(ways):
        split = len(code)
        if number < len(ways) - 1:
            code.append(())
        _emit(way, flags, code, made)
        if number < len(ways) - 1:
            ends.append(len(code))
            code.append(())
            code[split] = ("split", split + 1, len(code))
    for end in ends:
        code[end] = ("jump", len(code))


def _repeat(op: Any, argument: Any, flags: int, code: list[Instruction], made: Program) -> None:
    least, most, inner = argument
    if op is ops.POSSESSIVE_REPEAT:
        own: list[Instruction] = []
        _repeat(ops.MAX_REPEAT, argument, flags, own, made)
        code.append(("atomic", [*own, ("match",)]))
        return
    if most is not ops.MAXREPEAT and most > LARGEST_BOUND:
        most, made.is_exact = ops.MAXREPEAT, False
    elif most is not ops.MAXREPEAT and most > max(least, _SEEN_BOUND):
        most, made.is_exact = max(least, _SEEN_BOUND), False
    if most is ops.MAXREPEAT and inner.getwidth()[0] == 0:
        raise NotImplementedError("a loop that may be empty")
    for _ in range(least):
        _emit(inner, flags, code, made)

    def split(here: int, inside: int, outside: int) -> None:
        code[here] = ("split", inside, outside) if op is ops.MAX_REPEAT else ("split", outside, inside)

    if most is ops.MAXREPEAT:
        here = len(code)
        code.append(())
        _emit(inner, flags, code, made)
        code.append(("jump", here))
        split(here, here + 1, len(code))
        return
    places = []
    for _ in range(most - least):
        places.append(len(code))
        code.append(())
        _emit(inner, flags, code, made)
    for here in places:
        split(here, here + 1, len(code))


def _sign(op: Any, argument: Any, flags: int) -> Callable[[str], bool]:
    fold = str.lower if flags & re.IGNORECASE else str
    if op is ops.ANY:
        return (lambda _: True) if flags & re.DOTALL else (lambda sign: sign != "\n")
    if op is ops.LITERAL:
        wanted = fold(chr(argument))
        return lambda sign: fold(sign) == wanted
    if op is ops.NOT_LITERAL:
        unwanted = fold(chr(argument))
        return lambda sign: fold(sign) != unwanted
    negated = argument[0][0] is ops.NEGATE
    parts = [_part(part, value, flags, fold) for part, value in argument if part is not ops.NEGATE]
    known: dict[str, bool] = {}

    def is_in(sign: str) -> bool:
        if sign not in known:
            known[sign] = any(part(sign) for part in parts) is not negated
        return known[sign]

    return is_in


def _part(op: Any, value: Any, flags: int, fold: Callable[[str], str]) -> Callable[[str], bool]:
    if op is ops.LITERAL:
        return lambda sign: fold(sign) == fold(chr(value))
    if op is ops.RANGE:
        low, high = value
        return lambda sign: low <= ord(sign) <= high or low <= ord(fold(sign)) <= high
    pattern = re.compile(CATEGORIES[value], flags & re.ASCII)
    return lambda sign: pattern.match(sign) is not None


def _place(place: Any, flags: int) -> Callable[[str, int], bool]:
    name = str(place)
    if name == "AT_BEGINNING" and flags & re.MULTILINE:
        return lambda text, position: position == 0 or text[position - 1] == "\n"
    if name in ("AT_BEGINNING_STRING", "AT_BEGINNING") and not flags & re.MULTILINE:
        return lambda _, position: position == 0
    if name == "AT_END_STRING":
        return lambda text, position: position == len(text)
    if name == "AT_END" and not flags & re.MULTILINE:
        return lambda text, position: position == len(text) or (position == len(text) - 1 and text[-1] == "\n")
    word = re.compile(r"\w", flags & re.ASCII)

    def is_edge(text: str, position: int) -> bool:
        before = position > 0 and word.match(text[position - 1]) is not None
        after = position < len(text) and word.match(text[position]) is not None
        return before is not after

    if name in ("AT_BOUNDARY", "AT_NON_BOUNDARY"):
        return lambda text, position: is_edge(text, position) is (name == "AT_BOUNDARY")
    raise NotImplementedError(name)
