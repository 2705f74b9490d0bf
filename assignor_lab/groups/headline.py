"""The headline: five figures, in what users pay, and which metrics of a kind of group measure them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

__all__ = ["FAILURES", "HeadlineFigure", "headline_of"]


@attrs.frozen
class HeadlineFigure:
    """One of the five.

    Args:
        name: Its name in the summary.
        title: Its title where no metric measures it.
        metrics: Metrics that measure it, the one that says most first. Of :data:`FAILURES`: those of which any value
            above 0 makes an answer a failed one, besides having none.
        not_measured: Why it is not measured where none of these has a value; a clause without a full stop.
        titles: Metric to the title of the figure that it measures: different quantities have different titles.
    """

    name: str
    title: str
    metrics: tuple[str, ...]
    not_measured: str
    titles: Mapping[str, str] = attrs.field(factory=dict)

    def title_of(self, metric: str | None) -> str:
        """The title of the figure as a metric measures it."""
        return self.title if metric is None else self.titles.get(metric, self.title)


#: Name of the figure that is counted, not measured.
FAILURES = "failures"
_NO_TIME = "how long tasks stand still shows only where the group is simulated"


#: Metrics of a figure, the one that says most first; with titles of their own where they measure different quantities.
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
    no_state: str = "the sources do not tell what copies of state lack",
    no_zones: str = "the sources do not tell the racks, or what is read",
) -> tuple[HeadlineFigure, ...]:
    """The five figures of a kind of group.

    Args:
        unavailable: Metrics of the time in which tasks do not run.
        restored: Metrics of the state that has to be restored.
        cross_zone: Metrics of what is read from other racks, and costs.
        load: Metrics of the load of who has most.
        failures: Metrics of which any value above 0 makes an answer a failed one.
        unavailable_title: Title of the first, where its metrics count what stands still instead of measuring how long.
        no_time: Why the first is not measured.
        no_state: Why the second is not measured.
        no_zones: Why the third is not measured.
    """
    return (
        _figure("unavailable", unavailable_title, unavailable, no_time),
        _figure("restored", "State to restore", restored, no_state),
        _figure("cross_zone", "Cross-zone cost", cross_zone, no_zones),
        _figure("load", "Worst load", load, "no metric of this kind of group measures it"),
        _figure(FAILURES, "Failed decisions", failures, "there is no decision"),
    )


def _figure(name: str, title: str, metrics: Metrics, not_measured: str) -> HeadlineFigure:
    titles = dict(metrics) if isinstance(metrics, Mapping) else {}
    return HeadlineFigure(name, title, tuple(metrics), not_measured, titles)
