from __future__ import annotations

import itertools
import random

import attrs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assignment_api import (
    ApplicationMetadata,
    AssignmentError,
    StreamsClientState,
    TaskAssignment,
)
from assignment_api.java import spread, uuid_hash
from assignment_api.plugins import discover
from assignment_api.plugins.reserved import BUILTIN_DISTRIBUTION
from assignment_api.utils import strict_findings, validate_task_assignment
from tests.builtin_assignors.rich_applications import after, plain, rich_applications

BUILT_INS = {found.name: found for found in discover().task_assignors() if found.distribution == BUILTIN_DISTRIBUTION}
#: Assignors that use only lags, and sort their input.
BY_LAG = ("high_availability", "rack_aware", "static")
#: Assignors that keep previous owners, in the order of Java's hash maps.
BY_HISTORY = ("sticky", "sticky_4_4", "legacy_sticky", "fallback_prior")


def assign(name: str, application: ApplicationMetadata) -> TaskAssignment:
    assignor = BUILT_INS[name].create()
    assignor.configure({})
    return assignor.assign(application.for_next_assignor())


def placed(assignment: TaskAssignment) -> dict[object, object]:
    return {each.process_id: (set(each.tasks), each.followup_rebalance_deadline_ms) for each in assignment.assignments}


def with_clients(application: ApplicationMetadata, clients: list[StreamsClientState]) -> ApplicationMetadata:
    return ApplicationMetadata(
        application.assignment_configs(),
        application.task_infos().values(),
        clients,
        application.current_time_ms(),
        application.leader_process_id(),
    )


def test_every_built_in_is_here() -> None:
    assert set(BUILT_INS) == {*BY_LAG, *BY_HISTORY}


# --- valid ------------------------------------------------------------------------------------------


@given(rich_applications())
def test_every_answer_is_valid(application: ApplicationMetadata) -> None:
    for name in BUILT_INS:
        answer = assign(name, application)
        assert (name, validate_task_assignment(application, answer)) == (name, AssignmentError.NONE)
        assert (name, strict_findings(application, answer)) == (name, ())


@pytest.mark.slow
@given(rich_applications())
def test_every_client_has_its_answer_in_the_order_of_the_input(application: ApplicationMetadata) -> None:
    clients = list(application.streams_client_states())
    for name in BUILT_INS:
        answer = assign(name, application)
        assert (name, [each.process_id for each in answer.assignments]) == (name, clients)


# --- pure -------------------------------------------------------------------------------------------


@given(rich_applications())
def test_the_input_stays_as_it_was(application: ApplicationMetadata) -> None:
    for name, found in BUILT_INS.items():
        given_it = application.for_next_assignor()
        before = plain(given_it)
        found.create().assign(given_it)
        assert (name, plain(given_it)) == (name, before)


@given(rich_applications())
def test_equal_inputs_have_equal_answers(application: ApplicationMetadata) -> None:
    for name in BUILT_INS:
        assert (name, assign(name, application)) == (name, assign(name, application))


# --- order ------------------------------------------------------------------------------------------


@given(rich_applications(), st.randoms(use_true_random=False))
def test_the_order_within_a_client_changes_nothing(application: ApplicationMetadata, dice: random.Random) -> None:
    def shuffled(state: StreamsClientState) -> StreamsClientState:
        application.compute_task_lags()
        lags = list(state.stateful_tasks_to_lag_sums().items())
        tags = list(state.client_tags.items())
        active, standby = list(state.previous_active_tasks), list(state.previous_standby_tasks)
        for each in (lags, tags, active, standby):
            dice.shuffle(each)
        return StreamsClientState(
            state.process_id,
            state.num_stream_threads,
            state.consumers,
            tuple(active),
            tuple(standby),
            lags=dict(lags),
            host_info=state.host_info,
            client_tags=dict(tags),
            rack_id=state.rack_id,
        )

    clients = [shuffled(state) for state in application.streams_client_states().values()]
    for name in BUILT_INS:
        assert (name, assign(name, with_clients(application, clients))) == (name, assign(name, application))


