"""Answers as rows of the two tables, whatever their kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from time import perf_counter_ns
from typing import Any, Generic, TypeVar

from assignor_lab.groups.columns import ANSWER, OF_ASSIGNOR, OF_FAMILY, OF_SCENARIO, STATE
from assignor_lab.groups.kind import Answer, Kind, Measure
from assignor_lab.groups.metrics.definition import OfView
from assignor_lab.runtime.invocation import MESSAGE_LIMIT, Failure, checked_figure, failure_of

__all__ = ["RowMaker", "encodable", "remarks_column"]

S = TypeVar("S")
A = TypeVar("A")

#: Remarks that are kept of an answer.
MAX_REMARKS = 20


class RowMaker(Generic[S, A]):
    """Turns answers into rows, computing the metrics on the way.

    Args:
        kind: Kind of what was answered.
        figures: Name of the column to what computes it.
    """

    __slots__ = ("_figures", "_kind", "_told", "_unknown", "_unmeasured")

    def __init__(self, kind: Kind[S, A], figures: Mapping[str, Measure[S, A]]) -> None:
        self._kind = kind
        #: Name of the column, what makes the view that it is a figure of (``None``: it takes state and answer), figure.
        self._figures: tuple[tuple[str, Any, Any], ...] = tuple(
            (name, measure.view, measure.figure) if isinstance(measure, OfView) else (name, None, measure)
            for name, measure in figures.items()
        )
        #: What says whether a state tells some of the figures, with the view that it asks, to their columns.
        self._told: dict[tuple[Any, Any], list[str]] = {}
        for name, measure in figures.items():
            if isinstance(measure, OfView) and measure.is_told is not None:
                self._told.setdefault((measure.view, measure.is_told), []).append(name)
        self._unmeasured = dict.fromkeys(figures)
        #: What stands in a row of which nothing is known.
        self._unknown = dict.fromkeys(column.name for column in (*STATE, *ANSWER, *kind.columns))

    def row(self, answer: Answer[S, A]) -> dict[str, Any]:
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
            "other_settings": answer.other_settings,
            "metric_errors": metric_errors or None,
            **self._kind.row(answer),
            **figures,
            "assign_ms": outcome.assign_ns / 1e6 if outcome.assign_ns else None,
            "build_ms": answer.build_ns / 1e6,
        }
        row["metrics_ms"] = (answer.other_ns + perf_counter_ns() - start) / 1e6
        return row

    def _measured(self, answer: Answer[S, A]) -> tuple[Mapping[str, float | None], list[str]]:
        state, result = answer.state, answer.outcome.result
        if state is None or isinstance(result, Failure):
            return self._unmeasured, []
        figures: dict[str, float | None] = self._untold(state, result)
        errors: list[str] = []
        # Most metrics are figures of one and the same view: it is made once.
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
                # Most figures are finite numbers, or unknown: a look tells.
                usual = figure is None or (type(figure) is float and -inf < figure < inf)
                figures[name] = figure if usual else checked_figure(figure)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - a metric is a plugin and may raise anything
                failure = failure_of(error)
                figures[name] = None
                errors.append(encodable(f"{name}: {failure.type}: {failure.message}"))
        return figures, errors

    def _untold(self, state: S, result: A) -> dict[str, float | None]:
        """The figures that a state tells nothing of, a dozen of them in most runs: nobody need compute them."""
        untold: dict[str, float | None] = {}
        for (view, is_told), names in self._told.items():
            try:
                if not is_told(view(state, result)):
                    untold.update(dict.fromkeys(names))
            except Exception:  # noqa: BLE001, S112 - the figures meet it, too, and say so
                continue
        return untold


def _origin(answer: Answer[Any, Any]) -> str:
    """The part that an error is charged to: without a state, no assignor was called."""
    if answer.state is not None:
        return OF_ASSIGNOR
    return OF_SCENARIO if answer.item.family is None else OF_FAMILY


def remarks_column(remarks: Sequence[object]) -> list[str] | None:
    """The column ``remarks`` of what an assignor says of its answer."""
    return [encodable(str(remark)[:MESSAGE_LIMIT]) for remark in remarks[:MAX_REMARKS]] or None


def encodable(text: str) -> str:
    """Arrow takes no halves of surrogate pairs, which a plugin's message may well hold."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
