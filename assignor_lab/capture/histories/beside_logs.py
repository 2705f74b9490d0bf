"""What logs tell of a group whose decisions are recorded: why and since when it rebalanced, who started and stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, tzinfo
from os import PathLike, fspath
from typing import Any

import attrs

from assignor_lab.capture.histories.logged_decisions import told_of_epoch
from assignor_lab.capture.histories.streams_epochs import Epoch
from assignor_lab.capture.logs.import_log import read_decisions
from assignor_lab.capture.logs.rebalance import Problem
from assignor_lab.capture.logs.surroundings import LoggedSurroundings
from assignor_lab.capture.logs.surroundings_filler import SurroundingsFiller

__all__ = ["LogsBeside", "read_logs_beside"]


@attrs.frozen
class LogsBeside:
    """Logs of coordinators and instances, read for what they tell around decisions.

    Args:
        told: What they tell.
        zone: Taken where their times do not name their zone.
    """

    told: LoggedSurroundings
    zone: tzinfo

    def knows(self, group: str) -> bool:
        """Whether anything in them is about a group."""
        return (
            any(True for _ in self.told.generations(group))
            or any(epoch.group == group for epoch in self.told.epochs)
            or group in self.told.group_of.values()
        )

    @property
    def is_nameless(self) -> bool:
        """Whether they are those of instances that do not say which group they are in."""
        told = self.told
        return bool(told.done) and not (told.group_of or any(told.groups()) or any(told.epochs))

    def filled(self, documents: Iterable[tuple[dict[str, Any], str | None]]) -> Iterator[dict[str, Any]]:
        """Decisions of a classic group, by time, with what is known around them.

        Args:
            documents: Each with the member id of the group's leader, or ``None``.
        """
        yield from SurroundingsFiller(self.told, self.zone).filled(documents)

    def reason(self, group: str, generation: int, leader: str | None) -> str | None:
        """Why a generation of a classic group was begun; ``None``: not told."""
        told = self.told.of(group, generation, leader)
        return None if told is None else told.reason or None

    def filled_epochs(self, group: str, epochs: Sequence[Epoch]) -> list[Epoch]:
        """Epochs of a group of the streams protocol with what its coordinator logged of them."""
        numbered: dict[int, list[dict[str, Any]]] = {}
        for each in self.told.epochs:
            if each.group == group:
                time_ms = None if each.time is None else each.time.epoch_ms(self.zone)
                numbered.setdefault(each.number, []).append({"t": time_ms, **told_of_epoch(each, self.zone)})
        return [_with_nearest(epoch, numbered.get(epoch.number, [])) for epoch in epochs]


def _with_nearest(epoch: Epoch, told: Sequence[dict[str, Any]]) -> Epoch:
    """A group that was made anew has epochs of one number twice."""
    if not told:
        return epoch
    best = min(told, key=lambda each: 0 if each["t"] is None else abs(each["t"] - epoch.time_ms))
    further = {key: value for key, value in best.items() if key != "t"}
    if "prepared_ms" in further:
        # Log and record are written by one machine, but not at one moment.
        further["prepared_ms"] = min(further["prepared_ms"], epoch.time_ms)
    return attrs.evolve(epoch, further={**epoch.further, **further})


def read_logs_beside(
    logs: Sequence[str | PathLike[str]], zone: tzinfo | None = None, on_problem: Callable[[str], None] = lambda _: None
) -> LogsBeside:
    """Reads logs for what they tell around decisions.

    Args:
        logs: The logs, plain or gzip.
        zone: Time zone of logs that do not name theirs; ``None``: UTC.
        on_problem: Told of what is garbled.

    Raises:
        LogImportError: if a file cannot be read or a line is too long.
    """

    def note(problem: Problem) -> None:
        # Decisions are recorded: the logs are not needed for them.
        if not problem.loses_decision:
            on_problem(str(problem))

    around = LoggedSurroundings()
    for _ in read_decisions([fspath(log) for log in logs], note, surroundings=around):
        pass
    return LogsBeside(around, zone or UTC)
