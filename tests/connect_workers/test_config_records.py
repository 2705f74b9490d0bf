"""A worker's knowledge of the config log, record by record.

Kafka: ``ClusterConfigState``, ``KafkaConfigBackingStore``.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from assignment_api.connect import ConnectorTaskId
from assignor_lab.kafka.herder.config_log.reader import ConfigReader, ConfigSnapshot, snapshot_of
from assignor_lab.kafka.herder.config_log.records import (
    TargetState,
    connector_records,
    creation_records,
    deletion_records,
    fencing_records,
    logger_records,
    restart_records,
    session_key_records,
    target_state_records,
    task_records,
)
from assignor_lab.kafka.herder.restarts import RestartRequest
from assignor_lab.kafka.herder.session_keys import SessionKey
from connect_workers.storage import StoredRecord

CONFIG = {"name": "c", "connector.class": "x"}


def after(*records: list[tuple[str, Any]]) -> ConfigSnapshot:
    flat = [pair for each in records for pair in each]
    return snapshot_of([StoredRecord(place, key, value) for place, (key, value) in enumerate(flat)])


def test_nothing_read_is_place_minus_one() -> None:
    assert after().offset == -1
    assert after(connector_records("c", CONFIG, None)).offset == 1


def test_tasks_count_once_their_commit_is_read() -> None:
    tasks = task_records("c", [{"n": "0"}, {"n": "1"}])
    assert after(connector_records("c", CONFIG, None), tasks[:-1]).tasks("c") == ()
    whole = after(connector_records("c", CONFIG, None), tasks)
    assert whole.tasks("c") == (ConnectorTaskId("c", 0), ConnectorTaskId("c", 1))
    assert whole.task_configs("c") == [{"n": "0"}, {"n": "1"}]
    assert whole.applied["c"] == CONFIG


def test_a_commit_without_all_its_tasks_leaves_none() -> None:
    torn = [*task_records("c", [{"n": "0"}, {"n": "1"}])[1:]]
    snapshot = after(connector_records("c", CONFIG, None), torn)
    assert snapshot.inconsistent == {"c"}
    assert snapshot.tasks("c") == ()
    again = after(connector_records("c", CONFIG, None), torn, task_records("c", [{"n": "5"}]))
    assert again.inconsistent == frozenset()
    assert again.task_configs("c") == [{"n": "5"}]


def test_a_smaller_commit_leaves_the_larger_ones_tasks_unused() -> None:
    larger, smaller = task_records("c", [{"n": "0"}, {"n": "1"}]), task_records("c", [{"n": "2"}])
    snapshot = after(connector_records("c", CONFIG, None), larger, smaller)
    assert snapshot.task_configs("c") == [{"n": "2"}]


def test_a_deleted_connector_takes_everything_along() -> None:
    snapshot = after(connector_records("c", CONFIG, None), task_records("c", [{}]), deletion_records("c"))
    assert not snapshot.connectors
    assert not snapshot.task_counts
    assert not snapshot.task_configs_by_id
    assert not snapshot.applied
    assert len(snapshot.jobs()) == 0


def test_a_commit_of_an_unknown_connector_is_ignored() -> None:
    snapshot = after(task_records("c", [{}]))
    assert not snapshot.task_counts
    assert snapshot.offset == 2


def test_target_states_come_before_their_connector_and_stopped_is_written_twice() -> None:
    records = connector_records("c", CONFIG, TargetState.STOPPED)
    assert records[0] == ("target-state-c", {"state": "PAUSED", "state.v2": "STOPPED"})
    assert after(records).target_state("c") is TargetState.STOPPED
    assert after(records, [("target-state-c", {"state": "PAUSED"})]).target_state("c") is TargetState.PAUSED
    assert after(records, [("target-state-c", None)]).target_state("c") is TargetState.STARTED


def test_names_with_dashes_and_prefixes_are_told_apart() -> None:
    for name in ("a-1", "connector-x", "task-1-2", "commit-", "target-state-"):
        snapshot = after(connector_records(name, CONFIG, None), task_records(name, [{"k": "v"}]))
        assert list(snapshot.connectors) == [name]
        assert snapshot.tasks(name) == (ConnectorTaskId(name, 0),)


def test_a_connector_that_is_created_has_no_part_in_an_earlier_ones_commit() -> None:
    before = [*connector_records("c", CONFIG, None), *task_records("c", [{}]), *deletion_records("c")]
    assert after(before, creation_records("c", CONFIG, None)).tasks("c") == ()


NAMES = ("a", "b")
groups = st.one_of(
    st.tuples(st.just("put"), st.sampled_from(NAMES), st.integers(0, 3)),
    st.tuples(st.just("delete"), st.sampled_from(NAMES), st.just(0)),
    st.tuples(st.just("tasks"), st.sampled_from(NAMES), st.integers(0, 3)),
    st.tuples(st.just("target"), st.sampled_from(NAMES), st.integers(0, 2)),
    st.tuples(st.just("other"), st.just(""), st.integers(0, 3)),
)


def written(kind: str, name: str, number: int, known: ConfigSnapshot, place: int) -> list[tuple[str, Any]]:
    if kind == "put":
        write = connector_records if name in known.connectors else creation_records
        return write(name, {"name": name, "n": str(place)}, [None, *TargetState][number])
    if kind == "delete":
        return deletion_records(name)
    if kind == "tasks":
        return task_records(name, [{"n": str(place)}] * number)
    if kind == "target":
        return target_state_records(name, list(TargetState)[number])
    return [
        restart_records(RestartRequest("a")), fencing_records("a", number), logger_records("root", "INFO"),
        session_key_records(SessionKey(b"k", "HmacSHA256", place)),
    ][number]  # fmt: skip


@given(st.lists(groups, max_size=25))
def test_who_reads_a_compacted_log_knows_the_same_as_who_read_every_record(
    happened: list[tuple[str, str, int]],
) -> None:
    every, log = ConfigReader(), RecordLogOfTest()
    every.start()
    for kind, name, count in happened:
        for key, value in written(kind, name, count, every.snapshot(), log.end):
            every.read(log.append(key, value))
    late, whole = snapshot_of(log.records(), log.end), every.snapshot()
    assert late.offset == whole.offset
    assert late.connectors == whole.connectors
    assert late.jobs() == whole.jobs()
    assert {name: late.task_configs(name) for name in NAMES} == {name: whole.task_configs(name) for name in NAMES}
    states = [{name: each.target_state(name) for name in each.connectors} for each in (late, whole)]
    assert states[0] == states[1]
    assert (late.fencing, late.session_key) == (whole.fencing, whole.session_key)
    for name in whole.connectors:
        # If that is no longer known, tasks count as created from an older configuration: they are created again.
        assert late.applied.get(name) in (whole.applied.get(name), None)
        if whole.applied.get(name) == whole.connectors[name] and name in late.applied:
            assert late.applied[name] == late.connectors[name]


class RecordLogOfTest:
    """The last record with a value of each key, in order, as the log on disk returns them."""

    def __init__(self) -> None:
        self.kept: dict[str, StoredRecord] = {}
        self.end = 0

    def append(self, key: str, value: Any) -> StoredRecord:
        record = StoredRecord(self.end, key, value)
        self.kept.pop(key, None)
        if value is not None:
            self.kept[key] = record
        self.end += 1
        return record

    def records(self) -> list[StoredRecord]:
        return list(self.kept.values())


class Heard:
    """Records the calls of a listener."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: self.calls.append((name, *arguments))


