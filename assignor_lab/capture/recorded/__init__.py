"""States of classic Streams groups from recorded answers of brokers and log lines of their leaders."""

from assignor_lab.capture.recorded.broker_answers import (
    ClusterAnswer,
    GroupAnswer,
    MemberAnswer,
    MemberAssignment,
    MemberSubscription,
    TopicPartition,
    read_cluster_answer,
    read_group_answer,
)
from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.capture.recorded.matching import DecisionNotFound, Match, StaticRestart, match_decision
from assignor_lab.capture.recorded.recording import Recording, Seen, read_recording
from assignor_lab.capture.recorded.replay import MemberDifference, Replay, leaders_assignor, problems, replay
from assignor_lab.capture.recorded.states import RecordedState, Unusable, members_by_process, recorded_states

__all__ = [
    "recorded_states",
    "RecordedState",
    "Unusable",
    "members_by_process",
    "replay",
    "problems",
    "Replay",
    "MemberDifference",
    "leaders_assignor",
    "read_recording",
    "Recording",
    "Seen",
    "match_decision",
    "Match",
    "StaticRestart",
    "DecisionNotFound",
    "read_group_answer",
    "read_cluster_answer",
    "GroupAnswer",
    "MemberAnswer",
    "MemberSubscription",
    "MemberAssignment",
    "TopicPartition",
    "ClusterAnswer",
    "BrokerAnswerError",
]
