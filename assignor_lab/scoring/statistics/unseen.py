"""Rare large costs that one comparison has not seen, and other ones of the same figure have.

A contender with a cost of 20 in 2 % of histories has none in some runs. Its interval is then narrow and wrong, and
nothing in its own figures shows it. The other contenders of the run are the evidence: if one pair differs largely in
few histories, another pair may do so, too. A pair that differs in many histories is no such evidence.

If all differences of a pair have one direction, an opposite one of ten times the largest is supposed to be possible.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs
import numpy as np
import numpy.typing as npt
from scipy import special

from assignor_lab.scoring.statistics.refusal import STANDS_OUT, usual_of

__all__ = ["RareDifference", "chance_of_unseen", "never_opposed", "rare_differences"]

#: Size of a supposed opposite difference, in largest seen ones.
_SUPPOSED = 10.0
#: Confidence of the lower limit of a rate.
_CONFIDENCE = 0.95


@attrs.frozen
class RareDifference:
    """The differences of two contenders in one direction.

    Args:
        size: Their mean distance from the usual difference.
        rate: Lower limit of their share of all histories.
    """

    size: float
    rate: float


def rare_differences(differences: npt.NDArray[np.float64]) -> tuple[RareDifference, ...]:
    """What stands out above and below the usual difference."""
    if not len(differences):
        return ()
    distances = differences - usual_of(differences)
    noticeable = STANDS_OUT * float(np.abs(distances).mean())
    sides = (side[side > noticeable] for side in (distances, -distances))
    return tuple(
        RareDifference(float(side.mean()), _least_rate(len(side), len(differences))) for side in sides if len(side)
    )


def never_opposed(differences: npt.NDArray[np.float64]) -> tuple[RareDifference, ...]:
    """An unseen difference to suppose if all are in one direction; else none."""
    if not len(differences) or (bool((differences > 0).any()) and bool((differences < 0).any())):
        return ()
    return (RareDifference(_SUPPOSED * float(np.abs(differences).max()), 0.0),)


def chance_of_unseen(lead: float, histories: int, found: Iterable[RareDifference]) -> float:
    """The largest probability that one of ``found`` outweighs ``lead``, and is absent from all histories."""
    # Its rate is at least the measured one, and large enough for the lead.
    rates = (max(each.rate, abs(lead) / each.size) for each in found if each.size)
    return max(((1.0 - rate) ** histories for rate in rates if rate < 1.0), default=0.0)


def _least_rate(number: int, histories: int) -> float:
    return float(special.betaincinv(number, histories - number + 1, 1 - _CONFIDENCE))
