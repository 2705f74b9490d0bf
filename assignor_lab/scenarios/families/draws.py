"""Draws from a seed that are the same on every machine, Python version and hash seed.

Only ``random()`` of Python's generator is used, whose sequence Python guarantees; the rest is integer arithmetic. Each
purpose has its own sequence, so a further draw for one purpose changes no other.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from assignment_api.plugins.entries import History

__all__ = ["DrawnFamily", "Draws"]

T = TypeVar("T")

_SEPARATOR = "\x1f"

#: Bits of a UUID for variant and version, and their values in a random UUID.
_FIXED_BITS = 0xF000 << 64 | 0xC000 << 48
_VERSION_4 = 0x4000 << 64 | 0x8000 << 48


class Draws:
    """A sequence of draws.

    Args:
        names: Purpose of the draws, e.g. a family, a seed and a purpose; equal names give equal sequences.
    """

    def __init__(self, *names: str | int) -> None:
        digest = hashlib.sha256(_SEPARATOR.join(str(name) for name in names).encode()).digest()
        self._random = random.Random(int.from_bytes(digest, "big"))  # noqa: S311 - states are drawn, not secrets

    def below(self, limit: int) -> int:
        """A whole number from 0 to ``limit`` - 1; ``limit`` is at most 2**32."""
        number = int(self._random.random() * limit)
        return number if number < limit else limit - 1

    def each_below(self, limit: int, count: int) -> list[int]:
        """The next ``count`` of :meth:`below`."""
        random = self._random.random
        return [number if (number := int(random() * limit)) < limit else limit - 1 for _ in range(count)]

    def between(self, lowest: int, highest: int) -> int:
        """A whole number from ``lowest`` to ``highest``, both possible."""
        return lowest + self.below(highest - lowest + 1)

    def percent(self, chance: int) -> bool:
        """True in ``chance`` of 100 cases."""
        return self.below(100) < chance

    def spread(self, lowest: int, highest: int) -> int:
        """A whole number between powers of two: each doubling from ``lowest`` up to ``highest`` is equally likely."""
        doublings = max((highest // lowest).bit_length() - 1, 0)
        base = lowest << self.below(doublings + 1)
        return min(base + self.below(base), highest)

    def pick(self, choices: Sequence[T]) -> T:
        """One of ``choices``, all equally likely."""
        return choices[self.below(len(choices))]

    def weighted(self, choices: Sequence[tuple[int, T]]) -> T:
        """The second part of one of ``choices``; the first parts are weights."""
        rest = self.below(sum(weight for weight, _ in choices))
        for weight, choice in choices:
            if rest < weight:
                return choice
            rest -= weight
        raise AssertionError("unreachable: the rest is smaller than the sum of the weights")

    def sample(self, choices: Sequence[T], size: int) -> list[T]:
        """``size`` different ones of ``choices``, in random order."""
        pool = list(choices)
        for index in range(min(size, len(pool))):
            other = index + self.below(len(pool) - index)
            pool[index], pool[other] = pool[other], pool[index]
        return pool[:size]

    def uuid(self) -> str:
        number = 0
        for _ in range(4):
            number = number << 32 | self.below(1 << 32)
        text = f"{number & ~_FIXED_BITS | _VERSION_4:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


class DrawnFamily(NamedTuple):
    """History of each seed, and a seed's relative work (:class:`~assignment_api.plugins.ScenarioFamily`)."""

    history: Callable[[int], History[Any]]
    size: Callable[[int], float] | None = None
