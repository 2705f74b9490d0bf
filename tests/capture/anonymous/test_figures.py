"""Pseudonyms change no figure that contains no name: captured and golden states scored with and without them."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_DNS, uuid5

import pytest

from assignment_api.plugins import config_sources, discover
from assignor_lab.groups.entries import kind_named
from assignor_lab.groups.runner.comparison import ComparisonRunner
from assignor_lab.groups.runner.rows import RowMaker
from assignor_lab.groups.work import WorkItem
from assignor_lab.scenarios.anonymous import NAMES_DECIDE, Pseudonyms, anonymous_document

DATA = Path(__file__).parents[2] / "data"
KEY = b"a key of the test's own"
#: Columns that are names, or times.
NAMES = ("scenario", "assumptions", "assign_ms", "assign_wall_ms", "build_ms", "metrics_ms")
PSEUDONYM = re.compile(r"(group|topic|store|client|host|rack|tag|value|connector)-[0-9a-f]{12}")
CLASSIC = ("high_availability", "sticky", "legacy_sticky")
FILES = {
    "golden/recorded/orders-2.scenarios.jsonl.gz": CLASSIC,
    "golden/recorded/tagged.scenarios.jsonl.gz": CLASSIC,
    "golden/recorded/warm.scenarios.jsonl.gz": CLASSIC,
    "golden/streams-group/sticky.scenarios.jsonl.gz": ("group_sticky", "group_sticky_4_4"),
}


def documents(file: str, most: int = 12) -> list[dict[str, Any]]:
    with gzip.open(DATA / file, "rt") as stream:
        lines = [json.loads(line) for line in stream]
    return lines[:: max(1, len(lines) // most)]


def rows(documents: Iterable[Mapping[str, Any]], assignors: Iterable[str]) -> list[dict[str, Any]]:
    registry, listed = discover(), list(documents)
    kind = kind_named(listed[0]["kind"])
    contest = ComparisonRunner(kind, [kind.contender(registry, kind.find(registry, name)) for name in assignors])
    maker = RowMaker(kind, kind.figures(registry, list(kind.metrics(registry)), config_sources(environ={}).effective()))
    found = [
        maker.row(answer)
        for number, document in enumerate(listed)
        for answer in contest.answers(WorkItem(number, 0, json.dumps(document), "states.jsonl", 1))
    ]
    return [{key: value for key, value in row.items() if key not in NAMES} for row in found]


def with_random_ids(document: dict[str, Any]) -> dict[str, Any]:
    """The document with UUIDs for members and processes of the streams protocol, as real ones have them."""
    text = json.dumps(document)
    for name in {member[key] for member in document.get("members", ()) for key in ("id", "process_id")}:
        text = text.replace(json.dumps(name), json.dumps(str(uuid5(NAMESPACE_DNS, name))))
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_every_figure_of_every_assignor_is_as_it_was(file: str) -> None:
    known = [with_random_ids(each) for each in documents(file)]
    names = Pseudonyms(KEY)
    assert rows([anonymous_document(each, names) for each in known], FILES[file]) == rows(known, FILES[file])


# --- Connect ----------------------------------------------------------------------------------------------


def one_worker_has_it(first: str, second: str) -> dict[str, Any]:
    nothing: dict[str, list[str]] = {"connectors": [], "tasks": []}
    members = [
        {"id": first, "owned": {**nothing, "tasks": ["files-0"]}, "static": {"connectors": None, "tasks": None}},
        {"id": second, "owned": nothing, "static": {"connectors": None, "tasks": None}},
    ]
    return {
        "format": 1, "kind": "connect", "id": "cluster", "protocol": "sessioned", "max_delay_ms": 0,
        "rounds": [{"time_ms": 1, "connectors": {"files": 1}, "members": members}],
        "source": {"group": "cluster"},
    }  # fmt: skip


def test_figures_of_connect_go_by_the_order_of_names_the_smallest_example() -> None:
    (before,) = rows([one_worker_has_it("a", "b")], ["connect_incremental"])
    (after,) = rows([one_worker_has_it("b", "a")], ["connect_incremental"])
    assert (before["jobs_per_worker_range"], after["jobs_per_worker_range"]) == (2.0, 0.0)


def test_a_connect_group_with_pseudonyms_says_so() -> None:
    made = anonymous_document(one_worker_has_it("a", "b"), Pseudonyms(KEY))
    assert made["assumptions"] == [NAMES_DECIDE]
    assert "assumptions" not in anonymous_document(
        documents("golden/streams-group/sticky.scenarios.jsonl.gz")[0], Pseudonyms(KEY)
    )


@pytest.mark.slow
def test_clients_that_a_source_names_get_their_pseudonyms() -> None:
    known = documents("golden/streams-group/sticky.scenarios.jsonl.gz")[0]
    member = known["members"][0]["id"]
    client = "orders-StreamThread-1-consumer"
    done = [{"time_ms": 1, "type": "corrupt", "client": "orders", "tasks": ["0_1"]}]
    names = Pseudonyms(KEY)
    made = anonymous_document({**known, "source": {"client_ids": {member: client}, "done": done}}, names)
    assert made["source"]["client_ids"] == {names.member(member): names.client(client)}
    assert made["source"]["done"] == [{**done[0], "client": names.client("orders")}]
    assert "orders" not in json.dumps(made["source"])


def test_settings_stay_and_names_in_them_and_in_members_are_pseudonyms() -> None:
    known = documents("golden/streams-group/sticky.scenarios.jsonl.gz")[0]
    settings = {
        "dsl.store.suppliers.class": "com.orders.Stores", "session.timeout.ms": 10_000,
        "streams.assignor.name": "orders", "streams.rack.aware.assignment.tags": "orders",
    }  # fmt: skip
    members = [{**known["members"][0], "client_id": "orders", "instance_id": "orders-1"}, *known["members"][1:]]
    names = Pseudonyms(KEY)
    made = anonymous_document({**known, "settings": settings, "members": members}, names)
    assert made["settings"] == {
        "session.timeout.ms": 10_000, "streams.rack.aware.assignment.tags": names.tag("orders"),
    }  # fmt: skip
    assert made["members"][0]["client_id"] == names.client("orders")
    assert "orders" not in json.dumps(made)


def test_ids_of_a_clients_members_are_pseudonyms() -> None:
    known = documents("golden/recorded/plain-ha.scenarios.jsonl.gz")[0]
    told = {"orders-consumer": {"client_id": "orders", "instance_id": None}}
    clients = [{**known["clients"][0], "members": told}, *known["clients"][1:]]
    names = Pseudonyms(KEY)
    made = anonymous_document({**known, "clients": clients}, names)["clients"][0]["members"]
    assert made == {names.member("orders-consumer"): {"client_id": names.client("orders"), "instance_id": None}}
