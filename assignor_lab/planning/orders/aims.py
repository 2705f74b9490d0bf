"""The aims of a search: the figure that decides, and limits on the others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import inf

import attrs

from assignor_lab.planning.making import PlanError
from assignor_lab.planning.orders.figures import FIGURES

__all__ = ["DURATION", "OrderAims", "OrderLimit", "aims_of"]

DURATION, WORST, AT_ONCE, TASK_SECONDS = "duration_seconds", "worst_task_seconds", "tasks_at_once", "task_seconds"
_LIMIT = re.compile(r"\A([a-z_]{1,40})\s{0,9}=\s{0,9}([0-9]{1,15}(?:\.[0-9]{1,9})?(?:[eE][+]?[0-9]{1,2})?)\Z", re.ASCII)
#: Figures of ``assignor advise`` that no order changes.
_OF_SETTINGS = {
    "dollars": "a plan has no prices",
    "disk_bytes": "each order needs the same disks",
}
#: Without ``--at-most``, figures may exceed those of one by one by this share, the worst task by these seconds more:
#: noise. One by one of many instances is estimated from its first steps.
_AS_BEFORE, _AS_BEFORE_SECONDS = 0.05, 0.25
#: Without ``--at-most``, this share of the tasks may be away at once.
_SHARE = 0.5


@attrs.frozen
class OrderLimit:
    """A limit.

    Args:
        most: Its largest allowed median.
        is_given: True if the caller gave it.
    """

    figure: str
    most: float
    is_given: bool = True


@attrs.frozen
class OrderAims:
    """The figure to minimise, and the limits."""

    minimize: str
    limits: tuple[OrderLimit, ...]

    def most(self, figure: str) -> float:
        """The limit of a figure; infinite without one."""
        return next((limit.most for limit in self.limits if limit.figure == figure), inf)

    def allows(self, figures: Mapping[str, float]) -> bool:
        return all(figures[limit.figure] <= limit.most for limit in self.limits)

    def excess(self, figures: Mapping[str, float]) -> float:
        """The largest share by which a figure exceeds its limit; 0: none does."""
        return max((figures[each.figure] / max(each.most, 1e-9) - 1 for each in self.limits), default=0.0)

    def broken(self, figures: Mapping[str, float]) -> list[OrderLimit]:
        return [limit for limit in self.limits if figures[limit.figure] > limit.most]

    def with_usual(self, one_by_one: Mapping[str, float], tasks: int) -> OrderAims:
        """Limits on figures without a given one: as one by one, or half of the tasks away at once.

        Args:
            one_by_one: The figures of the restart of one instance after the other.
        """
        given = {limit.figure for limit in self.limits}
        usual = {
            WORST: one_by_one[WORST] * (1 + _AS_BEFORE) + _AS_BEFORE_SECONDS,
            AT_ONCE: max(_SHARE * tasks, one_by_one[AT_ONCE] * (1 + _AS_BEFORE)),
        }
        added = [
            OrderLimit(figure, most, is_given=False)
            for figure, most in usual.items()
            if figure not in given and figure != self.minimize
        ]
        return attrs.evolve(self, limits=(*self.limits, *added))


def aims_of(minimize: str, limits: Sequence[str]) -> OrderAims:
    """The aims of the command line.

    Args:
        limits: Texts such as ``worst_task_seconds=20``.

    Raises:
        PlanError: if a figure is unknown or given twice, or a limit is no number.
    """
    found = [_limit(text) for text in limits]
    for limit in found:
        if [each.figure for each in found].count(limit.figure) > 1:
            raise PlanError(f"--at-most {limit.figure} is given twice: give one limit for each figure")
    return OrderAims(_figure("--minimize", minimize), tuple(found))


def _limit(text: str) -> OrderLimit:
    found = _LIMIT.match(text.strip())
    if found is None:
        raise PlanError(f"--at-most {text!r:.80}: write FIGURE=NUMBER; the figures are {', '.join(FIGURES)}")
    return OrderLimit(_figure("--at-most", found[1]), float(found[2]))


def _figure(option: str, name: str) -> str:
    if name in _OF_SETTINGS:
        raise PlanError(f"{option} {name}: {_OF_SETTINGS[name]}; 'assignor advise' chooses settings by it")
    if name not in FIGURES:
        raise PlanError(f"{option} {name!r:.80} is no figure of an order: the figures are {', '.join(FIGURES)}")
    return name
