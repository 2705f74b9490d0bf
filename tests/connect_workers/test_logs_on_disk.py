from __future__ import annotations

import asyncio
import errno
import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assignment_api.connectors import PathNotAllowedError, SourceRecord
from assignor_lab.documents import durable
from assignor_lab.kafka.herder.statuses import JobState, Status
from connect_workers.contract import BadRequestError
from connect_workers.logs.cluster_logs import ClusterLogs
from connect_workers.storage import (
    DataDir,
    DataDirLockedError,
    LogCorruptError,
    RecordLog,
    StorageError,
    StoredRecord,
    Topics,
    frames,
)
from connect_workers.storage import record_log as record_log_module
from connect_workers.storage.frames import MAGIC, FrameFile, frame_of


def written(path: Path, *batches: Sequence[tuple[str, object]]) -> None:
    async def write() -> None:
        log = RecordLog(path)
        log.start(asyncio.get_running_loop())
        for batch in batches:
            await log.write(batch)
        await asyncio.to_thread(log.close)

    asyncio.run(write())


def read(path: Path) -> dict[str, object]:
    log = RecordLog(path)
    try:
        return {record.key: record.value for record in log.records()}
    finally:
        log.close()


def test_directories_are_open_to_their_owner_alone(tmp_path: Path) -> None:
    shared = tmp_path / "data" / "topics"
    shared.mkdir(mode=0o755, parents=True)
    for path in (tmp_path / "data", tmp_path / "new" / "data"):
        data = DataDir(path)
        topics = Topics(data.topics)
        topics.partition("lines", 0)
        topics.close()
        data.close()
    made = [each for each in tmp_path.rglob("*") if each.is_dir() and each != tmp_path / "data"]
    assert {each.name for each in made} == {"new", "data", "topics", "files", "lines"}
    assert {each: oct(each.stat().st_mode & 0o777) for each in made if each.stat().st_mode & 0o077} == {}


def test_what_was_written_is_read_again_in_order(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    written(path, [("a", {"n": 1}), ("b", [None, "é", "\ud800"])], [("a", {"n": 2}), ("c", 1.5)], [("b", None)])
    log = RecordLog(path)
    assert log.records() == [StoredRecord(2, "a", {"n": 2}), StoredRecord(3, "c", 1.5)]
    assert log.end == 5
    log.close()


def test_every_torn_end_costs_the_last_write_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    written(path, [("a", 1)], [("b", 2)])
    whole = path.read_bytes()
    first = RecordLog(path)
    first.close()
    written(path, [("c", 3)])
    more = path.read_bytes()
    for size in range(len(whole), len(more)):
        path.write_bytes(more[:size])
        assert read(path) == {"a": 1, "b": 2}, f"cut at {size}"
        assert path.read_bytes() == whole
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        assert set(read(path)) <= {"a"}


def test_zeros_at_the_end_are_a_torn_end(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    written(path, [("a", 1)])
    good = path.read_bytes()
    path.write_bytes(good + bytes(5000))
    assert read(path) == {"a": 1}
    assert path.read_bytes() == good


@pytest.mark.slow
@given(st.data())
@settings(max_examples=60)
def test_any_changed_byte_is_noticed_or_cut_off_and_never_believed(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("log") / "a.log"
    written(path, *([(f"k{number}", number)] for number in range(6)))
    raw = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(bytes(raw))
    try:
        found = read(path)
    except LogCorruptError as error:
        assert str(path) in str(error)  # noqa: PT017 - either outcome is right
        assert path.read_bytes() == bytes(raw)
        return
    # Only the last write can look unfinished.
    assert found == {f"k{number}": number for number in range(5)}


def test_damage_in_the_middle_is_an_error_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    written(path, [("a", 1)], [("b", 2)], [("c", 3)])
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b'"b",2', b'"b",9'))
    with pytest.raises(LogCorruptError, match=r"bytes .* damaged, and good records follow"):
        RecordLog(path)


def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("2026-11-21 something else entirely\n")
    with pytest.raises(LogCorruptError, match="not a log of this project"):
        RecordLog(path)
    assert path.read_text().startswith("2026")


@pytest.mark.slow
def test_many_writers_share_a_write_and_all_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    syncs = []
    real = os.fsync

    def counted(file: int) -> None:
        syncs.append(file)
        real(file)

    async def write() -> list[int]:
        log = RecordLog(tmp_path / "a.log")
        monkeypatch.setattr(os, "fsync", counted)
        log.start(asyncio.get_running_loop())
        ends = await asyncio.gather(*(log.write([(f"k{number}", number)]) for number in range(2_000)))
        await asyncio.to_thread(log.close)
        return ends

    asyncio.run(write())
    assert len(read(tmp_path / "a.log")) == 2_000
    assert len(syncs) < 200


def test_a_reader_knows_a_record_before_its_writer_is_told(tmp_path: Path) -> None:
    async def write() -> list[str]:
        log = RecordLog(tmp_path / "a.log")
        log.start(asyncio.get_running_loop())
        heard: list[str] = []
        await log.write([("before", 1)])
        log.subscribe(lambda record: heard.append(record.key))
        await log.write([("after", 2)])
        copy = list(heard)
        await asyncio.to_thread(log.close)
        return copy

    assert asyncio.run(write()) == ["before", "after"]


def test_a_value_without_a_json_form_writes_nothing(tmp_path: Path) -> None:
    async def write() -> None:
        log = RecordLog(tmp_path / "a.log")
        log.start(asyncio.get_running_loop())
        for value in (object(), {1, 2}, int("9" * 100) ** 50):
            with pytest.raises((TypeError, ValueError)):
                log.append([("good", 1), ("bad", value)])
        await asyncio.to_thread(log.close)

    asyncio.run(write())
    assert read(tmp_path / "a.log") == {}


@pytest.mark.slow
def test_compaction_keeps_the_last_of_each_key_and_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_log_module, "_COMPACT_ABOVE_BYTES", 2_000)
    path = tmp_path / "a.log"
    written(path, *([(f"k{number % 5}", {"n": number}), ("gone", None)] for number in range(300)))
    assert path.stat().st_size < 4_000
    log = RecordLog(path)
    assert {record.key: record.value for record in log.records()} == {
        f"k{number}": {"n": 295 + number} for number in range(5)
    }
    assert log.end == 600
    log.close()
    assert list(tmp_path.iterdir()) == [path]


