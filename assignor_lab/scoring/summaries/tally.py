"""Counts over the rows of a run in one pass: states, failures, agreement with Kafka, assumptions.

Memory does not grow with the number of rows: the number of kinds of failures and of assumptions is limited.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import attrs

from assignor_lab.groups.columns import OF_FAMILY, OF_SCENARIO
from assignor_lab.groups.work import OBSERVED
from assignor_lab.model.run_summary import Agreement, Assumption, FailedRows, Incomparable, MetricFailure, StateRef

__all__ = ["LIGHT_COLUMNS", "LightRow", "Tally", "add_states", "take_tally"]

OTHER_SETTINGS = "Its settings differed from those of Kafka's decision."

#: Most kinds of failures and of assumptions that are counted separately.
MAX_KINDS = 5_000
#: Most kinds of failures that are listed.
MAX_FAILURES = 200

_CHANGING = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|0x[0-9a-fA-F]+|\d+")


@attrs.frozen
class LightRow:
    """The part of a row that is counted; its fields are columns of the table ``results``."""

    item: int
    round: int
    assignor: str
    source: int = 0
    scenario: str | None = None
    time_ms: int | None = None
    error_type: str | None = None
    error_java_type: str | None = None
    error_message: str | None = None
    family: str | None = None
    error_origin: str | None = None
    error_traceback: str | None = None
    equals_observed: bool | None = None
    not_comparable: str | None = None
    settings_difference: bool | None = None
    assumptions: Sequence[str] | None = None
    metric_errors: Sequence[str] | None = None

    @property
    def is_stateless(self) -> bool:
        """True if it failed without a state to answer."""
        return self.error_origin in (OF_FAMILY, OF_SCENARIO)

    @property
    def state(self) -> StateRef:
        name = f"item {self.item}" if self.scenario is None else self.scenario
        return StateRef(name, self.round, self.time_ms)


#: The columns of the counted part.
LIGHT_COLUMNS = tuple(field.name for field in attrs.fields(LightRow))


@attrs.define
class _Kind:
    message: str
    traceback: str | None
    first: StateRef
    rows: int = 0


@attrs.define
class _Agreement:
    compared: int = 0
    equal: int = 0
    failed: int = 0
    not_comparable: int = 0
    caveats: dict[str, int] = attrs.field(factory=dict)
    first_difference: StateRef | None = None


@attrs.define
class _Incomparable:
    states: int = 0
    assignors: dict[str, None] = attrs.field(factory=dict)


@attrs.define
class Tally:
    """The counts.

    Args:
        failed_of: Assignor to its rows with an error of its own.
        stateless_of: Assignor to its rows without a state to answer: the family or the scenario failed.
        captured: Items with a recorded decision of Kafka.
        settings_difference: States in which some assignor had other settings than Kafka's decision.
        not_comparable_of: Assignor to its rows with an incomparable answer.
    """

    rows: int = 0
    failed_rows: int = 0
    states: int = 0
    states_of: dict[int, int] = attrs.field(factory=dict)
    rows_of: dict[str, int] = attrs.field(factory=dict)
    failed_of: dict[str, int] = attrs.field(factory=dict)
    stateless_of: dict[str, int] = attrs.field(factory=dict)
    captured: int = 0
    settings_difference: int = 0
    not_comparable_of: dict[str, int] = attrs.field(factory=dict)
    _incomparable: dict[str, _Incomparable] = attrs.field(factory=dict)
    _assumptions: dict[str, int] = attrs.field(factory=dict)
    _kinds: dict[tuple[str | None, str | None, str | None, str | None, str], _Kind] = attrs.field(factory=dict)
    _rows_of_other_kinds: int = 0
    _failing_metrics: dict[tuple[str, str], _Kind] = attrs.field(factory=dict)
    _agreements: dict[str, _Agreement] = attrs.field(factory=dict)

    def add_state(self, rows: list[LightRow]) -> None:
        first = rows[0]
        self.states += 1
        self.states_of[first.source] = self.states_of.get(first.source, 0) + 1
        for text in dict.fromkeys(text for row in rows for text in row.assumptions or ()):
            _count(self._assumptions, text)
        observed = any(row.assignor == OBSERVED and row.error_type is None for row in rows)
        self.captured += observed
        self.settings_difference += any(row.settings_difference for row in rows)
        for row in rows:
            self._add_row(row, compared=observed)
        for reason in dict.fromkeys(row.not_comparable for row in rows if row.not_comparable is not None):
            found = self._incomparable.setdefault(reason, _Incomparable())
            found.states += 1
            found.assignors |= dict.fromkeys(row.assignor for row in rows if row.not_comparable == reason)

    def add_plain(self, states_of: Mapping[int, int], rows_of: Mapping[str, int]) -> None:
        for source, states in states_of.items():
            self.states += states
            self.states_of[source] = self.states_of.get(source, 0) + states
        for assignor, rows in rows_of.items():
            self.rows += rows
            self.rows_of[assignor] = self.rows_of.get(assignor, 0) + rows
            self.failed_of.setdefault(assignor, 0)

    def _add_row(self, row: LightRow, *, compared: bool) -> None:
        assignor, failed = row.assignor, row.error_type is not None
        self.rows += 1
        self.failed_rows += failed
        self.rows_of[assignor] = self.rows_of.get(assignor, 0) + 1
        stateless = failed and row.is_stateless
        self.failed_of[assignor] = self.failed_of.get(assignor, 0) + (failed and not stateless)
        if stateless:
            self.stateless_of[assignor] = self.stateless_of.get(assignor, 0) + 1
        if failed:
            self._add_failure(row)
        for text in row.metric_errors or ():
            self._add_metric_error(text, row)
        if row.not_comparable is not None:
            self.not_comparable_of[assignor] = self.not_comparable_of.get(assignor, 0) + 1
        if compared and assignor != OBSERVED:
            agreement = self._agreements.setdefault(assignor, _Agreement())
            if row.not_comparable is not None:
                agreement.not_comparable += 1
                return
            agreement.compared += 1
            agreement.failed += failed
            agreement.equal += row.equals_observed is True
            if not failed and row.equals_observed is False:
                agreement.first_difference = agreement.first_difference or row.state
                if row.settings_difference:
                    _count(agreement.caveats, OTHER_SETTINGS)

    def _add_failure(self, row: LightRow) -> None:
        message = row.error_message or ""
        stateless = row.is_stateless
        assignor, family = (None, row.family) if stateless else (row.assignor, None)
        key = (assignor, family, row.error_type, row.error_java_type, _CHANGING.sub("#", message))
        kind = self._kinds.get(key)
        if kind is None:
            if len(self._kinds) >= MAX_KINDS:
                self._rows_of_other_kinds += 1
                return
            kind = self._kinds[key] = _Kind(message, row.error_traceback, row.state)
        kind.rows += 1

    def _add_metric_error(self, text: str, row: LightRow) -> None:
        metric, _, message = text.partition(": ")
        key = (metric, _CHANGING.sub("#", message))
        kind = self._failing_metrics.get(key)
        if kind is None:
            if len(self._failing_metrics) >= MAX_FAILURES:
                return
            kind = self._failing_metrics[key] = _Kind(message, None, row.state)
        kind.rows += 1

    def metric_failures(self) -> tuple[MetricFailure, ...]:
        kinds = sorted(self._failing_metrics.items(), key=lambda entry: (-entry[1].rows, *entry[0]))
        return tuple(MetricFailure(metric, kind.message, kind.rows, kind.first) for (metric, _), kind in kinds)

    def assumptions(self) -> tuple[Assumption, ...]:
        return _by_count(self._assumptions)

    def comparable_of(self, assignor: str) -> int:
        """Rows of an assignor with an answer that is comparable."""
        counts = (self.failed_of, self.stateless_of, self.not_comparable_of)
        lost = sum(count.get(assignor, 0) for count in counts)
        return self.rows_of.get(assignor, 0) - lost

    def not_comparable(self) -> tuple[Incomparable, ...]:
        """Most states first, then by reason."""
        found = sorted(self._incomparable.items(), key=lambda entry: (-entry[1].states, entry[0]))
        return tuple(Incomparable(reason, each.states, tuple(each.assignors)) for reason, each in found)

    def failures(self) -> tuple[FailedRows, ...]:
        kinds = sorted(self._kinds.items(), key=lambda entry: (-entry[1].rows, *(text or "" for text in entry[0])))
        listed = [
            FailedRows(
                assignor=assignor,
                family=family,
                type=error_type,
                java_type=java_type,
                message=kind.message,
                traceback=kind.traceback,
                rows=kind.rows,
                first=kind.first,
            )
            for (assignor, family, error_type, java_type, _), kind in kinds[:MAX_FAILURES]
        ]
        left = sum(kind.rows for _, kind in kinds[MAX_FAILURES:]) + self._rows_of_other_kinds
        if left:
            listed.append(FailedRows(rows=left, first=None))
        return tuple(listed)

    def agreement(self, assignors: Iterable[str]) -> tuple[Agreement, ...]:
        """In the order of ``assignors``."""
        entries = []
        for assignor in assignors:
            found = self._agreements.get(assignor)
            if found is not None:
                entries.append(
                    Agreement(
                        assignor=assignor,
                        compared=found.compared,
                        equal=found.equal,
                        different=found.compared - found.equal - found.failed,
                        failed=found.failed,
                        not_comparable=found.not_comparable,
                        caveats=_by_count(found.caveats),
                        first_difference=found.first_difference,
                    )
                )
        return tuple(entries)


def take_tally(rows: Iterable[LightRow]) -> Tally:
    """Counts over ``rows``, which are sorted by item and round."""
    tally = Tally()
    add_states(tally, rows)
    return tally


def add_states(tally: Tally, rows: Iterable[LightRow]) -> None:
    """Adds ``rows`` to a tally, which has counted none of their states in part."""
    for state in _states(rows):
        tally.add_state(state)


def _states(rows: Iterable[LightRow]) -> Iterator[list[LightRow]]:
    for _, state in groupby(rows, key=lambda row: (row.item, row.round)):
        yield list(state)


def _count(counts: dict[str, int], text: str) -> None:
    if text in counts or len(counts) < MAX_KINDS:
        counts[text] = counts.get(text, 0) + 1


def _by_count(counts: Mapping[str, int]) -> tuple[Assumption, ...]:
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return tuple(Assumption(text, states) for text, states in ordered)