@given(rich_applications(), st.randoms(use_true_random=False))
def test_the_order_of_clients_and_tasks_changes_nothing(application: ApplicationMetadata, dice: random.Random) -> None:
    tasks = list(application.task_infos().values())
    clients = list(application.streams_client_states().values())
    dice.shuffle(tasks)
    dice.shuffle(clients)
    shuffled = ApplicationMetadata(
        application.assignment_configs(),
        tasks,
        clients,
        application.current_time_ms(),
        application.leader_process_id(),
    )
    for name in BY_LAG:
        assert (name, placed(assign(name, shuffled))) == (name, placed(assign(name, application)))


@given(rich_applications(), st.randoms(use_true_random=False))
def test_the_order_of_clients_changes_nothing_where_hash_maps_have_an_order_of_their_own(
    application: ApplicationMetadata, dice: random.Random
) -> None:
    """At most six clients in sixteen slots: Java depends on the order of insertion only if two share a slot."""
    slots = [spread(uuid_hash(*process.sort_key())) & 15 for process in application.streams_client_states()]
    assume(len(set(slots)) == len(slots))
    clients = list(application.streams_client_states().values())
    dice.shuffle(clients)
    for name in BY_HISTORY:
        shuffled = assign(name, with_clients(application, clients))
        assert (name, placed(shuffled)) == (name, placed(assign(name, application)))


# --- rest -------------------------------------------------------------------------------------------


def settled(name: str, application: ApplicationMetadata) -> ApplicationMetadata:
    for _ in range(MOST_ROUNDS):
        answer = assign(name, application)
        application = after(application, answer)
        if all(each.followup_rebalance_deadline_ms is None for each in answer.assignments):
            return application
    raise AssertionError(f"{name} still asks for a rebalance after {MOST_ROUNDS} of them")


#: Eighteen tasks, one warm-up at a time, plus a reserve.
MOST_ROUNDS = 40


@given(rich_applications())
def test_a_settled_state_is_a_fixed_point(application: ApplicationMetadata) -> None:
    for name in BY_LAG:
        rest = settled(name, application)
        answer = assign(name, rest)
        assert (name, placed(assign(name, after(rest, answer)))) == (name, placed(answer))


@given(rich_applications(), st.randoms(use_true_random=False))
def test_a_group_in_which_every_thread_has_its_share_is_left_as_it_is(
    application: ApplicationMetadata, dice: random.Random
) -> None:
    """If tasks do not divide evenly, the remainder moves each time, as in Kafka."""
    clients = list(application.streams_client_states().values())
    threads = sum(client.num_stream_threads for client in clients)
    infos = list(application.task_infos().values())
    share = len(infos) // threads
    infos = infos[: share * threads]
    dice.shuffle(infos)
    rest = iter(infos)
    level = ApplicationMetadata(
        attrs.evolve(application.assignment_configs(), num_standby_replicas=0, rack_aware_assignment_strategy="none"),
        infos,
        [
            StreamsClientState(
                client.process_id,
                client.num_stream_threads,
                client.consumers,
                [info.id for info in itertools.islice(rest, share * client.num_stream_threads)],
                lags={info.id: 0 for info in infos if info.is_logged},
            )
            for client in clients
        ],
    )
    had = {process: set(state.previous_active_tasks) for process, state in level.streams_client_states().items()}
    for name in BY_HISTORY:
        answer = assign(name, level)
        assert (name, {each.process_id: set(each.active_tasks()) for each in answer.assignments}) == (name, had)
        assert all(each.standby_tasks() == () for each in answer.assignments), name


@given(rich_applications())
def test_the_fallback_asks_for_another_rebalance_and_changes_nothing_twice(application: ApplicationMetadata) -> None:
    """All running tasks stayed in place, so a placed task stays, too."""
    answer = assign("fallback_prior", application)
    assert any(each.followup_rebalance_deadline_ms is not None for each in answer.assignments)
    again = assign("fallback_prior", after(application, answer))
    assert [set(each.active_tasks()) for each in again.assignments] == [
        set(each.active_tasks()) for each in answer.assignments
    ]
