"""Strict JSON: one line of bytes to a value, refusing what Python's reader would let pass.

Python's ``json`` takes the last of two equal keys, reads ``NaN`` and ``Infinity``, lone surrogates, and other
encodings than UTF-8. All of that is refused here, with the path to it where there is one.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from assignor_lab.scenarios.errors import printable
from assignor_lab.scenarios.shapes import Mismatch, any_value

__all__ = ["parse_json"]

_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Repeated(dict[str, Any]):
    """An object that named a key twice; it stands in the value until its path is known."""

    repeated_key = ""


class _NoNumber(float):
    """``NaN``, ``Infinity`` or a number that overflows; likewise."""


def parse_json(line: bytes) -> Any:
    """Reads the JSON value that ``line`` consists of.

    Raises:
        Mismatch: if the bytes are not UTF-8 or not one JSON value, or hold a repeated key, a number that is not
            finite, a number of thousands of digits, or a lone surrogate.
    """
    if line.startswith(_BOMS):
        raise Mismatch("begins with a byte order mark: save the file as UTF-8 without one")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Mismatch(f"byte {error.start + 1} of the line is not UTF-8: save the file as UTF-8") from None
    suspects: list[object] = []
    value = _decoded(text, suspects)
    if suspects or _ESCAPED_SURROGATE.search(text):
        # Paths are made on the way down, so the depth must be known to be small.
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
        raise Mismatch(
            f"not JSON at column {error.pos + 1} ({error.msg}): each line must be one complete JSON object"
        ) from None
    except RecursionError:
        raise Mismatch("nested too deeply: no value of the format is deeper than a few levels") from None
    except ValueError:
        # Python's own limit against the quadratic time that reading thousands of digits takes.
        raise Mismatch("holds a number of thousands of digits: no number of the format is wider than 64 bits") from None


def _refuse_odd_values(document: Any) -> None:
    for path, value in _walk(document):
        if isinstance(value, _Repeated):
            raise Mismatch("the key occurs twice in its object: remove one of them", *path, value.repeated_key)
        if isinstance(value, _NoNumber):
            raise Mismatch("NaN and infinite numbers are not JSON: give a finite number", *path)
        if isinstance(value, str) and _SURROGATE.search(value):
            raise Mismatch(_surrogate(value), *path)
        if isinstance(value, dict):
            for key in value:
                if _SURROGATE.search(key):
                    raise Mismatch("in a key: " + _surrogate(key), *path)


def _surrogate(value: str) -> str:
    return f'the text "{printable(value)}" holds half of a surrogate pair: write both halves, or the character itself'


def _walk(document: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every value with its path, parents first, without recursion."""
    stack: list[tuple[tuple[str | int, ...], Any]] = [((), document)]
    while stack:
        path, value = stack.pop()
        yield path, value
        if isinstance(value, dict):
            stack.extend(((*path, key), item) for key, item in reversed(value.items()))
        elif isinstance(value, list):
            stack.extend(((*path, index), value[index]) for index in range(len(value) - 1, -1, -1))
