from __future__ import annotations

from typing import Any

import attrs
import pytest

from assignment_api.connect import ConnectConfigError, ConnectProtocol, Jobs
from builtin_assignors._connect_incremental_steps import StaticRules
from builtin_assignors.connect_eager import EagerAssignor
from builtin_assignors.connect_static import StaticConnectAssignor
from builtin_assignors.connect_static.config import StaticSettings
from tests.builtin_assignors.connect_cluster import Cluster, check_stable, roles, static, tasks, told

ABC = {"c1": 2, "c2": 2, "c3": 2}
PREFIX = "assignor.connect_static."


def cluster(connectors: dict[str, int], *wildcards: str, max_delay: int = 300_000, **settings: Any) -> Cluster:
    made = Cluster(
        StaticConnectAssignor(),
        connectors,
        max_delay=max_delay,
        protocol=ConnectProtocol.STATIC,
        settings={PREFIX + key: value for key, value in settings.items()},
    )
    made.join(*wildcards)
    return made


def test_the_golden_trace_of_the_reference() -> None:
    group = cluster(ABC, "w1", "w2")
    assert told(group.rebalance(1_000)) == {
        "w1": ("c1 c3 c1-0 c2-0 c3-0", ""),
        "w2": ("c2 c1-1 c2-1 c3-1", ""),
    }
    group.join("s1", lists=static(["c1"], ["c1-0"]))
    assert told(group.rebalance(2_000)) == {"w1": ("", "c1 c1-0")}
    assert told(group.rebalance(2_010)) == {"s1": ("c1 c1-0", "")}

    group.join("s2", lists=static(["c1"], ["c1-0", "c2-0", "zz-0"]))
    assert told(group.rebalance(3_010)) == {"w1": ("", "c2-0"), "w2": ("", "c1-1")}
    assert told(group.rebalance(3_020)) == {"s2": ("c2-0", ""), "w1": ("c1-1", "")}

    group.leave("s1")
    answer = group.rebalance(4_020)
    assert (told(answer), answer.delay_ms) == ({"s2": ("c1 c1-0", "")}, 0)
    group.leave("s2")
    answer = group.rebalance(5_020)
    assert (told(answer), answer.delay_ms) == ({}, 300_000)
    group.join("s3", lists=static(["c1"]))
    answer = group.rebalance(65_020)
    assert (told(answer), answer.delay_ms) == ({"s3": ("c1", "")}, 240_000)
    answer = group.rebalance(305_020)
    assert (told(answer), answer.delay_ms) == ({"w1": ("c1-0", ""), "w2": ("c2-0", "")}, 0)

    group.leave("w1", "w2")
    assert group.rebalance(306_030).delay_ms == 300_000
    answer = group.rebalance(606_030)
    assert (told(answer), answer.delay_ms) == ({}, 0)
    assert "8 jobs stay unassigned" in answer.remarks[0]
    group.join("w4")
    answer = group.rebalance(607_030)
    assert told(answer) == {"w4": ("c2 c3 c1-0 c1-1 c2-0 c2-1 c3-0 c3-1", "")}
    assert answer.remarks == ()


@pytest.mark.parametrize("before", [ConnectProtocol.EAGER, ConnectProtocol.COMPATIBLE, ConnectProtocol.SESSIONED])
def test_the_kips_own_test_plan(before: ConnectProtocol) -> None:
    group = cluster({}, "old1", "old2", "old3")
    group.protocol = before
    if before is ConnectProtocol.EAGER:
        group.assignor = EagerAssignor()
    group.connectors = {"files": 3, "orders": 4, "clicks": 2}
    group.settle()
    check_stable(group)

    # Roll to static, worker by worker; the group uses the oldest protocol until the last one is new.
    if before is ConnectProtocol.EAGER:
        group.assignor = StaticConnectAssignor()
    for number in (1, 2, 3):
        group.leave(f"old{number}")
        group.join(f"w{number}")
        group.protocol = ConnectProtocol.STATIC if number == 3 else max(before, _COMPATIBLE, key=_version)
        group.settle()
        check_stable(group)

    group.join("s1", lists=static(["files"]))
    group.settle()
    check_stable(group)
    assert group.owned["s1"] == Jobs(["files"])

    group.join("s2", lists=static(None, ["orders-0"]))
    group.settle()
    check_stable(group)
    assert group.owned["s2"] == Jobs((), tasks("orders-0"))

    group.join("s3", lists=static(["files"], ["orders-0"]))
    group.settle()
    check_stable(group)
    assert (group.owned["s1"], group.owned["s3"]) == (Jobs(["files"]), Jobs())

    group.leave("w3")
    group.settle()
    check_stable(group)

    group.join("s4", lists=static(["orders", "clicks"], ["files-0", "files-1", "files-2"]))
    group.join("s5", lists=static([], ["orders-1", "orders-2", "orders-3", "clicks-0", "clicks-1"]))
    group.settle()
    check_stable(group)
    assert [len(group.owned[member]) for member in ("w1", "w2")] == [0, 0]

    running = dict(group.owned)
    group.leave("w1", "w2")
    assert told(group.rebalance()) == {}
    assert group.owned == {member: jobs for member, jobs in running.items() if member not in ("w1", "w2")}
    check_stable(group)
    assert len(group.owners()) == len(group.configured())