def test_a_compacted_log_whose_last_record_stays_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_log_module, "_COMPACT_ABOVE_BYTES", 500)
    path = tmp_path / "a.log"
    for start in range(0, 300, 30):
        written(path, *([(f"k{number % 3}", number)] for number in range(start, start + 30)))
        assert read(path) == {f"k{number % 3}": number for number in range(start + 27, start + 30)}
    log = RecordLog(path)
    assert log.end == 300
    log.close()


# --- disks that are full or fail --------------------------------------------------------------------


def full(*_: object) -> int:
    raise OSError(errno.ENOSPC, "No space left on device")


def almost_full(file: int, data: bytes, place: int, *, real: Callable[..., int] = os.pwrite) -> int:
    return full() if len(data) > 400 else real(file, data, place)


def failing(*_: object) -> None:
    raise OSError(errno.EIO, "Input/output error")


def test_a_write_that_fails_is_told_and_the_log_goes_on_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def write() -> None:
        log = RecordLog(tmp_path / "a.log")
        log.start(asyncio.get_running_loop())
        await log.write([("a", 1)])
        assert log.failure is None
        monkeypatch.setattr(os, "pwrite", full)
        for _ in range(2):
            with pytest.raises(StorageError, match="No space left"):
                await log.write([("b", 2)])
        assert "No space left" in str(log.failure)
        monkeypatch.undo()
        assert await log.write([("c", 3)]) == 2
        assert log.failure is None
        await asyncio.to_thread(log.close)

    asyncio.run(write())
    assert read(tmp_path / "a.log") == {"a": 1, "c": 3}


def test_what_could_not_be_brought_to_the_disk_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.log"

    async def write() -> bytes:
        log = RecordLog(path)
        log.start(asyncio.get_running_loop())
        await log.write([("a", 1)])
        good = path.read_bytes()
        monkeypatch.setattr(os, "fsync", failing)
        with pytest.raises(StorageError, match="Input/output error"):
            await log.write([("b", 2)])
        monkeypatch.undo()
        # Only the failed frame is removed, before the next write.
        await log.write([("c", 3)])
        assert path.read_bytes().startswith(good)
        await asyncio.to_thread(log.close)
        return good

    asyncio.run(write())
    assert read(path) == {"a": 1, "c": 3}


