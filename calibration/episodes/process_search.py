"""Process ids with which a broker's assignor gives the recorded targets.

Process ids are random, and the broker breaks ties by their position in a hash table. A recording shows the order of two
processes only if that made a difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

import attrs

from assignment_api.java import spread, string_hash
from assignment_api.java.hash_table import grown_capacity
from assignment_api.streams import ProcessID
from assignor_lab.kafka.streams_group.tasks import NO_TASKS
from calibration.episodes.decided_again import DecidedAgain, RepeatedDecision
from calibration.episodes.instances import Incarnation
from calibration.episodes.made_up_processes import hashed_process_id

__all__ = ["FoundProcesses", "agreeing_processes"]

#: Table layouts kept after each target.
_MOST_KEPT = 64
#: Layouts examined for one target.
_MOST_TRIED = 4_096
#: Most distinct slots, and most incarnations in the search.
_MOST_SLOTS = 64
#: Invented ids have small numbers.
_FIRST_NUMBER = 1_000
#: The search stops after this many members, tasks and slots, with the best layouts so far.
_MOST_WORK = 5_000_000


@attrs.frozen
class FoundProcesses:
    """The result of the search.

    Args:
        processes: Process id of each incarnation that was a member.
        repeated: Recorded targets that they reproduce, task by task.
    """

    processes: Mapping[Incarnation, ProcessID]
    repeated: int


@attrs.frozen
class _Way:
    """Slots of incarnations, and the targets that differ then: their differing members, and their number."""

    slots: Mapping[Incarnation, int]
    wrong: int = 0
    wrong_targets: int = 0


def agreeing_processes(
    again: DecidedAgain,
    incarnation: Mapping[str, Incarnation],
    order: Sequence[Incarnation],
    shown: Mapping[Incarnation, ProcessID],
) -> FoundProcesses:
    """The process ids that reproduce most of the recording; of equal ones the first.

    Args:
        order: All incarnations, in the likeliest order.
        shown: Those with known process ids.
    """
    decisions = [each for each in again.decisions if incarnation.keys() >= each.target.keys()]
    members = max((len(each.members) for each in decisions), default=1)
    table = _Table(shown, {each: number for number, each in enumerate(order)}, _slots(members))
    ways = [_Way({})]
    if len(order) > _MOST_SLOTS:
        decisions = []
    work = 0
    for decision in decisions:
        for new in dict.fromkeys(incarnation[member] for member in decision.members):
            if new not in ways[0].slots:
                work += len(ways) * table.slots * (len(ways[0].slots) + 1)
                ways = ways if work < _MOST_WORK else ways[:1]
                ways = list(islice(_told_apart(table.with_one_more(ways, new), table.slots), _MOST_TRIED))
        work += len(ways) * (len(decision.members) + again.tasks)
        ways = ways if work < _MOST_WORK else ways[:1]
        ways = sorted((_judged(way, decision, again, incarnation, table) for way in ways), key=_badness)[:_MOST_KEPT]
    best = ways[0]
    made_up = {each: hashed_process_id(slot, _FIRST_NUMBER + table.number[each]) for each, slot in best.slots.items()}
    return FoundProcesses({**made_up, **shown}, len(decisions) - best.wrong_targets)


def _slots(members: int) -> int:
    return min(_MOST_SLOTS, max(2, grown_capacity(members, members)))


@attrs.frozen
class _Table:
    """The broker's hash table: known ids, numbers of all, and distinct slots."""

    shown: Mapping[Incarnation, ProcessID]
    number: Mapping[Incarnation, int]
    slots: int

    def with_one_more(self, ways: Iterable[_Way], new: Incarnation) -> Iterator[_Way]:
        """Every way with every possible slot of one more, the likeliest first."""
        if new in self.shown:
            places = [spread(string_hash(str(self.shown[new]))) % self.slots]
        else:
            places = [(self.number[new] + slot) % self.slots for slot in range(self.slots)]
        for way in ways:
            for place in places:
                yield attrs.evolve(way, slots={**way.slots, new: place})

    def process(self, way: _Way, each: Incarnation) -> str:
        known = self.shown.get(each)
        return str(
            hashed_process_id(way.slots[each], _FIRST_NUMBER + self.number[each], self.slots)
            if known is None
            else known
        )


def _badness(way: _Way) -> int:
    return way.wrong


def _told_apart(ways: Iterable[_Way], slots: int) -> Iterator[_Way]:
    """One of equivalent ways, with the same order and ties in a table of any size."""
    seen = set()
    for way in ways:
        taken = way.slots.values()
        size, looks = 2, []
        while size <= slots:
            ranks = sorted({slot % size for slot in taken})
            looks.append(tuple(ranks.index(slot % size) for slot in taken))
            size *= 2
        look = tuple(looks)
        if look not in seen:
            seen.add(look)
            yield way


def _judged(
    way: _Way, decision: RepeatedDecision, again: DecidedAgain, incarnation: Mapping[str, Incarnation], table: _Table
) -> _Way:
    given = again.ask(decision, {member: table.process(way, incarnation[member]) for member in decision.members})
    wrong = sum(given.get(member, NO_TASKS) != target for member, target in decision.target.items())
    return attrs.evolve(way, wrong=way.wrong + wrong, wrong_targets=way.wrong_targets + (wrong > 0))
