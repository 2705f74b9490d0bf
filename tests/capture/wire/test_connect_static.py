"""Version 3, the proposal for KIP-987."""

from __future__ import annotations

import attrs
import pytest

from assignment_api.connect import WILDCARD, ConnectorTaskId, ConnectProtocol, StaticJobs
from assignor_lab.kafka.wire import KINDS
from assignor_lab.kafka.wire.connect import (
    AssignmentMessage,
    ConnectSchemaError,
    SubscriptionMessage,
    decode_connect_subscription,
    encode_connect_assignment,
    encode_connect_subscription,
    offered_subscriptions,
)

_URL = "http://a:1/"
_HEAD = "0003 000b687474703a2f2f613a312f 0000000000000007"
_LISTED = StaticJobs(("c",), (ConnectorTaskId("d", 0), ConnectorTaskId("d", 1)))


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text)


@pytest.mark.parametrize(
    ("static", "tail"),
    [
        (_LISTED, "ffffffff 00000002 000163 00000001 ffffffff 000164 00000002 00000000 00000001"),
        (WILDCARD, "ffffffff ffffffff"),
        (StaticJobs((), ()), "ffffffff 00000000"),
    ],
)
def test_static_jobs_follow_the_layout_of_version_2(static: StaticJobs, tail: str) -> None:
    message = SubscriptionMessage(3, _URL, 7, None, static)

    assert encode_connect_subscription(message) == _bytes(_HEAD + tail)
    assert decode_connect_subscription(_bytes(_HEAD + tail)) == message


@pytest.mark.parametrize("static", [StaticJobs(("c",), None), StaticJobs(None, ())])
def test_a_worker_with_one_key_set_is_static_with_nothing_of_the_other(static: StaticJobs) -> None:
    read = decode_connect_subscription(encode_connect_subscription(SubscriptionMessage(3, _URL, 7, None, static)))

    assert read.static == StaticJobs(static.connectors or (), static.tasks or ())


def test_a_worker_that_sends_no_static_field_is_read_as_kafka_reads_version_2() -> None:
    message = decode_connect_subscription(_bytes(_HEAD + "ffffffff"))

    assert message == SubscriptionMessage(3, _URL, 7)
    assert "static" not in KINDS["connect-subscription"].decode(_bytes(_HEAD + "ffffffff"))


@pytest.mark.parametrize("version", ["0001", "0002", "0004", "7fff"])
def test_other_versions_have_no_static_jobs_whatever_follows(version: str) -> None:
    tail = " 000b687474703a2f2f613a312f 0000000000000007 ffffffff 0a0b0c"

    assert decode_connect_subscription(_bytes(version + tail)).static is None


def test_a_static_field_that_ends_too_early_is_refused_with_its_place() -> None:
    with pytest.raises(ConnectSchemaError, match=r"^byte 33: field static: 1 bytes expected here, 0 left"):
        decode_connect_subscription(_bytes(_HEAD + "ffffffff 00000001 0001"))


def test_assignments_of_version_3_are_those_of_version_2_but_for_the_number() -> None:
    message = AssignmentMessage(2, 0, "L", _URL, 7, ("c",), (ConnectorTaskId("c", 0),), ("d",), (), 40)

    newer = encode_connect_assignment(attrs.evolve(message, version=3))

    assert newer[:2] == b"\0\3"
    assert newer[2:] == encode_connect_assignment(message)[2:]


def test_the_json_form_of_static_jobs_is_that_of_scenarios() -> None:
    form = KINDS["connect-subscription"]
    data = encode_connect_subscription(SubscriptionMessage(3, _URL, 7, None, _LISTED))

    assert form.decode(data)["static"] == {"connectors": ["c"], "tasks": ["d-0", "d-1"]}
    assert form.encode(form.check(form.decode(data))) == data


def test_static_jobs_travel_in_the_offer_that_can_carry_them_alone() -> None:
    offers = offered_subscriptions(ConnectProtocol.STATIC, _URL, 7, None, _LISTED)

    assert [name for name, _ in offers] == ["static", "sessioned", "compatible", "default"]
    read = [decode_connect_subscription(data) for _, data in offers]
    assert [message.version for message in read] == [3, 2, 1, 0]
    assert [message.static for message in read] == [_LISTED, None, None, None]
