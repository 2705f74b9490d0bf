"""The generation in a description of a group comes from its members' subscriptions."""

from __future__ import annotations

import attrs
import pytest

from assignor_lab.capture.recorded.broker_answers import DescribedGroup, group_answers
from tests.capture.coordinator_records import stable_groups


def described(generations: list[int | None], instance_id: str | None) -> DescribedGroup:
    (answer,) = group_answers([stable_groups()[-1]])
    first = answer.members[0]
    assert first.subscription is not None
    members = [
        attrs.evolve(
            first,
            member_id=f"m{number}",
            instance_id=instance_id and f"{instance_id}-{number}",
            subscription=attrs.evolve(first.subscription, generation=each),
        )
        for number, each in enumerate(generations)
    ]
    return DescribedGroup("app", "Stable", 0, tuple(members))


@pytest.mark.parametrize(
    ("generations", "instance_id", "expected"),
    [
        ([10, 10], None, 11),
        ([None, 10], "b", 11),
        ([None, None], None, 1),
        ([None, None], "b", None),
    ],
)
def test_generation_is_unknown_after_restarts_of_all_static_members(
    generations: list[int | None], instance_id: str | None, expected: int | None
) -> None:
    """A restarted static member joins the same generation again, and reports none."""
    answer = described(generations, instance_id)

    assert answer.generation == expected
    source = {"group": "app"} | ({} if expected is None else {"generation": expected})
    assert answer.named(7) == ("app-at-7" if expected is None else f"app-generation-{expected}", source)
    assert expected is not None or answer.named(7, 9) == ("app-generation-9", {"group": "app", "generation": 9})
