"""The verification of recorded groups: correct inputs reproduce every decision, and a wrong one is named."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pytest
from typer.testing import CliRunner

from assignment_api.plugins import config_sources, discover
from assignor_lab.capture.histories.past import PastSurroundings, scenarios_of_past
from assignor_lab.cli.app import build_app
from assignor_lab.scenarios import Scenario, scenario_from_document
from assignor_lab.scenarios.racks import read_racks
from assignor_lab.scenarios.settings import given_settings
from assignor_lab.scenarios.with_racks import RackFiller
from assignor_lab.verification import words
from assignor_lab.verification.readings import terms_of
from assignor_lab.verification.replays import past_episodes, verify_past
from assignor_lab.verification.verified import Verification, VerificationTerms, VerifiedGroup, verify
from tests.capture.captured_logs import CAPTURES, logs
from tests.capture.flight_recording import write_recording
from tests.capture.histories.flight_folders import streams_folder
from tests.capture.histories.pasts import decisions_of
from tests.capture.test_racks import CLIENTS, partition_racks, rack_file
from tests.capture.topologies import ORDERS

REGISTRY = discover()
#: Configuration of the application of the flight recording.
FLIGHT = "num.standby.replicas=1\nacceptable.recovery.lag=5\nrack.aware.assignment.strategy=min_traffic\n"

#: Topology of the flight recording's application, with the store before the repartition topic, not behind it.
STORE_ON_THE_WRONG_SIDE = """\
Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [in])
      --> count
    Processor: count (stores: [counts])
      --> counts-repartition-sink
      <-- KSTREAM-SOURCE-0000000000
    Sink: counts-repartition-sink (topic: counts-repartition)
      <-- count

  Sub-topology: 1
    Source: counts-repartition-source (topics: [counts-repartition])
      --> print
    Processor: print (stores: [])
      --> none
      <-- counts-repartition-source

