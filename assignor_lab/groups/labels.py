"""Labels of clients: the shortest names that a person knows the clients of a group by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

__all__ = ["LABEL_LIMIT", "NamedClient", "client_labels"]

#: Longest client id that is fit to be a label; Kafka's default ones hold a UUID and say nothing.
LABEL_LIMIT = 24


class NamedClient(Protocol):
    """What a label is made of."""

    @property
    def process_id(self) -> str:
        """Its id: of a process, a member or a worker."""

    @property
    def host(self) -> str | None:
        """Where it answers, or ``None``."""

    @property
    def consumers(self) -> Sequence[str]:
        """Ids of its consumers."""

    @property
    def process(self) -> str | None:
        """The process that it is a member of; ``None``: it is one itself."""


def client_labels(clients: Sequence[NamedClient]) -> dict[str, str]:
    """Process id → the shortest name that a person knows the client by and that no other client has.

    That is the client id where it is short and all consumers share it, else the host, else the process id. Members of
    processes are called by their process and a number.
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
