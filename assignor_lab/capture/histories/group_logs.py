"""Logs beside recorded decisions: reasons, times, starts and stops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, tzinfo
from os import PathLike, fspath
from typing import Any

import attrs

from assignor_lab.capture.histories.logged_decisions import told_of_epoch
from assignor_lab.capture.histories.streams_epochs import Epoch
from assignor_lab.capture.logs.import_log import read_decisions
from assignor_lab.capture.logs.open_dates import LogDates
from assignor_lab.capture.logs.rebalance import LogProblem
from assignor_lab.capture.logs.surroundings import LoggedSurroundings
from assignor_lab.capture.logs.surroundings_filler import SurroundingsFiller
from assignor_lab.model.events import GroupEvent

__all__ = ["GroupLogs", "read_group_logs"]


@attrs.frozen
class GroupLogs:
    """Logs of coordinators and instances of a recorded group."""

    surroundings: LoggedSurroundings
    zone: tzinfo

    def knows(self, group: str) -> bool:
        return (
            any(True for _ in self.surroundings.generations(group))
            or any(epoch.group == group for epoch in self.surroundings.epochs)
            or group in self.surroundings.group_of.values()
            or group in self.surroundings.causes.groups
        )

    def caused(self, group: str | None) -> Iterator[GroupEvent]:
        """Events of the group, and of lines that name no group."""
        for of, event in self.surroundings.caused(self.zone, ()):
            if of in (None, group):
                yield event

    @property
    def is_nameless(self) -> bool:
        """The logs are of instances, and name no group."""
        logged = self.surroundings
        return bool(logged.done) and not (logged.group_of or any(logged.groups()) or any(logged.epochs))

    def filled(self, documents: Iterable[tuple[dict[str, Any], str | None]]) -> Iterator[dict[str, Any]]:
        """By time; each document with the member id of the group's leader, or ``None``."""
        yield from SurroundingsFiller(self.surroundings, self.zone).filled(documents)

    def reason(self, group: str, generation: int, leader: str | None) -> str | None:
        surroundings = self.surroundings.of(group, generation, leader)
        return None if surroundings is None else surroundings.reason or None

    def filled_epochs(self, group: str, epochs: Sequence[Epoch]) -> list[Epoch]:
        numbered: dict[int, list[dict[str, Any]]] = {}
        for each in self.surroundings.epochs:
            if each.group == group:
                time_ms = None if each.time is None else each.time.epoch_ms(self.zone)
                numbered.setdefault(each.number, []).append({"t": time_ms, **told_of_epoch(each, self.zone)})
        return [_with_nearest(epoch, numbered.get(epoch.number, [])) for epoch in epochs]


def _with_nearest(epoch: Epoch, documents: Sequence[dict[str, Any]]) -> Epoch:
    """Epoch numbers repeat if a group was deleted and created again: the nearest time decides."""
    if not documents:
        return epoch
    best = min(documents, key=lambda each: 0 if each["t"] is None else abs(each["t"] - epoch.time_ms))
    further = {key: value for key, value in best.items() if key != "t"}
    if "prepared_ms" in further:
        # One machine wrote both, at slightly different times.
        further["prepared_ms"] = min(further["prepared_ms"], epoch.time_ms)
    return attrs.evolve(epoch, further={**epoch.further, **further})


def read_group_logs(
    logs: Sequence[str | PathLike[str]],
    zone: tzinfo | None = None,
    on_problem: Callable[[str], None] = lambda _: None,
    dates: LogDates | None = None,
) -> GroupLogs:
    """``on_problem`` receives each garbled message; the default zone is UTC."""

    def note(problem: LogProblem) -> None:
        # The decisions come from records.
        if not problem.loses_decision:
            on_problem(str(problem))

    around = LoggedSurroundings()
    for _ in read_decisions([fspath(log) for log in logs], note, surroundings=around, dates=dates):
        pass
    return GroupLogs(around, zone or UTC)
