"""Settings that assignors of this family share, and how a setting is read."""

from __future__ import annotations

import difflib
import enum
from collections.abc import Mapping, Sequence
from typing import Any

from assignment_api.connect import MAX_DELAY_KEY, ConnectConfigError

__all__ = [
    "ALL_QUIRKS",
    "DEFAULT_MAX_DELAY",
    "Order",
    "read_choice",
    "read_flag",
    "read_max_delay",
    "read_order",
    "read_quirks",
]

#: Kafka's default of ``scheduled.rebalance.max.delay.ms``.
DEFAULT_MAX_DELAY = 300_000
#: Quirks of Kafka's assignor, by number (Kafka: ``IncrementalCooperativeAssignor``).
ALL_QUIRKS = frozenset(range(1, 9))

_INT_MAX = 2**31 - 1


class Order(enum.Enum):
    """In which order members are gone through where nothing else decides."""

    #: As Java iterates a hash map of their ids: Kafka's answers, exactly.
    JAVA = "java"
    #: By id: the same loads, and an order that people can follow.
    SORTED = "sorted"


def check_known(configs: Mapping[str, Any], prefix: str, names: Sequence[str]) -> None:
    """Refuses a setting under ``prefix`` that the assignor does not have.

    Raises:
        ConnectConfigError: with what may have been meant.
    """
    for key in configs:
        name = key.removeprefix(prefix)
        if not key.startswith(prefix) or name in names:
            continue
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {prefix}{near[0]}?" if near else f"known settings are {', '.join(names)}"
        raise ConnectConfigError(f"unknown setting {key:.120}: {hint}")


def read_choice(configs: Mapping[str, Any], key: str, choices: Sequence[str], default: str) -> str:
    """The value of ``key``, one of ``choices``, in any case.

    Raises:
        ConnectConfigError: if it is another one.
    """
    value = configs.get(key)
    if value is None:
        return default
    if isinstance(value, str) and value.strip().lower() in choices:
        return value.strip().lower()
    raise ConnectConfigError(
        f"Invalid value {value!s:.80} for configuration {key}: String must be one of: {', '.join(choices)}"
    )


def read_flag(configs: Mapping[str, Any], key: str, *, default: bool) -> bool:
    """The value of ``key``: true or false, or one of these words.

    Raises:
        ConnectConfigError: if it is something else.
    """
    value = configs.get(key)
    if isinstance(value, bool):
        return value
    return read_choice(configs, key, ("true", "false"), str(default).lower()) == "true"


def read_order(configs: Mapping[str, Any], key: str) -> Order:
    """The order that ``key`` names; Java's if it is not set.

    Raises:
        ConnectConfigError: if it names none.
    """
    return Order(read_choice(configs, key, [order.value for order in Order], Order.JAVA.value))


def read_quirks(configs: Mapping[str, Any], key: str) -> frozenset[int]:
    """Which quirks are kept: ``all`` (also if ``key`` is not set), ``none``, or a list such as ``Q1,Q5``.

    Raises:
        ConnectConfigError: if the value is none of these.
    """
    value = configs.get(key)
    if value is None:
        return ALL_QUIRKS
    items = value.split(",") if isinstance(value, str) else value
    words = (
        [item.strip().lower() for item in items if isinstance(item, str)] if isinstance(items, (list, tuple)) else []
    )
    if words == ["all"]:
        return ALL_QUIRKS
    if words in (["none"], [""]):
        return frozenset()
    known = {f"q{number}": number for number in sorted(ALL_QUIRKS)}
    if not words or not all(word in known for word in words):
        raise ConnectConfigError(
            f"Invalid value {value!s:.80} for configuration {key}: expected all, none, or a list of "
            + ", ".join(word.upper() for word in known)
        )
    return frozenset(known[word] for word in words)


def read_max_delay(configs: Mapping[str, Any]) -> int:
    """The value of ``scheduled.rebalance.max.delay.ms``; Kafka's default if it is not set.

    Raises:
        ConnectConfigError: with Kafka's message, if it is no number from 0 to 2**31 - 1.
    """
    value = configs.get(MAX_DELAY_KEY, DEFAULT_MAX_DELAY)
    number: int | None = None
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, str) and value.strip().removeprefix("+").isdecimal() and len(value) < 20:
        number = int(value)
    if number is None or number > _INT_MAX:
        raise ConnectConfigError(
            f"Invalid value {value!s:.80} for configuration {MAX_DELAY_KEY}: Not a number of type INT"
        )
    if number < 0:
        raise ConnectConfigError(f"Invalid value {number} for configuration {MAX_DELAY_KEY}: Value must be at least 0")
    return number
