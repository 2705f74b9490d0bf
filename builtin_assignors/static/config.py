"""Settings of ``static``: keys ``assignor.static.*``."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api import ConfigError
from builtin_assignors.static.pins import TaskPin, parse_pins

__all__ = ["DEFAULT_DELEGATE", "DELEGATE", "PINS", "STANDBY_PINS", "StaticConfig"]

PINS = "assignor.static.pins"
STANDBY_PINS = "assignor.static.standby.pins"
DELEGATE = "assignor.static.delegate"

DEFAULT_DELEGATE = "high_availability"

_KEYS = (PINS, STANDBY_PINS, DELEGATE)


@attrs.frozen
class StaticConfig:
    """Pins, and the delegate for the rest.

    Args:
        pins: Pins of active tasks; the first that matches a task counts.
        standby_pins: Pins of standby tasks; the first that matches a task counts.
        delegate: Name of the built-in that places all other tasks.
    """

    pins: tuple[TaskPin, ...] = ()
    standby_pins: tuple[TaskPin, ...] = ()
    delegate: str = DEFAULT_DELEGATE

    @classmethod
    def from_mapping(cls, configs: Mapping[str, Any]) -> StaticConfig:
        """Read the keys ``assignor.static.*``; all other keys are ignored.

        Raises:
            ConfigError: if a value is invalid, or a key ``assignor.static.*`` unknown.
        """
        for key in configs:
            if key.startswith("assignor.static.") and key not in _KEYS:
                near = difflib.get_close_matches(key, _KEYS, n=1)
                hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(_KEYS)}"
                raise ConfigError(f"Unknown configuration {key:.80}: {hint}")
        delegate = configs.get(DELEGATE) or DEFAULT_DELEGATE
        if not isinstance(delegate, str):
            raise ConfigError(f"Invalid value {delegate!r:.80} for configuration {DELEGATE}: expected a name")
        return cls(
            parse_pins(PINS, configs.get(PINS) or ()),
            parse_pins(STANDBY_PINS, configs.get(STANDBY_PINS) or ()),
            delegate.strip(),
        )
