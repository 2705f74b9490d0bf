"""``assignor plan SOURCE scale`` with several counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from assignor_lab.cli.text import console, note, print_line, print_sentence, table

if TYPE_CHECKING:
    from assignor_lab.opened.reading import ReadGroup
    from assignor_lab.planning.making import Options
    from assignor_lab.planning.scaling.answer import InputTerms, ScalingAnswer
    from assignor_lab.planning.scaling.plays import ScaledGroup
    from assignor_lab.planning.scaling.table import ScalingTable

__all__ = [
    "CapacityOption", "LagOption", "LoadFile", "Policies", "input_terms", "print_scaling", "scaled_group",
    "scaling_document", "scaling_of", "write_scaling",
]  # fmt: skip

CapacityOption = Annotated[
    str | None,
    typer.Option(
        "--capacity", metavar="N", help="scale: input that one thread processes in a second: 500 records, or 2MB."
    ),
]
LagOption = Annotated[
    float | None, typer.Option("--lag", metavar="N", min=0, help="scale: waiting records of the whole group.")
]
LoadFile = Annotated[
    Path | None,
    typer.Option("--load", metavar="FILE", help="scale: CSV with the records per second of a day."),
]
Policies = Annotated[
    list[str] | None,
    typer.Option("--policy", metavar="P", help="scale: an autoscaler, as lag=5000,down=900,up=60,counts=3/6/12."),
]
V = TypeVar("V")


def input_terms(capacity: str | None, lag: float | None, load: Path | None) -> InputTerms:
    from assignor_lab.planning.scaling.answer import InputTerms, parse_capacity
    from assignor_lab.planning.scaling.load_file import read_load

    return InputTerms(
        None if capacity is None else parse_capacity(capacity), lag, None if load is None else read_load(load)
    )


def scaled_group(read: ReadGroup, options: Options) -> tuple[ScaledGroup, list[str]]:
    """The group of a source, and its assumptions."""
    from assignor_lab.planning.connect_state import connect_state, is_connect_state
    from assignor_lab.planning.consumer_state import consumer_state, is_consumer_state
    from assignor_lab.planning.scaling.connect_group import ScaledConnectGroup
    from assignor_lab.planning.scaling.consumer_group import ScaledConsumerGroup
    from assignor_lab.planning.scaling.streams_group import ScaledStreamsGroup
    from assignor_lab.planning.starts import options_with_starts

    if is_consumer_state(read.scenario):
        consumers = consumer_state(read.scenario, read.terms, options)
        return ScaledConsumerGroup(read.scenario, consumers, read.terms, options), [*consumers.assumptions]
    if is_connect_state(read.scenario):
        workers = connect_state(read.scenario, read.terms, options)
        return ScaledConnectGroup(workers, read.terms, options), [*workers.assumptions]
    group = read.present()
    timings = group.state.episode.timings
    options = options_with_starts(options, lambda: read.past, timings, are_known=bool(group.terms.timings))
    return ScaledStreamsGroup(group.state, group.terms, options), [*group.state.episode.assumptions]


def scaling_of(
    source: str,
    read: ReadGroup,
    options: Options,
    to: str,
    terms: InputTerms,
    plays: int,
    seed: int,
    processes: int,
    on_play: Callable[[], None],
    policies: Sequence[str] = (),
) -> ScalingAnswer:
    """The table of counts."""
    import attrs

    from assignor_lab.opened.loops import recorded_loop
    from assignor_lab.planning.in_processes import in_processes
    from assignor_lab.planning.making import PlanError
    from assignor_lab.planning.scaling.answer import scaling_answer
    from assignor_lab.planning.scaling.counts import parse_counts

    counts = parse_counts(to)
    if options.leaving:
        raise PlanError("--leaving names the instances of one count: give one number with --to")
    group, assumptions = scaled_group(read, options)

    def runs(work: Callable[[int], V], count: int) -> Iterator[V]:
        for each in in_processes(work, count, processes):
            on_play()
            yield each

    answer = scaling_answer(source, group, counts, terms, plays, seed, runs, assumptions, policies)
    return attrs.evolve(answer, restless=recorded_loop(read.scenarios) or _played_loop(group, answer.table, seed))


def _played_loop(group: ScaledGroup, counted: ScalingTable, seed: int) -> str | None:
    """The loop of the first count whose plays do not end at rest."""
    from assignor_lab.opened.loops import played_loop
    from assignor_lab.planning.scaling.streams_group import ScaledStreamsGroup

    count = next((row.count for row in counted.rows if row.rest_s is None), None)
    if count is None or not isinstance(group, ScaledStreamsGroup):
        return None
    return played_loop(group.state, group.plan_to(count), group.terms, seed)


def scaling_document(answer: ScalingAnswer, verified: object) -> dict[str, object]:
    from assignor_lab.planning.scaling.policy_words import day_document
    from assignor_lab.planning.scaling.words import table_document

    return {
        "source": answer.source,
        "plan": {"name": "scale", "to": list(answer.counts)},
        "verified": verified,
        "restless": answer.restless,
        "plays": answer.plays,
        "seed": answer.seed,
        **table_document(answer.table, answer.remedies),
        "policies": [day_document(each) for each in answer.days],
    }


def write_scaling(answer: ScalingAnswer, verified: list[str], file: Path) -> None:
    """The page of ``--report``."""
    from assignor_lab.report.scaling_page import write_scaling_page

    write_scaling_page(answer, verified, file)


def print_scaling(answer: ScalingAnswer) -> None:
    from assignor_lab.planning.scaling.policy_words import POLICY_COLUMNS, day_rows
    from assignor_lab.planning.scaling.words import columns, row_cells, the_sentences

    for sentence in answer.assumptions:
        note(f"assumed: {sentence}")
    for sentence in (*filter(None, [answer.restless]), *the_sentences(answer.table, answer.remedies)):
        print_sentence(sentence)
    rows = sorted([answer.table.present, *answer.table.rows], key=lambda each: each.count)
    console().print(table(columns(answer.table), map(partial(row_cells, answer.table), rows)))
    if answer.days:
        print_line("Policies over the trace:")
        console().print(table(POLICY_COLUMNS, day_rows(answer.days)))
