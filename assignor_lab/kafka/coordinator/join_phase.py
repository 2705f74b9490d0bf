"""The join phase of a rebalance: how long a group waits for its members.

A group that was empty waits ``group.initial.rebalance.delay.ms``, and so long again for each newcomer, up to the
longest ``rebalance.timeout.ms``. Any other waits until all its members have joined again, for as long as the longest
``rebalance.timeout.ms`` (Kafka: ``GroupMetadataManager``).
"""

from __future__ import annotations

from collections.abc import Collection

from assignor_lab.kafka.coordinator.members import Member

__all__ = ["JoinPhase"]

#: For a group without members, whose timeouts are not known.
_NOBODYS_TIMEOUT_MS = 60_000


class JoinPhase:
    """The present join phase, or the last one.

    Args:
        initial_delay_ms: ``group.initial.rebalance.delay.ms``.
        expected: The group is being formed by so many members at once, without that delay; 0 = it is not.
    """

    def __init__(self, initial_delay_ms: int, expected: int) -> None:
        #: What set it off, in order.
        self.reasons: list[str] = []
        #: When it began.
        self.began_ms = 0
        self._initial_delay_ms = initial_delay_ms
        self._expected = expected
        self._deadline_ms = 0
        #: An initial phase lasts at least until then, and is prolonged by newcomers up to the second figure.
        self._initial_until: tuple[int, int] | None = None

    def begin(self, now: int, reason: str, members: Collection[Member], *, was_empty: bool) -> None:
        """A rebalance begins.

        Args:
            now: What the clock shows.
            reason: What sets it off.
            members: The group's members, without a newcomer that sets it off.
            was_empty: Whether the group had no members.
        """
        longest = max((member.rebalance_timeout_ms for member in members), default=_NOBODYS_TIMEOUT_MS)
        if was_empty and not self._expected:
            self._initial_until = (now + self._initial_delay_ms, now + longest)
        self.reasons, self.began_ms = [reason], now
        self._deadline_ms = now + longest

    def newcomer(self, now: int) -> None:
        """A new member has joined meanwhile."""
        if self._initial_until is not None:
            until, longest = self._initial_until
            self._initial_until = (max(until, min(now + self._initial_delay_ms, longest)), longest)

    @property
    def next_deadline_ms(self) -> int:
        """When :meth:`expire` has to be called, if nothing else happens."""
        return self._deadline_ms if self._initial_until is None else self._initial_until[0]

    def end_initial_delay(self, now: int) -> None:
        """The initial delay ends if it is over."""
        if self._initial_until is not None and now >= self._initial_until[0]:
            self._initial_until = None

    def has_waited_enough(self, now: int) -> bool:
        """Whether those who have not joined again are given up."""
        return self._initial_until is None and now >= self._deadline_ms

    def gives_up(self) -> None:
        """Nobody in particular is waited for any more."""
        self._expected = 0

    def is_complete(self, now: int, members: Collection[Member]) -> bool:
        """Whether all have joined who are waited for."""
        if len(members) < self._expected:
            return False
        if self._initial_until is not None and now < self._initial_until[0]:
            return False
        return all(member.awaiting_join for member in members)

    def end(self) -> None:
        """The group is complete."""
        self._initial_until, self._expected = None, 0
