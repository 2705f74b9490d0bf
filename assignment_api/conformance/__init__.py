"""Conformance kit for authors of assignors; needs the extra ``conformance``."""

from assignment_api.conformance.cases import (
    ConnectAssignorConformance,
    ConsumerAssignorConformance,
    ConsumerGroupAssignorConformance,
    GroupAssignorConformance,
    ShareGroupAssignorConformance,
    StreamsAssignorConformance,
)
from assignment_api.conformance.conform import KINDS, conformance, replayed
from assignment_api.conformance.history import (
    Capabilities,
    Event,
    History,
    HistoryFormatError,
    document_of,
    history_of,
)
from assignment_api.conformance.kinds.kind import Kind
from assignment_api.conformance.levels import KIT_VERSION, LEVELS, RULES, Level, LevelText, Rule
from assignment_api.conformance.metric_cases import MetricConformance
from assignment_api.conformance.report import Failure, LevelResult, Report
from assignment_api.conformance.subject import InProcessSubject, Leader, Raised, Reply, Subject, raised_by
from assignment_api.conformance.trial import Broken, Trial

__all__ = [
    "KINDS",
    "KIT_VERSION",
    "LEVELS",
    "RULES",
    "Broken",
    "Capabilities",
    "ConnectAssignorConformance",
    "ConsumerAssignorConformance",
    "ConsumerGroupAssignorConformance",
    "Event",
    "Failure",
    "GroupAssignorConformance",
    "History",
    "HistoryFormatError",
    "InProcessSubject",
    "Kind",
    "Leader",
    "Level",
    "LevelResult",
    "LevelText",
    "MetricConformance",
    "Raised",
    "Reply",
    "Report",
    "Rule",
    "ShareGroupAssignorConformance",
    "StreamsAssignorConformance",
    "Subject",
    "Trial",
    "conformance",
    "document_of",
    "history_of",
    "raised_by",
    "replayed",
]
