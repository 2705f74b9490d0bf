"""``assignor connect benchmark``: the published benchmark of incremental cooperative rebalancing, replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from assignor_lab.cli.options import ConfigFile, Json, Overrides, Seed, sources
from assignor_lab.cli.text import print_json

if TYPE_CHECKING:
    from assignor_lab.simulation.connect.cluster import AssignorFactory
    from assignor_lab.simulation.connect.published.benchmark import BenchmarkTable

__all__ = ["register"]

Small = Annotated[bool, typer.Option("--small", help="The recorded experiment: 300 tasks, 4.3.1. Needs a clone.")]


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
    """Repeat the published benchmark of rebalances on a virtual clock, with each published figure beside ours.

    Option --small repeats the smaller run that was recorded on Kafka Connect 4.3.1.
    """
    from assignor_lab.cli.connect.views import print_tables
    from assignor_lab.cli.found_plugins import found_plugins
    from assignor_lab.simulation.connect.published.benchmark import benchmark
    from assignor_lab.simulation.connect.simulate import assignors_from

    assignors = assignors_from(found_plugins(sources(config, c).effective()).registry)
    tables = _recorded(assignors, seed) if small else benchmark(assignors, seed)
    if json:
        print_json({each.key: each.rows for each in tables})
    else:
        print_tables(tables)


def _recorded(assignors: AssignorFactory, seed: int) -> tuple[BenchmarkTable, ...]:
    from calibration.connect.small_benchmark import small_benchmark  # part of a clone only

    return small_benchmark(assignors, seed)
