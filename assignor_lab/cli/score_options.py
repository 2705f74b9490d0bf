"""The options of ``assignor score`` as values."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import attrs
import typer

from assignor_lab.cli.isolation_options import Isolate, Trust
from assignor_lab.cli.options import ConfigFile, Json, Overrides, RackFiles, Releases, Variants
from assignor_lab.cli.past_options import Dates, Day, MostPlays, TimingsFile, Topology, WorkloadFile, Zone

__all__ = ["ContenderOptions", "GateOptions", "OutputOptions", "SparkOptions", "StateOptions"]

DEFAULT_OUT = Path("scores")


@attrs.frozen
class StateOptions:
    """The states, and how a past among them is read."""

    source: Annotated[
        list[str] | None,
        typer.Argument(metavar="SOURCES", help="Scenario files, logs, or folders of them; - is the standard input."),
    ] = None
    families: Annotated[
        list[str] | None,
        typer.Option("--families", metavar="NAME", help="Families to generate histories of, or 'all'."),
    ] = None
    count: Annotated[
        int | None, typer.Option("--count", metavar="N", min=1, help="Histories over all families (default 100).")
    ] = None
    seed: Annotated[
        int,
        typer.Option(
            "--seed", metavar="N", min=0, help="Seed of the first history of each family, and of the plays of a past."
        ),
    ] = 0
    only_item: Annotated[
        int | None,
        typer.Option("--only-item", metavar="N", min=0, help="Score the scenario or history of this number alone."),
    ] = None
    only_round: Annotated[
        int | None,
        typer.Option("--only-round", metavar="N", min=0, help="Keep the rows of this round of a history only."),
    ] = None
    mode: Annotated[
        Literal["played", "independent"] | None,
        typer.Option(
            "--mode",
            metavar="MODE",
            help="played: every assignor plays a group's past from its first complete decision, and continues from "
            "its own answers. independent: each recorded state by itself. By default a past is played.",
        ),
    ] = None
    racks: RackFiles = None
    workload: WorkloadFile = None
    timings: TimingsFile = None
    topology: Topology = None
    timezone: Zone = None
    dates: Dates = None
    day: Day = None
    plays: MostPlays = 20


@attrs.frozen
class ContenderOptions:
    """The contenders and their configuration."""

    assignor: Annotated[
        list[str] | None,
        typer.Option(
            "--assignor",
            metavar="NAME",
            help="A contender; may be repeated. Default: the assignor of the configuration, or all assignors.",
        ),
    ] = None
    variant: Variants = None
    config: ConfigFile = None
    c: Overrides = None
    release: Releases = None
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metrics",
            metavar="NAME",
            help="Compute these metrics alone: names, headline, gaps or usual; figures and gates add theirs.",
        ),
    ] = None
    prices: Annotated[
        Path | None, typer.Option("--prices", metavar="FILE", help="Prices behind the metrics in dollars, as TOML.")
    ] = None
    plugin_wheel: Annotated[
        list[Path] | None,
        typer.Option(
            "--plugin-wheel", metavar="FILE", help="A plugin's wheel that travels to the executors with the run."
        ),
    ] = None
    trust: Trust = None
    isolate: Isolate = None


@attrs.frozen
class GateOptions:
    """The baseline and the gates."""

    baseline: Annotated[
        str | None,
        typer.Option("--baseline", metavar="NAME", help="Compare the other contenders with this one, state by state."),
    ] = None
    fail_if: Annotated[
        list[str] | None,
        typer.Option("--fail-if", metavar="EXPR", help="Exit code 1 if this holds, such as 'failed_rows > 0'."),
    ] = None
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Results of --fail-if as JUnit XML.")
    ] = None


@attrs.frozen
class SparkOptions:
    """The place of the run."""

    engine: Annotated[
        Literal["auto", "spark", "local"],
        typer.Option(
            "--engine",
            metavar="ENGINE",
            help="spark, local (this process), or auto: local for up to 32 states, histories or pasts. Equal results.",
        ),
    ] = "auto"
    spark_conf: Annotated[
        list[str] | None,
        typer.Option("--spark-conf", metavar="KEY=VALUE", help="A setting of Spark, for --out on a URL."),
    ] = None
    master: Annotated[
        str | None,
        typer.Option("--master", metavar="URL", help="Spark's master; by default all cores of this machine."),
    ] = None
    remote: Annotated[
        str | None, typer.Option("--remote", metavar="URL", help="A Spark Connect server, sc://host:port.")
    ] = None


@attrs.frozen
class OutputOptions:
    """The output, and a former run that is continued or repeated."""

    out: Annotated[
        str,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Folder for tables, summary and report, or a URL that Spark can write, such as s3a://bucket/scores.",
        ),
    ] = str(DEFAULT_OUT)
    keep_assignments: Annotated[
        bool, typer.Option("--keep-assignments", help="Keep the assignments, too, as DIR/answers.parquet.")
    ] = False
    resume: Annotated[bool, typer.Option("--resume", help="Continue a run of the same command that stopped early.")] = (
        False
    )
    reproduce: Annotated[
        Path | None,
        typer.Option(
            "--reproduce",
            metavar="MANIFEST",
            help="Repeat the run of a manifest.json, and report whether the results are the same.",
        ),
    ] = None
    allow_differences: Annotated[
        bool,
        typer.Option("--allow-differences", help="With --reproduce: run although versions or code differ."),
    ] = False
    table: Annotated[
        str | None,
        typer.Option("--table", metavar="NAME", help="With --out on a URL: a table of Spark's catalog for the rows."),
    ] = None
    format: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="Format of --table: parquet, delta, iceberg.")
    ] = "parquet"
    json: Json = False
    brief: Annotated[bool, typer.Option("--brief", help="Print the finding and the differing figures only.")] = False

    @property
    def folder(self) -> Path:
        return Path(self.out)

    @property
    def is_url(self) -> bool:
        from assignor_lab.scoring.spark.path_output import is_spark_path

        return is_spark_path(self.out)
