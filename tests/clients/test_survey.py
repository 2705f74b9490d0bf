from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from assignment_api.consumer import (
    ConsumerGroupState,
    ConsumerPartitionAssignor,
    ConsumerSubscription,
    ConsumerTopic,
    PartitionAssignment,
)
from assignment_api.plugins import ConfigKeyError, discover
from assignor_lab.clients.driver import LibraryDriver
from assignor_lab.clients.leader import (
    ClientLibrary,
    ClientLibraryError,
    ClientStrategyAssignor,
    LeaderInput,
    Reporting,
)
from assignor_lab.clients.plugins import CLIENT_ASSIGNORS, client_assignor
from assignor_lab.clients.promises import broken_promises
from assignor_lab.clients.python_libraries import PYTHON_LIBRARIES
from assignor_lab.clients.sketches import GroupSketch, MemberSketch, drawn_sketch, smaller_sketches
from assignor_lab.clients.survey import Finding, StrategySurvey, surveyed

MIXED = GroupSketch(
    {"t": 8},
    (MemberSketch("a", None, ("t",)), MemberSketch("b", "i1", ("t",)), MemberSketch("c", None, ("t",))),
)
UNEQUAL = GroupSketch({"a": 1, "b": 1}, (MemberSketch("m1", None, ("a",)), MemberSketch("m2", None, ("b",))))
HELD = GroupSketch({"t": 1}, (MemberSketch("m1", None, ("t",)), MemberSketch("m2", None, ("t",), {"t": (0,)})))


def java(strategy: str) -> ConsumerPartitionAssignor:
    name = f"consumer_{strategy}".replace("-", "_")
    made = discover().partition_assignor("consumer-assignor", name).plugin.factory()
    assert isinstance(made, ConsumerPartitionAssignor)
    return made


def survey(library: str, strategy: str, *sketches: GroupSketch) -> StrategySurvey:
    return surveyed(PYTHON_LIBRARIES[library](), strategy, java(strategy), sketches)


def finding(found: StrategySurvey, promise: str) -> Finding:
    return next(each for each in found.findings if each.promise == promise)


def held(library: str, strategy: str, sketch: GroupSketch) -> dict[str, dict[str, tuple[int, ...]]]:
    loaded = PYTHON_LIBRARIES[library]()
    answer = ClientStrategyAssignor(library, loaded.strategies[strategy]).assign(
        sketch.group(strategy, loaded.reporting)
    )
    return {member: dict(partitions) for member, partitions in answer.members.items()}


# --- libraries ------------------------------------------------------------------------------------


def test_kafka_python_leaves_a_dynamic_member_empty_beside_static_ones() -> None:
    assert held("kafka-python", "range", MIXED) == {"a": {}, "b": {"t": (0, 1, 2, 3)}, "c": {"t": (4, 5, 6, 7)}}
    found = survey("kafka-python", "range", MIXED)
    assert (found.groups, found.differing) == (1, 1)
    assert finding(found, "even").groups == 1
    assert sum(finding(found, "even").smallest.topics.values()) == 3


def test_kafka_python_fails_on_unequal_subscriptions_with_round_robin() -> None:
    sketch = GroupSketch({"a": 1, "b": 1}, (MemberSketch("m2", None, ("a",)), MemberSketch("m1", None, ("b",))))
    failed = finding(survey("kafka-python", "roundrobin", sketch), "answers")
    assert failed.answer is None
    assert "KeyError" in failed.failure


def test_kafka_python_keeps_owners_of_its_own_members_and_loses_those_of_java() -> None:
    assert [each.promise for each in survey("kafka-python", "sticky", HELD).findings] == ["reads Java's members"]
    assert survey("aiokafka", "sticky", HELD).findings == ()


def test_aiokafka_sorts_static_members_by_their_member_ids() -> None:
    moved = finding(survey("aiokafka", "range", MIXED), "static")
    assert moved.restarted is not None
    assert moved.restarted != moved.answer
    assert survey("kafka-python", "range", HELD).findings == ()