def test_a_log_finds_out_by_itself_that_there_is_room_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_log_module, "_RETRY_S", 0.02)

    async def write() -> None:
        log = RecordLog(tmp_path / "a.log")
        log.start(asyncio.get_running_loop())

        def failures() -> list[StorageError]:
            return [] if log.failure is None else [log.failure]

        with monkeypatch.context() as patched:
            patched.setattr(os, "pwrite", full)
            with pytest.raises(StorageError, match="No space left"):
                await log.write([("a", "x" * 500)])
            await asyncio.sleep(0.1)
            assert failures() != []
            # This room is not enough.
            patched.setattr(os, "pwrite", almost_full)
            await asyncio.sleep(0.1)
            assert failures() != []
        while failures():
            await asyncio.sleep(0.01)
        assert await log.write([("b", 2)]) == 1
        await asyncio.to_thread(log.close)

    asyncio.run(write())
    assert read(tmp_path / "a.log") == {"b": 2}


def test_what_nobody_waits_for_is_tried_again_the_latest_of_each_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_log_module, "_RETRY_S", 0.02)

    async def write() -> list[tuple[str, object]]:
        log = RecordLog(tmp_path / "a.log")
        log.start(asyncio.get_running_loop())
        heard: list[tuple[str, object]] = []
        log.subscribe(lambda record: heard.append((record.key, record.value)))
        with monkeypatch.context() as patched:
            patched.setattr(os, "pwrite", full)
            for number in range(5):
                log.put([("a", number), (f"b{number}", number)])
            with pytest.raises(StorageError, match="No space left"):
                await log.write([])
            log.put([("b0", None)])
            assert heard == []
        while log.failure is not None or ("b0", None) not in heard:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(log.close)
        return heard

    heard = asyncio.run(write())
    assert [value for key, value in heard if key == "a"] == [4]
    assert heard[-1] == ("b0", None)
    assert read(tmp_path / "a.log") == {"a": 4, **{f"b{number}": number for number in range(1, 5)}}


def test_a_log_that_is_closed_while_nothing_can_be_written_says_what_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def write() -> None:
        log = RecordLog(tmp_path / "a.log")
        log.start(asyncio.get_running_loop())
        with monkeypatch.context() as patched:
            patched.setattr(os, "pwrite", full)
            log.put([("a", 1), ("b", 2)])
            await asyncio.to_thread(log.close)

    asyncio.run(write())
    assert "2 records without a waiting writer are lost" in caplog.text
    assert read(tmp_path / "a.log") == {}


@pytest.mark.slow
@pytest.mark.parametrize("room", [3_000, 20_000])
def test_a_full_disk_costs_what_was_refused_and_nothing_else(tmp_path: Path, room: int) -> None:
    program = """if True:
        import asyncio, json, resource, signal, sys
        from pathlib import Path
        from connect_workers.storage import RecordLog, StorageError, Topics
        from assignment_api.connectors import SourceRecord
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        room, told = int(sys.argv[2]), {"log": [], "topic": []}
        async def main():
            log = RecordLog(Path(sys.argv[1]) / "a.log")
            log.start(asyncio.get_running_loop())
            topics = Topics(Path(sys.argv[1]))
            for number in range(300):
                if number in (0, 200):
                    limit = room if number == 0 else resource.RLIM_INFINITY
                    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
                try:
                    await log.write([(f"k{number}", "x" * 100)])
                    told["log"].append(number)
                except StorageError:
                    pass
                try:
                    for partition in topics.append([SourceRecord({}, {}, "t", number, None, 0)] * 3):
                        partition.sync()
                    told["topic"].append(number)
                except StorageError:
                    pass
            await asyncio.to_thread(log.close)
        asyncio.run(main())
        print(json.dumps(told))
    """
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path), str(room)], capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout)
    assert told["log"][-100:] == told["topic"][-100:] == list(range(200, 300))
    assert 0 < len(told["log"]) < 300
    assert list(read(tmp_path / "a.log")) == [f"k{number}" for number in told["log"]]
    topics = Topics(tmp_path)
    records = topics.partition("t", 0).read(0, 10_000)
    assert [record.value for record in records] == [number for number in told["topic"] for _ in range(3)]
    topics.close()


def test_a_topic_that_could_not_be_brought_to_the_disk_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics = Topics(tmp_path)
    (partition,) = topics.append([SourceRecord({}, {}, "t", 1, None, 0)])
    partition.sync()
    topics.append([SourceRecord({}, {}, "t", 2, None, 0)])
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", failing)
        for _ in range(2):
            with pytest.raises(StorageError, match="Input/output error"):
                partition.sync()
    written_again = []
    real = os.pwrite

    def noted(file: int, data: bytes, place: int) -> int:
        written_again.append(bytes(data))
        return real(file, data, place)

    monkeypatch.setattr(os, "pwrite", noted)
    partition.sync()
    partition.sync()
    assert len(written_again) == 1
    assert b"[1,null,2," in written_again[0]
    assert [record.value for record in partition.read(0)] == [1, 2]
    topics.close()


