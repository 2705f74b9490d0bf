from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from assignment_api import ApplicationMetadata, TaskAssignment, TaskAssignor
from assignment_api.plugins import ScenarioFamily, discover
from assignment_api.plugins.layers import Layer, layer_of
from assignment_api.plugins.selection import ConfigSources
from assignor_lab.groups.kind import LoadedContender
from assignor_lab.groups.runner.comparison import ComparisonRunner
from assignor_lab.groups.runner.result_lines import AnswerOptions, answerer
from assignor_lab.groups.runner.rows import RowMaker
from assignor_lab.groups.runner.terms import NO_CONFIG
from assignor_lab.groups.streams.answers import StreamsAnswer as Answer
from assignor_lab.groups.streams.kind import STREAMS
from assignor_lab.groups.work import OBSERVED, WorkItem
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.scoring.output.summary_file import picture_document
from tests.groups.streams.states import METRICS
from tests.scenarios.documents import streams_document
from tests.scoring import assignors

FAMILIES = {found.name: found.plugin for found in discover().families()}
HISTORY = WorkItem(7, 0, family="streams_4x40", seed=5)


ENTRY_FIELDS = SimpleNamespace(name="entry")


@attrs.frozen
class Entry:
    factory: type[TaskAssignor]
    distribution: str | None = "somebody-elses"
    version: str | None = None
    plugin: Any = ENTRY_FIELDS
    installed: frozenset[str] | None = None

    @property
    def name(self) -> str:
        return self.factory.__name__

    def create(self) -> TaskAssignor:
        return self.factory()


Streams = ComparisonRunner[ApplicationMetadata, TaskAssignment]
FIGURES = {name: metric.compute for name, metric in METRICS.items()}


def contest(*factories: type[TaskAssignor], config: ConfigSources = NO_CONFIG) -> Streams:
    entries = [Entry(factory) for factory in factories]
    return ComparisonRunner(STREAMS, [LoadedContender(entry.name, entry) for entry in entries], FAMILIES, config)


def document(**changes: Any) -> WorkItem:
    return WorkItem(3, 0, json.dumps({**streams_document(), **changes}), "states.jsonl", 12)


def rows(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    times = ("assign_ms", "assign_wall_ms", "build_ms", "metrics_ms")
    made = [RowMaker(STREAMS, FIGURES).row(answer) for answer in answers]
    return [{key: value for key, value in row.items() if key not in times} for row in made]


def by_name(answers: Sequence[Answer], number: int = 0) -> dict[str, Answer]:
    return {answer.assignor: answer for answer in answers if answer.round == number}


@pytest.mark.parametrize("item", [HISTORY, document()])
def test_there_is_an_answer_for_every_assignor_and_round(item: WorkItem) -> None:
    answers = list(contest(assignors.Greedy, assignors.Raises, assignors.Half).answers(item))
    rounds = 8 if item.family else 1
    assert [(answer.round, answer.assignor) for answer in answers] == [
        (number, name) for number in range(rounds) for name in ("Greedy", "Raises", "Half")
    ]


@pytest.mark.parametrize("item", [HISTORY, document()])
@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (assignors.Raises, "RuntimeError"),
        (assignors.Leaves, "SystemExit"),
        (assignors.Garbage, "InvalidAnswerError"),
        (assignors.Mutates, "InputMutatedError"),
    ],
)
def test_a_bad_assignor_costs_its_own_rows_only(item: WorkItem, bad: type[TaskAssignor], error: str) -> None:
    alone = rows(list(contest(assignors.Greedy, assignors.Half).answers(item)))
    beside = list(contest(bad, assignors.Greedy, bad, assignors.Half).answers(item))
    assert rows([answer for answer in beside if answer.assignor != bad.__name__]) == alone
    own = rows([answer for answer in beside if answer.assignor == bad.__name__])
    assert {row["error_type"] for row in own} == {error}
    assert all(row["active_tasks_per_member_range"] is None for row in own)


def test_the_first_round_of_a_history_is_the_same_state_for_all() -> None:
    first = by_name(list(contest(assignors.Greedy, assignors.Half).answers(HISTORY)))
    assert first["Greedy"].state is first["Half"].state


def test_everybody_goes_on_from_its_own_answer() -> None:
    second = by_name(list(contest(assignors.Greedy, assignors.Half).answers(HISTORY)), 1)
    made = [answer.state for answer in second.values()]
    before = [
        [client.previous_active_tasks for client in application.streams_client_states().values()]
        for application in made
        if application is not None
    ]
    assert before[0] != before[1]


def test_who_else_competes_changes_no_row_of_a_history() -> None:
    alone = rows(list(contest(assignors.Half).answers(HISTORY)))
    beside = list(contest(assignors.Greedy, assignors.Half).answers(HISTORY))
    assert rows([answer for answer in beside if answer.assignor == "Half"]) == alone


