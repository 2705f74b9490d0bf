"""Answers of a client library's strategy to many small groups beside Java's, and the smallest group of each finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from assignment_api.consumer import ConsumerPartitionAssignor, PartitionAssignment
from assignment_api.reducing import reduced
from assignor_lab.clients.leader import ClientLibrary, ClientLibraryError, ClientStrategyAssignor, Reporting
from assignor_lab.clients.promises import KEEPS_OWNERS, READS_JAVA, STATIC, STICKY, Placed, broken_promises
from assignor_lab.clients.sketches import GroupSketch, smaller_sketches

__all__ = ["Answer", "Finding", "StrategySurvey", "surveyed"]

#: Member to its partitions by topic.
Answer = Mapping[str, Mapping[str, tuple[int, ...]]]

#: Strategies whose answers depend on instance ids in place of member ids.
_STATIC = ("range", "roundrobin")
#: Owners of Java's members are lost in this many times as many groups: their reports are not read.
_MANY = 2
#: Smaller groups tried for a finding.
_MOST_SMALLER = 2_000


@attrs.frozen
class Finding:
    """A broken promise.

    Args:
        groups: Number of groups that show it.
        smallest: A group that shows it, as small as steps of one part lead to.
        reporting: Of the members in it.
        answer: The library's answer to it, by member; ``None``: an exception.
        failure: The exception, or empty.
        java: Java's answer.
        restarted: The library's answer after a restart of the static members, under their former ids; ``None``: the
            promise is another one.
    """

    promise: str
    groups: int
    smallest: GroupSketch
    reporting: Reporting
    answer: Answer | None
    failure: str
    java: Answer
    restarted: Answer | None


@attrs.frozen
class StrategySurvey:
    """A strategy of a library over all groups.

    Args:
        differing: Groups with another answer than Java's, or none.
        unstable: Groups with two answers to the same input.
    """

    library: str
    version: str
    strategy: str
    groups: int
    differing: int
    unstable: int
    findings: tuple[Finding, ...]


@attrs.frozen
class _Answers:
    own: PartitionAssignment | None
    failure: str
    java: PartitionAssignment
    broken: frozenset[str]
    is_unstable: bool = False


def surveyed(
    library: ClientLibrary, strategy: str, java: ConsumerPartitionAssignor, sketches: Sequence[GroupSketch]
) -> StrategySurvey:
    """Calls the strategy and its counterpart for every group.

    The members report as those of the library do. If Java's members report otherwise, the same groups are led once more
    with those; only lost owners count then.

    Args:
        java: Java's strategy of that name.
    """
    trial = _Trial(library, strategy, java, library.reporting)
    findings, differing, unstable = trial.findings(sketches)
    if strategy in STICKY and library.reporting != Reporting():
        foreign, _, _ = _Trial(library, strategy, java, Reporting()).findings(sketches)
        own = sum(finding.groups for finding in findings if finding.promise == KEEPS_OWNERS)
        findings += [
            attrs.evolve(finding, promise=READS_JAVA)
            for finding in foreign
            if finding.promise == KEEPS_OWNERS and finding.groups > _MANY * own
        ]
    return StrategySurvey(library.name, library.version, strategy, len(sketches), differing, unstable, tuple(findings))


class _Trial:
    """A strategy of a library and Java's, for groups with members of one kind."""

    def __init__(
        self, library: ClientLibrary, strategy: str, java: ConsumerPartitionAssignor, reporting: Reporting
    ) -> None:
        self._own = ClientStrategyAssignor(library.name, library.strategies[strategy])
        self._java = java
        self._strategy = strategy
        self._reporting = reporting
        # Java's strategy reads user data only without a prefix.
        self._java_reporting = attrs.evolve(reporting, user_data_prefix=b"")

    def findings(self, sketches: Sequence[GroupSketch]) -> tuple[list[Finding], int, int]:
        """The broken promises, and the numbers of differing and of unstable groups."""
        differing = unstable = 0
        counts: dict[str, int] = {}
        firsts: dict[str, GroupSketch] = {}
        for sketch in sketches:
            answers = self._answers(sketch)
            differing += answers.own is None or _held(answers.own) != _held(answers.java)
            unstable += answers.is_unstable
            for promise in sorted(answers.broken):
                counts[promise] = counts.get(promise, 0) + 1
                firsts.setdefault(promise, sketch)
        found = []
        for promise, first in firsts.items():
            smallest = self._smallest(first, promise)
            answers = self._answers(smallest)
            shown = None if answers.own is None else answers.own.members
            found.append(
                Finding(
                    promise,
                    counts[promise],
                    smallest,
                    self._reporting,
                    shown,
                    answers.failure,
                    answers.java.members,
                    self._restarted_members(smallest) if promise == STATIC else None,
                )
            )
        return found, differing, unstable

    def _answers(self, sketch: GroupSketch) -> _Answers:
        group = sketch.group(self._strategy, self._reporting)
        expected = self._java.assign(sketch.group(self._strategy, self._java_reporting))
        try:
            first, second = (self._own.assign(group) for _ in range(2))
            restarted = self._restarted(sketch)
        except ClientLibraryError as error:
            broken = broken_promises(self._strategy, group, None, None, expected, {})
            return _Answers(None, str(error), expected, frozenset(broken))
        former = _former(sketch, has_generation=self._strategy == "sticky" or self._reporting.has_generation)
        # Some strategies follow the random order of a map: a promise counts as broken if both answers break it.
        both = [
            set(broken_promises(self._strategy, group, answer, restarted, expected, former))
            for answer in (first, second)
        ]
        return _Answers(
            first, "", expected, frozenset.intersection(*map(frozenset, both)), _held(first) != _held(second)
        )

    def _restarted(self, sketch: GroupSketch) -> PartitionAssignment | None:
        """The answer after a restart of all static members, under the former ids."""
        if self._strategy not in _STATIC or all(member.instance_id is None for member in sketch.members):
            return None
        # The new ids sort the other way round.
        renamed = {
            member.id: member.id if member.instance_id is None else f"r{len(sketch.members) - place:03}"
            for place, member in enumerate(sorted(sketch.members, key=lambda member: member.id))
        }
        members = tuple([attrs.evolve(member, id=renamed[member.id]) for member in sketch.members])
        answer = self._own.assign(attrs.evolve(sketch, members=members).group(self._strategy, self._reporting))
        return PartitionAssignment({member: answer.members.get(new, {}) for member, new in renamed.items()})

    def _restarted_members(self, sketch: GroupSketch) -> Answer | None:
        restarted = self._restarted(sketch)
        return None if restarted is None else restarted.members

    def _smallest(self, sketch: GroupSketch, promise: str) -> GroupSketch:
        return reduced(
            sketch,
            lambda each: _valid(smaller_sketches(each)),
            lambda each: promise in self._answers(each).broken,
            _MOST_SMALLER,
        )


def _former(sketch: GroupSketch, *, has_generation: bool) -> Placed:
    """Former owners that still may keep their partitions; of two claims the later generation counts."""
    claims: dict[tuple[str, int], list[tuple[int, str]]] = {}
    for member in sketch.members:
        for topic, numbers in member.held.items():
            for number in numbers if topic in member.topics else ():
                if number < sketch.topics.get(topic, 0):
                    claims.setdefault((topic, number), []).append(
                        (member.generation if has_generation else 0, member.id)
                    )
    former: dict[str, set[tuple[str, int]]] = {}
    for partition, listed in claims.items():
        listed.sort(reverse=True)
        if len(listed) == 1 or listed[0][0] > listed[1][0]:
            former.setdefault(listed[0][1], set()).add(partition)
    return {member: frozenset(held) for member, held in former.items()}


def _held(answer: PartitionAssignment) -> dict[str, dict[str, frozenset[int]]]:
    return {
        member: {topic: frozenset(numbers) for topic, numbers in held.items() if numbers}
        for member, held in answer.members.items()
    }


def _valid(sketches: Iterable[GroupSketch]) -> Iterator[GroupSketch]:
    return (sketch for sketch in sketches if sketch.members and all(member.topics for member in sketch.members))
