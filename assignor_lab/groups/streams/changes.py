"""Changes of an application's state: lags, previous owners, tags, racks, threads, settings, a client less.

The trials of recorded decisions, for the verification, are below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import permutations

from assignment_api import LATEST_OFFSET, UNKNOWN_OFFSET_SUM, ApplicationMetadata
from assignment_api.plugins.keys import read_value
from assignment_api.plugins.selection import EffectiveConfig
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
from assignor_lab.documents.edits import Edit, entry_like
from assignor_lab.groups.changes import (
    Input,
    InputChange,
    InputTrial,
    Knob,
    choice_knob,
    fresh,
    number_knob,
    number_trials,
    single,
    tag_knobs,
)
from assignor_lab.groups.deciding_release import answers_of
from assignor_lab.scenarios import Scenario
from assignor_lab.scenarios.formats.state_parts import state_clients
from assignor_lab.scenarios.state_parts import StateClient

__all__ = ["CHANGES", "streams_trials"]

_Labels = Callable[[str], str]
_STRATEGIES = (RACK_AWARE_STRATEGY_NONE, RACK_AWARE_STRATEGY_MIN_TRAFFIC, RACK_AWARE_STRATEGY_BALANCE_SUBTOPOLOGY)
_UNBOUNDED = 2**63 - 1


class _Changes:
    def knobs(
        self, scenario: Scenario, number: int, state: ApplicationMetadata, task: str, label: _Labels
    ) -> Iterator[Knob]:
        clients = state_clients(scenario.document)
        configs = state.assignment_configs()
        acceptable = configs.acceptable_recovery_lag
        lags = [(client.lags or {}).get(task) for client in clients]
        for place, client in enumerate(clients):
            if lags[place] is not None:
                yield _lag_knob(place, client, task, lags, acceptable, label)
        yield from _owner_knobs(clients, task, label)
        yield from tag_knobs(
            "clients", {each.process_id: each.tags for each in clients}, configs.rack_aware_assignment_tags, label
        )
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
        further = sorted({key for client in clients for key in client.tags} - set(keys))
        yield choice_knob(
            RACK_AWARE_ASSIGNMENT_TAGS, ",".join(keys), without + [",".join((*keys, key)) for key in further]
        )
        if len(clients) > 1:
            for place, client in enumerate(clients):
                yield _less_knob(place, client, label)

    def one_more(self, scenario: Scenario, number: int, state: ApplicationMetadata) -> InputChange | None:
        clients = state_clients(scenario.document)
        if not clients:
            return None
        first = clients[0]
        # Its missing state is unknown: more than a caught-up copy lacks.
        least = state.assignment_configs().acceptable_recovery_lag + 1
        lags = None
        if first.lags is not None:
            lags = dict.fromkeys(first.lags, least)
            for client in clients:
                for task, lag in (client.lags or {}).items():
                    if lag > lags.get(task, lag):
                        lags[task] = lag
        process = fresh((each.process_id for each in clients), "ffffffff-0000-0000-0000-{:012d}")
        added = entry_like(
            scenario.document, "clients", 0,
            process_id=process, host=None, previous_active=[], previous_standby=[], previous_by_consumer=None,
            lags=lags, consumers=[f"{process}-{thread}" for thread in range(1, len(first.consumers) + 1)],
        )  # fmt: skip
        words = f"there were one client more, that lacks at least {least:,} records of each state"
        return InputChange("client", words, (Edit(("clients", len(clients)), added),))

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
    place: int, client: StateClient, task: str, lags: Sequence[int | None], acceptable: int, label: _Labels
) -> Knob:
    now = lags[place]
    assert now is not None
    name = label(client.process_id)
    others = {lag for lag in lags if lag is not None and 0 <= lag < UNTOLD_LAG}
    targets = {0, max(others, default=0) + 1, *(lag + step for lag in others for step in (-1, 1) if lag + step >= 0)}
    if acceptable < _UNBOUNDED:
        targets |= {acceptable, acceptable + 1}
    said = {LATEST_OFFSET: "-2 (running there)", UNKNOWN_OFFSET_SUM: "-3 (unknown)"}.get(now, f"{now:,}")
    if now >= UNTOLD_LAG:
        said = "unknown"

    def at(value: int) -> InputChange:
        words = f"the lag of {task} on {name} were {value:,} instead of {said}"
        return InputChange("lag", words, (Edit(("clients", place, "lags", task), value),))

    return Knob(
        "lag",
        sorted(targets - {now}, key=lambda value: abs(value - (now if now < UNTOLD_LAG else 0))),
        at,
        now=max(now, 0) if now < UNTOLD_LAG else 0,
        concerns=client.process_id,
    )


def _owner_knobs(clients: Sequence[StateClient], task: str, label: _Labels) -> Iterator[Knob]:
    """The task's previous owner: another client, or none."""
    owners = [place for place, client in enumerate(clients) if task in client.previous_active]

    def at(chosen: int | None) -> InputChange:
        owner = "no present client" if chosen is None else label(clients[chosen].process_id)
        instead = ", ".join(label(clients[place].process_id) for place in owners) or "no present client"
        edits = [edit for place in {*owners, *([] if chosen is None else [chosen])} for edit in edits_of(place, chosen)]
        return InputChange("previous owner", f"{owner} had run {task} before instead of {instead}", tuple(edits))

    def edits_of(place: int, chosen: int | None) -> Iterator[Edit]:
        client, here = clients[place], ("clients", place)
        active = [each for each in client.previous_active if each != task]
        yield Edit((*here, "previous_active"), [*active, task] if place == chosen else active)
        if place == chosen and task in client.previous_standby:
            yield Edit((*here, "previous_standby"), [each for each in client.previous_standby if each != task])
        by_consumer = client.previous_by_consumer
        if by_consumer is not None:
            held = {consumer: [each for each in tasks if each != task] for consumer, tasks in by_consumer.items()}
            if place == chosen and client.consumers:
                held.setdefault(client.consumers[0], []).append(task)
            yield Edit((*here, "previous_by_consumer"), held)
        lags = client.lags or {}
        if task in lags:
            # The owner of a task has its latest offset; a previous owner is reported as caught up.
            if place == chosen:
                yield Edit((*here, "lags", task), LATEST_OFFSET)
            elif lags[task] == LATEST_OFFSET:
                yield Edit((*here, "lags", task), 0)

    for place, client in enumerate(clients):
        if place not in owners:
            yield Knob("previous owner", [place], at, concerns=client.process_id)
    if owners:
        yield Knob("previous owner", [None], at)


