from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.documents.edits import Edit, changed, entry_like
from assignor_lab.scenarios import read_scenarios
from assignor_lab.scenarios.formats.state_parts import (
    part_document,
    state_clients,
    state_members,
    state_starts,
    state_tasks,
    with_partition_racks,
)

GOLDEN = Path(__file__).parents[1] / "data" / "golden"
STATES = ("recorded/warm", "recorded/tagged", "streams/small", "edge/drawn")


@pytest.mark.parametrize("name", STATES)
def test_clients_and_tasks_are_written_as_they_were_read(name: str) -> None:
    for scenario in islice(read_scenarios(GOLDEN / f"{name}.scenarios.jsonl.gz"), 3):
        document = scenario.document
        assert list(map(part_document, state_clients(document))) == document["clients"]
        assert list(map(part_document, state_tasks(document))) == document["tasks"]


def test_known_names_of_members_are_written_too() -> None:
    (scenario,) = islice(read_scenarios(GOLDEN / "recorded" / "warm.scenarios.jsonl.gz"), 1)
    first, *_ = scenario.document["clients"]
    named = {**first, "members": {first["consumers"][0]: {"client_id": "a-1", "instance_id": None}}}
    (client,) = state_clients({"clients": [named]})
    assert client.members[first["consumers"][0]].client_id == "a-1"
    assert part_document(client) == named


def test_members_have_the_order_of_the_document() -> None:
    for scenario in islice(read_scenarios(GOLDEN / "streams-group" / "sticky.scenarios.jsonl.gz"), 3):
        assert [member.id for member in state_members(scenario.document)] == list(scenario.member_ids)


def test_racks_leave_the_order_of_keys_in_a_document() -> None:
    partition = {"racks": [], "topic": "t", "source": True, "changelog": False, "partition": 0}
    task = {"partitions": [partition], "id": "0_0", "stateful": False, "logged": False, "stores": []}
    document: dict[str, Any] = {"tasks": [task, {**task, "id": "0_1", "partitions": None}]}
    assert json.dumps(with_partition_racks(document, state_tasks(document))) == json.dumps(document)


def test_only_starts_of_an_episode_are_starts() -> None:
    events = [{"type": "start", "client": "a", "threads": 2, "host": "h:1"}, {"type": "stop", "client": "a"}]
    (start,) = state_starts({"events": events})
    assert (start.client, start.host, start.rack, dict(start.tags)) == ("a", "h:1", None, {})


def test_an_edit_leaves_the_document_as_it_is() -> None:
    document = {"clients": [{"process_id": "a", "lags": {"0_0": 1}}, {"process_id": "b", "lags": None}]}
    before = json.dumps(document)
    added = entry_like(document, "clients", 0, process_id="c")
    edits = [Edit(("clients", 0), remove=True), Edit(("clients", 2), added), Edit(("clients", 1, "lags"), {})]
    made = changed(document, edits)
    assert made["clients"] == [{"process_id": "b", "lags": {}}, {"process_id": "c", "lags": {"0_0": 1}}]
    assert json.dumps(document) == before
