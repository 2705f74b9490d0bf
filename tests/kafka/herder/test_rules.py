"""Kafka's rules for a Connect herder, one by one (Kafka: ``WorkerCoordinator``, ``DistributedHerder``)."""

from __future__ import annotations

import pytest

from assignment_api.connect import ConnectorTaskId, ConnectProtocol, Jobs
from assignor_lab.kafka.coordinator import JoinReply, Refused, Synced
from assignor_lab.kafka.herder.assignment import Assignment, held_after, jobs_to_stop
from assignor_lab.kafka.herder.config_log.changes import ConfigActions, ConfigChanges
from assignor_lab.kafka.herder.config_log.end import must_read, offset_of_round
from assignor_lab.kafka.herder.membership import MembershipState
from assignor_lab.kafka.herder.rebalance_completion import MissingSteps, RebalanceCompletion
from assignor_lab.kafka.herder.running_work import RunningWork
from assignor_lab.kafka.herder.statuses import JobState, Status, comes_too_late, may_be_written
from assignor_lab.kafka.herder.task_configs_retry import FIRST_PAUSE_MS, LONGEST_PAUSE_MS, next_pause_ms
from assignor_lab.kafka.herder.unsync_backoff import UnsyncBackoff

EAGER, SESSIONED = ConnectProtocol.EAGER, ConnectProtocol.SESSIONED


def jobs(*names: str) -> Jobs:
    return Jobs(
        [name for name in names if "-" not in name], [ConnectorTaskId.parse(name) for name in names if "-" in name]
    )


def told(*assigned: str, revoked: tuple[str, ...] = (), delay_ms: int = 0, failed: bool = False) -> Assignment:
    return Assignment("leader", "url", 5, jobs(*assigned), jobs(*revoked), delay_ms, failed=failed)


def member(protocol: ConnectProtocol = SESSIONED, held: Jobs | None = None) -> MembershipState:
    state = MembershipState(held=held)
    state.joined(JoinReply("me", 1, "leader", protocol, None))
    synced = Synced(1, protocol, None)
    state.receive(synced, told(), "kafka")
    state.take(synced, told())
    state.held = held
    return state


# --- the delayed rebalance ------------------------------------------------------------------------


def test_a_delay_ends_so_long_after_the_member_was_told() -> None:
    completion = RebalanceCompletion()
    completion.assigned(told(delay_ms=300), 1_000)
    assert completion.missing(told(), "me", 5, 1_299) == MissingSteps(read=False, join=False)
    assert completion.missing(told(), "me", 5, 1_300) == MissingSteps(read=False, join=True, is_over=True)
    assert completion.rejoin_at_ms is None


def test_while_a_delay_runs_each_turn_looks_again() -> None:
    completion = RebalanceCompletion()
    completion.assigned(told(delay_ms=300), 0)
    completion.resolved = True
    completion.look_again()
    assert not completion.resolved


def test_without_a_delay_an_assignment_is_carried_out_once() -> None:
    completion = RebalanceCompletion()
    completion.assigned(told(), 0)
    completion.resolved = True
    completion.look_again()
    assert completion.resolved


# --- the config log's end -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("furthest", "joined_with", "read_on_to", "decided_by"),
    [(5, 5, 5, 5), (5, 5, 9, 5), (5, 3, 5, 5), (5, 3, 7, 7), (5, 3, 4, None)],
)
def test_a_leader_decides_by_what_it_joined_with_unless_others_were_further(
    furthest: int, joined_with: int, read_on_to: int, decided_by: int | None
) -> None:
    assert offset_of_round(furthest, joined_with, read_on_to) == decided_by


def test_members_read_on_to_where_the_leader_is_and_a_failed_leader_reads_on_in_any_case() -> None:
    assert must_read(told(), "me", 4)
    assert not must_read(told(), "me", 5)
    assert not must_read(told(failed=True), "me", 5)
    assert must_read(told(failed=True), "leader", 5)


# --- joining and refusals -------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["unknown_member", "illegal_generation"])
def test_these_refusals_make_a_worker_forget_its_member_id(reason: str) -> None:
    state = member()
    assert not state.refused(Refused(reason))
    assert state.member_id is None
    assert state.needs_join


def test_a_rebalance_on_the_way_is_a_reason_to_join_again_as_the_same_member() -> None:
    state = member()
    assert not state.refused(Refused("rebalancing"))
    assert state.member_id == "me"
    assert state.needs_join


def test_a_group_that_speaks_no_protocol_of_the_worker_never_will() -> None:
    assert member().refused(Refused("inconsistent_protocol"))


def test_a_failed_assignment_is_none() -> None:
    state = member()
    state.take(Synced(2, SESSIONED, None), told(failed=True))
    assert state.needs_join
    assert state.leader is None


def test_a_member_with_an_assignment_need_not_join() -> None:
    assert not member().needs_join


def test_only_eager_stops_everything_before_it_joins() -> None:
    assert member(EAGER, jobs("a", "a-0")).stops_all_to_join
    assert not member(SESSIONED, jobs("a", "a-0")).stops_all_to_join


