"""The language of ``--fail-if``: a text in, a :class:`Gate` out, or an error with its column.

::

    gate       = measure [ "of" NAME ] sign bound [ "with" NUMBER "%" "confidence" ]
    measure    = NAME | statistic "(" NAME ")" | "failed_rows" | "failed_share"
    statistic  = "mean" | "median" | "min" | "max" | "p" NUMBER
    sign       = ">" | ">=" | "<" | "<="
    bound      = [ "-" ] NUMBER [ "%" ]
               | "baseline" { ( "+" | "-" ) NUMBER [ "%" ] }

A NAME in quotes is never taken for a word of the language. No recursion, one pass, at most ``MAX_LENGTH`` signs.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import attrs

from assignor_lab.scoring.gates.errors import GateNameError, GateSyntaxError

__all__ = ["Bound", "Gate", "Named", "parse_gate"]

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
    """A name and where it stands.

    Args:
        text: The name without quotes.
        column: From 1.
    """

    text: str
    column: int


@attrs.frozen
class Bound:
    """What a measure is compared with: ``factor`` times the baseline's, plus ``offset``.

    Args:
        factor: 0 where the bound is absolute.
        offset: In the unit of the metric.
        relative: Whether the baseline is part of it.
    """

    factor: float
    offset: float
    relative: bool


@attrs.frozen
class Gate:
    """A condition under which the build fails.

    Args:
        expression: As it was given.
        statistic: ``mean``, ``quantile``, ``failed_rows`` or ``failed_share``.
        quantile: Between 0 and 1, for the statistic ``quantile``.
        metric: What is measured; ``None`` for ``failed_rows`` and ``failed_share``.
        assignor: Whom it is about; ``None``: everybody but the baseline.
        sign: ``>``, ``>=``, ``<`` or ``<=``.
        bound: What the measure is compared with.
        confidence: How sure the condition has to be, between 0.5 and 1; ``None``: it is taken as measured.
        bound_column: Where the bound stands, from 1.
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
    """Reads an expression.

    Raises:
        GateSyntaxError: if it is not of the grammar; it names the column.
        GateNameError: if it asks for a confidence that cannot be had.
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
        what = "the end of the expression" if confidence is not None else "'with N % confidence' or the end"
        raise reader.error(what)
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
    """The tokens of an expression, one after the other."""

    def __init__(self, expression: str) -> None:
        self.expression = expression
        self._tokens = _tokens(expression)
        self._position = 0

    @property
    def next(self) -> _Token:
        """The next token; one of kind ``end`` after the last."""
        return self._tokens[self._position]

    def advance(self) -> _Token:
        """Takes the next token."""
        token = self.next
        if token.kind != "end":
            self._position += 1
        return token

    def takes(self, kind: str, text: str) -> bool:
        """Takes the next token if it is this one."""
        found = (self.next.kind, self.next.text) == (kind, text)
        if found:
            self.advance()
        return found

    def expect(self, fits: Callable[[_Token], bool], what: str) -> _Token:
        """Takes the next token, which has to fit."""
        if not fits(self.next):
            raise self.error(what)
        return self.advance()

    def expect_text(self, kind: str, text: str) -> None:
        """Takes the next token, which has to be this one."""
        self.expect(lambda token: (token.kind, token.text) == (kind, text), repr(text))

    def name(self, what: str) -> Named:
        """Takes a name, with or without quotes."""
        token = self.expect(lambda token: token.kind in ("name", "quoted") and bool(token.text), what)
        return Named(token.text, token.column)

    def number(self, what: str) -> float:
        """Takes a number."""
        token = self.expect(lambda token: token.kind == "number", what)
        number = float(token.text)
        if number == float("inf"):
            raise GateSyntaxError(self.expression, token.column, f"{token.text} is too large")
        return number

    def error(self, wanted: str) -> GateSyntaxError:
        """The error that something else stands where ``wanted`` should."""
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
