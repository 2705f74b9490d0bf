"""The best order of a roll, played as often as any plan, with its reasons and alternatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

import attrs

from assignor_lab.documents.wording import listed, plural
from assignor_lab.planning.making import PlanError
from assignor_lab.planning.orders.figures import FIGURES, medians, trial_of
from assignor_lab.planning.orders.group import OrderedGroup
from assignor_lab.planning.orders.order import Conditions, Order, batches_words
from assignor_lab.planning.orders.search import FoundOrder, OrderSearch, PlayedOrder
from assignor_lab.planning.plans import GIVEN, Plan, Starts
from assignor_lab.planning.predicted import Prediction

__all__ = ["Alternative", "BestOrder", "UnmetLimitsError", "best_order"]

#: Most alternatives of an answer.
_MOST = 6
#: Orders that are played as often as a plan, until one keeps the limits.
_CANDIDATES = 6
_SLOWER = 2
#: Bounds of slow starts, as shares of their median.
_AROUND = (0.85, 1.15)

#: Predicts the plan of an order.
Predict = Callable[[Order, Plan], Prediction]


class UnmetLimitsError(PlanError):
    """No order keeps the limits."""


@attrs.frozen
class Alternative:
    """Another order.

    Args:
        figures: Medians of the search's plays.
        remark: The limit that it breaks, or its difference within the noise; empty: none.
    """

    order: Order
    figures: dict[str, float]
    remark: str


@attrs.frozen
class BestOrder:
    """The best order.

    Args:
        before: One instance after the other, in natural order, under the present conditions; ``None``: estimated.
        slow: The best order and one by one if processes start twice as slowly.
        figures: Medians of the final plays, which ``before_figures`` share.
        is_gain: The order is better than one by one beyond noise, or costs more to keep the limits.
        restless: A sentence on the known loop of a group that never rests.
        exceeded: Limits that the final plays exceed, though those of the search did not.
    """

    found: FoundOrder
    order: Order
    plan: Plan
    prediction: Prediction
    before: Prediction | None
    slow: tuple[Prediction, Prediction | None]
    figures: dict[str, float]
    before_figures: dict[str, float]
    exceeded: tuple[str, ...]
    alternatives: tuple[Alternative, ...]
    reasons: tuple[str, ...]
    unit: str
    is_gain: bool
    restless: str | None = None

    @property
    def is_best_found(self) -> bool:
        """False: the best order of the search exceeds a limit in the final plays."""
        return self.found.best is not None and self.order == self.found.best.order


def best_order(group: OrderedGroup, found: FoundOrder, how: OrderSearch, predict: Predict) -> BestOrder:
    """The answer of a search.

    Raises:
        UnmetLimitsError: if no order keeps the limits; it names the nearest one.
    """
    if found.best is None:
        raise UnmetLimitsError(_unmet(found))
    figure = found.aims.minimize
    # A further order is worth its plays only if it is no worse than one by one.
    most = found.one_by_one.figures[figure]
    others = [
        each
        for each in _best_by_steps(found)
        if each is not found.best and found.aims.allows(each.figures) and each.figures[figure] <= most
    ]
    tried: list[tuple[PlayedOrder, Prediction]] = []
    for each in (found.best, *others[: _CANDIDATES - 1]):
        tried.append((each, predict(each.order, group.plan(each.order))))
        if found.aims.allows(_figures(tried[-1][1])):
            break
    else:
        tried.append(tried[0])
    best, prediction = tried[-1]
    single = found.one_by_one.order
    before = None if found.is_estimated else prediction
    if not found.is_estimated and best.order != single:
        before = predict(single, group.plan(single))
    shown = [best.order] if found.is_estimated else list(dict.fromkeys((best.order, single)))
    slow = [predict(order, _slower(group, group.plan(order))) for order in shown]
    figures = _figures(prediction)
    exceeded = [limit.figure for limit in found.aims.broken(figures)]
    return BestOrder(
        found,
        best.order,
        group.plan(best.order),
        prediction,
        before,
        (slow[0], None if found.is_estimated else slow[-1]),
        figures,
        found.one_by_one.figures if before is None else _figures(before),
        tuple(exceeded),
        tuple(_alternatives(best, found, how)),
        tuple(_reasons(group, best, found)),
        group.plan(single).unit,
        found.is_estimated or not is_within_noise(best, found.one_by_one, figure, how.tolerance),
    )


def _best_by_steps(found: FoundOrder) -> list[PlayedOrder]:
    """The best order of each number of steps: orders with more steps are farther from the limits."""
    first: dict[int, PlayedOrder] = {}
    for each in found.orders:
        first.setdefault(len(each.order.batches), each)
    return list(first.values())


def _unmet(found: FoundOrder) -> str:
    figures = found.nearest.figures
    broken = [
        f"{each.figure} {_number(figures[each.figure])} (at most {_number(each.most)})"
        for each in found.aims.broken(figures)
    ]
    claim = "no order keeps the limits" if found.is_proved else "none of the played orders keeps the limits"
    has_others = len({each.order.conditions.settings for each in found.orders}) > 1
    others = "" if has_others else ", allow other settings (--may settings),"
    return (
        f"{claim}: the nearest one, {batches_words(found.nearest.order.batches)}, has {listed(broken)}. Raise "
        f"--at-most{others} or give more plays (--search-plays)"
    )


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _figures(prediction: Prediction) -> dict[str, float]:
    return medians([trial_of(play, keeps_owners=True).figures for play in prediction.plays])


def _slower(group: OrderedGroup, plan: Plan) -> Plan:
    start_ms = _SLOWER * (group.start_ms if plan.start_ms is None else plan.start_ms)
    low, high = _AROUND
    starts = Starts(round(low * start_ms), round(high * start_ms), GIVEN)
    if plan.starts is not None:
        starts = attrs.evolve(plan.starts, low_ms=_SLOWER * plan.starts.low_ms, high_ms=_SLOWER * plan.starts.high_ms)
    return attrs.evolve(plan, start_ms=start_ms, starts=starts)


def _alternatives(best: PlayedOrder, found: FoundOrder, how: OrderSearch) -> list[Alternative]:
    """The best order of each other number of steps and conditions, and equal ones."""
    shown: list[Alternative] = []
    seen: set[tuple[int, Conditions]] = set()
    for each in found.orders:
        key = (len(each.order.batches), each.order.conditions)
        if each is best or key in seen or len(shown) == _MOST:
            continue
        seen.add(key)
        broken = found.aims.broken(each.figures)
        if broken:
            limit = broken[0]
            remark = f"{FIGURES[limit.figure].words} {_number(each.figures[limit.figure])}, limit {_number(limit.most)}"
        else:
            remark = "within noise" if is_within_noise(each, best, found.aims.minimize, how.tolerance) else ""
        shown.append(Alternative(each.order, each.figures, remark))
    return shown


def is_within_noise(one: PlayedOrder, other: PlayedOrder, figure: str, tolerance: float) -> bool:
    """True if the paired differences have no common sign, or are too small to matter."""
    differences = [a.figures[figure] - b.figures[figure] for a, b in zip(one.trials, other.trials, strict=True)]
    small = abs(median(differences)) <= tolerance * other.figures[figure]
    return small or not (all(each > 0 for each in differences) or all(each < 0 for each in differences))


# --- reasons ------------------------------------------------------------------------------------------------


def _reasons(group: OrderedGroup, best: PlayedOrder, found: FoundOrder) -> list[str]:
    return [*group.reasons(best.order), *_of_fewer_steps(best, found)]


def _of_fewer_steps(best: PlayedOrder, found: FoundOrder) -> list[str]:
    """Why an order of fewer steps is not allowed."""
    fewer = [
        each
        for each in found.orders
        if len(each.order.batches) < len(best.order.batches) and found.aims.broken(each.figures)
    ]
    if not fewer:
        return []
    each = min(fewer, key=lambda each: (found.aims.excess(each.figures), -len(each.order.batches)))
    limit = max(found.aims.broken(each.figures), key=lambda limit: each.figures[limit.figure] / max(limit.most, 1e-9))
    figure = FIGURES[limit.figure]
    steps: Sequence[Sequence[str]] = each.order.batches
    return [
        f"In {plural(len(steps), 'step')} ({batches_words(steps)}) {figure.words}: "
        f"{_number(each.figures[limit.figure])}, and the limit is {_number(limit.most)}."
    ]
