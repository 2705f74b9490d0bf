"""Configuration of a single source, with places."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

import attrs

from assignment_api.errors import ConfigError
from assignment_api.plugins.errors import ConfigKeyError, ConfigValueError
from assignment_api.plugins.keys import (
    CLIENT_TAG_PREFIX,
    DEFAULTS,
    GROUP_KEYS,
    KAFKA_KEYS,
    POLICY_KEYS,
    SETTING_PREFIX,
    is_kept,
    is_policy_key,
    meant_key,
    own_key,
    read_value,
)
from assignment_api.plugins.near import did_you_mean
from assignment_api.streams.configs import ASSIGNMENT_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "ConfigLayer",
    "ConfigValue",
    "Layer",
    "Origin",
    "command_line_layer",
    "default_layer",
    "environment_layer",
    "layer_of",
    "scenario_layer",
]


class Layer(enum.Enum):
    """Kinds of sources; later ones override."""

    DEFAULT = "Kafka's default"
    PLUGIN = "default of assignor"
    DISCOVERED = "discovered file"
    ENVIRONMENT = "environment"
    SCENARIO = "scenario"
    FILE = "--config"
    COMMAND_LINE = "-c"

    @property
    def is_explicit(self) -> bool:
        """True for the command line and a file named there."""
        return self in (Layer.FILE, Layer.COMMAND_LINE)


@attrs.frozen
class Origin:
    """Source of a value.

    Args:
        place: File and line, variable, or the like; empty for a default.
    """

    layer: Layer
    place: str = ""

    def __str__(self) -> str:
        return f"{self.layer.value} {self.place}" if self.place else self.layer.value


@attrs.frozen
class ConfigValue:
    """A value as written, with its source."""

    value: Any
    origin: Origin


@attrs.frozen
class ConfigLayer:
    """Configuration of one source.

    Args:
        entries: Only keys of assignment, time and membership.
        notes: Sentences for the user, without values.
    """

    entries: Mapping[str, ConfigValue] = attrs.field(factory=dict)
    notes: tuple[str, ...] = ()


def layer_of(layer: Layer, pairs: Iterable[tuple[str, object, str]]) -> ConfigLayer:
    """Keep the keys that concern assignment, with checked values; ignore the rest unread.

    Args:
        pairs: Key, value and place. The last of equal keys counts, but a consumer's own key before the plain one.

    Raises:
        ConfigKeyError: if an explicit source has a near miss of a key.
        ConfigValueError: if a value is of the wrong type or out of its range.
    """
    entries: dict[str, ConfigValue] = {}
    ranks: dict[str, int] = {}
    notes: list[str] = []
    for key, value, place in pairs:
        origin = Origin(layer, place)
        if is_kept(key):
            own, rank = own_key(key)
            _check(own, value, origin)
            if rank >= ranks.get(own, rank):
                entries[own], ranks[own] = ConfigValue(value, origin), rank
            continue
        meant = meant_key(key)
        if meant is None:
            continue
        complaint = f"{origin}: unknown key {key!r}; did you mean {meant!r}?"
        if layer.is_explicit and not key.endswith("." + meant):
            raise ConfigKeyError(complaint)
        notes.append(complaint)
    return ConfigLayer(entries, tuple(notes))


def _check(key: str, value: object, origin: Origin) -> None:
    try:
        read_value(key, value)
    except ConfigError as error:
        raise ConfigValueError(f"{origin}: {error}") from error


def default_layer() -> ConfigLayer:
    """Kafka's defaults."""
    return ConfigLayer({key: ConfigValue(value, Origin(Layer.DEFAULT)) for key, value in DEFAULTS.items()})


def environment_layer(environ: Mapping[str, str]) -> ConfigLayer:
    """Configuration in variables ``ASSIGNOR_...``; other variables are ignored.

    ``ASSIGNOR_NUM_STANDBY_REPLICAS`` is ``num.standby.replicas``, ``ASSIGNOR_CLIENT_TAG_ZONE`` is ``client.tag.zone``,
    ``ASSIGNOR_PLUGINS_BLOCK`` is ``assignor.plugins.block``, ``ASSIGNOR__WEIGHTED_SPREAD__MAX_MOVES`` is
    ``assignor.weighted_spread.max_moves``.

    Raises:
        ConfigValueError: naming the variable, if a value is of the wrong type or out of its range.
    """
    known = {_variable(key): key for key in (*KAFKA_KEYS, *GROUP_KEYS, *POLICY_KEYS)}
    pairs: list[tuple[str, object, str]] = []
    notes: list[str] = []
    for variable in sorted(name for name in environ if name.startswith("ASSIGNOR_")):
        place = f"variable {variable}"
        key = known.get(variable) or _setting_or_tag(variable)
        if key is not None:
            pairs.append((key, environ[variable], place))
        elif (meant := meant_key(variable.removeprefix("ASSIGNOR_").lower())) is not None:
            notes.append(f"{Origin(Layer.ENVIRONMENT, place)} means nothing; did you mean {_variable(meant)}?")
    layer = layer_of(Layer.ENVIRONMENT, pairs)
    return attrs.evolve(layer, notes=(*layer.notes, *notes))


def _variable(key: str) -> str:
    return "ASSIGNOR_" + key.removeprefix(SETTING_PREFIX).replace(".", "_").upper()


def _setting_or_tag(variable: str) -> str | None:
    parts = variable.lower().split("__")
    if len(parts) > 2 and parts[0] == "assignor":
        key = SETTING_PREFIX + ".".join(parts[1:])
        return key if is_kept(key) else None
    tag = variable.removeprefix("ASSIGNOR_CLIENT_TAG_")
    return CLIENT_TAG_PREFIX + tag.lower() if tag and tag != variable else None


def scenario_layer(config: Mapping[str, object], place: str) -> ConfigLayer:
    """A scenario's own configuration.

    Missing keys have Kafka's defaults, not those of files or the environment. It cannot change the policy. Values are
    unchecked: a bad one makes an error row.
    """
    entries = {
        key: ConfigValue(DEFAULTS[key], Origin(Layer.SCENARIO, f"{place} (left out there: Kafka's default)"))
        for key in ASSIGNMENT_KEYS
    }
    for key, value in config.items():
        if is_kept(key) and not is_policy_key(key):
            entries[key] = ConfigValue(value, Origin(Layer.SCENARIO, place))
    return ConfigLayer(entries)


def command_line_layer(overrides: Sequence[str]) -> ConfigLayer:
    """Configuration from ``-c key=value``.

    Raises:
        ConfigKeyError: if an item has no ``=``, or a key that does not concern assignment.
        ConfigValueError: if a value is of the wrong type or out of its range.
    """
    pairs: list[tuple[str, object, str]] = []
    for item in overrides:
        key, separator, value = item.partition("=")
        key = key.strip()
        if not separator or not key:
            raise ConfigKeyError(f"-c: {key!r:.80} has no value: write -c key=value")
        if not is_kept(key):
            meant = meant_key(key)
            hint = did_you_mean(key, (*KAFKA_KEYS, *GROUP_KEYS)) if meant is None else f"; did you mean {meant!r}?"
            raise ConfigKeyError(
                f"-c: {key!r:.80} is no key of assignment{hint} `assignor config` lists the keys; a plugin's own "
                "settings are assignor.<plugin name>.<key>"
            )
        pairs.append((key, value, key))
    return layer_of(Layer.COMMAND_LINE, pairs)
