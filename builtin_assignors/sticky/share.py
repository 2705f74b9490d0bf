"""Active tasks that each process may keep or take over from its standbys: what the releases' rules have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs

from assignment_api.errors import NoCapacityError

__all__ = ["NO_THREADS", "ShareRule", "UndividedShares", "java_divided"]

NO_THREADS = "/ by zero: there are no clients, or none of them has a thread"


@attrs.frozen
class ShareRule:
    """The rule of some releases.

    Args:
        shares: Number of tasks and threads of each client to the share of each client.
        words: The share in words.
    """

    shares: Callable[[int, Sequence[int]], Sequence[int]]
    words: str


class UndividedShares(Sequence[int]):
    """Shares without any thread: Kafka fails when it needs one."""

    def __init__(self, clients: int) -> None:
        self._clients = clients

    def __len__(self) -> int:
        return self._clients

    def __getitem__(self, client: Any) -> Any:
        raise NoCapacityError(NO_THREADS)


def java_divided(number: int, divisor: int) -> int:
    """A division of Java's ints, which rounds towards zero."""
    quotient = abs(number) // abs(divisor)
    return quotient if (number < 0) == (divisor < 0) else -quotient
