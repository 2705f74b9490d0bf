"""``assignor conformance``: tests an assignor on the levels of the kit for authors."""

from __future__ import annotations

import json as json_format
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from assignor_lab.cli.options import ConfigFile, Json, Overrides, sources
from assignor_lab.cli.text import print_json, print_line

__all__ = ["register"]

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="Name of an assignor (see 'assignor plugins'), module:attribute or java:CLASS@JARS."
    ),
]
Count = Annotated[int, typer.Option("--histories", metavar="N", min=1, help="Histories to play.")]
Seed = Annotated[int, typer.Option("--seed", metavar="S", min=0, help="Seed of the drawn histories.")]
Levels = Annotated[
    list[str] | None, typer.Option("--level", metavar="LEVEL", help="Judge this level only; may be given again.")
]
Without = Annotated[
    list[str] | None,
    typer.Option(
        "--without",
        metavar="WHAT",
        help="Cases that the assignor is not made for: standbys, missing-lags, racks, any-order or empty; repeatable.",
    ),
]
HistoryFile = Annotated[
    Path | None, typer.Option("--history", metavar="FILE", help="Play this history of a failure, and no other.")
]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where failures are written.")]
GroupKind = Annotated[
    str | None,
    typer.Option(
        "--kind", metavar="KIND", help="Kind of group, such as streams or consumer, if the name does not determine it."
    ),
]


Strict = Annotated[
    bool, typer.Option("--strict-quality", help="End with 1 if a figure is clearly worse than Kafka's own.")
]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("conformance")(_conformance)


def _conformance(
    name: Name,
    histories: Count = 300,
    seed: Seed = 0,
    level: Levels = None,
    without: Without = None,
    kind: GroupKind = None,
    history: HistoryFile = None,
    config: ConfigFile = None,
    c: Overrides = None,
    out: Out = Path("conformance-failures"),
    strict_quality: Strict = False,
    json: Json = False,
) -> None:
    """Hold an assignor to seven levels, by random histories that shrink to the smallest one.

    Valid, complete, pure, deterministic, stable, convergent, bounded. Ends with 1 if a level is missed.
    """
    from assignment_api.conformance import Level, Trial, history_of, replayed
    from assignment_api.conformance import conformance as held_to
    from assignor_lab.cli.found_plugins import found_plugins
    from assignor_lab.conformance.known_kafka_behaviour import known_of
    from assignor_lab.conformance.subjects import subject_of

    effective = sources(config, c).effective()
    plugins = found_plugins(effective)
    entry, found = _found(plugins.registry, name, kind)
    subject = subject_of(entry.name, entry.load().asking, found, plugins.isolation)
    capabilities = _capabilities(without or [], found.plugin)
    trial = Trial(_kit_kind(entry.name), subject, capabilities, effective.values_of(found))
    levels = [_level(word) for word in level] if level else list(Level)
    known = known_of(found.name, found.distribution)
    options = [word for each in without or () for word in ("--without", each)]
    given = [word for each in c or () for word in ("-c", each)]
    given += [] if config is None else ["--config", str(config)]
    if history is not None:
        report = replayed(trial, history_of(_document(history)), selector=name, known=known, levels=levels)
    else:
        with _progress(histories) as advance:
            report = held_to(
                trial, selector=name, histories=histories, seed=seed, levels=levels, known=known, folder=out,
                options=options, config=given, on_history=advance, on_found=_report_found,
                reference=_reference(plugins, entry),
            )  # fmt: skip
    if json:
        print_json(report.document())
    else:
        _print(report)
    if not report.is_conformant or (strict_quality and report.warnings):
        raise typer.Exit(1)


def _found(registry: Any, name: str, kind: str | None) -> tuple[Any, Any]:
    from assignor_lab.groups.entries import default_kind, entries

    offered = registry.assignor_kinds(name, may_run_code=True)
    chosen = [entry for entry in entries() if entry.is_assigned and entry.plugins in offered] or [default_kind()]
    if kind is not None:
        chosen = [entry for entry in chosen if entry.name == kind]
        if not chosen:
            raise typer.BadParameter(f"{name} is no assignor of kind {kind!r}", param_hint="--kind")
    entry = chosen[0]
    return entry, entry.load().find(registry, name, may_run_code=True)


def _reference(plugins: Any, entry: Any) -> Any:
    """Kafka's own assignor of a kind, or ``None`` if it is not installed or blocked."""
    from assignment_api import AssignorLabError
    from assignor_lab.conformance.subjects import subject_of

    try:
        found = entry.load().find(plugins.registry, entry.load().ownership.default_assignor, may_run_code=False)
    except AssignorLabError:
        return None
    return subject_of(entry.name, entry.load().asking, found, plugins.isolation)


def _kit_kind(name: str) -> Any:
    from assignment_api.conformance import KINDS

    return KINDS[name]


def _capabilities(without: list[str], plugin: Any) -> Any:
    import attrs

    from assignment_api.conformance import Capabilities

    made = Capabilities()
    fields = {name.replace("_", "-"): name for name, value in attrs.asdict(made).items() if value is True}
    for word in without:
        if word not in fields:
            raise typer.BadParameter(f"{word!r} is none of {', '.join(fields)}", param_hint="--without")
        without_it: dict[str, Any] = {fields[word]: False}
        made = attrs.evolve(made, **without_it)
    protocols = getattr(plugin, "protocols", ())
    if protocols and made.protocol not in protocols:
        made = attrs.evolve(made, protocol=protocols[0])
    return made


def _level(word: str) -> Any:
    from assignment_api.conformance import Level

    known = [level.value for level in Level]
    if word not in known:
        raise typer.BadParameter(f"{word!r} is none of {', '.join(known)}", param_hint="--level")
    return Level(word)


def _document(file: Path) -> Any:
    from assignment_api.input_files import read_input

    try:
        return json_format.loads(read_input(file).decode("utf-8"))
    except ValueError as error:
        raise typer.BadParameter(f"{file}: no JSON: {error}", param_hint="--history") from error


def _progress(histories: int) -> Any:
    if not sys.stderr.isatty():
        return nullcontext(lambda: None)
    return _Bar(histories)


def _report_found(rule: str) -> None:
    """A line on standard error: the search for the smallest history may take a minute."""
    typer.echo(f"assignor conformance: {rule!r} is violated; looking for its smallest history", err=True)


class _Bar:
    def __init__(self, histories: int) -> None:
        from rich.console import Console
        from rich.progress import Progress

        self._bar = Progress(console=Console(file=sys.stderr), transient=True)
        self._task = self._bar.add_task("playing", total=histories)

    def __enter__(self) -> Any:
        self._bar.start()
        return lambda: self._bar.advance(self._task)

    def __exit__(self, *_error: object) -> None:
        self._bar.stop()


def _print(report: Any) -> None:
    for result in report.levels:
        for failure in result.failures:
            print_line(f"{result.level.value}: {failure.rule} ({'known' if failure.known else 'failed'})")
            for line in failure.text().splitlines():
                print_line(f"  {line}")
            print_line("")
        if result.note:
            print_line(f"{result.level.value}: {result.note}")
    for warning in report.warnings:
        for line in warning.text().splitlines():
            print_line(line)
    print_line(report.summary())
