"""The ledger of a recording that goes on: each change is predicted from the state before it once it is over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.capture.errors import HistoryError
from assignor_lab.capture.histories.past import PastSurroundings, read_past
from assignor_lab.planning.past.ledger import add_to_ledger, read_ledger
from assignor_lab.planning.past.members import is_member_state, record_of_members
from assignor_lab.planning.past.reading import record_of_past
from assignor_lab.planning.predict import Terms
from assignor_lab.scenarios.settings import given_settings
from assignor_lab.verification.readings import terms_of
from assignor_lab.verification.replays import past_episodes
from assignor_lab.verification.verified import verify

__all__ = ["LedgerKeeper", "keep_ledger"]

#: A change is predicted when its group has been quiet for this time.
_QUIET_S = 60.0
#: After an update the thread pauses so many times as long: recording comes first.
_PAUSES_PER_UPDATE = 10
#: No further update begins so long after the end of the recording: `plan` predicts the changes that are missing.
_AT_END_S = 10.0


def keep_ledger(folder: Path, registry: Registry, config: ConfigSources) -> int:
    """Adds the changes of a recording that are over and not in its ledger; returns their number.

    Raises:
        AssignorLabError: a subclass, if the recording or its ledger cannot be read.
    """
    around = PastSurroundings(config.above, on_problem=lambda _: None)
    decisions = read_past([str(folder)], around).scenarios
    terms = Terms(registry, config, given_settings(config.above))
    known = read_ledger(folder)
    verification = verify(decisions, terms_of(registry, config, around=around))
    if decisions and is_member_state(decisions[0]):
        record = record_of_members(decisions, verification, terms, known=known, only_over=True)
    else:
        episodes = past_episodes([each for each in decisions if each.observed is not None], terms.settings)
        record = record_of_past(decisions, episodes, verification, terms, known=known, only_over=True)
    new = [] if record is None else [each for each in record.changes if each.at_ms not in known]
    add_to_ledger(folder, new)
    return len(new)


@attrs.define(eq=False)
class LedgerKeeper:
    """Keeps the ledgers of recorded groups in a thread of its own.

    Args:
        keep: Brings the ledger of a folder up to date.
        on_trouble: Receives a sentence for each ledger that cannot be kept, once.
    """

    keep: Callable[[Path], int]
    on_trouble: Callable[[str], None]
    quiet_s: float = _QUIET_S
    _changed: dict[Path, float] = attrs.field(factory=dict, init=False)
    _failed: set[Path] = attrs.field(factory=set, init=False)
    _news: threading.Condition = attrs.field(factory=threading.Condition, init=False)
    _is_closed: bool = attrs.field(default=False, init=False)
    _thread: threading.Thread | None = attrs.field(default=None, init=False)

    def begin(self) -> None:
        self._thread = threading.Thread(target=self._keep_changed, name="ledger", daemon=True)
        self._thread.start()

    def changed(self, folder: Path) -> None:
        """The recording in a folder has a new generation."""
        with self._news:
            self._changed[folder] = time.monotonic()
            self._news.notify()

    def close(self) -> None:
        """Keeps what is left, for some seconds, then ends."""
        with self._news:
            self._is_closed = True
            self._news.notify()
        if self._thread is not None:
            self._thread.join()
        end = time.monotonic() + _AT_END_S
        for folder in self._changed:
            if time.monotonic() < end:
                self._keep_one(folder)

    def _keep_changed(self) -> None:
        pause_s = self.quiet_s / 4
        while True:
            with self._news:
                self._news.wait_for(lambda: self._is_closed, pause_s)
                if self._is_closed:
                    return
                before = time.monotonic() - self.quiet_s
                due = [folder for folder, since in self._changed.items() if since <= before]
                for folder in due:
                    del self._changed[folder]
            begun = time.monotonic()
            for folder in due:
                self._keep_one(folder)
            pause_s = max(self.quiet_s / 4, _PAUSES_PER_UPDATE * (time.monotonic() - begun))

    def _keep_one(self, folder: Path) -> None:
        try:
            self.keep(folder)
        except HistoryError:
            # No complete decision yet.
            return
        except AssignorLabError as error:
            if folder not in self._failed:
                self._failed.add(folder)
                self.on_trouble(f"no ledger of {folder}: {error}")
