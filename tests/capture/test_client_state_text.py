"""The parser of Kafka's client states: it reads printed states, and any other text is a typed error."""

from __future__ import annotations

import re
from contextlib import suppress
from uuid import UUID

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assignment_api.streams import ProcessID, TaskId
from assignor_lab.capture.errors import ClientStateTextError
from assignor_lab.capture.logs.client_state_text import (
    ClientStateText,
    parse_client_states,
    parse_consumer_tasks,
    parse_placements,
    render_client_states,
)

PROCESS = "00000000-0000-0000-0000-000000000001"
STATE = (
    "[activeTasks: ([0_0]) standbyTasks: ([0_1]) prevActiveTasks: ([]) prevStandbyTasks: ([])"
    " changelogOffsetTotalsByTask: ([0_0=7]) taskLagTotals: ([0_0=0, 0_1=-2]) clientTags: ([zone=a])"
    " capacity: 2 assigned: 2]"
)
WHOLE = f"{{{PROCESS}={STATE}}}"

topology_names = st.none() | st.from_regex(r"[A-Za-z0-9.-]{1,8}", fullmatch=True)
tasks = st.builds(TaskId, st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1), topology_names)
task_lists = st.lists(tasks, max_size=4, unique=True).map(tuple)
offsets = st.dictionaries(tasks, st.integers(-(2**63), 2**63 - 1), max_size=4)
# Kafka limits only the length of tags; a tag with the signs that end an entry is ambiguous.
words = st.text(st.characters(exclude_characters=",=", exclude_categories=["Cs"]), max_size=12)
tags = st.none() | st.dictionaries(words, words, max_size=3)
states = st.builds(
    ClientStateText, task_lists, task_lists, task_lists, task_lists, offsets, offsets, tags, st.integers(0, 10**6)
)
processes = st.uuids().map(ProcessID)
groups = st.dictionaries(processes, states, max_size=4)


@settings(deadline=None)
@given(groups)
def test_what_is_written_is_read_again(group: dict[ProcessID, ClientStateText]) -> None:
    text = render_client_states(group)

    assert parse_client_states(f"before {text} behind", len("before ")) == (group, len("before ") + len(text))


@settings(deadline=None)
@given(groups)
def test_order_is_kept(group: dict[ProcessID, ClientStateText]) -> None:
    assert list(parse_client_states(render_client_states(group))[0]) == list(group)


@pytest.mark.parametrize("value", ["a, b", "a]) capacity: 9 assigned: 9] ", "a=b", "", "x, y, z", "]})"])
def test_a_tag_may_hold_what_looks_like_the_end(value: str) -> None:
    group = {ProcessID(UUID(int=1)): ClientStateText(tags={"zone": value, "cluster": "k"})}

    assert parse_client_states(render_client_states(group))[0] == group


def test_every_cut_is_an_error_at_the_place_of_the_cut() -> None:
    for length in range(len(WHOLE)):
        with pytest.raises(ClientStateTextError) as caught:
            parse_client_states(WHOLE[:length])
        assert caught.value.position <= length


@pytest.mark.parametrize(
    ("garbled", "position"),
    [
        (WHOLE.replace("standbyTasks", "standbyTosks"), WHOLE.index("standbyTasks") + len("standbyT")),
        (WHOLE.replace("assigned: 2", "assigned: 3"), WHOLE.index(" capacity")),
        (WHOLE.replace("0_0=7", "0_0=x"), WHOLE.index("[0_0=7") + 1),
        (WHOLE.replace("0_0=7", "0_0=9223372036854775808"), WHOLE.index("[0_0=7")),
        (WHOLE.replace("[0_0]", "[0_4294967296]"), WHOLE.index("[0_0]")),
    ],
)
def test_a_garbled_text_is_an_error_at_its_place(garbled: str, position: int) -> None:
    with pytest.raises(ClientStateTextError) as caught:
        parse_client_states(garbled)
    assert caught.value.position == position


def test_a_client_that_is_there_twice_is_an_error() -> None:
    with pytest.raises(ClientStateTextError, match="second time"):
        parse_client_states(f"{{{PROCESS}={STATE}, {PROCESS}={STATE}}}")


@settings(deadline=None)
@given(st.text())
@example("{" * 5000)
@example(f"{{{PROCESS}=" * 500)
@example(WHOLE[:-20] + "[" * 5000)
def test_any_text_is_a_value_or_a_typed_error(text: str) -> None:
    with suppress(ClientStateTextError):
        parse_client_states(text)
    with suppress(ClientStateTextError):
        parse_placements(text)
    with suppress(ClientStateTextError):
        parse_consumer_tasks(text)


@settings(deadline=None)
@given(st.data())
def test_any_change_of_a_real_text_is_a_value_or_a_typed_error(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(WHOLE)))
    end = data.draw(st.integers(start, min(len(WHOLE), start + 8)))
    patch = data.draw(st.text(st.sampled_from("[](){}=,_ :0123456789abcT"), max_size=8))
    with suppress(ClientStateTextError):
        parse_client_states(WHOLE[:start] + patch + WHOLE[end:])


@pytest.mark.parametrize(
    "hostile",
    [
        "{" + PROCESS + "=[activeTasks: ([" + "0_0, " * 200_000,
        "{" + PROCESS + "=[activeTasks: ([" + "a" * 1_000_000,
        "{" + PROCESS + "=[activeTasks: ([" + "a__" * 300_000,
        "{" + PROCESS + "=" + STATE.partition("clientTags")[0] + "clientTags: ([" + "a=b, " * 200_000,
        "{"
        + PROCESS
        + "="
        + STATE.partition("clientTags")[0]
        + "clientTags: (["
        + "]) capacity: 1 assigned: 1]" * 40_000,
    ],
)
def test_a_long_hostile_text_is_refused_in_linear_time(hostile: str) -> None:
    with pytest.raises(ClientStateTextError):
        parse_client_states(hostile)


def test_consumers_may_have_any_client_id() -> None:
    text = "{a, b=c-1=[0_0, 1_0], d=[e]-2=[], f=[2_2]}"

    assert {name: [str(task) for task in found] for name, found in parse_consumer_tasks(text)[0].items()} == {
        "a, b=c-1": ["0_0", "1_0"],
        "d=[e]-2": [],
        "f": ["2_2"],
    }


def test_placements_are_found_wherever_they_stand() -> None:
    other = PROCESS.replace("1", "2")
    text = (
        f"x {PROCESS}=[activeTasks: ([0_0]) standbyTasks: ([])]\n | {other}=[activeTasks: ([]) standbyTasks: ([0_0])]."
    )

    found = parse_placements(text)

    assert [re.sub("0{3,}", "0", str(process)) for process in found] == ["0-0-0-0-01", "0-0-0-0-02"]
    assert list(found.values()) == [((TaskId(0, 0),), ()), ((), (TaskId(0, 0),))]
