"""A logged decision as a scenario document of format 1, with assumptions for missing facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import tzinfo
from typing import Any

import attrs

from assignment_api.plugins.keys import read_value
from assignment_api.plugins.layers import ConfigLayer, Layer, Origin
from assignment_api.streams import AssignmentConfigs, ProcessID, TaskId
from assignment_api.streams.configs import (
    ASSIGNMENT_KEYS,
    NUM_STANDBY_REPLICAS,
    RACK_AWARE_ASSIGNMENT_STRATEGY,
    RACK_AWARE_STRATEGY_NONE,
)
from assignor_lab.capture.logs.client_state_text import ClientStateText
from assignor_lab.capture.logs.rebalance import LoggedDecision
from assignor_lab.capture.topology.description import TopologyDescription
from assignor_lab.capture.topology.evidence import Brokers, Members, reuses_sources
from assignor_lab.capture.topology.group_topology import Topic, by_subtopology
from assignor_lab.capture.topology.resolution import no_description_of, resolved
from assignor_lab.capture.topology.task_documents import task_document
from assignor_lab.kafka.leader.task_order import in_kafka_order, in_map_order
from assignor_lab.scenarios.rack_provenance import NOT_USED, RACKS_UNKNOWN, STRATEGY_UNKNOWN
from assignor_lab.scenarios.settings import with_given
from assignor_lab.scenarios.topology_provenance import TOPOLOGY_CONFLICT, topology_conflicts

__all__ = [
    "DocumentMaker",
    "kafka_task_order",
    "lags_known",
    "logged_tasks",
    "observed",
    "say_of_strategy",
]

_LATEST, _UNKNOWN = -2, -3
_NO_TOPOLOGY = (
    "topology not in the log (give it with --topology): stores and partitions are unknown, and a task counts as "
    "stateful if Kafka computed a lag for it"
)


@attrs.frozen
class DocumentMaker:
    """Makes documents.

    Args:
        described: ``None``: no ``--topology``.
    """

    config_layers: tuple[ConfigLayer, ...]
    described: TopologyDescription | None
    zone: tzinfo
    zone_given: bool
    optimization: str | None = None

    def document(self, decision: LoggedDecision, identity: str) -> dict[str, Any]:
        assumptions: list[str] = []
        has_lags = lags_known(decision, assumptions)
        tasks = kafka_task_order(decision)
        config = self.config(decision, assumptions)
        document = {
            "format": 1,
            "kind": "streams",
            "id": identity,
            "config": config,
            "tasks": self._task_documents(decision, tasks, assumptions),
            "clients": _clients(decision, has_lags=has_lags),
            "observed": observed(decision),
            "source": self.source(decision, assumptions),
        }
        _say_what_is_missing(decision, str(config[RACK_AWARE_ASSIGNMENT_STRATEGY]), assumptions)
        return self.with_settings({**document, "assumptions": assumptions}, decision)

    # --- config -----------------------------------------------------------------------------------

    def config(self, decision: LoggedDecision, assumptions: list[str]) -> dict[str, Any]:
        defaults = AssignmentConfigs()
        config: dict[str, Any] = {key: getattr(defaults, name) for key, (name, _) in ASSIGNMENT_KEYS.items()}
        logged = {} if decision.config is None else dict(decision.config.values)
        if decision.standbys is not None:
            logged[NUM_STANDBY_REPLICAS] = decision.standbys
        given: dict[str, tuple[Any, Origin]] = {}
        for layer in self.config_layers:
            for key, held in layer.entries.items():
                if key in config:
                    given[key] = read_value(key, held.value), held.origin
        for key in config:
            if key in given:
                config[key] = _reconciled(key, given[key], logged, assumptions)
            elif key in logged:
                config[key] = logged[key]
        assumed = [f"{key}={_shown(value)}" for key, value in config.items() if key not in given and key not in logged]
        if assumed:
            assumptions.append(f"config not in the log, Kafka's defaults taken: {', '.join(assumed)}")
        return {key: list(value) if isinstance(value, tuple) else value for key, value in config.items()}

    def with_settings(self, document: dict[str, Any], decision: LoggedDecision) -> dict[str, Any]:
        return with_given(document, {} if decision.config is None else decision.config.settings, self.config_layers)

    # --- tasks ------------------------------------------------------------------------------------

    def _task_documents(
        self, decision: LoggedDecision, tasks: tuple[TaskId, ...], assumptions: list[str]
    ) -> list[dict[str, Any]]:
        logged = logged_tasks(decision)
        if self.described is None:
            assumptions.append(_NO_TOPOLOGY)
        return [
            {"id": str(task), "stateful": task in logged, "logged": task in logged, "stores": None, "partitions": None}
            for task in tasks
        ]

    def with_topology(
        self,
        document: dict[str, Any],
        optimization: str | None,
        sources: Mapping[str, Topic],
        stores: Mapping[str, str | None],
        printed: Sequence[TopologyDescription] = (),
    ) -> dict[str, Any]:
        """The document with stores and partitions of the description, if it has all tasks.

        Args:
            printed: Descriptions in the logs; without ``--topology``, the only one that has all tasks is used.
        """
        if self.described is None:
            return self._with_printed(document, optimization, sources, stores, printed)
        assumptions: list[str] = []
        group = document["source"].get("group")
        if group is None:
            assumptions.append("the application id is not in the log: names of internal topics lack it")
        tasks = tuple(TaskId.parse(each["id"]) for each in document["tasks"])
        logged = frozenset(task for task, each in zip(tasks, document["tasks"], strict=True) if each["logged"])
        # Kafka logged a lag for each task with a changelog.
        shown = {key: not logged.isdisjoint(each) for key, each in by_subtopology(tasks).items()}
        members = Members(tasks, subscribed=frozenset(sources), logged=shown, restored=stores)
        brokers = Brokers(sources.get)
        optimized = reuses_sources(self.optimization if self.optimization is not None else optimization)
        topology = resolved(self.described, group, members, brokers, optimized=optimized)
        if topology is None:
            conflict = f"{TOPOLOGY_CONFLICT} {no_description_of(self.described, tasks)}"
            return {**document, "assumptions": [conflict, _NO_TOPOLOGY, *document["assumptions"]]}
        documents = [task_document(task, topology, brokers, assumptions) for task in tasks]
        return {
            **document,
            "tasks": documents,
            "assumptions": [*assumptions, *topology.sentences, *document["assumptions"]],
        }

    def _with_printed(
        self,
        document: dict[str, Any],
        optimization: str | None,
        sources: Mapping[str, Topic],
        stores: Mapping[str, str | None],
        printed: Sequence[TopologyDescription],
    ) -> dict[str, Any]:
        bare = {**document, "assumptions": [each for each in document["assumptions"] if each != _NO_TOPOLOGY]}
        made = [
            attrs.evolve(self, described=each).with_topology(bare, optimization, sources, stores) for each in printed
        ]
        fitting = [each for each in made if not topology_conflicts(each["assumptions"])]
        return fitting[0] if len(fitting) == 1 else document

    # --- source -----------------------------------------------------------------------------------

    def source(self, decision: LoggedDecision, assumptions: list[str]) -> dict[str, Any]:
        source: dict[str, Any] = {"file": decision.record.file, "line": decision.record.line}
        time = decision.record.time
        if time is not None and (time_ms := time.epoch_ms(self.zone)) >= 0:
            source["time_ms"] = time_ms
            if not time.is_dated:
                assumptions.append(
                    "the log's times have no date, so days count from its first line, here on 1970-01-01 (give the day "
                    "with --day)"
                )
            if time.offset_ms is None and not self.zone_given:
                assumptions.append("the log's times name no zone: taken as UTC")
        else:
            assumptions.append("the log has no date and time before the message")
        if decision.group is not None:
            source["group"] = decision.group
        if decision.generation is not None:
            source["generation"] = decision.generation
        if decision.assignor is not None:
            source["assignor"] = decision.assignor
        return source


def _reconciled(key: str, given: tuple[Any, Origin], logged: Mapping[str, Any], assumptions: list[str]) -> Any:
    """A logged value replaces one from a file, which may be outdated, but not one from ``-c``."""
    value, origin = given
    if key not in logged or logged[key] == value:
        return value
    keeps_given = origin.layer is Layer.COMMAND_LINE
    used = "the latter" if keeps_given else "the log's"
    assumptions.append(f"{key} is {_shown(logged[key])} in the log and {_shown(value)} in {origin}: {used} is used")
    return value if keeps_given else logged[key]


def _shown(value: object) -> str:
    return "none" if value is None or value == () else str(value)


def logged_tasks(decision: LoggedDecision) -> frozenset[TaskId]:
    """Tasks with a lag; if no lag is logged, the tasks in the log's list."""
    lags = frozenset(task for state in decision.states.values() for task in state.lags)
    if lags or decision.task_lists is None:
        return lags or frozenset(task for state in decision.states.values() for task in state.offset_totals)
    return frozenset(decision.task_lists.stateful)