_COMPATIBLE = ConnectProtocol.COMPATIBLE


def _version(protocol: ConnectProtocol) -> int:
    return protocol.version


def test_lists_mean_nothing_while_one_member_is_older() -> None:
    group = cluster(ABC, "w1")
    group.join("s1", lists=static([], []))
    group.protocol = ConnectProtocol.SESSIONED
    group.settle()
    assert group.sizes() == ([1, 2], [3, 3])


def test_the_moment_the_last_old_member_leaves_everything_misplaced_moves_at_once() -> None:
    group = cluster(ABC, "w1")
    group.join("s1", lists=static(["c1"]))
    group.protocol = ConnectProtocol.SESSIONED
    group.settle()
    group.protocol = ConnectProtocol.STATIC
    assert group.rebalance().has_revocations
    assert not group.rebalance().has_revocations
    check_stable(group)


# --- the choices ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "jobs"), [(False, 0), (True, 1), ("true", 1)])
def test_an_empty_list_makes_an_idle_static_worker(value: object, jobs: int) -> None:
    group = cluster({"c": 0, "d": 0}, "w", empty_static_is_wildcard=value)
    group.join("s", lists=static([]))
    group.settle()
    assert len(group.owned["s"]) == jobs


@pytest.mark.parametrize(("value", "jobs"), [(False, 0), (True, 1)])
def test_a_list_of_jobs_that_do_not_exist_parks_a_worker(value: bool, jobs: int) -> None:
    group = cluster({"c": 0, "d": 0}, "w", unsatisfiable_is_wildcard=value)
    group.join("s", lists=static(["later"], ["later-0"]))
    group.settle()
    assert len(group.owned["s"]) == jobs


@pytest.mark.parametrize(("value", "owner"), [("least_loaded", "b"), ("smallest_id", "a"), ("first_member", "z")])
def test_of_several_workers_that_list_a_job_one_is_chosen(value: str, owner: str) -> None:
    group = cluster({"only": 0, "all": 0}, several_valid=value, order="java")
    group.join("z", "a", lists=static(["only", "all"]))
    group.join("b", lists=static(["all"]))
    group.owned["z"] = Jobs(["only"])
    group.settle()
    if value == "first_member":
        first = next(iter(sorted(group.owned, key=lambda member: ord(member) % 16)))
        assert group.owners()["all"] == [first]
    elif value == "least_loaded":
        assert group.owners()["all"] == ["a"]
    else:
        assert group.owners()["all"] == [owner]


def test_a_present_owner_that_lists_its_job_keeps_it() -> None:
    group = cluster({"c": 0})
    group.join("z", lists=static(["c"]))
    group.settle()
    group.join("a", lists=static(["c"]))
    assert told(group.rebalance()) == {}


@pytest.mark.parametrize(("value", "kept"), [("revoke_all", 0), ("keep_one", 1)])
def test_a_static_job_that_two_workers_report(value: str, kept: int) -> None:
    group = cluster({"c": 0}, duplicates=value)
    group.join("a", "b", lists=static(["c"]))
    group.settle()
    group.owned = {"a": Jobs(["c"]), "b": Jobs(["c"])}
    group.rebalance()
    assert len(group.owners().get("c", ())) == kept
    group.settle()
    check_stable(group)


@pytest.mark.parametrize(("value", "moved"), [(False, True), (True, False)])
def test_misplaced_jobs_do_not_wait_for_a_running_delay(value: bool, moved: bool) -> None:
    group = cluster(ABC, "w1", "w2", moves_wait_for_delay=value)
    group.settle()
    group.leave("w2")
    group.rebalance(10_000)
    group.join("s", lists=static(["c1", "c2", "c3"]))
    answer = group.rebalance(20_000)
    assert answer.delay_ms > 0
    assert answer.has_revocations is moved
    group.settle()
    check_stable(group)


@pytest.mark.parametrize(("value", "delay"), [(False, 0), (True, 40)])
def test_moves_are_no_reason_for_a_pause(value: bool, delay: int) -> None:
    group = cluster({"a": 0, "b": 0, "c": 0, "d": 0}, "w1", moves_count_for_backoff=value)
    group.settle()
    group.join("s1", lists=static(["a"]))
    assert group.rebalance(10_000).has_revocations
    group.join("s2", lists=static(["b"]))
    answer = group.rebalance(10_010)
    assert answer.delay_ms == delay
    assert answer.has_revocations is not value
    group.settle()
    check_stable(group)


