"""Recordings of many small applications, one for each case of topologies."""

from __future__ import annotations

import functools
import io
import json
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import attrs
from typer.testing import CliRunner

from assignment_api.plugins import config_sources
from assignor_lab.capture.histories.flight_recordings import recorded_decisions
from assignor_lab.cli.app import build_app
from tests.capture.captured_logs import CAPTURES

__all__ = ["ARCHIVE", "STREAMS", "VARIANTS", "TopologyRecordings", "pack", "run", "unpacked"]

ARCHIVE = CAPTURES / "topologies" / "recordings.tar.xz"
#: Further applications, of the classic protocol alone.
VARIANTS = ARCHIVE.with_name("variants.tar.xz")
#: Suffix of the names of applications with the streams protocol.
STREAMS = ".streams"
_APPLICATIONS, _PAST, _LOGS, _ANSWERS = "applications", "past", "logs", "answers.jsonl"


@attrs.frozen
class TopologyRecordings:
    """A folder of recordings.

    Args:
        root: The folder: `applications/NAME` (topology, configuration, Kafka's own view), `past/NAME` (of `record`),
            `logs/NAME-INSTANCE.log`, and `answers.jsonl` (of `capture --keep-answers`).
    """

    root: Path

    def names(self) -> list[str]:
        return sorted(path.parent.name for path in self.root.glob(f"{_APPLICATIONS}/*/topology.txt"))

    @property
    def answers(self) -> Path:
        return self.root / _ANSWERS

    def past(self, name: str) -> Path:
        return self.root / _PAST / name

    def logs(self, name: str) -> list[Path]:
        return sorted((self.root / _LOGS).glob(f"{name}-i?.log"))

    def topology(self, name: str) -> list[str]:
        return ["--topology", str(self.root / _APPLICATIONS / name / "topology.txt")]

    def config(self, name: str) -> list[str]:
        return ["--config", str(self.root / _APPLICATIONS / name / "application.properties")]

    def subtopologies(self, name: str) -> dict[str, dict[str, list[str]]]:
        found: dict[str, dict[str, list[str]]] = json.loads(
            (self.root / _APPLICATIONS / name / "truth.json").read_text()
        )
        return found

    def decisions(self, name: str, *, topology: bool = True) -> list[dict[str, Any]]:
        """The decisions of a recording."""
        config = config_sources(Path(self.config(name)[1]), environ={}, start=self.root).above
        file = Path(self.topology(name)[1]) if topology else None
        return list(recorded_decisions(self.past(name) / "records.jsonl", config, file))

    def wrong_tasks(self, name: str, document: dict[str, Any]) -> list[str]:
        """Tasks of a scenario with the topology that differ from those of the running Kafka Streams."""
        counts = self._partitions(name)
        found = []
        for task in document["tasks"]:
            subtopology, _, number = task["id"].partition("_")
            known = self.subtopologies(name)[subtopology]
            roles = {
                topic: (topic in known["sources"], topic in known["changelogs"])
                for topic in (*known["sources"], *known["changelogs"])
                if int(number) < counts[topic]
            }
            expected = (sorted(known["stores"]), bool(known["changelogs"]), roles)
            shown = {each["topic"]: (each["source"], each["changelog"]) for each in task["partitions"] or ()}
            if (sorted(task["stores"] or ()), task["logged"], shown) != expected:
                found.append(f"{task['id']}: {task}, not {expected}")
        return found

    def _partitions(self, name: str) -> dict[str, int]:
        *_, latest = (self.past(name) / "samples.jsonl").read_text().splitlines()
        return {topic: len(ends) for topic, ends in json.loads(latest)["ends"].items()}

    def checked(self, *arguments: str) -> tuple[int, list[str]]:
        told = json.loads(run("history", *arguments, "--check", "--json").stdout)["checked"]
        return told["decisions"], [each["difference"] for each in told["differences"]]


def run(*arguments: str) -> Any:
    """The result of a command; only `history --check` may end with 1."""
    told = CliRunner().invoke(build_app(list(arguments)), list(arguments), catch_exceptions=False)
    assert told.exit_code == 0 or "--check" in arguments, told.stderr
    return told


@functools.cache
def unpacked(file: Path = ARCHIVE) -> TopologyRecordings:
    folder = tempfile.TemporaryDirectory(prefix="topologies-")
    _KEPT.append(folder)
    with tarfile.open(file) as archive:
        archive.extractall(folder.name, filter="data")
    return TopologyRecordings(Path(folder.name))


_KEPT: list[tempfile.TemporaryDirectory[str]] = []


def pack(root: Path) -> None:
    """Copies a folder of recordings into the test data."""
    recordings = TopologyRecordings(root)
    ARCHIVE.parent.mkdir(exist_ok=True)

    files = [recordings.answers]
    for name in recordings.names():
        files += sorted(file for file in (root / _APPLICATIONS / name).iterdir() if file.is_file())
        files += [*sorted(recordings.past(name).iterdir()), *recordings.logs(name)]
    with tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
        for file in files:
            # Logs contain the names of the state folders.
            content = file.read_bytes().replace(str(root).encode(), b"/recordings")
            entry = tarfile.TarInfo(str(file.relative_to(root)))
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
