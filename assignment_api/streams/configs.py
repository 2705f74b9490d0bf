"""Configuration keys with Kafka's names, types, defaults, ranges and messages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import attrs

from assignment_api.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "ACCEPTABLE_RECOVERY_LAG",
    "ASSIGNMENT_KEYS",
    "MAX_WARMUP_REPLICAS",
    "NUM_STANDBY_REPLICAS",
    "PROBING_REBALANCE_INTERVAL_MS",
    "RACK_AWARE_ASSIGNMENT_NON_OVERLAP_COST",
    "RACK_AWARE_ASSIGNMENT_STRATEGY",
    "RACK_AWARE_ASSIGNMENT_TAGS",
    "RACK_AWARE_ASSIGNMENT_TRAFFIC_COST",
    "RACK_AWARE_STRATEGY_BALANCE_SUBTOPOLOGY",
    "RACK_AWARE_STRATEGY_MIN_TRAFFIC",
    "RACK_AWARE_STRATEGY_NONE",
    "AssignmentConfigs",
]

ACCEPTABLE_RECOVERY_LAG = "acceptable.recovery.lag"
MAX_WARMUP_REPLICAS = "max.warmup.replicas"
NUM_STANDBY_REPLICAS = "num.standby.replicas"
PROBING_REBALANCE_INTERVAL_MS = "probing.rebalance.interval.ms"
RACK_AWARE_ASSIGNMENT_TAGS = "rack.aware.assignment.tags"
RACK_AWARE_ASSIGNMENT_STRATEGY = "rack.aware.assignment.strategy"
RACK_AWARE_ASSIGNMENT_TRAFFIC_COST = "rack.aware.assignment.traffic_cost"
RACK_AWARE_ASSIGNMENT_NON_OVERLAP_COST = "rack.aware.assignment.non_overlap_cost"

RACK_AWARE_STRATEGY_NONE = "none"
RACK_AWARE_STRATEGY_MIN_TRAFFIC = "min_traffic"
RACK_AWARE_STRATEGY_BALANCE_SUBTOPOLOGY = "balance_subtopology"
_STRATEGIES = (
    RACK_AWARE_STRATEGY_NONE,
    RACK_AWARE_STRATEGY_MIN_TRAFFIC,
    RACK_AWARE_STRATEGY_BALANCE_SUBTOPOLOGY,
)

_MAX_TAGS = 5
_INTEGER = re.compile(r"[+-]?[0-9]{1,20}\Z")


def _java_text(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(str(item) for item in value) + "]"
    return str(value)


def _refuse(key: str, value: object, reason: str) -> ConfigError:
    return ConfigError(f"Invalid value {_java_text(value)} for configuration {key}: {reason}")


def _integer(key: str, value: object, bits: int) -> int:
    number: int | None = None
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, str) and _INTEGER.match(value.strip()):
        number = int(value.strip())
    if number is None or not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise _refuse(key, value, f"Not a number of type {'LONG' if bits == 64 else 'INT'}")
    return number


def _at_least(bits: int, minimum: int) -> Callable[[str, object], int]:
    def read(key: str, value: object) -> int:
        number = _integer(key, value, bits)
        if number < minimum:
            raise _refuse(key, value, f"Value must be at least {minimum}")
        return number

    return read


def _any_int(key: str, value: object) -> int:
    return _integer(key, value, 32)


def _optional_int(key: str, value: object) -> int | None:
    return None if value is None else _integer(key, value, 32)


def _strategy(key: str, value: object) -> str:
    if not isinstance(value, str) or value not in _STRATEGIES:
        raise _refuse(key, value, "String must be one of: " + ", ".join(_STRATEGIES))
    return value


def _tags(key: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [item.strip() for item in value.split(",")] if value.strip() else []
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise _refuse(key, value, "Expected a comma separated list.")
    if len(value) > _MAX_TAGS:
        raise _refuse(key, value, f"exceeds maximum list size of [{_MAX_TAGS}].")
    return tuple(value)


@attrs.frozen
class AssignmentConfigs:
    """Configuration of assignment. Kafka: ``AssignmentConfigs``.

    Args:
        acceptable_recovery_lag: Offsets; largest lag of a caught-up client; 2**63-1: all are.
        max_warmup_replicas: In flight, at least 1.
        num_standby_replicas: Per stateful task; negative: mostly as 0.
        probing_rebalance_interval_ms: Milliseconds, at least 60,000.
        rack_aware_assignment_tags: At most five keys of client tags.
        rack_aware_traffic_cost: Across racks; ``None`` = not configured.
        rack_aware_non_overlap_cost: Of a move; ``None`` = not configured.
        rack_aware_assignment_strategy: ``none``, ``min_traffic`` or ``balance_subtopology``.

    Raises:
        ConfigError: with Kafka's message, if a value is out of its range.
    """

    acceptable_recovery_lag: int = 10_000
    max_warmup_replicas: int = 2
    num_standby_replicas: int = 0
    probing_rebalance_interval_ms: int = 600_000
    rack_aware_assignment_tags: tuple[str, ...] = ()
    rack_aware_traffic_cost: int | None = None
    rack_aware_non_overlap_cost: int | None = None
    rack_aware_assignment_strategy: str = RACK_AWARE_STRATEGY_NONE

    def __attrs_post_init__(self) -> None:
        for key, (name, read) in ASSIGNMENT_KEYS.items():
            object.__setattr__(self, name, read(key, getattr(self, name)))

    @classmethod
    def from_mapping(cls, configs: Mapping[str, Any]) -> AssignmentConfigs:
        """Read Kafka's keys; missing ones have its defaults, others are ignored.

        Numbers and lists may be texts, as in ``.properties``.

        Raises:
            ConfigError: with Kafka's message, if a value is of the wrong type or out of its range.
        """
        return cls(**{name: configs[key] for key, (name, _) in ASSIGNMENT_KEYS.items() if key in configs})


#: Key to (attribute, reader of a value).
ASSIGNMENT_KEYS: Mapping[str, tuple[str, Callable[[str, Any], Any]]] = {
    ACCEPTABLE_RECOVERY_LAG: ("acceptable_recovery_lag", _at_least(64, 0)),
    MAX_WARMUP_REPLICAS: ("max_warmup_replicas", _at_least(32, 1)),
    NUM_STANDBY_REPLICAS: ("num_standby_replicas", _any_int),
    PROBING_REBALANCE_INTERVAL_MS: ("probing_rebalance_interval_ms", _at_least(64, 60_000)),
    RACK_AWARE_ASSIGNMENT_TAGS: ("rack_aware_assignment_tags", _tags),
    RACK_AWARE_ASSIGNMENT_STRATEGY: ("rack_aware_assignment_strategy", _strategy),
    RACK_AWARE_ASSIGNMENT_TRAFFIC_COST: ("rack_aware_traffic_cost", _optional_int),
    RACK_AWARE_ASSIGNMENT_NON_OVERLAP_COST: ("rack_aware_non_overlap_cost", _optional_int),
}
