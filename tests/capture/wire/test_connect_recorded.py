from __future__ import annotations

from typing import Any

import pytest

from assignor_lab.kafka.wire.connect import (
    AssignmentMessage,
    connect_assignment_document,
    connect_subscription_document,
    decode_connect_assignment,
    decode_connect_subscription,
    encode_connect_assignment,
    encode_connect_subscription,
)
from tests.capture.wire.connect_messages import GROUPS, recorded

#: Kafka's reading of a worker without jobs.
_EMPTY: dict[str, Any] = {
    "version": 1,
    "error": 0,
    "leader": None,
    "leader_url": None,
    "offset": -1,
    "connectors": [],
    "tasks": [],
    "revoked_connectors": [],
    "revoked_tasks": [],
    "delay": 0,
}
_OUR_NAMES = {"offset": "config_offset", "delay": "delay_ms", "allocation": "assignment"}


def _messages(group: str, what: str) -> list[dict[str, Any]]:
    return [message for message in recorded(group) if message["what"] == what]


def _in_our_words(kafka: dict[str, Any]) -> dict[str, Any]:
    return {_OUR_NAMES.get(key, key): value for key, value in kafka.items() if key != "bytes"}


def _restricted(ours: dict[str, Any], kafka: dict[str, Any]) -> dict[str, Any]:
    # The eager reader returns neither a version nor fields beyond version 0.
    assert set(kafka) <= set(ours)
    return {key: ours[key] for key in kafka}


@pytest.mark.parametrize(("group", "number"), [("sessioned", 64), ("eager", 10), ("conflict", 47)])
def test_recorded_subscriptions_decode_as_kafkas_classes_decoded_them(group: str, number: int) -> None:
    messages = _messages(group, "subscription")
    assert len(messages) == number
    for message in messages:
        expected = _in_our_words(message["kafka"])
        allocation = expected.get("assignment")
        if allocation is not None:
            expected["assignment"] = None if allocation == _EMPTY else _in_our_words(allocation)
        ours = connect_subscription_document(decode_connect_subscription(bytes.fromhex(message["hex"])))
        assert _restricted(ours, expected) == expected
        assert message["kafka"]["bytes"] == len(message["hex"]) // 2


@pytest.mark.parametrize(("group", "number"), [("sessioned", 54), ("eager", 16), ("conflict", 63)])
def test_recorded_assignments_decode_as_kafkas_classes_decoded_them(group: str, number: int) -> None:
    messages = _messages(group, "assignment")
    assert len(messages) == number
    for message in messages:
        expected = _in_our_words(message["kafka"])
        ours = connect_assignment_document(decode_connect_assignment(bytes.fromhex(message["hex"])))
        assert _restricted(ours, expected) == expected


@pytest.mark.parametrize("group", GROUPS)
def test_recorded_bytes_are_written_again_as_they_were(group: str) -> None:
    for message in _messages(group, "subscription"):
        data = bytes.fromhex(message["hex"])
        assert encode_connect_subscription(decode_connect_subscription(data)) == data
    for message in _messages(group, "assignment"):
        data = bytes.fromhex(message["hex"])
        assert encode_connect_assignment(decode_connect_assignment(data)) == data


def test_an_assignment_on_the_wire_is_a_difference() -> None:
    """A stable round sends nothing; a worker's jobs are in its subscription (captures' README, surprise 18)."""
    assignments: list[AssignmentMessage] = [
        decode_connect_assignment(bytes.fromhex(message["hex"])) for message in _messages("sessioned", "assignment")
    ]
    owning = [
        decode_connect_subscription(bytes.fromhex(message["hex"])) for message in _messages("sessioned", "subscription")
    ]
    assert any(not message.assigned.connectors and not message.assigned.tasks for message in assignments)
    assert any(message.revoked.tasks for message in assignments)
    assert max(len(message.owned) for message in owning) > max(len(message.assigned) for message in assignments[-5:])
