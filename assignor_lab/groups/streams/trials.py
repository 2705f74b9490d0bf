"""Trials of an application's recorded decisions: racks, tags, standbys, warm-ups, recovery lag, another assignor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import permutations
from typing import Any

from assignment_api.plugins.keys import read_value
from assignment_api.plugins.selection import EffectiveConfig
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
from assignor_lab.groups.trials import Input, Trial, number_trials
from assignor_lab.scenarios import Scenario

__all__ = ["streams_trials"]

_STRATEGIES = (RACK_AWARE_STRATEGY_MIN_TRAFFIC, RACK_AWARE_STRATEGY_BALANCE_SUBTOPOLOGY)
#: Racks whose names are exchanged among the clients: more have too many orders.
_MOST_RACKS = 3
#: Lags below which a copy counts as caught up: Kafka's default, values from applications, and none at all.
_LAGS = (10_000, 0, 1, 5, 10, 100, 1_000, 100_000, 2**63 - 1)
_WARMUPS = (2, 1, 3, 4, 6, 8, 1_000)
#: Kafka's other assignors: that of before 2.6, and the one of the public interface.
_OTHERS: tuple[tuple[Input, str, str], ...] = (
    ("version", "high_availability", "with Kafka's default assignor (since 2.6)"),
    ("configuration", "sticky", "with the StickyTaskAssignor of task.assignor.class"),
    ("version", "legacy_sticky", "with the sticky assignor of Kafka before 2.6"),
)


def streams_trials(decisions: Sequence[Scenario], config: EffectiveConfig, assignor: str) -> Iterator[Trial]:
    """The trials, the likeliest cause first.

    Args:
        decisions: Recorded decisions, at least one.
        config: The configuration of the first one.
        assignor: The assignor that decided them again.
    """
    yield from _rack_trials(decisions, config)
    yield from _tag_trials(decisions, config)
    standbys = dict.fromkeys(range(_most_copies(decisions) + 2))
    for key, values in ((NUM_STANDBY_REPLICAS, standbys), (ACCEPTABLE_RECOVERY_LAG, dict.fromkeys(_LAGS))):
        yield from number_trials(key, _others(values, config, key))
    yield from number_trials(MAX_WARMUP_REPLICAS, _others(dict.fromkeys(_WARMUPS), config, MAX_WARMUP_REPLICAS))
    for cause, name, words in _OTHERS:
        if name != assignor:
            yield Trial(cause, words, assignor=name)


def _others(values: Mapping[int, None], config: EffectiveConfig, key: str) -> dict[int, None]:
    now = read_value(key, config[key].value)
    return {value: None for value in values if value != now}


# --- racks ------------------------------------------------------------------------------------------


def _rack_trials(decisions: Sequence[Scenario], config: EffectiveConfig) -> Iterator[Trial]:
    key = RACK_AWARE_ASSIGNMENT_STRATEGY
    now = read_value(key, config[key].value)
    racks = sorted({each["rack"] for scenario in decisions for each in scenario.document["clients"] if each["rack"]})
    if now != RACK_AWARE_STRATEGY_NONE:
        yield Trial("racks", f"without racks ({key}={RACK_AWARE_STRATEGY_NONE})", {key: RACK_AWARE_STRATEGY_NONE})
        if 1 < len(racks) <= _MOST_RACKS:
            for order in list(permutations(racks))[1:]:
                names = dict(zip(racks, order, strict=True))
                swapped = ", ".join(f"{rack} for {new}" for rack, new in names.items() if rack != new)
                yield Trial("racks", f"with the clients' racks exchanged ({swapped})", edited=partial(_moved, names))
    if racks:
        for strategy in _STRATEGIES:
            if strategy != now:
                yield Trial("configuration", f"with {key}={strategy}", {key: strategy})


def _moved(names: Mapping[str, str], document: Mapping[str, Any]) -> dict[str, Any]:
    clients = [{**each, "rack": names.get(each["rack"], each["rack"])} for each in document["clients"]]
    return {**document, "clients": clients}


# --- tags -------------------------------------------------------------------------------------------


def _tag_trials(decisions: Sequence[Scenario], config: EffectiveConfig) -> Iterator[Trial]:
    key = RACK_AWARE_ASSIGNMENT_TAGS
    now = tuple(read_value(key, config[key].value))
    tags = {tag for scenario in decisions for each in scenario.document["clients"] for tag in each["tags"]}
    shared = sorted(
        tag
        for tag in tags
        if all(tag in each["tags"] for scenario in decisions for each in scenario.document["clients"])
    )
    wanted = dict.fromkeys([(), tuple(shared), *((tag,) for tag in shared)])
    for keys in wanted:
        if set(keys) != set(now):
            words = f"with {key}={','.join(keys)}" if keys else f"without {key}"
            yield Trial("tags", words, {key: ",".join(keys)})


def _most_copies(decisions: Sequence[Scenario]) -> int:
    most = 0
    for scenario in decisions:
        copies: dict[str, int] = {}
        for held in (scenario.observed or {}).get("assignment", {}).values():
            for task in held["standby"]:
                copies[task] = copies.get(task, 0) + 1
        most = max(most, *copies.values(), 0)
    return most
