"""Labels of clients: the shortest familiar names of a group's clients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

__all__ = ["LABEL_LIMIT", "NamedClient", "client_labels"]

#: Longest client id for a label; Kafka's default ids hold a UUID and are meaningless to people.
LABEL_LIMIT = 24


class NamedClient(Protocol):
    """Sources of a label."""

    @property
    def process_id(self) -> str:
        """Id of a process, a member or a worker."""

    @property
    def host(self) -> str | None:
        """Its address, or ``None``."""

    @property
    def consumers(self) -> Sequence[str]: ...

    @property
    def process(self) -> str | None:
        """The process of a member; ``None``: it is a process itself."""


def client_labels(clients: Sequence[NamedClient]) -> dict[str, str]:
    """Process id → the shortest familiar name of the client that no other client has.

    That is the client id if it is short and all consumers share it, else the host, else the process id. Members of
    processes are named by their process and a number.
    """
    if any(client.process is not None for client in clients):
        return _member_labels(clients)
    for naming in (_client_id, lambda client: client.host or ""):
        names = [naming(client) for client in clients]
        if all(names) and len(set(names)) == len(names):
            return {client.process_id: name for client, name in zip(clients, names, strict=True)}
    short = [client.process_id[:8] for client in clients]
    unique = len(set(short)) == len(short)
    return {client.process_id: client.process_id[:8] if unique else client.process_id for client in clients}


def _member_labels(clients: Sequence[NamedClient]) -> dict[str, str]:
    processes = list(dict.fromkeys(client.process or "" for client in clients))
    short = {process: process if len(process) <= LABEL_LIMIT else process[:8] for process in processes}
    if len(set(short.values())) < len(processes):
        short = {process: process for process in processes}
    numbers = dict.fromkeys(processes, 0)
    labels = {}
    for client in clients:
        process = client.process or ""
        numbers[process] += 1
        labels[client.process_id] = f"{short[process]} · {numbers[process]}"
    return labels


def _client_id(client: NamedClient) -> str:
    # Kafka Streams names a consumer <client id>-StreamThread-<n>-consumer-<uuid>.
    found = {consumer.partition("-StreamThread-")[0] for consumer in client.consumers}
    name = found.pop() if len(found) == 1 else ""
    return name if len(name) <= LABEL_LIMIT and all("-StreamThread-" in each for each in client.consumers) else ""
