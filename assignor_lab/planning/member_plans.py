"""Plans of groups whose members keep no state (workers, consumers): ``roll``, ``scale`` and ``kill``; their cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise, starmap

import attrs

from assignor_lab.documents.wording import listed
from assignor_lab.planning.instances import UnknownInstanceError, new_names
from assignor_lab.planning.making import Options, PlanError, check_options
from assignor_lab.planning.measured import PlayedPlan, StepCost
from assignor_lab.planning.plans import Action, Plan, Step

__all__ = ["Away", "cost_of_absences", "member_plan", "refuse_options"]

#: Options of plans of Streams groups alone.
_OF_STREAMS = ("surge", "replace", "stuck", "crash_in", "upgrade_from", "wipe", "new_threads", "new_rack")


def refuse_options(options: Options, names: Iterable[str], unit: str) -> None:
    """Refuses options without an effect.

    Raises:
        PlanError: if one of them is given.
    """
    usual = Options()
    for option in names:
        if getattr(options, option) != getattr(usual, option):
            raise PlanError(f"--{option.replace('_', '-')} is for Streams groups: it has no effect on {unit}s")


def member_plan(
    name: str,
    subject: str | None,
    present: Sequence[str],
    options: Options,
    unit: str,
    title: str,
    others: Sequence[str] = (),
) -> Plan:
    """The plan of a group.

    Args:
        present: Names of its members.
        unit: A member, as sentences name it.
        title: The group, likewise.
        others: Further plans of the group.

    Raises:
        PlanError, UnknownInstanceError: if the options contradict the state, or the plan is one of Streams groups.
    """
    check_options(name, options)
    refuse_options(options, _OF_STREAMS, unit)
    if name == "roll":
        return _roll(present, options, unit)
    if name == "scale":
        return _scale(present, options, unit)
    if name == "kill" and subject is not None:
        (killed,) = _named(present, [subject], unit)
        if options.back_after_ms is None and len(present) == 1:
            raise PlanError(f"{killed} is the only {unit}, and its jobs would never run again: give --back-after")
        action = Action("kill", killed, back_after_ms=options.back_after_ms)
        back_s = None if options.back_after_ms is None else options.back_after_ms / 1000
        parameters = {"instance": killed, "back_after_seconds": back_s}
        return _plan("kill", [Step(killed, (action,))], options, parameters, unit)
    raise PlanError(f"{name} is a plan of other groups: {title} has {listed(['roll', 'scale', 'kill', *others])}")


def _roll(present: Sequence[str], options: Options, unit: str) -> Plan:
    order = _named(present, options.order, unit) if options.order else sorted(present)
    if options.only:
        only = _named(present, options.only, unit)
        order = [name for name in order if name in only]
    elif len(order) < len(present):
        missing = ", ".join(name for name in present if name not in order)
        raise PlanError(f"--order leaves out {missing}: name all {unit}s, or give --only for a part of the group")
    size = min(options.batch, len(order))
    batches = [order[place : place + size] for place in range(0, len(order), size)]
    leave = options.leave or None
    steps = [Step(", ".join(batch), tuple(Action("restart", each, leave=leave) for each in batch)) for batch in batches]
    parameters = {"order": order, "batch": size, "down_seconds": options.down_ms / 1000}
    return _plan("roll", steps, options, parameters, unit)


def _scale(present: Sequence[str], options: Options, unit: str) -> Plan:
    size = len(present)
    if options.to < 1 or options.to == size:
        raise PlanError(f"--to {options.to}: the group has {size} {unit}s; give another number, from 1")
    if options.to > size:
        if options.leaving:
            raise PlanError(f"--leaving names {unit}s, and --to {options.to} adds some")
        names = new_names(present, options.to - size)
        step = Step(", ".join(names), tuple(Action("add", each) for each in names))
        return _plan("scale", [step], options, {"to": options.to, "new": names}, unit)
    leaving = _named(present, options.leaving, unit) if options.leaving else sorted(present)[options.to :]
    if len(leaving) != size - options.to:
        raise PlanError(f"--leaving names {len(leaving)} {unit}s, and --to {options.to} removes {size - options.to}")
    step = Step(", ".join(leaving), tuple(Action("remove", each, leave=options.leave or None) for each in leaving))
    return _plan("scale", [step], options, {"to": options.to, "leaving": leaving}, unit)


def _plan(name: str, steps: Sequence[Step], options: Options, parameters: Mapping[str, object], unit: str) -> Plan:
    return Plan(
        name,
        tuple(steps),
        options.wait,
        options.start_ms,
        max(1, options.down_ms),
        parameters=parameters,
        unit=unit,
        starts=options.starts,
    )


def _named(present: Sequence[str], wanted: Iterable[str], unit: str) -> list[str]:
    found: list[str] = []
    for name in wanted:
        fitting = [each for each in present if each == name] or [
            each for each in present if name and each.startswith(name)
        ]
        if len(fitting) != 1:
            fault = f"fits no {unit}" if not fitting else f"fits {len(fitting)} {unit}s"
            raise UnknownInstanceError(f"{name!r:.80} {fault}: the group has {', '.join(present)}")
        if fitting[0] in found:
            raise UnknownInstanceError(f"{name!r:.80} is named twice: name each {unit} once")
        found.append(fitting[0])
    return found


# --- cost ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Away:
    """A time in which a task does not run.

    Args:
        causes: Cause to milliseconds.
    """

    task: str
    begin_ms: int
    end_ms: int
    causes: Mapping[str, int]


def cost_of_absences(
    absences: Sequence[Away],
    marks: Sequence[int],
    done_ms: int,
    rest_ms: int | None,
    end_ms: int,
    rebalances_ms: Sequence[int],
    failed: str | None,
    connector_of: Callable[[str], str] | None = None,
    connectors: Sequence[str] = (),
) -> PlayedPlan:
    """The cost of a play.

    Args:
        absences: By time; those of one time by task.
        marks: The begin of each step.
        done_ms: When the last step was over.
        rest_ms: When the group was at rest again; ``None``: it was not.
        end_ms: The end of the play.
        rebalances_ms: When each rebalance began.
    """
    first = marks[0]

    def cost(begin_ms: int, until_ms: int) -> StepCost:
        own = [each for each in absences if begin_ms <= each.begin_ms < until_ms]
        return _step_cost(own, sum(begin_ms <= each < until_ms for each in rebalances_ms))

    shown: dict[str, list[tuple[float, float]]] = {}
    by_connector = dict.fromkeys(connectors, 0.0)
    for each in absences:
        shown.setdefault(each.task, []).append(((each.begin_ms - first) / 1000, (each.end_ms - first) / 1000))
        if connector_of is not None:
            by_connector[connector_of(each.task)] += (each.end_ms - each.begin_ms) / 1000
    bounds = [*marks, end_ms + 1]
    return PlayedPlan(
        tuple(starmap(cost, pairwise(bounds))),
        cost(first, end_ms + 1),
        tuple((mark - first) / 1000 for mark in marks),
        (done_ms - first) / 1000,
        None if rest_ms is None else (rest_ms - first) / 1000,
        shown,
        failed,
        by_connector,
    )


def _step_cost(away: Sequence[Away], rebalances: int) -> StepCost:
    lengths = [(each.end_ms - each.begin_ms) / 1000 for each in away]
    spent: dict[str, float] = {}
    for each in away:
        for cause, length in each.causes.items():
            spent[cause] = spent.get(cause, 0.0) + length / 1000
    tasks = len({each.task for each in away})
    return StepCost(sum(lengths), max(lengths, default=0.0), tasks, rebalances, 0.0, spent)
