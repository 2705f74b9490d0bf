from __future__ import annotations

import json
import random
import struct
import time
import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assignment_api.connect import ConnectorTaskId
from assignor_lab.documents.shapes import Mismatch
from assignor_lab.kafka.wire import KINDS
from assignor_lab.kafka.wire.connect import (
    AssignmentMessage,
    ConnectSchemaError,
    SubscriptionMessage,
    UnsupportedConnectVersionError,
    decode_connect_assignment,
    decode_connect_subscription,
    encode_connect_assignment,
    encode_connect_subscription,
)
from tests.capture.wire.connect_messages import GROUPS, lenient, recorded, round_trips

KIND_NAMES = ("subscription", "assignment")
_DECODERS = {"subscription": decode_connect_subscription, "assignment": decode_connect_assignment}
_MESSAGES = {
    kind: [
        bytes.fromhex(line["hex"])
        for line in [*round_trips(), *lenient(), *(line for group in GROUPS for line in recorded(group))]
        if line["what"] == kind
    ]
    for kind in KIND_NAMES
}
_STATIC = bytes.fromhex(
    "0003 000b687474703a2f2f613a312f 0000000000000007 ffffffff"
    "00000002 000163 00000001 ffffffff 000164 00000002 00000000 00000001"
)
_MESSAGES["subscription"].append(_STATIC)


@st.composite
def damaged_messages(draw: st.DrawFn) -> tuple[str, bytes]:
    kind = draw(st.sampled_from(KIND_NAMES))
    message = bytearray(draw(st.sampled_from(_MESSAGES[kind])))
    for _ in range(draw(st.integers(1, 4))):
        position = draw(st.integers(0, len(message)))
        how = draw(st.sampled_from(["cut", "insert", "remove", "number", "version", "byte"]))
        if how == "cut":
            del message[position:]
        elif how == "insert":
            message[position:position] = draw(st.binary(max_size=9))
        elif how == "remove":
            del message[position : position + draw(st.integers(1, 9))]
        elif how == "number":
            message[position : position + 4] = struct.pack(">i", draw(st.integers(-(2**31), 2**31 - 1)))
        elif how == "version":
            message[:2] = struct.pack(">h", draw(st.integers(-3, 9)))
        else:
            message[position : position + 1] = draw(st.binary(min_size=1, max_size=1))
    return kind, bytes(message)


def _refusal(kind: str, message: bytes) -> ConnectSchemaError | None:
    try:
        _DECODERS[kind](message)
    except ConnectSchemaError as error:
        return error
    return None


def _reads_or_names_its_place(kind: str, message: bytes) -> None:
    refusal = _refusal(kind, message)
    if refusal is not None:
        assert refusal.java_type == "SchemaException"
        assert refusal.position is not None
        assert 0 <= refusal.position <= len(message)
        assert str(refusal).startswith(f"byte {refusal.position}: ")


@given(damaged_messages())
def test_a_damaged_message_is_a_value_or_a_typed_error_within_its_bytes(damaged: tuple[str, bytes]) -> None:
    _reads_or_names_its_place(*damaged)


@given(st.sampled_from(KIND_NAMES), st.binary(max_size=200))
@example("subscription", b"")
@example("assignment", b"")
def test_any_bytes_are_a_value_or_a_typed_error(kind: str, message: bytes) -> None:
    _reads_or_names_its_place(kind, message)


@pytest.mark.slow
def test_twenty_thousand_messages_with_random_bytes_changed_are_values_or_typed_errors() -> None:
    dice = random.Random(987)
    for _ in range(20_000):
        kind = dice.choice(KIND_NAMES)
        message = bytearray(dice.choice(_MESSAGES[kind]))
        for _ in range(dice.randint(1, 3)):
            message[dice.randrange(len(message))] = dice.choice((0, 1, 127, 128, 255, dice.randrange(256)))
        _reads_or_names_its_place(kind, bytes(message))


