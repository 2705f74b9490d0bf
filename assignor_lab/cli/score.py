"""``assignor score``: what each assignor makes of many states, measured on Spark."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from assignment_api.plugins import ConfigSources, discover
from assignor_lab.cli.options import ConfigFile, Json, Overrides, sources
from assignor_lab.cli.score_progress import shown_progress
from assignor_lab.cli.text import console, note, print_json, print_line

__all__ = ["register"]

Sources = Annotated[
    list[str] | None,
    typer.Argument(metavar="SOURCES...", help="Scenario files, logs, or folders of them; - is the standard input."),
]
Assignors = Annotated[
    list[str] | None, typer.Option("--assignor", metavar="NAME", help="Who competes; by default everybody installed.")
]
Families = Annotated[
    list[str] | None, typer.Option("--families", metavar="NAME", help="Families to generate histories of, or 'all'.")
]
Count = Annotated[int | None, typer.Option("--count", min=1, help="Histories over all families (default 100).")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the first history of each family.")]
Master = Annotated[str | None, typer.Option("--master", help="Spark's master; by default all cores of this machine.")]
Remote = Annotated[str | None, typer.Option("--remote", metavar="URL", help="A Spark Connect server, sc://host:port.")]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for tables, summary and report.")]

DEFAULT_COUNT = 100


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""

    @app.command()
    def score(
        out: Out,
        source: Sources = None,
        assignor: Assignors = None,
        families: Families = None,
        count: Count = None,
        seed: Seed = 0,
        master: Master = None,
        remote: Remote = None,
        config: ConfigFile = None,
        c: Overrides = None,
        json: Json = False,  # noqa: FBT002 - a flag
    ) -> None:
        """Score assignors on states from files, logs and generated families.

        Writes DIR/scores.parquet, DIR/summary.json and DIR/report.html.
        """
        if master is not None and remote is not None:
            raise typer.BadParameter("give --master or --remote, not both")
        if count is not None and not families:
            raise typer.BadParameter("--count is the number of generated histories: name --families, too")

        from assignor_lab.report.terminal import print_summary
        from assignor_lab.scoring.contestants import contestants
        from assignor_lab.scoring.output import OutputFolder
        from assignor_lab.scoring.run import Run, run_scoring
        from assignor_lab.scoring.session import DEFAULT_MASTER, open_session, shown_address
        from assignor_lab.scoring.sources import family_names, generated, plan_sources

        given = sources(config, c)
        registry = discover(given.effective().policy())
        competing = contestants(registry, assignor or (), may_run_code=True)
        for unloaded in competing.unloaded:
            note(f"{unloaded.name} is left out: {unloaded.reason}")
        histories = generated(family_names(registry, families or ()), count or DEFAULT_COUNT, seed)
        with (
            plan_sources((*(source or ()), *histories), registry, given.above, note) as plan,
            OutputFolder(out) as folder,
            open_session(master, remote) as spark,
            shown_progress() as on_progress,
        ):
            place = master or DEFAULT_MASTER if remote is None else shown_address(remote)
            options = {"assignor": assignor, "families": families, "count": count, "seed": seed if families else None}
            where = {"master": master, "remote": None if remote is None else place, "config": config}
            command = _command(source or [], {**options, **where, "out": out}, given, c or [])
            run = Run(registry, competing, plan, given, folder, command, place)
            summary = run_scoring(spark, run, on_progress)
        if json:
            print_json(summary)
        else:
            print_summary(summary, console())
            _print_files(summary["run_metrics"], summary["results"], out)


def _print_files(run: Mapping[str, Any], results: Mapping[str, Any], out: Path) -> None:
    print_line()
    print_line(
        f"{results['states']:,} states, {results['rows']:,} rows, {results['failed_rows']:,} failed, in "
        f"{run['seconds']:,.1f} s: {run['states_per_second'] or 0:,.1f} states per second"
    )
    for name, file in (("Tables", "scores.parquet"), ("Summary", "summary.json"), ("Report", "report.html")):
        print_line(f"{name}: {out / file}")


def _command(words: list[str], options: dict[str, object], given: ConfigSources, overrides: list[str]) -> str:
    """The command line as it may be kept: what looks like a secret is not in it."""
    parts = ["assignor", "score", *words]
    for name, value in options.items():
        for item in value if isinstance(value, list) else [value]:
            if item is not None:
                parts += [f"--{name}", str(item)]
    effective = given.effective()
    for override in overrides:
        key = override.partition("=")[0].strip()
        parts += ["-c", f"{key}={effective.shown(key)}" if effective.shown(key) == "(hidden)" else override]
    return shlex.join(parts)
