"""Process ids for a recording without them: those of a classic group by order, those of a broker's table by slot."""

from __future__ import annotations

from functools import lru_cache
from uuid import UUID

from assignment_api.java import spread, string_hash
from assignment_api.streams import ProcessID

__all__ = ["hashed_process_id", "ordered_process_id"]


def ordered_process_id(place: int, number: int) -> ProcessID:
    """``number`` distinguishes ids of one place in their sorted list."""
    return ProcessID(UUID(f"{place + 1:08x}-0000-4000-8000-{number:012x}"))


#: Upper bound of the slots of brokers' hash tables of processes.
_SLOTS = 4096


@lru_cache(maxsize=4096)
def hashed_process_id(place: int, number: int, slots: int = _SLOTS) -> ProcessID:
    """A process id at ``place`` of a broker's hash table of any size up to ``slots``.

    Args:
        place: From 0; past the table's size it counts from 0 again.
        number: Distinguishes ids of one place.
        slots: Size of the largest table, a power of two.
    """
    for salt in range(number * _MOST_TRIES, (number + 1) * _MOST_TRIES):
        process = ordered_process_id(place, salt)
        if spread(string_hash(str(process))) % slots == place % slots:
            return process
    return ordered_process_id(place, number)


#: Tried salts; one in 4,096 fits.
_MOST_TRIES = 200_000
