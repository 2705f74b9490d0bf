"""An instance without a disk and a client id is found again by its host."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.capture.event_recordings import event_folder, event_history, run

#: Of a member of the application's own client ids: the host behind its client id.
_HOST = re.compile("(" + b"-consumer".hex() + ")000a" + b"/127.0.0.1".hex())
_LOOPING = b"looping-".hex()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The recorded crash loop, with the looping instance on a machine of its own."""
    made = event_folder(tmp_path, "looping")
    other = b"/127.0.0.2".hex()
    lines = []
    for line in (made / "records.jsonl").read_text().splitlines():
        document = json.loads(line)
        value = document.get("value_hex") or ""
        # Each member's client id stands before its host.
        parts = _HOST.split(value)
        for place in range(1, len(parts), 2):
            of_loop = _LOOPING in parts[place - 1][-120:]
            parts[place] += "000a" + (other if of_loop else b"/127.0.0.1".hex())
        if value:
            document["value_hex"] = "".join(parts)
        lines.append(json.dumps(document))
    (made / "records.jsonl").write_text("\n".join(lines) + "\n")
    return made


def test_a_crash_loop_has_one_instance_with_one_name(folder: Path) -> None:
    history = event_history(folder)

    assert [each.name for each in history.instances] == ["c1", "127.0.0.2"]
    assert len(history.instances[1].processes) == 6
    assert "127.0.0.2 left or restarted" in run("check", str(folder)).stdout


def test_instances_of_one_machine_keep_their_own_names(tmp_path: Path) -> None:
    history = event_history(event_folder(tmp_path, "looping"))

    assert len(history.instances) == 7
