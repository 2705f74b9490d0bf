"""``assignor simulate --fuzz``: random episodes of Streams groups, checked against the rules of safety."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter

import attrs
import typer

from assignment_api.plugins import Registry
from assignor_lab.cli.fuzz_progress import note_speed, shown_parts
from assignor_lab.cli.text import print_json, print_line
from assignor_lab.documents.durable import write_durably
from assignor_lab.documents.wording import plural
from assignor_lab.groups.streams_episode.fuzzing import FoundEpisode, drawn_assignors, fuzz, smallest
from assignor_lab.scenarios import canonical_line
from assignor_lab.scenarios.formats.streams_episodes import episode_document
from assignor_lab.simulation.streams.safety.findings import BrokenRule
from assignor_lab.simulation.streams.safety.known_kafka_behaviour import KNOWN_BEHAVIOURS

__all__ = ["play_random_episodes"]

_SHOWN = 20


@attrs.frozen
class _Finding:
    """A finding with the smallest episode that has it."""

    name: str
    episodes: int
    seed: int
    sentence: str
    file: str
    replay: str


def play_random_episodes(
    registry: Registry,
    count: int,
    seed: int,
    assignor: str | None,
    protocol: str | None,
    processes: int,
    out: Path,
    *,
    as_json: bool,
) -> None:
    """Plays them and prints the findings; raises ``typer.Exit(1)`` after a breach that is not Kafka's own."""
    begin = perf_counter()
    assignors = drawn_assignors(registry, assignor, protocol, may_run_code=True)
    played: Counter[tuple[str, str]] = Counter()
    found: dict[tuple[str, str], list[tuple[FoundEpisode, BrokenRule]]] = {}
    parts = fuzz(count, seed, assignors, processes or os.cpu_count() or 1, may_run_code=True)
    for part in shown_parts(parts, count):
        played.update(part.played)
        for episode in part.found:
            for key, finding in {(each.known, each.rule): each for each in reversed(episode.findings)}.items():
                found.setdefault(key, []).append((episode, finding))
    seconds = perf_counter() - begin
    own, broken = [], []
    for (known, rule), cases in sorted(found.items()):
        name = rule.replace(" ", "-")
        if known:
            own.append(_finding_row(known, f"{known}-{name}", cases[0], len(cases), assignors, registry, out))
        else:
            broken += [
                _finding_row(f"{name}-{each[0].seed}", name, each, len(cases), assignors, registry, out)
                for each in cases[:_SHOWN]
            ]
    if as_json:
        print_json(
            {
                "episodes": count, "seed": seed, "played": _by_protocol(played),
                "kafkas_own": [{"reason": KNOWN_BEHAVIOURS[each.name].reason, **attrs.asdict(each)} for each in own],
                "broken": [attrs.asdict(each) for each in broken],
            }
        )  # fmt: skip
    else:
        _print(count, seed, played, own, broken)
    note_speed(count, seconds)
    if broken:
        raise typer.Exit(1)


def _finding_row(
    name: str,
    stem: str,
    case: tuple[FoundEpisode, BrokenRule],
    episodes: int,
    assignors: Mapping[str, Sequence[str]],
    registry: Registry,
    out: Path,
) -> _Finding:
    """Reduces the episode, and writes it into its own file: one for each reason, rule and seed."""
    episode, finding = case
    outline, again = smallest(episode, finding, assignors, registry, may_run_code=True)
    out.mkdir(parents=True, exist_ok=True)
    file = out / f"{stem}-{episode.seed}.jsonl"
    write_durably(file, canonical_line(episode_document(outline)))
    replay = shlex.join(["assignor", "simulate", str(file), "--seed", str(episode.seed), "--log"])
    return _Finding(name, episodes, episode.seed, again.sentence, str(file), replay)


def _by_protocol(played: Mapping[tuple[str, str], int]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for (protocol, assignor), number in sorted(played.items()):
        found.setdefault(protocol, {})[assignor] = number
    return found


def _print(
    count: int, seed: int, played: Mapping[tuple[str, str], int], own: Sequence[_Finding], broken: Sequence[_Finding]
) -> None:
    for each in own:
        reason = KNOWN_BEHAVIOURS[each.name].reason
        print_line(f"{each.name} is Kafka's own, found in {plural(each.episodes, 'episode')}: {reason}")
        _print_case(each)
    for each in broken:
        print_line(f"{each.name}: a rule is broken, in {plural(each.episodes, 'episode')}")
        _print_case(each)
    for protocol, numbers in _by_protocol(played).items():
        counts = ", ".join(f"{name} {number:,}" for name, number in numbers.items())
        print_line(f"{protocol}: {plural(sum(numbers.values()), 'episode')} ({counts})")
    seeds = f"seed {seed}" if count == 1 else f"seeds {seed} to {seed + count - 1}"
    verdict = "every rule was kept, but where Kafka itself breaks it" if own else "every rule was kept"
    print_line(f"{plural(count, 'random episode')} ({seeds}): {'rules are broken' if broken else verdict}")


def _print_case(case: _Finding) -> None:
    print_line(f"  {case.sentence}")
    print_line(f"  smallest history: {case.file} (of random-{case.seed})")
    print_line(f"  again: {case.replay}")
