from __future__ import annotations

import pytest

from assignment_api.plugins import discover
from assignor_lab.scenarios import Place, scenario_from_document
from benchmarks.plain_groups import Size, points, state_document

SMALL = Size(members=10, topics=4, partitions=20)


@pytest.mark.parametrize("place", range(len(list(points()))))
def test_the_state_of_each_point_is_a_scenario(place: int) -> None:
    point = list(points())[place]
    document = state_document(point, SMALL, discover())
    assert scenario_from_document(document, Place("state", 1)).id == f"{point.assignor}-{point.state}"
    holders = [
        member
        for member in document["members"]
        if member.get("assigned") or member.get("owned") or member.get("user_data")
    ]
    # Nine of ten members had everything.
    assert len(holders) == (9 if "warm" in point.state else 0)
