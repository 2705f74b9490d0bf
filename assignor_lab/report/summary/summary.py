"""The summary of a scoring run as values: ``docs/reference/summary-format.md``, one class for each object there."""

from __future__ import annotations

from pathlib import Path

import attrs

from assignor_lab.capture.histories.timeline import ACTIVE_TASKS
from assignor_lab.compare.figures import FigureCompared
from assignor_lab.documents.errors import Place as DocumentPlace
from assignor_lab.documents.files import read_document
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.shapes import Check, faults_at, format_number, open_record
from assignor_lab.documents.values import value_of
from assignor_lab.documents.wording import plural
from assignor_lab.groups.columns import OTHER_FORMAT
from assignor_lab.report.summary.differences import SummaryDifference, SummarySlices, WorstState
from assignor_lab.report.summary.explanations import NO_EXPLANATIONS, Explanations
from assignor_lab.report.summary.snapshots import ConnectSnapshot, Gantt, SnapshotPlacement

__all__ = [
    "FORMAT",
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
    "Summary",
    "WorstCase",
    "metrics_by_group",
    "read_summary",
    "summary_from_document",
]

FORMAT = 2
#: Size limit of the file, in bytes: a summary holds a bounded number of pictures and figures.
MAX_BYTES = 512 * 1024 * 1024


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


@attrs.frozen
class TimelineDecision:
    """One decision of a group's past: its time, the instances that joined and left, its reason, and its moves."""

    time_ms: int
    generation: int | None
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


@attrs.frozen
class PastTimeline:
    """A group's past; ``given``: assignments over time."""

    group: str
    protocol: str
    decisions: tuple[TimelineDecision, ...]
    given: Gantt | None = None
    moves: str = ACTIVE_TASKS

    @property
    def has_copies(self) -> bool:
        return self.moves == ACTIVE_TASKS


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


@attrs.frozen
class Assignor:
    """A source of scored decisions: an assignor, or Kafka itself (``kind`` ``observed``).

    ``settings``: a variant's own settings, empty for a plain assignor.
    """

    name: str
    kind: str
    distribution: str | None
    version: str | None
    summary: str | None
    status: str
    reason: str | None
    rows: int
    failed_rows: int
    not_comparable_rows: int = 0
    stateless_rows: int = 0
    settings: dict[str, str] = attrs.field(factory=dict)


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


@attrs.frozen
class WorstCase:
    """The worst state of a metric."""

    scenario: str
    round: int
    value: float
    time_ms: int | None = None


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


@attrs.frozen
class SummaryHeadline:
    """The five figures, and the ``best`` contenders; ``alone`` counts states that are single decisions."""

    baseline: str | None
    states: int
    histories: int
    figures: tuple[FigureCompared, ...]
    alone: int
    best: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """The unit of each difference: a single decision, or a whole history."""
        return "decision" if self.alone == self.states else "history"


@attrs.frozen
class Agreement:
    """Number of an assignor's answers that equal Kafka's recorded decisions."""

    assignor: str
    compared: int
    equal: int
    different: int
    failed: int
    caveats: tuple[Caveat, ...]
    first_difference: StateRef | None
    not_comparable: int = 0


@attrs.frozen
class FailedRows:
    """Rows with the same error of the same assignor, or of a family or scenario that gave no state.

    ``type`` ``None`` stands for the remaining groups.
    """

    assignor: str | None
    type: str | None
    java_type: str | None
    message: str | None
    rows: int
    first: StateRef | None
    traceback: str | None = None
    family: str | None = None


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


@attrs.frozen
class Results:
    """The results, which depend only on input, seed and plugins."""

    title: str | None
    seed: int | None
    versions: dict[str, str]
    config: tuple[OverridingValue, ...]
    sources: tuple[SummarySource, ...]
    states: int
    rows: int
    failed_rows: int
    assumptions: tuple[Assumption, ...]
    assignors: tuple[Assignor, ...]
    metrics: tuple[SummaryMetric, ...]
    aggregates: tuple[Aggregate, ...]
    ranking: Ranking
    agreement: tuple[Agreement, ...]
    failures: tuple[FailedRows, ...]
    placements: tuple[SnapshotPlacement, ...]
    placements_left_out: int
    baseline: str | None = None
    differences: tuple[SummaryDifference, ...] = ()
    worst_cases: tuple[WorstState, ...] = ()
    slices: SummarySlices | None = None
    groups: tuple[ConnectSnapshot, ...] = ()
    not_comparable: tuple[Incomparable, ...] = ()
    settings_difference: int = 0
    headline: SummaryHeadline | None = None
    timelines: tuple[PastTimeline, ...] = ()
    metric_failures: tuple[MetricFailure, ...] = ()
    refused_plugins: tuple[RefusedPlugin, ...] = ()
    played: bool = False
    histories: str | None = None

    @property
    def unit(self) -> str:
        return "history" if self.played else "decision"

    def counted(self, number: int) -> str:
        return plural(number, self.unit, "histories" if self.played else None)


@attrs.frozen
class AssignTime:
    """Time of the assign call alone, milliseconds."""

    assignor: str
    n: int
    median: float | None
    p99: float | None
    max: float | None


@attrs.frozen
class ProbeCounts:
    """Results of repeated calls of an assignor in ``n`` states: bytes of memory, and states in which it held."""

    assignor: str
    n: int
    peak_memory_median: float | None
    peak_memory_max: float | None
    deterministic: int
    same_hash_seed: int
    same_order: int
    pure: int


@attrs.frozen
class RunMetrics:
    """Figures that differ from run to run."""

    command: str | None
    started: str | None
    seconds: float | None
    states_per_second: float | None
    rows_per_second: float | None
    master: str | None
    cores: int | None
    versions: dict[str, str]
    assign_ms: tuple[AssignTime, ...]
    rows_per_second_per_core: float | None = None
    shares: dict[str, float] | None = None
    probes: tuple[ProbeCounts, ...] = ()


@attrs.frozen
class Verified:
    """Share of the groups' recordings that the lab reproduced; without a verdict if there are banner sentences."""

    status: str
    sentences: tuple[str, ...]
    banner: tuple[str, ...]


@attrs.frozen
class Summary:
    """The whole document."""

    format: int
    results: Results
    run_metrics: RunMetrics
    explanations: Explanations = NO_EXPLANATIONS
    verified: Verified | None = None


def metrics_by_group(results: Results) -> list[tuple[str, list[SummaryMetric]]]:
    """Metrics by group: a plugin's metrics join the others of their group, at any position in the summary."""
    groups: dict[str, list[SummaryMetric]] = {}
    for metric in results.metrics:
        groups.setdefault(metric.group, []).append(metric)
    return list(groups.items())


def read_summary(path: Path) -> Summary:
    """Reads a ``summary.json``.

    Raises:
        DocumentFormatError: The file cannot be read or is not a summary of format 2; with file and key.
    """
    return read_document(path, parse_json, _summary, max_bytes=MAX_BYTES, subject="a summary")


def summary_from_document(document: object) -> Summary:
    """The values of a parsed summary. Keys that format 2 does not define are ignored.

    Raises:
        DocumentFormatError: A key is missing or has the wrong type, or the format is unknown.
    """
    with faults_at(DocumentPlace("summary")):
        return _summary(document)


def _summary(document: object) -> Summary:
    # Check the format first: another format lacks other keys, too.
    _FORMAT(document)
    check: Check[Summary] = value_of(Summary, _REMEDY)
    return check(document)


_REMEDY = "use the release that wrote this summary"
_FORMAT = open_record({"format": format_number(FORMAT, OTHER_FORMAT)}, hint=_REMEDY)
