"""Random histories of Connect groups: conditions in every round, and once no rebalance is due.

A failing history shrinks to the few necessary steps.
"""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from assignment_api.connect import (
    MAX_DELAY_KEY,
    WILDCARD,
    ConnectAssignment,
    ConnectAssignor,
    ConnectorTaskId,
    ConnectProtocol,
    Rebalance,
    StaticJobs,
    WorkerAssignment,
)
from builtin_assignors.connect_incremental import IncrementalCooperativeAssignor
from builtin_assignors.connect_static import StaticConnectAssignor
from tests.builtin_assignors.connect_cluster import Cluster, check_stable

pytestmark = pytest.mark.slow

#: Rounds until a group is stable after its last event.
MOST_ROUNDS = 4

NAMES = ["a", "b", "c", "files", "files-1"]
MEMBERS = [f"w{number}" for number in range(40)]

names = st.sampled_from(NAMES)
some_tasks = st.builds(ConnectorTaskId, names, st.integers(0, 4))
lists = st.builds(
    StaticJobs,
    st.none() | st.lists(names, max_size=3),
    st.none() | st.lists(some_tasks, max_size=4),
)


class Histories(RuleBasedStateMachine):
    make: ClassVar[type[ConnectAssignor]] = IncrementalCooperativeAssignor
    protocol: ClassVar[ConnectProtocol] = ConnectProtocol.SESSIONED
    with_static: ClassVar[bool] = False
    quirks: ClassVar[str] = "all"
    #: True if leaders change and answers get lost while connectors are deleted; with quirk Q1 a job may then stay.
    with_failures: ClassVar[bool] = False
    most_rounds: ClassVar[int] = MOST_ROUNDS

    cluster: Cluster
    next_member: int

    @initialize(
        connectors=st.dictionaries(names, st.integers(0, 5), max_size=4),
        max_delay=st.sampled_from([0, 1, 30_000, 300_000]),
        members=st.integers(1, 4),
    )
    def start(self, connectors: dict[str, int], max_delay: int, members: int) -> None:
        self.max_delay = max_delay
        self.cluster = Cluster(
            self.made(), connectors, max_delay=max_delay, protocol=self.protocol, settings=self.settings_of_assignor()
        )
        self.next_member = 0
        for _ in range(members):
            self.join_one(WILDCARD)
        self.cluster.settle()

    def settings_of_assignor(self) -> dict[str, Any]:
        name = "connect_static" if self.make is StaticConnectAssignor else "connect_incremental"
        return {f"assignor.{name}.quirks": self.quirks}

    def made(self) -> ConnectAssignor:
        return self.make()

    def join_one(self, static: StaticJobs) -> None:
        assume(self.next_member < len(MEMBERS))
        self.cluster.join(MEMBERS[self.next_member], lists=static)
        self.next_member += 1

    def happens(self) -> None:
        self.cluster.rebalance(self.cluster.time + 10)

    @rule(static=lists)
    def a_worker_joins(self, static: StaticJobs) -> None:
        self.join_one(static if self.with_static else WILDCARD)
        self.happens()

    @precondition(lambda self: len(self.cluster.owned) > 1)
    @rule(data=st.data())
    def a_worker_leaves(self, data: st.DataObject) -> None:
        self.cluster.leave(data.draw(st.sampled_from(sorted(self.cluster.owned)), "leaver"))
        self.happens()

    @rule(data=st.data())
    def a_worker_restarts_with_other_lists(self, data: st.DataObject) -> None:
        member = data.draw(st.sampled_from(sorted(self.cluster.owned)), "worker")
        self.cluster.leave(member)
        self.join_one(data.draw(lists, "lists") if self.with_static else WILDCARD)
        self.happens()

    @rule(name=names, number=st.integers(0, 5))
    def a_connector_is_made_or_changed(self, name: str, number: int) -> None:
        self.cluster.connectors[name] = number
        self.happens()

    @rule(name=names)
    def a_connector_is_deleted(self, name: str) -> None:
        self.cluster.connectors.pop(name, None)
        self.happens()

    @rule(later=st.sampled_from([1, 40, 20_000, 300_000]))
    def a_rebalance_for_no_reason(self, later: int) -> None:
        self.cluster.rebalance(self.cluster.time + later)

    @precondition(lambda self: self.with_failures)
    @rule(data=st.data())
    def some_answers_get_lost(self, data: st.DataObject) -> None:
        members = sorted(self.cluster.owned)
        losers = data.draw(st.lists(st.sampled_from(members), unique=True, min_size=1), "losers")
        self.cluster.rebalance(self.cluster.time + 10, lost_by=losers)

    @precondition(lambda self: self.with_failures)
    @rule()
    def another_worker_leads(self) -> None:
        self.cluster.assignor = self.made()
        self.cluster.assignor.configure({MAX_DELAY_KEY: self.max_delay, **self.settings_of_assignor()})
        self.happens()

    @precondition(lambda self: self.with_failures)
    @rule()
    def the_leader_missed_a_generation(self) -> None:
        self.cluster.generation += 1
        self.cluster.completed = self.cluster.generation - 2
        self.happens()

    @rule()
    def everything_calms_down(self) -> None:
        assert self.cluster.settle() <= self.most_rounds
        check_stable(self.cluster)

    def teardown(self) -> None:
        if hasattr(self, "cluster"):
            self.everything_calms_down()


