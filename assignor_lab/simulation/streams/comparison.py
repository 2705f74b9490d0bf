"""Comparison of a played history with its recording, which the simulation never reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from assignor_lab.model.courses import ProbeWindow
from assignor_lab.model.decision import Decision
from assignor_lab.model.events import GroupEvent
from assignor_lab.model.history import GroupHistory, GroupResponse
from assignor_lab.simulation.streams.actions import action_name

__all__ = ["ComparedHistories", "ComparedResponse", "ComparedWindow", "StateReading", "actions_of", "compared_with"]

#: A late probe may see an interruption begin this long after the action.
_GRACE_MS = 500
#: The probe does not report shorter interruptions.
_SHORTEST_MS = 500


@attrs.frozen
class StateReading:
    """A restoration of a play; ``size`` is ``None`` if unknown."""

    begun_ms: int
    size: float | None


@attrs.frozen
class ComparedFigure:
    """A figure as recorded and as simulated; ``None``: unknown, or it never came."""

    recorded: int | None
    simulated: int | None


@attrs.frozen
class ComparedResponse:
    """The responses to one action."""

    action: GroupEvent
    recorded: GroupResponse
    simulated: GroupResponse


@attrs.frozen
class ComparedWindow:
    """A window of a probe: the time without output, summed and of the worst task, and restored bytes."""

    begin_ms: int
    action: str
    interrupted: ComparedFigure
    unavailable_ms: ComparedFigure
    worst_ms: ComparedFigure
    restored_bytes: ComparedFigure


@attrs.frozen
class ComparedHistories:
    """A play beside its recording.

    Args:
        same: For each recorded decision since the first action, if each process has the same active tasks, and the same
            tasks, in the play.
    """

    actions: tuple[ComparedResponse, ...]
    same: tuple[tuple[bool, bool], ...]
    probe: tuple[ComparedWindow, ...]


def actions_of(history: GroupHistory) -> Sequence[GroupEvent]:
    """The actions on instances of a played history."""
    return [each for each in history.events if action_name(each) is not None]


def compared_with(played: GroupHistory, reads: Sequence[StateReading], recorded: GroupHistory) -> ComparedHistories:
    actions = actions_of(played)
    times = [each.at.latest_ms for each in actions]
    return ComparedHistories(
        tuple(map(ComparedResponse, actions, recorded.responses(times), played.responses(times))),
        tuple(_same_placements(played, recorded, times)),
        tuple(_window(window, played, reads) for window in recorded.probes),
    )


def _same_placements(
    played: GroupHistory, recorded: GroupHistory, times: Sequence[int]
) -> Iterable[tuple[bool, bool]]:  # fmt: skip
    """The simulated decision is the one at the same time, or of the same number after the action: one is slower."""
    for begin, end in zip(times, [*times[1:], None], strict=True):
        here = _within(played.decisions, begin, end)
        for place, decision in enumerate(_within(recorded.decisions, begin, end)):
            in_force = [each for each in played.decisions if each.at.latest_ms <= decision.at.latest_ms][-1:]
            candidates = [*in_force, *here[place : place + 1]]
            yield (
                any(_active(each) == _active(decision) for each in candidates),
                any(_placed(each) == _placed(decision) for each in candidates),
            )


def _within(decisions: Iterable[Decision], begin: int, end: int | None) -> list[Decision]:
    return [each for each in decisions if begin <= each.since_ms and (end is None or each.since_ms < end)]


def _active(decision: Decision) -> dict[str, tuple[str, ...]]:
    return {name: share.active for name, share in decision.shares.items()}


def _placed(decision: Decision) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    return {name: (share.active, share.copies) for name, share in decision.shares.items()}


def _window(window: ProbeWindow, played: GroupHistory, reads: Sequence[StateReading]) -> ComparedWindow:
    begin, end = window.begin_ms - _GRACE_MS, window.end_ms - _GRACE_MS
    real = {task: sum(length for _, length in seen) for task, seen in window.away.items()}
    first = played.begin_ms or 0
    ours = {
        task: sum(
            each[-1].end_ms - start
            for each in played.courses[task].interruptions
            if begin <= (start := max(first, each[0].begin_ms)) < end and each[-1].end_ms - start >= _SHORTEST_MS
        )
        for task in window.away
        if task in played.courses
    }
    return ComparedWindow(
        window.begin_ms,
        window.action,
        ComparedFigure(_count(real), _count(ours)),
        ComparedFigure(sum(real.values()), sum(ours.values())),
        ComparedFigure(max(real.values(), default=0), max(ours.values(), default=0)),
        ComparedFigure(
            window.restored_bytes,
            _sum(each.size for each in reads if window.begin_ms <= each.begun_ms < window.end_ms),
        ),
    )


def _sum(sizes: Iterable[float | None]) -> int | None:
    total = 0.0
    for size in sizes:
        if size is None:
            return None
        total += size
    return round(total)


def _count(away: Mapping[str, int]) -> int:
    return sum(milliseconds > 0 for milliseconds in away.values())
