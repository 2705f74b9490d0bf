"""A decision of a recorded group in either protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from assignor_lab.capture.edges.decision_input import DecisionInput
from assignor_lab.capture.recorded.partition_states import NotedEvent
from assignor_lab.documents.errors import Place
from assignor_lab.model.decision import CLASSIC, STREAMS, InstanceShare
from assignor_lab.model.events import GroupEvent

__all__ = ["CLASSIC", "LEAST_PROBING_MS", "STREAMS", "DecisionEvidence", "DecisionMoment", "Participant"]

LEAST_PROBING_MS = 60_000


@attrs.frozen
class Participant:
    """An instance that takes part in a decision.

    Args:
        client_id: ``None``: unknown, or its members have several.
        thread_count: At least 1.
        rack: Empty: unknown, or it has none.
        endpoint: ``host:port`` of ``application.server``; empty: unknown.
        instance_id: ``group.instance.id``; ``None``: dynamic members.
        member_ids: In the order of the source, of a streams group; else empty.
        threads: Member ids by thread numbers, or by themselves if the source has no thread names.
        host: Of its members; ``None``: unknown, or they have several.
    """

    process_id: str
    client_id: str | None
    members: frozenset[str]
    thread_count: int = 1
    rack: str = ""
    tags: Mapping[str, str] = attrs.field(factory=dict)
    endpoint: str = ""
    instance_id: str | None = None
    member_ids: tuple[str, ...] = ()
    threads: Mapping[str, str] = attrs.field(factory=dict)
    host: str | None = None

    @property
    def is_static(self) -> bool:
        return self.instance_id is not None

    @property
    def share(self) -> InstanceShare:
        """Its part in the decision, without tasks."""
        return InstanceShare(self.process_id, self.members)


@attrs.frozen
class DecisionEvidence:
    """Facts of one decision.

    Args:
        events: That the source noted with the decision, by time; instances have their client ids.
        tasks: ``None`` if the source has only assigned ones.
        hands_over: True if an active task moves from a consumer that still owns it: one more rebalance follows.
        moved: Active tasks that move between two present instances.
        copy_lags: Process id to the lags of its copies before the decision.
    """

    events: tuple[GroupEvent, ...] = ()
    tasks: frozenset[str] | None = None
    hands_over: bool = False
    probing_ms: int = LEAST_PROBING_MS
    moved: int = 0
    assignor: str = ""
    recovery_lag: int | None = None
    standbys: int | None = None
    stateful: frozenset[str] = frozenset()
    copy_lags: Mapping[str, Mapping[str, int]] = attrs.field(factory=dict)


_NO_INPUT = DecisionInput({})


@attrs.frozen
class DecisionMoment:
    """A decision.

    Args:
        prepared_ms: Start of the rebalance.
        followup: ``none`` or ``probing``.
        placed: Process id to its active tasks and its copies.
        input: Empty if the large document was dropped.
        noted: Events of instances before it, or after the last one.
    """

    time_ms: int
    prepared_ms: int | None
    generation: int | None
    reason: str
    followup: str
    participants: Mapping[str, Participant]
    placed: Mapping[str, tuple[Sequence[str], Sequence[str]]]
    input: DecisionInput = _NO_INPUT
    evidence: DecisionEvidence = DecisionEvidence()
    place: Place = Place("-")  # noqa: RUF009
    protocol: str = CLASSIC
    noted: tuple[NotedEvent, ...] = ()

    def without_input(self) -> DecisionMoment:
        """Everything that timelines and histories need."""
        return attrs.evolve(self, input=_NO_INPUT)
