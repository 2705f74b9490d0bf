"""Behaviours of Kafka that an answer to a consumer group shows, as remarks (docs, "Known behaviours of Kafka")."""

from __future__ import annotations

from collections.abc import Iterator

from assignor_lab.documents.wording import plural
from assignor_lab.groups.consumer.placement import PartitionPlacement, placement_of
from assignor_lab.groups.consumer.rounds import AppliedAssignment

__all__ = ["remarks_of"]

_STICKY = ("consumer_sticky", "consumer_cooperative_sticky")


def remarks_of(answer: AppliedAssignment) -> list[str]:
    """Sentences on an answer; none for a recorded one."""
    return [] if answer.state is None else list(_remarks(answer, placement_of(answer.state, answer)))


def _remarks(answer: AppliedAssignment, placement: PartitionPlacement) -> Iterator[str]:
    state = placement.state
    if placement.not_subscribed:
        yield (
            f"{plural(placement.not_subscribed, 'partition')} with a member that does not subscribe the topic: "
            "it joins again at once"
        )
    gone = sum(
        not 0 <= number < (state.group.topics[key].partitions or 0)
        for held in answer.assignment.members.values()
        for key, numbers in held.items()
        if key in state.group.topics
        for number in numbers
    )
    if gone:
        yield f"{plural(gone, 'partition')} that no longer exist stay assigned; others may have two owners or none"
    shared = [] if state.is_shared else [each for each in placement.owners if len(each) > 1]
    if shared:
        yield f"{plural(len(shared), 'partition')} with two owners: records are processed twice"
    racks = state.racks
    if answer.assignor in _STICKY and racks is not None and any(state.rack):
        far = sum(
            state.rack[member] is not None and state.rack[member] not in racks[partition]
            for partition, owners in enumerate(placement.owners)
            for member in owners
        )
        if far:
            yield (
                f"{plural(far, 'partition')} with a member in another rack: the sticky assignors take them away in "
                "every rebalance"
            )
    subscribed = frozenset[int]().union(*state.subscribers)
    silent = [name for number, name in enumerate(state.members) if number not in subscribed]
    if silent:
        yield f"{plural(len(silent), 'member')} without a subscribed topic that exists: {', '.join(silent)[:120]}"
