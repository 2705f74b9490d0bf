"""Corner cases recorded from Kafka 4.3.1's released classes have Kafka's answers."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from assignment_api.plugins import config_sources, discover
from assignor_lab.groups.runner.result_lines import AnswerOptions, answerer
from assignor_lab.scenarios import Place, scenario_from_document
from parity.comparison import comparable

EDGE = Path(__file__).parents[1] / "data" / "golden" / "edge"
NAMES = sorted(path.name.split(".")[0] for path in EDGE.glob("*.results.jsonl.gz"))


def lines(name: str) -> list[dict[str, Any]]:
    with gzip.open(EDGE / f"{name}.jsonl.gz", "rt", encoding="utf-8") as read:
        return [json.loads(line) for line in read]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_corner_is_answered_as_kafka_answers_it(name: str) -> None:
    documents = {document["id"]: document for document in lines(f"{name}.scenarios")}
    sources, registry = config_sources(None, ["kafka.release=4.3.1"], environ={}), discover()
    wrong = []
    for expected in lines(f"{name}.results"):
        scenario = scenario_from_document(documents[expected["id"]], Place(name, 1))
        options = AnswerOptions(sources, threads=expected["threads"] is not None)
        got = answerer(expected["assignor"], registry, options)(scenario)
        if comparable(got) != comparable(expected):
            wrong.append((expected["id"], expected["assignor"]))
    assert wrong == []


def test_every_corner_has_rows() -> None:
    assert {name: len(lines(f"{name}.results")) for name in NAMES}.items() >= {
        "cost-overflow": 7,
        "optimize-standby-unlogged": 12,
        "sticky-threads-tree-bins": 1,
        "sticky-tree-bins": 1,
    }.items()
