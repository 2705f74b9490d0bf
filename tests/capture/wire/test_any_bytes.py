from __future__ import annotations

import struct
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assignor_lab.kafka.wire import (
    KINDS,
    CorruptMessageError,
    InvalidFieldError,
    MessageTooShortError,
    RefusedAssignmentError,
    WireError,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from tests.capture.wire.vectors import KIND_NAMES, golden_messages

Decoder = Callable[[bytes], Any]
DECODERS: dict[str, Decoder] = {"subscription": decode_subscription, "assignment": decode_assignment}
_MESSAGES = {kind: golden_messages(kind) for kind in KIND_NAMES}


@st.composite
def damaged_messages(draw: st.DrawFn) -> tuple[str, bytes]:
    kind = draw(st.sampled_from(KIND_NAMES))
    message = bytearray(draw(st.sampled_from(_MESSAGES[kind])))
    for _ in range(draw(st.integers(1, 4))):
        position = draw(st.integers(0, len(message)))
        how = draw(st.sampled_from(["cut", "insert", "remove", "number", "byte"]))
        if how == "cut":
            del message[position:]
        elif how == "insert":
            message[position:position] = draw(st.binary(max_size=9))
        elif how == "remove":
            del message[position : position + draw(st.integers(1, 9))]
        elif how == "number":
            message[position : position + 4] = struct.pack(">i", draw(st.integers(-(2**31), 2**31 - 1)))
        else:
            message[position : position + 1] = draw(st.binary(min_size=1, max_size=1))
    return kind, bytes(message)


@given(damaged_messages())
def test_a_damaged_message_is_a_value_or_a_typed_error_within_its_bytes(damaged: tuple[str, bytes]) -> None:
    kind, message = damaged
    error = _error_of(kind, message)
    if error is not None:
        assert error.java_type is not None
        assert error.position is not None
        assert 0 <= error.position <= len(message)
        assert str(error).startswith(f"byte {error.position}: ")


def _error_of(kind: str, message: bytes) -> WireError | None:
    try:
        DECODERS[kind](message)
    except WireError as error:
        return error
    return None


@given(st.sampled_from(KIND_NAMES), st.binary(max_size=200))
@example("subscription", b"")
@example("assignment", b"")
def test_any_bytes_are_a_value_or_a_typed_error(kind: str, message: bytes) -> None:
    error = _error_of(kind, message)
    assert error is None or error.position is not None


@given(damaged_messages())
def test_what_was_decoded_survives_being_encoded(damaged: tuple[str, bytes]) -> None:
    kind, message = damaged
    form = KINDS[kind]
    try:
        decoded = form.decode(message)
        again = form.encode(decoded)
    except WireError:
        return
    assert form.decode(again) == decoded


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_each_prefix_of_a_message_is_refused_with_a_position(kind: str) -> None:
    for message in _MESSAGES[kind][:11]:
        for size in range(0, len(message), 7):
            with pytest.raises((MessageTooShortError, InvalidFieldError, RefusedAssignmentError)) as raised:
                DECODERS[kind](message[:size])
            assert raised.value.position is not None
            assert raised.value.position <= size


def test_a_count_beyond_the_message_is_not_believed() -> None:
    head = struct.pack(">ii", 11, 11)
    with pytest.raises(CorruptMessageError, match=r"byte 8: 2147483647 active tasks"):
        decode_assignment(head + struct.pack(">i", 2**31 - 1))
    with pytest.raises(CorruptMessageError, match=r"byte 8: -1 active tasks"):
        decode_assignment(head + struct.pack(">i", -1))
    with pytest.raises(InvalidFieldError, match=r"taskOffsetSums has 2147483647 items"):
        decode_subscription(head + bytes(16) + bytes(4) + struct.pack(">i", 2**31 - 1))


@pytest.mark.slow
def test_a_megabyte_of_tasks_takes_little_time_and_memory() -> None:
    tasks = b"".join(struct.pack(">iiqh", 0, number, 0, -1) for number in range(60_000))
    subscription = struct.pack(">ii", 11, 11) + bytes(20) + struct.pack(">i", 60_000) + tasks + bytes(9)
    hosts = struct.pack(">ii", 11, 11) + bytes(12) + struct.pack(">i", 0)
    hosts = (
        hosts[:-4]
        + struct.pack(">i", 90_000)
        + b"".join(struct.pack(">Hci", 1, b"h", number) + bytes(4) for number in range(90_000))
    )
    tracemalloc.start()
    # Of this process alone: other work on the machine does not count.
    started = time.process_time()
    assert len(decode_subscription(subscription).task_offset_sums) == 60_000
    assert len(decode_assignment(hosts + bytes(16)).partitions_by_host) == 90_000
    seconds = time.process_time() - started
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seconds < 20
    assert peak < 200 * 2**20


@pytest.mark.parametrize("message", _MESSAGES["subscription"][:60:7])
def test_a_subscription_that_was_read_is_written_as_it_was(message: bytes) -> None:
    info = decode_subscription(message)
    assert decode_subscription(encode_subscription(info)) == info


@pytest.mark.parametrize("message", _MESSAGES["assignment"][:60:7])
def test_an_assignment_that_was_read_is_written_with_the_same_content(message: bytes) -> None:
    info = decode_assignment(message)
    assert KINDS["assignment"].decode(encode_assignment(info)) == KINDS["assignment"].decode(message)
