"""The recorded part of an episode is checked by field, and kept whole."""

from __future__ import annotations

from typing import Any

import pytest

from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.simulation.streams.named_episodes import EPISODES

WINDOW = {"t_ms": 0, "end_ms": 9, "action": "crash", "tasks": {"0_0": [[1, 2]]}}
GENERATION = {"t_ms": -5, "assignment_t_ms": 0, "assigned": {"a": {"active": ["0_0"], "standby": []}}}


def read(recorded: Any) -> Any:
    document = {**EPISODES["rolling-restart"].document(), "recorded": recorded}
    return scenario_from_document(document, Place("(made)")).document["recorded"]


@pytest.mark.parametrize(
    "recorded", [None, {}, {"generations": [GENERATION], "probe": [WINDOW], "changes": [1], "more": [{"of": "it"}]}]
)
def test_what_is_told_is_kept(recorded: Any) -> None:
    assert read(recorded) == recorded


@pytest.mark.parametrize(
    ("recorded", "field"),
    [
        ([], "recorded"),
        ({"generations": [{**GENERATION, "assigned": 5}]}, r"recorded.generations\[0\].assigned"),
        ({"generations": [{**GENERATION, "assigned": {"a": {"active": []}}}]}, "standby"),
        ({"probe": [{**WINDOW, "tasks": {"0_0": [[1]]}}]}, r"recorded.probe\[0\].tasks"),
        ({"changes": ["soon"]}, r"recorded.changes\[0\]"),
    ],
)
def test_nonsense_is_refused_at_its_field(recorded: Any, field: str) -> None:
    with pytest.raises(DocumentFormatError, match=field):
        read(recorded)