def test_after_a_failure_the_history_goes_on() -> None:
    answers = list(contest(assignors.Changing).answers(HISTORY))
    assert len(answers) == 8
    assert all(answer.state is not None for answer in answers)
    assert any(answer.outcome.failure is not None for answer in answers)


def test_a_family_that_fails_makes_rows() -> None:
    def history(_seed: int) -> Any:
        raise RuntimeError("no history today")

    broken = ComparisonRunner(
        STREAMS,
        [LoadedContender("Greedy", Entry(assignors.Greedy))],
        {"broken": ScenarioFamily("broken", "", 2, history)},
    )
    answers = list(broken.answers(WorkItem(0, 0, family="broken", seed=1)))
    assert [answer.outcome.failure.message for answer in answers if answer.outcome.failure] == ["no history today"] * 2


def test_a_config_that_kafka_refuses_makes_a_row_for_every_assignor() -> None:
    item = document(config={"max.warmup.replicas": 0})
    found = rows(list(contest(assignors.Greedy, assignors.Half).answers(item)))
    assert [row["error_java_type"] for row in found] == ["ConfigException"] * 2
    assert [row["scenario"] for row in found] == ["small"] * 2


def test_configuration_replaces_the_scenarios_own() -> None:
    above = layer_of(Layer.COMMAND_LINE, [("num.standby.replicas", "0", "-c")])
    answer = next(iter(contest(assignors.Greedy, config=ConfigSources((), (above,))).answers(document())))
    assert answer.state is not None
    assert answer.state.assignment_configs().num_standby_replicas == 0


def observed(assignment: Mapping[str, Any], followup: bool | None = False) -> WorkItem:
    return document(observed={"assignment": assignment, "followup": followup, "threads": None})


def everything_on(document: Mapping[str, Any], index: int) -> dict[str, Any]:
    tasks = [task["id"] for task in document["tasks"]]
    return {
        client["process_id"]: {"active": tasks if number == index else [], "standby": []}
        for number, client in enumerate(document["clients"])
    }


@pytest.mark.parametrize(("index", "followup", "equal"), [(0, False, True), (0, True, False), (1, False, False)])
def test_what_kafka_decided_is_scored_and_compared(index: int, followup: bool, equal: bool) -> None:
    item = observed(everything_on(streams_document(), index), followup)
    answers = list(contest(assignors.Greedy, assignors.Raises).answers(item))
    found = {row["assignor"]: row for row in rows(answers)}
    assert found["Greedy"]["equals_observed"] is equal
    assert found["Raises"]["equals_observed"] is None
    assert found[OBSERVED]["equals_observed"] is None
    assert found[OBSERVED]["tasks_not_assigned"] == 0.0
    assert found[OBSERVED]["followup"] is followup


def test_a_followup_that_is_not_known_is_not_compared() -> None:
    found = rows(list(contest(assignors.Greedy).answers(observed(everything_on(streams_document(), 0), None))))
    assert found[0]["equals_observed"] is True


def test_tasks_that_are_left_out_are_found_although_kafka_lets_them_pass() -> None:
    found = rows(list(contest(assignors.Half).answers(HISTORY)))[0]
    assert found["error_type"] is None
    assert found["tasks_not_assigned"] == 20.0
    assert found["finding_count"] == 20


def test_a_metric_that_fails_costs_its_own_figure_only() -> None:
    def broken(_application: Any, _assignment: TaskAssignment) -> float:
        raise RuntimeError("no figure today")

    def text(_application: Any, _assignment: TaskAssignment) -> Any:
        return "7"

    def truth(_application: Any, _assignment: TaskAssignment) -> Any:
        return True

    def infinite(_application: Any, _assignment: TaskAssignment) -> float:
        return float("inf")

    load = METRICS["process_load_excess"].compute
    figures = {"broken": broken, "text": text, "truth": truth, "infinite": infinite, "process_load_excess": load}
    row = RowMaker(STREAMS, figures).row(next(iter(contest(assignors.Greedy).answers(HISTORY))))
    assert row["broken"] is None
    assert row["infinite"] is None
    assert row["process_load_excess"] is not None
    assert [text.partition(":")[0] for text in row["metric_errors"]] == ["broken", "text", "truth", "infinite"]


def test_a_message_that_cannot_be_encoded_is_escaped() -> None:
    row = rows(list(contest(assignors.Raises).answers(HISTORY)))[0]
    assert row["error_message"] == "no </script> today \x1b[2J [bold] \\udcff"


# --- comparability --------------------------------------------------------------------------------

STRATEGY = "rack.aware.assignment.strategy"
AWARE = {STRATEGY: "min_traffic"}
LOG_SHOWS = "rack-aware strategy unknown: the log shows a rack-aware optimisation"
NO_RACKS = "racks unknown: the leader used racks"


def captured(*assumptions: str, **config: Any) -> WorkItem:
    state = streams_document()
    assignment = {
        client["process_id"]: {"active": client["previous_active"], "standby": []} for client in state["clients"]
    }
    observed = {"assignment": assignment, "followup": False, "threads": None}
    return document(config={**state["config"], **config}, observed=observed, assumptions=list(assumptions))