def test_after_revocations_a_member_joins_again_and_reports_none() -> None:
    state = member()
    state.take(Synced(2, SESSIONED, None), told(revoked=("a-0",)))
    assert state.follow_revocations()
    assert state.rejoin_requested
    assert not state.follow_revocations()


# --- starts and stops -----------------------------------------------------------------------------


def test_an_incremental_assignment_comes_before_what_is_kept() -> None:
    held = held_after(told("b-0", revoked=("a-0",)), jobs("a", "a-0", "a-1"), SESSIONED)
    assert held == jobs("a", "b-0", "a-1")


def test_an_eager_assignment_is_all_there_is() -> None:
    assert held_after(told("b-0"), jobs("a-0"), EAGER) == jobs("b-0")


@pytest.mark.parametrize(("downgrade", "stopped"), [("kafka", ()), ("kip415", ("a-0",))])
def test_a_downgrade_to_eager_stops_what_moves_as_kip_415_says_and_nothing_as_kafka_does(
    downgrade: str, stopped: tuple[str, ...]
) -> None:
    found = jobs_to_stop(told("a-1"), jobs("a-0", "a-1"), SESSIONED, EAGER, downgrade)  # type: ignore[arg-type]
    assert found == jobs(*stopped)


def test_what_is_held_and_does_not_run_starts() -> None:
    work = RunningWork()
    work.started(jobs("a", "a-0"), SESSIONED)
    assert work.to_start(jobs("a", "a-0", "a-1")) == jobs("a-1")


def test_tasks_with_new_configurations_stop_and_start_again_where_they_still_belong() -> None:
    work = RunningWork()
    work.started(jobs("a", "a-0", "a-1", "b-0"), SESSIONED)
    stopped = work.tasks_of(("a",), jobs("a", "a-0", "a-1", "b-0"))
    assert stopped == [ConnectorTaskId("a", 0), ConnectorTaskId("a", 1)]
    work.stopped_for_new_configs(stopped)
    assert work.to_start(jobs("a", "a-1", "b-0")) == jobs("a-1")


def test_under_eager_everything_starts_with_each_assignment() -> None:
    work = RunningWork()
    work.started(jobs("a", "a-0"), EAGER)
    assert work.to_start(jobs("a", "a-0")) == jobs("a", "a-0")


# --- changes of the configuration -----------------------------------------------------------------


def test_another_configuration_restarts_a_connector_and_another_connector_is_a_rebalance() -> None:
    changes = ConfigChanges()
    changes.connector_configured("known", is_known=True)
    assert not changes.needs_rebalance
    changes.connector_configured("new", is_known=False)
    assert changes.take(SESSIONED) == ConfigActions(rejoin=True, restart_connectors=("known",))
    assert not changes


def test_new_configurations_of_tasks_stop_these_before_the_rebalance() -> None:
    changes = ConfigChanges()
    changes.tasks_configured("a")
    changes.tasks_configured("stopped", any_changed=False)
    assert changes.take(SESSIONED) == ConfigActions(rejoin=True, stop_tasks_of=("a",))


def test_under_eager_a_rebalance_stands_for_everything() -> None:
    changes = ConfigChanges()
    changes.target_state_changed("a")
    changes.connector_removed()
    assert changes.take(EAGER) == ConfigActions(rejoin=True)


# --- backoffs -------------------------------------------------------------------------------------


def test_a_worker_that_cannot_read_waits_five_times_ever_longer_and_then_stops_everything() -> None:
    backoff = UnsyncBackoff()
    pauses = [backoff.next_pause_ms(SESSIONED, 300_000, 300_000) for _ in range(7)]
    assert pauses == [6_000, 7_500, 10_000, 15_000, 30_000, None, 6_000]


def test_one_successful_read_begins_anew_and_eager_always_waits_as_configured() -> None:
    backoff = UnsyncBackoff()
    backoff.next_pause_ms(SESSIONED, 300_000, 1)
    backoff.read()
    assert backoff.next_pause_ms(SESSIONED, 300_000, 1) == 6_000
    assert backoff.next_pause_ms(EAGER, 300_000, 77) == 77


def test_tasks_are_configured_again_after_pauses_that_double_up_to_a_minute() -> None:
    pauses = [FIRST_PAUSE_MS]
    while len(pauses) < 10:
        pauses.append(next_pause_ms(pauses[-1]))
    assert pauses[:3] == [250, 500, 1_000]
    assert pauses[-1] == LONGEST_PAUSE_MS


# --- statuses -------------------------------------------------------------------------------------


def test_the_last_word_of_a_former_owner_hides_no_running_task() -> None:
    runs = Status(JobState.RUNNING, "new", 7)
    assert comes_too_late(Status(JobState.UNASSIGNED, "old", 6), runs)
    assert not comes_too_late(Status(JobState.UNASSIGNED, "new", 6), runs)
    assert not comes_too_late(Status(JobState.FAILED, "old", 6), runs)


def test_a_worker_does_not_write_over_what_a_later_owner_said() -> None:
    later = Status(JobState.RUNNING, "new", 7)
    assert not may_be_written(Status(JobState.UNASSIGNED, "old", 6), later)
    assert may_be_written(Status(JobState.UNASSIGNED, "old", 7), later)
    assert may_be_written(Status(JobState.FAILED, "old", 6), None)