def test_a_sync_waits_for_another_that_is_under_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    topics = Topics(tmp_path)
    (partition,) = topics.append([SourceRecord({}, {}, "t", 1, None, 0)])
    begun, may_end = threading.Event(), threading.Event()
    real = os.fsync

    def slow(file: int) -> None:
        begun.set()
        assert may_end.wait(30)
        real(file)

    monkeypatch.setattr(os, "fsync", slow)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(partition.sync)
        assert begun.wait(30)
        second = pool.submit(partition.sync)
        assert not wait([second], timeout=0.2).done
        may_end.set()
        first.result()
        second.result()
    topics.close()


def test_a_compaction_that_fails_is_put_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(record_log_module, "_COMPACT_ABOVE_BYTES", 500)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", failing)
        written(tmp_path / "a.log", *([("k", number)] for number in range(100)))
    assert "not compacted: " in caplog.text
    assert read(tmp_path / "a.log") == {"k": 99}
    assert [path.name for path in tmp_path.iterdir()] == ["a.log"]
    written(tmp_path / "a.log", *([("k", number)] for number in range(100)))
    assert (tmp_path / "a.log").stat().st_size < 1_000


def test_a_compacted_file_whose_name_is_not_on_disk_yet_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = FrameFile(tmp_path / "a.log", lambda place, payload: None)
    file.append(b"old")
    file.sync()
    synced: list[Path] = []

    def refused(path: Path) -> None:
        if path == tmp_path:
            raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(durable, "sync", refused)
        file.replace([b"new"])
    monkeypatch.setattr(frames, "sync", synced.append)
    file.append(b"next")
    file.sync()
    file.append(b"last")
    file.sync()
    assert synced == [tmp_path]
    file.close()
    found: list[bytes] = []
    FrameFile(tmp_path / "a.log", lambda place, payload: found.append(payload)).close()
    assert found == [b"new", b"next", b"last"]


def test_logs_say_why_they_are_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_log_module, "_RETRY_S", 0.02)

    async def fill() -> None:
        logs = ClusterLogs(tmp_path)
        logs.start()
        assert logs.failures() == []
        with monkeypatch.context() as patched:
            patched.setattr(os, "pwrite", full)
            logs.statuses.put("c", Status(JobState.RUNNING, "w:1", 1))
            while not logs.failures():
                await asyncio.sleep(0.01)
            assert "status.log: No space left" in str(logs.failures()[0])
            assert logs.statuses.connector("c") is None
        while logs.statuses.connector("c") is None:
            await asyncio.sleep(0.01)
        assert logs.failures() == []
        await asyncio.to_thread(logs.close)

    asyncio.run(fill())


# --- kill -9 ----------------------------------------------------------------------------------------

WRITER = """if True:
    import asyncio, os, sys
    from pathlib import Path
    from connect_workers.storage import RecordLog, record_log
    record_log._COMPACT_ABOVE_BYTES = 20_000
    async def main():
        log = RecordLog(Path(sys.argv[1]))
        log.start(asyncio.get_running_loop())
        known = {record.key: record.value for record in log.records()}
        async def write(key):
            number = known.get(key, 0)
            while True:
                number += 1
                await log.write([(key, number), (f"{key}-{number % 3}", "x" * 50)])
                os.write(1, f"{key} {number}\\n".encode())
        await asyncio.gather(*(write(f"k{number}") for number in range(20)))
    asyncio.run(main())
"""


@pytest.mark.slow
def test_kill_9_at_any_moment_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    path, draw = tmp_path / "a.log", random.Random(4)
    acknowledged: dict[str, Any] = {}
    for _ in range(20):
        with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for _ in range(draw.randrange(400)):
                key, number = process.stdout.readline().split()
                acknowledged[key.decode()] = int(number)
            process.kill()
            for line in process.stdout.read().splitlines(keepends=True):
                if line.endswith(b"\n"):
                    acknowledged[line.split()[0].decode()] = int(line.split()[1])
        found = read(path)
        # A writer may have died between the disk and its acknowledgement; the content of the disk counts from now on.
        assert {key: number for key, number in acknowledged.items() if found[key] not in (number, number + 1)} == {}
        acknowledged = {key: found[key] for key in found if "-" not in key}
    assert sum(acknowledged.values()) > 1_000


