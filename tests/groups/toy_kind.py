"""A foreign kind of group in one module: guests get seats at tables.

A state is the tables with their seats, and the parties; an assignor gives each party a table.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import Found, MetricPlugin, Registry, UnknownPluginError
from assignment_api.plugins.selection import EffectiveConfig
from assignor_lab.documents.shapes import count, list_of, map_of, one_of, record, text, whole
from assignor_lab.groups.columns import TableColumn
from assignor_lab.groups.entries import KindEntry
from assignor_lab.groups.kind import AnswerOptions, ContenderAnswer, FoundAssignor, GroupKind, LoadedContender, Measure
from assignor_lab.groups.runner.measures import own_metrics
from assignor_lab.groups.runner.one_call import OneCall
from assignor_lab.model.pictures import ConnectSnapshot, GroupSize, GroupWorker, SnapshotAnswer
from assignor_lab.runtime.assignor_calls import AssignorCalls, OwnProcesses
from assignor_lab.runtime.invocation import InvalidAnswerError
from assignor_lab.runtime.isolation.errors import AnswerFormatError
from assignor_lab.scenarios import Scenario
from assignor_lab.scenarios.formats import Format, register_format

NAME = "tables"
HERE = __name__


@attrs.frozen
class Tables:
    seats: Mapping[str, int]
    parties: Mapping[str, int]


#: Party to table.
Seating = dict[str, str]


# --- the format of its scenarios ---------------------------------------------------------------------

_shape = record(
    {
        "format": whole(1, 1),
        "kind": one_of(NAME),
        "id": text,
        "seats": map_of(text, count),
        "evenings": list_of(map_of(text, count)),
    }
)


def _read(document: Any) -> tuple[Mapping[str, int], list[Mapping[str, int]]]:
    fields = _shape(document)
    return fields["seats"], fields["evenings"]


register_format(Format(NAME, _read, line=("seating",)))


# --- its assignors -----------------------------------------------------------------------------------


class FirstTable:
    """Every party at the first table."""

    def configure(self, configs: Mapping[str, Any]) -> None:
        pass

    def assign(self, tables: Tables) -> Seating:
        return dict.fromkeys(tables.parties, next(iter(tables.seats)))


class Fullest(FirstTable):
    """Each party at the table with most free seats."""

    def assign(self, tables: Tables) -> Seating:
        left = dict(tables.seats)
        seated = {}
        for party, guests in tables.parties.items():
            table = max(left, key=lambda name: left[name])
            left[table] -= guests
            seated[party] = table
        return seated


class Leaves(FirstTable):
    """Ends its own process."""

    def assign(self, tables: Tables) -> Seating:
        import os

        os._exit(7)


@attrs.frozen
class Offer:
    factory: Callable[[], Any]
    summary: str = ""


ASSIGNORS = {
    "first_table": Found("first_table", Offer(FirstTable, "The first table."), "assignor-lab", "0"),
    "fullest": Found("fullest", Offer(Fullest, "Where most is left."), "assignor-lab", "0"),
    "leaves": Found("leaves", Offer(Leaves), None, None),
}


class _TablesAsking(AssignorCalls[Tables, Seating]):
    place = f"{HERE}:ASKING"

    def select(self, registry: Registry, selector: str, *, may_run_code: bool) -> Any:
        if selector not in ASSIGNORS:
            raise UnknownPluginError(f"nobody called {selector!r} seats guests")
        return ASSIGNORS[selector]

    def from_code(self, selector: str) -> Any:
        return ASSIGNORS[selector]

    def created(self, found: Any) -> Any:
        return found.plugin.factory()

    def checked(self, name: str, answer: object, state: Tables, *, is_trusted: bool) -> Seating:
        if not isinstance(answer, dict) or answer.keys() != state.parties.keys():
            raise InvalidAnswerError(f"assignor {name}: every party has one table")
        return answer

    def packed(self, state: Tables) -> tuple[bytes, ...]:
        return (pickle.dumps((dict(state.seats), dict(state.parties))),)

    def receiver(self) -> Callable[..., Tables]:
        return lambda content: Tables(*pickle.loads(content))

    def answer_document(self, state: Tables, answer: Seating) -> Any:
        return answer

    def answer_of(self, state: Tables, document: object) -> Seating:
        if not isinstance(document, dict):
            raise AnswerFormatError("no seating")
        return document


ASKING = _TablesAsking()


# --- the kind ----------------------------------------------------------------------------------------


def crowded(state: Tables, seating: Seating) -> float:
    return float(sum(max(0, guests - state.seats[table]) for table, guests in _guests(state, seating).items()))


def _guests(state: Tables, seating: Seating) -> dict[str, int]:
    guests = dict.fromkeys(state.seats, 0)
    for party, table in seating.items():
        guests[table] += state.parties[party]
    return guests


CROWDED = MetricPlugin("crowded", "guests", "lower", "Guests without a seat.", crowded, group="comfort")


class _Tables(GroupKind[Tables, Seating]):
    name = NAME
    columns = (TableColumn("guests", "int32"),)
    shows_first = True

    @property
    def asking(self) -> AssignorCalls[Any, Any]:
        return ASKING

    def installed(self, registry: Registry) -> Sequence[FoundAssignor]:
        return tuple(ASSIGNORS.values())

    def rounds(self, scenario: Scenario) -> int:
        return len(scenario.content[1])

    def state(self, scenario: Scenario, number: int, explicit: Mapping[str, Any]) -> Tables:
        seats, evenings = scenario.content
        if not seats:
            raise AssignorLabError("there is no table")
        return Tables(seats, evenings[number])

    def size(self, scenario: Scenario) -> tuple[int, int]:
        seats, evenings = scenario.content
        return max((len(parties) for parties in evenings), default=0), len(seats)

    def player(self, contender: LoadedContender, isolation: OwnProcesses | None) -> OneCall[Tables, Seating]:
        return OneCall(ASKING, lambda _state: contender.found, isolation)

    def metrics(self, registry: Registry) -> Mapping[str, Found[MetricPlugin]]:
        return own_metrics([CROWDED])

    def figures(
        self, registry: Registry, names: Sequence[str], config: EffectiveConfig
    ) -> Mapping[str, Measure[Tables, Seating]]:
        return dict.fromkeys(names, crowded)

    def row(self, answer: ContenderAnswer[Tables, Seating]) -> Mapping[str, Any]:
        state, seating = answer.state, answer.outcome.answer
        if state is None:
            return {}
        row = {"clients": len(state.seats), "tasks": len(state.parties), "guests": sum(state.parties.values())}
        return row | {"answer_digest": None if seating is None else repr(sorted(seating.items())), "followup": False}

    def picture(self, answers: Sequence[ContenderAnswer[Tables, Seating]], assignor: str | None) -> ConnectSnapshot:
        seen = answers[0]
        state = seen.state
        return ConnectSnapshot(
            scenario="" if seen.scenario is None else seen.scenario.id,
            round=seen.round,
            kind=NAME,
            assumptions=(),
            workers=() if state is None else tuple(GroupSize(table, 0, 0) for table in state.seats),
            answers=tuple(self._shown(answer) for answer in answers),
        )

    def _shown(self, answer: ContenderAnswer[Tables, Seating]) -> SnapshotAnswer:
        seating = answer.outcome.answer
        workers = None
        if answer.state is not None and seating is not None:
            guests = _guests(answer.state, seating).values()
            workers = tuple(GroupWorker(0, number, (), 0, (), 0) for number in guests)
        return SnapshotAnswer(assignor=answer.assignor, error=answer.problem, rounds=1, workers=workers)

    def place_of_round(self, number: int) -> str:
        return f"evenings[{number}]"

    def line(
        self,
        scenario: Scenario,
        assignor: FoundAssignor,
        answers: Sequence[tuple[Tables, Seating]],
        options: AnswerOptions,
    ) -> dict[str, Any]:
        return {"id": scenario.id, "assignor": assignor.name, "seating": [seating for _, seating in answers]}


TABLES = _Tables()
ENTRY = KindEntry(NAME, f"{HERE}:TABLES", "task-assignor")
