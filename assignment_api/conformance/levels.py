"""The levels that an assignor is held to, and the rules of each: what is expected, why, and where that comes from."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import attrs

__all__ = ["KIT_VERSION", "LEVELS", "RULES", "Level", "LevelText", "Rule"]

#: Number of the levels and rules below. It goes up where a rule is added or becomes stricter.
KIT_VERSION = 1


class Level(enum.Enum):
    """A level of conformance, in the order in which they are reported."""

    VALID = "valid"
    COMPLETE = "complete"
    PURE = "pure"
    DETERMINISTIC = "deterministic"
    STABLE = "stable"
    CONVERGENT = "convergent"
    BOUNDED = "bounded"


@attrs.frozen
class LevelText:
    """What a level asks for.

    Args:
        asks: The demand, in a sentence.
        reason: What goes wrong otherwise.
        source: Where the demand comes from.
    """

    asks: str
    reason: str
    source: str


#: Each level in words.
LEVELS: Mapping[Level, LevelText] = {
    Level.VALID: LevelText(
        "Every answer is one that Kafka accepts.",
        "Kafka fails the rebalance otherwise, and ends the thread that leads.",
        "TaskAssignmentUtils.validateTaskAssignment (Streams), the coordinator (groups), WorkerCoordinator (Connect)",
    ),
    Level.COMPLETE: LevelText(
        "Every answer places every task once, and copies where they help.",
        "Kafka does not look: a task that nobody got stands still until the next rebalance, and longer.",
        "KIP-924: each task is active exactly once; KIP-441: a standby is on another instance",
    ),
    Level.PURE: LevelText(
        "The answer depends on what was asked alone: input untouched, no clock, no chance, nothing kept.",
        "Who leads changes at any time, and the next leader must come to the same answer.",
        "KIP-924: one object for each rebalance; contract of assignment_api.TaskAssignor",
    ),
    Level.DETERMINISTIC: LevelText(
        "Neither the order of the input nor the process changes the answer.",
        "Members join in any order, and leaders are different processes: tasks would move for no reason.",
        "contract of assignment_api.TaskAssignor; Kafka's leader fills hash maps in the order of joining",
    ),
    Level.STABLE: LevelText(
        "An answer that asks for nothing more is given again when nothing changes.",
        "Every rebalance would move tasks otherwise, and state with them.",
        "KIP-54 and KIP-441: sticky assignment; KAFKA-21166 is what happens without",
    ),
    Level.CONVERGENT: LevelText(
        "Whatever happens to a group, it comes to rest within a number of rebalances.",
        "A group that probes for ever rebalances every ten minutes for ever (KAFKA-10651).",
        "Kafka's TaskAssignorConvergenceTest: 2 x (stateful tasks + their standbys) rebalances after an event",
    ),
    Level.BOUNDED: LevelText(
        "The time of an answer grows no faster than tasks times clients times a little.",
        "The leader assigns inside its own poll: what takes too long costs it its membership.",
        "Kafka's StreamsAssignmentScaleTest; max.poll.interval.ms",
    ),
}


@attrs.frozen
class Rule:
    """One rule of a level.

    Args:
        level: The level that it belongs to.
        expected: What was expected, in one sentence, as failures print it.
    """

    level: Level
    expected: str


#: Every rule, by the name that reports use.
RULES: Mapping[str, Rule] = {
    "answers": Rule(Level.VALID, "An assignor answers, or raises the error with which it may refuse; nothing else."),
    "in time": Rule(Level.VALID, "An assignor answers before its deadline, and within its limits."),
    "right types": Rule(Level.VALID, "An answer is of the types that the interface says, every item in it."),
    "accepted": Rule(Level.VALID, "Kafka accepts the answer."),
    "nothing refused": Rule(Level.COMPLETE, "A group in which somebody can run tasks is given an assignment."),
    "nothing lost": Rule(Level.COMPLETE, "Every task is active on exactly one member."),
    "copies elsewhere": Rule(Level.COMPLETE, "No process holds a task twice: a standby is not beside its active."),
    "copies asked for": Rule(
        Level.COMPLETE, "No more copies than are asked for, and only of tasks with state to follow."
    ),
    "one entry each": Rule(Level.COMPLETE, "Each member has one entry in the answer."),
    "nothing in vain": Rule(Level.COMPLETE, "No worker is told to stop what it does not have."),
    "input untouched": Rule(Level.PURE, "What an assignor is given is left as it was."),
    "no clock": Rule(Level.PURE, "An assignor reads no clock: the time is part of its input."),
    "no chance": Rule(Level.PURE, "An assignor draws nothing at random, unless from a seed of its configuration."),
    "nothing kept": Rule(Level.PURE, "The same question has the same answer, whatever was asked in between."),
    "any order": Rule(Level.DETERMINISTIC, "Tasks and members in another order lead to the same placement."),
    "any process": Rule(Level.DETERMINISTIC, "Another process, with another hash seed, gives the same answer."),
    "at rest": Rule(Level.STABLE, "An answer that asks for no further rebalance is given again when nothing changes."),
    "comes to rest": Rule(
        Level.CONVERGENT, "After its last event a group comes to rest within the bound of Kafka's own test."
    ),
    "growth": Rule(Level.BOUNDED, "Twice the tasks and clients take at most ten times the processor time."),
}
