"""Waits of members of classic groups, from lines of one process: each pair of lines has one clock."""

from __future__ import annotations

import attrs

from assignor_lab.capture.logs.messages import MessageKind
from assignor_lab.capture.logs.records import LogMessage
from assignor_lab.capture.logs.timestamps import LogTime

__all__ = ["MemberWait", "MemberWaits"]

#: Most waits of all members: the first ones.
_MOST = 10_000
_NOTHING = "Assignment(partitions=[]"


@attrs.frozen
class MemberWait:
    """A wait.

    Args:
        type: ``assign``, ``read``, ``miss`` or ``revoke``: a field of
            :class:`~assignor_lab.simulation.streams.seen_waits.SeenWaits`.
        client: Client id of the instance.
    """

    type: str
    client: str
    begun: LogTime
    time: LogTime


@attrs.define
class MemberWaits:
    """Collects waits from the lines of consumers."""

    found: list[MemberWait] = attrs.field(init=False, factory=list)
    #: Consumer to its JoinGroup response.
    _joined: dict[str, LogTime] = attrs.field(init=False, factory=dict)
    #: Client id of an instance to the last decision of its leader, and the consumers that have read it.
    _decided: dict[str, tuple[LogTime, set[str]]] = attrs.field(init=False, factory=dict)
    #: Consumers with an assignment, and whether it has partitions; without those that missed two decisions.
    _assigned: dict[str, bool] = attrs.field(init=False, factory=dict)
    _revoking: dict[str, LogTime] = attrs.field(init=False, factory=dict)
    #: Consumers that did not read the decision before the last one.
    _late: set[str] = attrs.field(init=False, factory=set)

    def take(self, record: LogMessage, client: str) -> None:
        """Takes a line of a consumer.

        Args:
            client: Client id of its instance.
        """
        consumer, time = record.thread, record.time
        if consumer is None or time is None:
            return
        if record.kind is MessageKind.JOINED:
            self._joined[consumer] = time
        elif record.kind is MessageKind.GENERATION:
            begun = self._joined.pop(consumer, None)
            # The first decision of a group waits for new topics.
            if consumer in self._assigned:
                self._add("assign", client, begun, time)
            self._missed(client, time)
            self._decided[client] = time, set()
        else:
            self._read(consumer, client, time)
            if record.kind is MessageKind.REVOKED:
                self._revoking[consumer] = time
            else:
                self._add("revoke", client, self._revoking.pop(consumer, None), time)
                self._assigned[consumer] = _NOTHING not in record.text

    def restarted(self, client: str) -> None:
        """Forgets the consumers of an instance that starts or ends."""
        self._decided.pop(client, None)
        for held in (self._joined, self._assigned, self._revoking):
            for consumer in [each for each in held if _is_of(each, client)]:
                held.pop(consumer)

    def _missed(self, client: str, time: LogTime) -> None:
        if client not in self._decided:
            return
        decided, readers = self._decided[client]
        silent = {each for each in self._assigned if _is_of(each, client) and each not in readers}
        for consumer in sorted(silent):
            if consumer in self._late:
                self._assigned.pop(consumer)  # its thread has ended
            elif self._assigned[consumer]:
                self._add("miss", client, decided, time)
        self._late = {each for each in self._late if not _is_of(each, client)} | silent

    def _read(self, consumer: str, client: str, time: LogTime) -> None:
        decided, readers = self._decided.get(client, (None, set()))
        if consumer not in readers:
            readers.add(consumer)
            # A thread without tasks polls all the time.
            if self._assigned.get(consumer):
                self._add("read", client, decided, time)

    def _add(self, kind: str, client: str, begun: LogTime | None, time: LogTime) -> None:
        if begun is not None and len(self.found) < _MOST:
            self.found.append(MemberWait(kind, client, begun, time))


def _is_of(consumer: str, client: str) -> bool:
    return consumer.startswith(f"{client}-StreamThread-")
