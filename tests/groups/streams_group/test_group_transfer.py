from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignment_api.group import (
    AssignmentConfigs,
    GroupAssignment,
    GroupMember,
    GroupSpec,
    MemberAssignment,
    MemberAssignmentState,
    MemberMetadata,
    Subtopology,
    TaskId,
    TopologyDescriber,
)
from assignor_lab.groups.streams_group.transfer import (
    GroupReceiver,
    group_answer_document,
    group_answer_of,
    packed_group,
)
from assignor_lab.runtime.isolation.errors import AnswerFormatError

TOPOLOGY = TopologyDescriber([Subtopology("2", 3, False), Subtopology("10", 2, True)])
GROUP = GroupSpec(
    {
        "m2": GroupMember(
            MemberMetadata("p", "i", "r", {"zone": "a"}),
            MemberAssignmentState(
                {"10": [1], "2": [2]}, {"10": [0]}, {"7": [5]}, {TaskId("10", 1): -3}, {TaskId("10", 1): 2**62}
            ),
        ),
        "m1": GroupMember(MemberMetadata("q\ud800")),
    },
    AssignmentConfigs(-1, ("zone", "")),
)

texts = st.text(max_size=4)
numbers = st.integers(min_value=0, max_value=4)
tasks = st.dictionaries(texts, st.lists(numbers, max_size=3), max_size=3)
offsets = st.dictionaries(st.builds(TaskId, texts, numbers), st.integers(-(2**63), 2**63 - 1), max_size=3)
members = st.dictionaries(
    texts,
    st.builds(
        GroupMember,
        st.builds(
            MemberMetadata, texts, st.none() | texts, st.none() | texts, st.dictionaries(texts, texts, max_size=2)
        ),
        st.builds(MemberAssignmentState, tasks, tasks, tasks, offsets, offsets),
    ),
    max_size=4,
)
configs = st.builds(AssignmentConfigs, st.integers(-(2**31), 2**31 - 1), st.lists(texts, max_size=2))
topologies = st.builds(
    TopologyDescriber, st.lists(st.builds(Subtopology, texts, st.integers(0, 6), st.booleans()), max_size=3)
)


@given(st.builds(GroupSpec, members, configs), topologies)
def test_a_group_comes_out_as_it_went_in(group: GroupSpec, topology: TopologyDescriber) -> None:
    received, described = GroupReceiver()(*packed_group(group, topology))
    # The text has the order of members and tags, too, which equal mappings need not share.
    assert (repr(received), repr(described)) == (repr(group), repr(topology))


def test_the_topology_is_made_once_for_all_rounds_that_share_it() -> None:
    receiver = GroupReceiver()
    other = TopologyDescriber([Subtopology("0", 1, True)])
    first, second, third = (receiver(*packed_group(GROUP, each))[1] for each in (TOPOLOGY, TOPOLOGY, other))
    assert first is second
    assert third == other


@given(st.data())
def test_an_answer_comes_out_as_it_went_in(data: st.DataObject) -> None:
    held = st.fixed_dictionaries({}, optional={"2": st.lists(st.integers(0, 2)), "10": st.lists(st.integers(0, 1))})
    answer = data.draw(
        st.builds(
            GroupAssignment,
            st.dictionaries(st.sampled_from(["m1", "m2"]), st.builds(MemberAssignment, held, held, held)),
        )
    )
    document = json.loads(json.dumps(group_answer_document(GROUP, TOPOLOGY, answer)))
    assert repr(group_answer_of(GROUP, TOPOLOGY, document)) == repr(answer)


FORGED: list[Any] = [
    None,
    [],
    {},
    {"members": {}},
    {"members": [[]]},
    {"members": [7]},
    {"members": [[0, [], []]]},
    {"members": [[2, [], [], []]]},
    {"members": [[-1, [], [], []]]},
    {"members": [["m1", [], [], []]]},
    {"members": [[True, [], [], []]]},
    {"members": [[0, [5], [], []]]},
    {"members": [[0, [-1], [], []]]},
    {"members": [[0, [], [0.0], []]]},
    {"members": [[0, [], [], [False]]]},
    {"members": [[0, [], [], ["0_1"]]]},
    {"members": [[0, [], [], {}]]},
    {"members": [[1, [], [], []], [1, [0], [], []]]},
    {"members": [[0, [10**400], [], []]]},
]


@pytest.mark.parametrize("document", FORGED, ids=lambda document: json.dumps(document)[:40])
def test_a_forged_answer_is_none(document: Any) -> None:
    with pytest.raises(AnswerFormatError):
        group_answer_of(GROUP, TOPOLOGY, document)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.just("members"), inner),
    )
)
def test_any_json_is_an_answer_or_a_typed_error(document: Any) -> None:
    try:
        answer = group_answer_of(GROUP, TOPOLOGY, document)
    except AnswerFormatError:
        return
    assert set(answer.members) <= set(GROUP.members)