def asked(key: str, value: Any) -> ConfigSources:
    return ConfigSources((), (layer_of(Layer.COMMAND_LINE, [(key, value, "test")]),))


def reasons(item: WorkItem, config: ConfigSources = NO_CONFIG) -> dict[str, str | None]:
    return {
        row["assignor"]: row["not_comparable"]
        for row in rows(list(contest(assignors.Greedy, config=config).answers(item)))
    }


@pytest.mark.parametrize(
    ("item", "config", "said"),
    [
        (captured(), NO_CONFIG, None),
        (captured(NO_RACKS), NO_CONFIG, None),
        (captured(NO_RACKS, **AWARE), NO_CONFIG, "give them with --racks"),
        (captured(**AWARE), NO_CONFIG, None),
        (captured(NO_RACKS, LOG_SHOWS), NO_CONFIG, "neither its strategy nor its racks are known"),
        (captured(LOG_SHOWS), NO_CONFIG, "by a strategy that is unknown"),
        (captured(NO_RACKS, LOG_SHOWS), asked(STRATEGY, "none"), None),
        (captured(NO_RACKS), asked(STRATEGY, "min_traffic"), "give them with --racks"),
        (captured(LOG_SHOWS), asked(STRATEGY, "min_traffic"), None),
        (captured("racks of clients and brokers are not in the log; ..."), NO_CONFIG, None),
    ],
)
def test_answers_are_not_comparable_where_racks_decide_and_are_unknown(
    item: WorkItem, config: ConfigSources, said: str | None
) -> None:
    found = reasons(item, config)
    assert found["kafka"] is None
    if said is None:
        assert found["Greedy"] is None
    else:
        assert said in (found["Greedy"] or "")


@pytest.mark.parametrize(("rack", "said"), [("r1", "name the partitions with --topology"), (None, "with --racks, and")])
def test_who_has_told_the_racks_of_clients_is_asked_for_the_partitions_alone(rack: str | None, said: str) -> None:
    item = captured(NO_RACKS, **AWARE)
    state = json.loads(item.document or "")
    tasks = [{**task, "partitions": None} for task in state["tasks"]]
    clients = [{**client, "rack": rack} for client in state["clients"]]
    changed = attrs.evolve(item, document=json.dumps({**state, "tasks": tasks, "clients": clients}))
    assert said in (reasons(changed)["Greedy"] or "")


def test_the_picture_of_a_state_has_the_answers_of_variants_too() -> None:
    plain = LoadedContender("sticky", discover().task_assignor("sticky"))
    none = attrs.evolve(plain, name="none", overrides={"num.standby.replicas": "0"})
    answers = list(ComparisonRunner(STREAMS, [plain, none], FAMILIES).answers(captured()))
    picture = picture_document(STREAMS.picture(answers, None))
    assert [each["assignor"] for each in picture["after"]] == ["sticky", "none", "kafka"]
    assert picture["after"][0]["assignment"] != picture["after"][1]["assignment"]


def test_an_assignor_that_lacks_racks_of_its_own_accord_is_not_comparable_either() -> None:
    rack_aware = LoadedContender("rack_aware", discover().task_assignor("rack_aware"))
    of_rack_aware = ComparisonRunner(STREAMS, [rack_aware], FAMILIES)
    told, untold = (next(of_rack_aware.answers(item)) for item in (captured(), captured(NO_RACKS)))
    assert told.not_comparable is None
    assert "racks decide" in (untold.not_comparable or "")


def test_a_result_line_of_an_answer_that_is_not_comparable_is_told_with_the_reason() -> None:
    told: list[str] = []
    item = captured(NO_RACKS, **AWARE)
    scenario = scenario_from_document(json.loads(item.document or ""), Place("states.jsonl", 12))
    registry = discover()
    line = answerer("sticky", registry, AnswerOptions(NO_CONFIG, on_problem=told.append))(scenario)
    assert line["error"] is None
    assert told[0].startswith("states.jsonl, line 12: sticky: not comparable: racks decide, and are unknown")


@pytest.mark.parametrize("standbys", [0, 1, 2])
def test_kafkas_own_decision_is_measured_under_its_own_settings(standbys: int) -> None:
    answers = list(contest(assignors.Greedy, config=asked("num.standby.replicas", standbys)).answers(captured()))
    own, kafka = rows(answers)
    assert kafka["standbys_missing"] == rows(list(contest(assignors.Greedy).answers(captured())))[1]["standbys_missing"]
    assert (own["standbys_missing"] == 0) == (standbys == 0)
    assert (own["settings_difference"], kafka["settings_difference"]) == (standbys != 1, False)
    assert {each["assignor"] for each in picture_document(STREAMS.picture(answers, None))["after"]} == {
        "Greedy",
        "kafka",
    }
