"""Process ids with which a broker's assignor gives the targets that were recorded.

Process ids are random, and the broker breaks ties by where they lie in a hash table. A recording that does not show
them shows which of two processes came first wherever that made a difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

import attrs

from assignment_api.java import spread, string_hash
from assignment_api.java.hash_table import grown_capacity
from assignment_api.streams import ProcessID
from assignor_lab.capture.episodes.decided_again import DecidedAgain, Decision
from assignor_lab.capture.episodes.instances import Incarnation
from assignor_lab.capture.episodes.made_up_processes import hashed_process_id
from assignor_lab.kafka.streams_group.tasks import NO_TASKS

__all__ = ["FoundProcesses", "agreeing_processes"]

#: Of how many ways to lie in the table the search goes on, after each target.
_MOST_KEPT = 64
#: How many it looks at for one target.
_MOST_TRIED = 4_096
#: Slots that are told apart at most, and incarnations that are looked for.
_MOST_SLOTS = 64
#: Numbers of the ids that are found: those that are made up in order have small ones.
_FIRST_NUMBER = 1_000
#: The search ends when it has looked at so many members, tasks and slots, and goes on with the best so far.
_MOST_WORK = 5_000_000


@attrs.frozen
class FoundProcesses:
    """What was found.

    Args:
        processes: Process id of each incarnation that was a member.
        repeated: How many recorded targets are given with these, task by task.
    """

    processes: Mapping[Incarnation, ProcessID]
    repeated: int


@attrs.frozen
class _Way:
    """Slots of incarnations, and the targets that are not given then: of how many members', summed; and how many."""

    slots: Mapping[Incarnation, int]
    wrong: int = 0
    wrong_targets: int = 0


def agreeing_processes(
    again: DecidedAgain,
    incarnation: Mapping[str, Incarnation],
    order: Sequence[Incarnation],
    shown: Mapping[Incarnation, ProcessID],
) -> FoundProcesses:
    """The process ids with which most is given as recorded; of equal ones those that come first.

    Args:
        again: The recorded targets.
        incarnation: Member to the incarnation that it is of.
        order: All incarnations, in the order that is likeliest.
        shown: Those whose process ids are known.

    Raises:
        LeaderFailedError: if the assignor has no answer.
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
    """The broker's hash table of processes: whose ids are known, numbers of all, and how many slots are told apart."""

    shown: Mapping[Incarnation, ProcessID]
    number: Mapping[Incarnation, int]
    slots: int

    def with_one_more(self, ways: Iterable[_Way], new: Incarnation) -> Iterator[_Way]:
        """Every way with every slot that one more can have, the likeliest first."""
        if new in self.shown:
            places = [spread(string_hash(str(self.shown[new]))) % self.slots]
        else:
            places = [(self.number[new] + slot) % self.slots for slot in range(self.slots)]
        for way in ways:
            for place in places:
                yield attrs.evolve(way, slots={**way.slots, new: place})

    def process(self, way: _Way, each: Incarnation) -> str:
        """The process id of one where it has the slot that it has in ``way``."""
        known = self.shown.get(each)
        return str(
            hashed_process_id(way.slots[each], _FIRST_NUMBER + self.number[each], self.slots)
            if known is None
            else known
        )


def _badness(way: _Way) -> int:
    return way.wrong


def _told_apart(ways: Iterable[_Way], slots: int) -> Iterator[_Way]:
    """One of those that are alike: that have the same order, and the same ties, in a table of any size."""
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
    way: _Way, decision: Decision, again: DecidedAgain, incarnation: Mapping[str, Incarnation], table: _Table
) -> _Way:
    given = again.ask(decision, {member: table.process(way, incarnation[member]) for member in decision.members})
    wrong = sum(given.get(member, NO_TASKS) != target for member, target in decision.target.items())
    return attrs.evolve(way, wrong=way.wrong + wrong, wrong_targets=way.wrong_targets + (wrong > 0))
