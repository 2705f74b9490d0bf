"""Logs of each released version from 2.6 to 4.3: every decision is imported, and equals ours."""

from __future__ import annotations

import gzip
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import attrs
import pytest

from assignment_api.plugins import config_sources, discover
from assignor_lab.capture.logs.import_log import import_log
from assignor_lab.groups.runner.result_lines import AnswerOptions, answerer
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.scenarios.version_provenance import of_other_rules
from tests.capture.captured_logs import CAPTURES, events, refuse
from tests.capture.layouts import log4j
from tests.capture.topology_recordings import run

LOGS = {path.name.removesuffix(".log.gz"): path for path in sorted((CAPTURES / "versions").glob("*.log.gz"))}
MINOR_RELEASES = (
    *("2.6", "2.7", "2.8", "3.0", "3.1", "3.2", "3.3", "3.4", "3.5", "3.6", "3.7", "3.8", "3.9"),
    *("4.0", "4.1", "4.2", "4.3"),
)
#: Generations in which an older release placed standbys by a different rule than 4.3.1.
OTHER_RULES = {"2.6.3": [5]}
#: Releases that log the tasks of each consumer of a client.
WITHOUT_CONSUMERS = ("2.6.3",)
#: First release with client tags.
FIRST_WITH_TAGS = "3.2.3"


@cache
def imported(version: str) -> list[dict[str, Any]]:
    return list(import_log([LOGS[version]], on_problem=refuse))


def test_there_is_a_log_of_every_minor_release() -> None:
    assert [version.rpartition(".")[0] for version in LOGS] == list(MINOR_RELEASES)


@pytest.mark.parametrize("version", LOGS)
def test_every_decision_of_the_log_is_imported(version: str) -> None:
    written = gzip.decompress(LOGS[version].read_bytes()).count(b"Decided on assignment: ")
    documents = imported(version)
    assert written >= 7
    assert [document["source"]["generation"] for document in documents] == list(range(1, written + 1))
    assert {document["source"]["group"] for document in documents} == {f"words-{version.replace('.', '-')}"}


@pytest.mark.parametrize("version", LOGS)
def test_config_threads_end_points_and_tags_are_those_of_the_instances(version: str) -> None:
    has_tags = version >= FIRST_WITH_TAGS
    for document in imported(version):
        config = document["config"]
        assert config["num.standby.replicas"] == 1
        assert config["max.warmup.replicas"] == 1
        assert config["acceptable.recovery.lag"] == 10
        assert config["probing.rebalance.interval.ms"] == 60_000
        assert config["rack.aware.assignment.tags"] == (["zone"] if has_tags else [])
        assert {client["threads"] for client in document["clients"]} <= {1, 2}
        for client in document["clients"]:
            zone = {"127.0.0.1:8081": "x", "127.0.0.1:8082": "y", "127.0.0.1:8083": "z"}[client["host"]]
            assert client["tags"] == ({"zone": zone} if has_tags else {})
        assert (document["observed"]["threads"] is None) == (version in WITHOUT_CONSUMERS)


@pytest.mark.parametrize("version", LOGS)
def test_what_the_release_decided_is_what_we_decide(version: str) -> None:
    answer = answerer("high_availability", discover(), AnswerOptions(config_sources(environ={})))
    other = []
    for document in imported(version):
        row = answer(scenario_from_document(document, Place(version, 1)))
        if {key: row[key] for key in ("assignment", "followup")} != {
            key: document["observed"][key] for key in ("assignment", "followup")
        }:
            other.append(document["source"]["generation"])
    assert other == OTHER_RULES.get(version, [])


@pytest.mark.parametrize("version", LOGS)
def test_the_other_lines_of_a_rebalance_tell_the_same_as_the_decision(version: str, tmp_path: Path) -> None:
    kept = [event for event in events(LOGS[version]) if "Decided on assignment: " not in event.message]
    log = tmp_path / "app.log"
    log.write_text("".join(map(log4j, kept)), encoding="utf-8")
    found = list(import_log([log], on_problem=refuse))
    assert len(found) == len(imported(version))
    for without, decided in zip(found, imported(version), strict=True):
        assert without["observed"]["assignment"] == decided["observed"]["assignment"]
        assert without["clients"] == decided["clients"]
        assert without["config"] == decided["config"]


def test_a_release_with_other_rules_is_the_named_cause() -> None:
    told = run("history", str(LOGS["2.6.3"]), "--check").stdout
    assert "Likely cause: version. The instances run Kafka Streams 2.6.3" in " ".join(told.split())
    assert "log a decision of release 2.7 or later" in " ".join(told.split())
    assert of_other_rules(["3.9.2", "2.7.0", "trunk", "2"]) is None


@pytest.mark.parametrize(("upgraded", "leader_is_upgraded"), [("i2", False), ("i3", True)])
def test_a_decision_has_the_release_that_its_leader_had_then(
    upgraded: str, tmp_path: Path, *, leader_is_upgraded: bool
) -> None:
    """The leader is i3 in all decisions; i2 restarts at 05:47:39, between two of them."""
    restart = "05:47:39"
    for path in sorted((CAPTURES / "tagged").glob("i*.log.gz")):
        lines = [
            attrs.evolve(event, message=event.message.replace("4.3.1", "4.4.0"))
            if event.time >= restart and "Kafka Streams version" in event.message and upgraded == "i2"
            else event
            for event in events(path)
        ]
        if path.name.startswith("i3") and leader_is_upgraded:
            version = next(each for each in lines if "Kafka Streams version" in each.message)
            place = next(place for place, each in enumerate(lines) if each.time >= restart)
            lines.insert(place, attrs.evolve(version, time=restart, message=version.message.replace("4.3.1", "4.4.0")))
        (tmp_path / f"{path.stem}.log").write_text("".join(map(log4j, lines)))

    found = list(import_log(sorted(tmp_path.glob("*.log")), on_problem=refuse))
    restarted_ms = datetime.fromisoformat(f"2026-11-21T{restart}+00:00").timestamp() * 1000
    before = [each for each in found if each["source"]["time_ms"] < restarted_ms]
    after = found[len(before) :]
    assert before
    assert after

    def says_two(document: dict[str, Any]) -> bool:
        return any("4.3.1 and 4.4.0" in sentence for sentence in document["assumptions"])

    assert {each["settings"]["kafka.release"] for each in before} == {"4.3.1"}
    assert not any(map(says_two, before))
    assert {each["settings"]["kafka.release"] for each in after} == {"4.4.0" if leader_is_upgraded else "4.3.1"}
    of_both = [
        len(each["clients"]) > 1 and any(upgraded in str(client["consumers"]) for client in each["clients"])
        for each in after
    ]
    assert list(map(says_two, after)) == of_both
    assert set(of_both) == {True, False}


def test_a_given_release_goes_before_the_logged_one(tmp_path: Path) -> None:
    config = config_sources(None, ["kafka.release=4.4"], environ={}, start=tmp_path)
    found = list(import_log([LOGS["4.3.1"]], on_problem=refuse, config_layers=config.above))
    assert {each["settings"]["kafka.release"] for each in found} == {"4.4"}