def test_only_what_is_new_is_heard_of_and_only_changes_of_target_states() -> None:
    heard = Heard()
    reader = ConfigReader(heard)
    first = [*connector_records("c", CONFIG, None), *restart_records(RestartRequest("c", include_tasks=True))]
    then = [
        *target_state_records("c", TargetState.STARTED),
        *target_state_records("c", TargetState.PAUSED),
        *target_state_records("unknown", TargetState.PAUSED),
        *restart_records(RestartRequest("c", only_failed=True)),
        ("restart-connector-c", {"include-tasks": "yes"}),
        *task_records("c", [{}]),
        *deletion_records("c"),
    ]
    for place, (key, value) in enumerate([*first, *then]):
        if place == len(first):
            reader.start()
        reader.read(StoredRecord(place, key, value))
    assert heard.calls == [
        ("on_target_state", "c"),
        ("on_restart_request", RestartRequest("c", only_failed=True)),
        ("on_restart_request", RestartRequest("c")),
        ("on_task_configs", "c", [ConnectorTaskId("c", 0)]),
        ("on_connector_removed", "c"),
    ]


def test_a_snapshot_is_one_object_until_something_is_read() -> None:
    reader = ConfigReader()
    assert reader.snapshot() is reader.snapshot()
    before = reader.snapshot()
    reader.read(StoredRecord(0, "connector-c", {"properties": CONFIG}))
    assert before.connectors == {}
    assert list(reader.snapshot().connectors) == ["c"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["properties", "tasks", "state", "state.v2", "key", "algorithm", "creation-timestamp", "level"])
        | st.text(max_size=3), inner, max_size=4,
    ),
    max_leaves=8,
)  # fmt: skip
keys = st.tuples(
    st.sampled_from([
        "connector-", "task-", "commit-", "target-state-", "restart-connector-", "tasks-fencing-", "session-key",
        "logger-cluster-", "",
    ]),
    st.sampled_from(["", "c", "c-0", "c-x", "-1", "a-1-2"]),
).map("".join)  # fmt: skip


@given(st.lists(st.tuples(keys, json_values), max_size=12))
def test_no_record_whatever_it_holds_stops_a_reader(records: list[tuple[str, Any]]) -> None:
    heard = Heard()
    reader = ConfigReader(heard)
    reader.start()
    for place, (key, value) in enumerate(records):
        reader.read(StoredRecord(place, key, value))
        snapshot = reader.snapshot()
        assert snapshot.offset == place + 1
        assert len(snapshot.jobs()) >= len(snapshot.connectors)