def _rack_knobs(clients: Sequence[StateClient], label: _Labels) -> Iterator[Knob]:
    racks = list(dict.fromkeys(client.rack for client in clients if client.rack is not None))
    for place, client in enumerate(clients):
        others = [rack for rack in racks if rack != client.rack]

        def at(rack: str, place: int = place, now: str | None = client.rack) -> InputChange:
            words = f"the rack of {label(clients[place].process_id)} were {rack} instead of {now or 'unknown'}"
            return InputChange("rack", words, (Edit(("clients", place, "rack"), rack),))

        if others:
            yield Knob("rack", others, at, concerns=client.process_id)


def _thread_knob(place: int, client: StateClient, label: _Labels) -> Knob:
    now, name = client.threads, label(client.process_id)

    def at(threads: int) -> InputChange:
        words = f"{name} had {threads} {'thread' if threads == 1 else 'threads'} instead of {now}"
        return InputChange("threads", words, (Edit(("clients", place, "threads"), threads),))

    values = [now + 1, now - 1, now + 2, 2 * now, 1]
    return Knob(
        "threads",
        list(dict.fromkeys(value for value in values if value > 0 and value != now)),
        at,
        now=now,
        concerns=client.process_id,
    )


def _less_knob(place: int, client: StateClient, label: _Labels) -> Knob:
    words = f"{label(client.process_id)} were not there"
    change = InputChange("client", words, (Edit(("clients", place), remove=True),))
    return single(change, client.process_id)


CHANGES = _Changes()


