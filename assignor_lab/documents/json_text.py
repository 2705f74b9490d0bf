"""Strict JSON: refuses inputs that Python's reader accepts.

These are repeated keys, ``NaN`` and ``Infinity``, lone surrogates, and encodings other than UTF-8.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from assignor_lab.documents.errors import printable
from assignor_lab.documents.shapes import Mismatch, any_value

__all__ = ["MAX_CONTAINERS", "parse_json"]

#: Most lists and objects in one line, including brackets in texts. An empty one takes twenty times the memory of its
#: two characters: a long line could exhaust the memory. The largest known states have 30,000.
MAX_CONTAINERS = 1_000_000

_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Repeated(dict[str, Any]):
    """An object with a repeated key until its path is known."""

    repeated_key = ""


class _NoNumber(float):
    """``NaN``, ``Infinity`` or a number that overflows."""


def parse_json(line: bytes) -> Any:
    """The JSON value of ``line`` or of a whole file.

    Raises:
        Mismatch: if the bytes are not UTF-8 or not one JSON value, or contain a repeated key, a number that is not
            finite, a number of thousands of digits, a lone surrogate, or too many lists and objects.
    """
    if line.startswith(_BOMS):
        raise Mismatch("begins with a byte order mark: save the file as UTF-8 without one")
    if line.count(b"{") + line.count(b"[") > MAX_CONTAINERS:
        raise Mismatch(f"holds more than {MAX_CONTAINERS:,} lists and objects: is this the right file?")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Mismatch(f"byte {error.start + 1} of the line is not UTF-8: save the file as UTF-8") from None
    suspects: list[object] = []
    value = _decoded(text, suspects)
    if suspects or _ESCAPED_SURROGATE.search(text):
        # This recurses: the depth must be small.
        _refuse_odd_values(any_value(value))
    return value


def _decoded(text: str, suspects: list[object]) -> Any:
    def read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) == len(pairs):
            return result
        repeated = _Repeated(result)
        seen: set[str] = set()
        repeated.repeated_key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        suspects.append(repeated)
        return repeated

    def read_constant(word: str) -> float:
        result = _NoNumber(word)
        suspects.append(result)
        return result

    def read_float(digits: str) -> float:
        result = float(digits)
        return result if math.isfinite(result) else read_constant(digits)

    try:
        return json.loads(text, object_pairs_hook=read_object, parse_constant=read_constant, parse_float=read_float)
    except json.JSONDecodeError as error:
        if "\n" in text.strip():
            raise Mismatch(f"not JSON at column {error.colno} ({error.msg})", line=error.lineno) from None
        raise Mismatch(
            f"not JSON at column {error.pos + 1} ({error.msg}): each line must be one complete JSON object"
        ) from None
    except RecursionError:
        raise Mismatch("nested too deeply: no value of the format is deeper than a few levels") from None
    except ValueError:
        # Python's own limit: the conversion takes quadratic time.
        raise Mismatch("holds a number of thousands of digits: no number of the format is wider than 64 bits") from None


def _refuse_odd_values(value: Any) -> None:
    if isinstance(value, str):
        if _SURROGATE.search(value):
            raise _surrogate(value)
    elif isinstance(value, _NoNumber):
        raise Mismatch("NaN and infinite numbers are not JSON: give a finite number")
    elif isinstance(value, dict):
        if isinstance(value, _Repeated):
            raise Mismatch("the key occurs twice in its object: remove one of them", value.repeated_key)
        for key, item in value.items():
            if _SURROGATE.search(key):
                raise _surrogate(key)
            _refuse_odd_values_inside(key, item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _refuse_odd_values_inside(index, item)


def _refuse_odd_values_inside(step: str | int, value: Any) -> None:
    try:
        _refuse_odd_values(value)
    except Mismatch as mismatch:
        raise mismatch.inside(step) from None


def _surrogate(text: str) -> Mismatch:
    return Mismatch(
        f'the text "{printable(text)}" holds half of a surrogate pair: write both halves, or the character itself'
    )
