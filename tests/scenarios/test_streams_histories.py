"""Generated histories: reproducible by seed, consistent, the same events for every assignor."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import median
from typing import Any

import pytest

from assignment_api import AssignedTask, StreamsClientAssignment, TaskAssignment
from assignment_api.plugins.entries import ScenarioFamily
from assignor_lab.scenarios import Place, Scenario, canonical_line, scenario_from_document, scenario_from_line
from assignor_lab.scenarios.families import streams_4x40, streams_histories
from assignor_lab.scenarios.families.draws import Draws
from assignor_lab.scenarios.families.streams_history import HistoryOrderError

pytestmark = pytest.mark.slow

Answer = Callable[[Scenario], TaskAssignment | None]
FAMILIES = [streams_histories(), streams_4x40()]
every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


def in_turn(scenario: Scenario, offset: int = 0) -> TaskAssignment:
    """Tasks to clients in turn, a standby of each logged task on the next client."""
    application = scenario.application
    clients = list(application.streams_client_states())
    given: dict[Any, list[AssignedTask]] = {client: [] for client in clients}
    for index, task in enumerate(application.all_tasks(), offset):
        given[clients[index % len(clients)]].append(AssignedTask.active(task))
        if task in application.stateful_tasks() and len(clients) > 1:
            given[clients[(index + 1) % len(clients)]].append(AssignedTask.standby(task))
    return TaskAssignment([StreamsClientAssignment.of(client, tasks) for client, tasks in given.items()])


def in_turn_from_the_second(scenario: Scenario) -> TaskAssignment:
    return in_turn(scenario, offset=1)


def failing(_: Scenario) -> None:
    return None


def played(family: ScenarioFamily, seed: int, answer: Answer = in_turn) -> Iterator[tuple[Scenario, Any]]:
    history = family.history(seed)
    previous: TaskAssignment | None = None
    for number in range(family.rounds):
        scenario = scenario_from_document(history.round(number, previous), Place(family.name))
        previous = answer(scenario)
        yield scenario, previous


def documents(family: ScenarioFamily, seed: int, answer: Answer = in_turn) -> list[Any]:
    return [scenario.document for scenario, _ in played(family, seed, answer)]


@every_family
@pytest.mark.parametrize("seed", [0, 1, -5, 2**70])
def test_every_document_is_in_the_format(family: ScenarioFamily, seed: int) -> None:
    for document in documents(family, seed):
        read = scenario_from_line(canonical_line(document), Place("generated"))
        assert read.application.compute_task_lags()
        assert read.document == document


# A change here makes all published figures irreproducible: mention it in CHANGELOG.md.
DIGESTS = {
    "streams_histories": "2a3f283b5c4e793000f441655bd31a2ba8d39d1e65bd4848ee077259c36b496a",
    "streams_4x40": "52817ea067bbb5d076e591506661d1111ce16c13af9c39edadf7c94fe73bc28e",
}


def digest(family: ScenarioFamily) -> str:
    state = hashlib.sha256()
    for seed in range(10):
        for document in documents(family, seed):
            state.update(canonical_line(document))
    return state.hexdigest()


@pytest.mark.slow
@every_family
def test_a_seed_gives_the_same_bytes_for_ever(family: ScenarioFamily) -> None:
    assert digest(family) == DIGESTS[family.name]


@every_family
def test_two_seeds_give_two_groups(family: ScenarioFamily) -> None:
    assert documents(family, 1) != documents(family, 2)


EVENT_KEYS = ("process_id", "rack", "tags", "host", "threads", "consumers")


@pytest.mark.slow
@every_family
@pytest.mark.parametrize("answer", [in_turn_from_the_second, failing])
def test_every_assignor_meets_the_same_events(family: ScenarioFamily, answer: Answer) -> None:
    def events(document: Any) -> Any:
        clients = [{key: client[key] for key in EVENT_KEYS} for client in document["clients"]]
        return document["tasks"], document["config"], document["source"], clients

    for seed in range(5):
        usual, other = documents(family, seed), documents(family, seed, answer)
        assert [events(document) for document in usual] == [events(document) for document in other]


@pytest.mark.slow
@every_family
def test_the_first_round_has_no_previous_state(family: ScenarioFamily) -> None:
    for seed in range(20):
        for client in documents(family, seed)[0]["clients"]:
            assert client["previous_active"] == client["previous_standby"] == []


@pytest.mark.slow
@every_family
def test_who_stayed_has_the_active_tasks_of_its_own_answer(family: ScenarioFamily) -> None:
    for seed in range(20):
        rounds = list(played(family, seed))
        for (before, answer), (after, _) in pairwise(rounds):
            given = {str(client.process_id): client for client in answer.assignments}
            sessions = {tuple(client["consumers"]) for client in before.document["clients"]}
            for client in after.document["clients"]:
                if tuple(client["consumers"]) in sessions:
                    own = given[client["process_id"]]
                    assert client["previous_active"] == [str(task) for task in own.active_tasks()]
                    assert {str(task) for task in own.standby_tasks()} <= set(client["previous_standby"])
                else:
                    assert client["previous_active"] == []


@pytest.mark.slow
@every_family
def test_the_parts_of_a_state_agree(family: ScenarioFamily) -> None:
    for seed in range(20):
        for document in documents(family, seed):
            logged = [task["id"] for task in document["tasks"] if task["logged"]]
            for client in document["clients"]:
                previous = {*client["previous_active"], *client["previous_standby"]}
                reported = [task for tasks in client["previous_by_consumer"].values() for task in tasks]
                assert len(client["consumers"]) == client["threads"]
                assert list(client["lags"]) == logged
                assert set(reported) == previous & set(logged)
                assert len(reported) == len(set(reported))
                assert not set(client["previous_active"]) & set(client["previous_standby"])
                for task, lag in client["lags"].items():
                    assert lag >= 0 or (lag == -2 and task in client["previous_active"])


@pytest.mark.slow
@every_family
def test_after_a_failure_everybody_keeps_its_tasks(family: ScenarioFamily) -> None:
    def only_once(scenario: Scenario) -> TaskAssignment | None:
        return in_turn(scenario) if scenario.id.endswith("round-0") else None

    for seed in range(20):
        rounds = documents(family, seed, only_once)
        held = [
            {tuple(client["consumers"]): client["previous_active"] for client in document["clients"]}
            for document in rounds
        ]
        for before, after in pairwise(held[1:]):
            for session, tasks in after.items():
                if session in before:
                    assert tasks == before[session]


def lag_courses(family: ScenarioFamily, seeds: range) -> Iterator[tuple[Any, Any, str]]:
    """Each client of a session that continued, before and after, with each of its standbys."""
    for seed in seeds:
        rounds = documents(family, seed)
        for before, after in pairwise(rounds):
            ran = {tuple(client["consumers"]): client for client in before["clients"]}
            for client in after["clients"]:
                for task in client["previous_standby"]:
                    if tuple(client["consumers"]) in ran:
                        yield ran[tuple(client["consumers"])], client, task


@pytest.mark.slow
def test_standbys_catch_up_over_the_rounds() -> None:
    lags = [(before["lags"][task], after["lags"][task]) for before, after, task in lag_courses(FAMILIES[0], range(40))]
    caught_up = [after for before, after in lags if before > 10_000 and after <= 10_000]
    assert len(caught_up) > 50


@pytest.mark.slow
def test_a_client_that_was_away_with_its_disk_is_behind_and_one_without_it_starts_anew() -> None:
    kept, lost = 0, 0
    for seed in range(60):
        rounds = documents(FAMILIES[0], seed)
        seen: set[str] = set()
        for document in rounds:
            for client in document["clients"]:
                is_new = client["process_id"] not in seen
                seen.add(client["process_id"])
                if is_new:
                    assert client["previous_standby"] == []
                    lost += 1
                elif not client["previous_active"] and client["previous_standby"]:
                    assert all(client["lags"][task] >= 0 for task in client["previous_standby"])
                    kept += 1
    assert kept > 20
    assert lost > 20


@pytest.mark.slow
def test_sizes_are_realistic() -> None:
    first = [FAMILIES[0].history(seed).round(0, None) for seed in range(400)]
    clients = [len(document["clients"]) for document in first]
    tasks = [len(document["tasks"]) for document in first]
    assert 7 <= median(clients) <= 9
    assert max(clients) <= 60
    assert 30 <= median(tasks) <= 70
    configs = [document["config"] for document in first]
    assert {config["num.standby.replicas"] for config in configs} == {0, 1, 2}
    assert 100 < sum(bool(config["rack.aware.assignment.tags"]) for config in configs) < 200


def test_racks_are_known_for_every_partition_or_for_none() -> None:
    seen = set()
    for seed in range(40):
        document = FAMILIES[0].history(seed).round(0, None)
        known = {bool(partition["racks"]) for task in document["tasks"] for partition in task["partitions"]}
        known |= {client["rack"] is not None for client in document["clients"]}
        assert len(known) == 1
        seen |= known
    assert seen == {True, False}


@pytest.mark.slow
def test_the_fixed_family_has_4_clients_and_40_tasks_in_every_round() -> None:
    for seed in range(20):
        for document in documents(streams_4x40(), seed):
            assert (len(document["clients"]), len(document["tasks"])) == (4, 40)


def test_the_strategy_changes_the_config_and_nothing_else() -> None:
    for plain, racked in zip(
        documents(streams_histories(), 3), documents(streams_histories(strategy="min_traffic"), 3), strict=True
    ):
        assert racked["config"].pop("rack.aware.assignment.strategy") == "min_traffic"
        assert plain["config"].pop("rack.aware.assignment.strategy") == "none"
        assert plain == racked


@pytest.mark.parametrize("number", [1, -1, 8])
def test_rounds_are_asked_for_in_order(number: int) -> None:
    with pytest.raises(HistoryOrderError, match="round 0 of 8 is next"):
        FAMILIES[0].history(0).round(number, None)


def test_a_draw_stays_below_its_limit() -> None:
    draws = Draws("test", 1)
    for limit in (1, 2, 3, 1 << 31, 1 << 32):
        assert all(0 <= draws.below(limit) < limit for _ in range(1_000))
    assert {draws.between(3, 5) for _ in range(200)} == {3, 4, 5}
    assert {draws.spread(1, 8).bit_length() for _ in range(500)} == {1, 2, 3, 4}
    assert sorted(draws.sample([1, 2, 3], 9)) == [1, 2, 3]


def test_many_draws_at_once_are_those_that_come_one_by_one() -> None:
    at_once, one_by_one = Draws("test", 7), Draws("test", 7)
    assert at_once.each_below(41, 200) == [one_by_one.below(41) for _ in range(200)]
    assert at_once.below(10**6) == one_by_one.below(10**6)