def lags_known(decision: LoggedDecision, assumptions: list[str]) -> bool:
    """False if Kafka's numbers are placeholders."""
    states = decision.states.values()
    if decision.lags_failed:
        return False
    lags = [lag for state in states for lag in state.lags.values()]
    if not lags and logged_tasks(decision):
        assumptions.append("there are stateful tasks but no lags in the log: taken as not computed")
        return False
    if lags and _UNKNOWN in lags and all(lag in (_UNKNOWN, _LATEST) for lag in lags):
        assumptions.append("no lag is known in the log: the end offsets count as not fetched")
        return False
    return True


def kafka_task_order(decision: LoggedDecision) -> tuple[TaskId, ...]:
    """Sub-topologies in the order of Kafka's map, partitions ascending."""
    lists = decision.task_lists
    named: dict[TaskId, None] = {} if lists is None else dict.fromkeys((*lists.stateful, *lists.stateless))
    for active, standby in decision.placement.values():
        named.update(dict.fromkeys((*active, *standby)))
    for state in decision.states.values():
        named.update(dict.fromkeys(state.lags))
    tasks = in_kafka_order(named)
    if lists is not None and not _shows(tasks, lists.stateful):
        # Another JDK, or another growth of the map: the logged order is the best estimate.
        return tuple(named)
    return tuple(tasks)


