"""Changes of one rebalance of a Connect group: its time, the job's previous owner, the longest delay, a worker less."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from assignment_api.connect import MAX_DELAY_KEY
from assignor_lab.groups.changes import Edit, InputChange, InputTrial, Knob, fresh, number_knob, number_trials, single
from assignor_lab.groups.connect.rounds import RoundState
from assignor_lab.scenarios import Scenario

__all__ = ["CHANGES", "connect_trials"]

_Labels = Callable[[str], str]


class _Changes:
    def knobs(self, scenario: Scenario, number: int, state: RoundState, task: str, label: _Labels) -> Iterator[Knob]:
        document = scenario.document
        round_ = document["rounds"][number]
        members = round_["members"]
        longest = document["max_delay_ms"]
        yield _time_knob(document["rounds"], number, longest)
        yield from _owner_knobs(number, members, _kind_of(task, round_), task, label)
        yield number_knob(MAX_DELAY_KEY, longest, (0, longest // 2, longest * 2, longest + 60_000))
        if len(members) > 1:
            for place, member in enumerate(members):
                words = f"{label(member['id'])} were not there"
                change = InputChange("client", words, (Edit(("rounds", number, "members", place), remove=True),))
                yield single(change, member["id"])

    def one_more(self, scenario: Scenario, number: int, state: RoundState) -> InputChange | None:
        members = scenario.document["rounds"][number]["members"]
        if not members:
            return None
        name = fresh((each["id"] for each in members), "one-more-{}")
        added = {**members[0], "id": name, "owned": {"connectors": [], "tasks": []}}
        path = ("rounds", number, "members", len(members))
        return InputChange("client", f"there were a worker {name} more", (Edit(path, added),))

    def facts(self, state: RoundState, task: str) -> Mapping[str, str]:
        return {
            worker.member_id: "ran it"
            for worker in state.round.workers
            if task in worker.owned.connectors or task in map(str, worker.owned.tasks)
        }


def _kind_of(job: str, round_: Mapping[str, Any]) -> str:
    return "connectors" if job in round_["connectors"] else "tasks"


def _time_knob(rounds: Sequence[Mapping[str, Any]], number: int, longest: int) -> Knob:
    now = rounds[number]["time_ms"]
    earliest = rounds[number - 1]["time_ms"] if number else 0

    def at(time: int) -> InputChange:
        moved = time - now
        words = f"the rebalance had come {abs(moved):,} ms {'later' if moved > 0 else 'earlier'}"
        return InputChange("time", words, (Edit(("rounds", number, "time_ms"), time),))

    values = [now + 1_000, earliest, now + longest, now + 2 * longest]
    wanted = {value for value in values if value >= earliest and value != now}
    return Knob("time", sorted(wanted, key=lambda value: abs(value - now)), at, now=now)


def _owner_knobs(
    number: int, members: Sequence[Mapping[str, Any]], kind: str, job: str, label: _Labels
) -> Iterator[Knob]:
    owners = [place for place, member in enumerate(members) if job in member["owned"][kind]]

    def at(chosen: int | None) -> InputChange:
        owner = "no present worker" if chosen is None else label(members[chosen]["id"])
        instead = ", ".join(label(members[place]["id"]) for place in owners) or "no present worker"
        edits = []
        for place in sorted({*owners, *([] if chosen is None else [chosen])}):
            held = [each for each in members[place]["owned"][kind] if each != job]
            path = ("rounds", number, "members", place, "owned", kind)
            edits.append(Edit(path, [*held, job] if place == chosen else held))
        return InputChange("previous owner", f"{owner} had run {job} before instead of {instead}", tuple(edits))

    for place, member in enumerate(members):
        if place not in owners:
            yield Knob("previous owner", [place], at, concerns=member["id"])
    if owners:
        yield Knob("previous owner", [None], at)


CHANGES = _Changes()


_DELAYS = (300_000, 0, 3_000, 10_000, 30_000, 60_000, 120_000, 600_000)
_ASSIGNORS = {"connect_incremental": "sessioned or compatible", "connect_eager": "eager"}


def connect_trials(decisions: Sequence[Scenario], assignor: str) -> Iterator[InputTrial]:
    """The trials of recorded histories, at least one."""
    now = decisions[0].document["max_delay_ms"]
    yield from number_trials(MAX_DELAY_KEY, {value: None for value in _DELAYS if value != now})
    for name, protocol in _ASSIGNORS.items():
        if name != assignor:
            yield InputTrial("configuration", f"with connect.protocol={protocol} ({name})", assignor=name)