@pytest.mark.parametrize(("value", "delay"), [(False, 0), (True, 300_000)])
def test_a_lost_job_that_somebody_lists_is_placed_at_once(value: bool, delay: int) -> None:
    group = cluster({"c": 0}, lost_static_waits=value)
    group.join("a", "b", lists=static(["c"]))
    group.settle()
    group.leave("a")
    assert group.rebalance(10_000).delay_ms == delay
    group.settle()
    check_stable(group)


@pytest.mark.parametrize(("value", "delay"), [(True, 300_000), (False, 0)])
def test_a_lost_job_that_nobody_else_lists_waits_for_its_worker(value: bool, delay: int) -> None:
    group = cluster({"c": 0, "d": 0}, "w", lost_unlisted_waits=value)
    group.join("s", lists=static(["c"]))
    group.settle()
    group.leave("s")
    assert group.rebalance(10_000).delay_ms == delay
    group.settle()
    check_stable(group)


def test_a_static_worker_that_returns_during_the_delay_gets_its_jobs_at_once() -> None:
    group = cluster(ABC, "w1", "w2")
    group.join("s", lists=static(["c1"], ["c1-0"]))
    group.settle()
    group.leave("s")
    assert group.rebalance(10_000).delay_ms == 300_000
    group.join("s-again", lists=static(["c1"], ["c1-0"]))
    answer = group.rebalance(20_000)
    assert (told(answer), answer.delay_ms) == ({"s-again": ("c1 c1-0", "")}, 0)


@pytest.mark.parametrize(("value", "jobs"), [(False, 0), (True, 4)])
def test_wildcard_jobs_without_a_wildcard_worker(value: bool, jobs: int) -> None:
    group = cluster({"c": 1, "d": 1}, "w", keep_without_wildcards=value)
    group.settle()
    running = group.owned["w"]
    group.leave("w")
    group.join("s", lists=static([]))
    group.owned["s"] = running
    group.settle()
    assert len(group.owned["s"]) == jobs


@pytest.mark.parametrize(("value", "delay"), [(True, 300_000), (False, 0)])
def test_nobody_left_is_asked_of_all_members(value: bool, delay: int) -> None:
    group = cluster({"c": 0}, "w", all_members_must_remain=value)
    group.join("s", lists=static([]))
    group.rebalance(lost_by=["w"])
    group.leave("s")
    assert group.rebalance(10_000).delay_ms == delay


@pytest.mark.parametrize(("value", "delay"), [(True, 0), (False, 300_000)])
def test_jobs_that_nobody_may_run_are_forgotten(value: bool, delay: int) -> None:
    group = cluster({"c": 0}, "w", forget_unplaced=value)
    group.settle()
    group.leave("w")
    group.join("s1", "s2", lists=static([]))
    group.rebalance(10_000)
    group.rebalance(310_000)
    group.leave("s1")
    assert group.rebalance(320_000).delay_ms == delay


@pytest.mark.parametrize(("value", "sizes"), [(False, [0, 6]), (True, [3, 3])])
def test_workers_with_the_same_lists_may_be_evened_out(value: bool, sizes: list[int]) -> None:
    names = ["a", "b", "c", "d", "e", "f"]
    group = cluster(dict.fromkeys(names, 0), balance_static=value)
    group.join("s1", lists=static(names))
    group.settle()
    group.join("s2", lists=static(names))
    group.settle()
    assert group.sizes()[0] == sizes
    check_stable(group)


def test_evening_out_moves_only_what_the_other_worker_lists() -> None:
    group = cluster(dict.fromkeys("abcdef", 0), balance_static=True)
    group.join("s1", lists=static(list("abcdef")))
    group.settle()
    group.join("s2", lists=static(["a"]))
    group.settle()
    assert group.owned["s2"] == Jobs(["a"])


def test_a_connector_that_is_called_like_a_task_of_another_one() -> None:
    group = cluster({"a": 2, "a-1": 1}, "w")
    group.join("s", lists=static(None, ["a-1-0", "a-1"]))
    group.settle()
    assert set(group.owned["s"].tasks) == set(tasks("a-1-0", "a-1"))
    assert group.owned["s"].connectors == ()
    assert roles(group).wildcards == ["w"]


def test_every_choice_is_a_setting_and_has_its_default() -> None:
    assert StaticSettings.from_config({}) == StaticSettings()
    for field in attrs.fields(StaticRules):
        if isinstance(field.default, bool):
            read = StaticSettings.from_config({PREFIX + field.name: not field.default})
            assert getattr(read.rules, field.name) is not field.default


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({PREFIX + "several_valid": "any"}, "must be one of: least_loaded, smallest_id, first_member"),
        ({PREFIX + "balance_static": "perhaps"}, "must be one of: true, false"),
        ({PREFIX + "balanced_static": True}, "did you mean assignor.connect_static.balance_static"),
    ],
)
def test_wrong_settings_are_refused_by_name(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConnectConfigError, match=message):
        StaticConnectAssignor().configure(settings)
