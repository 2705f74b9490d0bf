"""Effective configuration with origins, and the selected assignor.

Lowest first: Kafka's defaults, a discovered file, the environment, the scenario's configuration, ``--config`` file,
``-c key=value``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import attrs

from assignment_api.connect import CONNECT_PROTOCOL, ConnectProtocol
from assignment_api.errors import ConfigError
from assignment_api.plugins.config_files import discovered_layer, file_layer
from assignment_api.plugins.errors import PluginError
from assignment_api.plugins.found import FoundConnectAssignor, FoundTaskAssignor
from assignment_api.plugins.keys import (
    ALLOW,
    BLOCK,
    CONNECT_ASSIGNOR_CLASS,
    GROUP_KEYS,
    INTERNAL_TASK_ASSIGNOR_CLASS,
    ISOLATE,
    KAFKA_KEYS,
    PIN,
    SETTING_PREFIX,
    SHOW,
    TASK_ASSIGNOR_CLASS,
    TRUST,
    is_policy_key,
    is_setting,
    read_value,
    text_list,
)
from assignment_api.plugins.layers import (
    ConfigLayer,
    ConfigValue,
    Origin,
    command_line_layer,
    default_layer,
    environment_layer,
    scenario_layer,
)
from assignment_api.plugins.policy import ISOLATION, Pin, Policy
from assignment_api.plugins.registry import Registry
from assignment_api.plugins.reserved import canonical_name, is_reserved

__all__ = [
    "HIDDEN",
    "ConfigSources",
    "EffectiveConfig",
    "config_sources",
    "effective_config",
    "hides",
    "select_connect_assignor",
    "select_task_assignor",
]

_SECRET = re.compile(
    r"passw|passphrase|passcode|pwd|secret|token|credential|jaas|auth|(?:api|access|private|signing|encryption).?key",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(r"://[^/\s@:]*:[^/\s@]+@")
_JAVA_CONFIG = "assignor.java.config."
#: In place of a hidden value.
HIDDEN = "(hidden)"


class FoundPlugin(Protocol):
    """A selected plugin, for :meth:`EffectiveConfig.values_of`."""

    @property
    def name(self) -> str: ...

    @property
    def plugin(self) -> Any: ...

    @property
    def installed(self) -> frozenset[str] | None: ...


@attrs.frozen
class EffectiveConfig(Mapping[str, ConfigValue]):
    """Key to value and origin: Kafka's, then policy, tags and settings, sorted.

    Args:
        entries: Only keys that concern assignment.
        notes: For the user, about sources.
    """

    entries: Mapping[str, ConfigValue]
    notes: tuple[str, ...] = ()

    def __getitem__(self, key: str) -> ConfigValue:
        return self.entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def values_for(self, plugin: str) -> Mapping[str, Any]:
        """The argument of ``configure()``: Kafka's keys and the plugin's settings with full keys.

        Keys of time and membership are left out: they decide only when a group rebalances. Values are as written, lists
        as tuples; read-only, since assignors share them.
        """
        return self._values(lambda owner: owner == plugin)

    def values_of(self, found: FoundPlugin) -> Mapping[str, Any]:
        """As :meth:`values_for`, for a selected assignor.

        ``module:attribute`` gets the settings of its own name, and those that no installed plugin owns.
        """
        label, installed = found.name.partition("@")[0].rpartition(":")[2], found.installed
        # An attribute with a plugin's description has the name that this declares.
        own = {label, getattr(found.plugin, "name", label)}
        return self._values(lambda owner: owner in own or (installed is not None and owner not in installed))

    def _values(self, has_settings_of: Callable[[str], bool]) -> Mapping[str, Any]:
        return MappingProxyType(
            {
                key: _read_only(held.value)
                for key, held in self.entries.items()
                if not (is_policy_key(key) or key in GROUP_KEYS)
                and (not is_setting(key) or has_settings_of(key.removeprefix(SETTING_PREFIX).partition(".")[0]))
            }
        )

    def policy(self) -> Policy:
        """Policy of ``assignor.plugins.*``; default: no allow-list."""
        allow, block, pins, trust = (
            None if key not in self.entries else text_list(key, self.entries[key].value)
            for key in (ALLOW, BLOCK, PIN, TRUST)
        )
        isolate = self.entries[ISOLATE].value if ISOLATE in self.entries else ISOLATION[0]
        return Policy(allow, block or (), tuple(Pin.parse(pin) for pin in pins or ()), trust or (), isolate)

    def problem(self, key: str) -> str | None:
        """Reason against a value, or ``None``; only scenarios can have one."""
        try:
            read_value(key, self.entries[key].value)
        except ConfigError as error:
            return str(error)
        return None

    def shown(self, key: str) -> Any:
        """Printable value; secret settings, by name or value, are hidden."""
        value = self.entries[key].value
        secret = is_setting(key) and (_SECRET.search(key) or _SECRET_VALUE.search(str(value)))
        return HIDDEN if secret else value


def hides(config: EffectiveConfig, key: str, value: object) -> bool:
    """True for plugins' settings outside ``assignor.plugins.show``.

    Settings of built-ins are shown; values secret by name or content never are.
    """
    if not is_setting(key):
        return False
    if _SECRET.search(key) or _SECRET_VALUE.search(str(value)):
        return True
    plugin = key.split(".")[1]
    shown = text_list(SHOW, config.entries[SHOW].value) if SHOW in config.entries else ()
    is_named = key in shown or canonical_name(plugin) in map(canonical_name, shown)
    return not is_named and (key.startswith(_JAVA_CONFIG) or not is_reserved(plugin))


def _read_only(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(map(_read_only, value))
    if isinstance(value, Mapping):
        return MappingProxyType({key: _read_only(item) for key, item in value.items()})
    return value


@attrs.frozen
class ConfigSources:
    """Every source except the scenario's own, read once.

    Args:
        below: Layers below the scenario's, lowest first.
        above: Layers above it, lowest first.
    """

    below: tuple[ConfigLayer, ...]
    above: tuple[ConfigLayer, ...]

    def effective(self, scenario: Mapping[str, object] | None = None, place: str = "") -> EffectiveConfig:
        """The effective configuration.

        Args:
            scenario: Its ``config``, or ``None``.
            place: Of the scenario, for origins.
        """
        own = () if scenario is None else (scenario_layer(scenario, place),)
        layers = (*self.below, *own, *self.above)
        merged: dict[str, ConfigValue] = {}
        for layer in layers:
            merged.update(layer.entries)
        kafka = {key: merged[key] for key in (*KAFKA_KEYS, *GROUP_KEYS) if key in merged}
        others = {key: merged[key] for key in sorted(merged) if key not in kafka}
        return EffectiveConfig(kafka | others, tuple(note for layer in layers for note in layer.notes))

    def explicit_values(self) -> Mapping[str, Any]:
        """Typed values of ``--config`` and ``-c``, which override a scenario's."""
        merged: dict[str, ConfigValue] = {}
        for layer in self.above:
            merged.update(layer.entries)
        return MappingProxyType(
            {
                key: read_value(key, held.value)
                for key, held in merged.items()
                if not (is_policy_key(key) or key in GROUP_KEYS)
            }
        )