def _shows(tasks: list[TaskId], shown: tuple[TaskId, ...]) -> bool:
    """True if a hash set filled in the order of ``tasks`` iterates in the order of ``shown``."""
    members = frozenset(shown)
    return tuple(in_map_order([task for task in tasks if task in members])) == shown


def _clients(decision: LoggedDecision, *, has_lags: bool) -> list[dict[str, Any]]:
    logged = logged_tasks(decision)
    return [
        _client(process, decision.states[process], decision, logged, has_lags=has_lags) for process in decision.order
    ]


def _client(
    process: ProcessID, state: ClientStateText, decision: LoggedDecision, logged: frozenset[TaskId], *, has_lags: bool
) -> dict[str, Any]:
    consumers = (decision.consumers or {}).get(process, ())
    return {
        "process_id": str(process),
        "rack": None,
        "tags": dict(state.tags or {}),
        "host": (decision.hosts or {}).get(process),
        "threads": state.capacity,
        "consumers": list(consumers),
        "previous_active": _sorted(state.previous_active),
        "previous_standby": _sorted(state.previous_standby),
        "lags": {str(task): state.lags[task] for task in _ordered(state.lags)} if has_lags else None,
        "previous_by_consumer": _reported(process, consumers, decision, logged),
    }


def _reported(
    process: ProcessID, consumers: tuple[str, ...], decision: LoggedDecision, logged: frozenset[TaskId]
) -> dict[str, list[str]] | None:
    """Owned tasks with a lag entry, and others with state."""
    if decision.consumer_tasks is None:
        return None
    by_consumer = decision.consumer_tasks[process]
    members = dict.fromkeys((*consumers, *by_consumer.previous_standby, *by_consumer.previous_active))
    return {
        member: _sorted(
            dict.fromkeys(
                (
                    *(task for task in by_consumer.previous_active.get(member, ()) if task in logged),
                    *by_consumer.previous_standby.get(member, ()),
                )
            )
        )
        for member in members
    }


