"""The words by which Kafka's messages about an assignment are found, whatever stands around them."""

from __future__ import annotations

import enum

__all__ = ["MARKERS", "OF_EPOCHS", "SECOND_LINE_OF_TASKS", "Kind"]


class Kind(enum.Enum):
    """The messages of a rebalance at its leader, in the order in which Kafka 4.3 writes them, and others around it."""

    STREAMS_CONFIG = "StreamsConfig values: "
    JOINED = "Successfully joined group with generation Generation{"
    CLIENT_METADATA = "Constructed client metadata "
    END_OFFSETS_FAILED = " end offsets for changelogs"
    PARTICIPANTS = "participating in this rebalance: "
    TASKS = "Assigning stateful tasks: "
    CLIENT_STATES = "Assigning tasks "
    ASSIGNOR = " as the task assignor."
    DEFAULT_ASSIGNOR = "No custom task assignors found"
    BEFORE_OPTIMIZATION = "Assignment before active task optimization is "
    DECIDED = "Decided on assignment: "
    PLACEMENT = "Assignment of tasks to nodes: "
    OLD_PLACEMENT = "ssigned tasks "
    TEMPORARY_STANDBY = "Adding removed stateful active task "
    PROBING = " to probe for caught-up replica tasks"
    IMMEDIATE = "Requesting followup rebalance be scheduled immediately"
    FOLLOWUP_OF_CLIENT = "Requested client "
    CONSUMERS = " per-consumer assignment:"
    FINISHED = "stable assignment of tasks"
    GENERATION = "assignment for group at generation "
    #: The coordinator's, at a broker.
    PREPARING = "Preparing to rebalance group "
    STABILIZED = "Stabilized group "
    RECEIVED = "Assignment received from leader "
    #: Those of an instance as a whole, and of its consumers' configuration.
    CLIENT = "stream-client ["
    CONSUMER_CONFIG = "ConsumerConfig values: "
    #: A consumer asks to be let into the group.
    JOINING = "(Re-)joining group"
    #: What an instance restored: where that began, a store, and then the task that it is of.
    END_OFFSET = "End offset for changelog "
    RESTORED = "Finished restoring changelog "
    RESTORED_TASK = "Stateful active task "
    #: A thread's, whose tasks have lost their state or their transaction.
    CORRUPTED = "Detected the states of tasks "
    #: Any message of a Connect worker's group: another command reads those.
    CONNECT_WORKER = "[Worker clientId="
    #: The coordinator of a group of the streams protocol, which decides there.
    STREAMS_JOINS = "Member joins the streams group"
    STREAMS_MEMBER = "Member updated its member metadata to StreamsGroupMember["
    STREAMS_LEFT = " left the streams group"
    STREAMS_FENCED = "Streams member "
    STREAMS_TOPICS = "Computed new metadata hash: "
    STREAMS_BUMPED = "Bumped streams group epoch to "
    STREAMS_TARGET = "Computed a new target assignment for epoch "
    STREAMS_STATE = "Member's new assignment state: epoch="


#: What the coordinator of a group of the streams protocol logs, from which its epochs are put together.
OF_EPOCHS = frozenset(
    {
        Kind.STREAMS_JOINS,
        Kind.STREAMS_MEMBER,
        Kind.STREAMS_LEFT,
        Kind.STREAMS_FENCED,
        Kind.STREAMS_TOPICS,
        Kind.STREAMS_BUMPED,
        Kind.STREAMS_TARGET,
        Kind.STREAMS_STATE,
    }
)
SECOND_LINE_OF_TASKS = "and stateless tasks: "

#: What a line must hold to matter: a message begins in it, or its second line does.
MARKERS: tuple[str, ...] = (*(kind.value for kind in Kind), SECOND_LINE_OF_TASKS)
