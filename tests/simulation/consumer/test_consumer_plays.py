"""Plays of consumer groups: owners in random episodes, fencing, and the history that a play leaves."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignment_api.consumer import ConsumerTopic
from assignment_api.plugins import Registry
from assignor_lab.cli.app import build_app
from assignor_lab.cli.found_plugins import found_plugins
from assignor_lab.cli.options import sources
from assignor_lab.model.events import MemberExpired, MemberFenced, PollTimedOut, ProtocolChanged
from assignor_lab.planning.consumer_state import decider
from assignor_lab.simulation.consumer.consumers import CLASSIC, CONSUMER, ConsumerSettings, ConsumerTimings
from assignor_lab.simulation.consumer.named_episodes import CONSUMER_EPISODES
from assignor_lab.simulation.consumer.simulate import ConsumerEpisode, ConsumerEvent, ConsumerPlay, played_episode
from tests.planning.consumer_groups import classic_group, written

TOPICS = {"t": ConsumerTopic("t", 12), "u": ConsumerTopic("u", 5)}
QUICK = ConsumerTimings(session_timeout_ms=10_000, group_session_timeout_ms=10_000, max_poll_interval_ms=30_000)


@cache
def _registry() -> Registry:
    return found_plugins(sources(None, None).effective()).registry


def played(consumers: Mapping[str, ConsumerSettings], events: list[ConsumerEvent], until_ms: int) -> ConsumerPlay:
    episode = ConsumerEpisode("e", TOPICS, consumers, QUICK, events=tuple(events), until_ms=until_ms)
    return played_episode(episode, decider(_registry(), None), "1")


def settings(protocol: str, strategy: str = "range", static: str | None = None) -> ConsumerSettings:
    return ConsumerSettings(("t", "u"), (strategy,), instance_id=static, protocol=protocol)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    ("protocol", "strategy"),
    [(CLASSIC, "range"), (CLASSIC, "sticky"), (CLASSIC, "cooperative-sticky"), (CONSUMER, "range")],
)
def test_each_partition_has_one_owner_after_any_events(seed: int, protocol: str, strategy: str) -> None:
    drawn = random.Random(seed)
    names = [f"c{number}" for number in range(drawn.randint(1, 5))]
    consumers = {
        name: settings(protocol, strategy, name if drawn.random() < 0.3 else None) for name in names
    }  # fmt: skip
    events = []
    for _ in range(drawn.randint(1, 8)):
        kind = drawn.choice(["start", "stop", "kill", "pause", "busy", "grow", "broker_restart", "move"])
        for_ms, partitions = drawn.randint(1, 60_000), drawn.randint(1, 30)
        name = drawn.choice(["t", "u"]) if kind == "grow" else drawn.choice([*names, "new"])
        if kind == "move":
            other = settings(CLASSIC if protocol == CONSUMER else CONSUMER)
            at_ms = drawn.randint(0, 60_000)
            events.append(ConsumerEvent(at_ms, "start", f"moved{drawn.random()}", settings=other))
        else:
            events.append(ConsumerEvent(drawn.randint(0, 60_000), kind, name, for_ms, partitions))
    events.append(ConsumerEvent(61_000, "start", "last", settings=settings(protocol, strategy)))
    play = played(consumers, events, 600_000)
    assert play.rest(600_000)
    owners = play.world.ledger.owners
    assert set(owners) == {
        (topic.name, number) for topic in play.world.topics.values() for number in range(topic.partitions)
    }
    assert {len(keys) for keys in owners.values()} == {1}
    held = [each for consumer in play.world.consumers.values() for each in consumer.held]
    assert len(held) == len(set(held)) == len(owners)
    last = play.history().decisions[-1]
    assert sorted(last.owners) == sorted(f"{topic}-{number}" for topic, number in owners)


def test_a_history_has_the_events_and_decisions_of_the_play() -> None:
    events = [
        ConsumerEvent(1_000, "kill", "c1"),
        ConsumerEvent(20_000, "busy", "c2", for_ms=40_000),
        ConsumerEvent(80_000, "start", "c4", settings=settings(CONSUMER)),
        ConsumerEvent(100_000, "stop", "c4"),
    ]
    play = played({name: settings(CLASSIC) for name in ("c1", "c2", "c3")}, events, 140_000)
    history = play.history()
    assert {MemberExpired, PollTimedOut} <= {type(each) for each in history.events}
    moves = [each.sentence for each in history.events if isinstance(each, ProtocolChanged)]
    assert len(moves) == 2
    assert set(history.protocols) == {CLASSIC, CONSUMER}
    assert [each.name for each in history.instances] == ["c1", "c2", "c3", "c4"]
    numbers = [each.number for each in history.decisions]
    assert numbers == sorted(numbers, key=lambda number: number or 0)


def test_a_classic_member_among_kip_848_rejoins_only_for_a_computed_target() -> None:
    """Its heartbeats compute none, so the partitions of a member that left wait for another member first."""
    for seed in range(20):
        consumers = {"new": settings(CONSUMER), "left": settings(CLASSIC), "old": settings(CLASSIC)}
        episode = ConsumerEpisode(
            "e", TOPICS, consumers, QUICK, events=(ConsumerEvent(9_000, "stop", "left"),), until_ms=30_000
        )
        play = played_episode(episode, decider(_registry(), None), str(seed))
        (decided,) = play.history().decisions
        revoked = [each for each in play.world.ledger.over if each.after == "old"]
        assert revoked
        assert min(each.begin_ms for each in revoked) > decided.at.latest_ms


@pytest.mark.parametrize("name", CONSUMER_EPISODES)
def test_published_figures_come_out_or_a_fact_is_missing(name: str) -> None:
    named = CONSUMER_EPISODES[name]
    figures = [
        named.figure(played_episode(named.episode(), named.decide(decider(_registry(), None)), str(seed)))
        for seed in range(3 if not named.missing else 20)
    ]
    if named.missing:
        assert min(figures) < named.published < max(figures)
        assert any(map(named.is_met, figures))
    else:
        assert all(map(named.is_met, figures))


def test_the_command_plays_published_episodes_and_states_with_a_script(tmp_path: Path) -> None:
    def run(*words: str) -> Any:
        return CliRunner().invoke(build_app(), ["simulate", *words])

    shown = run("fenced-replicas")
    assert shown.exit_code == 0
    assert "pods fence one another again and again; played:" in shown.output
    state = written(tmp_path / "state.jsonl", classic_group())
    assert "give them with --script FILE" in run(str(state)).output
    script = tmp_path / "script.json"
    script.write_text('{"steps": [{"events": [{"type": "kill", "consumer": "c2"}], "wait": "calm"}]}', "utf-8")
    done = run(str(state), "--script", str(script), "--json")
    document = json.loads(done.stdout)
    assert [(each["action"], each["who"]) for each in document["actions"]] == [("crash", "c2")]
    assert document["tasks"]["t-4"]["unavailable_ms"] > 40_000
    assert document["totals"]["interruptions"] == 12
    assert run(str(state), "--script", str(script), "--json").stdout == done.stdout
    assert {"karafka-900-partitions-consumer", "sticky-loop"} <= {
        each["name"] for each in json.loads(run("--list", "--json").stdout)
    }


@pytest.mark.parametrize(("protocol", "fenced"), [(CLASSIC, "a"), (CONSUMER, "b")])
def test_equal_instance_ids_fence_one_of_the_two(protocol: str, fenced: str) -> None:
    """Under the classic protocol the former consumer ends, under KIP-848 the newcomer."""
    events = [ConsumerEvent(5_000, "start", "b", settings=settings(protocol, static="same"))]
    play = played({"a": settings(protocol, static="same")}, events, 30_000)
    assert [each.subject for each in play.history().events if isinstance(each, MemberFenced)] == [fenced]
    assert len(play.world.consumers) == 1