def config_sources(
    config_file: Path | None = None,
    overrides: Sequence[str] = (),
    *,
    environ: Mapping[str, str] | None = None,
    start: Path | None = None,
) -> ConfigSources:
    """Read every source except the scenario's own.

    Args:
        config_file: ``--config`` file, TOML or ``.properties``.
        overrides: ``key=value`` of ``-c``; the last of equal keys counts.
        environ: Variables; ``None``: the process's own.
        start: First folder of the upward search; ``None``: the working directory.

    Raises:
        ConfigFileError: if a file cannot be read or is not in its format.
        ConfigKeyError: if ``--config`` or ``-c`` has a near miss of a key, or ``-c`` an unknown key.
        ConfigValueError: if a value is of the wrong type or out of its range.
    """
    below = (
        default_layer(),
        discovered_layer(Path.cwd() if start is None else start.absolute()),
        environment_layer(os.environ if environ is None else environ),
    )
    explicit = () if config_file is None else (file_layer(config_file),)
    return ConfigSources(below, (*explicit, command_line_layer(overrides)))


def effective_config(
    config_file: Path | None = None,
    overrides: Sequence[str] = (),
    *,
    scenario: Mapping[str, object] | None = None,
    place: str = "",
    environ: Mapping[str, str] | None = None,
    start: Path | None = None,
) -> EffectiveConfig:
    """:func:`config_sources` and :meth:`ConfigSources.effective` at once."""
    return config_sources(config_file, overrides, environ=environ, start=start).effective(scenario, place)


def select_task_assignor(registry: Registry, config: EffectiveConfig) -> FoundTaskAssignor:
    """The selected task assignor.

    As in Kafka: ``task.assignor.class``, else ``internal.task.assignor.class``. ``module:attribute`` only from
    ``--config`` or ``-c``.

    Raises:
        PluginError: as :meth:`Registry.task_assignor`, with key and origin.
    """
    key, selector, origin = _selector(config)
    try:
        return registry.task_assignor(selector, may_run_code=origin.layer.is_explicit)
    except PluginError as error:
        raise type(error)(f"{key} ({origin}): {error}") from error


_OF_PROTOCOL: Mapping[ConnectProtocol, str] = {
    ConnectProtocol.EAGER: "connect_eager",
    ConnectProtocol.COMPATIBLE: "connect_incremental",
    ConnectProtocol.SESSIONED: "connect_incremental",
    ConnectProtocol.STATIC: "connect_static",
}


def select_connect_assignor(registry: Registry, config: EffectiveConfig) -> FoundConnectAssignor:
    """The selected assignor for Kafka Connect.

    ``connect.assignor.class`` (our key), else that of ``connect.protocol`` (Kafka's default: ``sessioned``).
    ``module:attribute`` only from ``--config`` or ``-c``.

    Raises:
        ConfigError: if ``connect.protocol`` is invalid.
        PluginError: as :meth:`Registry.connect_assignor`, with key and origin.
    """
    held = config.entries.get(CONNECT_ASSIGNOR_CLASS)
    if held is None or held.value is None:
        spoken = config.entries.get(CONNECT_PROTOCOL)
        protocol = ConnectProtocol.SESSIONED if spoken is None else ConnectProtocol.from_config(spoken.value)
        return registry.connect_assignor(_OF_PROTOCOL[protocol])
    try:
        return registry.connect_assignor(str(held.value), may_run_code=held.origin.layer.is_explicit)
    except PluginError as error:
        raise type(error)(f"{CONNECT_ASSIGNOR_CLASS} ({held.origin}): {error}") from error


def _selector(config: EffectiveConfig) -> tuple[str, str, Origin]:
    for key in (TASK_ASSIGNOR_CLASS, INTERNAL_TASK_ASSIGNOR_CLASS):
        held = config.entries.get(key)
        if held is not None and held.value is not None:
            return key, str(held.value), held.origin
    default = default_layer().entries[INTERNAL_TASK_ASSIGNOR_CLASS]
    return INTERNAL_TASK_ASSIGNOR_CLASS, str(default.value), default.origin
