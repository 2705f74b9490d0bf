"""``assignor simulate`` for consumer groups: published episodes, and states with a script of events."""

from __future__ import annotations

from pathlib import Path

import attrs
import typer

from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.cli.present_group import read_group
from assignor_lab.cli.text import console, note, print_json, print_line, table
from assignor_lab.documents.wording import plural
from assignor_lab.planning.consumer_plan import ConsumerContender, consumer_plan, play_consumer_plan
from assignor_lab.planning.consumer_state import consumer_state, decider, is_consumer_state, under_assignor
from assignor_lab.planning.making import Options
from assignor_lab.scenarios import read_scenarios
from assignor_lab.simulation.consumer.named_episodes import CONSUMER_EPISODES, NamedConsumerEpisode
from assignor_lab.simulation.consumer.simulate import ConsumerPlay, played_episode
from assignor_lab.simulation.streams.formats.plays import history_document
from assignor_lab.simulation.streams.results import history_actions
from assignor_lab.simulation.streams.timeline import timeline

__all__ = ["consumer_episode_rows", "is_of_consumers", "simulate_consumers"]


def consumer_episode_rows() -> list[tuple[str, str, str, str]]:
    """Name, summary, source and published figure of each episode."""
    return [(each.name, each.summary, each.source, each.report) for each in CONSUMER_EPISODES.values()]


def is_of_consumers(source: str) -> bool:
    """True for a published episode of consumers, and for a file that begins with a state of theirs."""
    if source in CONSUMER_EPISODES:
        return True
    if not Path(source).is_file():
        return False
    first = next(iter(read_scenarios(source)), None)
    return first is not None and is_consumer_state(first)


def simulate_consumers(
    source: str,
    script: Path | None,
    given: ConfigSources,
    registry: Registry,
    assignor: str | None,
    seed: int,
    width: int,
    *,
    as_json: bool,
) -> None:
    """Play an episode of :func:`is_of_consumers`.

    Raises:
        typer.BadParameter: if a state has no script.
        AssignorLabError: a subclass, if the state or the script cannot be read or played.
    """
    named = CONSUMER_EPISODES.get(source)
    if named is not None:
        episode = named.episode()
        if assignor is not None:
            changed = {name: under_assignor(each, assignor) for name, each in episode.consumers.items()}
            episode = attrs.evolve(episode, consumers=changed)
        play = played_episode(episode, named.decide(decider(registry, None)), str(seed))
        used = next(iter(episode.consumers.values())).decides
        _show(play, used, seed, width, named, as_json=as_json)
        return
    if script is None:
        raise typer.BadParameter("a state has no events: give them with --script FILE", param_hint="--script")
    read = read_group(source, None, given, None, None, None, None, None, assignor)
    state = consumer_state(read.scenario, read.terms, Options())
    plan = consumer_plan("script", str(script), state, Options())
    for sentence in state.assumptions:
        note(f"assumed: {sentence}")
    play, marks, _, _, _ = play_consumer_plan(ConsumerContender("as it is", state, plan, read.terms), str(seed))
    play.begin_ms = marks[0]
    _show(play, state.strategy, seed, width, None, as_json=as_json)


def _published(named: NamedConsumerEpisode, found: float) -> dict[str, object]:
    return {
        "source": named.source, "report": named.report, "unit": named.unit, "published": named.published,
        "played": round(found, 3), "is_met": named.is_met(found), "missing": named.missing or None,
    }  # fmt: skip


def _show(
    play: ConsumerPlay, assignor: str, seed: int, width: int, named: NamedConsumerEpisode | None, *, as_json: bool
) -> None:
    history = play.history()
    found = None if named is None else named.figure(play)
    if as_json:
        more = {} if named is None or found is None else {"published": _published(named, found)}
        print_json({**history_document(history, assignor, seed), **more})
        return
    print_line(f"{history.group}: {assignor}, seed {seed}")
    rows = [
        (f"{each.at_ms / 1000:.1f}", each.action, each.instance or "", each.rebalances)
        for each in history_actions(history)
    ]
    console().print(table(("at s", "action", "who", "rebalances"), rows))
    for line in timeline(history, width):
        print_line(line)
    away_ms = history.downtimes_ms.values()
    interruptions = sum(len(course.interruptions) for course in history.courses.values())
    print_line(
        f"not polled: {sum(away_ms) / 1000:.1f} partition-seconds in {plural(interruptions, 'interruption')}; "
        f"the worst partition: {max(away_ms, default=0) / 1000:.1f} s; {plural(len(history.decisions), 'assignment')}"
    )
    if named is not None and found is not None:
        verdict = "within a quarter of it, or its bound" if named.is_met(found) else "not within a quarter of it"
        print_line(f"published: {named.report}; played: {found:.3g} {named.unit}, {verdict}")
        if named.missing:
            print_line(f"the source does not say {named.missing}: each seed draws it")
