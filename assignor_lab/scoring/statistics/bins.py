"""Bins of a histogram: few, of one width, at whole numbers if the figures are whole."""

from __future__ import annotations

from math import ceil

import attrs
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["MOST_BINS", "Bins", "bins_of"]

#: Bins of a histogram.
MOST_BINS = 20
#: The bins reach from the least figure to this quantile; the last bin also has all larger figures.
_REACH = 0.99


@attrs.frozen
class Bins:
    """Bins of one width; the last one also has all larger figures.

    Args:
        whole: All figures are whole numbers, so a bin of width 1 has one value.
    """

    start: float
    width: float
    number: int
    whole: bool

    def __len__(self) -> int:
        return self.number

    def positions(self, values: pa.ChunkedArray) -> pa.ChunkedArray:
        place = pc.floor(pc.divide(pc.subtract(values, self.start), self.width))
        return pc.cast(pc.min_element_wise(pc.max_element_wise(place, 0.0), float(self.number - 1)), pa.int32())


def bins_of(values: pa.ChunkedArray) -> Bins:
    """Bins for ``values`` without nulls; a single bin if there are none."""
    if not len(values):
        return Bins(0.0, 1.0, 1, whole=True)
    low, high = pc.min(values).as_py(), pc.max(values).as_py()
    reach = min(max(pc.quantile(values, _REACH)[0].as_py(), low), high)
    if pc.all(pc.equal(values, pc.floor(values))).as_py() and high < 2**53:
        width = ceil((reach - low + 1) / MOST_BINS)
        return Bins(low, float(width), max(ceil((min(reach, high) - low + 1) / width), 1), whole=True)
    if reach == low:
        reach = high if high > low else low + 1.0
    return Bins(low, (reach - low) / MOST_BINS, MOST_BINS, whole=False)
