"""``assignor record``: groups' past from their coordinators' topic, and later generations."""

from __future__ import annotations

import math
import re
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assignor_lab.cli.cluster_options import Anonymize, BootstrapServer, CommandConfig, Timeout
from assignor_lab.cli.contexts import ContextName, addressed, group_names
from assignor_lab.cli.options import ConfigFile, Json, Overrides, sources
from assignor_lab.cli.text import console, note, print_json, table

if TYPE_CHECKING:
    from assignor_lab.capture.live.recorder import RecordingOutcome
    from assignor_lab.planning.past.keeping import LedgerKeeper
    from assignor_lab.watching.exporter import Exporter

__all__ = ["register"]

Segments = Annotated[
    list[Path] | None,
    typer.Option(
        "--segments",
        metavar="PATH",
        help="Copy of a log segment of __consumer_offsets, or of a partition's folder; instead of brokers, may be "
        "repeated.",
    ),
]
Group = Annotated[str | None, typer.Option("--group", metavar="GROUP", help="The group.", autocompletion=group_names)]
All = Annotated[bool, typer.Option("--all", help="All groups of Streams, Connect and consumers, a folder for each.")]
Follow = Annotated[bool, typer.Option("--follow", help="Continue with new records, until Ctrl-C or SIGTERM.")]
For = Annotated[
    str | None,
    typer.Option("--for", metavar="TIME", help="Go on for so long, such as 30s, 15m or 2h; with --follow or not."),
]
SampleEvery = Annotated[
    str | None,
    typer.Option(
        "--sample-every",
        metavar="TIME",
        help="While following, keep ends and sizes of the group's topics so often, such as 30s: lags and workload.",
    ),
]
Metrics = Annotated[
    str | None,
    typer.Option(
        "--metrics",
        metavar="[HOST]:PORT",
        help="While following, serve Prometheus metrics of the groups; without a host, for this machine alone.",
    ),
]
ConfigDir = Annotated[
    Path | None,
    typer.Option(
        "--config-dir",
        metavar="DIR",
        help="With --metrics: folder of configurations, GROUP.properties for each group; others have --config.",
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the recording in the folder.")]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the recording.")]

_TIME = re.compile(r"([0-9]{1,6})(s|m|h)\Z")
_SECONDS = {"s": 1, "m": 60, "h": 3_600}
_MOST_NAMED = 5


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("record")(_record)


def _record(
    out: Out,
    bootstrap_server: BootstrapServer = None,
    context: ContextName = None,
    segments: Segments = None,
    group: Group = None,
    all_: All = False,
    command_config: CommandConfig = None,
    follow: Follow = False,
    for_: For = None,
    sample_every: SampleEvery = None,
    metrics: Metrics = None,
    config: ConfigFile = None,
    c: Overrides = None,
    config_dir: ConfigDir = None,
    resume: Resume = False,
    anonymize: Anonymize = None,
    timeout: Timeout = 30,
    json: Json = False,
) -> None:
    """Record a group's past from its coordinator's topic: every generation or epoch that is still there.

    Only reads: joins no group, commits and writes nothing to the cluster. Generations that are deleted or were never
    completed show as a gap.
    """
    import attrs

    from assignor_lab.capture.live.access import read_access
    from assignor_lab.capture.live.cluster import connected
    from assignor_lab.capture.live.recorder import RecordingSettings, record_groups, record_segments
    from assignor_lab.capture.live.recordings import folder_name
    from assignor_lab.documents.contexts import Contexts
    from assignor_lab.scenarios.anonymous import read_pseudonyms

    if (group is None) != all_:
        raise typer.BadParameter("name the group with --group, or take all with --all", param_hint="--group")
    has_brokers = bootstrap_server is not None or context is not None
    if has_brokers if segments else not (has_brokers or Contexts.read().used):
        raise typer.BadParameter(
            "give one source: brokers with --bootstrap-server or --context, or files with --segments",
            param_hint="--segments",
        )
    follow_s = _seconds(for_, "--for") if for_ is not None else math.inf if follow else None
    every_s = None if sample_every is None else _seconds(sample_every, "--sample-every")
    if every_s is not None and follow_s is None:
        raise typer.BadParameter("samples are taken while following: add --follow or --for", param_hint="--follow")
    if segments and (follow_s is not None or resume or command_config is not None):
        raise typer.BadParameter(
            "files are read once: leave --follow, --for, --resume and --command-config out", param_hint="--segments"
        )

    if follow_s is None and (config is not None or c):
        raise typer.BadParameter("the configuration is for metrics and the ledger: add --follow", param_hint="--config")
    if metrics is None and config_dir is not None:
        raise typer.BadParameter("the configurations are for metrics: add --metrics", param_hint="--config-dir")
    if config_dir is not None and not config_dir.is_dir():
        raise typer.BadParameter(f"{config_dir}: no such folder", param_hint="--config-dir")
    if metrics is not None and (follow_s is None or segments):
        raise typer.BadParameter("metrics are served while following: add --follow or --for", param_hint="--follow")
    exporter = None if metrics is None else _exporter(metrics, config, c, config_dir)
    ledger = None if follow_s is None else _ledger(config, c)

    def on_generation(name: str, generation: Mapping[str, Any]) -> None:
        if follow_s is not None:
            note(f"{f'group {name}: ' if all_ else ''}{_sentence(generation)}")
        if exporter is not None:
            exporter.changed(name, out / folder_name(name) if all_ else out)
        if ledger is not None:
            ledger.changed(out / folder_name(name) if all_ else out)

    names = None if anonymize is None else read_pseudonyms(anonymize)
    wanted = RecordingSettings(out, group, resume, on_generation, lambda why: note(f"warning: {why}"), names)
    if segments:
        recorded = record_segments(segments, wanted)
    else:
        access = read_access(*addressed(bootstrap_server, command_config, context), timeout)
        with connected(access) as cluster, _stopped_by_signals() as is_stopped:
            wanted = attrs.evolve(wanted, is_stopped=is_stopped, on_moved=note)
            if exporter is not None:
                alive = exporter.alive
                wanted = attrs.evolve(wanted, on_read=lambda is_connected: alive(is_connected=is_connected))
            try:
                recorded = record_groups(cluster, access, wanted, follow_s=follow_s, sample_every_s=every_s)
            finally:
                if exporter is not None:
                    exporter.close()
        if ledger is not None:
            ledger.close()
    _warn(recorded)
    if all_:
        _show_all(recorded, out, as_json=json)
    else:
        _show_one(recorded, out, as_json=json)


