"""Recorded decisions of many small applications are reproduced, with and without the topology's text."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path

import pytest

from assignment_api.plugins import config_sources, discover, effective_config
from assignor_lab.capture.histories.flight_recordings import recorded_decisions
from assignor_lab.capture.histories.settings import optimization_in
from assignor_lab.capture.logs.import_log import import_log, read_decisions
from assignor_lab.capture.logs.scenario_documents import DocumentMaker
from assignor_lab.capture.recorded.recording import read_recording
from assignor_lab.capture.recorded.replay import problems
from assignor_lab.capture.recorded.states import recorded_states
from assignor_lab.capture.topology.evidence import reuses_sources
from assignor_lab.groups.runner.result_lines import AnswerOptions, answerer
from assignor_lab.runtime.discovery import discovered
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.scenarios.topology_provenance import topology_conflicts
from tests.capture.topology_recordings import STREAMS, run, unpacked

#: Applications of the archive; a test compares them with it.
CLASSIC = (
    "exactlyonce", "foreignkey", "foreignkeynamed", "globalstore", "many", "merge", "optimised", "optimisedlist",
    "orders", "orders-eu", "ownrepartition", "pattern", "plaintable", "readonly", "severalstores", "sharedstore",
    "stale", "stateless", "streamjoin", "suppressed", "tablejoin", "twostateless", "unlogged", "windows",
)  # fmt: skip
STREAMS_ONLY_CLASSIC = {"pattern"}


@pytest.mark.slow
def test_each_application_was_recorded_in_each_protocol_that_allows_it() -> None:
    streams = [f"{name}{STREAMS}" for name in CLASSIC if name not in STREAMS_ONLY_CLASSIC]
    assert unpacked().names() == sorted([*CLASSIC, *streams])


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSIC)
def test_every_logged_decision_comes_out_again(name: str) -> None:
    found = unpacked()
    logs = [*map(str, found.logs(name)), *found.config(name)]
    decisions, differences = found.checked(*logs)
    assert (decisions > 5, differences) == (True, [])
    assert found.checked(*logs, *found.topology(name)) == (decisions, [])


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSIC)
def test_every_recorded_decision_comes_out_again_with_the_topology(name: str) -> None:
    found = unpacked()
    decisions, differences = found.checked(str(found.past(name)), *found.config(name), *found.topology(name))
    assert (decisions > 5, differences) == (True, [])


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSIC)
def test_every_recorded_decision_comes_out_again_without_the_topology(name: str) -> None:
    found = unpacked()
    decisions, differences = found.checked(str(found.past(name)), *found.config(name))
    assert (decisions > 5, differences) == (True, [])


@pytest.mark.parametrize("name", CLASSIC)
def test_tasks_are_as_the_running_application_had_them(name: str) -> None:
    found = unpacked()
    assert [wrong for document in found.decisions(name) for wrong in found.wrong_tasks(name, document)] == []


@pytest.mark.parametrize("name", CLASSIC)
def test_tasks_of_logs_are_as_the_running_application_had_them(name: str) -> None:
    found = unpacked()
    documents = list(import_log(found.logs(name), topology=Path(found.topology(name)[1])))
    assert [wrong for document in documents for wrong in found.wrong_tasks(name, document)] == []


@pytest.mark.slow
def test_what_is_unknown_without_the_topology_is_not_invented() -> None:
    found = unpacked()
    for name in CLASSIC:
        for document in found.decisions(name, topology=False):
            for task in document["tasks"]:
                known = found.subtopologies(name)[task["id"].partition("_")[0]]
                assert task["logged"] == bool(known["changelogs"]), (name, task)
                assert task["stores"] is None or len(task["stores"]) == len(known["changelogs"]), (name, task)


def test_a_changelog_from_before_the_optimisation_is_reported_and_not_used() -> None:
    found = unpacked()
    told = recorded_decisions(found.past("stale") / "records.jsonl", topology=Path(found.topology("stale")[1]))
    (sentence,) = {each for document in told for each in topology_conflicts(document["assumptions"])}
    assert sentence == (
        "topology conflict: the offset sums that members report of sub-topology 0 fit stale-users and not "
        "stale-users-changelog: the former is used for store users"
    )


@pytest.mark.slow
def test_a_conflict_is_noted_on_the_standard_error() -> None:
    found = unpacked()
    told = run("history", str(found.past("stale")), *found.topology("stale"), "--check").stderr
    assert told.count("topology conflict: the offset sums") == 1


def decided_as_recorded(name: str, *, topology: bool, config: bool) -> int:
    found = unpacked()
    properties = Path(found.config(name)[1])
    layers = config_sources(properties, environ={}, start=found.root).above if config else ()
    optimized = reuses_sources(optimization_in(layers))
    text = Path(found.topology(name)[1]) if topology else None
    documents = recorded_decisions(found.past(name) / "records.jsonl", layers, text, optimized=optimized)
    answer = answerer("high_availability", discover(), AnswerOptions(config_sources(environ={})))
    rows = [(each, answer(scenario_from_document(each, Place(name, 1)))) for each in documents if "observed" in each]
    return sum(row["assignment"] == each["observed"]["assignment"] for each, row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSIC)
def test_more_input_never_worsens_a_result(name: str) -> None:
    neither, config, topology, both = (
        decided_as_recorded(name, topology=topology, config=config)
        for topology, config in ((False, False), (False, True), (True, False), (True, True))
    )
    assert neither <= min(config, topology)
    assert max(config, topology) <= both


def test_the_command_line_gives_the_optimisation_without_a_file() -> None:
    found = unpacked()
    options = [*found.topology("stale"), "-c", "acceptable.recovery.lag=3", "-c", "topology.optimization=all"]
    told = run("history", str(found.past("stale")), *options, "--check")
    assert "with topology.optimization store users is logged to stale-users" in told.stderr
    assert "9 of 9 decisions" in told.stdout


@pytest.mark.slow
def test_every_message_to_a_member_comes_out_again_with_the_topology() -> None:
    found = unpacked()
    recording, registry = read_recording([found.answers]), discovered(effective_config()).registry
    for name in ("foreignkey", "many", "readonly", "stale", "unlogged"):
        decisions = list(read_decisions(found.logs(name), lambda _: None))
        maker = DocumentMaker((), None, UTC, zone_given=True)
        seen = recorded_states(recording, decisions, maker, topology=Path(found.topology(name)[1]))
        of_group = [state for state in seen if state.seen.answer.group == name]
        assert len(of_group) > 5
        assert {state.document["id"]: told for state in of_group if (told := list(problems(state, registry)))} == {}


@pytest.mark.slow
def test_every_target_of_the_streams_protocol_comes_out_again() -> None:
    found = unpacked()
    for name in found.names():
        if name.endswith(STREAMS):
            decisions, differences = found.checked(str(found.past(name)))
            assert (decisions > 3, differences) == (True, []), name
