"""Changes of an application's state: lags, previous owners, tags, racks, threads, settings, a client less."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from assignment_api import LATEST_OFFSET, UNKNOWN_OFFSET_SUM, ApplicationMetadata
from assignment_api.streams.client_state import UNTOLD_LAG
from assignment_api.streams.configs import (
    ACCEPTABLE_RECOVERY_LAG,
    MAX_WARMUP_REPLICAS,
    NUM_STANDBY_REPLICAS,
    RACK_AWARE_ASSIGNMENT_STRATEGY,
    RACK_AWARE_ASSIGNMENT_TAGS,
    RACK_AWARE_STRATEGY_BALANCE_SUBTOPOLOGY,
    RACK_AWARE_STRATEGY_MIN_TRAFFIC,
    RACK_AWARE_STRATEGY_NONE,
)
from assignor_lab.groups.changes import Change, Edit, Knob, choice_knob, fresh, number_knob, single, tag_knobs
from assignor_lab.scenarios import Scenario

__all__ = ["CHANGES"]

_Labels = Callable[[str], str]
_STRATEGIES = (RACK_AWARE_STRATEGY_NONE, RACK_AWARE_STRATEGY_MIN_TRAFFIC, RACK_AWARE_STRATEGY_BALANCE_SUBTOPOLOGY)
_UNBOUNDED = 2**63 - 1


class _Changes:
    def knobs(
        self, scenario: Scenario, number: int, state: ApplicationMetadata, task: str, label: _Labels
    ) -> Iterator[Knob]:
        clients = scenario.document["clients"]
        configs = state.assignment_configs()
        acceptable = configs.acceptable_recovery_lag
        lags = [(client["lags"] or {}).get(task) for client in clients]
        for place, client in enumerate(clients):
            if lags[place] is not None:
                yield _lag_knob(place, client, task, lags, acceptable, label)
        yield from _owner_knobs(clients, task, label)
        yield from tag_knobs("clients", clients, "process_id", configs.rack_aware_assignment_tags, label)
        yield from _rack_knobs(clients, label)
        for place, client in enumerate(clients):
            yield _thread_knob(place, client, label)
        standbys, warmups = configs.num_standby_replicas, configs.max_warmup_replicas
        yield number_knob(NUM_STANDBY_REPLICAS, standbys, (standbys + 1, standbys - 1, 0, standbys + 2))
        yield number_knob(MAX_WARMUP_REPLICAS, warmups, (warmups + 1, warmups - 1, 1, warmups + 4, 100), low=1)
        known = [lag for lag in lags if lag is not None and 0 <= lag < UNTOLD_LAG]
        near = {value for lag in known for value in (lag, lag - 1)} | {0, max(known, default=0) + 1}
        yield number_knob(ACCEPTABLE_RECOVERY_LAG, acceptable, near)
        yield choice_knob(
            RACK_AWARE_ASSIGNMENT_STRATEGY, configs.rack_aware_assignment_strategy, _STRATEGIES
        )  # fmt: skip
        keys = configs.rack_aware_assignment_tags
        without = [",".join(key for key in keys if key != left) for left in keys]
        further = sorted({key for client in clients for key in client["tags"]} - set(keys))
        yield choice_knob(
            RACK_AWARE_ASSIGNMENT_TAGS, ",".join(keys), without + [",".join((*keys, key)) for key in further]
        )
        if len(clients) > 1:
            for place, client in enumerate(clients):
                yield _less_knob(place, client, label)

    def one_more(self, scenario: Scenario, number: int, state: ApplicationMetadata) -> Change | None:
        clients = scenario.document["clients"]
        if not clients:
            return None
        first = clients[0]
        # How much state it would lack is not known: more than what still counts as caught up.
        least = state.assignment_configs().acceptable_recovery_lag + 1
        lags = None
        if first["lags"] is not None:
            lags = dict.fromkeys(first["lags"], least)
            for client in clients:
                for task, lag in (client["lags"] or {}).items():
                    if lag > lags.get(task, lag):
                        lags[task] = lag
        process = fresh((each["process_id"] for each in clients), "ffffffff-0000-0000-0000-{:012d}")
        added = {
            **first,
            "process_id": process,
            "host": None,
            "consumers": [f"{process}-{thread}" for thread in range(1, len(first["consumers"]) + 1)],
            "previous_active": [],
            "previous_standby": [],
            "previous_by_consumer": None,
            "lags": lags,
        }
        words = f"there were one client more, that lacks at least {least:,} records of each state"
        return Change("client", words, (Edit(("clients", len(clients)), added),))

    def facts(self, state: ApplicationMetadata, task: str) -> Mapping[str, str]:
        known = state.for_next_assignor()
        has_lags = known.compute_task_lags()
        found = {}
        for process, client in known.streams_client_states().items():
            parts = []
            if any(str(each) == task for each in client.previous_active_tasks):
                parts.append("ran it")
            elif any(str(each) == task for each in client.previous_standby_tasks):
                parts.append("had a copy")
            if has_lags:
                lag = next(
                    (lag for each, lag in client.stateful_tasks_to_lag_sums().items() if str(each) == task), None
                )
                if lag is not None and not (lag == LATEST_OFFSET and parts == ["ran it"]):
                    parts.append(_lag_words(lag))
            if parts:
                found[str(process)] = ", ".join(parts)
        return found


def _lag_words(lag: int) -> str:
    if lag == LATEST_OFFSET:
        return "running there (-2)"
    if lag >= UNTOLD_LAG:
        return "lag unknown"
    return "lag unknown (-3)" if lag == UNKNOWN_OFFSET_SUM else f"lag {lag:,}"


def _lag_knob(
    place: int, client: Mapping[str, Any], task: str, lags: Sequence[int | None], acceptable: int, label: _Labels
) -> Knob:
    now = lags[place]
    assert now is not None
    name = label(client["process_id"])
    others = {lag for lag in lags if lag is not None and 0 <= lag < UNTOLD_LAG}
    targets = {0, max(others, default=0) + 1, *(lag + step for lag in others for step in (-1, 1) if lag + step >= 0)}
    if acceptable < _UNBOUNDED:
        targets |= {acceptable, acceptable + 1}
    said = {LATEST_OFFSET: "-2 (running there)", UNKNOWN_OFFSET_SUM: "-3 (unknown)"}.get(now, f"{now:,}")
    if now >= UNTOLD_LAG:
        said = "unknown"

    def at(value: int) -> Change:
        words = f"the lag of {task} on {name} were {value:,} instead of {said}"
        return Change("lag", words, (Edit(("clients", place, "lags", task), value),))

    return Knob(
        "lag",
        sorted(targets - {now}, key=lambda value: abs(value - (now if now < UNTOLD_LAG else 0))),
        at,
        # What is not a number of offsets is behind nothing: the way to a lag begins at 0, which is tried first.
        now=max(now, 0) if now < UNTOLD_LAG else 0,
        concerns=client["process_id"],
    )


def _owner_knobs(clients: Sequence[Mapping[str, Any]], task: str, label: _Labels) -> Iterator[Knob]:
    """Who ran the task before: another client, or nobody."""
    owners = [place for place, client in enumerate(clients) if task in client["previous_active"]]

    def at(chosen: int | None) -> Change:
        who = "nobody who is there" if chosen is None else label(clients[chosen]["process_id"])
        instead = ", ".join(label(clients[place]["process_id"]) for place in owners) or "nobody who is there"
        edits = [edit for place in {*owners, *([] if chosen is None else [chosen])} for edit in edits_of(place, chosen)]
        return Change("previous owner", f"{who} had run {task} before instead of {instead}", tuple(edits))

    def edits_of(place: int, chosen: int | None) -> Iterator[Edit]:
        client, here = clients[place], ("clients", place)
        active = [each for each in client["previous_active"] if each != task]
        yield Edit((*here, "previous_active"), [*active, task] if place == chosen else active)
        if place == chosen and task in client["previous_standby"]:
            yield Edit((*here, "previous_standby"), [each for each in client["previous_standby"] if each != task])
        told = client["previous_by_consumer"]
        if told is not None:
            held = {consumer: [each for each in tasks if each != task] for consumer, tasks in told.items()}
            if place == chosen and client["consumers"]:
                held.setdefault(client["consumers"][0], []).append(task)
            yield Edit((*here, "previous_by_consumer"), held)
        lags = client["lags"] or {}
        if task in lags:
            # Who runs a task has its latest offset; who ran it and does not any more is told as caught up.
            if place == chosen:
                yield Edit((*here, "lags", task), LATEST_OFFSET)
            elif lags[task] == LATEST_OFFSET:
                yield Edit((*here, "lags", task), 0)

    for place, client in enumerate(clients):
        if place not in owners:
            yield Knob("previous owner", [place], at, concerns=client["process_id"])
    if owners:
        yield Knob("previous owner", [None], at)


def _rack_knobs(clients: Sequence[Mapping[str, Any]], label: _Labels) -> Iterator[Knob]:
    racks = list(dict.fromkeys(client["rack"] for client in clients if client["rack"] is not None))
    for place, client in enumerate(clients):
        others = [rack for rack in racks if rack != client["rack"]]

        def at(rack: str, place: int = place, now: str | None = client["rack"]) -> Change:
            words = f"the rack of {label(clients[place]['process_id'])} were {rack} instead of {now or 'unknown'}"
            return Change("rack", words, (Edit(("clients", place, "rack"), rack),))

        if others:
            yield Knob("rack", others, at, concerns=client["process_id"])


def _thread_knob(place: int, client: Mapping[str, Any], label: _Labels) -> Knob:
    now, name = client["threads"], label(client["process_id"])

    def at(threads: int) -> Change:
        words = f"{name} had {threads} {'thread' if threads == 1 else 'threads'} instead of {now}"
        return Change("threads", words, (Edit(("clients", place, "threads"), threads),))

    values = [now + 1, now - 1, now + 2, 2 * now, 1]
    return Knob(
        "threads",
        list(dict.fromkeys(value for value in values if value > 0 and value != now)),
        at,
        now=now,
        concerns=client["process_id"],
    )


def _less_knob(place: int, client: Mapping[str, Any], label: _Labels) -> Knob:
    words = f"{label(client['process_id'])} were not there"
    change = Change("client", words, (Edit(("clients", place), remove=True),))
    return single(change, client["process_id"])


CHANGES = _Changes()
