"""The error for logs without an assignment decision."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from assignor_lab.capture.errors import NoDecisionError
from assignor_lab.capture.logs.decisions import TOO_OLD
from assignor_lab.capture.logs.log_texts import log_head
from assignor_lab.capture.logs.rebalance import LogProblem
from assignor_lab.capture.logs.surroundings import LoggedSurroundings

__all__ = ["no_decision"]

#: First line of a table of Kafka's tools, or their sentence on a group without members.
_IS_DESCRIPTION = re.compile(
    r"^[\s>|]*(?:GROUP\s+(?:ASSIGNMENT-STRATEGY|CONSUMER-ID|COORDINATOR|GROUP-EPOCH|MEMBER|STATE|TOPIC)\b|"
    r"(?:Consumer|Streams|Share) group '[^']*' (?:has no active members|does not exist))",
    re.MULTILINE,
)


def no_decision(
    files: Sequence[str | Path], problems: Sequence[LogProblem], surroundings: LoggedSurroundings
) -> NoDecisionError:
    """Reason and remedy, by the content of the logs.

    Args:
        problems: Garbled messages.
    """
    name = str(files[0]) if files else "(no file)"
    if len(files) > 1:
        name += f" (and {len(files) - 1} more)"
    if surroundings.is_streams_protocol:
        return NoDecisionError(
            name,
            None,
            "the group speaks the streams protocol (KIP-1071), in which no instance decides but its coordinator",
            "record it from its coordinator's topic with assignor record, or capture it as it is now with assignor "
            "capture",
        )
    if surroundings.too_old:
        return NoDecisionError(
            name, None, TOO_OLD, "give the logs of a newer release, or record the group with assignor capture"
        )
    if problems:
        more = f", and {len(problems) - 1} more like it" if len(problems) > 1 else ""
        return NoDecisionError(
            name, None, f"no assignment decision that is complete ({problems[0]}{more})", "give the whole log"
        )
    if groups := list(surroundings.groups()):
        return NoDecisionError(
            name,
            None,
            "no assignment decision: a coordinator's lines have times and reasons of the rebalances of "
            f"{', '.join(map(repr, groups[:3]))}, but no assignment",
            "give them with the logs of that group's instances, or with its folder of assignor record",
        )
    if any((head := log_head(path)) is not None and _IS_DESCRIPTION.search(head.text) for path in files):
        return NoDecisionError(
            name,
            None,
            "this is the output of kafka-streams-groups.sh or kafka-consumer-groups.sh, without assignment decisions",
            "read the group as it is now with assignor capture --bootstrap-server HOST:PORT --group GROUP",
        )
    if surroundings.is_connect:
        return NoDecisionError(
            name,
            None,
            "no assignment decision of Kafka Streams: the lines are those of Connect workers",
            "compare the workers' decisions with assignor connect replay; assignor connect import makes "
            "histories of recorded answers of brokers",
        )
    return NoDecisionError(
        name,
        None,
        "no assignment decision",
        "look for the group leader's lines 'Decided on assignment: {...}' (INFO, logger HighAvailabilityTaskAssignor), "
        "or, for another assignor, set the logger "
        "org.apache.kafka.streams.processor.internals.StreamsPartitionAssignor to DEBUG; every "
        "instance can be the leader, so give the logs of all",
    )
