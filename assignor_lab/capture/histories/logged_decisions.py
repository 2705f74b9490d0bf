"""Decisions in logs: of leaders of classic groups, and of coordinators of streams groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any, BinaryIO

import attrs

from assignment_api.plugins.layers import ConfigLayer
from assignor_lab.capture.errors import NoDecisionError
from assignor_lab.capture.histories.streams_epochs import CurrentTasks, Epoch, EpochMember, epoch_documents
from assignor_lab.capture.logs.coordinated_epochs import CoordinatedEpoch, LoggedTasks
from assignor_lab.capture.logs.import_log import import_log
from assignor_lab.capture.logs.open_dates import LogDates
from assignor_lab.capture.logs.rebalance import LogProblem
from assignor_lab.capture.logs.surroundings import LoggedSurroundings
from assignor_lab.capture.recorded.streams_group_answers import HeldTasks
from assignor_lab.documents.errors import Place
from assignor_lab.documents.wording import moment
from assignor_lab.model.events import DecisionFailed, GroupEvent
from assignor_lab.scenarios.consumers import client_of

__all__ = ["logged_decisions", "told_of_epoch"]

_NOTHING: LoggedTasks = ({}, {}, {})
_ENDS = {"left": "stop", "fenced": "fenced"}


def logged_decisions(
    files: Sequence[str | Path],
    *,
    config_layers: Sequence[ConfigLayer] = (),
    topology: Path | None = None,
    zone: tzinfo | None = None,
    optimization: str | None = None,
    on_problem: Callable[[LogProblem], None] = lambda _: None,
    standard_input: BinaryIO | None = None,
    dates: LogDates | None = None,
    on_event: Callable[[str | None, GroupEvent], None] | None = None,
    on_cause: Callable[[str | None, GroupEvent], None] = lambda _, __: None,
) -> Iterator[dict[str, Any]]:
    """Leaders' decisions by time, then coordinators' group by group.

    Args:
        config_layers: The lowest first.
        zone: Of logs without one; ``None``: UTC.
        optimization: ``topology.optimization``; ``None``: as logged.
        dates: Facts about dates that the logs leave open.
        on_event: Receives the events that lines with causes show, with their group; logs without a decision are then
        no error. ``None``: failed assignments are problems.
        on_cause: Receives the same events, and changes nothing.
    """
    around = LoggedSurroundings()
    times: list[int] = []
    missing: NoDecisionError | None = None
    try:
        for document in import_log(
            files,
            config_layers=config_layers,
            topology=topology,
            zone=zone,
            optimization=optimization,
            on_problem=on_problem,
            standard_input=standard_input,
            surroundings=around,
            dates=dates,
        ):
            times.append(document["source"].get("time_ms", 0))
            yield document
    except NoDecisionError as error:
        missing = error
    events = around.caused(zone or UTC, times)
    if missing is not None and not any(around.epochs):
        if on_event is None or not events:
            raise _with_failure(missing, events)
        on_problem(LogProblem(missing.file, None, None, missing.reason))
    for group, event in events:
        on_cause(group, event)
        if on_event is not None:
            on_event(group, event)
        elif isinstance(event, DecisionFailed) and (place := event.evidence.place) is not None:
            on_problem(LogProblem(place.file, place.line, None, f"{moment(event.at.latest_ms)}: {event.sentence}"))
    grouped: dict[str, list[CoordinatedEpoch]] = {}
    for epoch in around.epochs:
        grouped.setdefault(epoch.group, []).append(epoch)
    for group, epochs in grouped.items():
        made = _epochs(epochs, zone or UTC, on_problem)
        for document in epoch_documents(group, made, config_layers):
            if not made[0].time_ms:
                del document["source"]["time_ms"]
            yield document


def _with_failure(error: NoDecisionError, events: Sequence[tuple[str | None, GroupEvent]]) -> NoDecisionError:
    """With the latest failed assignment as the reason."""
    failed = [event for _, event in events if isinstance(event, DecisionFailed)]
    if not failed:
        return error
    last = failed[-1]
    number = "" if last.number is None else f", generation {last.number}"
    return NoDecisionError(
        error.file,
        None if last.evidence.place is None else last.evidence.place.line,
        f"the assignment FAILED at {moment(last.at.latest_ms)}{number}: {last.cause}",
        "assignor history shows it among the events of the group",
    )


def _epochs(epochs: Iterable[CoordinatedEpoch], zone: tzinfo, on_problem: Callable[[LogProblem], None]) -> list[Epoch]:
    found: list[Epoch] = []
    current: list[CurrentTasks] = []
    for each in epochs:
        made = _epoch(each, zone, on_problem)
        if made is not None:
            if found:
                found[-1] = attrs.evolve(found[-1], current=tuple(current))
                current = []
            found.append(made)
        current += [CurrentTasks(time.epoch_ms(zone), member, active) for time, member, active in each.current]
    if found:
        found[-1] = attrs.evolve(found[-1], current=tuple(current))
    return found


def _epoch(epoch: CoordinatedEpoch, zone: tzinfo, on_problem: Callable[[LogProblem], None]) -> Epoch | None:
    """``None`` if no member has tasks."""
    targets = epoch.targets
    if epoch.strangers or epoch.joining & epoch.reached.keys():
        reason = (
            f"epoch {epoch.number} of group {epoch.group!r:.80} is left out: the log begins after its first "
            "members joined, so their names are unknown"
        )
        on_problem(LogProblem(epoch.file, epoch.line, None, reason, loses_decision=True))
        return None
    if targets is not None and not any(active for active, _, _ in targets.values()):
        return None
    if targets is None and not any(any(kinds) for kinds in epoch.reached.values()):
        return None
    before = epoch.had if epoch.was_to_have is None else epoch.was_to_have
    members = {
        name: EpochMember(
            each,
            _held(before.get(name, _NOTHING)),
            _held(epoch.had.get(name, _NOTHING)),
            _held((targets or epoch.reached).get(name, _NOTHING)),
        )
        for name, each in epoch.members.items()
    }
    return Epoch(
        Place(epoch.file, epoch.line),
        0 if epoch.time is None else epoch.time.epoch_ms(zone),
        epoch.number,
        members,
        {},
        is_known=targets is not None,
        further=told_of_epoch(epoch, zone),
    )


def told_of_epoch(epoch: CoordinatedEpoch, zone: tzinfo) -> dict[str, Any]:
    """As keys of a scenario's ``source``."""
    further: dict[str, Any] = {"reason": epoch.reason} if epoch.reason else {}
    if epoch.begun is not None:
        further["prepared_ms"] = epoch.begun.epoch_ms(zone)
    if epoch.gone:
        further["done"] = [
            {"time_ms": time.epoch_ms(zone), "type": _ENDS[kind], "client": client_of(client)}
            for client, kind, time in epoch.gone
        ]
    return further


def _held(tasks: LoggedTasks) -> HeldTasks:
    active, standby, warmup = tasks
    return HeldTasks(active, standby, warmup)
