"""The language of ``--fail-if``: parses a text into a :class:`Gate`, or raises an error with its column.

::

    gate       = measure [ "of" NAME ] sign bound [ "with" NUMBER "%" "confidence" ]
    measure    = NAME | statistic "(" NAME ")" | "failed_rows" | "failed_share"
    statistic  = "mean" | "median" | "min" | "max" | "p" NUMBER
    sign       = ">" | ">=" | "<" | "<="
    bound      = [ "-" ] NUMBER [ "%" ]
               | "baseline" { ( "+" | "-" ) NUMBER [ "%" ] }

A NAME in quotes is never a word of the language. The parser has no recursion, one pass, and at most ``MAX_LENGTH``
characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import attrs

from assignment_api import AssignorLabError

__all__ = ["Bound", "Gate", "GateError", "GateNameError", "GateSyntaxError", "Named", "GateContenders", "parse_gate"]


@attrs.frozen
class GateContenders:
    """The assignors of gates.

    Args:
        assignors: All requested assignors, loaded or not.
        observed: True if Kafka's decisions may be named as ``kafka``.
    """

    assignors: tuple[str, ...]
    baseline: str | None = None
    observed: str | None = None

    def of(self, gate: Gate) -> tuple[str, ...]:
        """The assignors of a gate: the named one, or all except the baseline."""
        if gate.assignor is not None:
            return (gate.assignor.text,)
        others = tuple(name for name in self.assignors if name != self.baseline)
        return others or self.assignors


class GateError(AssignorLabError):
    """An expression cannot be used."""

    def __init__(self, expression: str, column: int, reason: str) -> None:
        super().__init__(expression, column, reason)
        self.expression = expression
        self.column = column
        self.reason = reason

    def __str__(self) -> str:
        shown = "".join(sign if sign.isprintable() else " " for sign in self.expression)
        return f"--fail-if, column {self.column}: {self.reason}\n  {shown}\n  {' ' * (self.column - 1)}^"


class GateSyntaxError(GateError):
    """The expression does not follow the grammar (docs, "Gates")."""


class GateNameError(GateError):
    """The expression follows the grammar, but names something that is not in this run."""


MAX_LENGTH = 1_000
SIGNS = (">", ">=", "<", "<=")
COUNTS = ("failed_rows", "failed_share")
QUANTILES = {"median": 0.5, "min": 0.0, "max": 1.0}

# A dash belongs to a name only before a letter, so that `baseline-5` is a subtraction and `my-plugin` a name.
_TOKEN = re.compile(
    r"""
    (?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<name>[A-Za-z_](?:[\w.:]|-(?=[A-Za-z_]))*)
    | "(?P<double>[^"]*)" | '(?P<single>[^']*)'
    | (?P<sign>[<>]=?|[()+%-])
    """,
    re.VERBOSE | re.ASCII,
)
_PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d+)?)")


@attrs.frozen
class Named:
    """A name with its place."""

    text: str
    column: int


@attrs.frozen
class Bound:
    """The bound of a measure: ``factor`` times the baseline's, plus ``offset``.

    Args:
        factor: 0 for an absolute bound.
        relative: True if the baseline is part of it.
    """

    factor: float
    offset: float
    relative: bool


@attrs.frozen
class Gate:
    """A condition under which the build fails.

    Args:
        confidence: Required confidence, between 0.5 and 1; ``None``: the measured figure decides.
    """

    expression: str
    statistic: str
    quantile: float | None
    metric: Named | None
    assignor: Named | None
    sign: str
    bound: Bound
    confidence: float | None
    bound_column: int = attrs.field(default=1, eq=False)


@attrs.frozen
class _Token:
    kind: str
    text: str
    column: int


def parse_gate(expression: str) -> Gate:
    """Parses an expression.

    Raises:
        GateSyntaxError: if it does not follow the grammar, with the column.
        GateNameError: if its confidence is impossible.
    """
    reader = _Reader(expression)
    statistic, quantile, metric = _measure(reader)
    assignor = None
    if reader.takes("name", "of"):
        assignor = reader.name("the name of an assignor")
    sign = reader.expect(lambda token: token.kind == "sign" and token.text in SIGNS, "one of > >= < <=").text
    bound_column = reader.next.column
    bound = _bound(reader)
    confidence = _confidence(reader, statistic)
    if reader.next.kind != "end":
        expected = "the end of the expression" if confidence is not None else "'with N % confidence' or the end"
        raise reader.error(expected)
    return Gate(expression, statistic, quantile, metric, assignor, sign, bound, confidence, bound_column)


def _measure(reader: _Reader) -> tuple[str, float | None, Named | None]:
    first = reader.next
    named = reader.name("the name of a metric, or a statistic such as mean(...)")
    if first.kind == "name" and reader.takes("sign", "("):
        statistic, quantile = _statistic(reader, first)
        metric = reader.name("the name of a metric")
        reader.expect_text("sign", ")")
        return statistic, quantile, metric
    if first.kind == "name" and first.text in COUNTS:
        return first.text, None, None
    return "mean", None, named


def _statistic(reader: _Reader, token: _Token) -> tuple[str, float | None]:
    if token.text == "mean":
        return "mean", None
    if token.text in QUANTILES:
        return "quantile", QUANTILES[token.text]
    found = _PERCENTILE.fullmatch(token.text)
    if found is None:
        reason = f"{token.text!r} is no statistic: take mean, median, min, max, or a percentile such as p95"
        raise GateSyntaxError(reader.expression, token.column, reason)
    return "quantile", float(found[1]) / 100


def _bound(reader: _Reader) -> Bound:
    if not reader.takes("name", "baseline"):
        sign = -1.0 if reader.takes("sign", "-") else 1.0
        number = reader.number("a number or 'baseline'")
        return Bound(0.0, sign * number / (100.0 if reader.takes("sign", "%") else 1.0), relative=False)
    percent = offset = 0.0
    while reader.next.kind == "sign" and reader.next.text in "+-":
        sign = 1.0 if reader.advance().text == "+" else -1.0
        number = sign * reader.number("a number")
        if reader.takes("sign", "%"):
            percent += number
        else:
            offset += number
    return Bound(1.0 + percent / 100.0, offset, relative=True)


def _confidence(reader: _Reader, statistic: str) -> float | None:
    start = reader.next.column
    if not reader.takes("name", "with"):
        return None
    column = reader.next.column
    level = reader.number("a confidence such as 95 %") / 100.0
    reader.expect_text("sign", "%")
    reader.expect_text("name", "confidence")
    if not 0.5 < level < 1:
        raise GateNameError(reader.expression, column, "a confidence lies between 50 and 100 %, such as 95 %")
    if statistic != "mean":
        reason = "a confidence can be had of a mean only: leave it out, or compare the mean"
        raise GateNameError(reader.expression, start, reason)
    return level


class _Reader:
    def __init__(self, expression: str) -> None:
        self.expression = expression
        self._tokens = _tokens(expression)
        self._position = 0

    @property
    def next(self) -> _Token:
        return self._tokens[self._position]

    def advance(self) -> _Token:
        token = self.next
        if token.kind != "end":
            self._position += 1
        return token

    def takes(self, kind: str, text: str) -> bool:
        found = (self.next.kind, self.next.text) == (kind, text)
        if found:
            self.advance()
        return found

    def expect(self, fits: Callable[[_Token], bool], expected: str) -> _Token:
        if not fits(self.next):
            raise self.error(expected)
        return self.advance()

    def expect_text(self, kind: str, text: str) -> None:
        self.expect(lambda token: (token.kind, token.text) == (kind, text), repr(text))

    def name(self, expected: str) -> Named:
        token = self.expect(lambda token: token.kind in ("name", "quoted") and bool(token.text), expected)
        return Named(token.text, token.column)

    def number(self, expected: str) -> float:
        token = self.expect(lambda token: token.kind == "number", expected)
        number = float(token.text)
        if number == float("inf"):
            raise GateSyntaxError(self.expression, token.column, f"{token.text} is too large")
        return number

    def error(self, wanted: str) -> GateSyntaxError:
        found = "the expression ends" if self.next.kind == "end" else f"found {self.next.text!r}"
        return GateSyntaxError(self.expression, self.next.column, f"expected {wanted}, but {found}")


def _tokens(expression: str) -> list[_Token]:
    if len(expression) > MAX_LENGTH:
        raise GateSyntaxError(expression[:60], 1, f"the expression is longer than {MAX_LENGTH:,} signs")
    tokens: list[_Token] = []
    position = 0
    while position < len(expression):
        if expression[position].isspace():
            position += 1
            continue
        found = _TOKEN.match(expression, position)
        if found is None:
            sign = expression[position]
            reason = "this quote is not closed" if sign in "\"'" else f"{sign!r} means nothing here"
            raise GateSyntaxError(expression, position + 1, reason)
        kind = str(found.lastgroup)
        quoted = kind in ("double", "single")
        tokens.append(_Token("quoted" if quoted else kind, found[kind], position + 1))
        position = found.end()
    tokens.append(_Token("end", "", len(expression) + 1))
    return tokens