# --- the data directory -----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_directory_belongs_to_one_process(tmp_path: Path) -> None:
    data = DataDir(tmp_path)
    code = (
        "import sys; from pathlib import Path; from connect_workers.storage import DataDir, DataDirLockedError\n"
        "try: DataDir(Path(sys.argv[1]))\n"
        "except DataDirLockedError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert f"in use by process {os.getpid()}" in said.stdout
    with pytest.raises(DataDirLockedError):
        DataDir(tmp_path)
    data.close()
    DataDir(tmp_path).close()


def test_the_clusters_id_stays(tmp_path: Path) -> None:
    data = DataDir(tmp_path)
    first = data.cluster_id()
    data.close()
    again = DataDir(tmp_path)
    assert again.cluster_id() == first
    assert len(first) == 22
    again.close()


@pytest.mark.parametrize("path", ["../outside", "/etc/passwd", "link/x", "", ".", "a\0b", "sub/../../x", "loop/x"])
def test_connectors_cannot_leave_their_files(tmp_path: Path, path: str) -> None:
    data = DataDir(tmp_path / "data")
    (data.files / "link").symlink_to(tmp_path)
    (data.files / "loop").symlink_to(data.files / "loop")
    with pytest.raises(PathNotAllowedError):
        data.file(path)
    assert data.file("sub/../inside") == data.files / "inside"
    assert data.file(str(data.files / "inside")) == data.files / "inside"
    data.close()


def test_topics_keep_their_records_over_torn_ends(tmp_path: Path) -> None:
    topics = Topics(tmp_path)
    for start in range(0, 30, 10):
        topics.append([SourceRecord({}, {}, "t", {"n": n}, None, 1) for n in range(start, start + 10)])
    topics.close()
    file = tmp_path / "t" / "1.log"
    file.write_bytes(file.read_bytes()[:-3])
    again = Topics(tmp_path)
    partition = again.partition("t", 1)
    assert partition.end == 20
    assert [record.value["n"] for record in partition.read(7, 5)] == [7, 8, 9, *range(10, 20)]
    assert partition.read(20) == []
    again.append([SourceRecord({}, {}, "t", "next", None, 1)])
    assert [record.value for record in partition.read(20)] == ["next"]
    assert json.dumps(list(again.ends().items())) == '[[["t", 1], 21]]'
    again.close()


@pytest.mark.parametrize("topic", ["", ".", "..", "a/b", "../x", "a" * 250, "é", "a b"])
def test_a_topics_name_is_kafkas(tmp_path: Path, topic: str) -> None:
    topics = Topics(tmp_path)
    with pytest.raises(BadRequestError):
        topics.append([SourceRecord({}, {}, topic, 1)])
    with pytest.raises(BadRequestError):
        topics.partition("t", 5_000)
    assert list(tmp_path.iterdir()) == []


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["state", "trace", "worker_id", "generation", "topic", "properties", "tasks"]), inner,
        max_size=5,
    ),
    max_leaves=6,
)  # fmt: skip
keys = st.tuples(
    st.sampled_from(
        ["status-connector-", "status-task-", "status-topic-", "source:", "sink:", "connector-", "commit-"]
    ),
    st.sampled_from(
        ["", "c", "c-0", "t:connector-c", '["c",{}]', '["c","t",0]', "[[", "[1,2]", "7", '["c",{"a":[1]}]']
    ),
).map("".join)


@pytest.mark.slow
@given(st.lists(st.tuples(keys, values), max_size=10))
@settings(max_examples=30)
def test_whatever_the_logs_say_a_cluster_opens_them(
    tmp_path_factory: pytest.TempPathFactory, records: list[tuple[str, object]]
) -> None:
    path = tmp_path_factory.mktemp("data")
    for name in ("config", "status", "offsets"):
        written(path / f"{name}.log", records)
    logs = ClusterLogs(path)
    for job in logs.statuses.jobs():
        assert logs.statuses.status(job) is not None
    for sink in (True, False):
        logs.offsets.listed("c", sink=sink)
    for log in logs.logs:
        assert log.end == len(records)
    logs.statuses.topics("c")
    logs.close()


@pytest.mark.parametrize(
    "payload", [b"{}", b"7", b"[[0]]", b'[["0","a",1]]', b"[[0,7,1]]", b'[[-1,"a",1]]', b"[" * 100_000, b"\xff"]
)
def test_a_frame_of_something_else_is_an_error_with_its_place(tmp_path: Path, payload: bytes) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(MAGIC + frame_of(payload))
    with pytest.raises(LogCorruptError, match="at byte 15 is none of ours"):
        RecordLog(path)
    (tmp_path / "t").mkdir()
    path.rename(tmp_path / "t" / "0.log")
    with pytest.raises(LogCorruptError, match="at byte 15 is none of ours"):
        Topics(tmp_path)