"""

#: The flight recording's own application.
OWN_TOPOLOGY = STORE_ON_THE_WRONG_SIDE.replace("(stores: [counts])", "(stores: [])").replace(
    "Processor: print (stores: [])", "Processor: print (stores: [counts])"
)


def verification(
    past: list[str],
    config: Path | None = None,
    topology: Path | None = None,
    racks: Path | None = None,
    assignor: str | None = None,
) -> Verification:
    given = config_sources(config, ())
    around = PastSurroundings(given.above, topology, racks=None if racks is None else RackFiller(read_racks([racks])))
    scenarios = list(scenarios_of_past(past, around))
    terms = terms_of(REGISTRY, given, read=partial(scenarios_of_past, past), around=around, assignor=assignor)
    episodes = past_episodes(scenarios, given_settings(around.config))
    return verify_past(scenarios, terms, episodes)


def only(found: Verification) -> VerifiedGroup:
    (group,) = found.groups
    return group


def properties(application: str) -> Path:
    return CAPTURES / application / "application.properties"


@pytest.fixture
def flight(tmp_path: Path) -> tuple[Path, Path]:
    """The recording of a rack-aware group, and its configuration."""
    write_recording(tmp_path / "past", "classic")
    config = tmp_path / "flight.properties"
    config.write_text(FLIGHT, encoding="utf-8")
    return tmp_path / "past", config


# --- right inputs -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("application", "count"), [("tagged", 24), ("plain-ha", 14)])
def test_the_line_begins_with_the_decisions_that_come_out(application: str, count: int) -> None:
    found = verification(list(map(str, logs(application))), properties(application))
    line = words.sentences(found)[0]
    assert line.startswith(f"Decisions: {count} of {count} reproduced. Play of the group's own assignor: ")
    assert f"(recorded {count})" in line
    assert words.banner(found) == []


def test_a_rack_aware_recording_is_verified_with_its_own_racks(flight: tuple[Path, Path]) -> None:
    group = only(verification([str(flight[0])], flight[1]))
    assert (group.reproduced, group.checked, group.tried) == (10, 10, ())


@pytest.mark.parametrize(("group", "count"), [("streams", 5), ("real-connect", 12)])
def test_other_kinds_of_groups_are_verified(group: str, count: int, tmp_path: Path) -> None:
    write_recording(tmp_path / "past", group)
    found = verification([str(tmp_path / "past")])
    shown = words.sentences(found)
    assert shown[0].startswith(f"Decisions: {count} of {count} reproduced.")
    assert any(each.startswith("Not verified by a play") for each in shown) is (group == "real-connect")


def test_the_assignor_that_the_log_names_is_the_groups_own() -> None:
    group = only(verification(list(map(str, logs("plain")))))
    assert (group.assignor, group.reproduced, group.is_refused) == ("sticky", 6, False)


def test_states_of_no_real_group_are_not_verified() -> None:
    plain = [attrs.evolve(each, document=_without(each.document, "observed")) for each in decisions_of("tagged")[:2]]
    found = verify(plain, VerificationTerms(REGISTRY, config_sources(None, ())))
    assert words.document_of(found) is None
    assert words.sentences(found) == []


def _without(document: Any, key: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != key}


# --- wrong inputs -----------------------------------------------------------------------------------


def refused(found: Verification, cause: str) -> VerifiedGroup:
    (sentence,) = words.banner(found)
    assert sentence.startswith("No verdict: Kafka's assignor reproduces ")
    assert f"Likely cause: {cause}." in sentence
    assert words.sentences(found)[0] == sentence
    document = words.document_of(found)
    assert document is not None
    assert document["status"] == "refused"
    assert document["cause"]["input"] == cause
    json.dumps(document)
    return only(found)


def test_exchanged_racks_end_in_the_banner(flight: tuple[Path, Path]) -> None:
    racks = flight[0] / "racks.toml"
    text = racks.read_text().replace('1 = "r1"', '1 = "r9"').replace('2 = "r2"', '2 = "r1"').replace("r9", "r2")
    racks.write_text(text, encoding="utf-8")
    group = refused(verification([str(flight[0])], flight[1]), "racks")
    assert group.cause is not None
    assert group.cause.tried is not None
    assert (group.cause.tried.reproduced, group.cause.tried.before) == (10, 2)


@pytest.mark.slow
def test_partitions_on_wrong_brokers_end_in_the_banner(tmp_path: Path) -> None:
    topology = tmp_path / "topology.txt"
    topology.write_text(ORDERS, encoding="utf-8")
    past, config = list(map(str, logs("orders-2"))), properties("orders-2")
    right = rack_file(tmp_path, CLIENTS, partition_racks())
    assert only(verification(past, config, topology, right)).reproduced == 48
    moved = {topic: [*racks[1:], racks[0]] for topic, racks in partition_racks().items()}
    wrong = rack_file(tmp_path, CLIENTS, moved)
    assert refused(verification(past, config, topology, wrong), "racks").reproduced < 43


@pytest.mark.slow
@pytest.mark.parametrize("group", ["classic", "streams"])
def test_racks_that_contradict_the_recording_end_in_the_banner(group: str, tmp_path: Path) -> None:
    write_recording(tmp_path / "past", group)
    config, racks = tmp_path / "a.properties", tmp_path / "racks.toml"
    config.write_text(FLIGHT, encoding="utf-8")
    own = (tmp_path / "past" / "racks.toml").read_text(encoding="utf-8")
    wrong = own.replace('1 = "r1"', '1 = "r3"') + '\n[clients]\n"p2-streams" = "r1"\n'
    racks.write_text(wrong, encoding="utf-8")
    cause = refused(verification([str(tmp_path / "past")], config, racks=racks), "racks").cause
    assert cause is not None
    assert "the state" in cause.evidence


@pytest.mark.slow
def test_racks_of_another_cluster_end_in_the_banner(flight: tuple[Path, Path], tmp_path: Path) -> None:
    # A long path must not lose the name of the file.
    folder = tmp_path / ("a-long-folder-" * 10)
    folder.mkdir()
    other = rack_file(folder, {"elsewhere": "z1"}, {"sales": [["z1"], ["z2"]]})
    group = refused(verification([str(flight[0])], flight[1], racks=other), "racks")
    assert group.cause is not None
    assert group.cause.evidence.endswith("racks.toml names no client and no topic of the group")
    own = rack_file(tmp_path, {"elsewhere": "z1"}, {"in": [["r1"]] * 4})
    assert not verification([str(flight[0])], flight[1], racks=own).refused


@pytest.mark.slow
def test_missing_racks_end_in_the_banner() -> None:
    group = refused(verification(list(map(str, logs("orders-2"))), properties("orders-2")), "racks")
    assert group.cause is not None
    assert "--racks" in words.remedy_of(group.cause)


@pytest.mark.slow
def test_missing_tags_end_in_the_banner(tmp_path: Path) -> None:
    config = tmp_path / "a.properties"
    lines = properties("tagged").read_text().splitlines()
    config.write_text("\n".join(line for line in lines if "tags" not in line), encoding="utf-8")
    refused(verification(list(map(str, logs("tagged"))), config), "tags")


@pytest.mark.slow
@pytest.mark.parametrize("line", ["num.standby.replicas=2", "acceptable.recovery.lag=1000000", "max.warmup.replicas=9"])
def test_another_configuration_ends_in_the_banner(line: str, tmp_path: Path) -> None:
    config = tmp_path / "a.properties"
    config.write_text(f"{properties('tagged').read_text()}\n{line}\n", encoding="utf-8")
    group = refused(verification(list(map(str, logs("tagged"))), config), "configuration")
    assert group.cause is not None
    assert line.partition("=")[0] in group.cause.evidence


def test_a_wrong_topology_ends_in_the_banner(flight: tuple[Path, Path], tmp_path: Path) -> None:
    topology = tmp_path / "topology.txt"
    topology.write_text(STORE_ON_THE_WRONG_SIDE, encoding="utf-8")
    group = refused(verification([str(flight[0])], flight[1], topology), "topology")
    assert group.cause is not None
    assert group.cause.evidence.startswith("10 of 10 decisions come out without the topology file")


def test_the_topology_of_another_application_ends_in_the_banner(flight: tuple[Path, Path], tmp_path: Path) -> None:
    topology = tmp_path / "topology.txt"
    topology.write_text(STORE_ON_THE_WRONG_SIDE.partition("  Sub-topology: 1")[0], encoding="utf-8")
    group = refused(verification([str(flight[0])], flight[1], topology), "topology")
    assert group.reproduced == 10


@pytest.mark.slow
@pytest.mark.parametrize("group", ["classic", "streams"])
@pytest.mark.parametrize(
    ("old", "new", "evidence"),
    [("[in]", "[in]", ""), ("[in]", "[sales]", "in"), ("counts-repartition", "by-city-repartition", "repartition")],
)
def test_topics_that_the_group_does_not_read_end_in_the_banner(
    group: str, old: str, new: str, evidence: str, tmp_path: Path
) -> None:
    write_recording(tmp_path / "past", group)
    config, topology = tmp_path / "a.properties", tmp_path / "topology.txt"
    config.write_text(FLIGHT, encoding="utf-8")
    topology.write_text(OWN_TOPOLOGY.replace(old, new), encoding="utf-8")
    found = verification([str(tmp_path / "past")], config, topology)
    if not evidence:
        assert words.banner(found) == []
        return
    cause = refused(found, "topology").cause
    assert cause is not None
    assert evidence in cause.evidence


@pytest.mark.parametrize(("past", "longest"), [("restored", "33,070"), ("lives", "24,174")])
@pytest.mark.parametrize(("session_ms", "is_possible"), [(10_000, True), (45_000, False), (600_000, False)])
def test_a_session_that_outlasts_a_removed_member_ends_in_the_banner(
    past: str, longest: str, session_ms: int, is_possible: bool, tmp_path: Path
) -> None:
    config = tmp_path / "a.properties"
    config.write_text(f"num.standby.replicas=1\nsession.timeout.ms={session_ms}\n", encoding="utf-8")
    found = verification([*map(str, sorted((CAPTURES / past).glob("*.gz")))], config)
    causes = [each.cause for each in found.refused if each.cause is not None]
    assert bool(words.banner(found)) is not is_possible
    assert [each.input for each in causes] == ([] if is_possible else ["session timeout"])
    assert all(longest in each.evidence for each in causes)


def test_a_wrong_release_of_the_brokers_ends_in_the_banner(tmp_path: Path) -> None:
    folder = streams_folder(tmp_path / "past", "orders-group-3")
    assert only(verification([str(folder)])).reproduced == 16
    (folder / "brokers.json").write_text('{"format":1,"kind":"brokers","streams_group_describe":1}', encoding="utf-8")
    refused(verification([str(folder)]), "version")


def test_the_assignor_of_another_release_ends_in_the_banner(tmp_path: Path) -> None:
    folder = streams_folder(tmp_path / "past", "orders-group-1")
    group = only(verification([str(folder)], assignor="group_sticky_4_4"))
    assert group.cause is not None
    assert group.cause.input == "version"
    assert "(group_sticky@4.3)" in group.cause.evidence


def test_a_wrong_session_timeout_ends_in_the_banner(flight: tuple[Path, Path]) -> None:
    with flight[1].open("a", encoding="utf-8") as config:
        config.write("session.timeout.ms=45000\n")
    group = refused(verification([str(flight[0])], flight[1]), "session timeout")
    assert group.reproduced == 10
    assert group.cause is not None
    assert group.cause.evidence == "the recorded members have session.timeout.ms 10,000 ms, and 45,000 ms is given"


def test_a_right_session_timeout_is_no_contradiction(flight: tuple[Path, Path]) -> None:
    with flight[1].open("a", encoding="utf-8") as config:
        config.write("session.timeout.ms=10000\n")
    assert not verification([str(flight[0])], flight[1]).refused


def test_a_custom_assignor_that_is_not_installed_is_not_verifiable() -> None:
    named = [_named(each, "com.example.Pinned") for each in decisions_of("tagged")]
    found = verify(named, VerificationTerms(REGISTRY, config_sources(properties("tagged"), ())))
    (line,) = words.sentences(found)
    assert line.startswith("Not verifiable: the group's assignor cannot be called: ")
    assert "com.example.Pinned" in line
    assert words.banner(found) == []


def _named(scenario: Scenario, assignor: str) -> Scenario:
    source = {**scenario.document["source"], "assignor": assignor}
    return scenario_from_document({**scenario.document, "source": source}, scenario.place)


def test_a_sample_of_many_decisions_says_so() -> None:
    terms = VerificationTerms(REGISTRY, config_sources(properties("tagged"), ()))
    found = verify(decisions_of("tagged"), terms, most_tasks=60)
    (line,) = words.sentences(found)
    assert "reproduced (a sample of 24)." in line
    assert only(found).checked < 24


# --- commands on single states ----------------------------------------------------------------------


def command(*words_of_command: str) -> str:
    result = CliRunner().invoke(build_app(), list(words_of_command))
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("command_words", [["compare", "--assignor", "sticky"], ["explain"]])
def test_compare_and_explain_begin_with_the_verification(command_words: list[str]) -> None:
    name, *further = command_words
    log = str(CAPTURES / "tagged" / "i3.log.gz")
    right = ["--config", str(properties("tagged"))]
    assert command(name, log, *right, *further).startswith("Decisions: ")
    shown = command(name, log, "--id", "tagged-classic-generation-5", *further)
    assert shown.startswith("No verdict: Kafka's assignor reproduces 0 of 1 recorded decision.")
    told = json.loads(command(name, log, *right, *further, "--json"))
    assert told["verified"]["status"] == "verified"
