from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from assignment_api.connect import ConnectorTaskId
from assignor_lab.kafka.herder.config_log.records import restart_records
from assignor_lab.kafka.herder.restarts import PendingRestarts, RestartRequest
from connect_workers.cluster import ConnectCluster
from connect_workers.contract import NotAssignedError, NotFoundError, NotLeaderError, RebalanceExpectedError
from connect_workers.storage import StoredRecord
from tests.connect_workers.live import WITNESS, cluster, follower, leader, owner, put, settings, states, until

NEITHER = RestartRequest("c")
TASKS = RestartRequest("c", include_tasks=True)
FAILED = RestartRequest("c", only_failed=True)
FAILED_TASKS = RestartRequest("c", only_failed=True, include_tasks=True)

#: States that end only by a request.
AT_REST = ("RUNNING", "PAUSED", "STOPPED", "FAILED")


class Sequences:
    def __init__(self) -> None:
        self.of: dict[str, list[str]] = {}
        self.versions: dict[str, list[str | None]] = {}

    @classmethod
    async def begun(cls, made: ConnectCluster) -> Sequences:
        """From now on; all starting instances have reported before, and it is on disk."""
        statuses = made.logs.statuses
        await until(lambda: all((said := statuses.status(job)) and said.state in AT_REST for job in made.owners()))
        await statuses.flush()
        (status_log,) = [log for log in made.logs.logs if log.path.stem == "status"]
        sequences = cls()
        status_log.subscribe(sequences.read)
        sequences.of.clear()
        sequences.versions.clear()
        return sequences

    async def after(self, made: ConnectCluster, expected: Mapping[str, list[str]]) -> dict[str, list[str]]:
        """Written statuses, once they are as expected (or the time is over), and a moment later."""
        with suppress(TimeoutError):
            await until(lambda: all(self.of.get(name) == written for name, written in expected.items()))
        await made.until_calm()
        await asyncio.sleep(0.1)
        return {name: list(written) for name, written in self.of.items()}

    def read(self, record: StoredRecord) -> None:
        for kind in ("status-connector-", "status-task-"):
            if record.key.startswith(kind) and record.value is not None:
                name = record.key.removeprefix(kind)
                self.of.setdefault(name, []).append(record.value["state"])
                self.versions.setdefault(name, []).append(record.value["version"])


async def failing(made: ConnectCluster, *failed: str, tasks: int = 3) -> None:
    file = made.logs.data.file("fail")
    if failed:
        file.write_text("\n".join(failed))
    await put(made, "c", "failing", topic="t", tasks__max=str(tasks), fail__file="fail", records__per__second="50")
    if "connector" in failed:
        await until(lambda: states(made, "c")[:1] == ["FAILED"])
    else:
        await until(lambda: len(states(made, "c")) == tasks + 1)
        await until(lambda: states(made, "c").count("FAILED") == len(failed))
        await until(lambda: states(made, "c").count("RUNNING") == tasks + 1 - len(failed))
    file.unlink(missing_ok=True)


async def restarted(
    made: ConnectCluster, request: RestartRequest, expected: Mapping[str, list[str]]
) -> dict[str, list[str]]:
    sequences = await Sequences.begun(made)
    await leader(made).restart_connector_and_tasks(request)
    return await sequences.after(made, expected)


BACK = ["UNASSIGNED", "RESTARTING", "RUNNING"]
FROM_FAILED = ["RESTARTING", "RUNNING"]


@pytest.mark.parametrize(
    ("failed", "request_", "expected"),
    [
        ((), TASKS, {"c": BACK, "c-0": BACK, "c-1": BACK, "c-2": BACK}),
        ((), FAILED, {}),
        ((), FAILED_TASKS, {}),
        (("c-1",), FAILED_TASKS, {"c-1": FROM_FAILED}),
        (("c-1",), FAILED, {}),
        (("c-0", "c-2"), TASKS, {"c": BACK, "c-0": FROM_FAILED, "c-1": BACK, "c-2": FROM_FAILED}),
    ],
)
def test_a_restart_restarts_what_its_flags_say_and_nothing_else(
    tmp_path: Path, failed: tuple[str, ...], request_: RestartRequest, expected: dict[str, list[str]]
) -> None:
    async def scenario() -> dict[str, list[str]]:
        async with cluster(tmp_path, 3) as made:
            await failing(made, *failed)
            return await restarted(made, request_, expected)

    assert asyncio.run(scenario()) == expected


