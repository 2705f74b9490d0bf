"""The present group of ``plan`` and ``advise``, from their options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assignor_lab.cli.past_options import given_racks, past_terms
from assignor_lab.cli.text import note

if TYPE_CHECKING:
    from assignment_api.plugins import ConfigSources
    from assignor_lab.opened.reading import ReadGroup

__all__ = ["read_group"]


def read_group(
    source: str,
    state_id: str | None,
    given: ConfigSources,
    racks: list[Path] | None,
    topology: Path | None,
    timezone: str | None,
    workload: Path | None,
    timings: Path | None,
    assignor: str | None,
    dates: str | None = None,
    day: str | None = None,
) -> ReadGroup:
    """:func:`assignor_lab.opened.reading.group_of_source` with the values of options, and its errors."""
    from assignor_lab.capture.histories.past_terms import DECISIONS
    from assignor_lab.cli.found_plugins import found_plugins
    from assignor_lab.opened.reading import group_of_source

    plugins = found_plugins(given.effective())
    past = past_terms(DECISIONS, given, topology, timezone, workload, timings, dates=dates, day=day)
    return group_of_source(source, state_id, plugins, given, past, note, racks=given_racks(racks), assignor=assignor)
