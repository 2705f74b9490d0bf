"""Every figure of a Streams group, computed by hand."""

from __future__ import annotations

import pytest

from assignment_api.plugins import MetricPlugin
from assignor_lab.groups.streams.metrics import LAB_METRICS
from assignor_lab.groups.streams_group.metrics import GROUP_METRICS
from tests.groups.streams_group.states import METRICS, Member, figure

# --- movement ---------------------------------------------------------------------------------------

# Process a has members 1 and 2, process b has member 3, process c is new. Sub-topology 1 has no state.
# The previous owner of 0_4 is gone.
TASKS = {"0": 5, "1": 2}
MOVING = [
    Member("a", before="0_0 1_0 | 0_2", after="0_1 | 0_2"),
    Member("a", before="0_1", after="0_0"),
    Member("b", before="0_2 0_3 1_1 | 0_0", after="0_2 1_1"),
    Member("c", after="0_3 0_4 1_0 | 0_0"),
]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        # 0_3 went from b to c; 0_0 and 0_1 changed places within a.
        ("stateful_actives_moved", 1.0),
        # 1_0 went from a to c.
        ("stateless_actives_moved", 1.0),
        # 0_0: c instead of b.
        ("standbys_moved", 1.0),
        # 0_3, 0_4 and the standby of 0_0, all on c.
        ("replicas_placed_without_state", 3.0),
        # 0_3 and 0_4 on c.
        ("actives_placed_without_state", 2.0),
        # Of 0_0, 0_1, 0_2, 0_3, 1_0, 1_1 stay 0_0, 0_1, 0_2, 1_1 on their process; 0_2 and 1_1 on their member.
        ("tasks_kept_on_process", 4 / 6),
        ("tasks_kept_on_member", 2 / 6),
        # 0_0 and 0_1.
        ("actives_moved_within_process", 2.0),
    ],
)
def test_movement_of_seven_tasks(metric: str, expected: float) -> None:
    assert figure(metric, MOVING, tasks=TASKS, stateless="1", standbys=1) == pytest.approx(expected)


def test_nothing_was_kept_where_nothing_was_known() -> None:
    cold = [Member("a", after="0_0"), Member("b", after="0_1")]
    assert figure("tasks_kept_on_process", cold, tasks={"0": 2}) is None
    assert figure("tasks_kept_on_member", cold, tasks={"0": 2}) is None


def test_a_warm_up_is_a_copy_of_state() -> None:
    members = [Member("a", before="0_0", after=""), Member("b", before="~ 0_0", after="0_0")]
    assert figure("stateful_actives_moved", members, tasks={"0": 1}) == 1.0
    assert figure("actives_placed_without_state", members, tasks={"0": 1}) == 0.0


def test_offsets_tell_of_state_on_the_disk_of_a_process_whoever_reports_them() -> None:
    # Member 2 reports the state on the disk of process a; member 1 of the same process gets the task.
    members = [Member("a", after="0_0"), Member("a", offsets={"0_0": 90}), Member("b", after="0_1", ends={"0_1": 50})]
    assert figure("actives_placed_without_state", members, tasks={"0": 2}) == 1.0
    assert figure("offsets_to_restore", members, tasks={"0": 2}) is None  # the end of 0_0 is unknown


def test_files_that_were_left_are_no_standby_that_moves() -> None:
    members = [Member("a", before="0_0", after="0_0"), Member("b", offsets={"0_0": 5}), Member("c", after="| 0_0")]
    assert figure("standbys_moved", members, tasks={"0": 1}, standbys=1) == 0.0
    assert figure("replicas_placed_without_state", members, tasks={"0": 1}, standbys=1) == 1.0


OFFSETS = [
    Member("a", before="0_0", after="| 0_0", offsets={"0_0": 100}, ends={"0_0": 100}),
    Member("b", before="| 0_0", after="0_0", offsets={"0_0": 70, "0_1": 30}, ends={"0_0": 100, "0_1": 40}),
    Member("b", after="| 0_1", offsets={"0_1": 36}),
    Member("c", after="0_1 1_0"),
]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        # 0_0: b lacks 30, a nothing. 0_1: c lacks all 40, b 40 - 36 = 4.
        ("offsets_to_restore", 30.0 + 0.0 + 40.0 + 4.0),
        # 0_0 on b, 0_1 on c.
        ("offsets_to_restore_before_processing", 30.0 + 40.0),
    ],
)
def test_what_copies_lack_follows_from_the_reported_offsets(metric: str, expected: float) -> None:
    assert figure(metric, OFFSETS, tasks={"0": 2, "1": 1}, stateless="1", standbys=1) == expected


