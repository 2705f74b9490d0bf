"""Prices behind the metrics in dollars: a small file of TOML that users edit, or keys of the configuration.

The file's entries become the keys ``assignor.prices.<name>`` of the configuration, so that they travel to the executors
and stand in the summary like everything else that decides a result.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import attrs

from assignment_api.errors import AssignorLabError
from assignment_api.plugins.selection import EffectiveConfig

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
#: The keys of the configuration begin with this.
PREFIX = "assignor.prices."
FORMAT = 1
_LARGEST = 1e9
_MAX_TEXT = 500
_MAX_FILE_BYTES = 65_536


class PriceError(AssignorLabError):
    """A price file is not in its format, or a price is none."""


@attrs.frozen
class Prices:
    """What things cost.

    Args:
        cross_zone_dollars_per_gib: A GiB that is read from another zone, both directions together.
        hours_per_month: Hours that a month is taken to have.
        source: Where the prices are from.
        date: When they were read.
    """

    cross_zone_dollars_per_gib: float
    hours_per_month: float
    source: str
    date: str


_NUMBERS = ("cross_zone_dollars_per_gib", "hours_per_month")
_TEXTS = ("source", "date")
_shipped: list[Prices] = []


def default_prices() -> Prices:
    """The prices that this package comes with."""
    if not _shipped:
        text = resources.files("assignor_lab.groups.streams").joinpath("prices.toml").read_text(encoding="utf-8")
        _shipped.append(_parsed(text, "prices.toml"))
    return _shipped[0]


def read_prices(path: Path) -> Prices:
    """The prices in a file.

    Raises:
        PriceError: if it cannot be read or is not in the format, with the file and the key.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_FILE_BYTES + 1)
        if len(content) > _MAX_FILE_BYTES:
            raise PriceError(f"{path}: larger than {_MAX_FILE_BYTES} bytes: this is no price file")
        text = content.decode("utf-8")
    except OSError as error:
        raise PriceError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise PriceError(f"{path}: byte {error.start} is not UTF-8: save the file as UTF-8") from error
    return _parsed(text, str(path))


def _parsed(text: str, place: str) -> Prices:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PriceError(f"{place}: no TOML: {error}") from error
    _check_keys(document, ("format", *_TEXTS, "prices"), place)
    if document["format"] != FORMAT or isinstance(document["format"], bool):
        raise PriceError(f"{place}: format {document['format']!r:.40}: this version reads format {FORMAT}")
    prices = document["prices"]
    if not isinstance(prices, dict):
        raise PriceError(f"{place}: prices: expected a table [prices]")
    _check_keys(prices, _NUMBERS, f"{place}: prices")
    return _prices({**{key: document[key] for key in _TEXTS}, **prices}, f"{place}: ")


def _check_keys(found: Mapping[str, Any], wanted: tuple[str, ...], place: str) -> None:
    for key in found:
        if key not in wanted:
            raise PriceError(f"{place}: unknown key {key!r:.80}: expected {', '.join(wanted)}")
    for key in wanted:
        if key not in found:
            raise PriceError(f"{place}: key {key!r} is missing")


def _prices(values: Mapping[str, Any], place: str) -> Prices:
    return Prices(
        cross_zone_dollars_per_gib=_number(values, "cross_zone_dollars_per_gib", place),
        hours_per_month=_number(values, "hours_per_month", place),
        source=_text(values, "source", place),
        date=_text(values, "date", place),
    )


def _number(values: Mapping[str, Any], key: str, place: str) -> float:
    value = values[key]
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise PriceError(f"{place}{key}: {value!r:.40} is no number") from None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= _LARGEST:
        raise PriceError(f"{place}{key}: {value!r:.40} is no number from 0 to {_LARGEST:.0f}")
    return float(value)


def _text(values: Mapping[str, Any], key: str, place: str) -> str:
    value = values[key]
    if not isinstance(value, str) or not value.strip() or len(value) > _MAX_TEXT or not value.isprintable():
        raise PriceError(f"{place}{key}: expected a text of 1 to {_MAX_TEXT} characters, in quotes")
    return value


def price_overrides(prices: Prices) -> list[str]:
    """``prices`` as ``-c`` takes them: ``key=value``."""
    return [f"{PREFIX}{field.name}={getattr(prices, field.name)}" for field in attrs.fields(Prices)]


def prices_of(config: EffectiveConfig) -> Prices:
    """:func:`prices_in` for an effective configuration.

    Raises:
        PriceError: as there.
    """
    return prices_in({key: held.value for key, held in config.items()})


def prices_in(config: Mapping[str, Any]) -> Prices:
    """The prices among the keys of a configuration; what it does not say is as in the shipped file.

    Args:
        config: Keys to values.

    Raises:
        PriceError: if a key is unknown, or its value is no price.
    """
    own = {key.removeprefix(PREFIX): value for key, value in config.items() if key.startswith(PREFIX)}
    if not own:
        return default_prices()
    for key in own:
        if key not in (*_NUMBERS, *_TEXTS):
            raise PriceError(f"{PREFIX}{key}: unknown: expected one of {', '.join((*_NUMBERS, *_TEXTS))}")
    known = attrs.asdict(default_prices())
    if not set(own) >= set(_TEXTS):
        known |= {"source": "configuration", "date": "not stated"}
    return _prices({**known, **own}, PREFIX)