@given(damaged_messages())
def test_what_was_decoded_is_json_and_survives_being_encoded(damaged: tuple[str, bytes]) -> None:
    kind, message = damaged
    form = KINDS[f"connect-{kind}"]
    if _refusal(kind, message) is not None:
        return
    decoded = form.decode(message)
    assert json.loads(json.dumps(decoded)) == decoded
    try:
        again = form.encode(form.check(decoded))
    except (Mismatch, UnsupportedConnectVersionError):
        # Kafka reads numbers of tasks below -1, and versions that are never written.
        return
    assert form.encode(form.check(form.decode(again))) == again


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_each_prefix_is_read_up_to_a_missing_field_or_refused_with_a_position(kind: str) -> None:
    for message in _MESSAGES[kind][:20]:
        for size in range(len(message)):
            _reads_or_names_its_place(kind, message[:size])


@pytest.mark.parametrize(
    ("tail", "reason"),
    [
        ("7fffffff", "byte 24: field assignment: a list of 2147483647, 0 bytes left"),
        ("00000001 0001 63 7fffffff", "byte 31: field assignment: a list|byte 35: field assignment: 8589934588 bytes"),
        ("00000001 0001 63 fffffffe", "byte 31: field assignment: a list of -2 numbers"),
        ("00000001 8000", "byte 28: field assignment: a text of -32768 bytes"),
        ("00000000 00000000 0000", "byte 32: field delay: 4 bytes expected here, 2 left"),
    ],
)
def test_sizes_that_cannot_be_are_refused_at_their_place(tail: str, reason: str) -> None:
    head = "0002 0000 0001 4c 0007 687474703a2f2f 0000000000000007"
    with pytest.raises(ConnectSchemaError, match=reason):
        decode_connect_assignment(bytes.fromhex(head + tail))


def test_a_fault_inside_the_allocation_has_its_place_in_the_whole_message() -> None:
    nested = bytes.fromhex("0002 0000 0005 4c")
    message = bytes.fromhex("0002 0001 75 0000000000000007") + struct.pack(">i", len(nested)) + nested

    with pytest.raises(ConnectSchemaError, match=r"^byte 23: field allocation > leader: 5 bytes expected here, 1 left"):
        decode_connect_subscription(message)


def test_an_allocation_of_no_bytes_is_refused_and_a_negative_size_is_null() -> None:
    head = bytes.fromhex("0002 0001 75 0000000000000007")
    with pytest.raises(ConnectSchemaError, match="allocation > version"):
        decode_connect_subscription(head + bytes(4))
    assert decode_connect_subscription(head + struct.pack(">i", -7)).assignment is None


def test_malformed_text_is_read_with_replacement_characters() -> None:
    message = decode_connect_subscription(bytes.fromhex("0000 0003 61ff62 0000000000000007"))

    assert message.url == "a\ufffdb"


def test_jobs_that_are_listed_twice_are_kept_as_often_and_owned_once() -> None:
    head = "0002 0000 0001 4c 0001 75 0000000000000007"
    twice = "00000002 0001 63 00000003 ffffffff 00000000 00000000 0001 63 00000001 ffffffff"

    message = decode_connect_assignment(bytes.fromhex(head + twice))

    assert message.connectors == ("c", "c")
    assert len(message.assigned) == 2


@pytest.mark.parametrize(
    "message",
    [
        SubscriptionMessage(2, "u" * 40_000, 7),
        SubscriptionMessage(2, "u", 2**63),
        SubscriptionMessage(2, "u", 7, AssignmentMessage(2, 70_000, "L", "u", 7)),
        SubscriptionMessage(2, "u", 7, AssignmentMessage(2, 0, "L", "u", 7, delay_ms=2**31)),
        SubscriptionMessage(2, "u", 7, AssignmentMessage(2, 0, "L", "u", 7, tasks=(ConnectorTaskId("c", 2**31),))),
        SubscriptionMessage(9, "u", 7),
    ],
)
def test_a_value_without_bytes_is_a_typed_error(message: SubscriptionMessage) -> None:
    with pytest.raises(ConnectSchemaError):
        encode_connect_subscription(message)


@pytest.mark.slow
def test_a_megabyte_of_jobs_takes_little_time_and_memory() -> None:
    tasks = tuple(ConnectorTaskId(f"connector-{number % 1000}", number // 1000) for number in range(200_000))
    message = AssignmentMessage(2, 0, "L", "u", 7, tuple(f"connector-{number}" for number in range(1000)), tasks)
    tracemalloc.start()
    started = time.process_time()
    data = encode_connect_assignment(message)
    assert len(decode_connect_assignment(data).tasks) == 200_000
    seconds = time.process_time() - started
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seconds < 20
    assert peak < 200 * 2**20
