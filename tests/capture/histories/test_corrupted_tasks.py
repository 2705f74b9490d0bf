"""Tasks that instances logged as corrupted, as events of a history's episode."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from assignor_lab.capture.histories.history import read_histories
from assignor_lab.capture.histories.history_episode import history_episode
from assignor_lab.capture.logs.import_log import import_log
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.scenarios.anonymous import anonymous_document, read_pseudonyms
from assignor_lab.simulation.streams.formats.episodes import read_episode
from tests.capture.captured_logs import logs

#: The texts of ``StreamThread.runLoop``: a set of tasks since 2.8; before that, tasks with their changelogs.
_LINES = {
    "[0_0, 1_2]": ["0_0", "1_2"],
    "{0_0=[app-counts-changelog-0]}": ["0_0"],
}


def changed(folder: Path, listed: str) -> list[str]:
    """Logs of a group; one has a report of corrupted tasks by i1 five minutes after the beginning."""
    files = []
    for log in logs("tagged"):
        lines = gzip.decompress(log.read_bytes()).decode().splitlines()
        if log.name.startswith("i1"):
            place = next(number for number, line in enumerate(lines) if "05:46:" in line)
            stamp = lines[place].partition("05:46:")[0]
            lines.insert(
                place,
                f"{stamp}05:45:59,000 WARN stream-thread [i1-StreamThread-1] Detected the states of tasks {listed} are "
                "corrupted. Will close the task as dirty and re-create and bootstrap from scratch. "
                "(org.apache.kafka.streams.processor.internals.StreamThread)",
            )
        (folder / log.name.removesuffix(".gz")).write_text("\n".join(lines) + "\n")
        files.append(str(folder / log.name.removesuffix(".gz")))
    return files


@pytest.mark.parametrize("listed", _LINES)
def test_corrupted_tasks_in_an_instances_log_are_an_event(listed: str, tmp_path: Path) -> None:
    documents = list(import_log(changed(tmp_path, listed)))
    scenarios = [scenario_from_document(each, Place("log", number)) for number, each in enumerate(documents, 1)]
    (history,) = read_histories(scenarios)
    document = history_episode(history, {"session_timeout_ms": 10_000})
    read_episode(scenario_from_document(document, Place("past")))
    (event,) = [each for each in document["events"] if each["type"] == "corrupt"]
    assert (event["client"], event["tasks"]) == ("i1", _LINES[listed])


def test_pseudonyms_keep_the_tasks(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("secret " * 10)
    documents = list(import_log(changed(tmp_path, "[0_0, 1_2]")))
    hidden = [anonymous_document(each, read_pseudonyms(key)) for each in documents]
    done = [each for document in hidden for each in document["source"].get("done", ()) if each["type"] == "corrupt"]
    assert [each["tasks"] for each in done] == [["0_0", "1_2"]]
    assert "i1" not in json.dumps(done)
