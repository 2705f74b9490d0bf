"""``assignor explain``: why a task is in its place, and the changes that lead to another one."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated

import typer

from assignor_lab.cli.one_state import StateId, StateSource
from assignor_lab.cli.options import ConfigFile, Json, Overrides, RackFiles, Release, sources
from assignor_lab.cli.past_options import Dates, Day, StateWorkload, Topology, Zone, given_racks, past_terms
from assignor_lab.cli.text import console, note, print_json, print_line, print_sentence, table

if TYPE_CHECKING:
    from assignor_lab.explain import Explained, Explanation

__all__ = ["register"]

Assignor = Annotated[
    str | None,
    typer.Option("--assignor", metavar="NAME", help="The assignor; by default Kafka's own for groups of that kind."),
]
Task = Annotated[
    str | None,
    typer.Option("--task", metavar="TASK", help="The task, such as 1_3, or job; by default every one that moves."),
]
WhyNot = Annotated[
    str | None,
    typer.Option(
        "--why-not", metavar="CLIENT", help="Why the task is not with this client: its id, its name, or how it begins."
    ),
]
Round = Annotated[
    int | None, typer.Option("--round", metavar="N", min=0, help="Round of a Connect history, from 0; else the last.")
]
Calls = Annotated[
    int,
    typer.Option(
        "--calls", metavar="N", min=0, help="Most calls with one thing changed, for the named task or all together."
    ),
]
Seconds = Annotated[
    float, typer.Option("--seconds", metavar="S", min=0.0, help="Most time for these calls.")
]  # fmt: skip


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("explain")(_explain_tasks)


def _explain_tasks(
    source: StateSource,
    state_id: StateId = None,
    task: Task = None,
    assignor: Assignor = None,
    why_not: WhyNot = None,
    round_number: Round = None,
    calls: Calls = 200,
    seconds: Seconds = 30.0,
    config: ConfigFile = None,
    c: Overrides = None,
    release: Release = None,
    racks: RackFiles = None,
    topology: Topology = None,
    timezone: Zone = None,
    dates: Dates = None,
    day: Day = None,
    workload: StateWorkload = None,
    json: Json = False,
) -> None:
    """Explain the place of a task in an assignor's answer, with the smallest changes that lead to another place.

    A call of the assignor with that change alone confirms each 'would'.
    """
    from assignor_lab.capture.histories.past_terms import DECISIONS
    from assignor_lab.cli.found_plugins import found_plugins
    from assignor_lab.explain import Budget, explain, question_of, releases_of
    from assignor_lab.explain.document import document_of
    from assignor_lab.opened.states import chosen_states, terms_of_states
    from assignor_lab.verification.sample import DecisionSample
    from assignor_lab.verification.words import document_of as document_of_verification
    from assignor_lab.verification.words import sentences

    if why_not is not None and task is None:
        raise typer.BadParameter("name the task, too, with --task", param_hint="--why-not")
    given = sources(config, c, release)
    plugins = found_plugins(given.effective())
    terms = past_terms(DECISIONS, given, topology, timezone, workload, dates=dates, day=day)
    sample, known_racks = DecisionSample(), given_racks(racks)
    states = sample.passed(chosen_states(source, state_id, plugins.registry, given, known_racks, terms, note))
    scenario = next(states)
    question = question_of(scenario, round_number, assignor, plugins.registry, given, plugins.isolation)
    releases = releases_of(question)
    explained = explain(question, task, why_not, cache(lambda: Budget(calls, seconds)))
    verification = sample.verified(terms_of_states(source, plugins, given, terms, known_racks))
    if json:
        print_json({"verified": document_of_verification(verification), "releases": releases, **document_of(explained)})
        return
    for sentence in sentences(verification):
        print_sentence(sentence)
    for sentence in releases:
        print_sentence(sentence)
    _show(explained)


def _show(explained: Explained) -> None:
    from assignor_lab.explain import words

    print_line(explained.scenario + (f", round {explained.round}" if explained.rounds > 1 else ""))
    stand_in = words.stand_in_sentence(explained)
    if stand_in is not None:
        print_sentence(stand_in)
    if not explained.explanations:
        print_sentence(words.nothing_moves(explained))
    unknown = words.no_rules_sentence(explained)
    if explained.explanations and unknown is not None:
        print_sentence(unknown)
    for each in explained.explanations:
        _show_task(explained, each)
    for sentence in words.idle_sentences(explained):
        print_sentence(sentence)
    moves = words.moves_of_state(explained)
    if moves is not None:
        print_sentence(moves)


def _show_task(explained: Explained, each: Explanation) -> None:
    from assignor_lab.explain import words

    print_sentence(words.headline(explained, each))
    kafka = words.kafka_sentence(explained, each)
    if kafka is not None:
        print_sentence(kafka)
    if each.clients:
        console().print(table(["client", f"of this {explained.noun}", "by the answer"], words.client_rows(each)))
    for rule, sentence in words.step_sentences(explained, each):
        print_sentence(f"{rule}: {sentence}")
    if each.steps:
        print_line()
    for sentence in words.counterfactual_sentences(explained, each):
        print_sentence(sentence)
    print_sentence(words.tried_sentence(each))
    print_line()
