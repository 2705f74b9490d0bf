"""The SPI of assignors for Kafka Connect (KIP-415, KIP-987); import the module, or names from it."""

from typing import TYPE_CHECKING

from assignment_api.exports import exported

if TYPE_CHECKING:
    from assignment_api.connect.assignment import ConnectAssignment, WorkerAssignment
    from assignment_api.connect.assignor import MAX_DELAY_KEY, ConnectAssignor
    from assignment_api.connect.errors import (
        ConnectAssignorError,
        ConnectConfigError,
        ConnectorTaskIdFormatError,
        InvalidConnectGroupError,
        UnsupportedConnectProtocolError,
    )
    from assignment_api.connect.jobs import NO_JOBS, ConfiguredJobs, ConnectorTaskId, Jobs
    from assignment_api.connect.protocol import CONNECT_PROTOCOL, ConnectProtocol
    from assignment_api.connect.rebalance import NO_GENERATION, Rebalance
    from assignment_api.connect.workers import STATIC_CONNECTORS, STATIC_TASKS, WILDCARD, StaticJobs, Worker

__all__ = [
    "CONNECT_PROTOCOL",
    "MAX_DELAY_KEY",
    "NO_GENERATION",
    "NO_JOBS",
    "STATIC_CONNECTORS",
    "STATIC_TASKS",
    "WILDCARD",
    "ConfiguredJobs",
    "ConnectAssignment",
    "ConnectAssignor",
    "ConnectAssignorError",
    "ConnectConfigError",
    "ConnectProtocol",
    "ConnectorTaskId",
    "ConnectorTaskIdFormatError",
    "InvalidConnectGroupError",
    "Jobs",
    "Rebalance",
    "StaticJobs",
    "UnsupportedConnectProtocolError",
    "Worker",
    "WorkerAssignment",
]

if not TYPE_CHECKING:
    __getattr__ = exported(__name__, __all__, "errors protocol jobs assignor assignment rebalance workers")
