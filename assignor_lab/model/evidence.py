"""Evidence of an event: the line, record or response that shows it, or the rule that infers it."""

from __future__ import annotations

from enum import Enum

import attrs

from assignor_lab.documents.errors import Place

__all__ = ["Evidence", "EvidenceKind", "InferenceRule"]


class EvidenceKind(Enum):
    """Sources of events."""

    LINE = "line"
    RECORD = "record"
    RESPONSE = "response"
    INFERENCE = "inference"
    PLAYED = "played"


class InferenceRule(Enum):
    """Rules that make an event of other facts. A reader applies each of them once."""

    ABSENT = (
        "a decision lacks the instance: it ended since the decision before, in the classic protocol a session timeout "
        "before the rebalance if it did not leave"
    )
    NEW = "a decision has an instance that the decision before lacks: it started between them"
    NEW_MEMBERS = "all members of an instance have new ids: its process started again between two decisions"
    REWRITTEN = (
        "a record of the same generation has another member id for a group.instance.id: the static member restarted "
        "within its session"
    )
    THREADS = "a decision has more or fewer members of a running process than the decision before"
    EMPTY = "a record of the group has no members"
    REFILLED = "a record has members after one without any"
    TASKS = "a decision has other tasks than the decision before: topics or the topology changed"
    INTERVAL_OVER = "the decision before announced a probing rebalance, and its interval is over"
    OTHER_PROTOCOL = "the group's records are of the other protocol from then on"
    OTHER_SETTINGS = "the group's record has another setting than the record before"
    CONNECTORS = "a round has other connectors, or another number of their tasks, than the round before"
    REVOKED = "a decision takes jobs from a worker"
    DELAY = "a decision announces a delay, or is the first one without it"
    MEMBER_REPLACED = "a record has another process for the same member"


@attrs.frozen
class Evidence:
    """Evidence of one event.

    Args:
        place: File and line; ``None`` in played histories.
        rule: Of an inference, else ``None``.
        text: The line's own words, if they help a reader; may be empty.
    """

    kind: EvidenceKind
    place: Place | None = None
    rule: InferenceRule | None = None
    text: str = ""

    @classmethod
    def line(cls, place: Place, text: str = "") -> Evidence:
        return cls(EvidenceKind.LINE, place, None, text)

    @classmethod
    def record(cls, place: Place) -> Evidence:
        return cls(EvidenceKind.RECORD, place)

    @classmethod
    def inferred(cls, rule: InferenceRule, place: Place | None = None) -> Evidence:
        return cls(EvidenceKind.INFERENCE, place, rule)

    @classmethod
    def played(cls) -> Evidence:
        return _PLAYED

    @property
    def is_inferred(self) -> bool:
        return self.kind is EvidenceKind.INFERENCE


_PLAYED = Evidence(EvidenceKind.PLAYED)
