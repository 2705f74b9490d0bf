"""States of classic Streams groups from recorded responses of brokers and their leaders' logs."""

from assignor_lab.capture.recorded.broker_answers import (
    ClusterAnswer,
    DescribedAssignment,
    DescribedGroup,
    DescribedSubscription,
    MemberAnswer,
    TopicPartition,
    read_cluster_answer,
    read_group_answer,
)
from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.capture.recorded.matching import DecisionNotFound, Match, StaticRestart, match_decision
from assignor_lab.capture.recorded.recording import RecordedResponses, Seen, read_recording
from assignor_lab.capture.recorded.replay import MemberDifference, ReplayedState, leaders_assignor, problems, replay
from assignor_lab.capture.recorded.states import RecordedState, Unusable, members_by_process, recorded_states

__all__ = [
    "recorded_states",
    "RecordedState",
    "Unusable",
    "members_by_process",
    "replay",
    "problems",
    "ReplayedState",
    "MemberDifference",
    "leaders_assignor",
    "read_recording",
    "RecordedResponses",
    "Seen",
    "match_decision",
    "Match",
    "StaticRestart",
    "DecisionNotFound",
    "read_group_answer",
    "read_cluster_answer",
    "DescribedGroup",
    "MemberAnswer",
    "DescribedSubscription",
    "DescribedAssignment",
    "TopicPartition",
    "ClusterAnswer",
    "BrokerAnswerError",
]
