"""The summary of a scoring run as values: ``docs/reference/summary-format.md``, one class for each object there."""

from __future__ import annotations

from pathlib import Path

import attrs

from assignor_lab.capture.histories.timeline import ACTIVE_TASKS
from assignor_lab.documents.errors import Place as DocumentPlace
from assignor_lab.documents.files import read_document
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.shapes import Check, faults_at, format_number, open_record
from assignor_lab.documents.values import value_of
from assignor_lab.documents.wording import plural
from assignor_lab.report.comparison import Difference, NoInterval, Slices, WorstState
from assignor_lab.report.explanations import NO_EXPLANATIONS, Explanations
from assignor_lab.report.pictures import Gantt, Group, Placement

__all__ = [
    "FORMAT",
    "Aggregate",
    "Agreement",
    "AssignTime",
    "Assignor",
    "Assumption",
    "Caveat",
    "ConfigValue",
    "Failure",
    "Headline",
    "HeadlineFigure",
    "HeadlineValue",
    "Incomparable",
    "Metric",
    "MetricRanking",
    "OverallPlace",
    "Place",
    "Ranking",
    "Results",
    "RunMetrics",
    "Source",
    "StateRef",
    "Summary",
    "WorstCase",
    "metrics_by_group",
    "read_summary",
    "summary_from_document",
]

#: The one format that is understood.
FORMAT = 1
#: Largest file that is read, in bytes: a summary holds a bounded number of pictures and figures.
MAX_BYTES = 512 * 1024 * 1024


@attrs.frozen
class ConfigValue:
    """A value that overrode a scenario's own."""

    key: str
    value: str
    source: str


@attrs.frozen
class Source:
    """Where states came from; ``kind`` is ``scenarios``, ``log``, ``recording`` or ``family``.

    ``decisions`` is the number of recorded decisions behind histories that were played, else 0; ``files`` the number of
    files that it was read from; ``sources`` above 1 stands for that many sources that are not listed one by one.
    """

    name: str
    kind: str
    states: int
    decisions: int = 0
    files: int = 1
    sources: int = 1


@attrs.frozen
class TimelineDecision:
    """One decision of a group's past: when it was, who had come and gone, why, and what moved."""

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
class Timeline:
    """A group's past; ``given``: who was given which task when."""

    group: str
    protocol: str
    decisions: tuple[TimelineDecision, ...]
    given: Gantt | None = None
    moves: str = ACTIVE_TASKS

    @property
    def has_copies(self) -> bool:
        """Whether there are copies of what moves."""
        return self.moves == ACTIVE_TASKS


@attrs.frozen
class Assumption:
    """What a source could not tell, and for how many states."""

    text: str
    states: int


@attrs.frozen
class Incomparable:
    """Answers that say nothing of what the assignors would really decide: why, of whom, and in how many states."""

    reason: str
    states: int
    assignors: tuple[str, ...]


#: A caveat has the shape of an assumption.
Caveat = Assumption


@attrs.frozen
class Assignor:
    """Somebody whose decisions were scored, Kafka itself included (``kind`` ``observed``).

    ``settings``: what a variant has of its own, and empty for an assignor as it is.
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
class Metric:
    """What is measured; ``direction`` is ``lower``, ``higher`` or ``none``."""

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
    """The state in which a metric was worst."""

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
class Place:
    """Place in one metric, ``None`` without a verdict; ``mean`` is over the states that all ranked assignors share."""

    place: int | None
    assignor: str
    mean: float


@attrs.frozen
class MetricRanking:
    """Places in one metric, best first."""

    metric: str
    n: int
    places: tuple[Place, ...]


@attrs.frozen
class Ranking:
    """Who is best, over all and by metric."""

    method: str
    states: int
    overall: tuple[OverallPlace, ...]
    by_metric: tuple[MetricRanking, ...]


@attrs.frozen
class HeadlineValue:
    """One assignor in one figure of the headline; ``tells`` says what its difference from the baseline's tells."""

    assignor: str
    mean: float
    difference: float | None
    low: float | None
    high: float | None
    level: float | None
    no_interval: NoInterval | None
    tells: str | None
    lower: int | None = None
    equal: int | None = None
    higher: int | None = None


@attrs.frozen
class HeadlineFigure:
    """One of the five figures; where ``not_measured`` gives a reason, there is nothing else.

    ``best``: the assignors with the best mean, or one nearly as good; none where all are alike.
    """

    figure: str
    title: str
    metric: str | None
    unit: str | None
    direction: str | None
    summary: str | None
    not_measured: str | None
    states: int
    of: tuple[HeadlineValue, ...]
    best: tuple[str, ...] = ()


