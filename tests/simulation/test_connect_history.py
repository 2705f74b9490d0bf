"""The history of a played Connect group: decisions, events, and tasks over time with their causes."""

from __future__ import annotations

from itertools import pairwise

import pytest

from assignment_api.plugins import discover
from assignor_lab.model.events import (
    ConnectorCreated,
    ConnectorDeleted,
    DecisionFailed,
    InstanceCrashed,
    InstanceStarted,
    InstanceStopped,
    RebalanceBegun,
)
from assignor_lab.model.history import JOBS, PLAYED, GroupHistory
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.simulation.connect.cluster import AssignorFactory
from assignor_lab.simulation.connect.episode_figures import episode_figures, owned_now
from assignor_lab.simulation.connect.formats.episodes import read_episode
from assignor_lab.simulation.connect.named_episodes import EPISODES
from assignor_lab.simulation.connect.played_history import DELAY, REBALANCE, SESSION
from assignor_lab.simulation.connect.safety import play_random
from assignor_lab.simulation.connect.simulate import PlayedConnectEpisode, assignors_from, simulate


@pytest.fixture(scope="module")
def assignors() -> AssignorFactory:
    return assignors_from(discover())


def group(workers: int, events: list[dict[str, object]], until_ms: int = 900_000) -> dict[str, object]:
    members = [
        {
            "id": f"w{number}",
            "owned": {"connectors": [], "tasks": []},
            "static": {"connectors": None, "tasks": None},
        }
        for number in range(1, workers + 1)
    ]
    first = {"time_ms": 1, "connectors": {"c": 6}, "members": members}
    return {
        "format": 1,
        "kind": "connect-episode",
        "id": "group",
        "initial": {
            "format": 1,
            "kind": "connect",
            "id": "initial",
            "protocol": "sessioned",
            "max_delay_ms": 30_000,
            "rounds": [first],
        },
        "events": events,
        "until_ms": until_ms,
    }


def played(document: dict[str, object], assignors: AssignorFactory) -> PlayedConnectEpisode:
    episode = read_episode(scenario_from_document(document, Place("group")))
    return simulate(episode, assignors, keep_log=False)


def times(history: GroupHistory, kind: type) -> list[tuple[int, str | None]]:
    begin = history.begin_ms or 0
    return [(each.at.latest_ms - begin, each.subject) for each in history.events if isinstance(each, kind)]


@pytest.mark.parametrize("workers", [2, 3, 5, 12])
def test_a_crash_is_unnoticed_for_the_session_and_its_tasks_then_wait_for_the_delay(
    workers: int, assignors: AssignorFactory
) -> None:
    leader = played(group(workers, []), assignors).history.decisions[0].leader
    other = "w2" if leader == "w1" else "w1"
    history = played(group(workers, [{"at_ms": 60_000, "type": "crash", "worker": other}]), assignors).history
    assert (history.origin, history.moves) == (PLAYED, JOBS)
    assert times(history, InstanceCrashed) == [(60_000, other)]
    lost = [course for course in history.courses.values() if course.waits]
    assert lost
    for course in lost:
        lengths = {each.cause: each.length_ms for each in course.waits}
        assert [each.cause for each in course.waits] == [SESSION, REBALANCE, DELAY, REBALANCE]
        assert lengths[SESSION] == pytest.approx(10_000, abs=3_100)
        assert lengths[DELAY] == pytest.approx(30_000, abs=100)
        assert course.takeovers == 1
    assert {other} == {course.runs[0].instance for course in lost}


def test_a_stopped_worker_is_never_unnoticed_and_comes_back_after_its_bounce(assignors: AssignorFactory) -> None:
    document = group(3, [{"at_ms": 60_000, "type": "bounce", "worker": "w1", "down_ms": 5_000}])
    history = played(document, assignors).history
    (stopped,), (started,) = times(history, InstanceStopped), times(history, InstanceStarted)
    assert stopped[1] == started[1] == "w1"
    assert 60_000 <= stopped[0] < started[0] == 65_000
    causes = {each.cause for course in history.courses.values() for each in course.waits}
    assert SESSION not in causes
    assert REBALANCE in causes
    begin = history.begin_ms or 0
    assert history.lives["w1"] == [(begin, begin + stopped[0]), (begin + started[0], None)]
    assert history.lives["w2"] == [(begin, None)]


def test_one_worker_alone_leaves_its_tasks_without_an_owner_until_the_end(assignors: AssignorFactory) -> None:
    history = played(group(1, [{"at_ms": 60_000, "type": "stop", "worker": "w1"}], 100_000), assignors).history
    assert all(course.waits[-1].end_ms == history.until_ms for course in history.courses.values())
    assert not any(run.lasts for course in history.courses.values() for run in course.runs)


def test_created_and_deleted_connectors_are_events(assignors: AssignorFactory) -> None:
    events: list[dict[str, object]] = [
        {"at_ms": 60_000, "type": "create", "connectors": {"new": 3}},
        {"at_ms": 120_000, "type": "delete", "connectors": ["c"]},
    ]
    history = played(group(2, events), assignors).history
    assert [each.connector for each in history.events if isinstance(each, ConnectorCreated)] == ["new"]
    assert [each.connector for each in history.events if isinstance(each, ConnectorDeleted)] == ["c"]
    assert set(history.decisions[-1].owners) == {"new", "new-0", "new-1", "new-2"}
    assert history.downtimes_ms["c-0"] == 0


@pytest.mark.parametrize("name", EPISODES)
def test_the_last_decision_of_every_named_episode_shows_the_jobs_of_each_worker(
    name: str, assignors: AssignorFactory
) -> None:
    play = simulate(read_episode(scenario_from_document(EPISODES[name].document(), Place(name))), assignors)
    history, last = play.history, play.history.decisions[-1]
    held = {worker: {*jobs.connectors, *map(str, jobs.tasks)} for worker, jobs in owned_now(play.cluster).items()}
    assert {worker: set(share.active) for worker, share in last.shares.items()} == held
    assert len(times(history, RebalanceBegun)) == len(play.cluster.rounds) == len(history.joined_ms)


@pytest.mark.parametrize("seed", range(12))
def test_random_histories_agree_with_the_figures(seed: int, assignors: AssignorFactory) -> None:
    play = play_random(seed, assignors)
    history, figures = play.history, episode_figures(play)
    assert sum(history.downtimes_ms.values()) / 1000 == figures["unavailable task-seconds"][0]
    assert len(history.joined_ms) == len(play.cluster.rounds)
    mismatches = [each.generation for each in play.cluster.rounds if each.mismatch]
    assert [each.number for each in history.events if isinstance(each, DecisionFailed)] == mismatches
    for course in (*history.courses.values(), *history.connectors.values()):
        spans = sorted([(each.begin_ms, each.end_ms) for each in course.waits])
        assert all(before[1] <= after[0] for before, after in pairwise(spans))
        assert all(
            wait.end_ms <= run.begin_ms or run.end_ms <= wait.begin_ms for wait in course.waits for run in course.runs
        )
