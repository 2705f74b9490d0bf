"""Harmless, readable forms of figures and foreign text, for pages and the terminal."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

__all__ = [
    "plain",
    "shortened",
    "figure",
    "mean",
    "signed",
    "unit_words",
    "plural",
    "listed",
    "moment",
    "natural_order",
    "without_uuids",
]

#: They control a terminal, or reverse or hide text: controls, format characters (such as the right-to-left override),
#: lone surrogates, private use, unassigned characters, line and paragraph separators.
_STEERING = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

#: From this size on, decimals of a mean are noise.
_LARGE = 10_000
_UUID = re.compile(r"-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?!-StreamThread-)")
_DAY_MS = 86_400_000
#: Kafka is younger.
_UNDATED_MS = 4_000 * _DAY_MS
_BYTES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def plain(text: str) -> str:
    """Control characters become escapes, as in ``repr``.

    Markup stays unchanged: views escape it.
    """
    if text.isprintable() and text.isascii():
        return text
    return "".join(_escape(sign) if unicodedata.category(sign) in _STEERING else sign for sign in text)


def _escape(sign: str) -> str:
    return sign.encode("unicode_escape", "surrogatepass").decode("ascii")


def shortened(text: str, limit: int) -> str:
    """Plain text, cut in the middle, because ids differ at both ends."""
    whole = plain(text)
    if len(whole) <= limit:
        return whole
    tail = (limit - 1) // 3
    return f"{whole[: limit - 1 - tail]}…{whole[-tail:]}"


def figure(value: float | None, unit: str = "") -> str:
    """Whole if it is whole, else with two decimals; bytes and shares in their own form."""
    if value is None:
        return "–"
    if unit == "share":
        return f"{value * 100:.1f} %"
    if unit == "bytes":
        return _bytes(value)
    if value == int(value):
        return _grouped(value, 0)
    return f"{value:.2g}" if abs(value) < 0.01 else _grouped(value, 2)


def mean(value: float | None, unit: str = "") -> str:
    """As :func:`figure`, but with decimals unless it is large, so that columns are aligned."""
    if value is None or unit in {"share", "bytes"}:
        return figure(value, unit)
    if abs(value) >= _LARGE:
        return _grouped(value, 0)
    return figure(value, unit) if value != int(value) else _grouped(value, 2)


def signed(value: float | None, unit: str = "") -> str:
    """As :func:`mean`, with its sign; a true minus, as wide as a plus."""
    if value is None or value == 0:
        return mean(value, unit)
    sign = "+" if value > 0 else "\u2212"
    return f"{sign}{mean(abs(value), unit)}"


def _grouped(value: float, decimals: int) -> str:
    if abs(value) >= 1e15:
        return f"{value:.3g}"
    # A narrow space groups digits: in half of the world a comma is the decimal sign.
    return f"{value:,.{decimals}f}".replace(",", "\u202f")


def unit_words(unit: str) -> str:
    """The announcement of a unit: ``In tasks``."""
    return {"share": "As a percentage", "1": "A ratio"}.get(unit) or f"In {shortened(unit, 30)}"


def _bytes(value: float) -> str:
    size, step = float(value), 0
    while abs(size) >= 1024 and step < len(_BYTES) - 1:
        size /= 1024
        step += 1
    return f"{size:.4g} {_BYTES[step]}"


def plural(number: int, one: str, many: str | None = None) -> str:
    """``1 state``, ``2 states``."""
    return f"{figure(number)} {one if number == 1 else many or one + 's'}"


def listed(parts: list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def moment(epoch_ms: int) -> str:
    """UTC to the millisecond; the number itself outside the calendar.

    Times of a source without dates count from 1970-01-01: they are a day, from 1, and its time.
    """
    try:
        if 0 <= epoch_ms < _UNDATED_MS:
            time = datetime.fromtimestamp(epoch_ms / 1_000, UTC).strftime("%H:%M:%S.%f")[:-3]
            return f"day {epoch_ms // _DAY_MS + 1} {time}"
        return datetime.fromtimestamp(epoch_ms / 1_000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + "Z"
    except (OverflowError, ValueError, OSError):
        return f"{epoch_ms} ms"


def natural_order(name: str) -> list[tuple[str, int]]:
    """Sort key with ``i10`` after ``i9``."""
    return [(text, int(number or -1)) for text, number in re.findall(r"([^0-9]*)([0-9]{0,18})", name)]


def without_uuids(text: str) -> str:
    """Without the random ends of Kafka's member ids; process ids, which identify instances, stay."""
    return _UUID.sub("", text)
