"""Populations of differences with a known mean, as models for the histories of a run."""

from __future__ import annotations

from collections.abc import Callable
from math import exp

import attrs
import numpy as np
import numpy.typing as npt

__all__ = ["LIMITS", "POPULATIONS", "Population"]

Sample = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], npt.NDArray[np.generic]]


@attrs.frozen
class Population:
    """A source of differences."""

    name: str
    mean: float
    draw: Draw


def _lognormal(sigma: float) -> Population:
    return Population(
        f"lognormal, sigma {sigma:g}", exp(sigma**2 / 2), lambda chance, number: chance.lognormal(0.0, sigma, number)
    )


def _mostly_zero(zeros: float, other: Population) -> Population:
    def draw(chance: np.random.Generator, number: int) -> Sample:
        return np.where(chance.random(number) < zeros, 0.0, other.draw(chance, number))

    return Population(f"{zeros:.0%} zeros, else {other.name}", (1 - zeros) * other.mean, draw)


def _values(name: str, values: list[float], weights: list[float]) -> Population:
    mean = sum(value * weight for value, weight in zip(values, weights, strict=True))
    return Population(name, mean, lambda chance, number: chance.choice(values, p=weights, size=number))


def _rare(share: float) -> Population:
    return _values(f"{share:.0%} ones, else 0", [0.0, 1.0], [1 - share, share])


def _outliers(chance: np.random.Generator, number: int) -> Sample:
    return np.where(chance.random(number) < 0.02, chance.normal(10.0, 1.0, number), chance.normal(0.0, 1.0, number))


def _counts_less_counts(chance: np.random.Generator, number: int) -> npt.NDArray[np.int64]:
    return chance.poisson(1.2, number) - chance.poisson(0.8, number)


def _long_counts() -> Population:
    counts = np.arange(100.0)
    weights = (counts + 1) ** -2.5
    return _values("counts to 99, chance (1 + count) to the -2.5", counts.tolist(), (weights / weights.sum()).tolist())


_NORMAL = Population("normal", 0.4, lambda chance, number: chance.normal(0.4, 1.0, number))
_EXPONENTIAL = Population("exponential", 1.0, lambda chance, number: chance.exponential(1.0, number))
_WELL_OFF_ZERO = Population("normal (2, 1)", 2.0, lambda chance, number: chance.normal(2.0, 1.0, number))
_BOTH_WAYS = Population("normal (0, 1)", 0.0, lambda chance, number: chance.normal(0.0, 1.0, number))

#: Every size that gives intervals must reach its coverage here.
POPULATIONS: tuple[Population, ...] = (
    _NORMAL,
    Population("uniform", 0.5, lambda chance, number: chance.random(number)),
    _EXPONENTIAL,
    Population("gamma, shape 0.5", 0.5, lambda chance, number: chance.gamma(0.5, 1.0, number)),
    Population("Student's t, 3 degrees", 0.0, lambda chance, number: chance.standard_t(3, number)),
    _lognormal(0.5),
    _lognormal(1.0),
    _lognormal(2.0),
    *(_mostly_zero(zeros, _EXPONENTIAL) for zeros in (0.5, 0.8, 0.9, 0.97)),
    *(_mostly_zero(zeros, _WELL_OFF_ZERO) for zeros in (0.5, 0.9)),
    *(_mostly_zero(zeros, _BOTH_WAYS) for zeros in (0.8, 0.97)),
    _mostly_zero(0.9, _lognormal(1.0)),
    *(_rare(share) for share in (0.01, 0.03, 0.1, 0.3)),
    Population("counts, mean 2.7, variance 27", 2.7, lambda chance, number: chance.negative_binomial(0.3, 0.1, number)),
    Population("counts less counts", 0.4, _counts_less_counts),
    _values("80% 0, 15% 1, 5% 4", [0.0, 1.0, 4.0], [0.8, 0.15, 0.05]),
    _values("80% 0, 15% -1, 5% 4", [0.0, -1.0, 4.0], [0.8, 0.15, 0.05]),
    _values("always 2", [2.0], [1.0]),
)

#: Tails between accepted and refused ones, and features invisible to a small run.
LIMITS: tuple[Population, ...] = (
    _lognormal(1.25),
    _lognormal(1.5),
    Population("Weibull, shape 0.5", 2.0, lambda chance, number: chance.weibull(0.5, number)),
    Population("Pareto, exponent 2.5", 1 / 1.5, lambda chance, number: chance.pareto(2.5, number)),
    _long_counts(),
    Population("2% ten deviations off, else normal", 0.2, _outliers),
)
