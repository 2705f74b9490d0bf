"""The worst states of each assignor in each metric, and those in which it is furthest behind the baseline."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["MOST", "worst_rows"]

#: Worst cases of each assignor and metric, of either kind.
MOST = 3


def worst_rows(values: npt.NDArray[np.float64], direction: str, beyond: float | None = None) -> list[int]:
    """Positions of the ``MOST`` worst values, the worst first, equal ones in order.

    Args:
        values: Figures, NaN if missing.
        direction: The metric's; ``none`` has no worst values.
    """
    unknown = np.isnan(values)
    if direction == "none" or bool(unknown.all()):
        return []
    sign = 1.0 if direction == "lower" else -1.0
    badness = values * sign
    good = float(np.nanmin(badness)) if beyond is None else sign * beyond
    badness[unknown] = -np.inf
    found: list[int] = []
    for _ in range(min(MOST, len(badness))):
        worst = int(badness.argmax())
        if not badness[worst] > good:
            break
        found.append(worst)
        badness[worst] = -np.inf
    return found