def _exporter(address: str, config: Path | None, overrides: list[str] | None, config_dir: Path | None) -> Exporter:
    """The exporter of metrics, which already serves.

    Args:
        config_dir: ``GROUP.properties`` replaces ``config`` for that group.
    """
    from assignor_lab.capture.live.recordings import folder_name
    from assignor_lab.cli.found_plugins import found_plugins
    from assignor_lab.watching.exporter import Exporter, metrics_address
    from assignor_lab.watching.figures import GroupFigures, MeasuringTerms, figures_of_past

    host, port = metrics_address(address)
    given = sources(config, overrides)
    plugins = found_plugins(given.effective())

    def figures(group: str, folder: Path) -> list[GroupFigures]:
        name = group if group == Path(group).name else folder_name(group)
        own = None if config_dir is None else config_dir / f"{name}.properties"
        is_own = own is not None and own.is_file()
        terms = MeasuringTerms(plugins.registry, sources(own, overrides) if is_own else given, plugins.isolation)
        return figures_of_past(folder, terms)

    exporter = Exporter(figures, lambda why: note(f"warning: {why}"))
    note(f"metrics: http://{host}:{exporter.serve(host, port)}/metrics")
    return exporter


def _ledger(config: Path | None, overrides: list[str] | None) -> LedgerKeeper:
    """The keeper of the ledgers, which has begun."""
    from assignor_lab.cli.found_plugins import found_plugins
    from assignor_lab.planning.past.keeping import LedgerKeeper, keep_ledger

    given = sources(config, overrides)
    registry = found_plugins(given.effective()).registry
    keeper = LedgerKeeper(lambda folder: keep_ledger(folder, registry, given), lambda why: note(f"warning: {why}"))
    keeper.begin()
    return keeper


#: Signals that request an end; not every system has all of them.
_ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def _stopped_by_signals() -> Iterator[Callable[[], bool]]:
    """Makes signals request an orderly end: Ctrl-C, SIGTERM of services, SIGHUP of a closed terminal.

    The second one ends at once.

    An immediate exception, Python's default, would get lost inside the client library.
    """
    signals: list[int] = []

    def ask(number: int, frame: FrameType | None) -> None:
        if signals:
            signal.default_int_handler(number, frame)
        signals.append(number)

    before = {number: signal.signal(number, ask) for number in _ENDING}
    try:
        yield lambda: bool(signals)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _warn(recorded: RecordingOutcome) -> None:
    for name, each in recorded.groups.items():
        for offset, reason in each.history.unreadable:
            note(f"warning: record {offset} of group {name} is kept, and left out of the history: {reason}")
        for offset, reason in each.left_out:
            note(f"warning: record {offset} of group {name} cannot be given pseudonyms and is not kept: {reason}")
    for fault in recorded.faults[:_MOST_NAMED]:
        note(f"warning: {fault}")
    if len(recorded.faults) > _MOST_NAMED:
        note(f"warning: {len(recorded.faults) - _MOST_NAMED} further parts of segments are passed over")


