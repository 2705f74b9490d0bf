"""The interface of connectors for ``assignor connect serve``, offered by hook ``assignor_lab_connectors``."""

from typing import TYPE_CHECKING

from assignment_api.exports import exported

if TYPE_CHECKING:
    from assignment_api.connectors.connector import (
        Connector,
        ConnectorContext,
        SinkConnector,
        SinkTask,
        SourceConnector,
        SourceTask,
        Task,
        TaskContext,
    )
    from assignment_api.connectors.definitions import (
        REQUIRED,
        CheckedValue,
        ConfigDef,
        ConfigKey,
        ConfigType,
        Importance,
        Width,
        at_least,
        one_of,
    )
    from assignment_api.connectors.errors import (
        ConnectorConfigError,
        ConnectorError,
        ConnectorStoppedError,
        PathNotAllowedError,
    )
    from assignment_api.connectors.records import SinkRecord, SourceRecord

__all__ = [
    "REQUIRED",
    "CheckedValue",
    "ConfigDef",
    "ConfigKey",
    "ConfigType",
    "Connector",
    "ConnectorConfigError",
    "ConnectorContext",
    "ConnectorError",
    "ConnectorStoppedError",
    "Importance",
    "PathNotAllowedError",
    "SinkConnector",
    "SinkRecord",
    "SinkTask",
    "SourceConnector",
    "SourceRecord",
    "SourceTask",
    "Task",
    "TaskContext",
    "Width",
    "at_least",
    "one_of",
]

if not TYPE_CHECKING:
    __getattr__ = exported(__name__, __all__, "errors connector definitions records")
