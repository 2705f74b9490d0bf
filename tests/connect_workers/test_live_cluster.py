"""Live workers join, leave and die, and the group behaves like Connect's.

Kafka: ``IncrementalCooperativeAssignor``, ``DistributedHerder``.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import Future
from pathlib import Path

import pytest

from assignment_api.connect import ConnectorTaskId, ConnectProtocol
from assignor_lab.kafka.herder.config_log.records import connector_records
from connect_workers.cluster import ConnectCluster, NoSuchWorkerError
from connect_workers.contract import (
    AlreadyExistsError,
    BadRequestError,
    HerderError,
    NotFoundError,
    NotLeaderError,
    Offset,
)
from connect_workers.storage import StoredRecord
from tests.connect_workers.live import WITNESS, CollectingTask, cluster, follower, leader, put, settings, states, until


def loads(made: ConnectCluster) -> list[int]:
    counts = dict.fromkeys(made.workers, 0)
    for job, owners in made.owners().items():
        if isinstance(job, ConnectorTaskId):
            for name in owners:
                counts[name] += 1
    return sorted(counts.values())


def delays(made: ConnectCluster) -> list[int]:
    """Delays of workers that are not over yet."""
    return [
        told.delay_ms for worker in made.workers.values() if (told := worker.herder.loop.membership.state.assignment)
    ]


@pytest.mark.parametrize("protocol", list(ConnectProtocol))
def test_every_protocol_places_everything_once_and_evenly(tmp_path: Path, protocol: ConnectProtocol) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 3, settings(protocol)) as made:
            await put(made, "a", "tracked", tasks__max="5")
            await put(made, "b", "tracked", tasks__max="4")
            assert loads(made) == [3, 3, 3]
            await until(lambda: states(made, "a") == ["RUNNING"] * 6 and states(made, "b") == ["RUNNING"] * 5)
            assert all(len(owners) == 1 for owners in made.owners().values())

    asyncio.run(scenario())
    assert WITNESS.twice == []


def test_a_worker_that_joins_gets_its_share_and_nothing_runs_twice(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 1) as made:
            await put(made, "a", "tracked", tasks__max="8")
            assert loads(made) == [8]
            made.add_worker("later", 19_000, settings())
            await made.until_calm()
            assert loads(made) == [4, 4]
            await until(lambda: states(made, "a") == ["RUNNING"] * 9)
            assert made.logs.ledger.double_runs == []

    asyncio.run(scenario())


@pytest.mark.slow
def test_a_worker_that_leaves_hands_its_tasks_on_after_the_delay(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 3, settings(delay_ms=600)) as made:
            await put(made, "a", "tracked", tasks__max="6")
            gone = next(name for name in made.workers if made.workers[name].herder is not leader(made))
            await made.stop_worker(gone)
            await until(lambda: max(delays(made)) > 0)
            # It reported their stop; they have no owner for a while.
            assert states(made, "a").count("UNASSIGNED") == 2
            await made.until_calm()
            await until(lambda: states(made, "a") == ["RUNNING"] * 7)
            assert loads(made) == [3, 3]

    asyncio.run(scenario())


@pytest.mark.slow
def test_a_worker_that_returns_within_the_delay_gets_its_tasks_back(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 3, settings(delay_ms=900)) as made:
            await put(made, "a", "tracked", tasks__max="6")
            gone = next(name for name in made.workers if made.workers[name].herder is not leader(made))
            await made.until_calm()
            WITNESS.starts.clear()
            await made.roll_worker(gone)
            await made.until_calm()
            assert loads(made) == [2, 2, 2]
            await until(lambda: states(made, "a") == ["RUNNING"] * 7)
            # Only the jobs of that worker were started again.
            assert len([name for name in WITNESS.starts if name != "a"]) == 2

    asyncio.run(scenario())


@pytest.mark.slow
def test_a_killed_worker_is_missed_after_the_session_timeout(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 3, settings(session_timeout_ms=300)) as made:
            await put(made, "a", "tracked", tasks__max="6")
            gone = next(name for name in made.workers if made.workers[name].herder is not leader(made))
            await until(lambda: states(made, "a") == ["RUNNING"] * 7)
            made.kill_worker(gone)
            # It ran at its last heartbeat, as its statuses still report.
            assert len(made.group.members()) == 3
            assert states(made, "a") == ["RUNNING"] * 7
            await made.until_calm()
            await until(lambda: loads(made) == [3, 3])
            await until(lambda: states(made, "a") == ["RUNNING"] * 7)
            assert any("sent no heartbeat in time" in reason for each in made.group.rounds for reason in each.reasons)

    asyncio.run(scenario())
    assert WITNESS.twice == []


@pytest.mark.slow
def test_a_worker_that_takes_long_to_stop_its_tasks_is_not_taken_for_dead(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        async with cluster(tmp_path, 1, settings(session_timeout_ms=300)) as made:
            await put(made, "a", "failing", topic="t", tasks__max="4", stop__ms="700")
            await until(lambda: states(made, "a") == ["RUNNING"] * 5)
            made.add_worker("later", 19_000, settings(session_timeout_ms=300))
            await made.until_calm()
            assert loads(made) == [2, 2]
            await made.stop_worker("w0")
            await made.until_calm()
            return [reason for each in made.group.rounds for reason in each.reasons]

    assert not [reason for reason in asyncio.run(scenario()) if "sent no heartbeat in time" in reason]


@pytest.mark.slow
def test_a_leader_that_has_not_read_far_enough_fails_the_round_until_it_has(tmp_path: Path) -> None:
    async def scenario() -> int:
        async with cluster(tmp_path, 2) as made:
            loop = leader(made).loop
            assert loop._unsubscribe is not None
            loop._unsubscribe()
            missed: list[StoredRecord] = []
            before = made.logs.config.end
            loop._unsubscribe = made.logs.config.subscribe(missed.append)
            await made.logs.config.write(connector_records("a", {"name": "a", "connector.class": "tracked"}, None))
            failed = 0
            for _ in range(300):
                told = loop.membership.state.assignment
                failed += told is not None and told.failed
                await asyncio.sleep(0.002)
            for record in missed:
                if record.offset >= before:
                    loop.reader.read(record)
            loop._unsubscribe()
            loop._unsubscribe = made.logs.config.subscribe(
                lambda record: loop.reader.read(record) if record.offset >= loop.reader.offset else None
            )
            await made.until_calm()
            await until(lambda: states(made, "a") == ["RUNNING", "RUNNING"])
            return failed

    assert asyncio.run(scenario()) > 0


@pytest.mark.slow
def test_a_herder_that_is_busy_for_too_long_leaves_and_nothing_runs_twice(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        busy = settings(rebalance_timeout_ms=400)
        async with cluster(tmp_path, 2, busy) as made:
            await put(made, "a", "tracked", tasks__max="4")
            await until(lambda: states(made, "a") == ["RUNNING"] * 5)
            loop = follower(made).loop
            loop.queue.later(lambda: asyncio.sleep(1.0))
            await until(lambda: loads(made) == [0, 4])
            await until(lambda: states(made, "a").count("RUNNING") == 5)
            await made.until_calm()
            await until(lambda: loads(made) == [2, 2])
            assert made.logs.ledger.double_runs == []
            return [reason for each in made.group.rounds for reason in each.reasons]

    assert any("does not poll" in reason for reason in asyncio.run(scenario()))
    assert WITNESS.twice == []


@pytest.mark.slow
def test_a_process_that_was_held_up_takes_nobody_for_dead_and_finds_the_dead_afterwards(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 3, settings(session_timeout_ms=300)) as made:
            await put(made, "a", "tracked", tasks__max="6")
            generation = made.group.generation
            time.sleep(0.6)
            await asyncio.sleep(0.5)
            assert made.group.generation == generation
            gone = next(name for name in made.workers if made.workers[name].herder is not leader(made))
            made.kill_worker(gone)
            time.sleep(0.6)
            await until(lambda: len(made.group.members()) == 2, 3)
            await made.until_calm()
            assert loads(made) == [3, 3]

    asyncio.run(scenario())


@pytest.mark.slow
def test_a_leaders_death_costs_no_delay(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 3, settings(delay_ms=60_000, session_timeout_ms=300)) as made:
            await put(made, "a", "tracked", tasks__max="6")
            gone = next(name for name in made.workers if made.workers[name].herder is leader(made))
            made.kill_worker(gone)
            await made.until_calm(20)
            assert loads(made) == [3, 3]

    asyncio.run(scenario())


def test_a_mixed_group_speaks_what_all_know_and_upgrades_by_itself(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 0) as made:
            for number, protocol in enumerate((ConnectProtocol.EAGER, ConnectProtocol.SESSIONED)):
                made.add_worker(f"w{number}", 19_000 + number, settings(protocol))
            await made.until_calm()
            await put(made, "a", "tracked", tasks__max="4")
            assert {worker.herder.loop.membership.state.protocol for worker in made.workers.values()} == {
                ConnectProtocol.EAGER
            }
            await made.roll_worker("w0", settings(ConnectProtocol.SESSIONED))
            await made.until_calm()
            assert {worker.herder.loop.membership.state.protocol for worker in made.workers.values()} == {
                ConnectProtocol.SESSIONED
            }
            await until(lambda: states(made, "a") == ["RUNNING"] * 5)
            assert loads(made) == [2, 2]
            assert made.logs.ledger.double_runs == []

    asyncio.run(scenario())


def test_going_back_to_eager_runs_nothing_twice(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 2) as made:
            await put(made, "a", "tracked", tasks__max="6")
            made.add_worker("old", 19_000, settings(ConnectProtocol.EAGER))
            await made.until_calm()
            await until(lambda: states(made, "a") == ["RUNNING"] * 7)
            assert all(len(owners) == 1 for owners in made.owners().values())
            assert made.logs.ledger.double_runs == []

    asyncio.run(scenario())


def test_another_number_of_tasks_takes_effect(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 2) as made:
            for count in (1, 5, 3):
                await put(made, "a", "tracked", tasks__max=str(count))
                await until(lambda count=count: states(made, "a") == ["RUNNING"] * (count + 1))  # type: ignore[misc]

    asyncio.run(scenario())


def test_a_changed_configuration_reaches_the_tasks(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 2) as made:
            await put(made, "a", "tracked", topic="one")
            await put(made, "a", "tracked", topic="two")
            configs = await leader(made).task_configs("a")
            assert [config.config["topic"] for config in configs] == ["two"]
            info = await leader(made).patch_connector("a", {"topic": "three"})
            assert info.config["topic"] == "three"
            await made.until_calm()
            (config,) = await follower(made).task_configs("a")
            assert config.config["topic"] == "three"

    asyncio.run(scenario())


def test_pause_resume_stop_and_start_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 2) as made:
            await put(made, "a", "tracked", tasks__max="2")
            await follower(made).pause_connector("a")
            await until(lambda: states(made, "a") == ["PAUSED"] * 3)
            await follower(made).resume_connector("a")
            await until(lambda: states(made, "a") == ["RUNNING"] * 3)
            await leader(made).stop_connector("a")
            await until(lambda: states(made, "a") == ["STOPPED"])
            await made.until_calm()
            assert list(made.owners()) == ["a"]
            await leader(made).resume_connector("a")
            await until(lambda: states(made, "a") == ["RUNNING"] * 3)

    asyncio.run(scenario())


@pytest.mark.parametrize(("initial", "expected"), [("PAUSED", ["PAUSED"]), ("stopped", ["STOPPED"])])
def test_a_connector_may_be_created_at_rest(tmp_path: Path, initial: str, expected: list[str]) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path) as made:
            config = {"name": "a", "connector.class": "tracked"}
            created, info = await leader(made).put_connector("a", config, initial_state=initial, replace=False)
            assert created
            assert info.tasks == ()
            await until(lambda: states(made, "a") == expected)

    asyncio.run(scenario())


def test_a_deleted_connector_is_gone_with_its_statuses(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 2) as made:
            await put(made, "a", "tracked", tasks__max="2")
            await leader(made).delete_connector("a")
            await made.until_calm()
            await until(lambda: states(made, "a") == [])
            assert made.owners() == {}
            with pytest.raises(NotFoundError, match="Connector a not found"):
                await leader(made).connector_info("a")

    asyncio.run(scenario())
    assert WITNESS.running == set()


def test_requests_are_refused_in_connects_words(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 2) as made:
            await put(made, "a", "tracked")
            config = {"name": "a", "connector.class": "tracked"}
            with pytest.raises(AlreadyExistsError, match="Connector a already exists"):
                await leader(made).put_connector("a", config, replace=False)
            with pytest.raises(NotLeaderError):
                await follower(made).put_connector("b", config, replace=True)
            with pytest.raises(NotFoundError, match="Unknown connector b"):
                await leader(made).pause_connector("b")
            with pytest.raises(NotFoundError, match="Connector b not found"):
                await leader(made).delete_connector("b")
            with pytest.raises(BadRequestError, match="contains the following 1 error"):
                await leader(made).put_connector("b", {**config, "name": "b", "tasks.max": "0"}, replace=True)
            with pytest.raises(HerderError, match="Failed to find any class that implements Connector"):
                await leader(made).put_connector("b", {"name": "b", "connector.class": "os.path"}, replace=True)

    asyncio.run(scenario())


def test_more_tasks_than_allowed_fail_the_connector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> str:
        async with cluster(tmp_path) as made:
            herder = leader(made)
            await put(made, "a", "tracked", tasks__max="2")
            run = herder.loop.instances.connectors["a"]
            monkeypatch.setattr(run, "task_configs", lambda most: _answered([{}] * (most + 1)))
            herder._reconfigure("a")
            await until(lambda: states(made, "a")[0] == "FAILED")
            return herder.connector_status("a").connector.trace or ""

    assert "has generated 3 tasks, which is greater than 2" in asyncio.run(scenario())


def _answered(value: list[dict[str, str]]) -> Future[list[dict[str, str]]]:
    future: Future[list[dict[str, str]]] = Future()
    future.set_result(value)
    return future


@pytest.mark.slow
def test_offsets_are_seen_changed_and_forgotten(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 2) as made:
            await put(made, "gen", "generator", topic="t", records__per__second="200", records__max="20")
            await put(made, "sink", "collecting", topics="t")
            lead = leader(made)
            await until(lambda: made.logs.offsets.of_sink("sink", "t", 0) == 20)
            assert await lead.connector_offsets("gen") == [Offset({"generator": 0}, {"n": 20})]
            assert await lead.connector_offsets("sink") == [
                Offset({"kafka_topic": "t", "kafka_partition": 0}, {"kafka_offset": 20})
            ]
            with pytest.raises(BadRequestError, match="must be in the STOPPED state"):
                await lead.reset_offsets("sink")
            await lead.stop_connector("sink")
            await made.until_calm()
            back = Offset({"kafka_topic": "t", "kafka_partition": 0}, {"kafka_offset": 15})
            answer = await lead.alter_offsets("sink", [back])
            assert "altered successfully" in answer.message
            CollectingTask.collected.clear()
            await lead.resume_connector("sink")
            await until(lambda: len(CollectingTask.collected) == 5)
            assert [record.offset for record in CollectingTask.collected] == [15, 16, 17, 18, 19]
            await lead.stop_connector("gen")
            await made.until_calm()
            assert (await lead.reset_offsets("gen")).message == (
                "The offsets for this connector have been reset successfully"
            )
            assert await lead.connector_offsets("gen") == []
            assert list(lead.active_topics("gen")) == ["t"]
            await lead.reset_topics("gen")
            await until(lambda: list(lead.active_topics("gen")) == [])

    asyncio.run(scenario())


@pytest.mark.slow
def test_a_hanging_connector_start_keeps_nobody_else_waiting(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path) as made:
            await put(made, "slow", "failing", topic="t", start__ms="1500", calm=False)
            await put(made, "a", "tracked", calm=False)
            await asyncio.wait_for(leader(made).health(), 1)
            await until(lambda: states(made, "a") == ["RUNNING", "RUNNING"], 1)

    asyncio.run(scenario())


def test_internal_requests_need_the_clusters_signature(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 2) as made:
            signature = follower(made).signature(b"body")
            leader(made).verify_internal_request(b"body", signature, "HmacSHA256")
            with pytest.raises(HerderError, match="invalid signature"):
                leader(made).verify_internal_request(b"other", signature, "HmacSHA256")
            with pytest.raises(BadRequestError, match="missing required signature"):
                leader(made).verify_internal_request(b"body", None, "HmacSHA256")

    asyncio.run(scenario())


def test_logger_levels_are_a_workers_own_or_the_clusters(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 2) as made:
            name = "assignor_lab.connect.herder"
            assert name in await leader(made).set_logger_level(name, "debug")
            assert leader(made).logger(name).level == "DEBUG"
            assert follower(made).logger(name).level == "INFO"
            await leader(made).set_cluster_logger_level("assignor_lab.connect", "WARN")
            assert follower(made).logger(name).level == "WARN"
            with pytest.raises(NotFoundError, match="Logger none not found"):
                leader(made).logger("none")

    asyncio.run(scenario())


def test_a_level_is_that_of_the_workers_messages(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 1) as made:
            worker = leader(made)
            await worker.set_logger_level("org.apache.kafka.connect.runtime.Worker", "OFF")
            await put(made, "silent", "failing", topic="t", fail__connector__on__start="true", calm=False)
            await until(lambda: states(made, "silent") == ["FAILED"])
            await worker.set_logger_level("org.apache.kafka.connect", "ERROR")
            await put(made, "loud", "failing", topic="t", fail__connector__on__start="true", calm=False)
            await until(lambda: states(made, "loud") == ["FAILED"])

    asyncio.run(scenario())
    said = [record.getMessage() for record in caplog.records if "has failed" in record.getMessage()]
    assert said == ["[127.0.0.1:18083] loud has failed"]


def test_unknown_workers_cannot_be_told_anything(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path) as made:
            with pytest.raises(NoSuchWorkerError, match="there is no worker 'w9': there are w0"):
                made.kill_worker("w9")
            with pytest.raises(NoSuchWorkerError, match="already"):
                made.add_worker("w0", 19_000)

    asyncio.run(scenario())
