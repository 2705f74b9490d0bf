"""A short run of `make fuzz-live`, and each of its findings separately."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from assignment_api.connect import ConnectProtocol, Jobs
from assignment_api.connectors import ConnectorError
from assignment_api.plugins import discover
from assignor_lab.kafka.coordinator import JoinReply, JoinRequest
from assignor_lab.kafka.herder.config_log.records import TargetState, creation_records
from connect_workers.cluster import ConnectCluster
from connect_workers.group.worker_assignors import WorkerAssignors
from connect_workers.herders.request_queue import ShuttingDownError
from connect_workers.instances.connector_run import ConnectorRun
from connect_workers.instances.instance_events import InstanceHost
from tests.connect_workers.live import TrackedSource, cluster, leader, put, settings, states, until
from tests.connect_workers.live_histories import play_many


@pytest.mark.slow
def test_whatever_happens_every_configured_task_runs_at_the_end_and_all_comes_to_rest() -> None:
    async def played() -> list[object]:
        return [finding async for _, finding in play_many(range(1, 41), 20) if finding is not None]

    assert asyncio.run(played()) == []


def rounds_of(made: ConnectCluster, before: int) -> int:
    return made.group.generation - before


def test_a_worker_that_joins_behind_deletions_gets_its_share(tmp_path: Path) -> None:
    async def scenario() -> tuple[int, int]:
        async with cluster(tmp_path, 2) as made:
            await put(made, "a", "tracked", tasks__max="3")
            await put(made, "b", "tracked", tasks__max="6")
            await leader(made).delete_connector("a")
            await made.until_calm()
            before = made.group.generation
            await made.roll_worker("w1")
            await made.until_calm()
            await until(lambda: states(made, "b") == ["RUNNING"] * 7)
            return rounds_of(made, before), made.logs.config.end - made.workers["w1"].herder.loop.reader.offset

    rounds, behind = asyncio.run(scenario())
    assert behind == 0
    assert rounds <= 4


def test_with_a_delay_a_worker_that_joins_behind_deletions_sets_off_no_endless_rounds(tmp_path: Path) -> None:
    async def scenario() -> int:
        async with cluster(tmp_path, 2, settings(delay_ms=300)) as made:
            await put(made, "a", "tracked", tasks__max="3")
            await put(made, "b", "tracked", tasks__max="6")
            await leader(made).delete_connector("b")
            await leader(made).delete_connector("a")
            await made.until_calm()
            before = made.group.generation
            await made.roll_worker("w1")
            await made.until_calm()
            return rounds_of(made, before)

    assert asyncio.run(scenario()) <= 5


def test_a_joining_worker_knows_the_tasks_of_a_connector_that_was_configured_again_while_paused(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        async with cluster(tmp_path, 1) as made:
            await put(made, "a", "tracked", tasks__max="3")
            await leader(made).pause_connector("a")
            await made.until_calm()
            await put(made, "a", "tracked", tasks__max="5")
            made.add_worker("later", 19_000, settings())
            await made.until_calm()
            await until(lambda: states(made, "a") == ["PAUSED"] * 4)
            later = made.workers["later"].herder.loop
            assert later.membership.state.held is not None
            assert len(later.membership.state.held.tasks) == 1
            await leader(made).resume_connector("a")
            await until(lambda: states(made, "a") == ["RUNNING"] * 6)
            await made.until_calm()
            return states(made, "a")

    assert asyncio.run(scenario()) == ["RUNNING"] * 6


def test_tasks_of_a_paused_connector_that_was_configured_again_survive_a_new_start(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        async with cluster(tmp_path, 1) as made:
            await put(made, "a", "tracked", tasks__max="3")
            await leader(made).pause_connector("a")
            await put(made, "a", "tracked", tasks__max="5")
        async with cluster(tmp_path, 1) as made:
            await until(lambda: states(made, "a") == ["PAUSED"] * 4)
            await made.until_calm()
            return states(made, "a")

    assert asyncio.run(scenario()) == ["PAUSED"] * 4


def test_a_new_connector_has_no_tasks_of_an_earlier_one_of_its_name(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 1) as made:
            await put(made, "a", "tracked", tasks__max="3")
            await leader(made).delete_connector("a")
            config = {"name": "a", "connector.class": "tracked", "tasks.max": "2"}
            await leader(made).put_connector("a", config, initial_state="PAUSED", replace=False)
            await made.until_calm()
            made.add_worker("later", 19_000, settings())
            await made.until_calm()
            assert {name: jobs.tasks for name, jobs in _held(made).items()} == {"w0": (), "later": ()}

    asyncio.run(scenario())


def _held(made: ConnectCluster) -> dict[str, Jobs]:
    held = {name: worker.herder.loop.membership.state.held for name, worker in made.workers.items()}
    return {name: jobs or Jobs() for name, jobs in held.items()}


def test_what_is_written_while_the_leader_decides_is_for_the_next_round(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 2) as made:
            await put(made, "a", "tracked", tasks__max="2")
            join, late = made.group.join, ["x"]

            async def with_news(request: JoinRequest) -> object:
                answer = await join(request)
                if isinstance(answer, JoinReply) and answer.members is not None and late:
                    name = late.pop()
                    config = {"name": name, "connector.class": "tracked", "tasks.max": "2"}
                    await made.logs.config.write(creation_records(name, config, None))
                return answer

            made.group.join = with_news  # type: ignore[assignment, method-assign]
            loop = leader(made).loop
            loop.membership.state.request_rejoin()
            loop.wake()
            await until(lambda: states(made, "x") == ["RUNNING"] * 3)
            await made.until_calm()

    asyncio.run(scenario())


def test_nobody_waits_for_ever_for_a_leader_that_was_killed_while_it_carried_out_a_request(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 2, settings(session_timeout_ms=300)) as made:
            await put(made, "a", "tracked")
            lead = leader(made)
            name = next(name for name, worker in made.workers.items() if worker.herder is lead)
            writing = asyncio.Event()

            async def for_ever(records: object) -> None:
                del records
                writing.set()
                await asyncio.Event().wait()

            lead.loop.write = for_ever  # type: ignore[method-assign]
            asked = asyncio.create_task(lead.delete_connector("a"))
            await writing.wait()
            made.kill_worker(name)
            with pytest.raises(ShuttingDownError):
                await asyncio.wait_for(asked, 5)

    asyncio.run(scenario())


def test_what_ran_before_the_group_went_back_to_eager_stops_in_any_case(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 1) as made:
            await put(made, "a", "tracked", tasks__max="2")
            loop = leader(made).loop
            held = loop.membership.state.held
            assert held is not None
            assert len(made.logs.ledger.running()) == 3
            loop.membership.state.protocol = ConnectProtocol.EAGER
            loop._completion.resolved = False
            await loop.on_revoked(held)
            assert made.logs.ledger.running() == {}

    asyncio.run(scenario())


def test_what_is_deleted_under_a_leader_that_has_just_begun_to_lead_ends_too(tmp_path: Path) -> None:
    async def scenario() -> int:
        async with cluster(tmp_path, 1) as made:
            await put(made, "a", "tracked", tasks__max="2")
            loop = leader(made).loop
            # It has no earlier round, as if another worker had led until now.
            loop.membership._assignors = WorkerAssignors(discover()).for_worker(loop.settings)
            before = made.group.generation
            await leader(made).delete_connector("a")
            await made.until_calm()
            assert made.owners() == made.logs.ledger.running() == {}
            return rounds_of(made, before)

    assert asyncio.run(scenario()) <= 4


class SlowToStart(TrackedSource):
    """Starts on permission."""

    may_start = threading.Event()

    def start(self, config: Mapping[str, str]) -> None:
        del config
        self.may_start.wait(10)

    def stop(self) -> None:
        """Does nothing."""


def test_a_connector_that_is_told_to_stop_refuses_what_it_was_asked_just_before(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 1) as made:
            host = InstanceHost("w", made.workers["w0"].herder.loop.instances, asyncio.get_running_loop())
            run = ConnectorRun("a", SlowToStart, {}, host, made.logs.data, made.logs.ledger)
            started = run.start(TargetState.STARTED)
            await until(lambda: "a" in made.logs.ledger.running())
            asked = run.task_configs(3)
            run.stop()
            SlowToStart.may_start.set()
            assert await asyncio.wrap_future(started) is TargetState.STARTED
            with pytest.raises(ConnectorError, match="has stopped"):
                await asyncio.wait_for(asyncio.wrap_future(asked), 5)

    asyncio.run(scenario())
