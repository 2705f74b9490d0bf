"""``assignor compare``: two answers to the same states, side by side."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from assignor_lab.cli.one_state import Round, StateId, StateSource
from assignor_lab.cli.options import (
    Client,
    ConfigFile,
    Drivers,
    Json,
    Overrides,
    RackFiles,
    Releases,
    Variants,
    sources,
)
from assignor_lab.cli.past_options import Dates, Day, StateWorkload, Topology, Zone, given_racks, past_terms
from assignor_lab.cli.text import console, note, print_json, print_line, print_sentence, table

if TYPE_CHECKING:
    from assignor_lab.compare import Compared, StateCompared

__all__ = ["register"]

Assignors = Annotated[
    list[str] | None,
    typer.Option(
        "--assignor",
        metavar="NAME",
        help="An assignor; 'kafka' is Kafka's own decision, if the file has it. Give two contenders, or one to compare "
        "with Kafka's own decision.",
    ),
]
Answers = Annotated[
    list[str] | None,
    typer.Option("--answers", metavar="FILE", help="Answers that 'assignor assign --out FILE' wrote."),
]
MOST_TASKS = 60


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("compare")(_compare_answers)


def _compare_answers(
    source: StateSource,
    assignor: Assignors = None,
    client: Client = None,
    driver: Drivers = None,
    variant: Variants = None,
    answers: Answers = None,
    state_id: StateId = None,
    only_round: Round = None,
    config: ConfigFile = None,
    c: Overrides = None,
    release: Releases = None,
    racks: RackFiles = None,
    topology: Topology = None,
    timezone: Zone = None,
    dates: Dates = None,
    day: Day = None,
    workload: StateWorkload = None,
    json: Json = False,
) -> None:
    """Compare two answers to a state or a whole history: moved tasks, gains and losses of clients, and costs.

    The output shows one state task by task, and several states with a line for each and the five figures over all.
    """
    from assignor_lab.capture.histories.past_terms import DECISIONS
    from assignor_lab.cli.found_plugins import found_plugins
    from assignor_lab.clients.plugins import client_assignor, use_drivers
    from assignor_lab.compare import ContenderTerms, compare, contenders_of
    from assignor_lab.compare.document import document_of
    from assignor_lab.opened.states import chosen_states, terms_of_states
    from assignor_lab.verification.decisions import recorded_assignor
    from assignor_lab.verification.sample import DecisionSample
    from assignor_lab.verification.words import document_of as document_of_verification
    from assignor_lab.verification.words import sentences

    given = sources(config, c, None if release is None or "," in release else release)
    plugins = found_plugins(given.effective())
    past = past_terms(DECISIONS, given, topology, timezone, workload, dates=dates, day=day)
    sample, known_racks = DecisionSample(), given_racks(racks)
    states = sample.passed(chosen_states(source, state_id, plugins.registry, given, known_racks, past, note))
    if (release is not None or client is not None) and not (assignor or variant or answers):
        first = next(states)
        assignor, states = [recorded_assignor(first)], chain([first], states)
    if client is not None:
        use_drivers(driver or ())
        # Java's strategy beside that of the library.
        assignor = [*(assignor or ()), *(client_assignor(client, each) for each in (assignor or ())[-1:])]
    contenders = contenders_of(assignor or (), variant or (), answers or (), release)
    terms = ContenderTerms(plugins.registry, plugins.isolation, given)
    compared = compare(states, contenders, terms, only_round)
    verification = sample.verified(terms_of_states(source, plugins, given, past, known_racks))
    if json:
        releases = terms.releases.sentences()
        print_json({"verified": document_of_verification(verification), "releases": releases, **document_of(compared)})
        return
    for sentence in sentences(verification):
        print_sentence(sentence)
    for sentence in terms.releases.sentences():
        print_sentence(sentence)
    _show(compared, may_judge=not verification.refused)


def _show(compared: Compared, *, may_judge: bool) -> None:
    from assignor_lab.compare import words

    one, other = compared.names
    for name, description in zip(compared.names, compared.descriptions, strict=True):
        if name != description:
            print_line(f"{name}: {description}")
    if len(compared.states) == 1:
        _show_state(compared, compared.states[0])
    else:
        print_line()
        columns = ["state", f"{one} moves", f"{other} moves", "elsewhere", "copies"]
        console().print(table(columns, words.state_rows(compared)))
    rows = words.figure_rows(compared)
    if rows:
        console().print(table(["on average" if len(compared.states) > 1 else "figure", one, other, "difference"], rows))
    gaps = words.gap_rows(compared)
    if gaps:
        console().print(table(["goal", one, other], gaps))
    for sentence in words.sentences(compared) if may_judge else ():
        print_sentence(sentence)


def _show_state(compared: Compared, state: StateCompared) -> None:
    from assignor_lab.compare import words

    one, other = compared.names
    print_line(f"{state.scenario}" + (f", round {state.round}" if state.rounds > 1 else ""))
    for sentence in words.state_sentences(compared, state):
        print_sentence(sentence)
    print_line()
    if state.differing:
        rows = words.differing_rows(state)
        console().print(table([state.noun, "before", f"{one} (copies)", f"{other} (copies)"], rows[:MOST_TASKS]))
        if len(rows) > MOST_TASKS:
            print_line(f"... and {len(rows) - MOST_TASKS} more: --json has them all")
        columns = ["runs + copies", one, other, f"gains with {other}", "loses"]
        console().print(table(columns, words.client_rows(state)))
