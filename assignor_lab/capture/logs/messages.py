"""Words that identify Kafka's messages about an assignment in any layout."""

from __future__ import annotations

import enum

__all__ = ["CAUSES", "JVM_DIED", "MARKERS", "OF_EPOCHS", "SECOND_LINE_OF_TASKS", "MessageKind"]


class MessageKind(enum.Enum):
    """Messages of a rebalance at its leader, in the order of Kafka 4.3, and others."""

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
    #: At a broker, by the coordinator.
    PREPARING = "Preparing to rebalance group "
    STABILIZED = "Stabilized group "
    RECEIVED = "Assignment received from leader "
    #: Of a whole instance, and its consumers' configuration.
    CLIENT = "stream-client ["
    CONSUMER_CONFIG = "ConsumerConfig values: "
    JOINING = "(Re-)joining group"
    REVOKED = "Revoke previously assigned partitions"
    NOTIFIED = "Notifying assignor about the new Assignment("
    #: Any other message of a static member's consumer.
    STATIC_MEMBER = "[Consumer instanceId"
    #: Start of a restore, store, and then the store's task.
    END_OFFSET = "End offset for changelog "
    RESTORED = "Finished restoring changelog "
    RESTORED_TASK = "Stateful active task "
    #: Tasks lost their state or their transaction.
    CORRUPTED = "Detected the states of tasks "
    #: The application prints its description.
    TOPOLOGY = "Topologies:"
    #: Causes of rebalances: members, threads, failed assignments, and the coordinator's view of members.
    POLL_TIMEOUT = "poll timeout has expired. This means"
    LEAVING = "sending LeaveGroup request"
    JOIN_REQUESTED = "Request joining group due to: "
    FENCED = "Detected that the thread is being fenced"
    FENCED_STATIC = "Received fatal exception: group.instance.id gets fenced"
    FENCED_EPOCH = "StreamsGroupHeartbeatRequest failed "
    UNCLEAN = "Shutting down unclean"
    ALL_DEAD = "All stream threads have died"
    THREAD_DEAD = " to DEAD"
    EXCEPTION = "Encountered the following "
    UNCAUGHT = "xception caught in streams thread "
    #: Of the JVM itself, on standard error.
    JVM_DIED = 'Exception in thread "'
    REPLACED = "Replacing thread in the streams uncaught exception handler"
    INTERNAL_TOPIC = "has invalid partitions: expected: "
    TOPICS_MISSING = "ource topics"
    TOPIC_UNKNOWN = "is unknown yet during rebalance"
    TOPIC_MISSING = "is missing/unknown during rebalance"
    UNEQUAL_TOPICS = "ollowing topics do not have the same number of partitions"
    STATUSES = "Membership is in the following statuses: "
    ASSIGNMENT_FAILED = "Caught an error in the task assignment"
    ERROR_CODE = "Received error code "
    ASSIGNOR_ERROR = "task assignor returning assignment with error"
    LEFT_GROUP = "through explicit `LeaveGroup`"
    #: Of brokers before 3.0.
    LEFT_OLD = " has left, removing it from the group"
    EXPIRED = "has failed, removing it from the group"
    #: For another command.
    CONNECT_WORKER = "[Worker clientId="
    #: The coordinator of a streams group, which decides there.
    STREAMS_JOINS = "Member joins the streams group"
    STREAMS_MEMBER = "Member updated its member metadata to StreamsGroupMember["
    STREAMS_LEFT = " left the streams group"
    STREAMS_FENCED = "Streams member "
    STREAMS_TOPICS = "Computed new metadata hash: "
    STREAMS_BUMPED = "Bumped streams group epoch to "
    STREAMS_TARGET = "Computed a new target assignment for epoch "
    STREAMS_STATE = "Member's new assignment state: epoch="


OF_EPOCHS = frozenset(
    {
        MessageKind.STREAMS_JOINS,
        MessageKind.STREAMS_MEMBER,
        MessageKind.STREAMS_LEFT,
        MessageKind.STREAMS_FENCED,
        MessageKind.STREAMS_TOPICS,
        MessageKind.STREAMS_BUMPED,
        MessageKind.STREAMS_TARGET,
        MessageKind.STREAMS_STATE,
    }
)
CAUSES = frozenset(
    {
        MessageKind.POLL_TIMEOUT,
        MessageKind.LEAVING,
        MessageKind.JOIN_REQUESTED,
        MessageKind.FENCED,
        MessageKind.FENCED_STATIC,
        MessageKind.FENCED_EPOCH,
        MessageKind.UNCLEAN,
        MessageKind.ALL_DEAD,
        MessageKind.THREAD_DEAD,
        MessageKind.EXCEPTION,
        MessageKind.UNCAUGHT,
        MessageKind.JVM_DIED,
        MessageKind.REPLACED,
        MessageKind.INTERNAL_TOPIC,
        MessageKind.TOPICS_MISSING,
        MessageKind.TOPIC_UNKNOWN,
        MessageKind.TOPIC_MISSING,
        MessageKind.UNEQUAL_TOPICS,
        MessageKind.STATUSES,
        MessageKind.ASSIGNMENT_FAILED,
        MessageKind.ERROR_CODE,
        MessageKind.ASSIGNOR_ERROR,
        MessageKind.LEFT_GROUP,
        MessageKind.LEFT_OLD,
        MessageKind.EXPIRED,
    }
)
JVM_DIED = MessageKind.JVM_DIED.value
SECOND_LINE_OF_TASKS = "and stateless tasks: "

#: A message starts in the line, or its second line does.
MARKERS: tuple[str, ...] = (*(kind.value for kind in MessageKind), SECOND_LINE_OF_TASKS)