def _show_one(recorded: RecordingOutcome, out: Path, *, as_json: bool) -> None:
    from assignor_lab.capture.live.group_recording import HISTORY
    from assignor_lab.documents.wording import plural

    (each,) = recorded.groups.values()
    generations = each.history.generations
    if as_json:
        print_json({
            "out": str(out / HISTORY), "generations": generations, "records": recorded.read, "kept": recorded.kept,
            "read_to": next(iter(recorded.read_to.values()), 0), "passed_over": len(recorded.faults),
        })  # fmt: skip
        return
    console().print(table(("GENERATION", "TIME", "MEMBERS", "JOINED", "LEFT", ""), map(_row, generations)))
    note(f"{recorded.kept} of {plural(recorded.read, 'record')} belong to the group; history in {out / HISTORY}")


def _show_all(recorded: RecordingOutcome, out: Path, *, as_json: bool) -> None:
    from assignor_lab.documents.wording import plural

    groups = sorted(recorded.groups.items())
    if as_json:
        print_json({
            "out": str(out),
            "groups": [
                {
                    "group": name, "folder": str(each.folder), "generations": len(each.history.generations),
                    "holes": sum("hole" in generation for generation in each.history.generations),
                }
                for name, each in groups
            ],
            "records": recorded.read, "kept": recorded.kept, "passed_over": len(recorded.faults),
            "read_to": {str(partition): at for partition, at in recorded.read_to.items()},
        })  # fmt: skip
        return
    rows = [(name, *_span(each.history.generations), each.folder.name) for name, each in groups]
    console().print(table(("GROUP", "GENERATIONS", "HOLES", "LATEST", "AT", "FOLDER"), rows))
    count = plural(len(groups), "group")
    note(f"{recorded.kept} of {plural(recorded.read, 'record')} belong to {count}; a folder for each in {out}")


def _span(generations: list[dict[str, Any]]) -> tuple[object, ...]:
    holes = sum("hole" in generation for generation in generations)
    if not generations:
        return 0, "", "", ""
    latest = generations[-1]
    return len(generations), holes or "", latest["generation"], _time(latest["t"])


def _seconds(text: str, option: str) -> float:
    match = _TIME.match(text.strip())
    if match is None or not int(match[1]):
        raise typer.BadParameter(f"{text!r:.40}: write a number and s, m or h, such as 2h", param_hint=option)
    return float(int(match[1]) * _SECONDS[match[2]])


def _row(generation: Mapping[str, Any]) -> tuple[object, ...]:
    remarks = []
    if "hole" in generation:
        first, last = generation["hole"]
        remarks.append(f"{first} to {last} are not there" if first < last else f"{first} is not there")
    if "clock_back_ms" in generation:
        remarks.append(f"the coordinator's clock went back by {generation['clock_back_ms']:,} ms")
    if "was_before" in generation:
        remarks.append(f"until here in the {generation['was_before']} protocol")
    if generation.get("deleted"):
        remarks.append("the group was deleted")
    number = "" if generation["generation"] is None else generation["generation"]
    joined, left = len(generation["joined"]), len(generation["left"])
    return number, _time(generation["t"]), len(generation["members"]), joined or "", left or "", "; ".join(remarks)


def _sentence(generation: Mapping[str, Any]) -> str:
    from assignor_lab.documents.wording import plural

    number, at, _, joined, left, remarks = _row(generation)
    if generation.get("deleted"):
        return f"{at} {remarks}"
    count = plural(len(generation["members"]), "member")
    return f"{at} generation {number}: {count}, {joined or 0} joined, {left or 0} left{remarks and '; '}{remarks}"


def _time(epoch_ms: int) -> str:
    try:
        return datetime.fromtimestamp(epoch_ms / 1_000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + "Z"
    except (OverflowError, ValueError, OSError):
        # A corrupt record may contain any time.
        return f"{epoch_ms} ms"