_TRIED_STRATEGIES = (RACK_AWARE_STRATEGY_MIN_TRAFFIC, RACK_AWARE_STRATEGY_BALANCE_SUBTOPOLOGY)
#: Racks whose names are exchanged among the clients: more have too many orders.
_MOST_RACKS = 3
#: Lags below which a copy counts as caught up: Kafka's default, values from applications, and zero.
_LAGS = (10_000, 0, 1, 5, 10, 100, 1_000, 100_000, 2**63 - 1)
_WARMUPS = (2, 1, 3, 4, 6, 8, 1_000)
_OTHERS: tuple[tuple[Input, str, str], ...] = (
    ("version", "high_availability", "with Kafka's default assignor (since 2.6)"),
    ("configuration", "sticky@4.4", "with the StickyTaskAssignor of task.assignor.class, as Kafka 4.4 decides"),
    ("configuration", "sticky@4.3", "with the StickyTaskAssignor of task.assignor.class, as Kafka 4.3 decides"),
    ("version", "legacy_sticky", "with the sticky assignor of Kafka before 2.6"),
)


def streams_trials(decisions: Sequence[Scenario], config: EffectiveConfig, assignor: str) -> Iterator[InputTrial]:
    """The trials of recorded decisions, at least one, the likeliest cause first."""
    yield from _rack_trials(decisions, config)
    yield from _tag_trials(decisions, config)
    standbys = dict.fromkeys(range(_most_copies(decisions) + 2))
    for key, values in ((NUM_STANDBY_REPLICAS, standbys), (ACCEPTABLE_RECOVERY_LAG, dict.fromkeys(_LAGS))):
        yield from number_trials(key, _others(values, config, key))
    yield from number_trials(MAX_WARMUP_REPLICAS, _others(dict.fromkeys(_WARMUPS), config, MAX_WARMUP_REPLICAS))
    for cause, name, words in _OTHERS:
        if answers_of(name, config) != answers_of(assignor, config):
            yield InputTrial(cause, words, assignor=name)


def _others(values: Mapping[int, None], config: EffectiveConfig, key: str) -> dict[int, None]:
    now = read_value(key, config[key].value)
    return {value: None for value in values if value != now}


# --- racks ------------------------------------------------------------------------------------------


def _rack_trials(decisions: Sequence[Scenario], config: EffectiveConfig) -> Iterator[InputTrial]:
    key = RACK_AWARE_ASSIGNMENT_STRATEGY
    now = read_value(key, config[key].value)
    racks = sorted({each.rack_id for scenario in decisions for each in scenario.clients if each.rack_id})
    if now != RACK_AWARE_STRATEGY_NONE:
        yield InputTrial("racks", f"without racks ({key}={RACK_AWARE_STRATEGY_NONE})", {key: RACK_AWARE_STRATEGY_NONE})
        if 1 < len(racks) <= _MOST_RACKS:
            for order in list(permutations(racks))[1:]:
                names = dict(zip(racks, order, strict=True))
                swapped = ", ".join(f"{rack} for {new}" for rack, new in names.items() if rack != new)
                yield InputTrial(
                    "racks", f"with the clients' racks exchanged ({swapped})", edits=partial(_moved, names)
                )
    if racks:
        for strategy in _TRIED_STRATEGIES:
            if strategy != now:
                yield InputTrial("configuration", f"with {key}={strategy}", {key: strategy})


def _moved(names: Mapping[str, str], scenario: Scenario) -> tuple[Edit, ...]:
    racks = enumerate(client.rack_id for client in scenario.clients)
    return tuple(Edit(("clients", place, "rack"), names[rack]) for place, rack in racks if rack)


# --- tags -------------------------------------------------------------------------------------------


def _tag_trials(decisions: Sequence[Scenario], config: EffectiveConfig) -> Iterator[InputTrial]:
    key = RACK_AWARE_ASSIGNMENT_TAGS
    now = tuple(read_value(key, config[key].value))
    tagged = [each.client_tags for scenario in decisions for each in scenario.clients]
    shared = sorted(tag for tag in {tag for tags in tagged for tag in tags} if all(tag in tags for tags in tagged))
    wanted = dict.fromkeys([(), tuple(shared), *((tag,) for tag in shared)])
    for keys in wanted:
        if set(keys) != set(now):
            words = f"with {key}={','.join(keys)}" if keys else f"without {key}"
            yield InputTrial("tags", words, {key: ",".join(keys)})


def _most_copies(decisions: Sequence[Scenario]) -> int:
    most = 0
    for scenario in decisions:
        copies: dict[str, int] = {}
        for held in (scenario.observed or {}).get("assignment", {}).values():
            for task in held["standby"]:
                copies[task] = copies.get(task, 0) + 1
        most = max(most, *copies.values(), 0)
    return most
