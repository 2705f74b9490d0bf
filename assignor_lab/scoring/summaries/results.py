"""The summary of a run from its figures. Bounded for any number of states."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from typing import Any

import attrs

from assignment_api import SPI_VERSION
from assignment_api.plugins import Found, MetricPlugin
from assignment_api.plugins.reserved import BUILTIN_DISTRIBUTION
from assignment_api.plugins.selection import ConfigSources
from assignor_lab.capture.histories.past_terms import DECISIONS, PLAYED
from assignor_lab.groups.kind import GroupKind
from assignor_lab.groups.work import OBSERVED
from assignor_lab.model.pictures import ConnectSnapshot, Picture, SnapshotPlacement
from assignor_lab.model.run_summary import Assignor, RefusedPlugin, Results, RunMetrics, SummaryMetric, SummarySource
from assignor_lab.scoring.contenders import RunContenders
from assignor_lab.scoring.engine.costs import Spent
from assignor_lab.scoring.engine.engine import Pictures
from assignor_lab.scoring.sources.plan import ScoringSource
from assignor_lab.scoring.summaries.figures import MAX_PLACEMENTS, MAX_WORST, Figures
from assignor_lab.scoring.summaries.tally import Tally
from assignor_lab.scoring.terms import shown_config

__all__ = ["RunEnvironment", "Wanted", "failed_names", "ranked_names", "results_of", "run_metrics_of", "wanted_states"]

#: Most sources that are listed individually.
MAX_SOURCES = 190
#: Most entries in all pictures.
MAX_PICTURE_ENTRIES = 200_000


@attrs.frozen
class RunEnvironment:
    """Environment and duration of a run.

    Args:
        started: UTC, ISO 8601.
    """

    command: str | None
    started: str
    seconds: float
    master: str | None
    cores: int | None
    versions: Mapping[str, str]
    spent: Spent | None = None
    restored: int = 0


@attrs.frozen
class Wanted:
    """States to show in full: (item, round) to the assignor of the state, and the reason of its choice."""

    states: Mapping[tuple[int, int], str | None]
    chosen: Mapping[tuple[int, int], str]
    left_out: int


def wanted_states(figures: Figures, kind: GroupKind[Any, Any]) -> Wanted:
    """Captured states in their order, then worst cases, then the first states if the kind shows those, too."""
    states: dict[tuple[int, int], str | None] = {(item, 0): None for item in figures.captured}
    chosen = dict.fromkeys(states, "captured")
    room = min(MAX_PLACEMENTS - len(states), MAX_WORST)
    # Each state once, that of the first assignor.
    worst: dict[tuple[int, int], tuple[str, bool]] = {}
    for item, number, assignor, is_captured in figures.worst:
        if len(worst) < room:
            worst.setdefault((item, number), (assignor, is_captured))
    for state, (assignor, is_captured) in worst.items():
        if not is_captured:
            states[state] = assignor
            chosen[state] = "worst"
    for state in figures.first[: max(MAX_WORST - len(states), 0)] if kind.shows_first else ():
        states.setdefault(state, None)
        chosen.setdefault(state, "first")
    return Wanted(states, chosen, figures.more_captured)


def ranked_names(names: Sequence[str], tally: Tally) -> tuple[str, ...]:
    scored = [name for name in names if tally.comparable_of(name)]
    return tuple([name for name in scored if name != OBSERVED or tally.captured == tally.states])


def failed_names(names: Sequence[str], tally: Tally) -> tuple[str, ...]:
    """The contenders that had states and answered none of them."""
    return tuple(name for name in names if name != OBSERVED and _has_failed(name, tally))


def _has_failed(name: str, tally: Tally) -> bool:
    asked = tally.rows_of.get(name, 0) - tally.stateless_of.get(name, 0)
    return 0 < asked <= tally.failed_of.get(name, 0)


def results_of(
    competing: RunContenders,
    config: ConfigSources,
    sources: Sequence[ScoringSource],
    tally: Tally,
    figures: Figures,
    metrics: Mapping[str, Found[MetricPlugin]],
    wanted: Wanted,
    details: Pictures,
    kind: GroupKind[Any, Any],
) -> Results:
    """The part of the summary that depends only on input, seed and plugins."""
    names = [assignor.name for assignor in competing.assignors]
    pictures, too_large = _pictures(wanted, details)
    seeds = [source.generated.seed for source in sources if source.generated is not None]
    return Results(
        title=_title(sources, pictures),
        seed=seeds[0] if seeds else None,
        versions=_versions(competing, metrics.values()),
        config=shown_config(config, kind.config_keys),
        sources=_sources(sources, tally),
        played=kind.plays,
        histories=_histories(sources),
        timelines=tuple(each for source in sources for each in source.timelines),
        states=tally.states,
        rows=tally.rows,
        failed_rows=tally.failed_rows,
        not_comparable=tally.not_comparable(),
        settings_difference=tally.settings_difference,
        assumptions=tally.assumptions(),
        assignors=tuple(_assignors(competing, tally)),
        metrics=tuple(_metric(name, found) for name, found in metrics.items()),
        aggregates=figures.aggregates,
        headline=attrs.evolve(figures.headline, alone=_alone(sources, tally, kind)),
        ranking=figures.ranking,
        agreement=tally.agreement([name for name in names if not _has_failed(name, tally)]),
        failures=tally.failures(),
        metric_failures=tally.metric_failures(),
        refused_plugins=tuple(
            RefusedPlugin(row.kind, row.name, row.distribution, row.version, row.reason) for row in competing.refused
        ),
        placements=tuple(each for each in pictures if isinstance(each, SnapshotPlacement)),
        placements_left_out=wanted.left_out + too_large,
        groups=tuple(each for each in pictures if isinstance(each, ConnectSnapshot)),
        baseline=figures.baseline,
        distributions=figures.distributions,
        differences=figures.differences,
        worst_cases=figures.worst_cases,
        slices=figures.slices,
        gates=figures.gates,
    )


def _sources(sources: Sequence[ScoringSource], tally: Tally) -> tuple[SummarySource, ...]:
    entries: list[SummarySource] = []
    others: dict[str, SummarySource] = {}
    for number, source in enumerate(sources):
        # Logs of one group are read together, as one source.
        states, files = tally.states_of.get(number, 0), len(source.files)
        entry = SummarySource(source.name, source.kind, states, source.decisions, files)
        if len(entries) < MAX_SOURCES:
            entries.append(entry)
            continue
        summed = others.get(source.kind, SummarySource("", source.kind, 0, 0, 0, 0))
        others[source.kind] = SummarySource(
            f"{summed.sources + 1:,} more",
            source.kind,
            summed.states + states,
            summed.decisions + entry.decisions,
            summed.files + files,
            summed.sources + 1,
        )
    return (*entries, *others.values())


def _alone(sources: Sequence[ScoringSource], tally: Tally, kind: GroupKind[Any, Any]) -> int:
    """Number of single decisions, which are no part of a history that continues from the answers."""
    if kind.plays:
        return 0
    return sum(tally.states_of.get(number, 0) for number, source in enumerate(sources) if source.generated is None)


def _histories(sources: Sequence[ScoringSource]) -> str | None:
    """How the pasts of groups among the sources were read; ``None`` without any."""
    if any(source.decisions for source in sources):
        return PLAYED
    return DECISIONS if any(source.timelines for source in sources) else None


def _title(sources: Sequence[ScoringSource], pictures: Sequence[Picture]) -> str | None:
    groups = list(dict.fromkeys(map(_group, pictures)))
    # A played past is not a picture of a state.
    past = [timeline.group for source in sources for timeline in source.timelines]
    groups = [*past] if len(past) == 1 and groups == [None] else groups
    if len(groups) == 1 and groups[0]:
        return groups[0]
    return sources[0].name if len(sources) == 1 else None


def _group(picture: Picture) -> str | None:
    return picture.source.group if isinstance(picture, SnapshotPlacement) and picture.source is not None else None


def _versions(competing: RunContenders, metrics: Any) -> dict[str, str]:
    found = {BUILTIN_DISTRIBUTION: metadata.version(BUILTIN_DISTRIBUTION), "spi": SPI_VERSION}
    for plugin in (*competing.assignors, *metrics):
        if plugin.distribution is not None and plugin.version is not None:
            found.setdefault(plugin.distribution, plugin.version)
    return found


def _assignors(competing: RunContenders, tally: Tally) -> Iterable[Assignor]:
    for assignor in competing.assignors:
        yield _standing(
            tally,
            assignor.name,
            kind="plugin",
            distribution=assignor.distribution,
            version=assignor.version,
            summary=assignor.summary,
            settings=dict(assignor.variant.settings),
        )
    if tally.rows_of.get(OBSERVED):
        yield _standing(tally, OBSERVED, kind="observed")
    for unloaded in competing.unloaded:
        yield Assignor(
            name=unloaded.name,
            kind="plugin",
            distribution=unloaded.distribution,
            version=unloaded.version,
            summary=None,
            status="not_loaded",
            reason=unloaded.reason,
            rows=0,
            failed_rows=0,
        )


def _standing(
    tally: Tally,
    name: str,
    *,
    kind: str,
    distribution: str | None = None,
    version: str | None = None,
    summary: str | None = None,
    settings: dict[str, str] | None = None,
) -> Assignor:
    rows, failed = tally.rows_of.get(name, 0), tally.failed_of.get(name, 0)
    stateless = tally.stateless_of.get(name, 0)
    status, reason = "scored", None
    if rows <= stateless:
        status, reason = "no_states", "There was no state to answer."
    elif rows <= failed + stateless:
        status, reason = "failed", "It has no answer to any of the states."
    return Assignor(
        name=name,
        kind=kind,
        distribution=distribution,
        version=version,
        summary=summary,
        settings=settings or {},
        status=status,
        reason=reason,
        rows=rows,
        failed_rows=failed,
        stateless_rows=stateless,
        not_comparable_rows=tally.not_comparable_of.get(name, 0),
    )


def _metric(name: str, found: Found[MetricPlugin]) -> SummaryMetric:
    plugin = found.plugin
    return SummaryMetric(
        name=name,
        group=plugin.group or "other",
        unit=plugin.unit,
        direction=plugin.direction,
        summary=plugin.summary,
        unavoidable=plugin.unavoidable or None,
        distribution=found.distribution,
    )


def _pictures(wanted: Wanted, details: Pictures) -> tuple[list[Picture], int]:
    pictures: list[Picture] = []
    entries = left_out = 0
    for state, chosen in wanted.chosen.items():
        picture = details.get(state)
        if picture is None or not picture.scenario:
            continue
        entries += picture.entries
        if entries > MAX_PICTURE_ENTRIES:
            left_out += chosen == "captured"
            continue
        pictures.append(attrs.evolve(picture, chosen=chosen or ""))
    return pictures, left_out


def run_metrics_of(machine: RunEnvironment, tally: Tally, figures: Figures) -> RunMetrics:
    """The part of the summary that differs from run to run."""
    seconds = machine.seconds
    core_seconds = seconds * machine.cores if machine.cores and seconds > 0 else None
    return RunMetrics(
        command=machine.command,
        started=machine.started,
        seconds=round(seconds, 3),
        states_per_second=round(tally.states / seconds, 3) if seconds > 0 else None,
        rows_per_second=round(tally.rows / seconds, 3) if seconds > 0 else None,
        rows_per_second_per_core=None if core_seconds is None else round(tally.rows / core_seconds, 3),
        shares=None if core_seconds is None or machine.spent is None else _shares(machine.spent, core_seconds),
        restored_items=machine.restored,
        master=machine.master,
        cores=machine.cores,
        versions={"python": platform.python_version(), **machine.versions},
        assign_ms=figures.assign_ms,
        probes=figures.probes,
    )


def _shares(spent: Spent, core_seconds: float) -> dict[str, float]:
    shares = {name: value / 1000 / core_seconds for name, value in attrs.asdict(spent).items()}
    rest = max(1.0 - sum(shares.values()), 0.0)
    return {name: round(share, 4) for name, share in {**shares, "spark": rest}.items()}