def test_who_ran_a_task_and_reports_nothing_of_it_has_all_of_it() -> None:
    staying = [Member("a", before="0_0", after="0_0"), Member("b", before="| 0_0", after="| 0_0")]
    assert figure("offsets_to_restore_before_processing", staying[:1], tasks={"0": 1}) == 0.0
    assert figure("offsets_to_restore", staying, tasks={"0": 1}, standbys=1) is None


def test_an_offset_beyond_the_end_lacks_nothing_and_a_negative_one_all() -> None:
    members = [
        Member("a", after="0_0", offsets={"0_0": 12}, ends={"0_0": 10}),
        Member("b", after="0_1", offsets={"0_1": -2}, ends={"0_1": 7}),
    ]
    assert figure("offsets_to_restore", members, tasks={"0": 2}) == 7.0


# --- spread -----------------------------------------------------------------------------------------


def test_replicas_reach_as_many_zones_as_there_are_copies() -> None:
    # 0_0 in zones x and y, 0_1 twice in x: 2 of 2 and 1 of 2. The cluster is one for all.
    members = [
        Member("a", after="0_0 0_1", tags={"zone": "x", "cluster": "k"}, rack="r1"),
        Member("b", after="| 0_1", tags={"zone": "x", "cluster": "k"}, rack="r1"),
        Member("c", after="| 0_0", tags={"zone": "y", "cluster": "k"}, rack="r2"),
    ]
    assert figure("tag_values_achieved", members, tasks={"0": 2}, standbys=1) == 0.75
    assert figure("tag_values_achieved_worst_key", members, tasks={"0": 2}, standbys=1) == 0.75
    assert figure("replicas_all_on_one_value", members, tasks={"0": 2}, standbys=1) == 1.0
    assert figure("replicas_in_one_rack", members, tasks={"0": 2}, standbys=1) == 1.0


def test_without_standbys_or_tags_there_is_no_spread_to_reach() -> None:
    tagged = [Member("a", after="0_0", tags={"zone": "x"}), Member("b", tags={"zone": "y"})]
    assert figure("tag_values_achieved", tagged, tasks={"0": 1}) is None
    plain = [Member("a", after="0_0"), Member("b", after="| 0_0")]
    assert figure("tag_values_achieved", plain, tasks={"0": 1}, standbys=1) is None
    assert figure("replicas_in_one_rack", plain, tasks={"0": 1}, standbys=1) is None


def test_members_of_a_process_share_its_tags() -> None:
    members = [
        Member("a", after="0_0"),
        Member("a", tags={"zone": "x"}),
        Member("b", after="| 0_0", tags={"zone": "y"}),
    ]
    assert figure("tag_values_achieved", members, tasks={"0": 1}, standbys=1) == 1.0


# --- balance ----------------------------------------------------------------------------------------

# Process a: members with 3 (one without state, a standby besides) and 1 tasks; process b: 1 task and 2 standbys.
UNEVEN = [
    Member("a", after="0_0 0_1 1_0 | 0_3"),
    Member("a", after="0_2"),
    Member("b", after="0_3 | 0_0 ~ 0_1"),
]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        # 3, 1, 1.
        ("active_tasks_per_member_range", 2.0),
        # 2, 1, 1.
        ("stateful_tasks_per_member_range", 1.0),
        # 1, 0, 0.
        ("stateless_tasks_per_member_range", 1.0),
        # 1, 0, 2.
        ("standby_tasks_per_member_range", 2.0),
        # 4, 1, 3.
        ("total_tasks_per_member_range", 3.0),
        ("active_tasks_above_even_share", 1.0),
        ("stateful_tasks_above_even_share", 0.0),
        ("stateless_tasks_above_even_share", 0.0),
        ("standby_tasks_above_even_share", 1.0),
        ("total_tasks_above_even_share", 1.0),
        # a: 4/2, 3/2, 1/2, 5/2; b: 1, 1, 0, 3.
        ("active_tasks_per_thread_range", 1.0),
        ("stateful_tasks_per_thread_range", 0.5),
        ("stateless_tasks_per_thread_range", 0.5),
        ("total_tasks_per_thread_range", 0.5),
        # 3 against 8/3.
        ("process_load_excess", 3 - 8 / 3),
        # 1/2 against 2.
        ("standby_load_per_process_range", 1.5),
        # Sub-topology 0: 4 tasks, shares 2 2/3 and 1 1/3: a has 3, b has 1. Sub-topology 1: a may have one.
        ("subtopology_skew_above_unavoidable", 0.0),
        ("subtopologies_skewed", 0.0),
    ],
)
def test_balance_of_three_members_on_two_processes(metric: str, expected: float) -> None:
    found = figure(metric, UNEVEN, tasks={"0": 4, "1": 1}, stateless="1", standbys=1)
    assert found == pytest.approx(expected)


