"""Random histories of Connect groups, including lost answers, zombies and changes of leadership."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

from assignment_api.connect import (
    MAX_DELAY_KEY,
    NO_JOBS,
    ConfiguredJobs,
    ConnectAssignor,
    Jobs,
    Rebalance,
    Worker,
)
from assignment_api.plugins import FoundConnectAssignor, discover

__all__ = ["CONNECT_ASSIGNOR", "draw_connect_history"]

CONNECT_ASSIGNOR = "connect_incremental"
#: Some sort differently as code units and as characters, some contain dashes.
_CONNECTORS = ("a", "b", "a-1", "files", "Orders 1", "größe", "\U0001f600s", "\uff5e", "sink.1", "k", "z9", "Aa", "BB")


def draw_connect_history(chance: Random, scenario_id: str) -> dict[str, Any]:
    """A document of kind ``connect``. The lab's answers move the jobs."""
    group = _Group(chance)
    rounds = [group.round(number) for number in range(chance.randint(4, 30))]
    return {
        "format": 1,
        "kind": "connect",
        "id": scenario_id,
        "protocol": chance.choice(("compatible", "sessioned", "sessioned")),
        "max_delay_ms": group.max_delay,
        "rounds": rounds,
    }


class _Group:
    """A group under random events."""

    def __init__(self, chance: Random) -> None:
        self.max_delay = chance.choice((0, 1, 40, 1_000, 30_000, 300_000))
        self._chance = chance
        self._names = chance.sample(_CONNECTORS, chance.randint(1, 8))
        self._connectors: dict[str, int] = {}
        self._owned: dict[str, Jobs] = {}
        self._joined = 0
        self._time = chance.choice((0, 1, 1_000))
        self._deadline: int | None = None
        self._follows = False
        self._completed = -1
        self._assignor = self._new_assignor()
        for _ in range(chance.randint(1, chance.choice((3, 6, 12, 40)))):
            self._join()

    def round(self, number: int) -> dict[str, Any]:
        """The leader's view; the group then follows the answer."""
        chance = self._chance
        self._happen(number)
        gap = number > 0 and chance.random() < 0.08
        new_leader = number > 0 and chance.random() < 0.06
        if number > 0 and not gap:
            self._completed = number - 1
        if new_leader:
            self._assignor = self._new_assignor()
        reported = {member: self._reported(jobs) for member, jobs in self._owned.items()}
        rebalance = Rebalance(
            ConfiguredJobs(self._connectors),
            [Worker(member, jobs) for member, jobs in reported.items()],
            time_ms=self._time,
            generation=number,
            last_completed_generation=self._completed,
        )
        answer = self._assignor.assign(rebalance)
        after = answer.owned_after(rebalance)
        nobody_hears = chance.random() < 0.03
        self._owned = {
            member: jobs if nobody_hears or chance.random() < 0.03 else after[member]
            for member, jobs in reported.items()
        }
        self._deadline = self._time + answer.delay_ms if answer.delay_ms else None
        self._follows = answer.has_revocations
        document: dict[str, Any] = {
            "time_ms": self._time,
            "connectors": dict(self._connectors),
            "members": [_member(worker) for worker in rebalance.workers],
        }
        if gap:
            document["generation_gap"] = True
        if new_leader:
            document["new_leader"] = True
        return document

    def _new_assignor(self) -> ConnectAssignor:
        assignor = _found().create()
        assignor.configure({MAX_DELAY_KEY: self.max_delay})
        return assignor

    def _happen(self, number: int) -> None:
        chance = self._chance
        style = chance.random()
        if number > 0 and self._follows and style < 0.5:
            self._time += chance.randint(1, 20)
        elif number > 0 and self._deadline is not None and style < 0.4:
            self._time = max(self._time, self._deadline + chance.choice((-1, 0, 0, 3)))
        else:
            self._time += chance.choice((0, 1, 50, 1_000, 100_000))
            for _ in range(chance.randint(1, 3)):
                self._change()

    def _change(self) -> None:
        chance = self._chance
        style = chance.random()
        if style < 0.3:
            self._connectors[chance.choice(self._names)] = chance.randint(0, chance.choice((2, 8, 20)))
        elif style < 0.4:
            self._connectors.pop(chance.choice(self._names), None)
        elif style < 0.65:
            for _ in range(chance.randint(1, 3)):
                self._join()
        else:
            for _ in range(min(chance.randint(1, 3), len(self._owned) - 1)):
                self._owned.pop(chance.choice(list(self._owned)))

    def _join(self) -> None:
        self._joined += 1
        plain = f"worker{self._joined}"
        real = f"connect-10.0.0.{self._joined % 250}:8083-{self._chance.getrandbits(128):x}"
        self._owned[self._chance.choice((plain, real))] = NO_JOBS

    def _reported(self, jobs: Jobs) -> Jobs:
        """The jobs of a report: seldom none, or also some of another member."""
        style = self._chance.random()
        if style < 0.02:
            return NO_JOBS
        if style < 0.05:
            other = self._owned[self._chance.choice(list(self._owned))]
            return jobs.plus(Jobs(other.connectors[:2], other.tasks[:3]))
        return jobs


@cache
def _found() -> FoundConnectAssignor:
    return discover().connect_assignor(CONNECT_ASSIGNOR)


def _member(worker: Worker) -> dict[str, Any]:
    return {
        "id": worker.member_id,
        "owned": {"connectors": list(worker.owned.connectors), "tasks": [str(task) for task in worker.owned.tasks]},
        "static": {"connectors": None, "tasks": None},
    }
