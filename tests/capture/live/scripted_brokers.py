"""Brokers with scripted responses: a socket each, and a few requests. For cases that no real broker produces on
demand.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Self

from kafka.protocol.admin.groups import (
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    ListGroupsRequest,
    ListGroupsResponse,
)
from kafka.protocol.metadata import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    MetadataRequest,
    MetadataResponse,
)

__all__ = ["ScriptedBrokers"]

#: Request to its supported versions: those of Kafka 2.8, which has neither types of groups nor key 89.
VERSIONS = {
    ApiVersionsRequest: 4,
    MetadataRequest: 9,
    FindCoordinatorRequest: 3,
    DescribeGroupsRequest: 5,
    ListGroupsRequest: 4,
}
RESPONSES = {
    ApiVersionsRequest: ApiVersionsResponse,
    MetadataRequest: MetadataResponse,
    FindCoordinatorRequest: FindCoordinatorResponse,
    DescribeGroupsRequest: DescribeGroupsResponse,
    ListGroupsRequest: ListGroupsResponse,
}
NOT_COORDINATOR = 16
_LONGEST = 1024 * 1024


class ScriptedBrokers:
    """Brokers on this machine.

    Args:
        groups: Each broker's groups: id to its values in DescribeGroups (state, protocol type, protocol).
        host: Their address.
        moves: Group to the broker that reports, once, another coordinator.
        is_lost: True if no broker is ever a group's coordinator.
    """

    def __init__(
        self,
        groups: Sequence[Mapping[str, tuple[str, str, str]]],
        host: str = "127.0.0.1",
        moves: Mapping[str, int] | None = None,
        *,
        is_lost: bool = False,
    ) -> None:
        self.groups, self.host, self.is_lost = groups, host, is_lost
        self.moves = dict(moves or {})
        self.asked: list[tuple[int, str]] = []
        self._stack = ExitStack()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._sockets = [self._stack.enter_context(socket.socket(family)) for _ in groups]
        for each in self._sockets:
            each.bind((host, 0))
            each.listen()
        self.ports = [each.getsockname()[1] for each in self._sockets]
        self._answers: dict[Any, Callable[[int, Any], dict[str, Any]]] = {
            ApiVersionsRequest: self._versions,
            MetadataRequest: self._metadata,
            FindCoordinatorRequest: self._coordinator,
            DescribeGroupsRequest: self._described,
            ListGroupsRequest: self._listed,
        }

    @property
    def address(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.ports[0]}"

    def __enter__(self) -> Self:
        for number, each in enumerate(self._sockets):
            threading.Thread(target=self._accept, args=(number, each), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._sockets:
            # This wakes a waiting thread; closing does not.
            each.shutdown(socket.SHUT_RDWR)
        self._stack.close()

    # --- one broker ---------------------------------------------------------------------------------------

    def _accept(self, number: int, listening: socket.socket) -> None:
        while True:
            try:
                link, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(number, link), daemon=True).start()

    def _serve(self, number: int, link: socket.socket) -> None:
        with link, link.makefile("rb") as stream:
            while len(size := stream.read(4)) == 4:
                length = int.from_bytes(size, "big")
                if length > _LONGEST:
                    # Brokers do that at invalid requests, such as a TLS greeting.
                    return
                link.sendall(self._response(number, stream.read(length)))

    def _response(self, number: int, data: bytes) -> bytes:
        key, version, correlation = struct.unpack_from(">hhi", data)
        request = next(each for each in VERSIONS if key == each.API_KEY)
        asked = request.decode(data, version=version, header=True)
        self.asked.append((number, request.__name__))
        response = RESPONSES[request](version=version, **self._answers[request](number, asked))
        response.with_header(correlation_id=correlation)
        return bytes(response.encode(header=True, framed=True))

    # --- answers ------------------------------------------------------------------------------------------

    def _versions(self, _number: int, _asked: Any) -> dict[str, Any]:
        keys = [
            ApiVersionsResponse.ApiVersion(api_key=each.API_KEY, min_version=0, max_version=most)
            for each, most in VERSIONS.items()
        ]
        return {"error_code": 0, "api_keys": keys, "throttle_time_ms": 0}

    def _metadata(self, _number: int, _asked: Any) -> dict[str, Any]:
        brokers = [
            MetadataResponse.MetadataResponseBroker(node_id=number, host=self.host, port=port, rack=None)
            for number, port in enumerate(self.ports)
        ]
        return {"throttle_time_ms": 0, "brokers": brokers, "cluster_id": "scripted", "controller_id": 0, "topics": []}

    def _coordinator(self, _number: int, asked: Any) -> dict[str, Any]:
        if self.is_lost:
            return {"throttle_time_ms": 0, "error_code": 15, "error_message": "", "node_id": -1, "host": "", "port": -1}
        group = asked.key
        at = self.moves.get(group)
        if at is None:
            at = next((number for number, groups in enumerate(self.groups) if group in groups), 0)
        port = self.ports[at]
        return {
            "throttle_time_ms": 0, "error_code": 0, "error_message": "", "node_id": at, "host": self.host, "port": port,
        }  # fmt: skip

    def _listed(self, number: int, _asked: Any) -> dict[str, Any]:
        groups = [
            ListGroupsResponse.ListedGroup(group_id=name, protocol_type=kind, group_state=state)
            for name, (state, kind, _) in self.groups[number].items()
        ]
        return {"throttle_time_ms": 0, "error_code": 0, "groups": groups}

    def _described(self, number: int, asked: Any) -> dict[str, Any]:
        groups = [self._group(number, str(name)) for name in asked.groups]
        return {"throttle_time_ms": 0, "groups": groups}

    def _group(self, number: int, name: str) -> Any:
        moved = self.moves.get(name) == number
        if moved:
            del self.moves[name]
        state, kind, protocol = self.groups[number].get(name, ("Dead", "", ""))
        members = [
            DescribeGroupsResponse.DescribedGroup.DescribedGroupMember(
                member_id="m", group_instance_id=None, client_id="c", client_host="/h", member_metadata=b"",
                member_assignment=b"",
            )
        ]  # fmt: skip
        return DescribeGroupsResponse.DescribedGroup(
            error_code=NOT_COORDINATOR if moved else 0, group_id=name, group_state=state, protocol_type=kind,
            protocol_data=protocol, members=members if state == "Stable" else [],
            authorized_operations=set(),
        )  # fmt: skip
