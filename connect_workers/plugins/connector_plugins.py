"""Connectors that can be configured: found by their class or name, described, and their configurations checked."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from assignment_api.connectors import (
    CheckedValue,
    ConfigDef,
    ConfigKey,
    ConfigType,
    Connector,
    SinkConnector,
    SourceConnector,
)
from assignment_api.plugins import Registry
from assignor_lab.kafka.version import KAFKA_VERSION
from connect_workers.contract import BadRequestError, NotFoundError, PluginInfo, Validation
from connect_workers.plugins.connector_keys import (
    CONVERTERS,
    HEADER_CONVERTERS,
    common_keys,
    definition_json,
    value_json,
)
from connect_workers.plugins.topic_patterns import pattern_problem

__all__ = ["ConnectorKind", "ConnectorPlugins", "UnknownConnectorClassError"]

_logger = logging.getLogger(__name__)

#: Aliases of Kafka's plugins of a kind that has no configuration to show (override policies).
_OTHER_PLUGINS = ("All", "Allowlist", "None", "Principal")
_KINDS = "sink, source, converter, header_converter, transformation, predicate"


class UnknownConnectorClassError(BadRequestError):
    """``connector.class`` names nothing that is installed."""


@attrs.frozen
class ConnectorKind:
    """A connector that can be configured.

    Args:
        class_name: Its name in plugin lists.
        names: All values of ``connector.class`` for it.
    """

    class_name: str
    connector: type[Connector]
    names: tuple[str, ...]

    @property
    def type(self) -> str:
        """``source`` or ``sink``."""
        return "sink" if issubclass(self.connector, SinkConnector) else "source"

    @property
    def version(self) -> str | None:
        version = self.connector.version
        return None if version == "undefined" else version

    def definition(self) -> ConfigDef:
        """All its keys: those of every connector first."""
        common = common_keys(self.version, sink=self.type == "sink")
        known = {key.name for key in common.keys}
        return ConfigDef((*common.keys, *(key for key in self.connector.config_def().keys if key.name not in known)))


class ConnectorPlugins:
    """Everything that can be configured."""

    def __init__(self, kinds: Iterable[ConnectorKind]) -> None:
        self._kinds = tuple(kinds)
        self._by_name: dict[str, ConnectorKind | None] = {}
        for kind in self._kinds:
            for name in dict.fromkeys(kind.names):
                # A short name that two of them have means neither.
                self._by_name[name] = kind if name not in self._by_name else None

    @classmethod
    def from_registry(cls, registry: Registry) -> ConnectorPlugins:
        """The connectors that installed plugins offer; one that cannot be imported costs the others nothing."""
        for row in registry.listing():
            if row.status in ("broken", "refused"):
                _logger.warning("plugin %s of %s is %s: %s", row.name, row.distribution, row.status, row.reason)
        kinds = []
        for found in registry.connectors():
            try:
                loaded: object = found.plugin.load()
                if not isinstance(loaded, type) or not issubclass(loaded, (SourceConnector, SinkConnector)):
                    raise TypeError(f"{loaded!r:.80} is neither a SourceConnector nor a SinkConnector")
                loaded.config_def()
            except Exception:
                _logger.exception("connector %s of %s cannot be used", found.name, found.distribution)
                continue
            kinds.append(connector_kind(found.name, loaded, found.plugin.java_classes))
        return cls(kinds)

    # --- finding --------------------------------------------------------------------------------------

    def kind(self, class_name: str) -> ConnectorKind:
        """The connector that ``connector.class`` names.

        Raises:
            UnknownConnectorClassError: if there is none.
        """
        found = self._by_name.get(class_name)
        if found is None:
            known = ", ".join(kind.class_name for kind in self._kinds)
            raise UnknownConnectorClassError(
                "Failed to find any class that implements Connector and which name matches "
                f"{class_name:.200}, available connectors are: {known}"
            )
        return found

    def find(self, config: Mapping[str, str | None]) -> ConnectorKind | None:
        return self._by_name.get(config.get("connector.class") or "")

    def type_of(self, config: Mapping[str, str | None]) -> str:
        """``source``, ``sink`` or ``unknown``."""
        kind = self.find(config)
        return "unknown" if kind is None else kind.type

    # --- describing -----------------------------------------------------------------------------------

    def listed(self, *, connectors_only: bool) -> list[PluginInfo]:
        found = [PluginInfo(kind.class_name, kind.type, kind.version) for kind in self._kinds]
        if not connectors_only:
            found += [PluginInfo(name, "converter", KAFKA_VERSION) for name in CONVERTERS]
            found += [PluginInfo(name, "header_converter", KAFKA_VERSION) for name in HEADER_CONVERTERS]
        return found

    def definitions(self, name: str, version: str | None) -> list[Mapping[str, Any]]:
        """Definitions of a plugin's own keys, then of those that every connector has.

        Raises:
            NotFoundError: if there is no such plugin.
            BadRequestError: if it is there in another version, or of another kind.
        """
        if name in HEADER_CONVERTERS:
            return []
        if name in _OTHER_PLUGINS:
            raise BadRequestError(f"Invalid plugin class {name}. Valid types are {_KINDS}.")
        kind = self._by_name.get(name)
        if kind is None:
            raise NotFoundError(f"Unknown plugin {name}.")
        if version not in (None, "latest", kind.version):
            if not version or version[0] in "[(":
                raise BadRequestError(f"Invalid version specification: {version}")
            raise BadRequestError(
                f"Plugin {kind.class_name} not found that matches the version range [{version},{version}], available "
                f"versions: [{kind.version}]"
            )
        own = kind.connector.config_def().keys
        names = {key.name for key in own}
        common = (key for key in common_keys(kind.version, sink=kind.type == "sink").keys if key.name not in names)
        return [definition_json(key) for key in (*own, *common)]

    # --- checking -------------------------------------------------------------------------------------

    def validate(self, config: Mapping[str, str | None]) -> Validation:
        """Checks a configuration as a whole. It may take time, since the connector takes part.

        Raises:
            BadRequestError: if it names no connector.
            UnknownConnectorClassError: if it names one that is not there.
        """
        class_name = config.get("connector.class")
        if class_name is None:
            raise BadRequestError("Connector config contains no connector type")
        kind = self.kind(class_name)
        definition = kind.definition()
        values = {value.key.name: value for value in definition.checked(config)}
        for key, errors in self._further_errors(kind, config, values).items():
            if errors:
                known = values.get(key) or CheckedValue(ConfigKey(key, ConfigType.STRING, "", None), config.get(key))
                values[key] = attrs.evolve(known, errors=(*known.errors, *errors))
        groups = list(dict.fromkeys(key.group for key in definition.keys if key.group is not None))
        return Validation(
            kind.class_name,
            sum(len(value.errors) for value in values.values()),
            groups,
            [{"definition": definition_json(value.key), "value": value_json(value)} for value in values.values()],
        )

    def _further_errors(
        self, kind: ConnectorKind, config: Mapping[str, str | None], values: Mapping[str, CheckedValue]
    ) -> dict[str, list[str]]:
        errors: dict[str, list[str]] = {}
        if kind.type == "sink":
            errors |= _topic_errors(values)
        if not any(value.errors for value in values.values()):
            texts = {key: value for key, value in config.items() if value is not None}
            for key, found in kind.connector.check(texts).items():
                errors.setdefault(key, []).extend(found)
        return errors


def connector_kind(name: str, connector: type[Connector], java_classes: Iterable[str] = ()) -> ConnectorKind:
    """A connector with all values of ``connector.class``: full name, simple name, and without ``Connector``."""
    full = tuple(java_classes)
    simple = [each.rpartition(".")[2] for each in full]
    short = [each.removesuffix("Connector") for each in simple]
    return ConnectorKind(full[0] if full else name, connector, (*full, *simple, *short, name))


def _topic_errors(values: Mapping[str, CheckedValue]) -> dict[str, list[str]]:
    topics, regex = values["topics"].value or (), values["topics.regex"].value or ""
    if bool(topics) == bool(regex):
        clash = (
            "topics and topics.regex are mutually exclusive options, but both are set."
            if topics
            else "Must configure one of topics or topics.regex"
        )
        return {"topics": [clash], "topics.regex": [clash]}
    problem = pattern_problem(regex) if regex else None
    if problem is not None:
        return {"topics.regex": [f"Invalid value {regex} for configuration topics.regex: {problem}"]}
    return {}
