"""What a scoring run found, as values: one class for each object of ``docs/reference/summary-format.md``.

Fields stand in the order of the file, which :mod:`assignor_lab.scoring.output.summary_file` reads and writes.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assignor_lab.documents.wording import plural
from assignor_lab.model.comparisons import (
    Distributions,
    FigureCompared,
    SummaryDifference,
    SummarySlices,
    Verdict,
    WorstState,
)
from assignor_lab.model.explanations import NO_EXPLANATIONS, Explanations
from assignor_lab.model.history import ACTIVE_TASKS
from assignor_lab.model.pictures import ConnectSnapshot, Gantt, SnapshotPlacement

__all__ = [
    "Aggregate",
    "Agreement",
    "AssignTime",
    "Assignor",
    "Assumption",
    "Caveat",
    "OverridingValue",
    "FailedRows",
    "SummaryHeadline",
    "Incomparable",
    "SummaryMetric",
    "MetricRanking",
    "OverallPlace",
    "MetricPlace",
    "Ranking",
    "Results",
    "RunMetrics",
    "SummarySource",
    "StateRef",
    "RunSummary",
    "WorstCase",
    "metrics_by_group",
]


@attrs.frozen
class OverridingValue:
    """A value that overrode a scenario's own."""

    key: str
    value: str
    source: str


@attrs.frozen
class SummarySource:
    """Origin of states; ``kind`` is ``scenarios``, ``log``, ``recording`` or ``family``.

    ``decisions`` is the number of recorded decisions behind played histories, else 0; ``files`` the number of its
    files. ``sources`` above 1 stands for that many sources that are not listed individually.
    """

    name: str
    kind: str
    states: int
    decisions: int = 0
    files: int = 1
    sources: int = 1


@attrs.frozen(kw_only=True)
class TimelineDecision:
    """One decision of a group's past: its time, the instances that joined and left, its reason, and its moves.

    Args:
        waited_ms: From the start of the rebalance to the decision; ``None``: unknown.
        missing: First and last missing generation before this one.
        inferred_reason: From this and the previous decision; empty if the source has one.
        active_taken_over: Active tasks of missing instances that others receive.
    """

    time_ms: int
    generation: int | None
    waited_ms: int | None = None
    instances: int
    members: int
    joined: tuple[str, ...]
    gone: tuple[str, ...]
    restarted: tuple[str, ...]
    active_moved: int
    copies_made: int
    followup: str
    reason: str
    missing: tuple[int, ...] | None = None
    inferred_reason: str = ""
    active_taken_over: int = 0


@attrs.frozen(kw_only=True)
class TimelineEvent:
    """An event that no decision shows; ``type`` is that of :class:`~assignor_lab.model.events.GroupEvent`."""

    time_ms: int
    type: str
    sentence: str


@attrs.frozen(kw_only=True)
class PastTimeline:
    """A group's past.

    Args:
        given: Assignments over time; ``None`` for a Connect group.
        events: ``None``: there is none.
    """

    group: str
    protocol: str
    moves: str = ACTIVE_TASKS
    decisions: tuple[TimelineDecision, ...]
    given: Gantt | None = None
    events: tuple[TimelineEvent, ...] | None = None

    @property
    def has_copies(self) -> bool:
        return self.moves == ACTIVE_TASKS

    @property
    def rows(self) -> Sequence[TimelineDecision | TimelineEvent]:
        """Decisions and events by time; an event precedes a decision of the same time."""
        rows: list[TimelineDecision | TimelineEvent] = [*(self.events or ()), *self.decisions]
        return sorted(rows, key=lambda each: each.time_ms)


@attrs.frozen
class Assumption:
    """A fact that a source lacks, and the number of its states."""

    text: str
    states: int


@attrs.frozen
class Incomparable:
    """Answers that may differ from the assignors' real decisions: reason, assignors, and number of states."""

    reason: str
    states: int
    assignors: tuple[str, ...]


#: A caveat has the shape of an assumption.
Caveat = Assumption


@attrs.frozen(kw_only=True)
class Assignor:
    """A source of scored decisions: an assignor, or Kafka itself (``kind`` ``observed``).

    ``settings``: a variant's own settings, empty for a plain assignor.
    """

    name: str
    kind: str
    distribution: str | None
    version: str | None
    summary: str | None
    settings: dict[str, str] = attrs.field(factory=dict)
    status: str
    reason: str | None
    rows: int
    failed_rows: int
    stateless_rows: int = 0
    not_comparable_rows: int = 0


