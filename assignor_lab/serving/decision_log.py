"""The log of decisions: a bounded folder of what was asked, as scenarios, and what came of it.

``states-N.jsonl`` are scenario files, with what Kafka was given under ``observed`` where that is known;
``decisions-N.jsonl`` has a line for each state, in the same order. What is being decided lies beside them in a file of
its own, so that it is not lost where this process is killed meanwhile.
"""

from __future__ import annotations

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

__all__ = ["DecisionLog", "Entry"]

#: Parts that a full folder has.
PARTS = 8
_STATES = re.compile(r"states-([0-9]{6,12})\.jsonl\Z")
_ASKING = re.compile(r"asking-([0-9]{6,12})\.json\Z")


class Entry:
    """One decision on its way into the log; :meth:`close` writes it, once."""

    def __init__(self, log: DecisionLog, part: Path, document: Mapping[str, Any], group: str) -> None:
        self._log = log
        self._part = part
        self._document = document
        self._group = group
        #: The result line of the assignor; ``None``: there is none.
        self.result: dict[str, Any] | None = None
        #: Milliseconds that it took.
        self.ms: float | None = None
        #: What the application says that became of it; ``None``: it has not said.
        self.verdict: Mapping[str, Any] | None = None

    def close(self) -> None:
        """Writes what is known by now."""
        self._log.add(self._document, self._group, self.result, self.ms, self.verdict)
        self._log.drop(self._part)


class DecisionLog:
    """A folder; a folder that is full loses its oldest part.

    Args:
        folder: Where it is; it is made if need be. One process writes it at a time.
        most_bytes: Bytes of all parts together.
        on_problem: Takes why nothing can be written, in a sentence, once for each cause.
    """

    def __init__(self, folder: Path, most_bytes: int, on_problem: Callable[[str], None]) -> None:
        self._folder = folder
        self._part_bytes = max(most_bytes // PARTS, 1)
        self._on_problem = on_problem
        self._said: set[str] = set()
        self._guard = threading.Lock()
        with naming_failures(folder):
            folder.mkdir(parents=True, exist_ok=True)
        self._number = max(self._numbers(), default=1)
        self._asked = 0
        for left in sorted(folder.glob("asking-*.json")):
            self._take_over(left)

    def asked(self, document: Mapping[str, Any], group: str) -> Entry:
        """Keeps what is asked now.

        Args:
            document: A scenario's.
            group: Who asks.
        """
        with self._guard:
            self._asked += 1
            part = self._folder / f"asking-{self._asked:06}.json"
        self._guarded(lambda: part.write_bytes(canonical_line({"group": group, "state": document})))
        return Entry(self, part, document, group)

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
            document: What was asked.
            group: Who asked.
            result: The result line; ``None``: there is none.
            ms: How long the answer took.
            verdict: What the application says of it: ``by``, ``cause``, ``message`` and, where another decided,
                ``assignment``.
        """
        told = dict(verdict or {})
        state = canonical_line(_with_observed(document, result, told))
        decision = {
            "id": document["id"],
            "group": group,
            "time_ms": document.get("source", {}).get("time_ms"),
            "by": told.get("by"),
            "cause": told.get("cause"),
            "message": told.get("message"),
            "ms": None if ms is None else round(ms, 3),
            "result": result,
        }
        with self._guard:
            self._guarded(lambda: self._append(state, canonical_line(decision)))

    def drop(self, part: Path) -> None:
        """Removes what was kept while it was asked."""
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

    def _numbers(self) -> list[int]:
        return [int(match[1]) for path in self._folder.iterdir() if (match := _STATES.match(path.name))]

    def _take_over(self, left: Path) -> None:
        """Adds what a process that was killed was asked last."""
        if _ASKING.match(left.name) is None:
            return
        try:
            kept = json.loads(left.read_bytes())
            state = scenario_from_document(kept["state"], Place(str(left))).document
            group = str(kept["group"])
        except (OSError, ValueError, KeyError, TypeError, DocumentFormatError):
            # It was killed while it wrote this.
            pass
        else:
            ended = "the process that served it ended before it was decided"
            self.add(state, group, None, None, {"message": ended})
        self.drop(left)

    def _guarded(self, write: Callable[[], object]) -> None:
        """Writes; a full disk stops no decision."""
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
    """The state with what Kafka was given, where that is known and can be part of a scenario."""
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
