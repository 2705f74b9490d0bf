"""Steps of the strategies of plain consumers: the same answer, and the owner of each partition."""

from __future__ import annotations

import gzip
import json
from itertools import islice
from pathlib import Path

import pytest

from assignment_api import AssignorLabError
from assignment_api.consumer import PartitionAssignment
from assignment_api.plugins import discover
from assignment_api.tracing import Traced
from assignor_lab.scenarios import Place, scenario_from_document
from builtin_assignors._rule_texts import RULE_TEXTS

GOLDEN = Path(__file__).parents[1] / "data" / "golden" / "consumer"
STATES = {
    "consumer-assignor": ("consumer-small", ("range", "roundrobin", "sticky", "cooperative_sticky")),
    "consumer-group-assignor": ("group-small", ("group_uniform", "group_range")),
    "share-group-assignor": ("share-small", ("simple",)),
}


@pytest.mark.parametrize(
    ("kind", "file", "name"), [(kind, file, name) for kind, (file, names) in STATES.items() for name in names]
)
def test_steps_lead_to_the_same_answer_and_name_each_owner(kind: str, file: str, name: str) -> None:
    prefix = "share_" if kind.startswith("share") else "consumer_"
    plugin = discover().partition_assignor(kind, f"{prefix}{name}").plugin
    (path,) = GOLDEN.glob(f"{file}.scenarios.jsonl*")
    seen = 0
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in islice(lines, 0, 2_600, 26):
            group = scenario_from_document(json.loads(line), Place(file)).content
            try:
                expected = plugin.factory().assign(group)
            except AssignorLabError:
                continue
            traced: Traced[PartitionAssignment] = getattr(plugin.factory(), "traced")(group)  # noqa: B009
            assert traced.answer == expected
            owners = {(step.task, step.clients[0]) for step in traced.steps if step.rule != "cs-wait"}
            names = {key: topic.name for key, topic in group.topics.items()}
            assert owners == {
                (f"{names.get(topic, topic)}-{number}", member)
                for member, held in expected.members.items()
                for topic, numbers in held.items()
                for number in numbers
            }
            assert {step.rule for step in traced.steps} <= RULE_TEXTS.keys()
            seen += len(owners)
    assert seen > 100