def test_a_strategy_is_selected_by_kafkas_name_and_by_ours() -> None:
    assert client_assignor("kafka-python", "cooperative-sticky") == "kafka_python_cooperative_sticky"
    assert client_assignor("aiokafka", "consumer_range") == "aiokafka_range"


@pytest.mark.parametrize(
    ("client", "strategy", "message"),
    [
        ("confluent-kafka", "range", "librdkafka answers through a driver"),
        ("aiokafka", "cooperative-sticky", "there are range, roundrobin, sticky"),
        ("kafka-python", "uniform", "in groups of KIP-848 the brokers decide"),
        ("pykafka", "range", "no such library; there are kafka-python"),
    ],
)
def test_a_library_that_cannot_decide_is_refused_with_the_remedy(client: str, strategy: str, message: str) -> None:
    with pytest.raises(ConfigKeyError, match=message):
        client_assignor(client, strategy)


def test_a_driver_answers_for_its_libraries_in_each_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    driver = tmp_path / "driver.py"
    driver.write_text(
        "import json, sys\n"
        "print(json.dumps({'libraries': {'sarama': {'version': '1', 'strategies': ['range']}}}), flush=True)\n"
        "for line in sys.stdin:\n"
        "    print(json.dumps({'members': {'a': {'t': [0]}}}), flush=True)\n"
    )
    monkeypatch.setenv("ASSIGNOR_CLIENT_DRIVERS", f"{sys.executable} {driver}")
    name = client_assignor("Sarama", "range")
    plugin = next(each for each in CLIENT_ASSIGNORS if each.name == name)
    group = ConsumerGroupState({"t": ConsumerTopic("t", 1)}, {"a": ConsumerSubscription(["t"])})
    made = plugin.factory()
    assert isinstance(made, ConsumerPartitionAssignor)
    assert made.assign(group).members == {"a": {"t": (0,)}}


# --- promises -------------------------------------------------------------------------------------

PLAIN = Reporting()
Placed = Mapping[str, Mapping[str, Sequence[int]]]


def broken(strategy: str, sketch: GroupSketch, answer: Placed | None, former: Placed | None = None) -> list[str]:
    group = sketch.group(strategy, PLAIN)
    owners = {
        member: frozenset((topic, number) for topic, numbers in each.items() for number in numbers)
        for member, each in (former or {}).items()
    }
    own = None if answer is None else PartitionAssignment(answer)
    return broken_promises(strategy, group, own, None, java(strategy).assign(group), owners)


@pytest.mark.parametrize(
    ("strategy", "answer", "promises"),
    [
        ("range", None, ["answers"]),
        ("range", {"m1": {"a": (0,)}, "m2": {}}, ["complete"]),
        ("range", {"m1": {"a": (0,)}, "m2": {"b": (0,), "a": (0,)}}, ["one owner", "subscribed"]),
        ("range", {"m1": {"a": (0,)}, "m2": {"b": (0,)}}, []),
    ],
)
def test_each_fault_of_an_answer_breaks_its_promise(strategy: str, answer: Placed | None, promises: list[str]) -> None:
    assert broken(strategy, UNEQUAL, answer) == promises


def test_an_uneven_answer_breaks_a_promise_only_of_strategies_that_make_it() -> None:
    answer = {"a": {"t": tuple(range(8))}, "b": {}, "c": {}}
    for strategy in ("range", "roundrobin", "sticky"):
        assert broken(strategy, MIXED, answer) == ["even"]


def test_a_lost_owner_is_found_if_javas_answer_keeps_it() -> None:
    assert broken("sticky", HELD, {"m1": {"t": (0,)}, "m2": {}}, {"m2": {"t": (0,)}}) == ["keeps owners"]
    assert broken("sticky", HELD, {"m1": {}, "m2": {"t": (0,)}}, {"m2": {"t": (0,)}}) == []


def test_a_partition_that_its_owner_must_give_up_first_is_not_missing() -> None:
    assert broken("cooperative-sticky", HELD, {"m1": {}, "m2": {}}, {"m2": {"t": (0,)}}) == ["keeps owners"]


# --- the survey -----------------------------------------------------------------------------------


