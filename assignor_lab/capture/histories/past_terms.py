"""Terms under which scoring reads recorded pasts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from zoneinfo import ZoneInfo

import attrs

from assignment_api.plugins.keys import read_value
from assignment_api.plugins.layers import ConfigLayer
from assignor_lab.capture.histories.past import PastSurroundings
from assignor_lab.capture.logs.open_dates import DateOrder, LogDates
from assignor_lab.scenarios.settings import SettingValue

__all__ = ["AUTO", "DECISIONS", "PLAYED", "PastTerms"]

#: Modes: the history from its start with an assignor's own assignments; each decision again from the recorded state
#: (``--mode independent``); ``PLAYED`` if the source has a past.
PLAYED, DECISIONS, AUTO = "played", "decisions", "auto"


@attrs.frozen
class PastTerms:
    """Terms of recorded pasts.

    Args:
        timings: By the names of the simulation; they replace those of settings.
        optimization: ``topology.optimization``; ``None``: as the source has it.
        dates: Order of day and month in logs: a value of :class:`~assignor_lab.capture.logs.open_dates.DateOrder`.
        day: Of the first line of logs with times of day only, as ``2026-11-27``.
        timings_file: Origin of ``timings``.
        settings: Kafka's keys to texts; they replace those of the sources.
        plays: Most plays of a past.
        seed: Seed of the draws of these plays.
    """

    way: str = DECISIONS
    timings: dict[str, int] = attrs.field(factory=dict)
    optimization: str | None = None
    topology: str | None = None
    timezone: str | None = None
    workload: str | None = None
    timings_file: str | None = None
    settings: dict[str, str] = attrs.field(factory=dict)
    dates: str | None = None
    day: str | None = None
    plays: int = 20
    seed: int = 0

    def around(self, config: Sequence[ConfigLayer], on_problem: Callable[[str], None]) -> PastSurroundings:
        return PastSurroundings(
            config,
            None if self.topology is None else Path(self.topology),
            None if self.timezone is None else ZoneInfo(self.timezone),
            on_problem,
            self.optimization,
            dates=self._log_dates,
            latest_protocol=self.way == DECISIONS,
        )

    @property
    def _log_dates(self) -> LogDates:
        order = None if self.dates is None else DateOrder(self.dates)
        return LogDates(order, None if self.day is None else date.fromisoformat(self.day))

    @property
    def typed_settings(self) -> dict[str, SettingValue]:
        return {key: read_value(key, value) for key, value in self.settings.items()}

    @property
    def workload_file(self) -> Path | None:
        return None if self.workload is None else Path(self.workload)
