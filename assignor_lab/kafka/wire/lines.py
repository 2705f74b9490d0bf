"""Lines of JSON with messages: fills in missing fields, and keeps all others (docs, "Wire formats")."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from os import PathLike
from typing import Any, BinaryIO

import attrs

from assignment_api.errors import AssignorLabError, ProcessIdFormatError, TaskIdFormatError
from assignment_api.streams import ProcessID, TaskId
from assignor_lab.documents.errors import printable
from assignor_lab.documents.json_lines import json_lines
from assignor_lab.documents.shapes import (
    INT_MAX,
    LONG_MAX,
    LONG_MIN,
    Check,
    Mismatch,
    at,
    described,
    faults_at,
    hexadecimal,
    list_of,
    map_of,
    nullable,
    record,
    text,
    whole,
)
from assignor_lab.kafka.wire.assignment_info import decode_assignment, encode_assignment
from assignor_lab.kafka.wire.connect import (
    check_connect_assignment,
    check_connect_subscription,
    connect_assignment_document,
    connect_assignment_of_document,
    connect_subscription_document,
    connect_subscription_of_document,
    decode_connect_assignment,
    decode_connect_subscription,
    encode_connect_assignment,
    encode_connect_subscription,
)
from assignor_lab.kafka.wire.consumer.documents import (
    check_consumer_assignment,
    check_consumer_subscription,
    check_cooperative_user_data,
    check_sticky_user_data,
    consumer_assignment_document,
    consumer_assignment_of_document,
    consumer_subscription_document,
    consumer_subscription_of_document,
    sticky_user_data_document,
    sticky_user_data_of_document,
)
from assignor_lab.kafka.wire.consumer.messages import (
    decode_consumer_assignment,
    decode_consumer_subscription,
    encode_consumer_assignment,
    encode_consumer_subscription,
)
from assignor_lab.kafka.wire.consumer.user_data import (
    decode_cooperative_user_data,
    decode_sticky_user_data,
    encode_cooperative_user_data,
    encode_sticky_user_data,
)
from assignor_lab.kafka.wire.documents import (
    assignment_document,
    assignment_of_document,
    subscription_document,
    subscription_of_document,
)
from assignor_lab.kafka.wire.subscription_info import decode_subscription, encode_subscription

__all__ = ["KINDS", "WireKind", "decode_lines", "encode_lines"]

Document = dict[str, Any]


@attrs.frozen
class WireKind:
    """A kind of message.

    Args:
        decode: Bytes to the JSON form of the message; raises an :class:`AssignorLabError` for bytes that Kafka refuses.
        encode: The other direction.
        check: Raises ``Mismatch`` if a document does not have the shape of the JSON form.
        version_beside: The version is a field next to ``decoded``, not inside it.
    """

    name: str
    decode: Callable[[bytes], Document]
    encode: Callable[[Document], bytes]
    check: Check[Document]
    version_beside: bool = False


def decode_lines(kind: WireKind, source: str | PathLike[str] | BinaryIO) -> Iterator[Document]:
    """Yield the documents of a file with ``decoded`` filled in from ``hex``.

    Bytes that Kafka refuses get ``decoded`` null and ``error``; a document with ``hex`` null stays unchanged.

    Raises:
        DocumentFormatError: if the file cannot be read, a line is no JSON object, or ``hex`` is missing or no
            hexadecimal text; the documents before it have been yielded.
    """
    return _filled(source, lambda document: _decoded(kind, document))


def encode_lines(kind: WireKind, source: str | PathLike[str] | BinaryIO) -> Iterator[Document]:
    """Yield the documents of a file with ``hex`` filled in from ``version`` and ``decoded``.

    Messages that Kafka refuses get ``hex`` null and ``error``; a document with ``decoded`` null stays unchanged.

    Raises:
        DocumentFormatError: if the file cannot be read, a line is no JSON object, or ``decoded`` is missing or has
            another shape; the documents before it have been yielded.
    """
    return _filled(source, lambda document: _encoded(kind, document))


def _filled(source: str | PathLike[str] | BinaryIO, fill: Callable[[Document], Document]) -> Iterator[Document]:
    for place, document in json_lines(source):
        with faults_at(place):
            if type(document) is not dict:
                raise Mismatch(f"expected a message (a JSON object), found {described(document)}")
            filled = fill(document)
        yield filled


def _decoded(kind: WireKind, document: Document) -> Document:
    data = _bytes_of(document)
    if data is None:
        return document
    try:
        decoded = kind.decode(data)
        version = decoded.pop("version") if kind.version_beside else None
        if kind.version_beside and document.get("version") is None:
            document = {**document, "version": version}
        return _with(document, "decoded", decoded)
    except AssignorLabError as error:
        return _with(document, "decoded", None, error)


def _encoded(kind: WireKind, document: Document) -> Document:
    decoded = _required(document, "decoded")
    if decoded is None:
        return document
    if kind.version_beside and type(decoded) is dict:
        decoded = {"version": _required(document, "version"), **decoded}
    checked = at(kind.check, decoded, "decoded")
    version = document.get("version", checked["version"])
    if version != checked["version"]:
        raise Mismatch(
            f"is {described(version)}, but decoded.version is {checked['version']}: make them equal", "version"
        )
    try:
        return _with(document, "hex", kind.encode(checked).hex())
    except AssignorLabError as error:
        return _with(document, "hex", None, error)


def _bytes_of(document: Document) -> bytes | None:
    return at(nullable(hexadecimal), _required(document, "hex"), "hex")


def _required(document: Mapping[str, Any], key: str) -> Any:
    if key not in document:
        raise Mismatch(f'required key "{key}" is missing: is this a file of messages?', key)
    return document[key]


def _with(document: Document, key: str, value: Any, error: AssignorLabError | None = None) -> Document:
    filled = {name: held for name, held in document.items() if name != "error" or error is not None}
    filled[key] = value
    if error is not None:
        filled["error"] = {"type": type(error).__name__, "java_type": error.java_type, "message": str(error)}
    return filled


# --- the shapes of the JSON forms -----------------------------------------------------------------

_INT = whole(-(2**31), INT_MAX)
_LONG = whole(LONG_MIN, LONG_MAX)
_BYTE = whole(-128, 127)


def _task_id(value: Any) -> str:
    try:
        TaskId.parse(text(value))
    except TaskIdFormatError:
        raise Mismatch(f'"{printable(value)}" is no task id: expected one such as "1_0" or "topology__1_0"') from None
    return str(value)


def _process_id(value: Any) -> str:
    try:
        ProcessID.parse(text(value))
    except ProcessIdFormatError:
        raise Mismatch(f'"{printable(value)}" is no process id: expected a UUID') from None
    return str(value)


def _tuple_of(*checks: Check[Any]) -> Check[list[Any]]:
    def read(value: Any) -> list[Any]:
        if type(value) is not list or len(value) != len(checks):
            raise Mismatch(f"expected a list of {len(checks)}, found {described(value)}")
        return [check(item) for check, item in zip(checks, value, strict=True)]

    return read


_PARTITIONS = list_of(_tuple_of(nullable(text), _INT))
_HOSTS = list_of(_tuple_of(text, _INT, _PARTITIONS))
_SUBSCRIPTION: Check[Document] = record(
    {
        "version": _INT,
        "latest_supported_version": _INT,
        "process_id": _process_id,
        "user_end_point": nullable(text),
        "task_offset_sums": map_of(_task_id, _LONG),
        "unique_field": _BYTE,
        "error_code": _INT,
        "client_tags": map_of(text, text),
    }
)
_ASSIGNMENT: Check[Document] = record(
    {
        "version": _INT,
        "commonly_supported_version": _INT,
        "active_tasks": list_of(_task_id),
        "standby_tasks": map_of(_task_id, _PARTITIONS),
        "partitions_by_host": _HOSTS,
        "standby_partitions_by_host": _HOSTS,
        "error_code": _INT,
        "next_rebalance_ms": _LONG,
    }
)

KINDS: Mapping[str, WireKind] = {
    kind.name: kind
    for kind in (
        WireKind(
            "subscription",
            lambda data: subscription_document(decode_subscription(data)),
            lambda document: encode_subscription(subscription_of_document(document)),
            _SUBSCRIPTION,
        ),
        WireKind(
            "assignment",
            lambda data: assignment_document(decode_assignment(data)),
            lambda document: encode_assignment(assignment_of_document(document)),
            _ASSIGNMENT,
        ),
        WireKind(
            "connect-subscription",
            lambda data: connect_subscription_document(decode_connect_subscription(data)),
            lambda document: encode_connect_subscription(connect_subscription_of_document(document)),
            check_connect_subscription,
            version_beside=True,
        ),
        WireKind(
            "connect-assignment",
            lambda data: connect_assignment_document(decode_connect_assignment(data)),
            lambda document: encode_connect_assignment(connect_assignment_of_document(document)),
            check_connect_assignment,
        ),
        WireKind(
            "consumer-subscription",
            lambda data: consumer_subscription_document(decode_consumer_subscription(data)),
            lambda document: encode_consumer_subscription(consumer_subscription_of_document(document)),
            check_consumer_subscription,
            version_beside=True,
        ),
        WireKind(
            "consumer-assignment",
            lambda data: consumer_assignment_document(decode_consumer_assignment(data)),
            lambda document: encode_consumer_assignment(consumer_assignment_of_document(document)),
            check_consumer_assignment,
            version_beside=True,
        ),
        WireKind(
            "consumer-sticky-user-data",
            lambda data: sticky_user_data_document(decode_sticky_user_data(data)),
            lambda document: encode_sticky_user_data(sticky_user_data_of_document(document)),
            check_sticky_user_data,
            version_beside=True,
        ),
        WireKind(
            "consumer-cooperative-user-data",
            lambda data: {"version": 0, "generation": decode_cooperative_user_data(data)},
            lambda document: encode_cooperative_user_data(document["generation"]),
            check_cooperative_user_data,
            version_beside=True,
        ),
    )
}
