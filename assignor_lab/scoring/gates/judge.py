"""Gates against a finished run: each gate is judged for each of its assignors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs
import numpy as np
import pyarrow as pa

from assignor_lab.documents.wording import plural
from assignor_lab.groups.columns import suggested_name
from assignor_lab.model.comparisons import GateStatus, NoInterval, Verdict
from assignor_lab.scoring.gates.grammar import Gate, GateContenders, GateNameError, Named
from assignor_lab.scoring.output.results_table import PairedFigures, ResultsTable, pairs_of
from assignor_lab.scoring.statistics.intervals import lower_limit, mean_of, stable, unit_means, upper_limit
from assignor_lab.scoring.statistics.refusal import FEWEST, few, least_alike, same

__all__ = ["check_gates", "judge"]

_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


def check_gates(gates: Iterable[Gate], metrics: Sequence[str], subjects: GateContenders) -> None:
    """Checks before the run that every gate can be judged.

    Raises:
        GateNameError: if a metric or an assignor is not part of the run, or a necessary baseline is missing.
    """
    known = (*subjects.assignors, *(name for name in (subjects.observed,) if name is not None))
    for gate in gates:
        if gate.metric is not None:
            _check_name(gate, gate.metric, "metric", metrics)
        if gate.assignor is not None:
            _check_name(gate, gate.assignor, "assignor", known)
        if gate.bound.relative and subjects.baseline is None:
            reason = "there is no baseline: name one with --baseline NAME"
            raise GateNameError(gate.expression, gate.bound_column, reason)


def _check_name(gate: Gate, name: Named, kind: str, known: Sequence[str]) -> None:
    if name.text in known:
        return
    close = suggested_name(name.text, known)
    remedy = f"did you mean {close!r}?" if close else f"there are: {', '.join(known)}"
    raise GateNameError(gate.expression, name.column, f"no {kind} {name.text!r} in this run; {remedy}")


def judge(gates: Iterable[Gate], subjects: GateContenders, table: ResultsTable) -> list[Verdict]:
    """Judges every gate for each of its assignors, in their orders."""
    return [_verdict(gate, name, subjects.baseline, table) for gate in gates for name in subjects.of(gate)]


def _verdict(gate: Gate, assignor: str, baseline: str | None, table: ResultsTable) -> Verdict:
    other = baseline if gate.bound.relative else assignor
    absent = [name for name in (assignor, other) if name not in table.assignors]
    if absent:
        return _unknown(gate, assignor, f"{absent[0]} has no rows in this run")
    assert other is not None
    if gate.metric is None:
        return _count_verdict(gate, assignor, other, table)
    column = table.column(gate.metric.text)
    figures = pairs_of(table, assignor, other).figures(column[assignor], column[other])
    if not len(figures.own):
        for name in dict.fromkeys((assignor, other)):
            reason = table.why_not_comparable(name)
            if reason is not None:
                return _unknown(gate, assignor, f"no answer of {name} can be compared: {reason}")
        both = f" of both {assignor} and {other}" if assignor != other else ""
        return _unknown(gate, assignor, f"no state has a figure{both} in {gate.metric.text}")
    if gate.statistic == "quantile":
        assert gate.quantile is not None
        value, reference = (float(np.quantile(side, gate.quantile)) for side in (figures.own, figures.baseline))
    else:
        value, reference = (mean_of(unit_means(side, figures.units)) or 0.0 for side in (figures.own, figures.baseline))
    bound = gate.bound.factor * reference + gate.bound.offset
    itself = gate.bound.relative and assignor == other
    found = _compared(gate, assignor, value, bound, figures, itself=itself)
    return _beside(found, gate, reference) if gate.bound.relative and found.status != "unknown" else found


def _compared(
    gate: Gate, assignor: str, value: float, bound: float, figures: PairedFigures, *, itself: bool
) -> Verdict:
    units, states = len(np.unique(figures.units)), len(figures.own)
    compare = _COMPARISONS[gate.sign]
    if gate.confidence is None:
        holds = compare(value, bound)
        return _decided(gate, assignor, value, bound, holds=holds, limit=None, units=units, states=states)
    sure = None if itself else _sure(gate, figures, gate.confidence)
    if isinstance(sure, NoInterval):
        reason = f"no {gate.confidence * 100:g} % confidence: {sure.reason}"
        found = _unknown(gate, assignor, reason)
        return attrs.evolve(found, value=value, bound=bound, histories=units, states=states, no_limit=sure)
    limit = None if sure is None else stable(bound + sure)
    holds = compare(value, bound) if sure is None else compare(sure, 0.0)
    return _decided(gate, assignor, value, bound, holds=holds, limit=limit, units=units, states=states)


def _sure(gate: Gate, figures: PairedFigures, confidence: float) -> float | NoInterval | None:
    """The certain distance of the mean beyond the bound, or below it; ``None`` if all histories are equal."""
    # The distance beyond the bound in each history: the bound is as uncertain as the value, and pairing cancels most of
    # it.
    beyond = unit_means(figures.own - gate.bound.factor * figures.baseline - gate.bound.offset, figures.units)
    number, enough = len(beyond), least_alike(confidence)
    differing = number
    if gate.bound.relative:
        # The distance beyond `baseline + 5 %` varies with the baseline, which would hide that the two hardly ever
        # differ.
        differing = int(np.count_nonzero(unit_means(figures.own - figures.baseline, figures.units)))
    if 0 < differing < FEWEST:
        return few(number, differing)
    found = (lower_limit if gate.sign.startswith(">") else upper_limit)(beyond, confidence)
    if differing == 0 or (isinstance(found, NoInterval) and found.code == "same"):
        return None if number >= enough else same(number, enough)
    return found


def _count_verdict(gate: Gate, assignor: str, baseline: str, table: ResultsTable) -> Verdict:
    failed, rows = _failures(table.rows_of(assignor))
    reference, reference_rows = _failures(table.rows_of(baseline))
    value, other = float(failed), float(reference)
    if gate.statistic == "failed_share":
        value, other = failed / max(rows, 1), reference / max(reference_rows, 1)
    bound = gate.bound.factor * other + gate.bound.offset
    holds = _COMPARISONS[gate.sign](value, bound)
    found = _decided(gate, assignor, value, bound, holds=holds, limit=None, units=None, states=rows)
    return _beside(found, gate, other) if gate.bound.relative else found


def _failures(rows: pa.Table) -> tuple[int, int]:
    return rows.num_rows - rows["error_type"].null_count, rows.num_rows


def _decided(
    gate: Gate,
    assignor: str,
    value: float,
    bound: float,
    *,
    holds: bool,
    limit: float | None,
    units: int | None,
    states: int,
) -> Verdict:
    reason = f"{value:.6g}{_sure_words(gate, limit, '.6g')}; fails at {gate.sign} {bound:.6g}; {_over(units, states)}"
    status: GateStatus = "failed" if holds else "passed"
    return Verdict(
        expression=gate.expression,
        assignor=assignor,
        status=status,
        value=value,
        bound=bound,
        limit=limit,
        confidence=gate.confidence,
        states=states,
        reason=reason,
        histories=units,
    )


def _beside(verdict: Verdict, gate: Gate, reference: float) -> Verdict:
    """The verdict on a relative gate, with a sentence about the difference from the baseline."""
    assert verdict.value is not None
    assert verdict.bound is not None
    limit = None if verdict.limit is None else stable(verdict.limit - reference)
    reason = (
        f"{verdict.value:.6g} beside {reference:.6g}: a difference of {stable(verdict.value - reference):+.6g}"
        f"{_sure_words(gate, limit, '+.6g')}; fails at {gate.sign} {stable(verdict.bound - reference):+.6g}; "
        f"{_over(verdict.histories, verdict.states)}"
    )
    return attrs.evolve(verdict, reason=reason)


def _sure_words(gate: Gate, limit: float | None, form: str) -> str:
    if gate.confidence is None or limit is None:
        return ""
    side = "above" if gate.sign.startswith(">") else "below"
    return f", with {gate.confidence * 100:g} % confidence {side} {limit:{form}}"


def _over(units: int | None, states: int) -> str:
    return (
        f"over {plural(states, 'row')}"
        if units is None
        else (f"over {plural(units, 'history', 'histories')}, {plural(states, 'state')}")
    )


def _unknown(gate: Gate, assignor: str, reason: str) -> Verdict:
    return Verdict(
        expression=gate.expression,
        assignor=assignor,
        status="unknown",
        confidence=gate.confidence,
        states=0,
        reason=reason,
    )