def library(decide: Callable[[LeaderInput], Mapping[str, Mapping[str, list[int]]]]) -> ClientLibrary:
    return ClientLibrary("toy", "1", {"range": decide})


def test_findings_shrink_to_the_parts_that_show_them() -> None:
    def first_takes_all(group: LeaderInput) -> Mapping[str, Mapping[str, list[int]]]:
        return {group.members[0].id: {topic: list(range(count)) for topic, count in group.partitions.items()}}

    sketch = GroupSketch({"t": 12, "u": 5}, tuple(MemberSketch(f"m{each}", "i", ("t", "u")) for each in range(6)))
    found = finding(surveyed(library(first_takes_all), "range", java("range"), [sketch]), "even").smallest
    assert (len(found.members), list(found.topics.values())) == (2, [2])
    assert [member.instance_id for member in found.members] == [None, None]


def test_a_promise_that_only_one_of_two_answers_breaks_is_no_finding() -> None:
    calls = []

    def changes(group: LeaderInput) -> Mapping[str, Mapping[str, list[int]]]:
        calls.append(group)
        placed = {"m1": {"a": [0]}, "m2": {"b": [0]}}
        return placed if len(calls) % 2 else {"m1": {"a": [0]}, "m2": {}}

    found = surveyed(library(changes), "range", java("range"), [UNEQUAL])
    assert (found.unstable, found.differing, found.findings) == (1, 0, ())


def test_sketches_depend_on_seed_and_number_alone_and_get_smaller() -> None:
    assert [drawn_sketch(3, number) for number in range(50)] == [drawn_sketch(3, number) for number in range(50)]
    sketch = next(each for each in (drawn_sketch(3, number) for number in range(50)) if each.members[0].held)
    parts = len(str(sketch))
    assert all(len(str(smaller)) <= parts for smaller in smaller_sketches(sketch))


# --- drivers --------------------------------------------------------------------------------------

DRIVER = """
import json, sys
print(json.dumps({"libraries": {"toy": {"version": "1.2", "strategies": ["range"]}}}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    first = asked["members"][0]["id"]
    found = {"members": {first: {topic: list(range(count)) for topic, count in asked["partitions"].items()}}}
    print(json.dumps({"error": "too many"} if len(asked["members"]) > 2 else found), flush=True)
"""


def driver(folder: Path, text: str) -> str:
    program = folder / "driver.py"
    program.write_text(text)
    return f"{sys.executable} {program}"


def test_a_driver_answers_for_its_libraries(tmp_path: Path) -> None:
    with LibraryDriver(driver(tmp_path, DRIVER)) as running:
        [toy] = running.libraries
        own = ClientStrategyAssignor(toy.name, toy.strategies["range"])
        assert (toy.name, toy.version) == ("toy", "1.2")
        assert own.assign(UNEQUAL.group("range", PLAIN)).members["m1"] == {"a": (0,), "b": (0,)}
        with pytest.raises(ClientLibraryError, match="toy fails: too many"):
            own.assign(MIXED.group("range", PLAIN))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "ended, or its answer is no JSON"),
        ("print('hello')", "ended, or its answer is no JSON"),
        ("print('[1]')", "is no JSON object"),
        ("print('{}')", "names no libraries"),
    ],
)
def test_a_program_that_is_no_driver_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ClientLibraryError, match=message):
        LibraryDriver(driver(tmp_path, text))


def test_a_missing_driver_is_refused() -> None:
    with pytest.raises(ClientLibraryError, match="does not start"):
        LibraryDriver("/nowhere/driver")


def test_a_driver_that_a_library_ends_begins_anew(tmp_path: Path) -> None:
    ends = DRIVER.replace("loads(line)\n", "loads(line)\n    len(asked['members']) > 2 and sys.exit(3)\n")
    with LibraryDriver(driver(tmp_path, ends)) as running:
        own = ClientStrategyAssignor("toy", running.libraries[0].strategies["range"])
        with pytest.raises(ClientLibraryError, match="ended"):
            own.assign(MIXED.group("range", PLAIN))
        assert own.assign(UNEQUAL.group("range", PLAIN)).members["m1"] == {"a": (0,), "b": (0,)}
