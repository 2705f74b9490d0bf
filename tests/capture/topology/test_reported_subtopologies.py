"""A description, compared with the sub-topologies of a streams group."""

from __future__ import annotations

from pathlib import Path

import pytest

from assignor_lab.capture.histories.streams_epochs import recorded_epochs
from assignor_lab.capture.logs.topology_file import described_topology
from assignor_lab.capture.recorded.kept_records import read_kept_records
from assignor_lab.capture.topology.description import parse_topology
from assignor_lab.capture.topology.reported_subtopologies import ReportedSubTopology, conflicts_with_reported
from assignor_lab.scenarios.topology_provenance import OWN_USED, TOPOLOGY_CONFLICT
from tests.capture.test_topology_recordings import CLASSIC, STREAMS_ONLY_CLASSIC
from tests.capture.topologies import PATTERN
from tests.capture.topology_recordings import STREAMS, run, unpacked

TEXT = """
Sub-topology: 0
  Source: KSTREAM-SOURCE-0000000000 (topics: [in])
    --> count
  Processor: count (stores: [counts])
    <-- KSTREAM-SOURCE-0000000000
"""
COUNTS = ReportedSubTopology("0", ("in",), ("app-counts-changelog",))


def conflicts(*told: ReportedSubTopology) -> list[str]:
    return [
        each.removeprefix(TOPOLOGY_CONFLICT).strip()
        for each in conflicts_with_reported(parse_topology(TEXT), "app", told)
    ]


@pytest.mark.parametrize("name", [f"{name}{STREAMS}" for name in CLASSIC if name not in STREAMS_ONLY_CLASSIC])
def test_the_description_of_the_application_has_no_conflict(name: str) -> None:
    found = unpacked()
    *_, epoch = recorded_epochs(read_kept_records(found.past(name) / "records.jsonl", None), print)
    assert epoch.subtopologies
    assert conflicts_with_reported(described_topology(Path(found.topology(name)[1])), name, epoch.subtopologies) == []


def test_a_description_of_another_application_is_named() -> None:
    found = unpacked()
    noted = run("history", str(found.past(f"many{STREAMS}")), *found.topology("stale")).stderr
    assert "the group has sub-topologies" in noted


def test_an_unlogged_store_is_no_conflict() -> None:
    assert conflicts(ReportedSubTopology("0", ("in",), ())) == []
    assert conflicts(COUNTS) == []


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (ReportedSubTopology("0", ("other",), ()), "the group reads other, <text> has in"),
        (
            ReportedSubTopology("0", ("in",), ("app-x-changelog",)),
            "the group logs to app-x-changelog, <text> has counts",
        ),
    ],
)
def test_topics_that_differ_are_named(told: ReportedSubTopology, sentence: str) -> None:
    assert conflicts(told) == [f"sub-topology 0: {sentence}: the group's own are used"]


def test_missing_sub_topologies_are_named_in_both_directions() -> None:
    (missing,) = conflicts(COUNTS, ReportedSubTopology("1", ("b",), ()))
    assert missing.startswith("the group has sub-topologies 1, which <text> does not have")
    assert conflicts() == ["<text> has sub-topologies 0, which the group does not have: the group's own are used"]


@pytest.mark.parametrize(("read", "is_matched"), [("orders-eu", True), ("refunds", False)])
def test_topics_that_no_pattern_matches_are_named(read: str, is_matched: bool) -> None:
    told = ReportedSubTopology("0", (read,), ())
    found = list(conflicts_with_reported(parse_topology(PATTERN), "app", [told]))
    sentence = f"{TOPOLOGY_CONFLICT} sub-topology 0: the group reads {read}, <text> has pattern orders-.*: {OWN_USED}"
    assert found == ([] if is_matched else [sentence])
