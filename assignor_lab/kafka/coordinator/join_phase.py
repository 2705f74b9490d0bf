"""Join phase of a rebalance: the wait of a group for its members.

A group that was empty waits ``group.initial.rebalance.delay.ms``. If another member has joined by then, it waits again
for the same time, up to the longest ``rebalance.timeout.ms``. Any other group waits until all its members have
rejoined, up to the longest ``rebalance.timeout.ms`` (Kafka: ``GroupMetadataManager``).
"""

from __future__ import annotations

from collections.abc import Collection

from assignor_lab.kafka.coordinator.members import CoordinatorMember

__all__ = ["JoinPhase"]


class JoinPhase:
    """The present join phase, or the last one.

    Args:
        initial_delay_ms: ``group.initial.rebalance.delay.ms``.
        expected: Number of members that form the group at once, without that delay; 0 = with the delay.
    """

    def __init__(self, initial_delay_ms: int, expected: int) -> None:
        self.number = 0
        self.reasons: list[str] = []
        self.began_ms = 0
        self._initial_delay_ms = initial_delay_ms
        self._expected = expected
        self._deadline_ms = 0
        self._without_late = False
        #: End of an initial phase, and the limit of its extensions.
        self._initial_until: tuple[int, int] | None = None
        self._newcomers = 0

    def begin(self, now: int, reason: str, members: Collection[CoordinatorMember], *, was_empty: bool) -> None:
        longest = _longest(members)
        if was_empty and not self._expected:
            self._initial_until = (now + self._initial_delay_ms, now + longest)
            self._newcomers = -1  # the newcomer that starts the phase is announced, too, and does not count
        self.reasons, self.began_ms = [reason], now
        self.number += 1
        self._deadline_ms = now + longest

    def begin_again(self, now: int, members: Collection[CoordinatorMember]) -> None:
        """Repeat the phase: no member has joined by its end."""
        self._deadline_ms = now + _longest(members)

    def newcomer(self) -> None:
        """Count a new member; also called for the one that starts the phase."""
        self._newcomers += 1

    @property
    def next_deadline_ms(self) -> int:
        return self._deadline_ms if self._initial_until is None else self._initial_until[0]

    def end_initial_delay(self, now: int) -> None:
        """End the initial delay after its time, or extend it if a new member has joined."""
        while self._initial_until is not None and now >= self._initial_until[0]:
            until, longest = self._initial_until
            prolonged = min(until + self._initial_delay_ms, longest)
            self._initial_until = (prolonged, longest) if self._newcomers > 0 and prolonged > until else None
            self._newcomers = 0

    def has_waited_enough(self, now: int) -> bool:
        return self._initial_until is None and now >= self._deadline_ms

    def gives_up(self) -> None:
        """Stop waiting for missing members, static ones included."""
        self._expected, self._without_late = 0, True

    def is_complete(self, now: int, members: Collection[CoordinatorMember]) -> bool:
        if len(members) < self._expected:
            return False
        if self._initial_until is not None and now < self._initial_until[0]:
            return False
        return all(member.awaiting_join or self._without_late for member in members)

    def end(self) -> None:
        """End the phase: the group is complete."""
        self._initial_until, self._expected, self._without_late = None, 0, False


def _longest(members: Collection[CoordinatorMember]) -> int:
    return max(member.rebalance_timeout_ms for member in members)
