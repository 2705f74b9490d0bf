"""``assignor score``: each assignor's answers to many states, measured on Spark."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

import attrs
import typer

from assignor_lab.cli.isolation_options import with_isolation
from assignor_lab.cli.option_values import with_options
from assignor_lab.cli.options import override_words, sources, with_prices
from assignor_lab.cli.past_options import past_terms
from assignor_lab.cli.score_options import ContenderOptions, GateOptions, OutputOptions, SparkOptions, StateOptions
from assignor_lab.cli.text import console, note, print_json, print_line

if TYPE_CHECKING:
    from assignment_api.plugins import ConfigSources, Registry
    from assignor_lab.cli.score_again import Repetition
    from assignor_lab.cli.score_engine import EngineChoice
    from assignor_lab.groups.variants import Contender
    from assignor_lab.model.run_summary import Results, RunMetrics, RunSummary
    from assignor_lab.runtime.discovery import Plugins
    from assignor_lab.scoring.engine.engine import Engine
    from assignor_lab.scoring.gates import Gate
    from assignor_lab.scoring.rows import Progress
    from assignor_lab.scoring.sources.plan import ScoringPlan
    from assignor_lab.scoring.terms import ReplayCommand, ScoringRun

__all__ = ["note_failures", "register"]

DEFAULT_COUNT = 100
DEFAULT_PLAYS = 20
MOST_METRIC_NOTES = 20
MOST_FAMILY_NOTES = 20
#: Most sources in the kept command line.
MOST_WORDS = 200


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("score")(with_options(_score))


def _score(
    contenders: ContenderOptions, states: StateOptions, gates: GateOptions, spark: SparkOptions, output: OutputOptions
) -> None:
    """Score assignors on states from files, logs and generated families, or on Connect groups.

    Writes results.parquet, run_metrics.parquet, summary.json, manifest.json and report.html into DIR. Ends with 1
    if a gate (--fail-if) fails, or if --reproduce gives other results; with --reproduce, SOURCES replace the run's.
    """
    from assignor_lab.cli.score_gates import check_answered, conclude
    from assignor_lab.cli.score_progress import shown_progress

    order = _Order.of(states, contenders, gates, spark, output)

    with ExitStack() as stack:
        on_progress = stack.enter_context(shown_progress())
        choice = order.engine
        on_progress.say(choice.step)
        choice.start(stack)

        from assignor_lab.report.html import prepare
        from assignor_lab.run import run_scoring
        from assignor_lab.scoring.output.folder import OutputFolder
        from assignor_lab.scoring.spark.wheels import executor_wheels

        wheels = stack.enter_context(executor_wheels(contenders.plugin_wheel or []))
        run = choice.settle(order.run(stack), stack)
        on_progress.say("starting Spark" if choice.known != "local" else "scoring")
        if output.is_url:
            prepare()
            summary = _scored_to_path(run, choice.engine(run, wheels, stack), output, on_progress)
        else:
            folder = stack.enter_context(OutputFolder(output.folder, resume=output.resume, on_note=note))
            prepare()
            engine = choice.engine(run, wheels, stack)
            on_progress.say("scoring")
            summary = run_scoring(run, engine, folder, on_progress)
    _show(summary, output)
    say = note if output.json else print_line
    if order.repeats is not None:
        order.repeats.conclude(output.folder, say=say)
    conclude(summary.results.gates, gates.junit, say=say)
    check_answered(summary.results)


def _scored_to_path(
    run: ScoringRun, engine: Engine, output: OutputOptions, on_progress: Callable[[Progress], None]
) -> RunSummary:
    from assignor_lab.run import run_on_path
    from assignor_lab.scoring.spark.engine import OnSpark
    from assignor_lab.scoring.spark.path_output import PathOutput

    assert isinstance(engine, OnSpark)
    place = PathOutput(engine.spark, output.out.rstrip("/"), output.resume, output.table, output.format)
    summary, every = run_on_path(run, engine, place, on_progress)
    if every > 1:
        note(f"figures are of every {every}th item: all rows are in {output.out}")
    return summary


@attrs.frozen
class _Order:
    """A checked order for a run: the options, with those of the manifest of a repeated run."""

    states: StateOptions
    contenders: ContenderOptions
    gates: GateOptions
    spark: SparkOptions
    engine: EngineChoice
    output: OutputOptions
    repeats: Repetition | None
    variants: tuple[Contender, ...]
    baseline: str | None
    parsed: tuple[Gate, ...]

    @classmethod
    def of(
        cls,
        states: StateOptions,
        contenders: ContenderOptions,
        gates: GateOptions,
        spark: SparkOptions,
        output: OutputOptions,
    ) -> _Order:
        """The order.

        Raises:
            typer.BadParameter: if options contradict each other.
            RepeatError, GateError: if the manifest or a gate is wrong.
        """
        from assignor_lab.cli.score_engine import EngineChoice
        from assignor_lab.cli.score_gates import parsed_gates
        from assignor_lab.groups.deciding_release import at_releases
        from assignor_lab.groups.variants import as_variant, variants_of

        repeats = _repeated(states, contenders, gates, output)
        if repeats is None:
            named = variants_of(dict.fromkeys(contenders.assignor or ()), contenders.variant or ())
            variants = at_releases(named, contenders.release)[0]
            baseline, expressions = gates.baseline, gates.fail_if or []
        else:
            manifest = repeats.manifest
            variants = [as_variant(text) for text in manifest.assignors]
            baseline, expressions = manifest.baseline, list(manifest.gates)
        if spark.master is not None and spark.remote is not None:
            raise typer.BadParameter("give --master or --remote, not both")
        if states.count is not None and not states.families:
            raise typer.BadParameter("--count is the number of generated histories: name --families, too")
        if gates.junit is not None and not expressions:
            raise typer.BadParameter("--junit writes the results of gates: give --fail-if, too")
        if output.is_url and output.reproduce is not None:
            raise typer.BadParameter("--reproduce compares a folder of this machine: give --out a path without ://")
        if output.table is not None and not output.is_url:
            raise typer.BadParameter("--table is for an --out that Spark writes, such as s3a://bucket/scores")
        if output.format != "parquet" and output.table is None:
            raise typer.BadParameter("--format is the format of a table: give --table NAME, too")
        parsed = parsed_gates(expressions, gates.junit, baseline)
        engine = EngineChoice.of(spark, states, contenders.plugin_wheel, is_url=output.is_url)
        return cls(states, contenders, gates, spark, engine, output, repeats, tuple(variants), baseline, parsed)

    def run(self, stack: ExitStack) -> ScoringRun:
        from assignment_api.releases import RELEASE_KEY
        from assignor_lab.cli.found_plugins import found_plugins
        from assignor_lab.cli.score_gates import compared_with, terms_of
        from assignor_lab.groups.deciding_release import at_releases
        from assignor_lab.runtime.discovery import discovered
        from assignor_lab.scoring.spark.addresses import DEFAULT_MASTER, shown_address
        from assignor_lab.scoring.terms import ScoringRun

        repeats, spark = self.repeats, self.spark
        words = with_prices(_isolated(self.contenders), self.contenders.prices)
        if (release := at_releases((), self.contenders.release)[1]) is not None:
            words = [f"{RELEASE_KEY}={release}", *words]
        given = sources(self.contenders.config, words) if repeats is None else repeats.config
        # If all assignors compete, the unusable ones are listed with the others left out.
        plugins = (found_plugins if self.variants else discovered)(given.effective())
        plan = stack.enter_context(self._plan(plugins.registry, given))
        self._check(plan)
        variants = self._competing(plugins, given, plan)
        competing, baseline = compared_with(
            plugins.registry, variants, self.baseline, plan.kind, may_run_code=repeats is None or repeats.runs_code
        )
        for unloaded in competing.unloaded:
            note(f"{unloaded.name} is left out: {unloaded.reason}")
        for sentence in _release_sentences(plugins.registry, variants, given, plan):
            note(sentence)
        for row in () if variants else competing.refused:
            note(f"{row.kind} {row.name} of {row.distribution} is left out: {row.reason}")
        replay = _replay_of(self.states, self.contenders, given, words, variants, plan)
        names = [each.name for each in variants]
        columns = self._columns(plugins.registry, plan)
        terms = terms_of(plugins.registry, competing, names, self.parsed, baseline, replay, plan.kind, columns)
        place = spark.master or DEFAULT_MASTER if spark.remote is None else shown_address(spark.remote)
        command = self._command(place, given, words)
        only_round, raw = self.states.only_round, self.output.keep_assignments
        if repeats is not None:
            only_round, raw = repeats.manifest.only_round, repeats.manifest.raw_answers
        run = ScoringRun(
            plugins.registry, competing, plan, given, command, place, terms, only_round, raw, plugins.described,
            columns,
        )  # fmt: skip
        if repeats is not None:
            repeats.check_code(run)
        return run

    def _plan(self, registry: Registry, given: ConfigSources) -> ScoringPlan:
        from assignor_lab.capture.histories.past_terms import DECISIONS, PastTerms
        from assignor_lab.scenarios.racks import read_racks
        from assignor_lab.scoring.sources.reading import family_names, generated, plan_sources

        states = self.states
        if self.repeats is None:
            names = family_names(registry, states.families or (), [each.assignor for each in self.variants])
            inputs = (*(states.source or ()), *generated(names, states.count or DEFAULT_COUNT, states.seed))
            past = past_terms(
                states.mode, given, states.topology, states.timezone, states.workload,
                states.timings, states.dates, states.day, states.plays, states.seed,
            )  # fmt: skip
            racks = read_racks(states.racks) if states.racks else None
            only_item, only_round = states.only_item, states.only_round
        else:
            manifest = self.repeats.manifest
            inputs = self.repeats.sources(states.source or [])
            past = manifest.past or PastTerms(DECISIONS)
            racks = None if manifest.racks is None else manifest.racks.racks()
            only_item, only_round = manifest.only_item, manifest.only_round
        return plan_sources(
            inputs, registry, given.above, note, only_item=only_item, only_round=only_round, racks=racks, past=past
        )

    def _columns(self, registry: Registry, plan: ScoringPlan) -> tuple[str, ...] | None:
        """Columns of the metrics; ``None``: the usual ones."""
        from assignor_lab.scoring.selected_metrics import requested

        if self.repeats is not None:
            return self.repeats.manifest.metrics
        gates = [gate.metric.text for gate in self.parsed if gate.metric is not None]
        return requested(plan.kind.load(), registry, self.contenders.metrics or (), gates)

    def _check(self, plan: ScoringPlan) -> None:
        from assignor_lab.capture.histories.past_terms import PLAYED

        if self.states.timings is not None and plan.past.way != PLAYED:
            raise typer.BadParameter(
                "the sources have no past that is played, and nothing else uses timings", param_hint="--timings"
            )
        if self.repeats is not None:
            self.repeats.check_states(plan)

    def _competing(self, plugins: Plugins, given: ConfigSources, plan: ScoringPlan) -> tuple[Contender, ...]:
        from assignor_lab.cli.configured import configured_assignor
        from assignor_lab.groups.variants import as_variant

        if self.variants or self.repeats is not None:
            return self.variants
        configured = configured_assignor(plugins.registry, given.effective(), plan.kind.plugins)
        return (as_variant(configured),) if configured else ()

    def _command(self, place: str, given: ConfigSources, overrides: Sequence[str]) -> str:
        """The command line that results may keep, without secrets."""
        options = {
            "assignor": self.contenders.assignor,
            "variant": self.contenders.variant,
            "release": self.contenders.release if "," in (self.contenders.release or "") else None,
            **_decided(self.states, self.contenders, self.gates, self.output),
            "reproduce": self.output.reproduce,
            "junit": self.gates.junit,
            "engine": None if self.spark.engine == "auto" else self.spark.engine,
            "master": self.spark.master,
            "remote": None if self.spark.remote is None else place,
            "racks": self.states.racks,
            "plugin-wheel": self.contenders.plugin_wheel,
            "out": self.output.out,
            "table": self.output.table,
            "format": None if self.output.table is None else self.output.format,
        }
        words = self.states.source or []
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


def _decided(
    states: StateOptions, contenders: ContenderOptions, gates: GateOptions, output: OutputOptions
) -> dict[str, object]:
    """The options that a manifest replaces, by name; ``None`` if they were not given."""
    return {
        "families": states.families,
        "count": states.count,
        "seed": states.seed if states.families or states.seed else None,
        "baseline": gates.baseline,
        "fail-if": gates.fail_if,
        "only-item": states.only_item,
        "only-round": states.only_round,
        "keep-assignments": output.keep_assignments or None,
        "mode": states.mode,
        "workload": states.workload,
        "timings": states.timings,
        "topology": states.topology,
        "timezone": states.timezone,
        "dates": states.dates,
        "day": states.day,
        "plays": None if states.plays == DEFAULT_PLAYS else states.plays,
        "metrics": contenders.metrics,
        "config": contenders.config,
    }


def _repeated(
    states: StateOptions, contenders: ContenderOptions, gates: GateOptions, output: OutputOptions
) -> Repetition | None:
    from assignor_lab.cli.score_again import repetition

    if output.reproduce is None:
        if output.allow_differences:
            raise typer.BadParameter("--allow-differences is about a repeated run: give --reproduce, too")
        return None
    decided = {
        **_decided(states, contenders, gates, output),
        "variant": contenders.variant,
        "seed": states.seed or None,
        "prices": contenders.prices,
        "racks": states.racks,
    }
    return repetition(
        output.reproduce,
        decided,
        _isolated(contenders),
        contenders.assignor or [],
        tolerant=output.allow_differences,
    )


def _isolated(contenders: ContenderOptions) -> list[str]:
    return with_isolation(contenders.c, contenders.trust, contenders.isolate)


def _show(summary: RunSummary, output: OutputOptions) -> None:
    from assignor_lab.report.terminal import print_summary

    note_failures(summary.results)
    if output.json:
        from assignor_lab.scoring.output.summary_file import summary_document

        print_json(summary_document(summary))
    else:
        print_summary(summary, console(), is_brief=output.brief)
        _print_files(summary.run_metrics, summary.results, output)


def note_failures(results: Results) -> None:
    """Prints the reasons of failing families and metrics on standard error."""
    from assignor_lab.documents.wording import plural

    families = [each for each in results.failures if each.family is not None]
    for each in families[:MOST_FAMILY_NOTES]:
        note(f"family {each.family} failed in {plural(each.rows, 'row')}: {each.type}: {each.message}")
    for failure in results.metric_failures[:MOST_METRIC_NOTES]:
        note(f"metric {failure.metric} failed in {plural(failure.rows, 'row')}: {failure.message}")


def _print_files(run: RunMetrics, results: Results, output: OutputOptions) -> None:
    from assignor_lab.cli.score_engine import HERE
    from assignor_lab.documents.wording import plural

    print_line()
    print_line(
        f"{plural(results.states, 'state')}, {plural(results.rows, 'row')}, {results.failed_rows:,} failed, "
        f"in {run.seconds or 0:,.1f} s: {run.states_per_second or 0:,.1f} states per second"
    )
    if run.master == HERE and not output.brief:
        print_line("Scored in this process, without Spark; --engine spark gives equal results.")
    if run.shares is not None and not output.brief:
        names = _SHARES if run.master != HERE else {**_SHARES, "spark": "other work"}
        shares = ", ".join(f"{names[name]} {share:.0%}" for name, share in run.shares.items())
        print_line(f"{run.rows_per_second_per_core or 0:,.1f} rows per second per core; of the cores' time: {shares}")
    from assignor_lab.scoring.output.folder import ANSWERS, MANIFEST, REPORT, RESULTS, RUN_METRICS, SUMMARY

    files = {
        "Results": RESULTS,
        "Times": RUN_METRICS,
        "Answers": ANSWERS,
        "Summary": SUMMARY,
        "Manifest": MANIFEST,
        "Report": REPORT,
    }
    if output.is_url:
        if output.table is not None:
            print_line(f"Rows: table {output.table}")
        print_line(f"{'Rows, s' if output.table is None else 'S'}ummary, manifest and report: {output.out}")
        return
    for name, file in files.items():
        if output.brief and name != "Report":
            continue
        if (output.folder / file).exists():
            print_line(f"{name}: {output.folder / file}")


_SHARES = {"build": "building states", "assign": "assign", "metrics": "metrics", "spark": "Spark and idle"}


def _replay_of(
    states: StateOptions,
    contenders: ContenderOptions,
    given: ConfigSources,
    overrides: Sequence[str],
    variants: Sequence[Contender],
    plan: ScoringPlan,
) -> ReplayCommand:
    """The parts of the command line that determine states, for the command that shows one of them again."""
    from assignor_lab.capture.histories.past_terms import PLAYED
    from assignor_lab.scoring.terms import ReplayCommand

    words = [] if contenders.config is None else ["--config", str(contenders.config)]
    words += [word for wheel in contenders.plugin_wheel or () for word in ("--plugin-wheel", str(wheel))]
    words += [word for file in states.racks or () for word in ("--racks", str(file))]
    past = plan.past
    options = {"topology": past.topology, "timezone": past.timezone, "dates": past.dates, "day": past.day}
    options["workload"] = past.workload
    options["timings"] = past.timings_file
    words += [word for name, value in options.items() if value is not None for word in (f"--{name}", value)]
    words += ["--mode", "played" if past.way == PLAYED else "independent"] if plan.has_pasts else []
    own = {each.name: each.text for each in variants if not each.is_plain}
    return ReplayCommand(tuple(states.source or ()), (*words, *override_words(given, overrides)), variants=own)


def _release_sentences(
    registry: Registry, contenders: Sequence[Contender], given: ConfigSources, plan: ScoringPlan
) -> list[str]:
    """A sentence on the release of each contender whose answers depend on it; a state's own counts before defaults."""
    from assignment_api.plugins import PluginError
    from assignment_api.releases import RELEASE_KEY
    from assignor_lab.groups.deciding_release import ReleasesSaid
    from assignor_lab.groups.variants import configured

    said = ReleasesSaid()
    kind = plan.kind.load()
    for each in contenders:
        try:
            assignor = kind.find(registry, each.assignor, may_run_code=True)
        except PluginError:
            continue
        own = {key: value for key, value in each.overrides.items() if key == RELEASE_KEY}
        under = configured(given, each.name, own)
        for shown, count in plan.releases.items():
            said.take(each.name, assignor, under, {} if shown is None else {RELEASE_KEY: shown}, count=count)
    return said.sentences()