@attrs.frozen
class SummaryMetric:
    """A measure; ``direction`` is ``lower``, ``higher`` or ``none``."""

    name: str
    group: str
    unit: str
    direction: str
    summary: str
    unavoidable: str | None
    distribution: str | None


@attrs.frozen
class StateRef:
    """One state: a scenario and a round of it."""

    scenario: str
    round: int
    time_ms: int | None = None


@attrs.frozen(kw_only=True)
class WorstCase:
    """The worst state of a metric."""

    scenario: str
    round: int
    time_ms: int | None = None
    value: float


@attrs.frozen
class Aggregate:
    """One metric of one assignor over all of its rows; without values, ``n`` is 0 and the rest ``None``."""

    assignor: str
    metric: str
    n: int
    mean: float | None
    median: float | None
    p90: float | None
    min: float | None
    max: float | None
    worst: WorstCase | None


@attrs.frozen
class OverallPlace:
    """Place over all ranked metrics."""

    place: int
    assignor: str
    mean_place: float
    best_in: tuple[str, ...]


@attrs.frozen
class MetricPlace:
    """Place in one metric, ``None`` without a verdict; ``mean`` is over the states shared by all ranked assignors."""

    place: int | None
    assignor: str
    mean: float


@attrs.frozen
class MetricRanking:
    """Places in one metric, best first."""

    metric: str
    n: int
    places: tuple[MetricPlace, ...]


@attrs.frozen
class Ranking:
    """Places over all metrics, and by metric."""

    method: str
    states: int
    overall: tuple[OverallPlace, ...]
    by_metric: tuple[MetricRanking, ...]


@attrs.frozen(kw_only=True)
class SummaryHeadline:
    """The five figures, and the ``best`` contenders.

    Args:
        alone: States that are single decisions.
        comparisons: Pairs and figures behind the order. Over all of them, a chance order among equal contenders has a
            probability of 5 %.
    """

    baseline: str | None
    states: int
    histories: int
    best: tuple[str, ...] = ()
    figures: tuple[FigureCompared, ...]
    alone: int
    comparisons: int = 0

    @property
    def unit(self) -> str:
        """The unit of each difference: a single decision, or a whole history."""
        return "decision" if self.alone == self.states else "history"


@attrs.frozen(kw_only=True)
class Agreement:
    """Number of an assignor's answers that equal Kafka's recorded decisions."""

    assignor: str
    compared: int
    equal: int
    different: int
    failed: int
    not_comparable: int = 0
    caveats: tuple[Caveat, ...]
    first_difference: StateRef | None


@attrs.frozen(kw_only=True)
class FailedRows:
    """Rows with the same error of the same assignor, or of a family or scenario that gave no state.

    ``type`` ``None`` stands for the remaining groups.
    """

    assignor: str | None = None
    family: str | None = None
    type: str | None = None
    java_type: str | None = None
    message: str | None = None
    traceback: str | None = None
    rows: int
    first: StateRef | None


@attrs.frozen
class MetricFailure:
    """Rows in which a metric failed with the same error."""

    metric: str
    message: str
    rows: int
    first: StateRef | None


@attrs.frozen
class RefusedPlugin:
    """A plugin that was found and refused, for example because of a duplicate name."""

    kind: str
    name: str
    distribution: str | None
    version: str | None
    reason: str | None


@attrs.frozen(kw_only=True)
class Results:
    """The results, which depend only on input, seed and plugins."""

    title: str | None
    seed: int | None
    versions: dict[str, str]
    config: tuple[OverridingValue, ...]
    sources: tuple[SummarySource, ...]
    played: bool = False
    histories: str | None = None
    timelines: tuple[PastTimeline, ...] = ()
    states: int
    rows: int
    failed_rows: int
    not_comparable: tuple[Incomparable, ...] = ()
    settings_difference: int = 0
    assumptions: tuple[Assumption, ...]
    assignors: tuple[Assignor, ...]
    metrics: tuple[SummaryMetric, ...]
    aggregates: tuple[Aggregate, ...]
    headline: SummaryHeadline | None = None
    ranking: Ranking
    agreement: tuple[Agreement, ...]
    failures: tuple[FailedRows, ...]
    metric_failures: tuple[MetricFailure, ...] = ()
    refused_plugins: tuple[RefusedPlugin, ...] = ()
    placements: tuple[SnapshotPlacement, ...]
    placements_left_out: int
    groups: tuple[ConnectSnapshot, ...] = ()
    baseline: str | None = None
    distributions: Distributions | None = None
    differences: tuple[SummaryDifference, ...] = ()
    worst_cases: tuple[WorstState, ...] = ()
    slices: SummarySlices | None = None
    gates: tuple[Verdict, ...] = ()

    @property
    def unit(self) -> str:
        return "history" if self.played else "decision"

    def counted(self, number: int) -> str:
        return plural(number, self.unit, "histories" if self.played else None)


