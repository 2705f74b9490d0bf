"""The log of decisions: a bounded folder of states as scenarios, with the results.

``states-N.jsonl`` are scenario files, with Kafka's received answer under ``observed`` if known. ``decisions-N.jsonl``
has a line for each state, in the same order. A decision in progress has its own file, so that it survives a kill of
this process.
"""

from __future__ import annotations

import fcntl
import json
import re
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from assignor_lab.documents.durable import naming_failures
from assignor_lab.documents.errors import DocumentFormatError, OutputFileError, Place
from assignor_lab.documents.writer import canonical_line
from assignor_lab.scenarios import scenario_from_document
from assignor_lab.serving.errors import ServingError

__all__ = ["DecisionLog", "DecisionEntry"]

PARTS = 8
MAX_HELD = 20
#: Text for a decision whose process was killed, without a report of the application.
KILLED = "the process that served it ended before it was decided"
_STATES = re.compile(r"states-([0-9]{6,12})\.jsonl\Z")
_ASKING = re.compile(r"asking-([0-9]{6,12})\.json\Z")


class DecisionEntry:
    """One decision on its way into the log; :meth:`close` writes it, once."""

    def __init__(self, log: DecisionLog, part: Path, document: Mapping[str, Any], group: str) -> None:
        self._log = log
        self._part = part
        self._document = document
        self._group = group
        self.result: dict[str, Any] | None = None
        self.ms: float | None = None
        self.verdict: Mapping[str, Any] | None = None
        self.supposed: str | None = None
        self.key = (group, str(document["id"]))

    def close(self) -> None:
        if self.verdict is None:
            self._log.hold(self)
        else:
            self.write()

    def write(self) -> None:
        verdict = {"message": self.supposed} if self.verdict is None else self.verdict
        self._log.add(self._document, self._group, self.result, self.ms, verdict)
        self._log.drop(self._part)


class DecisionLog:
    """A folder that loses its oldest part when it is full.

    Raises:
        OutputFileError: if the folder cannot be created.
        ServingError: if another process writes there.
    """

    def __init__(self, folder: Path, most_bytes: int, on_problem: Callable[[str], None]) -> None:
        self._folder = folder
        self._part_bytes = max(most_bytes // PARTS, 1)
        self._on_problem = on_problem
        self._said: set[str] = set()
        self._guard = threading.Lock()
        with naming_failures(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = (folder / "lock").open("ab")
        try:
            # The lock ends with the process in any case.
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise ServingError(
                f"{folder}: another process keeps its decisions there: name another folder (--log), or stop it first"
            ) from None
        self._number = max(self._numbers(), default=1)
        self._asked = 0
        self._held: dict[tuple[str, str], DecisionEntry] = {}
        for left in sorted(folder.glob("asking-*.json")):
            self._take_over(left)

    def asked(self, document: Mapping[str, Any], group: str) -> DecisionEntry:
        with self._guard:
            self._asked += 1
            part = self._asking(self._asked)
        self._guarded(lambda: part.write_bytes(canonical_line({"group": group, "state": document})))
        return DecisionEntry(self, part, document, group)

    def hold(self, entry: DecisionEntry) -> None:
        """Keeps a decision for its application's report; the oldest one is written without."""
        with self._guard:
            self._held[entry.key] = entry
            first = None if len(self._held) <= MAX_HELD else self._held.pop(next(iter(self._held)))
        if first is not None:
            first.write()

    def missed(self, document: Mapping[str, Any], group: str, verdict: Mapping[str, Any]) -> None:
        """Adds a late report on a decision, made here or elsewhere."""
        with self._guard:
            held = self._held.pop((group, str(document["id"])), None)
        if held is None:
            self.add(document, group, None, None, verdict)
            return
        held.verdict = verdict
        held.write()

    def close(self) -> None:
        with self._guard:
            waiting, self._held = list(self._held.values()), {}
        for entry in waiting:
            entry.write()
        self.leave()

    def leave(self) -> None:
        """Releases the folder without writing, as a kill does."""
        self._lock.close()

    def add(
        self,
        document: Mapping[str, Any],
        group: str,
        result: Mapping[str, Any] | None,
        ms: float | None,
        verdict: Mapping[str, Any] | None,
    ) -> None:
        """Adds a decision.

        Args:
            verdict: The application's report: ``by``, ``ms``, and for a fallback ``cause``, ``message``, ``assignment``
                and ``followup``.
        """
        report = dict(verdict or {})
        state = canonical_line(_with_observed(document, result, report))
        decision = {
            "id": document["id"],
            "group": group,
            "time_ms": document.get("source", {}).get("time_ms"),
            "by": report.get("by"),
            "cause": report.get("cause"),
            "message": report.get("message"),
            "ms": report.get("ms"),
            "python_ms": None if ms is None else round(ms, 3),
            "result": result,
        }
        with self._guard:
            self._guarded(lambda: self._append(state, canonical_line(decision)))

    def drop(self, part: Path) -> None:
        self._guarded(lambda: part.unlink(missing_ok=True))

    def _append(self, state: bytes, decision: bytes) -> None:
        for name, content in (("states", state), ("decisions", decision)):
            with (self._folder / f"{name}-{self._number:06}.jsonl").open("ab") as stream:
                stream.write(content)
        if sum(path.stat().st_size for path in self._parts(self._number)) < self._part_bytes:
            return
        self._number += 1
        for number in sorted(self._numbers())[: -(PARTS - 1)]:
            for path in self._parts(number):
                path.unlink(missing_ok=True)

    def _parts(self, number: int) -> list[Path]:
        return [self._folder / f"{name}-{number:06}.jsonl" for name in ("states", "decisions")]

    def _asking(self, number: int) -> Path:
        return self._folder / f"asking-{number:06}.json"

    def _numbers(self) -> list[int]:
        return [int(match[1]) for path in self._folder.iterdir() if (match := _STATES.match(path.name))]

    def _take_over(self, left: Path) -> None:
        """Adopts the last question of a killed process."""
        if _ASKING.match(left.name) is None:
            return
        try:
            kept = json.loads(left.read_bytes())
            state = scenario_from_document(kept["state"], Place(str(left))).document
            group = str(kept["group"])
        except (OSError, ValueError, KeyError, TypeError, DocumentFormatError):
            # The process was killed while it wrote this.
            pass
        else:
            self._asked += 1
            part = self._asking(self._asked)
            self._guarded(lambda: left.replace(part))
            entry = DecisionEntry(self, part, state, group)
            entry.supposed = KILLED
            self.hold(entry)
            return
        self.drop(left)

    def _guarded(self, write: Callable[[], object]) -> None:
        try:
            with naming_failures(self._folder):
                write()
        except OutputFileError as error:
            if str(error) not in self._said:
                self._said.add(str(error))
                self._on_problem(f"decisions are not logged: {error}")


def _with_observed(
    document: Mapping[str, Any], result: Mapping[str, Any] | None, verdict: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The state with Kafka's received answer, if it is known and valid in a scenario."""
    given, followup = verdict.get("assignment"), verdict.get("followup")
    if verdict.get("by") == "assignor" and result is not None:
        given, followup = result["assignment"], result["followup"]
    if given is None:
        return document
    whole = {**document, "observed": {"assignment": given, "followup": followup, "threads": None}}
    try:
        return scenario_from_document(whole, Place("observed")).document
    except DocumentFormatError:
        return document
