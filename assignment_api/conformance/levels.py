"""Levels of conformance and their rules."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import attrs

__all__ = ["KIT_VERSION", "LEVELS", "RULES", "Level", "LevelText", "Rule"]

#: Rises with each new or stricter rule.
KIT_VERSION = 3


class Level(enum.Enum):
    """A level, in the order of reports."""

    VALID = "valid"
    COMPLETE = "complete"
    PURE = "pure"
    DETERMINISTIC = "deterministic"
    STABLE = "stable"
    CONVERGENT = "convergent"
    BOUNDED = "bounded"


@attrs.frozen
class LevelText:
    """The demand of a level."""

    asks: str
    reason: str
    source: str


#: Text of each level.
LEVELS: Mapping[Level, LevelText] = {
    Level.VALID: LevelText(
        "Kafka accepts every answer.",
        "Otherwise Kafka fails the rebalance and ends the leader's thread.",
        "TaskAssignmentUtils.validateTaskAssignment (Streams), the coordinator (groups), WorkerCoordinator (Connect)",
    ),
    Level.COMPLETE: LevelText(
        "Every answer places every task once, and useful copies.",
        "Kafka does not check this: a task without an owner stops until the next rebalance, or longer.",
        "KIP-924: each task is active exactly once; KIP-441: a standby is on another instance",
    ),
    Level.PURE: LevelText(
        "The answer depends on the input alone: no change of the input, no clock, no randomness, no state.",
        "The leader can change at any time, and the next one must compute the same answer.",
        "KIP-924: one object for each rebalance; contract of assignment_api.TaskAssignor",
    ),
    Level.DETERMINISTIC: LevelText(
        "Neither the order of the input nor the process changes the answer.",
        "Members join in any order, and leaders are different processes: tasks would move for no reason.",
        "contract of assignment_api.TaskAssignor; Kafka's leader fills hash maps in the order of joining",
    ),
    Level.STABLE: LevelText(
        "An answer without a follow-up rebalance is repeated if nothing changes.",
        "Otherwise every rebalance would move tasks and their state.",
        "KIP-54 and KIP-441: sticky assignment; KAFKA-21166 shows the opposite",
    ),
    Level.CONVERGENT: LevelText(
        "After any event a group settles within a bounded number of rebalances.",
        "A group that probes forever rebalances every ten minutes (KAFKA-10651).",
        "Kafka's TaskAssignorConvergenceTest: 2 x (stateful tasks + their standbys) rebalances after an event",
    ),
    Level.BOUNDED: LevelText(
        "The time of an answer grows hardly faster than tasks times clients.",
        "The leader assigns inside its own poll: too long a call ends its membership.",
        "Kafka's StreamsAssignmentScaleTest; max.poll.interval.ms",
    ),
}


@attrs.frozen
class Rule:
    """One rule of a level."""

    level: Level
    expected: str


#: By name in reports.
RULES: Mapping[str, Rule] = {
    "answers": Rule(Level.VALID, "An assignor answers, or raises the refusal error of its kind, and no other."),
    "in time": Rule(Level.VALID, "An assignor answers before its deadline, and within its limits."),
    "right types": Rule(Level.VALID, "An answer and all its items have the types of the interface."),
    "accepted": Rule(Level.VALID, "Kafka accepts the answer."),
    "callback": Rule(Level.VALID, "The callback accepts every final assignment and raises nothing."),
    "point in time": Rule(
        Level.VALID, "A follow-up deadline is 0 (at once), or epoch milliseconds from now to a year from now."
    ),
    "nothing refused": Rule(Level.COMPLETE, "A group with a member that can run tasks receives an assignment."),
    "nothing lost": Rule(Level.COMPLETE, "Every task is active on exactly one member."),
    "copies elsewhere": Rule(Level.COMPLETE, "No process holds a task twice: a standby and its active are separate."),
    "copies asked for": Rule(Level.COMPLETE, "No more copies than configured, and only of tasks with a changelog."),
    "copies made": Rule(
        Level.COMPLETE, "A task with a changelog has as many standbys as configured, if there are enough processes."
    ),
    "one entry each": Rule(Level.COMPLETE, "Each member has one entry in the answer."),
    "nothing in vain": Rule(Level.COMPLETE, "No worker must stop a job that it does not run."),
    "input untouched": Rule(Level.PURE, "An assignor leaves its input unchanged."),
    "no clock": Rule(Level.PURE, "An assignor reads no clock and does not wait: the time is part of its input."),
    "no chance": Rule(Level.PURE, "An assignor uses no randomness, except from a seed of its configuration."),
    "no machine": Rule(
        Level.PURE, "An assignor reads no file, environment, folder, host name or process id: leaders differ in them."
    ),
    "nothing kept": Rule(Level.PURE, "The same input has the same answer, regardless of calls in between."),
    "any order": Rule(Level.DETERMINISTIC, "Tasks and members in another order lead to the same placement."),
    "any process": Rule(Level.DETERMINISTIC, "Another process, with another hash seed, gives the same answer."),
    "at rest": Rule(Level.STABLE, "An answer without a follow-up rebalance is repeated if nothing changes."),
    "comes to rest": Rule(
        Level.CONVERGENT, "After its last event a group settles within the bound of Kafka's own test."
    ),
    "growth": Rule(
        Level.BOUNDED, "Processor time grows by less than the cube of the size, and 2,000 tasks take at most 10 s."
    ),
}
