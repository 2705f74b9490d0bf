"""Prices behind the metrics in dollars: a small file of TOML that users edit, or keys of the configuration.

The file's entries become the keys ``assignor.prices.<name>`` of the configuration. They reach the executors and the
summary with all other settings that decide a result.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import attrs

from assignment_api.errors import AssignorLabError
from assignment_api.plugins.selection import EffectiveConfig
from assignor_lab.documents.errors import Place
from assignor_lab.documents.files import document_of, read_document
from assignor_lab.documents.shapes import Check, Mismatch, described, format_number, record
from assignor_lab.documents.toml_text import parse_toml

__all__ = [
    "BYTES_OF_GIB",
    "PriceError",
    "Prices",
    "default_prices",
    "price_overrides",
    "prices_in",
    "prices_of",
    "read_prices",
]

BYTES_OF_GIB = 1 << 30
#: Prefix of the keys of the configuration.
PREFIX = "assignor.prices."
FORMAT = 1
_LARGEST = 1e9
_MAX_TEXT = 500
_MAX_FILE_BYTES = 65_536


class PriceError(AssignorLabError):
    """A key of the configuration names no price, or its value is none."""


@attrs.frozen
class Prices:
    """The prices.

    Args:
        cross_zone_dollars_per_gib: A GiB that is read from another zone.
        hours_per_month: Hours of a month.
        disk_dollars_per_gib_month: A GiB of disk for a month.
    """

    cross_zone_dollars_per_gib: float
    hours_per_month: float
    source: str
    date: str
    disk_dollars_per_gib_month: float = 0.0


def _price(value: Any) -> float:
    # Keys of a configuration are texts.
    if type(value) is str:
        try:
            value = float(value)
        except ValueError:
            raise Mismatch(f"{described(value)} is no number") from None
    if type(value) not in (int, float) or not 0 <= value <= _LARGEST:
        raise Mismatch(f"{described(value)} is no number from 0 to {_LARGEST:.0f}")
    return float(value)


def _words(value: Any) -> str:
    if type(value) is not str or not value.strip() or len(value) > _MAX_TEXT or not value.isprintable():
        raise Mismatch(f"expected a text of 1 to {_MAX_TEXT} characters, in quotes, found {described(value)}")
    return value


_NUMBERS = {"cross_zone_dollars_per_gib": _price, "hours_per_month": _price}
#: Missing in files of earlier versions: the price of the package.
_LATER = {"disk_dollars_per_gib_month": _price}
_TEXTS = {"source": _words, "date": _words}
_CHECKS: Mapping[str, Check[Any]] = {**_NUMBERS, **_LATER, **_TEXTS}
_DOCUMENT = record({"format": format_number(FORMAT), **_TEXTS, "prices": record(_NUMBERS, _LATER)})
_shipped: list[Prices] = []


def default_prices() -> Prices:
    if not _shipped:
        content = resources.files("assignor_lab.groups").joinpath("prices.toml").read_bytes()
        _shipped.append(document_of(content, parse_toml, _prices_of_document, Place("prices.toml")))
    return _shipped[0]


def read_prices(path: Path) -> Prices:
    """The prices in a file.

    Raises:
        DocumentFormatError: if it cannot be read or is not in the format, with the file and the key.
    """
    return read_document(path, parse_toml, _prices_of_document, max_bytes=_MAX_FILE_BYTES, subject="a price file")


def _prices_of_document(value: Any) -> Prices:
    document = _DOCUMENT(value)
    numbers = document["prices"]
    for key in _LATER:
        if key not in numbers:
            numbers[key] = getattr(default_prices(), key)
    return Prices(**{key: document[key] for key in _TEXTS}, **numbers)


def price_overrides(prices: Prices) -> list[str]:
    """``prices`` in the form of ``-c``: ``key=value``."""
    return [f"{PREFIX}{field.name}={getattr(prices, field.name)}" for field in attrs.fields(Prices)]


def prices_of(config: EffectiveConfig) -> Prices:
    """:func:`prices_in` for an effective configuration.

    Raises:
        PriceError: as there.
    """
    return prices_in({key: held.value for key, held in config.items()})


def prices_in(config: Mapping[str, object]) -> Prices:
    """The prices among the keys of a configuration; missing ones are those of the package.

    Raises:
        PriceError: if a key is unknown, or its value is no price.
    """
    own = {key.removeprefix(PREFIX): value for key, value in config.items() if key.startswith(PREFIX)}
    if not own:
        return default_prices()
    known = attrs.asdict(default_prices())
    if not own.keys() >= _TEXTS.keys():
        known |= {"source": "configuration", "date": "not stated"}
    for key, value in own.items():
        if key not in _CHECKS:
            raise PriceError(f"{PREFIX}{key}: unknown: expected one of {', '.join(_CHECKS)}")
        try:
            known[key] = _CHECKS[key](value)
        except Mismatch as mismatch:
            raise PriceError(f"{PREFIX}{key}: {mismatch.reason}") from None
    return Prices(**known)
