"""Scenario files, an assignor's whole input: read, written and generated."""

from typing import TYPE_CHECKING

from assignment_api.exports import exported
from assignor_lab.documents.errors import DocumentFormatError, OutputFileError, Place
from assignor_lab.documents.writer import canonical_line, write_lines

if TYPE_CHECKING:
    from assignor_lab.scenarios.connect_history import ConnectHistory, ConnectRound
    from assignor_lab.scenarios.errors import ScenarioKindError
    from assignor_lab.scenarios.group_conversion import GroupDocument, group_document
    from assignor_lab.scenarios.reader import (
        FORMAT,
        read_scenarios,
        scenario_from_document,
        scenario_from_line,
    )
    from assignor_lab.scenarios.results import (
        connect_result_row,
        error_row,
        group_result_row,
        partition_members,
        partition_result_row,
        placement,
        result_row,
    )
    from assignor_lab.scenarios.scenario import Scenario

__all__ = [
    "FORMAT",
    "ConnectHistory",
    "ConnectRound",
    "DocumentFormatError",
    "GroupDocument",
    "OutputFileError",
    "Place",
    "Scenario",
    "ScenarioKindError",
    "canonical_line",
    "connect_result_row",
    "error_row",
    "group_document",
    "group_result_row",
    "partition_members",
    "partition_result_row",
    "placement",
    "read_scenarios",
    "result_row",
    "scenario_from_document",
    "scenario_from_line",
    "write_lines",
]

if not TYPE_CHECKING:
    __getattr__ = exported(__name__, __all__, "errors scenario connect_history results reader group_conversion")
