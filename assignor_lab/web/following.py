"""A growing recording: read again after each growth, with its status."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock

import attrs

from assignment_api import AssignorLabError
from assignor_lab.capture.histories.past_files import files_beside
from assignor_lab.capture.recorded.kept_records import RECORDS
from assignor_lab.documents.wording import plural
from assignor_lab.web.states import OpenedStates

__all__ = ["FollowedRecording", "Pulse"]

#: Seconds without a write after which ``record`` counts as stopped; it notes its progress about each second.
QUIET_S = 15.0
#: The pause between two readings is ten times the processor time of reading, and at least a second.
_LEAST_S, _OTHERS_PER_READING = 1.0, 10
_MANY = "recording.jsonl"


@attrs.frozen
class Pulse:
    """The status of a recording.

    Args:
        word: ``recording``, ``quiet``, ``empty``, ``unreadable`` or ``gone``.
        sentence: The same as a sentence, with the time of the last record.
        version: Changes when there is more to show.
    """

    word: str
    sentence: str
    version: int


class FollowedRecording:
    """One group's folder of ``assignor record``."""

    def __init__(
        self, name: str, records: Path, read: Callable[[], OpenedStates], now: Callable[[], float] = time.time
    ) -> None:
        self.name = name
        self._records = records
        self._read = read
        self._now = now
        self._lock = Lock()
        self._states: OpenedStates | None = None
        self._digest = ""
        self._seen: object = None
        self._not_before = 0.0
        self._fault: str | None = None
        self._is_empty = True
        self._version = 0

    @property
    def states(self) -> OpenedStates | None:
        """Its present states; ``None``: no decision yet."""
        with self._lock:
            self._look()
            return self._states

    def pulse(self) -> Pulse:
        with self._lock:
            self._look()
            return Pulse(*self._word(), self._version)

    def _look(self) -> None:
        written = self._written()
        now = self._now()
        if written is None or written == self._seen or now < self._not_before:
            return
        begun = time.thread_time()
        try:
            states = self._read()
        except AssignorLabError as error:
            self._fault = str(error)
        else:
            self._fault = None
            if states.digest != self._digest:
                self._states, self._digest = states, states.digest
                self._version += 1
        self._seen = written
        self._not_before = now + max(_LEAST_S, (time.thread_time() - begun) * _OTHERS_PER_READING)

    def _written(self) -> object:
        """Changes with each write; ``None``: the file does not exist."""
        try:
            stats = [file.stat() for file in (self._records, *files_beside(self._records))]
        except OSError:
            return None
        return tuple((stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats)

    def _word(self) -> tuple[str, str]:
        shown = "" if self._states is None else " The page shows an earlier state."
        if self._written() is None:
            return "gone", f"{RECORDS} is not there any more.{shown}"
        ago = max(0.0, self._now() - self._heard())
        words = f"something was written {_ago(ago)} ago"
        if self._fault is not None:
            word = "empty" if self._states is None else "unreadable"
            return word, f"It cannot be shown as it is now ({words}): {self._fault}{shown}"
        count = plural(sum(entry.rounds for entry in self._states.entries) if self._states else 0, "decision")
        if ago <= QUIET_S:
            return "recording", f"Being recorded: {count} so far, {words}."
        return "quiet", (
            f"Nothing was written for {_ago(ago)}: `assignor record` has stopped, or does not follow the group; "
            f"{count} so far. It is looked at again all the time."
        )

    def _heard(self) -> float:
        files = [*self._records.parent.glob("*.jsonl"), self._records.parent.parent / _MANY]
        times = [self._mtime(file) for file in files]
        return max(times, default=0.0)

    @staticmethod
    def _mtime(file: Path) -> float:
        try:
            return file.stat().st_mtime
        except OSError:
            return 0.0


def _ago(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7_200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3_600:.0f} h" if seconds < 172_800 else f"{seconds / 86_400:.0f} days"