def test_a_sub_topology_on_one_of_two_processes_is_skewed() -> None:
    members = [Member("a", after="0_0 0_1 0_2 0_3"), Member("b", after="1_0 1_1 1_2 1_3")]
    assert figure("subtopology_skew_above_unavoidable", members, tasks={"0": 4, "1": 4}) == 4.0
    assert figure("subtopologies_skewed", members, tasks={"0": 4, "1": 4}) == 2.0


# --- coverage ---------------------------------------------------------------------------------------


def test_tasks_without_a_member_are_counted() -> None:
    assert figure("tasks_not_assigned", [Member("a", after="0_0")], tasks={"0": 3}) == 2.0


def test_standbys_are_missing_as_far_as_there_are_other_processes() -> None:
    # Three configured, two other processes: 0_0 has one of two, 0_1 none; sub-topology 1 has no state.
    members = [Member("a", after="0_0 0_1 1_0"), Member("b", after="| 0_0"), Member("c", after="~ 0_1")]
    assert figure("standbys_missing", members, tasks={"0": 2, "1": 1}, stateless="1", standbys=3) == 1.0 + 2.0


def test_a_standby_beside_its_active_is_none() -> None:
    members = [Member("a", after="0_0"), Member("a", after="| 0_0"), Member("b")]
    assert figure("standbys_missing", members, tasks={"0": 1}, standbys=1) == 1.0
    assert figure("tasks_twice_on_process", members, tasks={"0": 1}, standbys=1) == 1.0


def test_warm_ups_are_counted_and_standbys_beyond_the_configured_number() -> None:
    members = [Member("a", after="0_0 0_1"), Member("b", after="| 0_0 ~ 0_1"), Member("c", after="| 0_0")]
    assert figure("warmups_in_flight", members, tasks={"0": 2}, standbys=1) == 1.0 + 1.0


def test_a_task_that_two_members_run_is_active_twice() -> None:
    members = [Member("a", after="0_0 0_1"), Member("b", after="0_0"), Member("b", after="0_1")]
    assert figure("tasks_active_twice", members, tasks={"0": 2}) == 2.0
    assert figure("tasks_twice_on_process", members, tasks={"0": 2}) == 0.0


# --- common properties ------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", GROUP_METRICS, ids=lambda metric: metric.name)
def test_each_metric_says_what_it_is(metric: MetricPlugin) -> None:
    assert metric.kind == "streams-group"
    assert metric.unit
    assert metric.summary.endswith(".")
    assert metric.unavoidable.endswith(".")


@pytest.mark.parametrize("metric", GROUP_METRICS, ids=lambda metric: metric.name)
def test_each_metric_has_a_finite_figure_or_none_for_an_empty_group(metric: MetricPlugin) -> None:
    found = figure(metric.name, [], tasks={"0": 2}, standbys=1)
    assert found is None or 0 <= found <= 2


def test_what_classic_groups_have_too_is_said_in_the_same_words() -> None:
    classic = {metric.name: metric for metric in LAB_METRICS}
    shared = [metric for name, metric in METRICS.items() if name in classic]
    assert len(shared) > 25
    for metric in shared:
        other = classic[metric.name]
        assert (metric.unit, metric.direction, metric.summary, metric.unavoidable, metric.group) == (
            other.unit,
            other.direction,
            other.summary,
            other.unavoidable,
            other.group,
        )


def test_tasks_and_members_that_the_group_lacks_are_left_out() -> None:
    members = [Member("a", before="0_0 0_9 7_0", after="0_0 0_9 7_0")]
    assert figure("active_tasks_above_even_share", members, tasks={"0": 1}) == 0.0
    assert figure("tasks_kept_on_process", members, tasks={"0": 1}) == 1.0
