"""Member ids: the client or instance id, and a random UUID (Kafka: ``ClassicGroup.generateMemberId``).

The group's leader follows from them: see :mod:`assignor_lab.kafka.coordinator.leader_election`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from random import Random
from uuid import UUID

from assignor_lab.kafka.coordinator.requests import JoinRequest

__all__ = ["MemberIds", "is_member_id", "numbered_names"]

_UUID = re.compile(r"-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")


def is_member_id(name: str) -> bool:
    """True for a recorded member id: a broker has added a UUID to it."""
    return _UUID.search(name) is not None


class MemberIds:
    """Draws the ids of a group's members by a seed, each once."""

    def __init__(self, seed: int | str) -> None:
        self._random = Random(f"member ids of {seed}")  # noqa: S311 - a simulation, not a secret
        self._used: set[str] = set()

    def new(self, client_id: str, recorded: Iterable[str] = ()) -> str:
        """The first recorded id that no member has had, else a drawn one.

        Args:
            client_id: The client id, or the ``group.instance.id`` of a static member; a UUID at its end is replaced.
        """
        unused = (each for each in recorded if is_member_id(each) and each not in self._used)
        drawn = UUID(int=self._random.getrandbits(128), version=4)
        identity = next(unused, f"{_UUID.sub('', client_id)}-{drawn}")
        self._used.add(identity)
        return identity


def numbered_names() -> Callable[[JoinRequest], str]:
    """Readable member ids: a worker's name, with a number from its second membership on."""
    incarnations: dict[str, int] = {}

    def name(request: JoinRequest) -> str:
        number = incarnations[request.worker] = incarnations.get(request.worker, 0) + 1
        return request.worker if number == 1 else f"{request.worker}/{number}"

    return name
