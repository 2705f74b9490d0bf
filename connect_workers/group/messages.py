"""Messages of members to each other, as Connect's own bytes: a capture of this group is one of a Connect group."""

from __future__ import annotations

from assignment_api.connect import WILDCARD, ConnectProtocol, Jobs, Worker
from assignor_lab.kafka.coordinator import JoinRequest
from assignor_lab.kafka.herder.assignment import Assignment
from assignor_lab.kafka.herder.membership import MembershipState
from assignor_lab.kafka.wire.connect import (
    AssignmentMessage,
    SubscriptionMessage,
    decode_connect_assignment,
    encode_connect_assignment,
    offered_subscriptions,
    protocol_of_wire_name,
)
from connect_workers.identity import WorkerIdentity
from connect_workers.settings import LiveWorkerSettings

__all__ = ["assignment_bytes", "assignment_from", "join_request", "member_from"]

_FAILED = 1


def join_request(
    worker: WorkerIdentity, settings: LiveWorkerSettings, offset: int, state: MembershipState
) -> JoinRequest:
    assignment = (
        None if state.assignment is None else _message(state.assignment, state.held, ConnectProtocol.EAGER.version)
    )
    offers = offered_subscriptions(settings.protocol, worker.url, offset, assignment, settings.static)
    timings = settings.timings
    return JoinRequest(
        worker.process,
        state.member_id,
        {protocol_of_wire_name(name): data for name, data in offers},
        timings.rebalance_timeout_ms,
        timings.session_timeout_ms,
    )


def member_from(member: str, subscription: SubscriptionMessage) -> Worker:
    return Worker(member, subscription.owned, subscription.static or WILDCARD, url=subscription.url)


def assignment_bytes(assignment: Assignment, protocol: ConnectProtocol) -> bytes:
    return encode_connect_assignment(_message(assignment, None, protocol.version))


def assignment_from(data: bytes) -> Assignment:
    message = decode_connect_assignment(data)
    return Assignment(
        message.leader, message.leader_url, message.config_offset, message.assigned, message.revoked,
        message.delay_ms, failed=message.error == _FAILED,
    )  # fmt: skip


def _message(assignment: Assignment, held: Jobs | None, version: int) -> AssignmentMessage:
    """An assignment; inside a subscription with everything that is held."""
    jobs = assignment.assigned if held is None else held
    return AssignmentMessage(
        version, _FAILED if assignment.failed else 0, assignment.leader_id, assignment.leader, assignment.offset,
        jobs.connectors, jobs.tasks, assignment.revoked.connectors, assignment.revoked.tasks, assignment.delay_ms,
    )  # fmt: skip
