"""``assignor connect benchmark``: the published benchmark of incremental cooperative rebalancing, replayed."""

from __future__ import annotations

from typing import Annotated

import typer

from assignor_lab.cli.connect.options import Seed
from assignor_lab.cli.connect.views import print_benchmark, print_small
from assignor_lab.cli.found_plugins import found_plugins
from assignor_lab.cli.options import ConfigFile, Json, Overrides, sources
from assignor_lab.cli.text import print_json
from assignor_lab.simulation.connect.published.benchmark import benchmark
from assignor_lab.simulation.connect.published.small_benchmark import small_benchmark
from assignor_lab.simulation.connect.simulate import assignors_from

__all__ = ["register"]

Small = Annotated[bool, typer.Option("--small", help="The experiment that was recorded: 300 tasks, 4.3.1.")]


def register(connect: typer.Typer) -> None:
    """Adds the command to ``assignor connect``."""
    connect.command("benchmark")(_benchmark)


def _benchmark(
    small: Small = False,
    seed: Seed = 0,
    config: ConfigFile = None,
    c: Overrides = None,
    json: Json = False,
) -> None:
    """Replay the published benchmark, 14 minutes against one, with every figure beside ours.

    With --small the smaller run of it that was recorded on real Kafka Connect 4.3.1.
    """
    assignors = assignors_from(found_plugins(sources(config, c).effective()).registry)
    document = small_benchmark(assignors, seed) if small else benchmark(assignors, seed)
    if json:
        print_json(document)
    elif small:
        print_small(document)
    else:
        print_benchmark(document)
