"""Cases that decide the cost of a plan: membership, state, and missing data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from assignment_api.plugins import UnknownPluginError, config_sources, discover
from assignor_lab.planning import (
    Options,
    Plan,
    PlanError,
    Prediction,
    PresentState,
    Terms,
    kill_plan,
    predict_from,
    present_state,
    roll_plan,
    scale_plan,
)
from assignor_lab.planning.state import EmptyGroupError, NoStateError, under_configuration
from assignor_lab.planning.variants import usual_variants
from assignor_lab.scenarios import Place, Scenario, read_scenarios, scenario_from_document
from assignor_lab.scenarios.settings import given_settings

PLANS = Path(__file__).parents[1] / "data" / "captures" / "plans"


def captured(**changes: Any) -> Scenario:
    (scenario,) = read_scenarios(str(PLANS / "P1" / "capture.jsonl"))
    document = {**scenario.document, **changes}
    return scenario_from_document({key: part for key, part in document.items() if part is not None}, Place("P1"))


def terms_of(*settings: str) -> Terms:
    sources = config_sources(PLANS / "P1" / "application.properties", settings)
    return Terms(discover(), sources, given_settings(sources.above))


def group(*settings: str, is_static: bool = False, **changes: Any) -> tuple[PresentState, Terms]:
    terms = terms_of(*settings)
    state = under_configuration(present_state(captured(**changes), terms.settings), terms.sources)
    if is_static:
        state = attrs.evolve(state, episode=attrs.evolve(state.episode, instance_ids=state.names))
    return state, terms


def cost(known: tuple[PresentState, Terms], plan: Plan) -> Prediction:
    return predict_from(known[0], plan, known[1], plays=2)


def roll(known: tuple[PresentState, Terms], **options: Any) -> Prediction:
    return cost(known, roll_plan(known[0], Options(start_ms=2_200, **options)))


def test_state_in_memory_is_restored_after_each_restart() -> None:
    kept = roll(group())
    lost = roll(group("dsl.store.suppliers.class=org.example.InMemoryDslStoreSuppliers"))
    assert kept.total.restored_bytes is not None and kept.total.restored_bytes.high == 0  # noqa: PT018
    assert lost.total.restored_bytes is not None and lost.total.restored_bytes.low > 200e6  # noqa: PT018


def test_static_members_come_back_without_a_rebalance() -> None:
    made = roll(group(is_static=True))
    assert made.total.rebalances.high == 0
    assert made.total.worst_task_seconds.median < 5
    assert max(made.total.spent_on, key=made.total.spent_on.__getitem__) == "process restart"


def test_ids_of_static_members_tell_static_membership() -> None:
    """A capture without client ids: ids of static members are ``group.instance.id``, the thread, and a UUID."""
    document = json.dumps(captured().document).replace("-StreamThread-", "-").replace("-consumer-", "-")
    known = json.loads(document)
    state, terms = group(clients=known["clients"], observed=known["observed"])
    assert sorted(state.names) == ["d1", "d2", "d3"]
    assert set(state.episode.instance_ids) == {"d1", "d2", "d3"}
    made = predict_from(state, roll_plan(state, Options(("d1", "d2", "d3"), start_ms=2_200)), terms, plays=2)
    assert made.total.rebalances.high == 0


def test_a_static_member_that_takes_longer_than_its_session_is_a_crash() -> None:
    made = roll(group(is_static=True), down_ms=15_000)
    assert made.total.rebalances.low >= 3
    assert made.total.worst_task_seconds.median > 10


def test_a_static_successor_that_starts_first_fences_the_old_one() -> None:
    made = roll(group(is_static=True), surge=1)
    assert made.total.restored_bytes is not None and made.total.restored_bytes.low > 0  # noqa: PT018


def test_all_at_once_with_leaving_members_waits_for_the_initial_delay() -> None:
    made = roll(group(), batch=3, leave=True)
    assert len(made.steps) == 1
    assert made.total.worst_task_seconds.median > 2.2 + 3


def test_exactly_once_loses_the_state_of_a_killed_process() -> None:
    known = group("processing.guarantee=exactly_once_v2")
    made = cost(known, kill_plan(known[0], "d2", Options(start_ms=2_200, back_after_ms=5_000)))
    assert made.total.restored_bytes is not None and made.total.restored_bytes.low > 0  # noqa: PT018


def test_a_state_without_a_decision_decides_before_the_plan_begins() -> None:
    made = roll(group(observed=None))
    assert made.total.task_seconds.median == pytest.approx(128, rel=0.1)


def test_a_pending_probing_rebalance_does_not_stop_the_plan() -> None:
    observed: Mapping[str, Any] = captured().document["observed"]
    made = roll(group(observed={**observed, "followup": True}))
    assert made.total.task_seconds.median > 100


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("rack.aware.assignment.tags=zone,rack", "give those of the new instances, as --new-tag zone=VALUE"),
        ("rack.aware.assignment.strategy=min_traffic", "give the rack of the new instances with --new-rack"),
    ],
)
def test_new_instances_need_the_facts_that_decide(setting: str, told: str) -> None:
    state, _ = group(setting)
    with pytest.raises(PlanError, match=told):
        scale_plan(state, Options(to=4))


def test_the_configured_assignor_decides() -> None:
    """Brokers do not report ``task.assignor.class``; this one moves tasks without warm-ups."""
    warmed, sticky = (
        cost(known, scale_plan(known[0], Options(to=4, start_ms=2_200)))
        for known in (group(), group("task.assignor.class=sticky"))
    )
    assert sticky.total.rebalances.high < warmed.total.rebalances.low


def test_an_unknown_assignor_of_the_configuration_is_refused() -> None:
    with pytest.raises(UnknownPluginError, match=r"no assignor stands for the Java class 'org\.example\.MyAssignor'"):
        roll(group("task.assignor.class=org.example.MyAssignor"))


def lags_of_copies(state: PresentState) -> set[int]:
    pairs = zip(state.episode.clients, state.episode.lags, strict=True)
    return {lags[task] for client, lags in pairs for task in client.previous_standby_tasks if task in lags}


def test_copies_that_warm_up_are_behind_and_others_are_complete() -> None:
    clients = [{**each, "lags": dict.fromkeys(each["lags"], 120_000)} for each in captured().document["clients"]]
    observed: Mapping[str, Any] = captured().document["observed"]
    behind, complete = (
        present_state(captured(clients=clients, observed={**observed, "followup": followup}))
        for followup in (True, False)
    )
    assert any("copies that warm up count with their lag" in sentence for sentence in behind.episode.assumptions)
    assert lags_of_copies(behind) == {120_000}
    assert lags_of_copies(complete) == {0}


def test_instances_with_unequal_threads_can_be_planned() -> None:
    document = captured().document
    first, *others = document["clients"]
    clients = [{**first, "consumers": first["consumers"][:1], "threads": 1}, *others]
    clients = [{**each, "previous_by_consumer": None} for each in clients]
    known = group(clients=clients, observed={**document["observed"], "threads": None})
    assert sorted(client.num_stream_threads for client in known[0].episode.clients) == [1, 2, 2]
    assert roll(known).total.rebalances.median == 3
    (step,) = scale_plan(known[0], Options(to=4)).steps
    assert step.actions[0].details.threads == 2


def alone() -> tuple[PresentState, Terms]:
    """A classic group of one instance with all tasks."""
    document = captured().document
    client = document["clients"][0]
    tasks = [task["id"] for task in document["tasks"]]
    lags = {task["id"]: -2 for task in document["tasks"] if task["stateful"]}
    holds = {"previous_active": tasks, "previous_standby": [], "lags": lags, "previous_by_consumer": None}
    assigned = {client["process_id"]: {"active": tasks, "standby": []}}
    return group(clients=[{**client, **holds}], observed={"assignment": assigned, "followup": False, "threads": None})


def test_a_lone_instance_is_away_with_all_tasks_and_has_no_room_for_standbys() -> None:
    known = alone()
    made = roll(known)
    assert (made.total.tasks.median, made.total.rebalances.median) == (12, 1)
    options = Options(back_after_ms=5_000)
    plan = kill_plan(known[0], known[0].names[0], options)
    variants = usual_variants(known[0], options, plan, known[1], lambda _, __: plan)
    assert [each.name for each in variants] == ["static members", "session timeout 6 s", "streams protocol"]


def test_a_streams_group_without_a_decision_assigns_tasks_before_the_plan_begins() -> None:
    (scenario,) = read_scenarios(str(PLANS / "P5" / "capture.jsonl"))
    first, *_ = scenario.document["members"]
    members = [each for each in scenario.document["members"] if each["process_id"] == first["process_id"]]
    document = {key: part for key, part in scenario.document.items() if key != "observed"}
    state = present_state(scenario_from_document({**document, "members": members}, Place("P5")))
    made = predict_from(state, roll_plan(state, Options(start_ms=2_200)), terms_of(), plays=1)
    assert made.total.tasks.median == 12


def test_more_instances_than_tasks_can_be_planned() -> None:
    known = group()
    made = cost(known, scale_plan(known[0], Options(to=14, start_ms=2_200)))
    assert made.rest_seconds is not None


def test_an_empty_group_has_no_plan() -> None:
    with pytest.raises(EmptyGroupError, match="there is nothing to plan"):
        present_state(captured(clients=[], observed=None))


def test_an_episode_is_no_state() -> None:
    from assignor_lab.simulation.streams.named_episodes import EPISODES

    document = next(iter(EPISODES.values())).document()
    with pytest.raises(NoStateError, match="no state of a Streams group"):
        present_state(scenario_from_document(document, Place("episode")))


def test_missing_settings_are_named_with_the_key_that_gives_them() -> None:
    state = present_state(captured())
    assert any("session.timeout.ms is unknown" in sentence for sentence in state.episode.assumptions)


@pytest.mark.slow
def test_a_surge_waits_before_it_stops_the_old_instance() -> None:
    made = roll(group(), surge=1, wait=700_000)
    assert [step.name for step in made.steps] == ["d1", "d2", "d3"]
    assert not any(play.failed for play in made.plays)
    assert made.duration_seconds.median > 3 * 700


def test_a_streams_group_with_sizes_knows_what_it_restores() -> None:
    (scenario,) = read_scenarios(str(PLANS / "P5" / "capture.jsonl"))
    weights = {f"0_{number}": {"state_bytes": 30_000_000, "state_records": 150_000} for number in range(8)}
    document = {**scenario.document, "workload": {"tasks": weights}}
    state = present_state(scenario_from_document(document, Place("P5")))
    made = predict_from(state, roll_plan(state, Options(start_ms=2_200)), terms_of(), plays=2)
    assert made.total.restored_bytes is not None
