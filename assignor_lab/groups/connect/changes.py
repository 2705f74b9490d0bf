"""Changes of one rebalance of a Connect group: its time, the job's previous owner, the longest delay, a worker less."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from assignment_api.connect import MAX_DELAY_KEY
from assignor_lab.documents.edits import Edit, entry_like
from assignor_lab.groups.changes import InputChange, InputTrial, Knob, fresh, number_knob, number_trials, single
from assignor_lab.groups.connect.rounds import RoundState
from assignor_lab.scenarios import Scenario

__all__ = ["CHANGES", "connect_trials"]

_Labels = Callable[[str], str]


class _Changes:
    def knobs(self, scenario: Scenario, number: int, state: RoundState, task: str, label: _Labels) -> Iterator[Knob]:
        workers, longest = state.round.workers, state.history.max_delay_ms
        yield _time_knob(state)
        yield from _owner_knobs(state, task, label)
        yield number_knob(MAX_DELAY_KEY, longest, (0, longest // 2, longest * 2, longest + 60_000))
        if len(workers) > 1:
            for place, worker in enumerate(workers):
                words = f"{label(worker.member_id)} were not there"
                change = InputChange("client", words, (Edit(("rounds", number, "members", place), remove=True),))
                yield single(change, worker.member_id)

    def one_more(self, scenario: Scenario, number: int, state: RoundState) -> InputChange | None:
        workers, path = state.round.workers, ("rounds", number, "members")
        if not workers:
            return None
        name = fresh((each.member_id for each in workers), "one-more-{}")
        added = entry_like(scenario.document, *path, 0, id=name, owned={"connectors": [], "tasks": []})
        edit = Edit((*path, len(workers)), added)
        return InputChange("client", f"there were a worker {name} more", (edit,))

    def facts(self, state: RoundState, task: str) -> Mapping[str, str]:
        return {
            worker.member_id: "ran it"
            for worker in state.round.workers
            if task in worker.owned.connectors or task in map(str, worker.owned.tasks)
        }


def _time_knob(state: RoundState) -> Knob:
    rounds, number, longest = state.history.rounds, state.number, state.history.max_delay_ms
    now = rounds[number].time_ms
    earliest = rounds[number - 1].time_ms if number else 0

    def at(time: int) -> InputChange:
        moved = time - now
        words = f"the rebalance had come {abs(moved):,} ms {'later' if moved > 0 else 'earlier'}"
        return InputChange("time", words, (Edit(("rounds", number, "time_ms"), time),))

    values = [now + 1_000, earliest, now + longest, now + 2 * longest]
    wanted = {value for value in values if value >= earliest and value != now}
    return Knob("time", sorted(wanted, key=lambda value: abs(value - now)), at, now=now)


def _owner_knobs(state: RoundState, job: str, label: _Labels) -> Iterator[Knob]:
    is_connector = job in state.round.configured.task_counts
    kind = "connectors" if is_connector else "tasks"
    members = [worker.member_id for worker in state.round.workers]
    held = [
        [*worker.owned.connectors] if is_connector else [str(task) for task in worker.owned.tasks]
        for worker in state.round.workers
    ]
    owners = [place for place, jobs in enumerate(held) if job in jobs]

    def at(chosen: int | None) -> InputChange:
        owner = "no present worker" if chosen is None else label(members[chosen])
        instead = ", ".join(label(members[place]) for place in owners) or "no present worker"
        edits = []
        for place in sorted({*owners, *([] if chosen is None else [chosen])}):
            left = [each for each in held[place] if each != job]
            path = ("rounds", state.number, "members", place, "owned", kind)
            edits.append(Edit(path, [*left, job] if place == chosen else left))
        return InputChange("previous owner", f"{owner} had run {job} before instead of {instead}", tuple(edits))

    for place, member in enumerate(members):
        if place not in owners:
            yield Knob("previous owner", [place], at, concerns=member)
    if owners:
        yield Knob("previous owner", [None], at)


CHANGES = _Changes()


_DELAYS = (300_000, 0, 3_000, 10_000, 30_000, 60_000, 120_000, 600_000)
_ASSIGNORS = {"connect_incremental": "sessioned or compatible", "connect_eager": "eager"}


def connect_trials(decisions: Sequence[Scenario], assignor: str) -> Iterator[InputTrial]:
    """The trials of recorded histories, at least one."""
    now = decisions[0].connect_history.max_delay_ms
    yield from number_trials(MAX_DELAY_KEY, {value: None for value in _DELAYS if value != now})
    for name, protocol in _ASSIGNORS.items():
        if name != assignor:
            yield InputTrial("configuration", f"with connect.protocol={protocol} ({name})", assignor=name)
