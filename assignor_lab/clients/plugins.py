"""The strategies of client libraries as assignors: ``kafka_python_range``, ``franz_go_sticky`` and so on.

Libraries for Python are imported; those in other languages answer through a driver, a program of the user.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from assignment_api import AssignorLabError
from assignment_api.consumer import ConsumerPartitionAssignor
from assignment_api.plugins import ConfigKeyError
from assignment_api.plugins.entries import PartitionAssignorPlugin

if TYPE_CHECKING:
    from assignor_lab.clients.leader import ClientLibrary

__all__ = [
    "CLIENT_ASSIGNORS",
    "LIBRARIES",
    "client_assignor",
    "client_library",
    "has_driver",
    "known_client_assignor",
    "use_drivers",
]

_OF_PYTHON = {
    "kafka-python": ("range", "roundrobin", "sticky", "cooperative-sticky"),
    "aiokafka": ("range", "roundrobin", "sticky"),
}
_OF_DRIVERS = {
    "librdkafka": ("range", "roundrobin", "cooperative-sticky"),
    "franz-go": ("range", "roundrobin", "sticky", "cooperative-sticky"),
    "sarama": ("range", "roundrobin", "sticky"),
    "kafkajs": ("roundrobin",),
}
_STRATEGIES = _OF_PYTHON | _OF_DRIVERS
LIBRARIES = tuple(_STRATEGIES)
#: Libraries around librdkafka.
_ALIASES = {"confluent-kafka": "librdkafka", "rdkafka": "librdkafka"}
#: Commands of drivers, one a line; processes that share the plays of a plan inherit it.
_VARIABLE = "ASSIGNOR_CLIENT_DRIVERS"


def use_drivers(commands: Iterable[str]) -> None:
    """Lets these programs answer for the libraries that they have, in this process and those that it starts."""
    given = "\n".join(commands)
    if given:
        os.environ[_VARIABLE] = given


def has_driver(client: str) -> bool:
    """True if a driver answers for a library in another language, or it needs none."""
    library = client_library(client)
    return library in _OF_PYTHON or library in _driven(os.environ.get(_VARIABLE, ""), os.getpid())


def _created(library: str, strategy: str) -> ConsumerPartitionAssignor:
    from assignor_lab.clients.leader import ClientLibraryError, ClientStrategyAssignor

    if library in _OF_PYTHON:
        from assignor_lab.clients.python_libraries import PYTHON_LIBRARIES

        try:
            found = PYTHON_LIBRARIES[library]()
        except ModuleNotFoundError:
            raise ClientLibraryError(f"{library} is not installed: pip install 'assignor-lab[clients]'") from None
        return ClientStrategyAssignor(library, found.strategies[strategy])
    driven = _driven(os.environ.get(_VARIABLE, ""), os.getpid())
    if library not in driven:
        raise ClientLibraryError(_without_driver(library))
    return ClientStrategyAssignor(library, driven[library].strategies[strategy])


def _without_driver(library: str) -> str:
    return (
        f"{library} answers through a driver, and none here has it: give --driver COMMAND or {_VARIABLE} (in a clone, "
        "scripts/build-clients builds drivers)"
    )


@cache
def _driven(commands: str, _process: int) -> dict[str, ClientLibrary]:
    """The libraries of drivers. They end with this process, whose end closes their input.

    Args:
        _process: Drivers are not shared with forked processes.
    """
    from assignor_lab.clients.driver import LibraryDriver

    return {each.name: each for command in commands.splitlines() for each in LibraryDriver(command).libraries}


#: A missing library is an error of the first use.
CLIENT_ASSIGNORS: Sequence[PartitionAssignorPlugin] = tuple(
    PartitionAssignorPlugin(
        name=f"{library}_{strategy}".replace("-", "_"),
        factory=partial(_created, library, strategy),
        protocols=("cooperative",) if strategy == "cooperative-sticky" else ("eager",),
        summary=f"Strategy {strategy} as the leader of a group decides with {library}.",
    )
    for library, strategies in _STRATEGIES.items()
    for strategy in strategies
)


def client_library(client: str) -> str:
    """The library of a name: ``confluent-kafka`` is librdkafka."""
    name = client.lower()
    return _ALIASES.get(name, name)


def known_client_assignor(client: str, strategy: str) -> str | None:
    """:func:`client_assignor`; ``None`` if the library has no such strategy, or no driver here."""
    try:
        return client_assignor(client, strategy)
    except AssignorLabError:
        return None


def client_assignor(client: str, strategy: str) -> str:
    """The assignor of a library's strategy; ``strategy`` is Kafka's name, or that of its own assignor here.

    Raises:
        ConfigKeyError: if the library has no such strategy, or no driver here.
        ClientLibraryError: if a driver does not start.
    """
    name = f"{client_library(client)}_{strategy.removeprefix('consumer_')}".replace("-", "_").lower()
    known = [each.name for each in CLIENT_ASSIGNORS]
    own = _STRATEGIES.get(client_library(client))
    if own is None:
        raise ConfigKeyError(f"--client {client!r:.80}: no such library; there are {', '.join(_STRATEGIES)}")
    if name not in known:
        raise ConfigKeyError(
            f"--client {client}: no strategy {strategy!r:.80}; there are {', '.join(own)} (in groups of KIP-848 the "
            "brokers decide, and no library)"
        )
    if not has_driver(client):
        raise ConfigKeyError(_without_driver(client_library(client)))
    return name
