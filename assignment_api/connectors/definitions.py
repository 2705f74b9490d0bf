"""Definitions of a connector's configuration, and their check. Kafka: ``ConfigDef``.

Errors have Kafka's words: clients of Connect's REST API show them to people.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

import attrs

from assignment_api.connectors.errors import ConnectorConfigError

__all__ = [
    "REQUIRED",
    "CheckedValue",
    "ConfigDef",
    "ConfigKey",
    "ConfigType",
    "Importance",
    "Width",
    "at_least",
    "one_of",
]


class ConfigType(enum.Enum):
    """Type of a value; a comment has its Python type."""

    STRING = "STRING"
    PASSWORD = "PASSWORD"  # noqa: S105 - a type's name
    CLASS = "CLASS"
    BOOLEAN = "BOOLEAN"
    SHORT = "SHORT"
    INT = "INT"
    LONG = "LONG"
    DOUBLE = "DOUBLE"
    LIST = "LIST"


class Importance(enum.Enum):
    """Importance of a key to most users."""

    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


class Width(enum.Enum):
    """Width of a form's field."""

    NONE = "NONE"
    SHORT = "SHORT"
    MEDIUM = "MEDIUM"
    LONG = "LONG"


class _Required(enum.Enum):
    REQUIRED = "required"


#: Default of a mandatory key.
REQUIRED: Final = _Required.REQUIRED

#: Value (``None``: missing) to its error, or ``None``.
Check = Callable[[Any], str | None]

_BITS = {ConfigType.SHORT: 16, ConfigType.INT: 32, ConfigType.LONG: 64}


def _tuple(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(values)


@attrs.frozen
class ConfigKey:
    """A key of a configuration.

    Args:
        default: Value of a missing key; ``REQUIRED``: mandatory.
        check: Error of a value (``None``: missing), or ``None``.
        order_in_group: -1 without a heading.
        display_name: In forms; default: the key.
        dependents: Keys whose validity depends on this one.
    """

    name: str
    type: ConfigType
    documentation: str
    default: Any = REQUIRED
    importance: Importance = Importance.MEDIUM
    check: Check | None = None
    group: str | None = None
    order_in_group: int = -1
    width: Width = Width.NONE
    display_name: str | None = None
    dependents: tuple[str, ...] = attrs.field(default=(), converter=_tuple)
    recommended: tuple[str, ...] = attrs.field(default=(), converter=_tuple)


@attrs.frozen
class CheckedValue:
    """Result of checking one key.

    Args:
        value: ``None``: missing or invalid.
        errors: In Kafka's words.
    """

    key: ConfigKey
    value: Any
    errors: tuple[str, ...] = ()

    def text(self) -> str | None:
        """The value as in a configuration."""
        return value_text(self.value)


def _keys(keys: Iterable[ConfigKey]) -> tuple[ConfigKey, ...]:
    return tuple(keys)


@attrs.frozen
class ConfigDef:
    """Definitions in the order of display.

    Raises:
        ConnectorConfigError: if a key is defined twice.
    """

    keys: tuple[ConfigKey, ...] = attrs.field(converter=_keys)

    def __attrs_post_init__(self) -> None:
        seen: set[str] = set()
        for key in self.keys:
            if key.name in seen:
                raise ConnectorConfigError(f"configuration {key.name} is defined twice")
            seen.add(key.name)

    def checked(self, config: Mapping[str, str | None]) -> tuple[CheckedValue, ...]:
        """Result for each defined key; others are ignored."""
        return tuple(_checked(key, config) for key in self.keys)

    def parse(self, config: Mapping[str, str | None]) -> Mapping[str, Any]:
        """Values by key, of their types.

        Raises:
            ConnectorConfigError: with the first fault.
        """
        values = self.checked(config)
        for each in values:
            if each.errors:
                raise ConnectorConfigError(each.errors[0])
        return MappingProxyType({each.key.name: each.value for each in values})


def at_least(least: float) -> Check:
    """A check for a lower bound."""

    def check(value: Any) -> str | None:
        if value is None:
            return "Value must be non-null"
        return None if value >= least else f"Value must be at least {least}"

    return check


def one_of(*choices: str) -> Check:
    """A check for one of these texts, in any case."""

    def check(value: Any) -> str | None:
        if isinstance(value, str) and value.lower() in (choice.lower() for choice in choices):
            return None
        return f"String must be one of (case insensitive): {', '.join(choices)}"

    return check


def value_text(value: Any) -> str | None:
    """As in a configuration."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value)


def _checked(key: ConfigKey, config: Mapping[str, str | None]) -> CheckedValue:
    errors: list[str] = []
    value: Any = None
    if key.name in config:
        try:
            value = _parsed(key, config[key.name])
        except _NotOfTypeError as error:
            errors.append(_invalid(key, config[key.name], str(error)))
    elif key.default is REQUIRED:
        errors.append(f'Missing required configuration "{key.name}" which has no default value.')
    else:
        value = key.default
    if key.check is not None and not (key.name not in config and key.default is REQUIRED):
        problem = key.check(value)
        if problem is not None:
            errors.append(_invalid(key, value_text(value), problem))
    return CheckedValue(key, value, tuple(errors))


def _invalid(key: ConfigKey, text: str | None, problem: str) -> str:
    shown = "[hidden]" if key.type is ConfigType.PASSWORD else "null" if text is None else text
    return f"Invalid value {shown} for configuration {key.name}: {problem}"


class _NotOfTypeError(Exception):
    pass


def _parsed(key: ConfigKey, text: str | None) -> Any:
    if text is None:
        return None
    trimmed = text.strip()
    if key.type in (ConfigType.STRING, ConfigType.CLASS):
        return trimmed
    if key.type is ConfigType.PASSWORD:
        return text
    if key.type is ConfigType.BOOLEAN:
        if trimmed.lower() not in ("true", "false"):
            raise _NotOfTypeError("Expected value to be either true or false")
        return trimmed.lower() == "true"
    if key.type is ConfigType.LIST:
        return tuple(item.strip() for item in trimmed.split(",")) if trimmed else ()
    return _number(key.type, trimmed)


def _number(of_type: ConfigType, text: str) -> float:
    reason = f"Not a number of type {of_type.value}"
    try:
        if of_type is ConfigType.DOUBLE:
            return float(text)
        # Python also reads 1_000 and other digits.
        if len(text) > 20 or not text.isascii() or "_" in text:
            raise _NotOfTypeError(reason)
        number = int(text)
    except ValueError:
        raise _NotOfTypeError(reason) from None
    limit = 1 << (_BITS[of_type] - 1)
    if not -limit <= number < limit:
        raise _NotOfTypeError(reason)
    return number
