"""The rebalances of the recorded experiment ``blog-small``, decided again.

The recording has no bytes and no configuration, but every worker's jobs of every generation. Jobs count as configured
if this or a later generation places them; during the kill all do.
"""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from assignment_api.connect import (
    MAX_DELAY_KEY,
    ConfiguredJobs,
    ConnectorTaskId,
    ConnectProtocol,
    Jobs,
    Rebalance,
    Worker,
)
from assignor_lab.kafka.wire.connect import AssignmentMessage, decode_connect_assignment, encode_connect_assignment
from tests.capture.connect_log.logs import CAPTURES, configured

#: The log's time is not the time at which the leader read its clock.
_CLOCK_MS = 50


def _generations(protocol: str) -> list[dict[str, Any]]:
    with gzip.open(CAPTURES / f"blog-small-{protocol}.generations.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _jobs(member: dict[str, Any], what: str) -> Jobs:
    tasks = [ConnectorTaskId.parse(task) for task in member.get(f"{what}_tasks", ())]
    return Jobs(member.get(f"{what}_connectors", ()), tasks)


def _placed(generation: dict[str, Any], what: str) -> Jobs:
    placed = Jobs()
    for member in generation["members"]:
        placed = placed.plus(_jobs(member, what))
    return placed


def _counts(jobs: Jobs) -> ConfiguredJobs:
    counts = dict.fromkeys(jobs.connectors, 0)
    for task in jobs.tasks:
        counts[task.connector] = max(counts.get(task.connector, 0), task.task + 1)
    return ConfiguredJobs(counts)


def _as_reported(jobs: Jobs) -> Jobs:
    message = AssignmentMessage(2, 0, "", "", 0, jobs.connectors, jobs.tasks)
    return decode_connect_assignment(encode_connect_assignment(message)).assigned


def _configured_under_sessioned(generations: list[dict[str, Any]]) -> list[ConfiguredJobs]:
    placed = [_placed(generation, "after") for generation in generations]
    everything = max(placed, key=len)
    later: list[ConfiguredJobs] = []
    deleting = Jobs()
    for generation, jobs in zip(reversed(generations), reversed(placed), strict=True):
        phase = generation["phase"]
        if phase.startswith("delete"):
            deleting = deleting.plus(jobs)
        later.append(_counts(deleting if phase.startswith("delete") else everything if "kill" in phase else jobs))
    return later[::-1]


@pytest.mark.slow
def test_122_incremental_rebalances_are_decided_as_recorded() -> None:
    generations = _generations("sessioned")
    assignor = configured("connect_incremental", {MAX_DELAY_KEY: 30_000})
    owned: dict[str, Jobs] = {}
    for generation, jobs in zip(generations, _configured_under_sessioned(generations), strict=True):
        members = generation["members"]
        rebalance = Rebalance(
            jobs,
            [Worker(member["id"], _as_reported(owned.get(member["id"], Jobs()))) for member in members],
            ConnectProtocol.SESSIONED,
            generation["time_ms"],
            generation["generation"],
            generation["generation"] - 1,
        )
        answer = assignor.assign(rebalance)
        owned = answer.owned_after(rebalance)
        for member in members:
            ours = answer.workers[member["id"]]
            assert ours.assigned.sorted() == _jobs(member, "assigned").sorted(), generation["generation"]
            assert ours.revoked.sorted() == _jobs(member, "revoked").sorted(), generation["generation"]
            assert owned[member["id"]].sorted() == _jobs(member, "after").sorted(), generation["generation"]
        assert abs(answer.delay_ms - generation["delay_ms"]) <= _CLOCK_MS
    assert len(generations) == 122


def test_92_eager_rebalances_are_decided_as_recorded() -> None:
    generations = _generations("eager")
    assignor = configured("connect_eager", {})
    for generation in generations:
        members = generation["members"]
        rebalance = Rebalance(
            _counts(_placed(generation, "assigned")),
            [Worker(member["id"]) for member in members],
            ConnectProtocol.EAGER,
        )
        answer = assignor.assign(rebalance)
        for member in members:
            assert answer.workers[member["id"]].assigned.sorted() == _jobs(member, "assigned").sorted()
    assert len(generations) == 92