def test_a_failed_connector_comes_back_with_only_failed(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        async with cluster(tmp_path, 2) as made:
            await failing(made, "connector", tasks=2)
            sequence = await restarted(made, FAILED, {"c": FROM_FAILED})
            # Tasks exist only from now on, when it runs.
            await until(lambda: states(made, "c") == ["RUNNING"] * 3)
            return sequence["c"]

    assert asyncio.run(scenario()) == FROM_FAILED


def test_the_answer_is_the_plan_with_traces_kept(tmp_path: Path) -> None:
    async def scenario() -> tuple[Any, Any]:
        async with cluster(tmp_path, 3) as made:
            await failing(made, "c-1")
            before = leader(made).connector_status("c")
            answer = await leader(made).restart_connector_and_tasks(FAILED_TASKS)
            return before, answer.plan

    before, plan = asyncio.run(scenario())
    assert plan.connector == before.connector
    assert plan.type == "source"
    by_number = {task.number: task for task in plan.tasks}
    assert [by_number[number].state for number in range(3)] == ["RUNNING", "RESTARTING", "RUNNING"]
    assert by_number[1].trace == before.tasks[1].trace
    assert "is configured to fail" in by_number[1].trace


def test_restarting_has_no_version_since_its_writer_holds_no_instance(tmp_path: Path) -> None:
    async def scenario() -> list[str | None]:
        async with cluster(tmp_path) as made:
            await put(made, "c", "tracked")
            sequences = await Sequences.begun(made)
            await leader(made).restart_connector_and_tasks(TASKS)
            await until(lambda: sequences.of.get("c-0", [])[-1:] == ["RUNNING"])
            return list(sequences.versions["c-0"])

    assert asyncio.run(scenario()) == ["7", None, "7"]


def test_a_restart_is_refused_where_the_connector_is_unknown_or_has_no_status(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 2) as made:
            for herder in (leader(made), follower(made)):
                with pytest.raises(NotFoundError, match="Unknown connector: c"):
                    await herder.restart_connector_and_tasks(TASKS)
                with pytest.raises(NotFoundError, match="Unknown connector: c"):
                    await herder.restart_connector("c")
                with pytest.raises(NotFoundError, match="Unknown connector: c"):
                    await herder.restart_task(ConnectorTaskId("c", 0))
            await put(made, "c", "tracked")
            with pytest.raises(NotFoundError, match="Unknown task: c-9"):
                await leader(made).restart_task(ConnectorTaskId("c", 9))
            made.logs.statuses.remove("c")
            await until(lambda: made.logs.statuses.connector("c") is None)
            with pytest.raises(NotFoundError, match="Status for connector c not found"):
                await leader(made).restart_connector_and_tasks(TASKS)

    asyncio.run(scenario())


def test_only_the_leader_takes_asynchronous_restarts_and_says_where_it_is(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 2) as made:
            await put(made, "c", "tracked")
            with pytest.raises(NotLeaderError) as refused:
                await follower(made).restart_connector_and_tasks(TASKS)
            worker = made.leader()
            assert worker is not None
            assert refused.value.forward_url == worker.url

    asyncio.run(scenario())


def test_synchronous_restarts_are_the_owners_and_the_leader_knows_who_that_is(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 3) as made:
            await put(made, "c", "tracked", tasks__max="3")
            lead = leader(made)
            elsewhere = next(job for job, names in made.owners().items() if made.workers[names[0]].herder is not lead)
            owning = made.workers[made.owners()[elsewhere][0]]
            call = lead.restart_task if isinstance(elsewhere, ConnectorTaskId) else lead.restart_connector
            with pytest.raises(NotAssignedError) as refused:
                await call(elsewhere)  # type: ignore[arg-type]
            assert refused.value.forward_url == owning.url

    asyncio.run(scenario())


@pytest.mark.slow
def test_a_synchronous_restart_restarts_one_instance_whatever_its_state(tmp_path: Path) -> None:
    async def scenario() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        async with cluster(tmp_path, 2) as made:
            await put(made, "c", "tracked", tasks__max="2")
            connector = await Sequences.begun(made)
            await owner(made, "c").restart_connector("c")
            connector_alone = await connector.after(made, {"c": again})
            task = await Sequences.begun(made)
            await owner(made, ConnectorTaskId("c", 1)).restart_task(ConnectorTaskId("c", 1))
            return connector_alone, await task.after(made, {"c-1": again})

    again = ["UNASSIGNED", "RUNNING"]
    connector, task = asyncio.run(scenario())
    assert connector["c"][:2] == again
    assert "c-0" not in connector
    assert task == {"c-1": again}


def test_restarts_and_reads_are_refused_while_a_rebalance_is_expected(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 2) as made:
            await put(made, "c", "tracked")
            lead = leader(made)
            lead.loop.news.changes.needs_rebalance = True
            requests = [
                lead.restart_connector_and_tasks(TASKS), lead.restart_connector("c"),
                lead.restart_task(ConnectorTaskId("c", 0)), lead.connector_info("c"), lead.task_configs("c"),
                lead.reset_offsets("c"),
            ]  # fmt: skip
            refused = await asyncio.gather(*requests, return_exceptions=True)
            assert [type(each) for each in refused] == [RebalanceExpectedError] * 6
            await made.until_calm()

    asyncio.run(scenario())


def test_paused_and_stopped_instances_are_restarted_to_their_target_state(tmp_path: Path) -> None:
    async def scenario() -> dict[str, list[str]]:
        async with cluster(tmp_path, 2) as made:
            await put(made, "c", "tracked")
            await leader(made).pause_connector("c")
            await until(lambda: states(made, "c") == ["PAUSED", "PAUSED"])
            return await restarted(made, TASKS, expected)

    back = ["UNASSIGNED", "RESTARTING", "PAUSED"]
    expected = {"c": back, "c-0": back}
    assert asyncio.run(scenario()) == expected


@pytest.mark.slow
def test_an_instance_that_does_not_stop_is_given_up_and_a_new_one_begins(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        async with cluster(tmp_path, 1, settings(task_shutdown_graceful_timeout_ms=200)) as made:
            await put(made, "c", "failing", topic="t", stop__ms="700", records__per__second="50")
            await until(lambda: states(made, "c") == ["RUNNING", "RUNNING"])
            sequences = await Sequences.begun(made)
            await leader(made).restart_task(ConnectorTaskId("c", 0))
            await until(lambda: "RUNNING" in sequences.of.get("c-0", []))
            # An abandoned task ends later, without a report.
            await asyncio.sleep(0.8)
            return list(sequences.of["c-0"])

    assert asyncio.run(scenario()) == ["RUNNING"]


def test_requests_merge_by_rank_and_the_lower_one_is_dropped() -> None:
    pending = PendingRestarts()
    for request in (FAILED_TASKS, FAILED, TASKS, NEITHER, FAILED_TASKS):
        pending.add(request)
    other = RestartRequest("b", only_failed=True)
    pending.add(other)
    assert pending.take() == [other, TASKS]
    assert not pending
    # A request that restarts only the connector outranks one that restarts failed tasks, as in Kafka.
    pending.add(FAILED_TASKS)
    pending.add(NEITHER)
    assert pending.take() == [NEITHER]


def test_two_restarts_in_one_tick_become_one(tmp_path: Path) -> None:
    async def scenario() -> dict[str, list[str]]:
        async with cluster(tmp_path, 2) as made:
            await put(made, "c", "tracked")
            sequences = await Sequences.begun(made)
            await made.logs.config.write([*restart_records(FAILED), *restart_records(TASKS)])
            return await sequences.after(made, expected)

    expected = {"c": BACK, "c-0": BACK}
    assert asyncio.run(scenario()) == expected


@pytest.mark.slow
def test_a_worker_that_comes_later_does_not_act_on_old_requests(tmp_path: Path) -> None:
    async def first() -> None:
        async with cluster(tmp_path) as made:
            await put(made, "c", "tracked")
            await restarted(made, TASKS, {"c": BACK, "c-0": BACK})

    async def second() -> dict[str, list[str]]:
        async with cluster(tmp_path, 0) as made:
            sequences = await Sequences.begun(made)
            made.add_worker("w0", 18_083)
            return await sequences.after(made, expected)

    expected = {"c": ["RUNNING"], "c-0": ["RUNNING"]}
    asyncio.run(first())
    assert asyncio.run(second()) == expected


def test_each_owner_restarts_its_own_tasks_alone(tmp_path: Path) -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        async with cluster(tmp_path, 3) as made:
            await put(made, "c", "tracked", tasks__max="6")
            await until(lambda: states(made, "c") == ["RUNNING"] * 7)
            WITNESS.starts.clear()
            await leader(made).restart_connector_and_tasks(TASKS)
            await until(lambda: len(WITNESS.starts) == 7)
            await made.until_calm()
            await asyncio.sleep(0.1)
            return sorted(WITNESS.starts), WITNESS.twice

    starts, twice = asyncio.run(scenario())
    assert starts == ["c", *(f"c-{number}" for number in range(6))]
    assert twice == []