@attrs.frozen
class AssignTime:
    """Processor time of the assign call alone, milliseconds; ``wall_median`` is by the clock."""

    assignor: str
    n: int
    median: float | None
    p99: float | None
    max: float | None
    wall_median: float | None = None


@attrs.frozen
class ProbeCounts:
    """Results of repeated calls of an assignor in ``n`` states: bytes of memory, and states in which it held."""

    assignor: str
    n: int
    peak_memory_median: float | None
    peak_memory_max: int | None
    deterministic: int
    same_hash_seed: int
    same_order: int
    pure: int


@attrs.frozen(kw_only=True)
class RunMetrics:
    """Figures that differ from run to run.

    Args:
        shares: Part of the work to its share of the cores' time; ``None`` if they are unknown.
        restored_items: Items that a resumed run found scored.
    """

    command: str | None
    started: str | None
    seconds: float | None
    states_per_second: float | None
    rows_per_second: float | None
    rows_per_second_per_core: float | None = None
    shares: dict[str, float] | None = None
    restored_items: int = 0
    master: str | None
    cores: int | None
    versions: dict[str, str]
    assign_ms: tuple[AssignTime, ...]
    probes: tuple[ProbeCounts, ...] = ()


@attrs.frozen
class VerifiedCause:
    """The likely cause of decisions that are not reproduced: an input, and the decisions reproduced with it changed."""

    input: str
    evidence: str
    remedy: str
    reproduced: int | None
    of: int | None


@attrs.frozen
class VerifiedTrial:
    """A changed input, the decisions reproduced with it, and those reproduced ``before``."""

    input: str
    words: str
    decisions: int
    reproduced: int
    before: int


@attrs.frozen
class PlayBand:
    """The 90 % band over the plays of a past; downtime in task-seconds."""

    plays: int
    rebalances_low: int
    rebalances_high: int
    downtime_s_low: float
    downtime_s_high: float


@attrs.frozen
class VerifiedReplay:
    """The plays of a group's past beside its recording; downtime in task-seconds. Figures of plays are medians.

    Args:
        recorded_downtime_s: Without an owner in the decisions.
        measured_downtime_s: Without output at a probe; ``None`` without one.
        band: ``None`` in a summary of an older release.
        leaves_at: The event after which the plays leave the recording; ``None`` if they do not.
    """

    rebalances: int
    recorded_rebalances: int
    downtime_s: float
    recorded_downtime_s: float | None
    shows_restoring: bool
    downtime_difference: float | None
    measured_downtime_s: float | None = None
    band: PlayBand | None = None
    leaves_at: str | None = None


@attrs.frozen
class GroupVerified:
    """The verification of one group; ``not_verified``: sentences on facts that its source does not show."""

    group: str
    status: str
    assignor: str
    recorded: int
    decisions: int
    reproduced: int
    cause: VerifiedCause | None
    tried: tuple[VerifiedTrial, ...]
    replay: VerifiedReplay | None
    not_verifiable: str | None
    not_verified: tuple[str, ...]


@attrs.frozen
class Verified:
    """Share of the groups' recordings that the lab reproduced; without a verdict if there are banner sentences."""

    status: str
    sentences: tuple[str, ...]
    banner: tuple[str, ...]
    recorded: int = 0
    decisions: int = 0
    reproduced: int = 0
    cause: VerifiedCause | None = None
    groups: tuple[GroupVerified, ...] = ()

    @property
    def is_refused(self) -> bool:
        return self.status == "refused"


@attrs.frozen(kw_only=True)
class RunSummary:
    """What a run found."""

    verified: Verified | None = None
    results: Results
    run_metrics: RunMetrics
    explanations: Explanations = NO_EXPLANATIONS


def metrics_by_group(results: Results) -> list[tuple[str, list[SummaryMetric]]]:
    """Metrics by group: a plugin's metrics join the others of their group, at any position in the summary."""
    groups: dict[str, list[SummaryMetric]] = {}
    for metric in results.metrics:
        groups.setdefault(metric.group, []).append(metric)
    return list(groups.items())
