from __future__ import annotations

import itertools

import pytest

from assignment_api.connect import ConnectorTaskId, ConnectProtocol, Jobs
from assignor_lab.kafka.wire.connect import (
    AssignmentMessage,
    InconsistentProtocolsError,
    decode_connect_assignment,
    decode_connect_subscription,
    encode_connect_assignment,
    negotiated_protocol,
    offered_subscriptions,
    protocol_of_wire_name,
    selected_name,
)

_ORDER = list(ConnectProtocol)
_OWNED = AssignmentMessage(2, 0, "L", "http://a:1/", 7, ("c",), (ConnectorTaskId("c", 0),), (), (), 300000)


@pytest.mark.parametrize("members", list(itertools.product(ConnectProtocol, repeat=3)))
def test_a_group_speaks_the_newest_protocol_that_all_members_know(members: tuple[ConnectProtocol, ...]) -> None:
    assert negotiated_protocol(members) is min(members, key=_ORDER.index)


def test_one_old_member_takes_a_static_group_back_to_what_it_knows() -> None:
    static = [ConnectProtocol.STATIC] * 20
    assert negotiated_protocol(static) is ConnectProtocol.STATIC
    assert negotiated_protocol([*static, ConnectProtocol.SESSIONED]) is ConnectProtocol.SESSIONED
    assert negotiated_protocol([*static, ConnectProtocol.EAGER]) is ConnectProtocol.EAGER


def test_members_vote_for_their_first_common_name_and_the_majority_wins() -> None:
    assert selected_name([["a", "b"], ["b", "a"], ["b", "a", "c"]]) == "b"
    assert selected_name([["x", "a", "b"], ["a", "b"], ["b", "a", "y"]]) == "a"


def test_a_tie_goes_to_the_first_in_a_java_hash_map() -> None:
    # hash("b") = 98 and hash("q") = 113: slots 2 and 1 of 16.
    assert selected_name([["b", "q"], ["q", "b"]]) == "q"


@pytest.mark.parametrize("offers", [[], [[]], [["a"], ["b"]]])
def test_members_without_a_common_name_cannot_be_a_group(offers: list[list[str]]) -> None:
    with pytest.raises(InconsistentProtocolsError):
        selected_name(offers)


def test_a_name_that_connect_does_not_know_is_refused() -> None:
    with pytest.raises(InconsistentProtocolsError, match="default, compatible, sessioned, static"):
        protocol_of_wire_name("cooperative")


@pytest.mark.parametrize(("sender", "reader"), list(itertools.product(range(4), repeat=2)))
def test_metadata_of_each_protocol_is_readable_by_members_of_each_other(sender: int, reader: int) -> None:
    """Kafka's ``ConnectProtocolCompatibilityTest``, static added: url, offset and jobs arrive."""
    offers = dict(offered_subscriptions(_ORDER[sender], "http://a:1/", 7, _OWNED))
    common = negotiated_protocol([_ORDER[sender], _ORDER[reader]])

    read = decode_connect_subscription(offers[common.wire_name])

    assert (read.url, read.config_offset) == ("http://a:1/", 7)
    assert read.owned == (_OWNED.assigned if common.is_incremental else Jobs())
    assert read.assignment is None or read.assignment.version == common.version


@pytest.mark.parametrize("version", range(4))
def test_assignments_of_each_version_bring_the_same_jobs(version: int) -> None:
    message = AssignmentMessage(version, 1, "L", "http://a:1/", 7, ("c",), (ConnectorTaskId("c", 0),))

    assert decode_connect_assignment(encode_connect_assignment(message)) == message


def test_a_worker_without_jobs_sends_null() -> None:
    offers = offered_subscriptions(ConnectProtocol.SESSIONED, "http://a:1/", 7)

    assert offers[0][1].hex() == "0002000b687474703a2f2f613a312f0000000000000007ffffffff"
