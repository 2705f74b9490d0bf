"""The answer to a plan as a sentence, rows of tables, and a JSON document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assignor_lab.documents.wording import listed, plural
from assignor_lab.planning.conduct import NEVER_READY_MS
from assignor_lab.planning.naive import Naive
from assignor_lab.planning.past_record import PastRecord, record_document, record_sentences
from assignor_lab.planning.plans import Plan
from assignor_lab.planning.predicted import Prediction, Range, StepRange, now_and_later
from assignor_lab.planning.range_words import interval_words, range_document, seconds_words
from assignor_lab.planning.variants import MORE_PROBES, MORE_WARM_UPS

__all__ = [
    "Answer",
    "answer_document",
    "answer_sentences",
    "by_connector",
    "causes",
    "columns_of",
    "doubts",
    "effect_sentence",
    "failures",
    "in_units",
    "prediction_document",
    "later_sentence",
    "rest_sentence",
    "step_rows",
    "the_sentence",
    "total_document",
    "variant_columns_of",
    "variant_rows",
]

_COLUMNS = ("step", "at s", "task-seconds", "worst task s", "tasks", "rebalances", "restored")
_VARIANT_COLUMNS = ("settings", "duration s", "task-seconds", "worst task s", "tasks", "rebalances", "at rest s")
_MEBIBYTE = 1024 * 1024
#: Most connectors of a sentence.
_MOST_CONNECTORS = 8
#: The default of ``probing.rebalance.interval.ms``: a rest that comes later needs a probing rebalance.
_LATE_S = 600
#: Fewer task-seconds at later rebalances are not mentioned.
_LEAST_LATER_S = 0.5


@attrs.frozen
class Answer:
    """The answer to a plan.

    Args:
        variants: Name to the same plan under other settings, or to the reason why there is none.
        releases: Sentences on the release of the decisions and of the clients.
        past: The group's past changes with their predictions; ``None``: the source holds none.
        restless: A sentence on the known loop of a group that never rests.
        without_effect: Variants whose plays equal those of the plan as it is.
    """

    source: str
    plan: Plan
    plays: int
    seed: int
    prediction: Prediction
    naive: Naive
    variants: Mapping[str, Prediction | str]
    assumptions: Sequence[str]
    releases: Sequence[str] = ()
    past: PastRecord | None = None
    restless: str | None = None
    without_effect: Sequence[str] = ()


def in_units(text: str, prediction: Prediction) -> str:
    """A text about tasks, about partitions if the members are consumers."""
    return text if prediction.by_partition is None else text.replace("task", "partition")


def columns_of(prediction: Prediction) -> tuple[str, ...]:
    """The columns of the table of steps."""
    return tuple(in_units(each, prediction) for each in _COLUMNS)


def variant_columns_of(prediction: Prediction) -> tuple[str, ...]:
    """The columns of the table of variants."""
    return tuple(in_units(each, prediction) for each in _VARIANT_COLUMNS)


def the_sentence(answer: Answer) -> str:
    """The answer in two or three sentences."""
    prediction, total = answer.prediction, answer.prediction.total
    rebalances = plural(round(total.rebalances.median), "rebalance")
    worst = seconds_words(total.worst_task_seconds.median)
    away = (
        f"The worst task is away for {worst} s, all {plural(round(total.tasks.median), 'task')} together for "
        f"{seconds_words(total.task_seconds.median)} task-seconds (90 %: {seconds_words(total.task_seconds.low)} to "
        f"{seconds_words(total.task_seconds.high)}), with {rebalances}."
    )
    duration = seconds_words(prediction.duration_seconds.median)
    sentence = f"{_what(answer.plan)} takes {duration} s. {in_units(away, prediction)}"
    if prediction.by_partition is not None:
        interruptions, seconds = prediction.by_partition
        sentence += (
            f" A partition is interrupted {interruptions.median:.1f} times, for {interval_words(seconds)} s in all."
        )
    best = _best(answer)
    return sentence if best is None else f"{sentence} {best}"


def answer_sentences(answer: Answer) -> list[str]:
    """All sentences of the answer in the order of reading: loops and the past first, then figures, causes and times."""
    prediction = answer.prediction
    found = [
        answer.restless,
        *(() if answer.past is None else record_sentences(answer.past)),
        the_sentence(answer),
        *failures(prediction),
        *doubts(prediction),
        causes(prediction) or None,
        by_connector(prediction) or None,
        rest_sentence(answer),
        later_sentence(prediction),
        effect_sentence(answer),
    ]
    if answer.naive.worst_task_seconds is not None:
        found.append(f"Naive estimate of the worst task: {answer.naive.worst_task_seconds:.1f} s.")
    return [each for each in found if each is not None]


def rest_sentence(answer: Answer) -> str | None:
    """The time of the balance, or the plays without one; ``None`` if steps failed, or a known loop is the cause."""
    prediction = answer.prediction
    rest = prediction.rest_seconds
    if rest is None:
        count = sum(play.rest_seconds is None and play.failed is None for play in prediction.plays)
        if not count or answer.restless is not None:
            return None
        return f"The group does not come to rest after the plan in {count} of {plural(len(prediction.plays), 'play')}."
    if rest.median - prediction.duration_seconds.median < _LATE_S:
        return f"The group is at rest after {rest.median:.1f} s."
    minutes = round(rest.median / 60)
    time = f"{rest.median:.0f} s ({minutes // 60} h {minutes % 60} min)"
    sentence = f"The balance is reached later: the group is at rest after {time}."
    remedies = [
        f"with {name} after {each.rest_seconds.median:.0f} s"
        for name in (MORE_WARM_UPS, MORE_PROBES)
        if isinstance(each := answer.variants.get(name), Prediction)
        and each.rest_seconds is not None
        and each.rest_seconds.high < rest.low
    ]
    if not remedies:
        return sentence
    sentence += " Until then, each probing rebalance moves the tasks whose warm-up copies have caught up:"
    return f"{sentence} {listed(remedies)}."


def later_sentence(prediction: Prediction) -> str | None:
    """The figures now and at later rebalances; ``None`` if all falls now."""
    found = now_and_later(prediction.plays)
    if found is None:
        return None
    (now_worst, now_sum), (later_worst, later_sum) = found
    if later_sum.high < _LEAST_LATER_S:
        return None
    # Only Streams groups probe.
    probes = prediction.by_partition is None and not prediction.by_connector
    sentence = (
        f"Now fall {interval_words(now_sum)} task-seconds (worst task {interval_words(now_worst)} s), at later "
        f"{'probing ' if probes else ''}rebalances {interval_words(later_sum)} (worst task "
        f"{interval_words(later_worst)} s)."
    )
    return in_units(sentence, prediction)


def effect_sentence(answer: Answer) -> str | None:
    """The variants that change nothing; ``None`` without one."""
    names = list(answer.without_effect)
    return f"Without effect on this plan, and left out: {listed(names)}." if names else None


def failures(prediction: Prediction) -> list[str]:
    counts = Counter(play.failed for play in prediction.plays if play.failed is not None)
    return [
        f"Step {name} is not ready within {NEVER_READY_MS // 1000} s in {count} of "
        f"{plural(len(prediction.plays), 'play')}. The plan goes no further then."
        for name, count in counts.items()
    ]


def _best(answer: Answer) -> str | None:
    """A sentence on the variant with the fewest task-seconds, if it is clearly better."""
    known = [(each.total, name) for name, each in answer.variants.items() if isinstance(each, Prediction)]
    if not known:
        return None
    total, name = min(known, key=lambda each: each[0].task_seconds.median)
    if total.task_seconds.high >= answer.prediction.total.task_seconds.low:
        return None
    rebalances = round(total.rebalances.median)
    rebalanced = "no rebalance" if not rebalances else plural(rebalances, "rebalance")
    seconds = in_units(f"{seconds_words(total.task_seconds.median)} task-seconds", answer.prediction)
    return f"With {name}: {seconds}, {rebalanced}."


def _what(plan: Plan) -> str:
    count = len({action.name for step in plan.steps for action in step.actions})
    return {
        "roll": f"A rolling restart of {plural(count, plan.unit)}",
        "upgrade": f"An upgrade of {plural(count, plan.unit)} to Kafka {plan.parameters.get('release')}",
        "scale": f"Scaling to {plural(int(plan.parameters.get('to', 0)), plan.unit)}",
        "kill": f"A kill of {plan.parameters.get('instance', 'an instance')}",
        "broker-roll": f"A restart of {plural(len(plan.steps), plan.unit)}",
        "upgrade-protocol": f"The move to the {plan.parameters.get('protocol', 'streams')} protocol",
        "script": f"The script of {plural(len(plan.steps), 'step')}",
    }[plan.name]


def _count(of: Range) -> str:
    low, high = round(of.low), round(of.high)
    return str(low) if low == high else f"{round(of.median)} ({low} to {high})"


def step_rows(prediction: Prediction) -> list[tuple[str, ...]]:
    steps = prediction.steps if len(prediction.steps) > 1 else ()
    return [_row(each) for each in (*steps, prediction.total)]


def _row(each: StepRange) -> tuple[str, ...]:
    restored = "unknown" if each.restored_bytes is None else f"{interval_words(each.restored_bytes, _MEBIBYTE)} MiB"
    return (
        each.name,
        f"{each.at_seconds:.1f}",
        interval_words(each.task_seconds),
        interval_words(each.worst_task_seconds),
        _count(each.tasks),
        _count(each.rebalances),
        restored,
    )


def variant_rows(answer: Answer) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name, each in {"as it is": answer.prediction, **answer.variants}.items():
        if isinstance(each, str):
            rows.append((name, "", each, "", "", "", ""))
            continue
        total = each.total
        rows.append(
            (
                name,
                interval_words(each.duration_seconds),
                interval_words(total.task_seconds),
                interval_words(total.worst_task_seconds),
                _count(total.tasks),
                _count(total.rebalances),
                "" if each.rest_seconds is None else interval_words(each.rest_seconds),
            )
        )
    return rows


def answer_document(answer: Answer, verified: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        "source": answer.source,
        "plan": {"name": answer.plan.name, **answer.plan.parameters},
        "verified": verified,
        **({} if answer.past is None else {"past_changes": record_document(answer.past)}),
        "restless": answer.restless,
        "sentence": the_sentence(answer),
        "releases": list(answer.releases),
        "plays": answer.plays,
        "seed": answer.seed,
        **prediction_document(answer.prediction),
        "without_effect": list(answer.without_effect),
        "failures": failures(answer.prediction),
        "naive": attrs.asdict(answer.naive),
        "variants": {
            name: {"error": each} if isinstance(each, str) else prediction_document(each)
            for name, each in answer.variants.items()
        },
        "assumptions": list(answer.assumptions),
    }


def prediction_document(prediction: Prediction) -> dict[str, Any]:
    connectors = {name: range_document(of) for name, of in prediction.by_connector.items()}
    return {
        "steps": [_step(each) for each in prediction.steps],
        "total": total_document(prediction),
        "spent_on": {cause: round(seconds, 3) for cause, seconds in prediction.total.spent_on.items()},
        **({"by_connector": connectors} if connectors else {}),
        **_partitions(prediction),
    }


def _now_and_later(prediction: Prediction) -> dict[str, Any]:
    found = now_and_later(prediction.plays)
    if found is None:
        return {}
    return {
        name: {"worst_task_seconds": range_document(worst), "task_seconds": range_document(every)}
        for name, (worst, every) in zip(("now", "later"), found, strict=True)
    }


def total_document(prediction: Prediction) -> dict[str, object]:
    rest = prediction.rest_seconds
    return {
        **{key: value for key, value in _step(prediction.total).items() if key not in ("name", "at_seconds")},
        "duration_seconds": range_document(prediction.duration_seconds),
        "rest_seconds": None if rest is None else range_document(rest),
        **_now_and_later(prediction),
    }


def _partitions(prediction: Prediction) -> dict[str, Any]:
    if prediction.by_partition is None:
        return {}
    interruptions, seconds = prediction.by_partition
    return {"by_partition": {"interruptions": range_document(interruptions), "seconds": range_document(seconds)}}


def _step(each: StepRange) -> dict[str, Any]:
    return {
        "name": each.name,
        "at_seconds": round(each.at_seconds, 3),
        "task_seconds": range_document(each.task_seconds),
        "worst_task_seconds": range_document(each.worst_task_seconds),
        "tasks": range_document(each.tasks),
        "rebalances": range_document(each.rebalances),
        "restored_bytes": None if each.restored_bytes is None else range_document(each.restored_bytes),
        "poorly_known": list(each.poorly_known),
    }


def doubts(prediction: Prediction) -> list[str]:
    """Sentences on figures that are poorly known, each reason once."""
    steps: dict[str, list[str]] = {}
    for each in prediction.steps:
        for reason in each.poorly_known:
            steps.setdefault(reason, []).append(each.name)
    return [f"Poorly known ({listed(names)}): {reason}." for reason, names in steps.items()]


def by_connector(prediction: Prediction) -> str:
    """The connectors with most task-seconds, as a sentence; empty if no task of a connector was away."""
    away = {name: of for name, of in prediction.by_connector.items() if of.high >= 0.05}
    most = sorted(away, key=lambda name: -away[name].median)[:_MOST_CONNECTORS]
    if not most:
        return ""
    left_out = len(away) - len(most)
    more = [plural(left_out, "other connector")] if left_out else []
    return f"Task-seconds by connector: {listed([*(f'{name} {interval_words(away[name])}' for name in most), *more])}."


def causes(prediction: Prediction) -> str:
    """The causes of the time, as a sentence; empty if no task was away."""
    found = [
        f"{cause} {seconds_words(seconds)} s" for cause, seconds in prediction.total.spent_on.items() if seconds >= 0.05
    ]
    return f"The time goes to: {listed(found)}." if found else ""
