"""Scenario files: what an assignor may see, read, written and generated."""

from assignor_lab.scenarios.errors import Place, ScenarioFormatError, ScenarioKindError
from assignor_lab.scenarios.reader import (
    FORMAT,
    KINDS,
    read_scenarios,
    scenario_from_document,
    scenario_from_line,
)
from assignor_lab.scenarios.scenario import Scenario

__all__ = [
    "FORMAT",
    "KINDS",
    "Place",
    "Scenario",
    "ScenarioFormatError",
    "ScenarioKindError",
    "read_scenarios",
    "scenario_from_document",
    "scenario_from_line",
]
