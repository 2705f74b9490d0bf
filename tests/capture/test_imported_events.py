"""Files of ``import`` show the events of their sources."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.scenarios import DocumentFormatError, read_scenarios
from tests.capture.event_recordings import event_folder
from tests.capture.public_cases import log, run


def _shown(*sources: str) -> tuple[list[dict[str, Any]], Any]:
    history = json.loads(run("history", *sources, "--json").stdout)["histories"]
    check = json.loads(run("check", *sources, "--json").stdout)["groups"]
    events = [
        {key: value for key, value in event.items() if key != "evidence"}
        for each in history
        for event in each["events"]
    ]
    return events, [each["findings"] for each in check]


@pytest.mark.parametrize(
    "names",
    [
        (("05-poll-timeout", "node-a.log"), ("05-poll-timeout", "node-b.log")),
        (("01-ksqldb-thread-replaced", "ksqldb.log"),),
    ],
)
def test_a_file_of_logs_has_their_causes(names: tuple[tuple[str, str], ...], tmp_path: Path) -> None:
    logs = [log(*each) for each in names]
    out = str(tmp_path / "imported.jsonl")
    assert run("import", *logs, "--out", out).exit_code == 0

    assert _shown(out) == _shown(*logs)


@pytest.mark.parametrize("group", ["static", "outage", "moved", "streamed"])
def test_a_file_of_a_recording_has_its_events(group: str, tmp_path: Path) -> None:
    folder = str(event_folder(tmp_path, group))
    out = str(tmp_path / "imported.jsonl")
    assert run("import", folder, "--out", out).exit_code == 0

    assert _shown(out) == _shown(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"type": "poll_timed_otu"}, "unknown type 'poll_timed_otu' of event: did you mean"),
        ({"latest_ms": 0}, "before earliest_ms"),
        ({"instance": 7}, "instance"),
        ({"instance": None}, "instance"),
    ],
)
def test_a_damaged_event_is_refused_with_its_place(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    out = tmp_path / "imported.jsonl"
    run("import", log("05-poll-timeout", "node-a.log"), log("05-poll-timeout", "node-b.log"), "--out", str(out))
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    lines[-1]["source"]["events"][0] |= change
    out.write_text("".join(json.dumps(line) + "\n" for line in lines))

    with pytest.raises(DocumentFormatError, match=message) as caught:
        list(read_scenarios(str(out)))
    assert "events" in str(caught.value)