@attrs.frozen
class Headline:
    """The five figures; ``alone`` counts states that were decided each by itself."""

    baseline: str | None
    states: int
    histories: int
    figures: tuple[HeadlineFigure, ...]
    alone: int

    @property
    def unit(self) -> str:
        """What each difference is of: a decision by itself, or a history as a whole."""
        return "decision" if self.alone == self.states else "history"


@attrs.frozen
class Agreement:
    """How often an assignor answered what Kafka really decided."""

    assignor: str
    compared: int
    equal: int
    different: int
    failed: int
    caveats: tuple[Caveat, ...]
    first_difference: StateRef | None
    not_comparable: int = 0


@attrs.frozen
class Failure:
    """Rows with the same error of the same assignor, or of a family or scenario that gave no state.

    ``type`` ``None`` stands for the groups left out.
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
    """Rows in which a metric failed in the same way."""

    metric: str
    message: str
    rows: int
    first: StateRef | None


@attrs.frozen
class RefusedPlugin:
    """A plugin that was found and refused, for example because its name is taken."""

    kind: str
    name: str
    distribution: str | None
    version: str | None
    reason: str | None


@attrs.frozen
class Results:
    """What follows from input, seed and plugins alone."""

    title: str | None
    seed: int | None
    versions: dict[str, str]
    config: tuple[ConfigValue, ...]
    sources: tuple[Source, ...]
    states: int
    rows: int
    failed_rows: int
    assumptions: tuple[Assumption, ...]
    assignors: tuple[Assignor, ...]
    metrics: tuple[Metric, ...]
    aggregates: tuple[Aggregate, ...]
    ranking: Ranking
    agreement: tuple[Agreement, ...]
    failures: tuple[Failure, ...]
    placements: tuple[Placement, ...]
    placements_left_out: int
    baseline: str | None = None
    differences: tuple[Difference, ...] = ()
    worst_cases: tuple[WorstState, ...] = ()
    slices: Slices | None = None
    groups: tuple[Group, ...] = ()
    not_comparable: tuple[Incomparable, ...] = ()
    other_settings: int = 0
    headline: Headline | None = None
    timelines: tuple[Timeline, ...] = ()
    metric_failures: tuple[MetricFailure, ...] = ()
    refused_plugins: tuple[RefusedPlugin, ...] = ()
    played: bool = False
    histories: str | None = None

    @property
    def unit(self) -> str:
        """What one state is, as a word."""
        return "history" if self.played else "decision"

    def counted(self, number: int) -> str:
        """A number of states, in words."""
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
    """What came of asking an assignor again in ``n`` states: bytes of memory, and in how many states it held."""

    assignor: str
    n: int
    peak_memory_median: float | None
    peak_memory_max: float | None
    same_again: int
    same_hash_seed: int
    same_order: int
    pure: int


@attrs.frozen
class RunMetrics:
    """What differs from run to run."""

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
    """What the lab reproduced of the groups' recordings; with sentences of a banner there is no verdict."""

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


def metrics_by_group(results: Results) -> list[tuple[str, list[Metric]]]:
    """Metrics by group: a plugin's joins the others of its group, wherever it stands in the summary."""
    groups: dict[str, list[Metric]] = {}
    for metric in results.metrics:
        groups.setdefault(metric.group, []).append(metric)
    return list(groups.items())


def read_summary(path: Path) -> Summary:
    """Reads a ``summary.json``.

    Raises:
        DocumentFormatError: The file cannot be read or is not a summary of format 1; with file and key.
    """
    return read_document(path, parse_json, _summary, max_bytes=MAX_BYTES, what="a summary")


def summary_from_document(document: object) -> Summary:
    """The values of a parsed summary. Keys that format 1 does not know are left aside.

    Raises:
        DocumentFormatError: A key is missing or has the wrong type, or the format is unknown.
    """
    with faults_at(DocumentPlace("summary")):
        return _summary(document)


def _summary(document: object) -> Summary:
    # Of another format, other keys would be missing, too.
    _FORMAT(document)
    check: Check[Summary] = value_of(Summary, _REMEDY)
    return check(document)


_REMEDY = "use the release that wrote this summary"
_FORMAT = open_record({"format": format_number(FORMAT)}, hint=_REMEDY)
