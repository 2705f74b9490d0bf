"""Sentence of each rule of the built-in assignors, by id: the text of ``docs/reference/rules.md``."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["RULE_TEXTS"]

RULE_TEXTS: Mapping[str, str] = {
    "ha-deal": (
        "Stateful tasks, in the order of their ids, are dealt in turn to the clients in the order of their process ids."
    ),
    "ha-level": (
        "Tasks move from clients with more tasks for each thread to those with fewer, until no single move "
        "makes it more even."
    ),
    "ha-racks": (
        "rack.aware.assignment.strategy moves stateful actives, by costs of traffic across racks and of "
        "moving a task (KIP-925)."
    ),
    "ha-standby": (
        "Without rack.aware.assignment.tags: each standby goes to the client without the task that has the "
        "least load on its threads."
    ),
    "ha-standby-tags": (
        "With them: to a client whose tags differ from those of the other holders. If there is none, to "
        "the least loaded (KIP-708)."
    ),
    "ha-standby-level": (
        "Standbys move from busier clients to others, with tags only to clients that have all tags of the one before."
    ),
    "ha-standby-racks": ("The rack-aware optimisation exchanges standbys."),
    "ha-caught-up": ("The client of the ideal placement is caught up, so the task goes there at once."),
    "ha-nobody-further": ("It is behind, but no client lags less, so the task goes there and restores."),
    "ha-swap": ("It is not caught up, and one of those that are was to have a standby: the two change roles."),
    "ha-warmup": (
        "It is not caught up. The task runs on a client that is caught up or least behind. The client of the ideal "
        "placement gets one of max.warmup.replicas warm-ups, an additional standby. A probing rebalance follows after "
        "probing.rebalance.interval.ms."
    ),
    "ha-no-warmup": ("The same, but all warm-ups are given out: it gets none until a later rebalance."),
    "ha-standby-waits": (
        "Until the standby's client is caught up, the standby stays with one that is caught up or least "
        "behind. The same warm-ups count."
    ),
    "ha-stateless": (
        "Stateless tasks go to the client with the fewest active tasks for its threads, one after the other."
    ),
    "ha-stateless-racks": ("The rack-aware optimisation moves stateless tasks."),
    "st-keep": ("The client that ran the task keeps it, within its share; under fallback_prior without a limit."),
    "st-full": ("The client that ran the task has its share already."),
    "st-promote": ("A client that had a standby gets the task, within its share."),
    "st-return": ("The rest returns to a client that ran the task or had a copy, and is not overloaded."),
    "st-fill": (
        "All other tasks go to the least loaded client. If possible, that client brings the task together "
        "with tasks it did not share a client with before."
    ),
    "st-racks": ("The rack-aware optimisation moves actives."),
    "st-standby": (
        "Each standby goes to a client without the task that had it and is not overloaded, or else to the least loaded."
    ),
    "st-standby-racks": ("The rack-aware optimisation exchanges standbys."),
    "gs-keep": ("The member that had a task keeps it, within its even share of active tasks."),
    "gs-full": ("The member that had it has its even share already."),
    "gs-promote": (
        "A member with the task's state gets it: one that had a standby, and from Kafka 4.4 on one that "
        "reported an offset, the greatest first."
    ),
    "gs-fill": (
        "The rest goes to the process with the fewest tasks for its members, and there to the member with the fewest."
    ),
    "gs-standby-keep": (
        "A standby goes to a member that had the task or has its state, in a process without it, within its "
        "even share of all tasks."
    ),
    "gs-standby-fill": (
        "The rest of the standbys goes to processes without the task, those with the fewest tasks for their "
        "members first."
    ),
    "ci-keep": ("The worker goes on with the job."),
    "ci-duplicate": ("Two workers report the job: both have to stop it."),
    "ci-wait": ("No worker reports a placed job: it waits for its worker, at most scheduled.rebalance.max.delay.ms."),
    "ci-deal": ("The worker did not come back in time: the job is dealt to the workers that had no job meanwhile."),
    "ci-surplus": (
        "A worker has more than its even share and gives jobs up; the next rebalance places them. With "
        "static lists it also gives up jobs that it must not run."
    ),
    "ci-place": (
        "New jobs, those that a worker gave up in the rebalance before, and lost ones that do not wait, go "
        "one by one to the worker with the fewest of their kind, static ones to a worker that lists them."
    ),
    "ce-deal": (
        "Connectors, then tasks, are dealt in turn to the workers in the order of their ids. Everything stops before."
    ),
    "sp-keep": ("The client that ran a pinned task is one that the pin names: it keeps it."),
    "sp-pin": (
        "No client that the pin names ran the task: it goes to the one with the fewest tasks, then to "
        "the first in the order of process ids."
    ),
    "sp-unmet": ("The first pin that matches the task names no client with a thread: the delegate places the task."),
    "sp-delegate": ("The delegate places all other tasks, on the clients that no pin names."),
    "sp-standby-pin": ("A standby goes to a client that a standby pin names."),
    "sp-standby": (
        "The other standbys of pinned tasks go to clients that no pin names: to those that had one, then to "
        "those with the fewest tasks."
    ),
    "cr-range": (
        "Each topic is cut into ranges, one for each subscriber, static members first, then by id. The first "
        "members get one partition more."
    ),
    "cr-rack": (
        "If some topic needs racks, members first get partitions with a replica in their rack, up to their "
        "share (KIP-881)."
    ),
    "rr-deal": ("The partitions of all topics, in order, are dealt in turn to the members that subscribe them."),
    "cs-keep": ("A member keeps a partition, up to its even share of all partitions."),
    "cs-move": (
        "The former owner has its even share, is in another rack, or does not subscribe the topic any more. A "
        "member with room gets the partition."
    ),
    "cs-fill": ("No present member had the partition. A member with room gets it."),
    "cs-wait": (
        "The former owner must release the partition first (cooperative protocol). The next rebalance places it."
    ),
}
