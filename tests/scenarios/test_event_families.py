from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from statistics import median
from typing import Any

import pytest

from assignment_api import AssignedTask, StreamsClientAssignment, TaskAssignment
from assignment_api.plugins.entries import ScenarioFamily
from assignor_lab.scenarios import Place, Scenario, canonical_line, scenario_from_line
from assignor_lab.scenarios.families import EVENT_FAMILIES
from assignor_lab.scenarios.families.draws import Draws
from assignor_lab.scenarios.families.sizes import CLIENTS, MAX_CLIENTS, draw_clients
from assignor_lab.scenarios.families.streams_traps import TRAPS
from tests.scenarios.consistency import contradictions

pytestmark = pytest.mark.slow

FAMILIES = {family.name: family for family in EVENT_FAMILIES}
every_family = pytest.mark.parametrize("family", EVENT_FAMILIES, ids=lambda family: family.name)
Answer = Callable[[Scenario, int], TaskAssignment | None]
SEEDS = range(15)


def sticking(scenario: Scenario, number: int) -> TaskAssignment:
    """A previous owner keeps its tasks, others go in turn; a standby on the next client; sometimes all tasks move."""
    application = scenario.application
    clients = list(application.streams_client_states().values())
    owner = {task: client for client in clients for task in client.previous_active_tasks}
    given: dict[Any, list[AssignedTask]] = {client.process_id: [] for client in clients}
    for index, task in enumerate(application.all_tasks()):
        own = owner.get(task) if number % 3 else None
        place = clients.index(own) if own is not None else (index + number) % len(clients)
        given[clients[place].process_id].append(AssignedTask.active(task))
        if task in application.stateful_tasks() and len(clients) > 1:
            given[clients[(place + 1) % len(clients)].process_id].append(AssignedTask.standby(task))
    return TaskAssignment([StreamsClientAssignment.of(client, tasks) for client, tasks in given.items()])


def sometimes_failing(scenario: Scenario, number: int) -> TaskAssignment | None:
    return None if number % 2 else sticking(scenario, number)


@cache
def documents(family: ScenarioFamily, seed: int, answer: Answer = sticking) -> list[Mapping[str, Any]]:
    """The document of each round, read like a line of a file."""
    history = family.history(seed)
    previous: TaskAssignment | None = None
    found = []
    for number in range(family.rounds):
        document = history.round(number, previous)
        scenario = scenario_from_line(canonical_line(document), Place(family.name))
        assert scenario.document == document
        previous = answer(scenario, number)
        found.append(document)
    return found


@pytest.fixture(scope="module", autouse=True)
def forgotten() -> Iterator[None]:
    """The tests share played histories; those of other files need its memory."""
    yield
    documents.cache_clear()


@pytest.mark.slow
@every_family
@pytest.mark.parametrize("answer", [sticking, sometimes_failing])
def test_every_state_is_consistent_in_itself_and_with_the_one_before(family: ScenarioFamily, answer: Answer) -> None:
    for seed in SEEDS:
        assert contradictions(documents(family, seed, answer)) == []


# A change here makes all published figures irreproducible: mention it in CHANGELOG.md.
DIGESTS = {
    "steady_state": "75cccd3512e7e4b7",
    "scale_out": "da93f7c16d377211",
    "scale_in": "90694f3793e3e666",
    "rolling_restart": "b1343fe5c95f2be4",
    "rack_loss": "6223a5df8ab99c03",
    "topology_growth": "8b7144c74421e334",
    "skewed_workloads": "2ab5d25acdcb1e59",
    "mixed_threads": "e82fe822e69933a9",
    "client_tags": "c680eb4c3ea14189",
    "racks_partly_missing": "1208f25ea078f09d",
    "adversarial": "dd3d2645ec3846cd",
}


def digest(family: ScenarioFamily) -> str:
    """Start of the SHA-256 of all lines of the first six seeds."""
    state = hashlib.sha256()
    for seed in range(6):
        for document in documents(family, seed):
            state.update(canonical_line(document))
    return state.hexdigest()[:16]


@pytest.mark.slow
def test_a_seed_gives_the_same_bytes_for_ever() -> None:
    assert {name: digest(family) for name, family in FAMILIES.items()} == DIGESTS


EVENT_KEYS = ("process_id", "rack", "tags", "host", "threads", "consumers")


@pytest.mark.slow
@every_family
def test_every_assignor_meets_the_same_events(family: ScenarioFamily) -> None:
    def events(document: Any) -> Any:
        clients = [{key: client[key] for key in EVENT_KEYS} for client in document["clients"]]
        return document["tasks"], document["config"], document["source"], document["workload"], clients

    for seed in range(4):
        usual, other = documents(family, seed), documents(family, seed, sometimes_failing)
        assert [events(document) for document in usual] == [events(document) for document in other]


def processes(document: Mapping[str, Any]) -> set[str]:
    return {client["process_id"] for client in document["clients"]}


def sessions(document: Mapping[str, Any]) -> set[tuple[str, ...]]:
    return {tuple(client["consumers"]) for client in document["clients"]}


def courses(name: str, seeds: range = SEEDS) -> list[list[Mapping[str, Any]]]:
    return [documents(FAMILIES[name], seed) for seed in seeds]


