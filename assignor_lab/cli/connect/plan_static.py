"""``assignor connect plan-static``: static jobs for each worker (KIP-987)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assignor_lab.cli.connect.access import CaFile, MaybeUrls, ask
from assignor_lab.cli.options import ConfigFile, Json, Overrides, sources
from assignor_lab.cli.text import console, note, print_json, print_line, table

if TYPE_CHECKING:
    from assignment_api.connect import StaticJobs
    from assignor_lab.scenarios.connect_history import ConnectHistory
    from assignor_lab.simulation.connect.static_rounds import StaticRound, StaticRounds

__all__ = ["register"]

PlanFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="JSON file of weights and sizes, or a state of `connect import`; - is the standard input.",
    ),
]
Isolate = Annotated[
    list[str] | None,
    typer.Option(
        "--isolate",
        metavar="CONNECTOR=WORKER[,WORKER]",
        help="Keep a connector on these workers alone; the other workers are wildcards. Repeatable.",
    ),
]
Weights = Annotated[
    list[str] | None,
    typer.Option("--weight", metavar="CONNECTOR=N", help="Weight of each of its tasks; 1 by default. Repeatable."),
]
Sizes = Annotated[
    list[str] | None,
    typer.Option("--size", metavar="WORKER=N", help="Most weight of a worker; by default all. Repeatable."),
]
Wildcards = Annotated[
    list[str] | None,
    typer.Option("--wildcard", metavar="WORKER", help="A worker without static jobs; repeatable."),
]
#: Jobs of the table; --json has all.
_MOST = 30


def register(connect: typer.Typer) -> None:
    """Adds the command to ``assignor connect``."""
    connect.command("plan-static")(_plan_static)


def _plan_static(
    file: PlanFile = "",
    url: MaybeUrls = None,
    ca_file: CaFile = None,
    isolate: Isolate = None,
    weight: Weights = None,
    size: Sizes = None,
    wildcard: Wildcards = None,
    config: ConfigFile = None,
    c: Overrides = None,
    json: Json = False,
) -> None:
    """Choose static.connectors and static.tasks for each worker (KIP-987), from weights and sizes.

    FILE is JSON: {"connectors": [{"name": "a", "tasks": 3, "task_weight": 2}], "workers": [{"name": "w1", "size": 8}]}.
    With a running cluster or a state of it, the answer has the moved jobs and the rounds, too.
    """
    import attrs

    from assignment_api.connect import StaticJobs
    from assignor_lab.cli.found_plugins import found_plugins
    from assignor_lab.simulation.connect.simulate import assignors_from
    from assignor_lab.simulation.connect.static_rounds import static_rounds

    if bool(file) == bool(url):
        raise typer.BadParameter("give a file or --url, one of the two", param_hint="FILE")
    given = sources(config, c)
    history = _live(url, ca_file) if url else _state(file)
    if history is None:
        if isolate or weight or size or wildcard:
            raise typer.BadParameter(
                "--isolate, --weight, --size and --wildcard are for --url and states: the file has its own",
                param_hint="FILE",
            )
        _from_weights(file, as_json=json)
        return
    static, warnings = _static(history, isolate or (), weight or (), size or (), wildcard or ())
    factory = assignors_from(found_plugins(given.effective()).registry, None, may_run_code=True)
    rounds = static_rounds(history, static, factory)
    names = [worker.member_id for worker in history.rounds[-1].workers]
    properties = {name: _properties(static.get(name, StaticJobs())) for name in names}
    if json:
        print_json({"workers": properties, "warnings": warnings, **attrs.asdict(rounds)})
    else:
        _print(properties, rounds)
    for sentence in (*warnings, *rounds.remarks):
        note(f"warning: {sentence}")


def _from_weights(file: str, *, as_json: bool) -> None:
    import attrs

    from assignor_lab.cli.connect.views import print_plan
    from assignor_lab.scenarios import Place
    from assignor_lab.simulation.connect.static_plan import plan_static, read_plan_input

    plan = plan_static(*read_plan_input(_bytes(file), Place(file)))
    if as_json:
        print_json(attrs.asdict(plan))
    else:
        print_plan(plan)


def _bytes(file: str) -> bytes:
    from assignment_api.input_files import read_input
    from assignor_lab.documents.errors import DocumentFormatError

    try:
        return sys.stdin.buffer.read() if file == "-" else read_input(file)
    except OSError as error:
        raise DocumentFormatError(
            file, None, "", f"cannot be read: {error.strerror or error}; check the path"
        ) from None


# --- the group ----------------------------------------------------------------------------------------------


def _state(file: str) -> ConnectHistory | None:
    """The last state of a file; ``None``: it has weights and sizes."""
    from assignor_lab.documents.errors import DocumentFormatError
    from assignor_lab.planning.connect_state import is_connect_state
    from assignor_lab.scenarios import read_scenarios

    if file == "-":
        return None
    data = _bytes(file)
    if not data.startswith(b"\x1f\x8b") and b'"rounds"' not in data:
        return None
    last = None
    for last in read_scenarios(file):
        if not is_connect_state(last):
            raise DocumentFormatError(file, None, "", "holds no state of a Connect group: import one")
    return None if last is None else last.connect_history


def _live(urls: list[str], ca_file: Path | None) -> ConnectHistory:
    from assignor_lab.capture.recorded.connect.rest_states import state_document
    from assignor_lab.connect.remote import read_cluster
    from assignor_lab.scenarios import Place, scenario_from_document

    state = ask(urls, ca_file, read_cluster)
    for sentence in (*state.notes, *state.unanswered.values()):
        note(sentence)
    source = {"url": state.url, "time_ms": state.time_ms}
    document = state_document(state.connectors, state.workers, f"connect-{state.time_ms}", source)
    return scenario_from_document(document, Place(state.url)).connect_history


# --- static jobs --------------------------------------------------------------------------------------------


def _static(
    history: ConnectHistory, isolate: Sequence[str], weight: Sequence[str], size: Sequence[str], wildcard: Sequence[str]
) -> tuple[dict[str, StaticJobs], tuple[str, ...]]:
    from assignment_api.connect import StaticJobs
    from assignor_lab.simulation.connect.static_plan import plan_static
    from assignor_lab.simulation.connect.static_rounds import demands_of, isolated, offers_of

    if isolate:
        if weight or size or wildcard:
            raise typer.BadParameter("--isolate needs no weights and sizes", param_hint="--isolate")
        pins = {name: workers.split(",") for name, workers in _pairs(isolate, "--isolate", "CONNECTOR=WORKER")}
        return isolated(history, pins), ()
    demands = demands_of(history, _numbers(weight, "--weight", "CONNECTOR=N"))
    offers = offers_of(history, demands, _numbers(size, "--size", "WORKER=N"), wildcard)
    plan = plan_static(demands, offers)
    found = {worker.name: StaticJobs.from_config(worker.configs) for worker in plan.workers if worker.configs}
    return found, plan.warnings


def _pairs(texts: Iterable[str], option: str, form: str) -> list[tuple[str, str]]:
    found = []
    for each in texts:
        name, equals, value = each.rpartition("=")
        if not (name and equals and value):
            raise typer.BadParameter(f"{each!r:.80}: expected {form}", param_hint=option)
        found.append((name, value))
    return found


def _numbers(texts: Iterable[str], option: str, form: str) -> dict[str, float]:
    found = {}
    for name, value in _pairs(texts, option, form):
        try:
            found[name] = float(value)
        except ValueError:
            found[name] = -1.0
        if not 0 <= found[name] < 1e12:
            raise typer.BadParameter(f"{value!r:.40} is no number from 0", param_hint=option)
    return found


def _properties(static: StaticJobs) -> dict[str, str]:
    """Keys of a worker. A wildcard worker has the protocol alone: all members have to offer it."""
    from assignment_api.connect import CONNECT_PROTOCOL, STATIC_CONNECTORS, STATIC_TASKS, ConnectorTaskId

    found = {CONNECT_PROTOCOL: "static"}
    if static.is_set:
        found[STATIC_CONNECTORS] = ",".join(sorted(static.connectors or ()))
        found[STATIC_TASKS] = ",".join(map(str, sorted(static.tasks or (), key=ConnectorTaskId.sort_key)))
    return found


# --- the answer ---------------------------------------------------------------------------------------------


def _print(properties: Mapping[str, Mapping[str, str]], found: StaticRounds) -> None:
    from assignment_api.connect import STATIC_TASKS
    from assignor_lab.documents.wording import plural

    for worker, keys in properties.items():
        print_line(f"# worker {worker}{'' if STATIC_TASKS in keys else ': wildcard'}")
        for key, value in keys.items():
            print_line(f"{key}={value}")
        print_line()
    print_line(
        f"{plural(len(found.moved), 'job')} would move, in {plural(len(found.rounds), 'round')}: "
        + "; ".join(_words(each) for each in found.rounds)
    )
    if found.moved:
        rows = [(each.job, each.before or "-", each.after or "-") for each in found.moved[:_MOST]]
        console().print(table(("job", "from", "to"), rows))
    if len(found.moved) > _MOST:
        print_line(f"and {len(found.moved) - _MOST} more (--json has all)")


def _words(each: StaticRound) -> str:
    waits = f", then a delay of {each.delay_ms / 1000:g} s" if each.delay_ms else ""
    return f"{each.number}. {each.stopped} stopped, {each.started} started{waits}"
