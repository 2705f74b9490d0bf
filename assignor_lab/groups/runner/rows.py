"""Answers of any kind as rows of the two tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from time import perf_counter_ns
from typing import Any, Generic, TypeVar

from assignor_lab.groups.columns import ANSWER, OF_ASSIGNOR, OF_FAMILY, OF_SCENARIO, STATE
from assignor_lab.groups.kind import ContenderAnswer, GroupKind, Measure
from assignor_lab.groups.metrics.definition import OfView
from assignor_lab.runtime.invocation import MESSAGE_LIMIT, CallFailure, checked_figure, failure_of
from assignor_lab.runtime.read_keys import unread_sentences

__all__ = ["RowMaker", "encodable", "remarks_column"]

S = TypeVar("S")
A = TypeVar("A")

#: Remarks that are kept of an answer.
MAX_REMARKS = 20


class RowMaker(Generic[S, A]):
    """Turns answers into rows, with their metrics."""

    __slots__ = ("_figures", "_kind", "_conditional", "_unknown", "_unmeasured")

    def __init__(self, kind: GroupKind[S, A], figures: Mapping[str, Measure[S, A]]) -> None:
        self._kind = kind
        self._figures: tuple[tuple[str, Any, Any], ...] = tuple(
            (name, measure.view, measure.figure) if isinstance(measure, OfView) else (name, None, measure)
            for name, measure in figures.items()
        )
        #: View and condition of some figures to their names, each without a figure.
        self._conditional: dict[tuple[Any, Any], dict[str, None]] = {}
        for name, measure in figures.items():
            if isinstance(measure, OfView) and measure.is_known is not None:
                self._conditional.setdefault((measure.view, measure.is_known), {})[name] = None
        self._unmeasured = dict.fromkeys(figures)
        self._unknown = dict.fromkeys(column.name for column in (*STATE, *ANSWER, *kind.columns))

    def row(self, answer: ContenderAnswer[S, A]) -> dict[str, Any]:
        """The row of ``answer``, with an entry for every column of the answer; those of probes are null."""
        start = perf_counter_ns()
        outcome, scenario, item = answer.outcome, answer.scenario, answer.item
        figures, metric_errors = self._measured(answer)
        failure = outcome.failure
        row: dict[str, Any] = {
            **self._unknown,
            "item": item.number,
            "round": answer.round,
            "assignor": answer.assignor,
            "source": item.source,
            "scenario": None if scenario is None else scenario.id,
            "family": item.family,
            "seed": item.seed,
            "time_ms": None if scenario is None or item.family is not None else (scenario.source or {}).get("time_ms"),
            "error_type": None if failure is None else failure.type,
            "error_java_type": None if failure is None else failure.java_type,
            "error_message": None if failure is None else encodable(failure.message),
            "error_origin": None if failure is None else _origin(answer),
            "error_traceback": None if failure is None or not failure.traceback else encodable(failure.traceback),
            "assumptions": None if scenario is None or not scenario.assumptions else list(scenario.assumptions),
            "not_comparable": answer.not_comparable,
            "settings_difference": answer.settings_difference,
            "metric_errors": metric_errors or None,
            **self._kind.row(answer),
            **figures,
            "assign_ms": outcome.processor_ns / 1e6 if outcome.assign_ns else None,
            "assign_wall_ms": outcome.assign_ns / 1e6 if outcome.assign_ns else None,
            "build_ms": answer.build_ns / 1e6,
        }
        if outcome.unread and outcome.answer is not None:
            unread = unread_sentences(answer.assignor, outcome.unread)
            row.update(remarks=remarks_column([*unread, *self._kind.remarks(outcome.answer)]))
        row["metrics_ms"] = (answer.other_ns + perf_counter_ns() - start) / 1e6
        return row

    def _measured(self, answer: ContenderAnswer[S, A]) -> tuple[Mapping[str, float | None], list[str]]:
        state, result = answer.state, answer.outcome.result
        if state is None or isinstance(result, CallFailure):
            return self._unmeasured, []
        figures: dict[str, float | None] = self._without_view(state, result)
        errors: list[str] = []
        # Most metrics are figures of the same view: it is created once.
        views: dict[Any, Any] = {}
        for name, view, measure in self._figures:
            if name in figures:
                continue
            try:
                if view is None:
                    figure = measure(state, result)
                else:
                    seen = views.get(view)
                    if seen is None:
                        seen = views[view] = view(state, result)
                    figure = measure(seen)
                # Most figures are finite numbers or unknown, so this check is quick.
                usual = figure is None or (type(figure) is float and -inf < figure < inf)
                figures[name] = figure if usual else checked_figure(figure)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - a metric is a plugin and may raise anything
                failure = failure_of(error)
                figures[name] = None
                errors.append(encodable(f"{name}: {failure.type}: {failure.message}"))
        return figures, errors

    def _without_view(self, state: S, result: A) -> dict[str, float | None]:
        """The figures for which a state lacks the facts, a dozen in most runs: they need not be computed."""
        untold: dict[str, float | None] = {}
        for (view, is_known), names in self._conditional.items():
            try:
                if not is_known(view(state, result)):
                    untold.update(names)
            except Exception:  # noqa: BLE001, S112 - the figures meet it, too, and say so
                continue
        return untold


def _origin(answer: ContenderAnswer[Any, Any]) -> str:
    """The part to which an error is charged: without a state, no assignor was called."""
    if answer.state is not None:
        return OF_ASSIGNOR
    return OF_SCENARIO if answer.item.family is None else OF_FAMILY


def remarks_column(remarks: Sequence[object]) -> list[str] | None:
    """The column ``remarks``: an assignor's remarks on its answer."""
    return [encodable(str(remark)[:MESSAGE_LIMIT]) for remark in remarks[:MAX_REMARKS]] or None


def encodable(text: str) -> str:
    """The text without halves of surrogate pairs, which a plugin's message may hold and Arrow refuses."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