def test_in_the_steady_state_nobody_comes_or_goes() -> None:
    for rounds in courses("steady_state"):
        assert all(sessions(before) == sessions(after) for before, after in pairwise(rounds))


@pytest.mark.slow
def test_scaling_out_adds_instances_and_takes_none_away() -> None:
    for rounds in courses("scale_out"):
        assert all(sessions(before) <= sessions(after) for before, after in pairwise(rounds))
        assert len(rounds[0]["clients"]) < len(rounds[-1]["clients"]) <= 2 * len(rounds[0]["clients"])


def test_scaling_in_leaves_at_least_half_of_the_instances() -> None:
    for rounds in courses("scale_in"):
        first, last = len(rounds[0]["clients"]), len(rounds[-1]["clients"])
        assert last < first or first == 1
        assert last >= first / 2


@pytest.mark.slow
def test_a_rolling_restart_ends_with_everybody_started_anew() -> None:
    for rounds in courses("rolling_restart"):
        assert not sessions(rounds[0]) & sessions(rounds[-1])
        assert len(rounds[0]["clients"]) == len(rounds[-1]["clients"])


def test_a_lost_rack_takes_all_its_instances_and_they_return() -> None:
    for rounds in courses("rack_loss"):
        before, during = rounds[1]["clients"], rounds[2]["clients"]
        lost = {client["rack"] for client in before} - {client["rack"] for client in during}
        if len({client["rack"] for client in before}) > 1:
            assert len(lost) == 1
        assert len(rounds[-1]["clients"]) == len(before)


@pytest.mark.slow
def test_a_growing_topology_has_new_tasks_that_nobody_has_anything_of() -> None:
    for rounds in courses("topology_growth"):
        old, new = ({task["id"] for task in document["tasks"]} for document in rounds[1:3])
        assert new - old
        for client in rounds[2]["clients"]:
            assert not {*client["previous_active"], *client["previous_standby"]} & (new - old)
    assert any("__" in task["id"] for rounds in courses("topology_growth") for task in rounds[0]["tasks"])


def test_a_tenth_of_the_tasks_does_most_of_the_work_where_it_is_skewed() -> None:
    def share(document: Mapping[str, Any]) -> float:
        bytes_per_s = sorted(
            (task["input_bytes_per_s"] for task in document["workload"]["tasks"].values()), reverse=True
        )
        return float(sum(bytes_per_s[: max(len(bytes_per_s) // 10, 1)]) / sum(bytes_per_s))

    skewed, usual = ([share(rounds[0]) for rounds in courses(name)] for name in ("skewed_workloads", "steady_state"))
    assert median(skewed) > 0.4 > median(usual)


@pytest.mark.slow
def test_mixed_threads_differ_within_a_group() -> None:
    large = [rounds[0] for rounds in courses("mixed_threads") if len(rounds[0]["clients"]) > 3]
    assert all(len({client["threads"] for client in document["clients"]}) > 1 for document in large)


@pytest.mark.slow
def test_client_tags_are_there_with_gaps() -> None:
    found = [client["tags"] for rounds in courses("client_tags") for client in rounds[0]["clients"]]
    assert all(found)
    assert any(len(tags) == 1 for tags in found)
    assert all(rounds[0]["config"]["rack.aware.assignment.tags"] for rounds in courses("client_tags"))


def test_racks_are_missing_for_some_clients_and_some_partitions() -> None:
    first = [rounds[0] for rounds in courses("racks_partly_missing")]
    racks = [client["rack"] for document in first for client in document["clients"]]
    of_partitions = [part["racks"] for document in first for task in document["tasks"] for part in task["partitions"]]
    assert 0 < racks.count(None) < len(racks) / 4
    assert 0 < of_partitions.count([]) < len(of_partitions) / 4


@pytest.mark.slow
def test_every_trap_is_met() -> None:
    assert all(make(Draws("test", seed)).tasks for seed, make in enumerate(TRAPS.values()))
    lags_unknown = [
        rounds for rounds in courses("adversarial", range(60)) if any(c["lags"] is None for c in rounds[1]["clients"])
    ]
    assert lags_unknown


def test_equal_lags_are_equal_in_every_round() -> None:
    draws = (Draws("test", seed) for seed in range(20))
    for group in map(TRAPS["equal_lags"], draws):
        assert len(set(group.first_ends or ())) == 1
        assert group.restore_per_s == 0


def test_sizes_follow_the_written_distribution() -> None:
    assert sum(weight for weight, _ in CLIENTS) == 10_000
    sizes = [draw_clients(Draws("sizes", seed)) for seed in range(20_000)]
    assert 7 <= median(sizes) <= 9
    assert max(sizes) <= MAX_CLIENTS
    assert 0 < sum(size > 200 for size in sizes) / len(sizes) <= 0.001


@pytest.mark.slow
def test_tasks_are_as_many_as_the_page_says() -> None:
    tasks = [len(FAMILIES["steady_state"].history(seed).round(0, None)["tasks"]) for seed in range(300)]
    assert 35 <= median(tasks) <= 60


def test_a_family_tells_the_size_of_a_history_without_making_it() -> None:
    family = FAMILIES["steady_state"]
    assert family.size is not None
    for seed in range(20):
        clients = len(documents(family, seed)[0]["clients"])
        assert family.size(seed) == clients * (24 + 2 * clients)
