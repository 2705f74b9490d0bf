"""``assignor plan SOURCE roll --best``: the best order of a rolling restart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assignor_lab.cli.text import console, note, print_sentence, table

if TYPE_CHECKING:
    from assignor_lab.opened.reading import ReadGroup
    from assignor_lab.planning.making import Options
    from assignor_lab.planning.orders.answer import BestOrder
    from assignor_lab.planning.orders.making import WantedOrder
    from assignor_lab.planning.orders.members import MemberOrders
    from assignor_lab.planning.orders.order import Order
    from assignor_lab.planning.plans import Plan
    from assignor_lab.planning.predicted import Prediction

__all__ = ["AtMost", "Best", "Form", "May", "Minimize", "SearchPlays", "best_of", "print_best", "write_best"]

Best = Annotated[bool, typer.Option("--best", help="roll: find the best order, batches and pauses.")]
AtMost = Annotated[
    list[str] | None,
    typer.Option(
        "--at-most",
        metavar="FIGURE=NUMBER",
        help="--best: a limit, repeatable: duration_seconds, worst_task_seconds, task_seconds, tasks_at_once, "
        "rebalances, restored_bytes.",
    ),
]
Minimize = Annotated[str, typer.Option("--minimize", metavar="FIGURE", help="--best: the figure that decides.")]
May = Annotated[
    list[str] | None,
    typer.Option("--may", metavar="settings", help="--best: also try static members and LEAVE_GROUP."),
]
Form = Annotated[
    Literal["text", "kubernetes", "script"],
    typer.Option("--form", metavar="FORM", help="--best: text, kubernetes, or script (a shell script of steps)."),
]
SearchPlays = Annotated[
    int, typer.Option("--search-plays", metavar="N", min=10, help="--best: most plays of the search.")
]


def best_of(
    read: ReadGroup,
    options: Options,
    wanted: WantedOrder,
    plays: int,
    seed: int,
    processes: int,
    on_play: Callable[[], None],
) -> tuple[BestOrder, list[str]]:
    """The best order of a group, and the assumptions of the answer."""
    import attrs

    from assignor_lab.opened.loops import played_loop, recorded_loop
    from assignor_lab.planning.connect_intervals import connect_calibrated
    from assignor_lab.planning.connect_state import connect_state, is_connect_state
    from assignor_lab.planning.consumer_state import consumer_state, is_consumer_state
    from assignor_lab.planning.instances import with_names
    from assignor_lab.planning.making import roll_plan, with_times
    from assignor_lab.planning.orders.group import ENDS_EARLY, MOST_EXACT
    from assignor_lab.planning.orders.making import connect_orders, consumer_orders, found_order, streams_orders
    from assignor_lab.planning.predict import predict_from
    from assignor_lab.planning.starts import options_with_starts

    if is_connect_state(read.scenario):
        workers = connect_state(read.scenario, read.terms, options)
        members, conditions = connect_orders(workers, options, read.terms, wanted, seed)
        predict = partial(_of_members, members, connect_calibrated, plays, processes, on_play)
        return found_order(members, conditions, wanted, processes, predict, on_play), [*workers.assumptions]
    if is_consumer_state(read.scenario):
        consumers = consumer_state(read.scenario, read.terms, options)
        members, conditions = consumer_orders(consumers, options, read.terms, wanted, seed)
        predict = partial(_of_members, members, _as_played, plays, processes, on_play)
        return found_order(members, conditions, wanted, processes, predict, on_play), [*consumers.assumptions]
    group = read.present()
    terms = group.terms
    options = options_with_starts(
        options, lambda: read.past, group.state.episode.timings, are_known=bool(terms.timings)
    )
    state, labelled = with_names(group.state, options.only)
    restless = recorded_loop(read.scenarios)
    if restless is None and len(state.names) <= MOST_EXACT:
        single = with_times(roll_plan(state, options), options)
        restless = played_loop(state, single, terms, seed)
    orders, conditions = streams_orders(state, options, terms, wanted, seed, restless)

    def predict_streams(order: Order, plan: Plan) -> Prediction:
        variant = orders.variants[order.conditions.settings]
        return predict_from(variant.state, plan, variant.terms, plays, seed, processes, on_play=lambda _: on_play())

    answer = attrs.evolve(
        found_order(orders, conditions, wanted, processes, predict_streams, on_play), restless=restless
    )
    early = [ENDS_EARLY] if orders.ends_early else []
    return answer, [*labelled, *early, *answer.plan.assumptions, *state.episode.assumptions]


def _as_played(prediction: Prediction) -> Prediction:
    return prediction


def _of_members(
    members: MemberOrders,
    calibrated: Callable[[Prediction], Prediction],
    plays: int,
    processes: int,
    on_play: Callable[[], None],
    order: Order,
    plan: Plan,
) -> Prediction:
    from assignor_lab.planning.predict import predicted_by

    work = partial(members.played, order, plan)
    return calibrated(predicted_by(work, plan, plays, processes, on_play=lambda _: on_play()))


def write_best(
    found: BestOrder, source: str, seed: int, assumptions: Sequence[str], verified: list[str], file: Path
) -> None:
    """The page of ``--report``: the plan of the best order, beside one by one."""
    from assignor_lab.planning.orders.words import answer_of, best_sentence
    from assignor_lab.report.plan_page import write_plan_page

    write_plan_page(answer_of(found, source, seed, assumptions), [*verified, best_sentence(found)], file)


def print_best(answer: BestOrder, assumptions: Sequence[str], form: str) -> None:
    from assignor_lab.planning.orders.forms import kubernetes_form, script_form
    from assignor_lab.planning.orders.words import ORDER_COLUMNS, best_sentence, order_rows, order_sentences
    from assignor_lab.planning.words import causes, columns_of, doubts, step_rows

    for sentence in assumptions:
        note(f"assumed: {sentence}")
    if form != "text":
        # Names are quoted: a script is no text for a terminal's markup.
        typer.echo({"kubernetes": kubernetes_form, "script": script_form}[form](answer), nl=False)
        return
    if answer.restless is not None:
        print_sentence(answer.restless)
    for sentence in (best_sentence(answer), *order_sentences(answer), *doubts(answer.prediction)):
        print_sentence(sentence)
    if causes_sentence := causes(answer.prediction):
        print_sentence(causes_sentence)
    console().print(table(ORDER_COLUMNS, order_rows(answer)))
    console().print(table(columns_of(answer.prediction), step_rows(answer.prediction)))
