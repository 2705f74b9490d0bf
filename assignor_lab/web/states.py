"""States or episodes of one source, as they were read."""

from __future__ import annotations

from pathlib import Path

import attrs

from assignor_lab.groups.entries import KindEntry
from assignor_lab.scenarios import Scenario
from assignor_lab.verification.verified import NOTHING, Verification
from assignor_lab.verification.words import banner, sentences
from assignor_lab.web.errors import NotThereError
from assignor_lab.web.past import Past

__all__ = ["Entry", "OpenedStates"]


@attrs.frozen
class Entry:
    """One state or episode as the list shows it.

    Args:
        id: Its id.
        rounds: Rounds that it holds.
        tasks: Its tasks.
        clients: Its clients, processes or workers.
        time_ms: When it was decided, milliseconds since the epoch, or ``None``: the source does not tell.
    """

    id: str
    rounds: int
    tasks: int
    clients: int
    time_ms: int | None


@attrs.frozen(eq=False)
class OpenedStates:
    """States or episodes of one source.

    Args:
        name: As it was given.
        kind: Their kind.
        scenarios: They themselves, in order.
        entries: As the list shows them.
        left_out: How many more the source has.
        pasts: The pasts of groups that they make up.
        digest: SHA-256 (hex) of them.
        files: The files that they were read from, and when each was written last then.
        verification: What the lab reproduces of the groups' recordings.
    """

    name: str
    kind: KindEntry
    scenarios: tuple[Scenario, ...]
    entries: tuple[Entry, ...]
    left_out: int
    pasts: tuple[Past, ...] = ()
    digest: str = ""
    files: tuple[tuple[Path, int], ...] = ()
    verification: Verification = NOTHING

    @property
    def banner(self) -> list[str]:
        """Sentences in place of a verdict; empty: the inputs fit the recordings."""
        return banner(self.verification)

    @property
    def verified(self) -> list[str]:
        """What is verified, and what is not, in sentences."""
        return [each for each in sentences(self.verification) if each not in self.banner]

    def scenario(self, number: int) -> Scenario:
        """One of them, from 0.

        Raises:
            NotThereError: if there is none of that number.
        """
        if not 0 <= number < len(self.scenarios):
            raise NotThereError(f"{self.name} has no state {number}: the last one is {len(self.scenarios) - 1}")
        return self.scenarios[number]

    def past_of(self, number: int, round_: int | None = None) -> tuple[Past, int] | None:
        """The past that a state belongs to, and which of its decisions it is; ``None``: to none."""
        for past in self.pasts:
            at = past.position(number, round_)
            if at is not None:
                return past, at
        return None

    def changed_on_disk(self) -> str | None:
        """That a file is not what it was when it was read, in a sentence; ``None``: all are."""
        for path, written_ns in self.files:
            try:
                what = None if path.stat().st_mtime_ns == written_ns else "has changed since it was opened"
            except OSError:
                what = "is not there any more"
            if what is not None:
                return f"{path} {what}: what is shown is what was read then. Start `assignor ui` again to see it anew."
        return None
