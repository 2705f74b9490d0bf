"""The join phase of a rebalance: how long a group waits for its members.

A group that was empty waits ``group.initial.rebalance.delay.ms``; whenever that is over and a further member has come
in it, the group waits so long once more, up to the longest ``rebalance.timeout.ms``. Any other waits until all its
members have joined again, for as long as the longest ``rebalance.timeout.ms`` (Kafka: ``GroupMetadataManager``).
"""

from __future__ import annotations

from collections.abc import Collection

from assignor_lab.kafka.coordinator.members import Member

__all__ = ["JoinPhase"]


class JoinPhase:
    """The present join phase, or the last one.

    Args:
        initial_delay_ms: ``group.initial.rebalance.delay.ms``.
        expected: The group is being formed by so many members at once, without that delay; 0 = it is not.
    """

    def __init__(self, initial_delay_ms: int, expected: int) -> None:
        #: Counts join phases.
        self.number = 0
        #: What set it off, in order.
        self.reasons: list[str] = []
        #: When it began.
        self.began_ms = 0
        self._initial_delay_ms = initial_delay_ms
        self._expected = expected
        self._deadline_ms = 0
        self._without_late = False
        #: An initial phase lasts at least until then, and is prolonged up to the second figure.
        self._initial_until: tuple[int, int] | None = None
        #: Members that have come in it after the one that set it off, since it was prolonged last.
        self._newcomers = 0

    def begin(self, now: int, reason: str, members: Collection[Member], *, was_empty: bool) -> None:
        """A rebalance begins.

        Args:
            now: What the clock shows.
            reason: What sets it off.
            members: The group's members, with a newcomer that sets it off.
            was_empty: Whether the group had no members.
        """
        longest = _longest(members)
        if was_empty and not self._expected:
            self._initial_until = (now + self._initial_delay_ms, now + longest)
            self._newcomers = -1  # the one that sets it off is announced, too, and does not count
        self.reasons, self.began_ms = [reason], now
        self.number += 1
        self._deadline_ms = now + longest

    def begin_again(self, now: int, members: Collection[Member]) -> None:
        """Nobody has joined by the end of it: it lasts as long once more."""
        self._deadline_ms = now + _longest(members)

    def newcomer(self) -> None:
        """A new member has joined meanwhile, or is the one that set the phase off."""
        self._newcomers += 1

    @property
    def next_deadline_ms(self) -> int:
        """When it has to be looked at again, if nothing else happens."""
        return self._deadline_ms if self._initial_until is None else self._initial_until[0]

    def end_initial_delay(self, now: int) -> None:
        """The initial delay ends if it is over and nobody new came in it; else it begins once more."""
        while self._initial_until is not None and now >= self._initial_until[0]:
            until, longest = self._initial_until
            prolonged = min(until + self._initial_delay_ms, longest)
            self._initial_until = (prolonged, longest) if self._newcomers > 0 and prolonged > until else None
            self._newcomers = 0

    def has_waited_enough(self, now: int) -> bool:
        """Whether those who have not joined again are given up."""
        return self._initial_until is None and now >= self._deadline_ms

    def gives_up(self) -> None:
        """Nobody in particular is waited for any more, static members that are still away included."""
        self._expected, self._without_late = 0, True

    def is_complete(self, now: int, members: Collection[Member]) -> bool:
        """Whether all have joined who are waited for."""
        if len(members) < self._expected:
            return False
        if self._initial_until is not None and now < self._initial_until[0]:
            return False
        return all(member.awaiting_join or self._without_late for member in members)

    def end(self) -> None:
        """The group is complete."""
        self._initial_until, self._expected, self._without_late = None, 0, False


def _longest(members: Collection[Member]) -> int:
    return max(member.rebalance_timeout_ms for member in members)
