"""From a consumer group to a sticky answer: numbers inside, ids at the edge."""

from __future__ import annotations

from collections.abc import Callable

from assignment_api.consumer import ConsumerGroupState, ConsumerSubscription, PartitionAssignment
from assignment_api.java import iteration_order, string_hash
from assignment_api.streams.ids import utf16_key
from builtin_assignors._consumer_steps import NumberedGroup, numbered
from builtin_assignors._consumer_sticky_steps.alike import placed_alike
from builtin_assignors._consumer_sticky_steps.claims import Claims, claims_of
from builtin_assignors._consumer_sticky_steps.general import placed_in_general
from builtin_assignors._consumer_sticky_steps.racks import racks_of
from builtin_assignors._consumer_sticky_steps.reports import MemberReport

__all__ = ["sticky_answer"]


def sticky_answer(
    group: ConsumerGroupState, report_of: Callable[[ConsumerSubscription], MemberReport], *, is_cooperative: bool
) -> PartitionAssignment:
    """Kafka's answer; a cooperative one leaves out partitions that their owner must revoke first."""
    known = numbered(group)
    reports = [report_of(member) for member in group.members.values()]
    claims = claims_of(known, reports)
    racks = racks_of(known)
    id_keys = [utf16_key(member) for member in known.ids]
    hashes = [string_hash(known.ids[member]) for member in known.order]
    # The map of claims has the same keys as that of members, and is filled in its order.
    order = iteration_order(known.order, hashes, sort_key=id_keys.__getitem__)
    moving: dict[int, int]
    if claims.subscribe_alike:
        held, moving = placed_alike(claims, racks, order, id_keys, known.partitions)
    else:
        held = placed_in_general(known, claims, reports, racks, order, id_keys)
        moving = _changing_owner(known, claims, held) if is_cooperative else {}
    if is_cooperative:
        for partition, member in moving.items():
            held[member].remove(partition)
    return known.answer(_by_topic(claims, own) for own in held)


def _changing_owner(group: NumberedGroup, claims: Claims, held: list[list[int]]) -> dict[int, int]:
    """Partitions that are new to a member while another one gives them up, by the raw owned partitions."""
    added: dict[int, int] = {}
    revoked: set[int] = set()
    for member, (own, subscription) in enumerate(zip(held, group.group.members.values(), strict=True)):
        before = set(claims.numbers(group, MemberReport(tuple(subscription.owned.items()), None)))
        after = set(own)
        added.update((partition, member) for partition in own if partition not in before)
        revoked |= before - after
    return {partition: member for partition, member in added.items() if partition in revoked}


def _by_topic(claims: Claims, own: list[int]) -> list[tuple[int, list[int]]]:
    found: dict[int, list[int]] = {}
    for partition in own:
        found.setdefault(claims.topic_of[partition], []).append(claims.number_of[partition])
    return list(found.items())
