"""Measures how often equal contenders get an order: `python -m benchmarks.coverage.orders`.

Each run has six contenders with equal means in four figures, and a number of histories. An order, or a verdict *better*
or *worse* on a contender beside the baseline, is wrong in every such run.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from assignment_api.plugins import MetricPlugin
from assignor_lab.groups.metrics.headline import headline_of
from assignor_lab.scoring.summaries.headline import headline_of as headline_of_states

__all__ = ["RunStates", "rates"]

CONTENDERS = tuple("abcdef")
NAMES = ("unavailable_s", "restored_b", "cross_zone_d", "load_share")
_FIGURES = headline_of(unavailable=NAMES[:1], restored=NAMES[1:2], cross_zone=NAMES[2:3], load=NAMES[3:])
_METRICS: Mapping[str, MetricPlugin] = {
    name: MetricPlugin(name, "s", "lower", "A drawn figure.", lambda *_: None) for name in NAMES
}

Numbers = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Numbers]

#: Figures of one contender, all with the same mean in each run.
POPULATIONS: Mapping[str, Draw] = {
    "normal": lambda chance, number: chance.normal(0.0, 1.0, number),
    "exponential": lambda chance, number: chance.exponential(1.0, number),
    "1 in 40 % of histories": lambda chance, number: np.where(chance.random(number) < 0.4, 1.0, 0.0),
    "20 in 2 % of histories": lambda chance, number: np.where(chance.random(number) < 0.02, 20.0, 0.0),
    "mixed: 1 in 40 %, or 20 in 2 %": lambda chance, number: (
        np.where(chance.random(number) < 0.02, 20.0, 0.0)
        if chance.random() < 0.5
        else np.where(chance.random(number) < 0.4, 1.0, 0.0)
    ),
}


class RunStates:
    """The figures of one run, as :class:`~assignor_lab.scoring.summaries.headline.ComparableStates`."""

    def __init__(self, figures: Mapping[str, Mapping[str, Numbers]]) -> None:
        self._figures = figures
        first = next(iter(figures.values()))
        self.compared = tuple(first)
        self.failed_in_all: tuple[str, ...] = ()
        self.number = self.in_all = len(next(iter(first.values())))
        self.units = np.arange(self.number, dtype=np.int64)

    def column(self, metric: str) -> dict[str, Numbers]:
        return dict(self._figures[metric])

    def texts(self) -> dict[str, str | None]:
        return {}

    def failed(self, metrics: Sequence[str]) -> dict[str, Numbers]:  # noqa: ARG002 - none fails
        return {name: np.zeros(self.number) for name in self.compared}


def rates(draw: Draw, histories: int, runs: int, seed: int) -> tuple[float, float]:
    """Share of runs with an order, and share of runs with a verdict on some contender and figure."""
    chance = np.random.default_rng([seed, histories])
    ordered = judged = 0
    for _ in range(runs):
        states = RunStates({name: {one: draw(chance, histories) for one in CONTENDERS} for name in NAMES})
        found = headline_of_states(states, _FIGURES, _METRICS)
        ordered += len(set(found.places.values())) > 1
        judged += any(value.tells in ("better", "worse") for each in found.found.figures for value in each.of)
    return ordered / runs, judged / runs


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage.orders", description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="runs of each row (%(default)s)")
    parser.add_argument("--seed", type=int, default=12, help="of all draws (%(default)s)")
    parser.add_argument("--most", type=float, default=0.05, help="largest share of a row (%(default)s)")
    options = parser.parse_args()
    worst = 0.0
    print(
        "| figures of six equal contenders | histories | runs with an order | runs with a verdict |\n|---|---|---|---|"
    )
    for name, draw in POPULATIONS.items():
        for histories in (60, 100, 200, 400):
            order, verdict = rates(draw, histories, options.runs, options.seed)
            print(f"| {name} | {histories} | {order:.1%} | {verdict:.1%} |", flush=True)
            worst = max(worst, order, verdict)
    print(f"\nAt most {worst:.1%} of the runs of a row; {options.most:.0%} are allowed.")
    return 0 if worst <= options.most else 1


if __name__ == "__main__":
    raise SystemExit(main())
