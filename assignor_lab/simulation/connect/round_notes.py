"""Records of a leader's decision: figures, and a sentence for the log."""

from __future__ import annotations

from collections.abc import Mapping

from assignment_api.connect import ConnectAssignment
from assignor_lab.documents.wording import plural
from assignor_lab.kafka.coordinator import Round

__all__ = ["describe_decision", "note_decision"]


def note_decision(current: Round, answer: ConnectAssignment | None) -> None:
    """``None``: the leader had not read the config topic far enough."""
    if answer is None:
        current.mismatch = True
        return
    current.delay_ms = answer.delay_ms
    current.assigned = sum(len(each.assigned) for each in answer.workers.values())
    current.revoked = sum(len(each.revoked) for each in answer.workers.values())


def describe_decision(current: Round, answer: ConnectAssignment, names: Mapping[str, str]) -> str:
    """``names`` is member id to worker."""
    shares = []
    for member, each in answer.workers.items():
        parts = [f"{sign}{len(jobs)}" for sign, jobs in (("+", each.assigned), ("-", each.revoked)) if len(jobs)]
        if parts:
            shares.append(f"{names.get(member, member)} {' '.join(parts)}")
    text = f"generation {current.generation} ({current.protocol.value}, {plural(len(current.members), 'member')}): "
    text += "; ".join(shares) or "nothing moves"
    if answer.delay_ms:
        text += f"; again in {answer.delay_ms / 1000:g} s"
    return text
