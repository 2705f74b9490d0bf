"""States or episodes of one source, in their read form."""

from __future__ import annotations

from pathlib import Path

import attrs

from assignor_lab.groups.entries import KindEntry
from assignor_lab.scenarios import Scenario
from assignor_lab.verification.verified import NOTHING, Verification
from assignor_lab.verification.words import banner, sentences
from assignor_lab.web.errors import NotThereError
from assignor_lab.web.past import PastView

__all__ = ["StateEntry", "OpenedStates"]


@attrs.frozen
class StateEntry:
    """One state or episode in the list.

    Args:
        time_ms: Time of the decision, milliseconds since the epoch, or ``None`` if unknown.
    """

    id: str
    rounds: int
    tasks: int
    clients: int
    time_ms: int | None


@attrs.frozen(eq=False)
class OpenedStates:
    """States or episodes of one source."""

    name: str
    kind: KindEntry
    scenarios: tuple[Scenario, ...]
    entries: tuple[StateEntry, ...]
    left_out: int
    pasts: tuple[PastView, ...] = ()
    digest: str = ""
    files: tuple[tuple[Path, int], ...] = ()
    verification: Verification = NOTHING

    @property
    def banner(self) -> list[str]:
        """Sentences in place of a verdict; empty: the inputs fit the recordings."""
        return banner(self.verification)

    @property
    def verified(self) -> list[str]:
        return [each for each in sentences(self.verification) if each not in self.banner]

    def scenario(self, number: int) -> Scenario:
        """One of them, from 0.

        Raises:
            NotThereError: if there is none with that number.
        """
        if not 0 <= number < len(self.scenarios):
            raise NotThereError(f"{self.name} has no state {number}: the last one is {len(self.scenarios) - 1}")
        return self.scenarios[number]

    def past_of(self, number: int, round_: int | None = None) -> tuple[PastView, int] | None:
        """The past of a state, and the number of its decision there; ``None``: it belongs to none."""
        for past in self.pasts:
            at = past.position(number, round_)
            if at is not None:
                return past, at
        return None

    def changed_on_disk(self) -> str | None:
        """A sentence on files that have changed since they were read; ``None``: none has."""
        for path, written_ns in self.files:
            try:
                fault = None if path.stat().st_mtime_ns == written_ns else "has changed since it was opened"
            except OSError:
                fault = "is not there any more"
            if fault is not None:
                return f"{path} {fault}: the page shows the earlier content. Start `assignor ui` again to read it anew."
        return None
