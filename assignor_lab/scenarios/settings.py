"""Settings of time and membership that the source of a state had: ``settings`` of a scenario (scenario format, 7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from assignment_api.plugins.keys import GROUP_KEYS, read_value
from assignment_api.plugins.layers import ConfigLayer
from assignor_lab.documents.shapes import LONG_MAX, Check, one_of, record, text, whole

__all__ = ["NUMBERS", "check_settings", "given_settings", "group_settings", "is_exactly_once", "with_given"]

_GROUP_TEXTS = ("streams.assignor.name", "streams.rack.aware.assignment.tags")
_TEXTS = ("dsl.store.suppliers.class", "processing.guarantee", *_GROUP_TEXTS)
#: Keys whose values are numbers.
NUMBERS = (
    *(key for key in GROUP_KEYS if key not in _TEXTS),
    "rebalance.timeout.ms",
    "streams.num.standby.replicas",
    "streams.num.warmup.replicas",
    "streams.acceptable.recovery.lag",
)

#: Checks the object: every key is optional, and a missing one is unknown, not a default. Other keys are refused.
check_settings: Check[dict[str, Any]] = record(
    {},
    {
        **dict.fromkeys(NUMBERS, whole(0, LONG_MAX)),
        **dict.fromkeys(_TEXTS, text),
        "group.protocol": one_of("classic", "streams"),
    },
)


def given_settings(layers: Iterable[ConfigLayer]) -> dict[str, Any]:
    """The settings that ``--config`` and ``-c`` give, in their types.

    Args:
        layers: What the two say, the lowest first.
    """
    found: dict[str, Any] = {}
    for layer in layers:
        found |= {key: read_value(key, held.value) for key, held in layer.entries.items() if key in GROUP_KEYS}
    return found


def group_settings(told: Mapping[str, str]) -> dict[str, Any]:
    """Settings of a streams group, as the broker returns its configuration; keys that are not allowed are left out.

    Args:
        told: Keys to values as texts, with or without the prefix ``streams.``.
    """
    found: dict[str, Any] = {}
    for name, value in told.items():
        key = name if name.startswith("streams.") else f"streams.{name}"
        if key in NUMBERS and value.isdecimal():
            found[key] = int(value)
        elif key in _GROUP_TEXTS and value:
            found[key] = value
    return found


def with_given(document: dict[str, Any], found: Mapping[str, Any], layers: Iterable[ConfigLayer]) -> dict[str, Any]:
    """The document with its ``settings``: what its source shows, under what ``--config`` and ``-c`` give.

    Args:
        document: A scenario.
        found: Settings that the source shows.
        layers: What the two say, the lowest first.

    Returns:
        The document as it is, if nothing is known.
    """
    settings = {**document.get("settings", {}), **found, **given_settings(layers)}
    if not settings:
        return document
    made: dict[str, Any] = {}
    for key, value in document.items():
        if key != "settings":
            made[key] = value
        if key == "config":
            made["settings"] = dict(sorted(settings.items()))
    return made


def is_exactly_once(settings: Mapping[str, Any]) -> bool | None:
    """Whether the application processes exactly once; ``None``: the settings do not say."""
    guarantee = settings.get("processing.guarantee")
    return None if guarantee is None else str(guarantee).startswith("exactly_once")
