"""``assignor connect fuzz``: random episodes, checked against the rules of safety."""

from __future__ import annotations

import os
import shlex
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from assignor_lab.cli.options import Json, Processes
from assignor_lab.cli.text import print_json, print_line

if TYPE_CHECKING:
    from assignor_lab.simulation.connect.fuzzing import BrokenEpisode

__all__ = ["register"]

_SHOWN = 20

Episodes = Annotated[int, typer.Option("--episodes", metavar="N", min=1, help="How many episodes are played.")]
Seed = Annotated[
    int, typer.Option("--seed", metavar="S", min=0, help="Seed of the first episode; the next one has the next seed.")
]
Assignor = Annotated[
    str | None,
    typer.Option("--assignor", metavar="NAME", help="Assignor for every protocol but eager; Kafka's own by default."),
]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("fuzz")(_fuzz)


def _fuzz(
    episodes: Episodes = 1_000,
    seed: Seed = 0,
    assignor: Assignor = None,
    processes: Processes = 0,
    json: Json = False,
) -> None:
    """Play random episodes, and check that none breaks a rule of safety.

    The rules: no job runs on two workers at once unless Kafka itself allows it, no job is lost forever, and the group
    settles within a bounded number of rounds. Exit code 1 if an episode breaks one, with the command that plays it
    again.
    """
    from assignor_lab.cli.fuzz_progress import note_speed, shown_parts
    from assignor_lab.simulation.connect.fuzzing import fuzz

    begin = perf_counter()
    parts = fuzz(episodes, seed, assignor, processes or os.cpu_count() or 1, may_run_code=True)
    broken = [each for part in shown_parts(parts, episodes) for each in part.broken]
    if json:
        broken_rows = [
            {"seed": each.seed, "rules": list(each.rules), "replay": _replay(each.seed, assignor)} for each in broken
        ]
        print_json({"episodes": episodes, "seed": seed, "assignor": assignor, "broken": broken_rows})
    else:
        _print(broken, episodes, seed, assignor)
    note_speed(episodes, perf_counter() - begin)
    if broken:
        raise typer.Exit(1)


def _print(broken: list[BrokenEpisode], episodes: int, seed: int, assignor: str | None) -> None:
    for each in broken[:_SHOWN]:
        print_line(f"seed {each.seed}:")
        for rule in each.rules:
            print_line(f"  {rule}")
        print_line(f"  again: {_replay(each.seed, assignor)}")
    if len(broken) > _SHOWN:
        print_line(f"and {len(broken) - _SHOWN:,} more episodes that break a rule")
    seeds = f"seed {seed}" if episodes == 1 else f"seeds {seed} to {seed + episodes - 1}"
    print_line(f"{episodes:,} random episodes ({seeds}), {len(broken):,} of them break a rule")


def _replay(seed: int, assignor: str | None) -> str:
    words = ["assignor", "connect", "simulate", f"random-{seed}", "--seed", str(seed)]
    return shlex.join(words if assignor is None else [*words, "--assignor", assignor])
