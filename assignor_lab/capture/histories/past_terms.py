"""The terms under which recorded pasts are scored: played as histories or decision by decision, and what they lack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import attrs

from assignment_api.plugins.keys import read_value
from assignment_api.plugins.layers import ConfigLayer
from assignor_lab.capture.histories.past import Surroundings

__all__ = ["AUTO", "DECISIONS", "PLAYED", "PastTerms"]

#: Ways to read a group's past: as a history that each assignor plays from its beginning, going on from its own answers;
#: as decisions, each made again from the recorded state (``--mode independent``); or the first where there is a past.
PLAYED, DECISIONS, AUTO = "played", "decisions", "auto"


@attrs.frozen
class PastTerms:
    """How recorded pasts are read.

    Args:
        way: ``played``, ``decisions`` or ``auto``.
        timings: Timings of a file, by the names of the simulation; they replace those that settings give.
        optimization: ``topology.optimization`` of the application; ``None``: as the source tells.
        topology: Name of a file with the text of Java's ``Topology#describe``, or ``None``.
        timezone: Time zone of logs that do not name theirs; ``None``: UTC.
        workload: Name of a file with what the tasks weigh, or ``None``.
        timings_file: Name of a file with timings, which ``timings`` has already, or ``None``.
        settings: Settings of the groups, Kafka's keys to texts, in place of those that the sources say.
    """

    way: str = DECISIONS
    timings: dict[str, int] = attrs.field(factory=dict)
    optimization: str | None = None
    topology: str | None = None
    timezone: str | None = None
    workload: str | None = None
    timings_file: str | None = None
    settings: dict[str, str] = attrs.field(factory=dict)

    def around(self, config: Sequence[ConfigLayer], on_problem: Callable[[str], None]) -> Surroundings:
        """What pasts do not tell of themselves."""
        return Surroundings(
            config,
            None if self.topology is None else Path(self.topology),
            None if self.timezone is None else ZoneInfo(self.timezone),
            on_problem,
            self.optimization,
        )

    @property
    def typed_settings(self) -> dict[str, Any]:
        """The settings with values in their types."""
        return {key: read_value(key, value) for key, value in self.settings.items()}

    @property
    def workload_file(self) -> Path | None:
        """The file with what the tasks weigh."""
        return None if self.workload is None else Path(self.workload)
