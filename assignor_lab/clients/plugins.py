"""The strategies of Python's client libraries as assignors: ``kafka_python_range`` and so on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from assignment_api.consumer import ConsumerPartitionAssignor
from assignment_api.plugins import ConfigKeyError
from assignment_api.plugins.entries import PartitionAssignorPlugin

__all__ = ["CLIENT_ASSIGNORS", "client_assignor"]

_STRATEGIES = {
    "kafka-python": ("range", "roundrobin", "sticky", "cooperative-sticky"),
    "aiokafka": ("range", "roundrobin", "sticky"),
}


def _created(library: str, strategy: str) -> ConsumerPartitionAssignor:
    from assignor_lab.clients.leader import ClientLibraryError, ClientStrategyAssignor
    from assignor_lab.clients.python_libraries import PYTHON_LIBRARIES

    try:
        found = PYTHON_LIBRARIES[library]()
    except ModuleNotFoundError:
        raise ClientLibraryError(f"{library} is not installed: pip install 'assignor-lab[clients]'") from None
    return ClientStrategyAssignor(library, found.strategies[strategy])


#: A missing library is an error of the first use.
CLIENT_ASSIGNORS: Sequence[PartitionAssignorPlugin] = tuple(
    PartitionAssignorPlugin(
        name=f"{library}_{strategy}".replace("-", "_"),
        factory=partial(_created, library, strategy),
        protocols=("cooperative",) if strategy == "cooperative-sticky" else ("eager",),
        summary=f"Strategy {strategy} as the leader of a group decides with the installed {library}.",
    )
    for library, strategies in _STRATEGIES.items()
    for strategy in strategies
)


def client_assignor(client: str, strategy: str) -> str:
    """The assignor of a library's strategy; ``strategy`` is Kafka's name, or that of its own assignor here.

    Raises:
        ConfigKeyError: if the library has no such strategy.
    """
    name = f"{client}_{strategy.removeprefix('consumer_')}".replace("-", "_").lower()
    known = [each.name for each in CLIENT_ASSIGNORS]
    if name not in known:
        listed = ", ".join(f"{library}: {', '.join(names)}" for library, names in _STRATEGIES.items())
        raise ConfigKeyError(f"--client {client}: no strategy {strategy!r:.80}; there are {listed}")
    return name
