"""``assignor assign``: one result line for each scenario."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assignor_lab.cli.isolation_options import with_isolation
from assignor_lab.cli.options import (
    AssignorName,
    Client,
    ConfigFile,
    Drivers,
    JsonWritten,
    LinesOut,
    Overrides,
    RackFiles,
    Release,
    ScenarioFile,
    check_json,
    keep_inputs,
    print_written,
    sources,
)
from assignor_lab.cli.past_options import rack_filler
from assignor_lab.cli.text import note

if TYPE_CHECKING:
    from assignor_lab.scenarios import Scenario

__all__ = ["register"]

Threads = Annotated[bool, typer.Option("--threads", help="Add which consumer runs which task.")]
Followups = Annotated[bool, typer.Option("--followups", help="Add the deadlines of follow-up rebalances.")]
Only = Annotated[str | None, typer.Option("--id", metavar="ID", help="Answer the scenarios of this id only.")]
Raised = Annotated[bool, typer.Option("--traceback", help="Print the traceback of a failing plugin on standard error.")]
Debugger = Annotated[
    bool,
    typer.Option("--pdb", help="Open a debugger where a plugin raises; plugins run in this process then."),
]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("assign")(_assign)


def _assign(
    scenarios: ScenarioFile,
    assignor: AssignorName = None,
    client: Client = None,
    driver: Drivers = None,
    config: ConfigFile = None,
    c: Overrides = None,
    release: Release = None,
    racks: RackFiles = None,
    threads: Threads = False,
    followups: Followups = False,
    only: Only = None,
    traceback: Raised = False,
    pdb: Debugger = False,
    out: LinesOut = "-",
    json: JsonWritten = False,
) -> None:
    """Let an assignor place the tasks of every scenario in a file, in order.

    A failing assignor gives a row with an error; the command still ends with 0.
    """
    from assignment_api.releases import release_in
    from assignor_lab.cli.configured import configured_assignor
    from assignor_lab.cli.found_plugins import found_plugins
    from assignor_lab.clients.plugins import client_assignor, use_drivers
    from assignor_lab.documents.wording import plural
    from assignor_lab.groups.deciding_release import ReleasesSaid, selector_at
    from assignor_lab.groups.runner.result_lines import AnswerOptions, answerer
    from assignor_lab.runtime.invocation import looking_at_raised
    from assignor_lab.scenarios import write_lines

    check_json(out, as_json=json)
    keep_inputs(out, [scenarios, *map(str, racks or ())])
    if pdb and scenarios == "-":
        raise typer.BadParameter("the debugger reads the standard input: name a file", param_hint="--pdb")
    given = sources(config, with_isolation(c, None, "none") if pdb else c, release)
    plugins = found_plugins(given.effective())
    if assignor is None:
        assignor = configured_assignor(plugins.registry, given.effective())
    if assignor is None:
        raise typer.BadParameter("name one, or a configuration that names one (--config)", param_hint="--assignor")
    if client is not None:
        use_drivers(driver or ())
        assignor = client_assignor(client, assignor)
    assignor = selector_at(plugins.registry, assignor, release_in(given.explicit_values()))
    said = ReleasesSaid()
    options = AnswerOptions(
        given,
        threads=threads,
        followups=followups,
        on_problem=note,
        isolation=plugins.isolation,
        on_raised=note if traceback else None,
        on_unread=said.add,
        on_found=lambda found, own, place: said.take(found.name, found, given, own, place),
    )
    wanted = _wanted(scenarios, only, racks)
    first = [*islice(wanted, 1)]
    kind = first[0].kind if first else None
    answer = answerer(assignor, plugins.registry, options, may_run_code=True, kind=kind)
    failed = Counter[bool]()
    raised: list[BaseException] = []

    def rows() -> Iterator[dict[str, Any]]:
        for row in map(answer, chain(first, wanted)):
            failed[row["error"] is not None] += 1
            yield row

    with ExitStack() as stack:
        if pdb:
            from assignor_lab.cli.debugging import debug

            stack.enter_context(looking_at_raised(debug))
            stack.enter_context(looking_at_raised(raised.append))
        written = write_lines(out, rows())
    if pdb and failed[True] and not raised:
        note("no debugger was opened, because this process raised no exception; --traceback shows the place")
    for sentence in said.sentences():
        note(sentence)
    if failed[True] and not failed[False]:
        note(f"{assignor} has no answer to any of {plural(failed[True], 'state')}: each row's error is the reason")
    print_written(out, written, as_json=json, assignor=assignor, failed=failed[True])


def _wanted(scenarios: str, only: str | None, racks: list[Path] | None) -> Iterator[Scenario]:
    """The scenarios of the file, or those of one id, with the racks of ``--racks``.

    Raises:
        ConfigKeyError: if the file has none with that id.
    """
    from assignment_api.plugins import ConfigKeyError
    from assignor_lab.scenarios import read_scenarios

    found = False
    filler = rack_filler(racks)
    for scenario in read_scenarios(scenarios):
        if only is None or scenario.id == only:
            found = True
            yield scenario if filler is None else filler.filled_scenario(scenario)
    for sentence in () if filler is None else filler.unused():
        note(f"warning: {sentence}")
    if only is not None and not found:
        raise ConfigKeyError(f"{scenarios}: holds no scenario of id {only!r}")
