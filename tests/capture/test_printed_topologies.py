"""Descriptions of a topology within logs, and in the forms in which they are pasted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from assignor_lab.capture.errors import NoDecisionError, TopologyTextError
from assignor_lab.capture.logs.topology_file import described_topology
from assignor_lab.capture.topology.description import parse_topology
from tests.capture.public_cases import decisions, unpacked
from tests.capture.topologies import ORDERS

ONE = """\
Topologies:
   Sub-topology: 0
    Source: in (topics: [in])
      --> counts
    Processor: counts (stores: [counts-store])
      --> none
      <-- in

"""
FORMS: dict[str, Callable[[str], str]] = {
    "kubectl": lambda text: "".join(f"[pod/app-1/app] {line}\n" for line in text.splitlines()),
    "log of each line": lambda text: "".join(
        f"2024-05-06 10:00:00,000 INFO A - {line}\n" for line in text.splitlines()
    ),
    "one JSON line": lambda text: json.dumps({"@timestamp": "2024-05-06T10:00:00Z", "message": text}) + "\n",
    "JSON of each line": lambda text: "".join(json.dumps({"log": f"{line}\n"}) + "\n" for line in text.splitlines()),
    "Java text": lambda text: "".join(f'    + "{line}\\n"\n' for line in text.splitlines()),
    "escaped": lambda text: text.replace("\n", "\\n") + "\n",
    "HTML": lambda text: text.replace("<", "&lt;").replace(">", "&gt;"),
    "Windows": lambda text: text.replace("\n", "\r\n"),
    "Markdown list": lambda text: "".join(f"    - {line}\n" for line in text.splitlines()),
    "row of a table": lambda text: f'Date,Message\n2024-05-06T10:00:00Z,"{text}"\n',
}


@pytest.mark.parametrize("form", FORMS)
def test_a_pasted_description_is_that_of_the_plain_text(form: str, tmp_path: Path) -> None:
    file = tmp_path / "topology.txt"
    file.write_bytes(FORMS[form](ORDERS).encode())

    assert described_topology(file).subtopologies == parse_topology(ORDERS).subtopologies


def test_descriptions_of_two_containers_between_each_other_are_one(tmp_path: Path) -> None:
    file = tmp_path / "compose.log"
    lines = ORDERS.splitlines()
    file.write_text("".join(f"app-{number}  | {line}\n" for line in lines for number in (1, 2)))

    assert described_topology(file).subtopologies == parse_topology(ORDERS).subtopologies


def test_two_different_descriptions_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "topology.txt"
    file.write_text(ORDERS + ONE)

    with pytest.raises(TopologyTextError, match="a second time, and differs"):
        described_topology(file)


@pytest.mark.parametrize("form", ["kubectl", "one JSON line", "log of each line", "Windows"])
def test_a_description_in_the_imported_log_is_used(form: str, tmp_path: Path) -> None:
    whole = tmp_path / "app.log"
    whole.write_text(FORMS[form](ONE) + unpacked("05-poll-timeout", "node-a.log", tmp_path).read_text())

    found, problems = decisions(whole)

    assert not problems
    assert {store for document in found for task in document["tasks"] for store in task["stores"]} == {"counts-store"}
    assert not any("--topology" in sentence for document in found for sentence in document["assumptions"])


def test_a_description_of_another_application_is_not_used(tmp_path: Path) -> None:
    whole = tmp_path / "app.log"
    other = ONE.replace("Sub-topology: 0", "Sub-topology: 4")
    whole.write_text(other + unpacked("05-poll-timeout", "node-a.log", tmp_path).read_text())

    found, problems = decisions(whole)

    assert not problems
    assert all(task["stores"] is None for document in found for task in document["tasks"])


@pytest.mark.parametrize(
    "text",
    [
        "\nGROUP    TOPIC  PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST  CLIENT-ID\n"
        "orders   in     0          5               10              5    a-1          /10.0.0.1  a\n",
        "GROUP   MEMBER  PROCESS  CLIENT-ID  ASSIGNMENTS\norders  m1  p1  c1  ACTIVE: 0:[0]\n",
        "> GROUP   COORDINATOR (ID)  STATE  #MEMBERS\n> orders  k:9092 (1)  Stable  2\n",
        "\nConsumer group 'orders' has no active members.\n",
    ],
)
def test_pasted_output_of_kafkas_tools_names_capture(text: str, tmp_path: Path) -> None:
    file = tmp_path / "group.txt"
    file.write_text(text)

    with pytest.raises(NoDecisionError, match="assignor capture"):
        decisions(file)
