"""``assignor score``: what each assignor makes of many states, measured on Spark."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assignment_api.plugins import ConfigSources
from assignor_lab.cli.configured import configured_assignor
from assignor_lab.cli.found_plugins import found_plugins
from assignor_lab.cli.isolation_options import Isolate, Trust, with_isolation
from assignor_lab.cli.options import ConfigFile, Json, Overrides, RackFiles, override_words, sources
from assignor_lab.cli.past_options import TimingsFile, Topology, WorkloadFile, Zone, past_terms
from assignor_lab.cli.score_again import repetition
from assignor_lab.cli.score_gates import check_answered, compared_with, conclude, parsed_gates, terms_of
from assignor_lab.cli.score_progress import shown_progress
from assignor_lab.cli.text import console, note, print_json, print_line
from assignor_lab.documents.wording import plural
from assignor_lab.groups.variants import Variant, as_variant, variants_of

if TYPE_CHECKING:
    from assignor_lab.scoring.replay import Replay
    from assignor_lab.scoring.sources import Plan

__all__ = ["register"]

Sources = Annotated[
    list[str] | None,
    typer.Argument(metavar="SOURCES", help="Scenario files, logs, or folders of them; - is the standard input."),
]
Assignors = Annotated[
    list[str] | None,
    typer.Option("--assignor", metavar="NAME", help="Who competes; by default whom the configuration names, else all."),
]
Variants = Annotated[
    list[str] | None,
    typer.Option(
        "--variant",
        metavar="NAME=ASSIGNOR,KEY=VALUE",
        help="An assignor with keys of its own competes, too: two=high_availability,num.standby.replicas=2.",
    ),
]
Families = Annotated[
    list[str] | None, typer.Option("--families", metavar="NAME", help="Families to generate histories of, or 'all'.")
]
Count = Annotated[
    int | None, typer.Option("--count", metavar="N", min=1, help="Histories over all families (default 100).")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of the first history of each family.")]
Master = Annotated[
    str | None, typer.Option("--master", metavar="URL", help="Spark's master; by default all cores of this machine.")
]
Remote = Annotated[str | None, typer.Option("--remote", metavar="URL", help="A Spark Connect server, sc://host:port.")]
Baseline = Annotated[
    str | None,
    typer.Option("--baseline", metavar="NAME", help="Whom the others are compared with, state by state."),
]
FailIf = Annotated[
    list[str] | None,
    typer.Option("--fail-if", metavar="EXPR", help="Exit code 1 if this holds, such as 'failed_rows > 0'."),
]
Junit = Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Results of --fail-if as JUnit XML.")]
OnlyItem = Annotated[
    int | None,
    typer.Option("--only-item", metavar="N", min=0, help="Score the scenario or history of this number alone."),
]
OnlyRound = Annotated[
    int | None, typer.Option("--only-round", metavar="N", min=0, help="Keep the rows of this round of a history only.")
]
Wheels = Annotated[
    list[Path] | None,
    typer.Option("--plugin-wheel", metavar="FILE", help="A plugin's wheel that travels to the executors with the run."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with a run of the same command that stopped early.")]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for tables, summary and report.")]
Answers = Annotated[bool, typer.Option("--answers", help="Keep the answers themselves, too, as DIR/answers.parquet.")]
Again = Annotated[
    Path | None,
    typer.Option(
        "--again", metavar="MANIFEST", help="Repeat the run of a manifest.json, and say whether the same came out."
    ),
]
AllowDifferences = Annotated[
    bool,
    typer.Option("--allow-differences", help="With --again: run although versions or code are not what they were."),
]
Mode = Annotated[
    Literal["played", "independent"] | None,
    typer.Option(
        "--mode",
        metavar="MODE",
        help="played: every assignor plays a group's past from its first complete decision, and goes on from its own "
        "answers. independent: each recorded state by itself. By default a past is played.",
    ),
]
#: The name and the values that ``--mode`` had before.
Histories = Annotated[
    Literal["played", "decisions", "independent"] | None, typer.Option("--histories", metavar="MODE", hidden=True)
]
PriceFile = Annotated[
    Path | None, typer.Option("--prices", metavar="FILE", help="Prices behind the metrics in dollars, as TOML.")
]

DEFAULT_COUNT = 100
DEFAULT_OUT = Path("scores")
#: Failing metrics that are told on standard error; the summary has all of them.
MOST_METRIC_NOTES = 20
#: Sources that the kept command line names.
MOST_WORDS = 200


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""

    @app.command()
    def score(
        source: Sources = None,
        assignor: Assignors = None,
        variant: Variants = None,
        families: Families = None,
        count: Count = None,
        seed: Seed = 0,
        master: Master = None,
        remote: Remote = None,
        baseline: Baseline = None,
        fail_if: FailIf = None,
        junit: Junit = None,
        only_item: OnlyItem = None,
        only_round: OnlyRound = None,
        plugin_wheel: Wheels = None,
        resume: Resume = False,
        answers: Answers = False,
        again: Again = None,
        allow_differences: AllowDifferences = False,
        prices: PriceFile = None,
        racks: RackFiles = None,
        mode: Mode = None,
        histories: Histories = None,
        workload: WorkloadFile = None,
        timings: TimingsFile = None,
        topology: Topology = None,
        timezone: Zone = None,
        trust: Trust = None,
        isolate: Isolate = None,
        config: ConfigFile = None,
        c: Overrides = None,
        out: Out = DEFAULT_OUT,
        json: Json = False,
    ) -> None:
        """Score assignors on states from files, logs and generated families, or on Connect groups.

        Writes results.parquet, run_metrics.parquet, summary.json, manifest.json and report.html into DIR. Ends with 1
        if a gate (--fail-if) fails, or if --again gives other results; with --again, SOURCES stand in for the run's.
        """
        if mode is not None and histories is not None:
            raise typer.BadParameter("--histories is the former name of --mode: give one of the two")
        mode = mode or ("independent" if histories == "decisions" else histories)
        options: dict[str, object] = {
            "families": families,
            "count": count,
            "seed": seed if families else None,
            "baseline": baseline,
            "fail-if": fail_if,
            "only-item": only_item,
            "only-round": only_round,
            "answers": answers or None,
            "mode": mode,
            "workload": workload,
            "timings": timings,
            "topology": topology,
            "timezone": timezone,
            "config": config,
        }
        repeats = None
        if again is not None:
            decided = {**options, "variant": variant, "seed": seed or None, "prices": prices, "racks": racks}
            words = with_isolation(c, trust, isolate)
            repeats = repetition(again, decided, words, assignor or [], tolerant=allow_differences)
        elif allow_differences:
            raise typer.BadParameter("--allow-differences is about a run that is repeated: give --again, too")
        options = {"assignor": assignor, "variant": variant, **options}
        contenders = variants_of(dict.fromkeys(assignor or ()), variant or ())
        if repeats is not None:
            manifest = repeats.manifest
            contenders = [as_variant(text) for text in manifest.assignors]
            baseline, fail_if = manifest.baseline, list(manifest.gates)
            only_item, only_round, answers = manifest.only_item, manifest.only_round, manifest.raw_answers
        if master is not None and remote is not None:
            raise typer.BadParameter("give --master or --remote, not both")
        if count is not None and not families:
            raise typer.BadParameter("--count is the number of generated histories: name --families, too")
        if junit is not None and not fail_if:
            raise typer.BadParameter("--junit writes what came of gates: give --fail-if, too")
        gates = parsed_gates(fail_if or [], junit, baseline)

        from assignor_lab.scoring.spark.addresses import DEFAULT_MASTER, shown_address
        from assignor_lab.scoring.spark.session import starting_session

        with ExitStack() as stack:
            on_progress = stack.enter_context(shown_progress())
            on_progress.say("reading sources, starting Spark")
            # Slowest of all, and the plugins and sources do without it.
            session = stack.enter_context(starting_session(master, remote))

            from assignor_lab.capture.histories.past_terms import DECISIONS, PLAYED, PastTerms
            from assignor_lab.report.html import prepare
            from assignor_lab.report.terminal import print_summary
            from assignor_lab.run import run_scoring
            from assignor_lab.runtime.discovery import discovered
            from assignor_lab.scenarios.racks import read_racks
            from assignor_lab.scoring.output.folder import OutputFolder
            from assignor_lab.scoring.sources import family_names, generated, plan_sources
            from assignor_lab.scoring.spark.engine import OnSpark
            from assignor_lab.scoring.spark.executors import fit_executors
            from assignor_lab.scoring.spark.wheels import executor_wheels as plugin_wheels
            from assignor_lab.scoring.terms import Run

            c = with_prices(with_isolation(c, trust, isolate), prices)
            given = sources(config, c) if repeats is None else repeats.config
            wheels = stack.enter_context(plugin_wheels(plugin_wheel or []))
            # Where everybody competes, those who cannot are named with the others who are left out.
            plugins = (found_plugins if contenders else discovered)(given.effective())
            registry = plugins.registry
            known_racks = read_racks(racks) if racks else None
            if repeats is None:
                names = family_names(registry, families or (), [each.assignor for each in contenders])
                inputs = (*(source or ()), *generated(names, count or DEFAULT_COUNT, seed))
                past = past_terms(mode, given, config, topology, timezone, workload, timings)
            else:
                inputs = repeats.sources(source or [])
                known_racks = None if repeats.manifest.racks is None else repeats.manifest.racks.racks()
                past = repeats.manifest.past or PastTerms(DECISIONS)
            plan = stack.enter_context(
                plan_sources(
                    inputs,
                    registry,
                    given.above,
                    note,
                    only_item=only_item,
                    only_round=only_round,
                    racks=known_racks,
                    past=past,
                )
            )
            if timings is not None and plan.past.way != PLAYED:
                raise typer.BadParameter(
                    "the sources hold no past that is played, and nothing else takes timings", param_hint="--timings"
                )
            if repeats is not None:
                repeats.check_states(plan)
            if not contenders and repeats is None:
                configured = configured_assignor(registry, given.effective(), plan.kind.plugins)
                contenders = [as_variant(configured)] if configured else contenders
            competing, baseline = compared_with(
                registry, contenders, baseline, plan.kind, may_run_code=repeats is None or repeats.runs_code
            )
            for unloaded in competing.unloaded:
                note(f"{unloaded.name} is left out: {unloaded.reason}")
            for row in () if contenders else competing.refused:
                note(f"{row.kind} {row.name} of {row.distribution} is left out: {row.reason}")
            replay = _replay_of(source or [], given, config, c or [], plugin_wheel or [], racks or [], contenders, plan)
            asked = [each.name for each in contenders]
            terms = terms_of(registry, competing, asked, gates, baseline, replay, plan.kind)
            place = master or DEFAULT_MASTER if remote is None else shown_address(remote)
            options |= {"again": again, "junit": junit}
            options |= {"master": master, "remote": None if remote is None else place}
            options |= {"racks": racks, "plugin-wheel": plugin_wheel, "out": out}
            command = _command(source or [], options, given, c or [])
            described = plugins.described
            run = Run(registry, competing, plan, given, command, place, terms, only_round, answers, described)
            if repeats is not None:
                repeats.check_code(run)
            folder = stack.enter_context(OutputFolder(out, resume=resume, on_note=note))
            on_progress.say("starting Spark")
            prepare()
            spark = session()
            cores = fit_executors(spark, master or DEFAULT_MASTER if remote is None else None, wheels)
            on_progress.say("scoring")
            summary = run_scoring(run, OnSpark(spark, wheels, cores, note), folder, on_progress)
        for each in summary["results"]["metric_failures"][:MOST_METRIC_NOTES]:
            note(f"metric {each['metric']} failed in {each['rows']:,} rows: {each['message']}")
        if json:
            print_json(summary)
        else:
            print_summary(summary, console())
            _print_files(summary["run_metrics"], summary["results"], out)
        if repeats is not None:
            repeats.conclude(out, say=note if json else print_line)
        conclude(summary["results"]["gates"], junit, say=note if json else print_line)
        check_answered(summary["results"])


def _print_files(run: Mapping[str, Any], results: Mapping[str, Any], out: Path) -> None:
    print_line()
    print_line(
        f"{plural(results['states'], 'state')}, {plural(results['rows'], 'row')}, {results['failed_rows']:,} failed, "
        f"in {run['seconds']:,.1f} s: {run['states_per_second'] or 0:,.1f} states per second"
    )
    if run["shares"] is not None:
        shares = ", ".join(f"{_SHARES[name]} {share:.0%}" for name, share in run["shares"].items())
        print_line(f"{run['rows_per_second_per_core']:,.1f} rows per second per core; of the cores' time: {shares}")
    from assignor_lab.scoring.output.folder import ANSWERS, MANIFEST, REPORT, RESULTS, RUN_METRICS, SUMMARY

    files = {
        "Results": RESULTS,
        "Times": RUN_METRICS,
        "Answers": ANSWERS,
        "Summary": SUMMARY,
        "Manifest": MANIFEST,
        "Report": REPORT,
    }
    for name, file in files.items():
        if (out / file).exists():
            print_line(f"{name}: {out / file}")


_SHARES = {"build": "building states", "assign": "assign", "metrics": "metrics", "spark": "Spark and idle"}


def _command(words: list[str], options: dict[str, object], given: ConfigSources, overrides: list[str]) -> str:
    """The command line as it may be kept: what looks like a secret is not in it."""
    parts = ["assignor", "score", *words[:MOST_WORDS]]
    if len(words) > MOST_WORDS:
        parts.append(f"[and {len(words) - MOST_WORDS:,} more]")
    for name, value in options.items():
        for item in value if isinstance(value, list) else [value]:
            if item is True:
                parts.append(f"--{name}")
            elif item is not None:
                parts += [f"--{name}", str(item)]
    return shlex.join([*parts, *override_words(given, overrides)])


def with_prices(overrides: list[str], prices: Path | None) -> list[str]:
    """Items of ``-c`` with the prices in a file; what ``-c`` itself says of a price holds.

    Raises:
        PriceError: if the file is none of prices.
    """
    if prices is None:
        return overrides
    from assignor_lab.groups.prices import price_overrides, read_prices

    return [*price_overrides(read_prices(prices)), *overrides]


def _replay_of(
    source: list[str],
    given: ConfigSources,
    config: Path | None,
    overrides: list[str],
    wheels: list[Path],
    racks: list[Path],
    contenders: Sequence[Variant],
    plan: Plan,
) -> Replay:
    """What of the command line decides the states, for the command that shows one of them again."""
    from assignor_lab.capture.histories.past_terms import PLAYED
    from assignor_lab.scoring.replay import Replay

    words = [] if config is None else ["--config", str(config)]
    words += [word for wheel in wheels for word in ("--plugin-wheel", str(wheel))]
    words += [word for file in racks for word in ("--racks", str(file))]
    past = plan.past
    told = {"topology": past.topology, "timezone": past.timezone, "workload": past.workload}
    told["timings"] = past.timings_file
    words += [word for name, value in told.items() if value is not None for word in (f"--{name}", value)]
    words += ["--mode", "played" if past.way == PLAYED else "independent"] if plan.has_pasts else []
    variants = {each.name: each.text for each in contenders if not each.is_plain}
    return Replay(tuple(source), (*words, *override_words(given, overrides)), variants=variants)
