"""Lines of Kafka 2.6 to 4.3: their forms, and a whole log in the form of each version."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import attrs
import pytest

from assignor_lab.capture.logs.import_log import import_log, read_decisions
from assignor_lab.capture.logs.rebalance import LoggedDecision
from tests.capture.captured_logs import CAPTURES, LEADER_OF_TAGGED, Event, documents, essence, events, refuse
from tests.capture.layouts import log4j

UUID = "5f1a7d2e-8f2f-4ad8-9f0d-2b8c1e4f6a90"
BEGINNING = "activeTasks: ([0_0]) standbyTasks: ([]) prevActiveTasks: ([]) prevStandbyTasks: ([])"
SHAPES = {
    "2.6": f"[{BEGINNING} prevOwnedPartitionsByConsumerId: ([]) changelogOffsetTotalsByTask: ([])"
    " taskLagTotals: ([0_0=0]) capacity: 1 assigned: 1]",
    "2.6, owned partitions": f"[{BEGINNING} prevOwnedPartitionsByConsumerId: ([in-0, in.x_y-1])"
    " changelogOffsetTotalsByTask: ([]) taskLagTotals: ([0_0=0]) capacity: 1 assigned: 1]",
    "2.7 to 3.1": f"[{BEGINNING} changelogOffsetTotalsByTask: ([]) taskLagTotals: ([0_0=0]) capacity: 1 assigned: 1]",
    "3.2 and later": f"[{BEGINNING} changelogOffsetTotalsByTask: ([]) taskLagTotals: ([0_0=0])"
    " clientTags: ([zone=a]) capacity: 1 assigned: 1]",
    "3.2, no tags": f"[{BEGINNING} changelogOffsetTotalsByTask: ([]) taskLagTotals: ([0_0=0])"
    " clientTags: ([]) capacity: 1 assigned: 1]",
}


def log_with(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "app.log"
    path.write_text(text, encoding="utf-8")
    return path


def only(tmp_path: Path, text: str) -> dict[str, Any]:
    (document,) = import_log([log_with(tmp_path, text)], on_problem=refuse)
    return document


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("before", ["", "[2020-08-03 12:00:00,000] INFO ", "12:00:00.000 [main] INFO  o.a.k - "])
def test_a_decision_of_every_version_is_read(shape: str, before: str, tmp_path: Path) -> None:
    line = f"{before}Decided on assignment: {{{UUID}={SHAPES[shape]}}} with followup probing rebalance."

    document = only(tmp_path, line)

    assert document["observed"] == {
        "assignment": {UUID: {"active": ["0_0"], "standby": []}},
        "followup": True,
        "threads": None,
    }
    assert document["tasks"] == [
        {"id": "0_0", "stateful": True, "logged": True, "stores": None, "partitions": None},
    ]
    assert document["clients"] == [
        {
            "process_id": UUID,
            "rack": None,
            "tags": {"zone": "a"} if shape == "3.2 and later" else {},
            "host": None,
            "threads": 1,
            "consumers": [],
            "previous_active": [],
            "previous_standby": [],
            "lags": {"0_0": 0},
            "previous_by_consumer": None,
        }
    ]


@pytest.mark.parametrize(("text", "followup"), [("with followup", True), ("with no followup", False)])
def test_the_line_says_whether_a_probing_rebalance_follows(text: str, followup: object, tmp_path: Path) -> None:
    line = f"Decided on assignment: {{{UUID}={SHAPES['2.7 to 3.1']}}} {text} probing rebalance."

    assert only(tmp_path, line)["observed"]["followup"] is followup


def test_a_line_alone_says_what_it_cannot_tell(tmp_path: Path) -> None:
    document = only(tmp_path, f"Decided on assignment: {{{UUID}={SHAPES['2.6']}}} with no followup probing rebalance.")

    said = "\n".join(document["assumptions"])
    for missing in ("config", "topology", "racks", "consumers", "order", "end points", "no date and time"):
        assert missing in said
    assert document["source"] == {"file": str(tmp_path / "app.log"), "line": 1}


def test_tasks_of_named_topologies_are_read(tmp_path: Path) -> None:
    state = SHAPES["2.7 to 3.1"].replace("0_0", "first-topology__0_0")

    document = only(tmp_path, f"Decided on assignment: {{{UUID}={state}}} with no followup probing rebalance.")

    assert [task["id"] for task in document["tasks"]] == ["first-topology__0_0"]


# --- a whole log in the form of another version -------------------------------------------------------


def as_4_3(event: Event) -> list[Event]:
    return [event]


def as_3_5(event: Event) -> list[Event]:
    return _older(
        event,
        participants=r"\1 members participating in this rebalance: ",
        before=r"Assigning tasks [0_0, 2_0] including stateful [0_0] to clients \2 with number of replicas \1",
        after="14 assigned tasks [0_0, 2_0] including stateful [0_0] to 3 clients as: \n",
    )


def as_3_0(event: Event) -> list[Event]:
    return _older(
        event,
        participants="All members participating in this rebalance: ",
        before=r"Assigning tasks [0_0, 2_0] including stateful [0_0] to clients \2 with number of replicas \1",
        after="Assigned tasks [0_0, 2_0] including stateful [0_0] to clients as: \n",
    )


def as_2_7(event: Event) -> list[Event]:
    if "participating in this rebalance" in event.message:
        return []
    event = attrs.evolve(event, message=re.sub(r"(\trevoking active .*)\n", r"\1", event.message))
    return _older(
        event,
        participants="",
        before=r"Assigning tasks [0_0, 2_0] to clients \2 with number of replicas \1",
        after="Assigned tasks [0_0, 2_0] including stateful [0_0] to clients as: \n",
    )


def _older(event: Event, *, participants: str, before: str, after: str) -> list[Event]:
    text = event.message
    if "Assigning stateful tasks: " in text or "total tasks including" in text or "task assignors found" in text:
        return []
    text = re.sub(r"(\d+) client nodes and \d+ consumers participating in this rebalance: ", participants, text)
    text = re.sub(r"Assigning tasks and (\d+) standby replicas to client nodes (.*)", before, text)
    if "Assignment of tasks to nodes: " in text:
        text = text.replace("Assignment of tasks to nodes: ", after) + "."
    return [attrs.evolve(event, message=text)]


VERSIONS: dict[str, Callable[[Event], list[Event]]] = {"4.3": as_4_3, "3.5": as_3_5, "3.0": as_3_0, "2.7": as_2_7}


@cache
def known(application: str) -> list[dict[str, Any]]:
    return [essence(document) for document in documents(application)]


def written_by(version: str, leader: Path, tmp_path: Path) -> Path:
    older = VERSIONS[version]
    return log_with(tmp_path, "".join(log4j(new) for event in events(leader) for new in older(event)))


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_a_log_of_an_older_version_gives_the_same_scenarios(version: str, tmp_path: Path) -> None:
    log = written_by(version, LEADER_OF_TAGGED, tmp_path)

    assert [essence(document) for document in documents("tagged", [log])] == known("tagged")


@pytest.mark.parametrize("version", VERSIONS)
def test_the_pair_of_an_older_version_gives_the_same_scenarios(version: str, tmp_path: Path) -> None:
    leader = CAPTURES / "plain" / "p1.log.gz"
    log = written_by(version, leader, tmp_path)

    # Only its own log names the client of a static member.
    expected = [essence(document) for document in documents("plain", [leader])]
    assert [essence(document) for document in documents("plain", [log])] == expected


def test_a_decision_and_the_pair_of_one_rebalance_are_one_scenario_with_the_same_content(tmp_path: Path) -> None:
    without = [log4j(event) for event in events(LEADER_OF_TAGGED) if "Decided on assignment" not in event.message]
    log = log_with(tmp_path, "".join(without))

    def comparable(document: dict[str, Any]) -> dict[str, Any]:
        # If a client moves tasks at once, only the missing line shows whether probing was requested.
        return {**document, "observed": {**document["observed"], "followup": None}}

    found = [essence(document) for document in documents("tagged", [log])]
    assert list(map(comparable, found)) == list(map(comparable, known("tagged")))
    for pair, decided in zip(found, known("tagged"), strict=True):
        assert pair["observed"]["followup"] in (None, decided["observed"]["followup"])


def test_without_debug_lines_everything_but_hosts_and_standbys_is_there(tmp_path: Path) -> None:
    log = log_with(tmp_path, "".join(log4j(event) for event in events(LEADER_OF_TAGGED) if event.level != "DEBUG"))

    found: list[LoggedDecision] = list(read_decisions([log], refuse))

    assert len(found) == 24
    assert all(decision.hosts is None and decision.standbys is None for decision in found)
    unhosted = [
        {**document, "clients": [{**client, "host": None} for client in document["clients"]]}
        for document in known("tagged")
    ]
    assert [essence(document) for document in documents("tagged", [log])] == unhosted


def test_with_the_decisions_alone_assignments_lags_and_previous_tasks_are_there(tmp_path: Path) -> None:
    log = log_with(
        tmp_path,
        "".join(log4j(event) for event in events(LEADER_OF_TAGGED) if "Decided on assignment" in event.message),
    )

    found = documents("tagged", [log])

    for document, whole in zip(found, known("tagged"), strict=True):
        assert document["observed"]["assignment"] == whole["observed"]["assignment"]
        for key in ("lags", "previous_active", "previous_standby", "tags", "threads"):
            assert {client["process_id"]: client[key] for client in document["clients"]} == {
                client["process_id"]: client[key] for client in whole["clients"]
            }


def test_the_generation_is_found_where_only_the_join_shows_it(tmp_path: Path) -> None:
    kept = [event for event in events(LEADER_OF_TAGGED) if "Finished assignment for group" not in event.message]
    first = next(index for index, event in enumerate(kept) if "client nodes and" in event.message)
    join = attrs.evolve(
        kept[first],
        message="[Consumer clientId=i3-StreamThread-1-consumer, groupId=tagged-classic] Successfully joined group with "
        f"generation Generation{{generationId=1, memberId='i3-StreamThread-1-consumer-{UUID}', protocol='stream'}}",
    )
    kept = [event for event in kept if event.level != "DEBUG"]
    log = log_with(tmp_path, log4j(join) + "".join(map(log4j, kept)))

    sources = [document["source"] for document in documents("tagged", [log])]

    assert [source.get("generation") for source in sources] == [1] + [None] * 23
    assert {source["group"] for source in sources} == {"tagged-classic"}
