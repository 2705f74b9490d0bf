"""Recorded decisions of a group that is not played, decided again by contenders, one by one.

Each contender decides each recorded state by itself: what a strategy keeps depends on the recorded owners. So the
figures are those of single decisions under another leader or strategy, not of another past.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.groups.entries import kind_named
from assignor_lab.groups.kind import GroupKind, LoadedContender
from assignor_lab.groups.metrics.headline import FAILURES
from assignor_lab.groups.runner.comparison import ComparisonRunner
from assignor_lab.groups.work import OBSERVED, WorkItem
from assignor_lab.runtime.assignor_calls import OwnProcesses
from assignor_lab.scenarios import Scenario

__all__ = ["ContenderDecisions", "RecordedPart", "decided_again"]


@attrs.frozen
class ContenderDecisions:
    """The decisions of one contender, or the recorded ones.

    Args:
        as_recorded: Decisions that equal the recorded one; ``None`` of the recorded ones themselves.
        failed: Decisions without an answer, or with a partition that has no owner or two.
        figures: Title of a figure to its sum over the decisions; ``None``: not measured.
        first_failure: The first failure in words, with its state.
    """

    name: str
    decisions: int
    as_recorded: int | None
    failed: int
    figures: Mapping[str, float | None]
    first_failure: str | None = None


@attrs.frozen
class RecordedPart:
    """The recorded decisions of one group under one protocol.

    Args:
        kind: Of its states.
    """

    group: str
    kind: str
    decided: tuple[ContenderDecisions, ...]


def decided_again(
    scenarios: Iterable[Scenario],
    assignors: Sequence[str],
    registry: Registry,
    config: ConfigSources,
    isolation: OwnProcesses | None = None,
) -> list[RecordedPart]:
    """The recorded decisions of each group, and each contender's; the recorded ones come first.

    Raises:
        PluginError: if there is no such assignor for the group's kind.
    """
    parts: dict[tuple[str, str], list[Scenario]] = {}
    for scenario in scenarios:
        if scenario.observed is not None:
            group = str((scenario.source or {}).get("group") or scenario.id)
            parts.setdefault((group, scenario.kind), []).append(scenario)
    return [
        RecordedPart(group, kind, tuple(_decided(held, kind_named(kind), assignors, registry, config, isolation)))
        for (group, kind), held in parts.items()
    ]


@attrs.define
class _Sums:
    equal: int = 0
    decisions: int = 0
    failed: int = 0
    figures: dict[str, float | None] = attrs.field(factory=dict)
    first_failure: str | None = None


def _decided(
    scenarios: Sequence[Scenario],
    kind: GroupKind[object, object],
    assignors: Sequence[str],
    registry: Registry,
    config: ConfigSources,
    isolation: OwnProcesses | None,
) -> Iterator[ContenderDecisions]:
    contenders: list[LoadedContender] = [
        kind.contender(registry, kind.find(registry, name, may_run_code=True)) for name in assignors
    ]
    runner = ComparisonRunner(kind, contenders, config=config, observed=True, isolation=isolation)
    titles = {
        metric: figure.title_of(metric)
        for figure in kind.headline
        if figure.name != FAILURES
        for metric in figure.metrics[-1:]
    }
    faults = [metric for figure in kind.headline if figure.name == FAILURES for metric in figure.metrics]
    measures = kind.figures(registry, [*titles, *faults], config.effective({}, "replay"))
    sums: dict[str, _Sums] = {}
    for number, scenario in enumerate(scenarios):
        item = WorkItem(number, 0, None, scenario.place.file, scenario.place.line, scenario=scenario)
        for answer in runner.answers(item):
            held = sums.setdefault(answer.assignor, _Sums())
            held.decisions += 1
            found = answer.outcome.answer
            if found is None or answer.state is None:
                held.failed += 1
                problem = answer.problem
                held.first_failure = held.first_failure or f"{scenario.id}: {problem.message if problem else 'refused'}"
                continue
            held.equal += bool(kind.row(answer).get("equals_observed"))
            for metric, title in titles.items():
                value = measures[metric](answer.state, found)
                if value is not None:
                    held.figures[title] = (held.figures.get(title) or 0.0) + value
            # A partition that waits for its release has no owner in a cooperative answer, and that is no fault.
            broken = {metric: measures[metric](answer.state, found) for metric in faults}
            if any(broken.values()):
                held.failed += 1
                words = ", ".join(f"{metric.replace('_', ' ')}: {value:g}" for metric, value in broken.items() if value)
                held.first_failure = held.first_failure or f"{scenario.id}: {words}"
    order = [OBSERVED, *(each for each in sums if each != OBSERVED)]
    for name in order:
        made = sums[name]
        figures = {title: made.figures.get(title) for title in titles.values()}
        recorded = None if name == OBSERVED else made.equal
        yield ContenderDecisions(name, made.decisions, recorded, made.failed, figures, made.first_failure)
