"""The input of a group's leader with members' bytes, which all client libraries read, and its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs

from assignment_api.consumer import (
    NO_PARTITIONS,
    ConsumerGroupState,
    ConsumerPartitionAssignor,
    PartitionAssignment,
)
from assignment_api.errors import AssignorLabError
from assignor_lab.kafka.wire.consumer import (
    LATEST_CONSUMER_VERSION,
    ConsumerSubscriptionMessage,
    encode_consumer_subscription,
)

__all__ = [
    "ClientLibrary",
    "ClientLibraryError",
    "ClientStrategyAssignor",
    "Decide",
    "JoinedMember",
    "LeaderInput",
    "Reporting",
    "leader_input",
]


class ClientLibraryError(AssignorLabError):
    """The strategy of a client library failed; the message has the library's exception."""


@attrs.frozen
class JoinedMember:
    """A member of a JoinGroup response; ``metadata`` are the bytes of its subscription."""

    id: str
    instance_id: str | None
    metadata: bytes


@attrs.frozen
class LeaderInput:
    """The leader's metadata, and the members in the order of the response; the first one leads.

    Args:
        partitions: Topic to the number of its partitions.
    """

    partitions: Mapping[str, int]
    members: tuple[JoinedMember, ...]


#: Returns each member's partitions by topic; any exception is the library's own.
Decide = Callable[[LeaderInput], Mapping[str, Mapping[str, Sequence[int]]]]


@attrs.frozen
class Reporting:
    """Differences of a library's members from Java's, as its strategies report former partitions.

    Args:
        user_data_prefix: Bytes before the user data of ``sticky``.
        has_generation: ``cooperative-sticky`` reports the generation of its partitions.
    """

    user_data_prefix: bytes = b""
    has_generation: bool = True


@attrs.frozen
class ClientLibrary:
    """A client library at hand.

    Args:
        name: As in its registry, such as ``kafka-python``.
        version: The installed one.
        strategies: Kafka's name of each strategy that the library has, to its decision.
        reporting: Of its members.
    """

    name: str
    version: str
    strategies: Mapping[str, Decide]
    reporting: Reporting = attrs.field(factory=Reporting)


class ClientStrategyAssignor(ConsumerPartitionAssignor):
    """A strategy of a client library behind the SPI of client-side assignors.

    Args:
        library: Its name, for messages.
        decide: Its strategy.
    """

    def __init__(self, library: str, decide: Decide) -> None:
        self._library = library
        self._decide = decide

    def assign(self, group: ConsumerGroupState) -> PartitionAssignment:
        """The library's answer, as it is: also an invalid one.

        Raises:
            ClientLibraryError: if the strategy fails.
        """
        try:
            answer = self._decide(leader_input(group))
        except ClientLibraryError:
            raise
        except Exception as error:
            raise ClientLibraryError(f"{self._library} fails: {type(error).__name__}: {error!s:.200}") from error
        return PartitionAssignment({**dict.fromkeys(group.members, NO_PARTITIONS), **answer})


def leader_input(group: ConsumerGroupState) -> LeaderInput:
    """The group as its leader receives it; topics without partitions are unknown to it."""
    return LeaderInput(
        {name: topic.partitions for name, topic in group.topics.items() if topic.partitions},
        tuple(
            JoinedMember(
                member,
                held.instance_id,
                encode_consumer_subscription(
                    ConsumerSubscriptionMessage(
                        LATEST_CONSUMER_VERSION,
                        held.topics,
                        held.user_data,
                        tuple([(topic, number) for topic, numbers in held.owned.items() for number in numbers]),
                        held.generation,
                        held.rack_id,
                    )
                ),
            )
            for member, held in group.members.items()
        ),
    )
