"""The headline: five figures of a user's costs, and the metrics that measure them in a kind of group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

__all__ = ["FAILURES", "HeadlineFigure", "headline_of"]


@attrs.frozen
class HeadlineFigure:
    """One of the five.

    Args:
        metrics: Metrics that measure it, the best first. For :data:`FAILURES`: a value above 0 marks a failed answer,
            like a missing answer.
        not_measured: The reason if none of these has a value; a clause without a full stop.
        titles: Metric to the figure's title with it: different quantities have different titles.
        remedy: What to give if it is not measured; ``None``: a missing figure decides nothing.
    """

    name: str
    title: str
    metrics: tuple[str, ...]
    not_measured: str
    titles: Mapping[str, str] = attrs.field(factory=dict)
    remedy: str | None = None

    def title_of(self, metric: str | None) -> str:
        return self.title if metric is None else self.titles.get(metric, self.title)


#: Name of the figure that is counted, not measured.
FAILURES = "failures"
_NO_TIME = "how long tasks stand still shows only where the group is simulated"


#: Metrics of a figure, the best first; with their own titles if they measure different quantities.
Metrics = Sequence[str] | Mapping[str, str]


def headline_of(
    *,
    unavailable: Metrics = (),
    restored: Metrics = (),
    cross_zone: Metrics = (),
    load: Metrics = (),
    failures: Metrics = (),
    unavailable_title: str = "Task-seconds unavailable",
    no_time: str = _NO_TIME,
    no_state: str = "the sources lack the lags of copies",
    size_remedy: str | None = None,
    no_zones: str = "the sources lack racks, or the bytes that are read",
) -> tuple[HeadlineFigure, ...]:
    """The five figures of a kind of group.

    Args:
        failures: Metrics with which a value above 0 marks a failed answer.
        size_remedy: What to give if the state's size is unknown.
        unavailable_title: Title of the first, if its metrics count stopped tasks instead of their time.
    """
    return (
        _figure("unavailable", unavailable_title, unavailable, no_time),
        attrs.evolve(_figure("restored", "State to restore", restored, no_state), remedy=size_remedy),
        _figure("cross_zone", "Cross-zone cost", cross_zone, no_zones),
        _figure("load", "Worst load", load, "no metric of this kind of group measures it"),
        _figure(FAILURES, "Failed decisions", failures, "there is no decision"),
    )


def _figure(name: str, title: str, metrics: Metrics, not_measured: str) -> HeadlineFigure:
    titles = dict(metrics) if isinstance(metrics, Mapping) else {}
    return HeadlineFigure(name, title, tuple(metrics), not_measured, titles)
