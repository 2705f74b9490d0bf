"""The headline: five figures, in what users pay, and which metrics of a kind of group measure them."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

__all__ = ["FAILURES", "HeadlineFigure", "headline_of"]


@attrs.frozen
class HeadlineFigure:
    """One of the five.

    Args:
        name: Its name in the summary.
        title: Its title.
        metrics: Metrics that measure it, the one that says most first. Of :data:`FAILURES`: those of which any value
            above 0 makes an answer a failed one, besides having none.
        not_measured: Why it is not measured where none of these has a value; a clause without a full stop.
    """

    name: str
    title: str
    metrics: tuple[str, ...]
    not_measured: str


#: Name of the figure that is counted, not measured.
FAILURES = "failures"
_NO_TIME = "how long tasks stand still shows only where the group is simulated"


def headline_of(
    *,
    unavailable: Sequence[str] = (),
    restored: Sequence[str] = (),
    cross_zone: Sequence[str] = (),
    load: Sequence[str] = (),
    failures: Sequence[str] = (),
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
        HeadlineFigure("unavailable", unavailable_title, tuple(unavailable), no_time),
        HeadlineFigure("restored", "State to restore", tuple(restored), no_state),
        HeadlineFigure("cross_zone", "Cross-zone cost", tuple(cross_zone), no_zones),
        HeadlineFigure("load", "Worst load", tuple(load), "no metric of this kind of group measures it"),
        HeadlineFigure(FAILURES, "Failed decisions", tuple(failures), "there is no decision"),
    )
