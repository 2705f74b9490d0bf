"""Reconciliation of streams groups' members: each step as recorded at a real broker (4.3.1)."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from assignor_lab.kafka.streams_group.reconciliation import MemberState, Standing, reconciled
from assignor_lab.kafka.streams_group.releases import KAFKA_4_3, KAFKA_4_4
from assignor_lab.kafka.streams_group.tasks import NO_TASKS, Holders, TasksByRole

CAPTURES = Path(__file__).parents[2] / "data" / "captures"
RECORDED = ["downtime/D/timeline.json.gz", "timelines/orders-group.json.gz", "timelines/orders-group-3.json.gz"]


def tasks(active: str = "", standby: str = "", warmup: str = "") -> TasksByRole:
    return TasksByRole(*(frozenset(map(int, each.split())) for each in (active, standby, warmup)))


def step(
    standing: Standing,
    target: TasksByRole,
    *others: tuple[str, TasksByRole],
    epoch: int = 2,
    owned: TasksByRole | None = None,
    release: Any = KAFKA_4_3,
) -> Standing:
    holders = Holders()
    holders.add("m", "p", standing.assigned | standing.pending)
    for number, (process, held) in enumerate(others):
        holders.add(f"other {number}", process, held)
    return reconciled("m", standing, target, epoch, owned, holders, release)


def test_tasks_are_given_back_before_new_ones_come() -> None:
    before = Standing("p", 1, assigned=tasks("1 2"))
    revoking = step(before, tasks("2 3"))
    assert (revoking.state, revoking.epoch) == (MemberState.UNREVOKED, 1)
    assert (revoking.assigned, revoking.pending) == (tasks("2"), tasks("1"))
    assert step(revoking, tasks("2 3"), owned=None) == revoking
    assert step(revoking, tasks("2 3"), owned=tasks("1 2")) == revoking
    assert step(revoking, tasks("2 3"), owned=tasks("2")) == Standing("p", 2, assigned=tasks("2 3"))


def test_active_task_waits_until_its_old_owner_has_given_it_back() -> None:
    waiting = step(Standing("p", 1), tasks("1 2"), ("q", tasks("1")))
    assert waiting == Standing("p", 2, MemberState.UNRELEASED, tasks("2"))
    assert step(waiting, tasks("1 2")) == Standing("p", 2, MemberState.STABLE, tasks("1 2"))


def test_standby_waits_for_the_active_task_of_its_own_process_alone() -> None:
    assert step(Standing("p", 1), tasks("", "1"), ("q", tasks("1"))).state is MemberState.STABLE
    assert step(Standing("p", 1), tasks("", "1"), ("p", tasks("1"))).state is MemberState.UNRELEASED


@pytest.mark.parametrize(("release", "rounds"), [(KAFKA_4_3, 3), (KAFKA_4_4, 1)])
def test_promotion_within_a_member_takes_one_round_since_4_4(release: Any, rounds: int) -> None:
    standing = Standing("p", 1, assigned=tasks("", "1"))
    for number in range(1, 5):
        standing = step(standing, tasks("1"), owned=standing.assigned if number > 1 else None, release=release)
        if standing == Standing("p", 2, assigned=tasks("1")):
            break
    assert number == rounds


def test_active_task_becomes_a_standby_of_its_member_in_the_step_that_revokes_it_since_4_4() -> None:
    standing = Standing("p", 1, assigned=tasks("1"))
    after = step(standing, tasks("", "1"), release=KAFKA_4_4)
    assert (after.assigned, after.pending) == (tasks("", "1"), tasks("1"))
    assert step(standing, tasks("", "1")).assigned == NO_TASKS


def test_copies_are_exchanged_only_once_the_member_itself_has_given_back_the_active_task() -> None:
    # An active task has become a standby; the target is a warm-up before that is acknowledged.
    before = Standing("p", 1, MemberState.UNREVOKED, tasks("", "1"), pending=tasks("1"))
    after = step(before, tasks("", "", "1"), owned=tasks("", "1"), release=KAFKA_4_4)
    assert after == Standing("p", 2, MemberState.UNREVOKED, pending=tasks("", "1"))
    after = step(before, tasks("", "", "1"), owned=NO_TASKS, release=KAFKA_4_4)
    assert after == Standing("p", 2, MemberState.UNRELEASED)
    copy = Standing("p", 1, assigned=tasks("", "1"))
    assert step(copy, tasks("", "", "1"), release=KAFKA_4_4) == Standing("p", 2, assigned=tasks("", "", "1"))


def recorded_steps(path: str) -> Iterator[tuple[str, Standing, TasksByRole, int, Holders, Standing]]:
    """Each recorded step of a broker: member, before, target, its epoch, previous holders, and after."""
    document = json.loads(gzip.decompress((CAPTURES / path).read_bytes()))
    processes = {
        member: (client.partition("-")[0], joined(document, member)) for member, client in document["clients"].items()
    }
    lines = [*document["targets"], *document["member_states"]]
    # A target is computed before the broker answers the heartbeat that caused it.
    lines.sort(key=lambda line: (line["t"], "target" not in line))
    epoch, targets = 1, dict[str, Any]()
    standings: dict[str, Standing] = {}
    holders = Holders()
    for line in lines:
        if "target" in line:
            epoch, targets = line["epoch"], line["target"]
            continue
        member = line["member"]
        process = str(processes[member])
        before = standings.get(member, Standing(process, 0))
        if "state" in line:
            after = Standing(
                process, line["epoch"], MemberState[line["state"].partition("_")[0]], read(line),
                read(line["pending_revocation"]),
            )  # fmt: skip
            yield member, before, read(targets.get(member, {})), epoch, holders, after
        else:
            after = Standing(process, 0)
        holders.remove(member, process, before.assigned | before.pending)
        holders.add(member, process, after.assigned | after.pending)
        standings[member] = after


def joined(document: Any, member: str) -> int:
    instance = document["clients"][member].partition("-")[0]
    at = next(line["t"] for line in document["member_states"] if line["member"] == member)
    return max(
        int(each["t"])
        for each in document["actions"]
        if each["event"] == "start" and each["instance"] == instance and each["t"] <= at
    )


def read(roles: Any) -> TasksByRole:
    return TasksByRole(*(
        frozenset(int(task.partition("@")[0].replace("-", "0000")) for task in roles.get(role, ()))
        for role in ("active", "standby", "warmup")
    ))  # fmt: skip


@pytest.mark.parametrize("path", RECORDED)
def test_every_recorded_step_of_a_real_broker_is_ours(path: str) -> None:
    count, wrong = 0, []
    for member, before, target, epoch, holders, after in recorded_steps(path):
        ours = [
            reconciled(member, before, target, max(epoch, 1), owned, holders, KAFKA_4_3)
            for owned in (None, before.assigned)
        ]
        count += 1
        if not any(attrs.evolve(each, epoch=after.epoch) == after for each in ours):
            wrong.append((before, target, epoch, ours, after))
    assert not wrong, f"{len(wrong)} of {count}: {wrong[0]}"
    assert count > 100


def test_what_a_member_has_just_given_back_comes_back_in_another_role_one_heartbeat_later() -> None:
    """A revoked task is not an assigned one, so Kafka 4.4.0 (executed) counts it as held by another member."""
    for pending, target in (
        (tasks("1"), tasks("", "1")),
        (tasks("", "1"), tasks("1")),
        (tasks("", "", "1"), tasks("1")),
    ):
        before = Standing("p", 5, MemberState.UNREVOKED, pending=pending)
        waiting = step(before, target, epoch=7, owned=NO_TASKS, release=KAFKA_4_4)
        assert waiting == Standing("p", 7, MemberState.UNRELEASED)
        assert step(waiting, target, epoch=7, release=KAFKA_4_4) == Standing("p", 7, MemberState.STABLE, target)