def observed(decision: LoggedDecision) -> dict[str, Any]:
    return {
        "assignment": {
            str(process): {"active": _sorted(active), "standby": _sorted(standby)}
            for process in decision.order
            for active, standby in (decision.placement[process],)
        },
        "followup": None if decision.followup_hidden else decision.followup,
        "threads": _threads(decision),
    }


def _threads(decision: LoggedDecision) -> dict[str, dict[str, list[str]]] | None:
    """Without temporary standbys, before any task is held back."""
    if decision.consumer_tasks is None:
        return None
    temporary = {(standby.consumer, standby.task) for standby in decision.temporary}
    spread: dict[str, dict[str, list[str]]] = {}
    for process in decision.order:
        by_consumer = decision.consumer_tasks[process]
        wanted = frozenset(decision.placement[process][1])
        for member in dict.fromkeys(
            ((decision.consumers or {}).get(process, ())) + tuple(by_consumer.previous_standby)
        ):
            standby = [
                task
                for task in by_consumer.standby.get(member, ())
                if task in wanted
                and not ((member, task) in temporary and _elsewhere(task, member, by_consumer.standby))
            ]
            spread[member] = {"active": _sorted(by_consumer.active.get(member, ())), "standby": _sorted(standby)}
    return spread


def _elsewhere(task: TaskId, member: str, standby: Mapping[str, tuple[TaskId, ...]]) -> bool:
    return any(task in tasks for other, tasks in standby.items() if other != member)


def _say_what_is_missing(decision: LoggedDecision, strategy: str, assumptions: list[str]) -> None:
    say_of_strategy(decision, strategy, assumptions)
    if strategy != RACK_AWARE_STRATEGY_NONE or decision.before_optimization is not None:
        assumptions.append(
            f"{RACKS_UNKNOWN} the leader used racks, but a log shows neither the clients' nor the brokers' (give "
            "them with --racks); an answer computed without them is not the answer of the real group"
        )
    else:
        assumptions.append(f"{NOT_USED}; the strategy none does not use them")
    if not decision.order_known:
        assumptions.append(
            "the order of Kafka's map of clients is not in the log: taken as sorted, which matters to the sticky family"
        )
    if decision.consumers is None:
        assumptions.append("consumers are not in the log: only their number is known")
    if decision.consumer_tasks is None:
        assumptions.append("the tasks of each consumer are not in the log")
    if decision.hosts is None:
        assumptions.append("end points (application.server) are not in the log")
    if decision.followup_hidden:
        assumptions.append("a scheduled follow-up rebalance is not in the log: an immediate one hides it")


def say_of_strategy(decision: LoggedDecision, strategy: str, assumptions: list[str]) -> None:
    if strategy == RACK_AWARE_STRATEGY_NONE and decision.before_optimization is not None:
        assumptions.append(
            f"{STRATEGY_UNKNOWN} the log shows a rack-aware optimisation, so the leader's strategy was not none; give "
            f"its {RACK_AWARE_ASSIGNMENT_STRATEGY} with --config or -c"
        )


def _ordered(tasks: Iterable[TaskId]) -> list[TaskId]:
    return sorted(tasks, key=TaskId.sort_key)


def _sorted(tasks: Iterable[TaskId]) -> list[str]:
    return [str(task) for task in _ordered(tasks)]