class CleanHistories(Histories):
    quirks = "none"
    with_failures = True


class StaticHistories(Histories):
    make = StaticConnectAssignor
    protocol = ConnectProtocol.STATIC
    with_static = True


class CleanStaticHistories(StaticHistories):
    quirks = "none"
    with_failures = True


#: Settings of the KIP's open choices that do not change the allowed workers of a job.
choices = st.fixed_dictionaries(
    {},
    optional={
        "several_valid": st.sampled_from(["smallest_id", "first_member"]),
        "duplicates": st.just("keep_one"),
        **{
            name: st.booleans()
            for name in (
                "balance_static",
                "moves_wait_for_delay",
                "moves_count_for_backoff",
                "lost_static_waits",
                "lost_unlisted_waits",
                "all_members_must_remain",
                "forget_unplaced",
            )
        },
    },
)


class ChosenHistories(StaticHistories):
    """With static workers, under any choice; a group may then take longer, but reaches the same state."""

    quirks = "none"
    with_failures = True
    most_rounds = 12

    def __init__(self) -> None:
        super().__init__()
        self.chosen: dict[str, Any] = {}

    @rule(chosen=choices)
    def another_worker_with_other_choices_leads(self, chosen: dict[str, Any]) -> None:
        self.chosen = chosen
        self.another_worker_leads()

    def settings_of_assignor(self) -> dict[str, Any]:
        chosen = {f"assignor.connect_static.{name}": value for name, value in self.chosen.items()}
        return {**super().settings_of_assignor(), **chosen}


class BothHistories(Histories):
    """The static assignor beside Kafka's, in the same rounds of a group without static workers."""

    with_failures = True

    def made(self) -> ConnectAssignor:
        return Twins()

    def everything_calms_down(self) -> None:
        self.cluster.settle()


class Twins(ConnectAssignor):
    def __init__(self) -> None:
        self._kafka = IncrementalCooperativeAssignor()
        self._static = StaticConnectAssignor()

    def configure(self, configs: Any) -> None:
        delay = {MAX_DELAY_KEY: configs[MAX_DELAY_KEY]}
        self._kafka.configure(delay)
        self._static.configure(delay)

    def assign(self, rebalance: Rebalance) -> Any:
        expected = self._kafka.assign(rebalance)
        spoken = Rebalance(
            rebalance.configured,
            rebalance.workers,
            ConnectProtocol.STATIC,
            rebalance.time_ms,
            rebalance.generation,
            rebalance.last_completed_generation,
        )
        assert self._static.assign(spoken) == expected
        return expected


_settings = settings(
    max_examples=120, stateful_step_count=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)

TestHistories = pytest.mark.slow(Histories.TestCase)
TestHistories.settings = _settings
TestCleanHistories = pytest.mark.slow(CleanHistories.TestCase)
TestCleanHistories.settings = _settings
TestStaticHistories = pytest.mark.slow(StaticHistories.TestCase)
TestStaticHistories.settings = _settings
TestCleanStaticHistories = pytest.mark.slow(CleanStaticHistories.TestCase)
TestCleanStaticHistories.settings = _settings
TestChosenHistories = pytest.mark.slow(ChosenHistories.TestCase)
TestChosenHistories.settings = _settings
TestBothHistories = pytest.mark.slow(BothHistories.TestCase)
TestBothHistories.settings = _settings


class Unbalanced(ConnectAssignor):
    def __init__(self) -> None:
        self._kafka = IncrementalCooperativeAssignor()

    def configure(self, configs: Any) -> None:
        self._kafka.configure(configs)

    def assign(self, rebalance: Rebalance) -> Any:
        answer = self._kafka.assign(rebalance)
        told = {member: WorkerAssignment(each.assigned) for member, each in answer.workers.items()}
        return ConnectAssignment(told, answer.delay_ms)


class UnbalancedHistories(Histories):
    """A wrong assignor, which must be detected."""

    def made(self) -> ConnectAssignor:
        return Unbalanced()


def test_a_history_that_breaks_a_property_shrinks_to_a_few_steps() -> None:
    with pytest.raises(AssertionError) as failed:
        run_state_machine_as_test(
            UnbalancedHistories,
            settings=settings(
                _settings,
                max_examples=30,
                stateful_step_count=6,
                database=None,
                report_multiple_bugs=False,
                phases=[Phase.generate, Phase.shrink],
            ),
        )
    steps = [line for line in "\n".join(failed.value.__notes__).splitlines() if line.strip().startswith("state.")]
    assert 2 <= len(steps) <= 4, steps
