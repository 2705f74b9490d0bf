"""Negotiation of a Connect group's protocol, and the metadata that a worker offers for it.

Kafka: ``ConnectProtocolCompatibility``.

Each worker offers the protocols that its ``connect.protocol`` allows, the preferred one first, each with a
subscription in that protocol's version. The group's coordinator selects one that all members offer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from assignment_api.connect import WILDCARD, ConnectProtocol, StaticJobs
from assignment_api.java import DEFAULT_JDK, JdkGeneration, iteration_order, string_hash
from assignment_api.streams.ids import utf16_key
from assignor_lab.kafka.wire.connect.assignment import AssignmentMessage
from assignor_lab.kafka.wire.connect.errors import InconsistentProtocolsError
from assignor_lab.kafka.wire.connect.subscription import SubscriptionMessage, encode_connect_subscription

__all__ = ["PROTOCOL_TYPE", "negotiated_protocol", "offered_subscriptions", "protocol_of_wire_name", "selected_name"]

#: The protocol type under which Connect workers join a group.
PROTOCOL_TYPE = "connect"


def negotiated_protocol(members: Iterable[ConnectProtocol]) -> ConnectProtocol:
    """The common protocol of workers with these values of ``connect.protocol``: the newest that all of them know.

    Raises:
        InconsistentProtocolsError: if there is no member.
    """
    offers = [tuple(protocol.wire_name for protocol in member.offered()) for member in members]
    return protocol_of_wire_name(selected_name(offers))


def selected_name(offers: Sequence[Sequence[str]]) -> str:
    """The coordinator's choice among any names.

    Kafka: ``ClassicGroup.selectProtocol``.

    Every member votes for the first of its names that all members offer. The name with the most votes wins; among
    several the first in the order of a Java hash map filled vote by vote.

    Raises:
        InconsistentProtocolsError: if no name is offered by all, or there is no member. A real coordinator does not let
            such a member join.
    """
    common = [name for name in offers[0] if all(name in offer for offer in offers)] if offers else []
    if not common:
        raise InconsistentProtocolsError(f"{len(offers)} members have no protocol in common")
    votes: dict[str, int] = {}
    for offer in offers:
        choice = next(name for name in offer if name in common)
        votes[choice] = votes.get(choice, 0) + 1
    names = list(votes)
    return max(iteration_order(names, [string_hash(name) for name in names], sort_key=utf16_key), key=votes.__getitem__)


def protocol_of_wire_name(name: str) -> ConnectProtocol:
    """The protocol of a name that members offer.

    Raises:
        InconsistentProtocolsError: if Connect has no such protocol.
    """
    for protocol in ConnectProtocol:
        if protocol.wire_name == name:
            return protocol
    known = ", ".join(protocol.wire_name for protocol in ConnectProtocol)
    raise InconsistentProtocolsError(f"{name!r:.120} is no protocol of Connect: these are {known}")


def offered_subscriptions(
    protocol: ConnectProtocol,
    url: str,
    config_offset: int,
    assignment: AssignmentMessage | None = None,
    static: StaticJobs = WILDCARD,
    jdk: JdkGeneration = DEFAULT_JDK,
) -> list[tuple[str, bytes]]:
    """The offers of a joining worker: names and their subscriptions, preferred first.

    As in Kafka, an assignment is written in the version of its subscription, regardless of its original version. Only
    the offer ``static`` contains static jobs, so they are invisible to a group with a member that does not support it.

    Raises:
        ConnectSchemaError: if a value does not fit into its field.
    """
    return [
        (
            offer.wire_name,
            encode_connect_subscription(
                _subscription(offer.version, url, config_offset, assignment, static),
                jdk,
            ),
        )
        for offer in protocol.offered()
    ]


def _subscription(
    version: int, url: str, config_offset: int, assignment: AssignmentMessage | None, static: StaticJobs
) -> SubscriptionMessage:
    rewritten = None if assignment is None else attrs.evolve(assignment, version=version)
    return SubscriptionMessage(version, url, config_offset, rewritten, static)
