"""The answer to ``plan roll --best`` as sentences, rows of a table, and a JSON document."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from assignor_lab.documents.wording import listed, plural
from assignor_lab.planning.naive import Naive
from assignor_lab.planning.orders.aims import AT_ONCE, DURATION, TASK_SECONDS, WORST, OrderLimit
from assignor_lab.planning.orders.answer import BestOrder
from assignor_lab.planning.orders.figures import FIGURES, trial_of
from assignor_lab.planning.orders.order import Conditions, Order, batches_words, wait_words
from assignor_lab.planning.orders.search import FoundOrder
from assignor_lab.planning.plans import READY
from assignor_lab.planning.range_words import seconds_words
from assignor_lab.planning.words import Answer, prediction_document, total_document

__all__ = ["ORDER_COLUMNS", "answer_of", "best_document", "best_sentence", "order_rows", "order_sentences"]

#: The columns of the table of orders.
ORDER_COLUMNS = ("order", "duration s", "worst task s", "task-seconds", "at once", "remark")
#: A smaller gap of a proof is shown as this.
_LEAST_GAP = 0.1
#: A play is far beyond a limit from this multiple on.
_FAR = 1.5
#: A smaller change of the worst task is none.
_AS_BEFORE = 0.05


def best_sentence(answer: BestOrder) -> str:
    """The order and its gain over one by one."""
    order, after, before = answer.order, answer.figures, answer.before_figures
    figure = answer.found.aims.minimize
    # Without a proof, orders that were not played may be better.
    of = "allowed" if answer.found.is_proved else "played"
    none = f"no {of} order is better" if answer.is_best_found else "quicker orders exceed a limit in more plays"
    if after[figure] >= before[figure] * (1 - 1e-9) and order.is_one_by_one and order.conditions == _present(answer):
        return (
            f"Restart one {answer.unit} after the other: {none}. "
            f"{_value(DURATION, after[DURATION])}, worst task {seconds_words(after[WORST])} s."
        )
    about = "about " if answer.found.is_estimated else ""
    gains = [f"{_value(DURATION, after[DURATION])} instead of {about}{_value(DURATION, before[DURATION])}"]
    if figure not in (DURATION, WORST):
        gains.append(f"{_value(figure, after[figure])} instead of {_value(figure, before[figure])}")
    is_as_before = abs(after[WORST] - before[WORST]) <= _AS_BEFORE * max(before[WORST], 1.0)
    gains.append(
        f"worst task {seconds_words(after[WORST])} s "
        + ("as before" if is_as_before else f"instead of {seconds_words(before[WORST])} s")
    )
    sentence = f"Restart {batches_words(order.batches)}{_under(answer, order)}: {', '.join(gains)}."
    is_clear = answer.is_gain or not answer.is_best_found
    return sentence if is_clear else f"No {of} order is better than one by one beyond noise. {sentence}"


def _under(answer: BestOrder, order: Order) -> str:
    parts = _conditions(order, is_present_wait=order.conditions.wait == _present(answer).wait)
    return f", {listed(parts)}" if parts else ""


def _conditions(order: Order, *, is_present_wait: bool) -> list[str]:
    conditions = order.conditions
    return [
        *([f"with {conditions.settings}"] if conditions.settings else []),
        *(["with successors that start first"] if conditions.surge else []),
        *([] if is_present_wait else [wait_words(conditions.wait)]),
    ]


def _present(answer: BestOrder) -> Conditions:
    return answer.found.one_by_one.order.conditions


def order_sentences(answer: BestOrder) -> list[str]:
    """Reasons, limits, proof and sensitivity, in this order."""
    parts = [_limits(answer), proof_sentence(answer), *_exceeded(answer), *_risk(answer), _slow(answer)]
    return [*answer.reasons, *_estimated(answer), *parts]


def _limits(answer: BestOrder) -> str:
    shown = [f"{_limit(each)}" for each in answer.found.aims.limits]
    minimized = FIGURES[answer.found.aims.minimize].words
    return f"Least {minimized}" + (f" with {listed(shown)}." if shown else ".")


def _limit(limit: OrderLimit) -> str:
    usual = "" if limit.is_given else {WORST: " (as one by one)", AT_ONCE: " (half of the tasks)"}.get(limit.figure, "")
    return f"{FIGURES[limit.figure].words} at most {_value(limit.figure, limit.most)}{usual}"


def proof_sentence(answer: BestOrder) -> str:
    """The extent of the proof, and the facts that it rests on."""
    return f"{_extent(answer)}{_basis(answer.found) if answer.is_best_found else ''}"


def _basis(found: FoundOrder) -> str:
    if found.shares is None:
        return ""
    if found.alike_bound is not None:
        return ""  # it rests on no share
    seconds, away = found.shares
    parts = [f"that a step lasts at least {_percent(seconds)} of the quickest step of an instance alone"]
    if away:
        parts.append(f"that at least {_percent(away)} of a step's tasks are away together")
    return f" The bound takes {listed(parts)}: so it is in all {plural(found.plays, 'play')}."


def _percent(share: float) -> str:
    # Rounded down: the claim holds.
    return f"{math.floor(100 * share)} %"


def _extent(answer: BestOrder) -> str:
    found, figure = answer.found, answer.found.aims.minimize
    assert found.best is not None
    if not answer.is_best_found:
        return (
            f"The best order of the search ({batches_words(found.best.order.batches)}) exceeds a limit in "
            f"{plural(len(answer.prediction.plays), 'play')} of its own. This order is the next one that keeps them."
        )
    reached, draws = found.best.figures[figure], len(found.best.trials)
    under = f"in the median of {plural(draws, 'draw')} that all orders share"
    count = f"{plural(found.plays, 'play')}"
    if found.is_proved and found.bound >= reached * (1 - 1e-9):
        return f"Proved: no allowed order of these instances is better, {under} ({count})."
    gap = reached - found.bound
    share = 100 * gap / reached if reached else 0.0
    if found.is_proved:
        gap = max(gap, _LEAST_GAP)
        saved = f"no allowed order saves more than {_value(figure, gap)}"
        return f"Proved within {max(0.1, share):.1f} %: {saved}, {under} ({count})."
    if found.alike_bound is not None:
        gap = max(reached - found.alike_bound, _LEAST_GAP)
        return (
            f"Proved for alike instances in their natural order: batches of other sizes save at most "
            f"{_value(figure, gap)}, {under} ({count}). Other names in the batches may change the plays a little."
        )
    return (
        f"Not proved: an order may save up to {_value(figure, gap)} ({share:.0f} %), {under} ({count}; more with "
        "--search-plays)."
    )


def _exceeded(answer: BestOrder) -> list[str]:
    if not answer.exceeded:
        return []
    parts = [f"{FIGURES[name].words} {_value(name, answer.figures[name])}" for name in answer.exceeded]
    return [f"At the limit: in {plural(len(answer.prediction.plays), 'play')} the median has {listed(parts)}."]


def _risk(answer: BestOrder) -> list[str]:
    """Plays beyond a limit that the median keeps: a rare leader or moment."""
    plays, found = answer.prediction.plays, []
    for limit in answer.found.aims.limits:
        values = [trial_of(play, keeps_owners=True).figures[limit.figure] for play in plays]
        beyond = [value for value in values if value > _FAR * limit.most]
        if beyond and limit.figure not in answer.exceeded:
            count = f"{len(beyond)} of {plural(len(plays), 'play')}"
            found.append(
                f"Beware: in {count} {FIGURES[limit.figure].words} is up to {_value(limit.figure, max(beyond))}."
            )
    return found


def _estimated(answer: BestOrder) -> list[str]:
    return ["One by one is estimated from its first steps."] if answer.found.is_estimated else []


def _slow(answer: BestOrder) -> str:
    slow, single = answer.slow
    before = "" if single is None else f" instead of {seconds_words(single.duration_seconds.median)} s"
    return (
        f"If processes start twice as slowly: {seconds_words(slow.duration_seconds.median)} s{before}, worst task "
        f"{seconds_words(slow.total.worst_task_seconds.median)} s."
    )


def _value(figure: str, value: float) -> str:
    unit = FIGURES[figure].unit
    if unit in ("s", "task-seconds"):
        return f"{seconds_words(value)} {unit}"
    return f"{value:.0f}" if unit in ("tasks", "rebalances") else f"{value:.3g} {unit}"


def order_rows(answer: BestOrder) -> list[tuple[str, ...]]:
    """The best order, one by one, and the alternatives."""
    single = answer.found.one_by_one
    rows = [_row(answer.order, answer.figures, "best")]
    if answer.order != single.order:
        rows.append(_row(single.order, answer.before_figures, "one by one"))
    rows += [_row(each.order, each.figures, each.remark) for each in answer.alternatives if each.order != single.order]
    return rows


def _row(order: Order, figures: Mapping[str, float], remark: str) -> tuple[str, ...]:
    parts = [batches_words(order.batches, 4), *_conditions(order, is_present_wait=order.conditions.wait == READY)]
    return (
        ", ".join(parts),
        seconds_words(figures[DURATION]),
        seconds_words(figures[WORST]),
        seconds_words(figures[TASK_SECONDS]),
        f"{figures[AT_ONCE]:.0f}",
        remark,
    )


def best_document(answer: BestOrder, source: str, seed: int, assumptions: list[str]) -> dict[str, Any]:
    found, figure = answer.found, answer.found.aims.minimize
    assert found.best is not None
    return {
        "source": source,
        "plan": {"name": answer.plan.name, **answer.plan.parameters},
        "restless": answer.restless,
        "sentence": best_sentence(answer),
        "best": _order_document(answer.order, answer.figures),
        "one_by_one": {
            **_order_document(found.one_by_one.order, answer.before_figures),
            "is_estimated": found.is_estimated,
            **({} if answer.before is None else prediction_document(answer.before)),
        },
        **prediction_document(answer.prediction),
        "minimize": figure,
        "at_most": {
            each.figure: {"most": round(each.most, 3), "is_given": each.is_given} for each in found.aims.limits
        },
        "exceeded": list(answer.exceeded),
        "proof": {
            "is_of_this_order": answer.is_best_found,
            "is_proved": found.is_proved,
            "is_proved_for_alike": found.is_proved or found.alike_bound is not None,
            "best": round(found.best.figures[figure], 3),
            "bound": round(found.bound, 3),
            "draws": len(found.best.trials),
            "plays": found.plays,
            "step_share": None if found.shares is None else round(found.shares[0], 4),
            "alike_bound": None if found.alike_bound is None else round(found.alike_bound, 3),
            "away_share": None if found.shares is None else round(found.shares[1], 4),
            "sentence": proof_sentence(answer),
        },
        "reasons": list(answer.reasons),
        "alternatives": [
            {**_order_document(each.order, each.figures), "remark": each.remark} for each in answer.alternatives
        ],
        "slow_start": {
            "best": total_document(answer.slow[0]),
            "one_by_one": None if answer.slow[1] is None else total_document(answer.slow[1]),
        },
        "plays": len(answer.prediction.plays),
        "seed": seed,
        "assumptions": assumptions,
    }


def answer_of(answer: BestOrder, source: str, seed: int, assumptions: Sequence[str]) -> Answer:
    """The plan of the best order as the answer to any plan."""
    is_other = answer.before is not None and answer.order != answer.found.one_by_one.order
    variants = {"one by one": answer.before} if is_other and answer.before is not None else {}
    plays = len(answer.prediction.plays)
    return Answer(
        source, answer.plan, plays, seed, answer.prediction, Naive(None, None), variants, assumptions,
        restless=answer.restless,
    )  # fmt: skip


def _order_document(order: Order, figures: Mapping[str, float]) -> dict[str, object]:
    return {
        "batches": [list(batch) for batch in order.batches],
        "settings": order.conditions.settings or None,
        "wait": order.conditions.wait,
        "surge": order.conditions.surge,
        "figures": {name: None if value == float("inf") else round(value, 3) for name, value in figures.items()},
    }
