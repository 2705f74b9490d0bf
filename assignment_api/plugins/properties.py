"""Java's ``.properties`` format, as ``java.util.Properties.load``."""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

__all__ = ["PropertiesSyntaxError", "Property", "decode_properties", "parse_properties"]

_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANKS = " \t\f"
_ESCAPES = {"t": "\t", "r": "\r", "n": "\n", "f": "\f"}
_HEX = re.compile(r"[0-9a-fA-F]{4}")


class PropertiesSyntaxError(ValueError):
    r"""A ``\u`` escape is not followed by four hexadecimal digits: the only syntax error of this format.

    Args:
        line: Number of the line, from 1.
    """

    def __init__(self, line: int) -> None:
        super().__init__("a \\u escape needs four hexadecimal digits")
        self.line = line


@attrs.frozen
class Property:
    """One entry of a file, without escapes.

    Args:
        line: Its first, from 1.
        value: With blanks at its end.
    """

    line: int
    key: str
    value: str = attrs.field(repr=False)


def decode_properties(content: bytes) -> str:
    """Text as UTF-8 without byte order mark, else ISO-8859-1."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("iso-8859-1")


def parse_properties(text: str) -> Iterator[Property]:
    r"""The entries of a file in their order; of two entries of one key Java keeps the last.

    Raises:
        PropertiesSyntaxError: for a malformed ``\u`` escape.
    """
    for line, logical in _logical_lines(text):
        key, value = _split(logical)
        yield Property(line, _unescaped(key, line), _unescaped(value, line))


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    joined, begin, continued = "", 0, False
    for number, natural in enumerate(_LINE_END.split(text), start=1):
        part = natural.lstrip(_BLANKS)
        if not joined and (not part or part[0] in "#!"):
            continue
        begin = begin if joined else number
        backslashes = len(part) - len(part.rstrip("\\"))
        continued = backslashes % 2 == 1
        joined += part[:-1] if continued else part
        if not continued:
            yield begin, joined
            joined = ""
    if joined:
        yield begin, joined


def _split(line: str) -> tuple[str, str]:
    """Still escaped; at the first unescaped ``=``, ``:`` or blank."""
    end = 0
    while end < len(line) and line[end] not in "=:" + _BLANKS:
        end += 2 if line[end] == "\\" else 1
    rest = line[end:].lstrip(_BLANKS)
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(_BLANKS)
    return line[:end], rest


def _unescaped(text: str, line: int) -> str:
    if "\\" not in text:
        return text
    pieces: list[str] = []
    position = 0
    while position < len(text):
        sign = text[position]
        position += 1
        if sign != "\\":
            pieces.append(sign)
            continue
        escaped = text[position : position + 1]
        position += 1
        if escaped != "u":
            pieces.append(_ESCAPES.get(escaped, escaped))
            continue
        digits = text[position : position + 4]
        if not _HEX.fullmatch(digits):
            raise PropertiesSyntaxError(line)
        pieces.append(chr(int(digits, 16)))
        position += 4
    return "".join(pieces).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
