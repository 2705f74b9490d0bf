"""Declared configuration keys of assignors."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Literal, cast

import attrs

from assignment_api.errors import ConfigError
from assignment_api.plugins.errors import PluginDefinitionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["SETTING_PREFIX", "Setting", "declared_by", "is_setting", "text_list"]

#: Before a plugin's name and setting.
SETTING_PREFIX = "assignor."
_SETTING = re.compile(r"\Aassignor\.[A-Za-z][A-Za-z0-9_-]{0,63}\.[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}\Z")
_EXPECTED = {
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "list": "a list of texts",
    "text": "a text",
}
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}\Z")


@attrs.frozen
class Setting:
    """A plugin's configuration key, checked before calls.

    Args:
        key: ``assignor.<plugin name>.<key>``.
        type: ``bool``, ``float``, ``int``, ``list`` (of texts, or a text with commas) or ``text``.
        default: Of this type, or ``None``.
        summary: One sentence for users.
        least: Least number, or ``None``.

    Raises:
        PluginDefinitionError: if a field is invalid.
    """

    key: str
    type: Literal["bool", "float", "int", "list", "text"]
    default: bool | float | str | tuple[str, ...] | None
    summary: str
    least: float | None = None

    def __attrs_post_init__(self) -> None:
        key, summary, least = cast("tuple[object, object, object]", (self.key, self.summary, self.least))
        if not isinstance(key, str) or not is_setting(key):
            raise PluginDefinitionError(f"Setting.key: {self.key!r:.80} has not the form assignor.<plugin name>.<key>")
        if self.type not in _EXPECTED:
            raise PluginDefinitionError(f"Setting.type: {self.type!r:.80} is none of {', '.join(_EXPECTED)}")
        if not isinstance(summary, str) or not summary.strip():
            raise PluginDefinitionError(f"Setting.summary: {self.summary!r:.80} is no sentence")
        if least is not None and not (type(least) in (int, float) and math.isfinite(cast("float", least))):
            raise PluginDefinitionError(f"Setting.least: {self.least!r:.80} is no number")
        try:
            # Lists become tuples.
            object.__setattr__(self, "default", None if self.default is None else self.read(self.default))
        except ConfigError as error:
            raise PluginDefinitionError(f"Setting.default: {error}") from error

    def value_in(self, configs: Mapping[str, Any]) -> Any:
        """Typed value in the argument of ``configure()``, or the default.

        Raises:
            ConfigError: if the value is of another type, or too small.
        """
        written = configs.get(self.key)
        return self.default if written is None else self.read(written)

    def read(self, value: object) -> Any:
        """Typed ``value``; texts are read, as from ``.properties``.

        Raises:
            ConfigError: if the value is of another type, or too small.
        """
        found = self._read(value)
        if found is None or (self.least is not None and type(found) in (int, float) and found < self.least):
            least = "" if self.least is None else f" from {self.least:g}"
            raise ConfigError(
                f"Invalid value {value!s:.80} for configuration {self.key}: expected {_EXPECTED[self.type]}{least}"
            )
        return found

    def _read(self, value: object) -> Any:
        text = str(value).strip() if isinstance(value, (str, bool, int, float)) else ""
        if self.type == "list":
            return text_list(self.key, value)
        if self.type == "text":
            return value if isinstance(value, str) else None
        if self.type == "bool":
            return {"true": True, "false": False}.get(text.lower())
        if isinstance(value, bool):
            return None
        if self.type == "int":
            return int(text) if _WHOLE.match(text) else None
        try:
            number = float(text)
        except ValueError:
            return None
        return number if math.isfinite(number) else None


def declared_by(instance: object, attribute: attrs.Attribute[Any], value: Iterable[object]) -> None:
    """Validator: each is a :class:`Setting` of the entry's name, without repeated keys."""
    place = f"{type(instance).__name__}.{attribute.name}"
    prefix = f"{SETTING_PREFIX}{getattr(instance, 'name', '')}."
    keys: set[str] = set()
    for item in value:
        if not isinstance(item, Setting):
            raise PluginDefinitionError(f"{place}: {item!r:.80} is no Setting")
        if not item.key.startswith(prefix):
            raise PluginDefinitionError(f"{place}: {item.key!r} does not begin with {prefix!r}")
        if item.key in keys:
            raise PluginDefinitionError(f"{place}: {item.key!r} is declared twice")
        keys.add(item.key)


def is_setting(key: str) -> bool:
    """True for ``assignor.<plugin name>.<key>``."""
    return _SETTING.match(key) is not None and not key.startswith("assignor.plugins.")


def text_list(key: str, value: object) -> tuple[str, ...]:
    """A list of texts, or a text with commas, without blank items.

    Raises:
        ConfigError: if it is neither.
    """
    if isinstance(value, str):
        return tuple(item.strip() for item in value.split(",") if item.strip())
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return tuple(item.strip() for item in value if item.strip())
    raise ConfigError(f"Invalid value {value} for configuration {key}: expected a list of texts")
