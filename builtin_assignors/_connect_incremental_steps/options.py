"""Settings shared by the assignors of this family."""

from __future__ import annotations

import difflib
import enum
from collections.abc import Mapping, Sequence
from typing import Any

from assignment_api.connect import MAX_DELAY_KEY, ConnectConfigError

__all__ = [
    "ALL_QUIRKS",
    "DEFAULT_MAX_DELAY",
    "MemberOrder",
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


class MemberOrder(enum.Enum):
    """Order of the members where no rule decides."""

    #: Order of a Java hash map of their ids: Kafka's answers, exactly.
    JAVA = "java"
    #: By id: the same loads in a readable order.
    SORTED = "sorted"


def check_known(configs: Mapping[str, Any], prefix: str, names: Sequence[str]) -> None:
    """Refuse unknown settings under ``prefix``.

    Raises:
        ConnectConfigError: with the nearest known setting.
    """
    for key in configs:
        name = key.removeprefix(prefix)
        if not key.startswith(prefix) or name in names:
            continue
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {prefix}{near[0]}?" if near else f"known settings are {', '.join(names)}"
        raise ConnectConfigError(f"unknown setting {key:.120}: {hint}")


def read_choice(configs: Mapping[str, Any], key: str, choices: Sequence[str], default: str) -> str:
    """The value of ``key``, one of ``choices``, in upper or lower case.

    Raises:
        ConnectConfigError: if it is none of them.
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
    """The boolean value of ``key``, also as one of Kafka's words for true and false.

    Raises:
        ConnectConfigError: if it is anything else.
    """
    value = configs.get(key)
    if isinstance(value, bool):
        return value
    return read_choice(configs, key, ("true", "false"), str(default).lower()) == "true"


def read_order(configs: Mapping[str, Any], key: str) -> MemberOrder:
    """The order named by ``key``; Java's by default.

    Raises:
        ConnectConfigError: if the name is unknown.
    """
    return MemberOrder(read_choice(configs, key, [order.value for order in MemberOrder], MemberOrder.JAVA.value))


def read_quirks(configs: Mapping[str, Any], key: str) -> frozenset[int]:
    """Numbers of the quirks to keep: ``all`` (default), ``none``, or a list such as ``Q1,Q5``.

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
    """The value of ``scheduled.rebalance.max.delay.ms``, by default Kafka's.

    Raises:
        ConnectConfigError: with Kafka's message, if it is not an integer from 0 to 2**31 - 1.
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
