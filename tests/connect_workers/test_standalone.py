"""The standalone runtime: all work is done before the answer, including restarts (Kafka: ``StandaloneHerder``)."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assignment_api.connect import ConnectorTaskId
from assignor_lab.kafka.herder.restarts import RestartRequest
from connect_workers.contract import AlreadyExistsError, BadRequestError, NotFoundError, UnhealthyError
from connect_workers.herders.standalone import StandaloneHerder
from connect_workers.logs.cluster_logs import ClusterLogs
from connect_workers.storage import StorageError
from tests.connect_workers.live import PLUGINS, WITNESS, settings, until

CONFIG = {"name": "c", "connector.class": "tracked", "tasks.max": "2"}


@contextlib.asynccontextmanager
async def standalone(path: Path) -> AsyncIterator[StandaloneHerder]:
    logs = ClusterLogs(path, offset_flush_interval_ms=50)
    logs.start()
    herder = StandaloneHerder("127.0.0.1:8083", settings(), logs, PLUGINS)
    try:
        await herder.start()
        yield herder
        await herder.stop()
    finally:
        await asyncio.to_thread(logs.close)


def states(herder: StandaloneHerder) -> list[str]:
    try:
        status = herder.connector_status("c")
    except NotFoundError:
        return []
    return [status.connector.state, *(task.state for task in status.tasks)]


def test_a_connector_has_its_tasks_when_its_creation_is_answered(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with standalone(tmp_path) as herder:
            created, info = await herder.put_connector("c", CONFIG, replace=False)
            assert created
            assert list(info.tasks) == [ConnectorTaskId("c", 0), ConnectorTaskId("c", 1)]
            await until(lambda: states(herder) == ["RUNNING"] * 3)
            with pytest.raises(AlreadyExistsError):
                await herder.put_connector("c", CONFIG, replace=False)
            created, info = await herder.put_connector("c", {**CONFIG, "tasks.max": "3"}, replace=True)
            assert not created
            assert len(info.tasks) == 3
            await until(lambda: states(herder) == ["RUNNING"] * 4)
            info = await herder.patch_connector("c", {"tasks.max": "1"})
            assert len(info.tasks) == 1
            await until(lambda: states(herder) == ["RUNNING"] * 2)
            assert [config.config["tasks.max"] for config in await herder.task_configs("c")] == ["1"]

    asyncio.run(scenario())
    assert WITNESS.twice == []


def test_what_ran_runs_again_after_a_start(tmp_path: Path) -> None:
    async def first() -> None:
        async with standalone(tmp_path) as herder:
            await herder.put_connector("c", CONFIG, replace=False)

    async def second() -> None:
        async with standalone(tmp_path) as herder:
            await until(lambda: states(herder) == ["RUNNING"] * 3)
            assert herder.connectors() == ["c"]

    asyncio.run(first())
    asyncio.run(second())


@pytest.mark.slow
def test_what_cannot_be_written_changes_nothing_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    async def scenario() -> None:
        async with standalone(tmp_path) as herder:
            await herder.put_connector("c", CONFIG, replace=False)
            await until(lambda: states(herder) == ["RUNNING"] * 3)
            with monkeypatch.context() as patched:
                patched.setattr(os, "pwrite", full)
                for change in (
                    lambda: herder.put_connector("c", {**CONFIG, "tasks.max": "1"}, replace=True),
                    lambda: herder.stop_connector("c"),
                    lambda: herder.delete_connector("c"),
                ):
                    with pytest.raises(StorageError, match="No space left"):
                        await change()
                with pytest.raises(UnhealthyError, match=r"config\.log: No space left"):
                    await herder.health()
            assert states(herder) == ["RUNNING"] * 3
            assert len(herder._logs.ledger.running()) == 3
            await until(lambda: not herder._logs.failures())
            await herder.health()

    asyncio.run(scenario())


def test_a_restart_is_over_when_it_is_answered(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with standalone(tmp_path) as herder:
            await herder.put_connector("c", CONFIG, replace=False)
            await until(lambda: states(herder) == ["RUNNING"] * 3)
            WITNESS.starts.clear()
            answer = await herder.restart_connector_and_tasks(RestartRequest("c", include_tasks=True))
            assert [answer.plan.connector.state, *(task.state for task in answer.plan.tasks)] == ["RESTARTING"] * 3
            await until(lambda: sorted(WITNESS.starts) == ["c", "c-0", "c-1"])
            await until(lambda: states(herder) == ["RUNNING"] * 3)
            WITNESS.starts.clear()
            answer = await herder.restart_connector_and_tasks(RestartRequest("c", only_failed=True, include_tasks=True))
            assert answer.plan.connector.state == "RUNNING"
            await herder.restart_task(ConnectorTaskId("c", 1))
            await until(lambda: WITNESS.starts == ["c-1"])
            await herder.restart_connector("c")
            assert WITNESS.starts == ["c-1", "c"]

    asyncio.run(scenario())
    assert WITNESS.twice == []


def test_what_is_unknown_is_not_found_wherever_connect_stumbles(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with standalone(tmp_path) as herder:
            with pytest.raises(NotFoundError, match="Unknown connector: c"):
                await herder.restart_connector_and_tasks(RestartRequest("c", include_tasks=True))
            with pytest.raises(NotFoundError, match="Unknown connector: c"):
                await herder.restart_connector("c")
            with pytest.raises(NotFoundError, match="Unknown connector c"):
                await herder.stop_connector("c")
            await herder.put_connector("c", CONFIG, replace=False)
            with pytest.raises(NotFoundError, match="Unknown task: c-7"):
                await herder.restart_task(ConnectorTaskId("c", 7))
            with pytest.raises(NotFoundError, match="No status found for task c-7"):
                herder.task_status(ConnectorTaskId("c", 7))
            with pytest.raises(BadRequestError, match="standalone mode"):
                await herder.put_task_configs("c", [])
            with pytest.raises(BadRequestError, match="standalone mode"):
                await herder.fence("c")

    asyncio.run(scenario())


def test_pause_resume_stop_delete(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with standalone(tmp_path) as herder:
            await herder.put_connector("c", CONFIG, replace=False)
            await herder.pause_connector("c")
            await until(lambda: states(herder) == ["PAUSED"] * 3)
            await herder.resume_connector("c")
            await until(lambda: states(herder) == ["RUNNING"] * 3)
            await herder.stop_connector("c")
            await until(lambda: states(herder) == ["STOPPED"])
            assert (await herder.reset_offsets("c")).message.startswith("The Connect framework-managed offsets")
            await herder.resume_connector("c")
            await until(lambda: states(herder) == ["RUNNING"] * 3)
            await herder.delete_connector("c")
            await until(lambda: states(herder) == [])
            assert herder.connectors() == []

    asyncio.run(scenario())
    assert WITNESS.running == set()
