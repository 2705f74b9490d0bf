"""The command ``assignor serve-assignor`` with the moody assignor, in its own process."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.connect.real_kafka import until

ASSIGNOR = "moody:Moody"
_SOURCE = Path(__file__).with_name("moody.py")


class Served:
    """One served assignor; its files are in ``folder``."""

    def __init__(self, folder: Path, assignor: str = ASSIGNOR) -> None:
        self.folder = folder
        self.assignor = assignor
        folder.mkdir(exist_ok=True)
        shutil.copy(_SOURCE, folder / "moody.py")
        self.port_file = folder / "port"
        self.log = folder / "log"
        self.said = folder / "said"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Waits until the server accepts requests."""
        command = [sys.executable, "-m", "assignor_lab.cli.main", "serve-assignor", self.assignor]
        before = self._said().count(" is served at port ")
        with self.said.open("ab") as said:
            self.process = subprocess.Popen(
                [*command, "--port-file", str(self.port_file), "--log", str(self.log)], cwd=self.folder, stderr=said
            )
        until(lambda: self._said().count(" is served at port ") > before, "the served assignor")

    def mood(self, mood: str) -> None:
        part = self.folder / "mood.part"
        part.write_text(mood)
        part.replace(self.folder / "mood")

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def kill_while_it_asks(self) -> None:
        # The file exists for half a second, which a busy machine may miss.
        until(lambda: any(self.log.glob("asking-*.json")), "a question", pause_s=0.005)
        self.kill()

    def stop(self) -> int:
        """Ends it cleanly; returns its exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def close(self) -> None:
        if self.process is not None:
            self.kill()

    def is_asked_about(self, group: str) -> bool:
        parts = list(self.log.glob("asking-*.json"))
        return any(f'{{"group":"{group}"' in part.read_text() for part in parts)

    def decisions(self) -> list[dict[str, Any]]:
        return self._lines("decisions")

    def states(self) -> list[dict[str, Any]]:
        return self._lines("states")

    def was_told(self, what: str) -> bool:
        """True if the application reported so for one of its decisions."""
        return any(what in (each["message"] or "") for each in self.decisions())

    def _lines(self, name: str) -> list[dict[str, Any]]:
        parts = sorted(self.log.glob(f"{name}-*.jsonl"))
        return [json.loads(line) for part in parts for line in part.read_text().splitlines()]

    def _said(self) -> str:
        return self.said.read_text() if self.said.exists() else ""
