"""The order of a broker's table of members, compared with Kafka 4.3.1's own ``TimelineHashMap``."""

from __future__ import annotations

import pytest

from assignor_lab.kafka.streams_group.group import StreamsGroup, StreamsGroupMember
from assignor_lab.kafka.streams_group.member_table import MemberTable
from assignor_lab.kafka.streams_group.releases import KAFKA_4_3
from assignor_lab.kafka.streams_group.target_schedule import TargetSchedule
from assignor_lab.kafka.streams_group.tasks import NO_TASKS, TasksByRole


@pytest.mark.parametrize(
    ("steps", "order"),
    [
        (
            "+m12 +m6 +m0 +m5 +m1 +m11 -m11 +m5 -m6 +m12 +m1 +m3 -m2 -m9 +m12 +m8 +m4 +m8 +m3 -m5 +m13 +m0 -m12 -m8 "
            "+m2 +m3",
            "m0 m2 m4 m1 m13 m3",
        ),
        (
            "+m3 +m3 -m13 -m6 +m4 +m13 +m11 -m3 -m2 -m1 -m0 +m12 +m9 +m8 +m3 +m0 +m10 +m2 +m12 +m4 +m7 +m3 +m2 -m13 "
            "+m9 +m0",
            "m0 m12 m2 m7 m4 m11 m9 m3 m10 m8",
        ),
        (
            "+m3 +m6 +m10 -m7 +m1 -m12 +m7 +m2 +m0 +m9 +m10 +m10 -m13 -m4 +m9 +m1 -m0 +m7 +m4 +m12 +m5 -m13 -m4 +m11 "
            "+m10 -m7",
            "m5 m12 m2 m11 m9 m1 m6 m3 m10",
        ),
    ],
)
def test_members_come_in_the_order_of_kafkas_table(steps: str, order: str) -> None:
    table = MemberTable()
    for step in steps.split():
        (table.add if step.startswith("+") else table.remove)(step[1:])
    assert list(table) == order.split()


def test_a_table_can_grow_when_somebody_is_written_down_again() -> None:
    """As Kafka's table, which first makes room and then looks for the key."""
    ids = [f"m{number}" for number in range(5)]
    once, twice = MemberTable(), MemberTable()
    for each in ids:
        once.add(each)
        twice.add(each)
    twice.add(ids[0])
    twice.add(ids[0])
    more = MemberTable()
    for each in (*ids, "more"):
        more.add(each)
    more.remove("more")
    assert list(twice) == list(more) != list(once)


def test_an_assignor_is_shown_members_in_that_order_and_whoever_joins_last() -> None:
    shown: list[list[str]] = []

    def assign(members: tuple[StreamsGroupMember, ...]) -> dict[str, TasksByRole]:
        shown.append([each.id for each in members])
        return {each.id: NO_TASKS for each in members}

    group = StreamsGroup(TargetSchedule(0, 0), KAFKA_4_3, assign, has_topics=True)
    for now, number in enumerate((3, 4, 11, 12, 9)):
        group.join(now, f"m{number}", "process")
    group.remove("m3")
    group.join(10, "m0", "process")
    table = MemberTable()
    for number in (3, 4, 11, 12, 9):
        table.add(f"m{number}")
    table.remove("m3")
    assert shown[-1] == [*table, "m0"]
    assert shown[-1] != ["m4", "m11", "m12", "m9", "m0"]
