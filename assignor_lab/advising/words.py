"""The advice as sentences, rows of tables, and a JSON document."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assignor_lab.advising.advice import Advice, by_kind, promise
from assignor_lab.advising.choice import Change, RacedContender
from assignor_lab.advising.configurations import (
    CLOSE,
    MEMBERS,
    STATIC,
    change_words,
    name_of,
)
from assignor_lab.advising.figures import OBJECTIVES
from assignor_lab.advising.mix import KINDS
from assignor_lab.documents.wording import figure, listed, plural

__all__ = [
    "EVENT_COLUMNS", "advice_document", "change_lines", "event_rows", "figure_columns", "figure_rows",
    "refused_document", "remarks", "the_answer", "tried_columns", "tried_rows", "warnings",
]  # fmt: skip

#: A larger share more of a figure is a cost.
_COST = 0.02

EVENT_COLUMNS = ("event", "on an average day", "present task-seconds", "advised task-seconds")


def the_answer(advice: Advice) -> str:
    aim = advice.aims.first
    words = OBJECTIVES[aim].words
    change = advice.judged(aim)
    if not advice.changes:
        return _keep(advice, words, change)
    parts = [f"{_phrase(advice.changes)}: {_gain(change, words)}"]
    before, after = by_kind(advice.present), by_kind(advice.winner)
    kind = "roll" if "roll" in before else next(iter(before), None)
    if kind is not None and aim == "task_seconds":
        own = promise(advice.winner, kind)
        bounds = f" ({_seconds(own.low)} to {_seconds(own.high)})" if own.low < own.high else ""
        event = f"task-seconds per {KINDS[kind]}"
        parts.append(f"{_seconds(after[kind])}{bounds} instead of {_seconds(before[kind])} {event}")
    parts.append(_cost(advice))
    sentences = [", ".join(each for each in parts if each) + ".", *_consequences(advice)]
    return " ".join(sentences)


def _keep(advice: Advice, words: str, change: Change | None) -> str:
    tried = len(advice.race.contenders)
    days = "unseen days" if advice.is_judged else "the days of the race"
    if not advice.aims.allows(advice.present):
        return f"No configuration of {tried} meets the constraints on {days}. Keep the present settings."
    if advice.is_worse_in_past:
        return (
            f"Keep the present settings: the best of {tried} configurations in the race has more {words} on the second "
            "part of the past."
        )
    if advice.winner is advice.present:
        return (
            f"Keep the present settings: none of {plural(tried - 1, 'other configuration')} has clearly less {words}."
        )
    return (
        f"Keep the present settings: the best of {plural(tried - 1, 'other configuration')} has "
        f"{_gain(change, words)}, which is no clear gain on {days}."
    )


def _phrase(changes: Mapping[str, str]) -> str:
    first = [change_words(key, changes[key]) for key in (MEMBERS, CLOSE) if key in changes]
    rest = [change_words(key, value) for key, value in changes.items() if key not in (MEMBERS, CLOSE)]
    phrase = f"{listed(first)} with {listed(rest)}" if first and rest else listed(first or rest)
    # Kafka's keys begin with a small letter.
    return phrase[0].upper() + phrase[1:] if first else phrase


def _gain(change: Change | None, words: str) -> str:
    if change is None:
        return f"unknown {words}"
    share = change.share(change.difference)
    if share is None:
        return f"{figure(change.after)} instead of 0 {words}"
    is_less = share <= 0
    gain = f"{abs(share):.0%} {'less' if is_less else 'more'} {words}".replace("%", " %")
    bounds = change.bounds
    if bounds is None:
        return f"{gain} ({_too_few(change)})"
    ends = sorted(-each if is_less else each for each in bounds)
    if round(100 * ends[0]) == round(100 * ends[1]):
        return gain
    return f"{gain} (90 %: {100 * ends[0]:.0f} to {100 * ends[1]:.0f} %)"


def _too_few(change: Change) -> str:
    return f"{plural(change.days, 'day')} are too few to bound it".replace("1 day are", "1 day is")


def _cost(advice: Advice) -> str:
    disk, dollars = advice.judged("disk_bytes"), advice.judged("dollars")
    parts = []
    for name, objective in OBJECTIVES.items():
        if name in ("disk_bytes", "dollars", advice.aims.first):
            continue
        change = advice.judged(name)
        share = None if change is None else change.share(change.difference)
        if change is not None and share is None and change.difference > 0:
            parts.append(f"{figure(change.after)} instead of 0 {objective.words}")
        elif share is not None and share >= _COST:
            parts.append(f"{share:.0%} more {objective.words}".replace("%", " %"))
    if disk is not None and disk.difference:
        sign = "more" if disk.difference > 0 else "less"
        parts.append(f"{figure(abs(disk.difference), 'bytes')} {sign} disk space")
    if dollars is not None and abs(dollars.difference) >= 0.01:
        sign = "more" if dollars.difference > 0 else "less"
        parts.append(f"{abs(dollars.difference):.2f} dollars a month {sign} for traffic and disks of standbys")
    return listed([each for each in parts if each]) if parts else "no extra cost"


def _consequences(advice: Advice) -> list[str]:
    sentences = []
    if (replayed := advice.in_past(advice.aims.first)) is not None:
        words = OBJECTIVES[advice.aims.first].words
        sentences.append(f"On the part of the past that the race did not see: {_gain(replayed, words)}.")
    if condition := _condition(advice):
        sentences.append(condition)
    for key, before_ms in advice.group.sessions.items():
        if key not in advice.changes:
            continue
        later_ms = int(advice.changes[key]) - before_ms
        sentences.append(f"A crash is noticed {abs(later_ms) / 1000:g} s {'later' if later_ms > 0 else 'earlier'}.")
        if later_ms < 0:
            sentences.append(
                f"A stall of more than {int(advice.changes[key]) / 1000:g} s moves the tasks of its instance (now: "
                f"{before_ms / 1000:g} s)."
            )
    return sentences


def _condition(advice: Advice) -> str:
    """The restarts under which an advice holds that keeps members during a restart; empty if it does not."""
    group, configuration = advice.group, advice.winner.configuration
    is_changed = not {MEMBERS, *group.sessions}.isdisjoint(advice.changes)
    if not is_changed or configuration.get(MEMBERS) != STATIC or (restarts := group.restarts_ms) is None:
        return ""
    session_ms = group.session_ms(configuration)
    late = "" if restarts[1] < session_ms else " Longer restarts are in these figures, and win even so."
    low, high = (f"{each / 1000:.3g}" for each in restarts)
    back = f"Only if an instance is back within {session_ms / 1000:g} s in 95 % of restarts"
    return f"{back} (yours: {low} to {high} s).{late}"


def remarks(advice: Advice) -> list[str]:
    needs = advice.space.requirements
    return [
        f"{key} needs Kafka {needs[key]} or later, and the release of this group is unknown (give it with --release)."
        for key in advice.changes
        if key in needs
    ]


def warnings(advice: Advice) -> list[str]:
    sentences = []
    if advice.is_interrupted:
        sentences.append(
            "Interrupted: fewer days judge the advice."
            if advice.is_judged
            else "Interrupted: the figures are those of the race, and no unseen day judges them. They flatter the "
            "winner."
        )
    if "stall" not in advice.mix.per_day:
        sentences.append(
            "The mix has no stalls. Short session timeouts then look better than they are: a stall that is longer "
            "than the session moves all tasks of its instance."
        )
    if "kill" not in advice.mix.per_day:
        sentences.append(
            "The mix has no crashes. Long session timeouts and few standbys then look better than they are."
        )
    return sentences


def change_lines(advice: Advice, group: str) -> list[str]:
    forms = advice.group.forms(advice.changes)
    made: list[str] = []
    if forms.properties:
        made += [f"Difference of {forms.file}:", *(f"  {line}" for line in forms.lines())]
    if forms.instances:
        made.append("For each instance:")
        for name, own in forms.instances.items():
            made += [f"  {name}: {key}={value}" if value else f"  {name}: remove {key}" for key, value in own.items()]
    if forms.code:
        made += ["Code that closes an instance:", *(f"  {line}" for line in forms.code)]
    if forms.broker:
        made += ["On the brokers:", *(f"  {line}" for line in forms.commands(group))]
    return [*made, *forms.procedure]


def figure_columns(advice: Advice) -> tuple[str, ...]:
    columns = ("figure", "unit", "present", "advised", "difference (90 %)", "in the race")
    return columns if advice.replayed is None else (*columns, "in the past")


def figure_rows(advice: Advice) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name, objective in OBJECTIVES.items():
        change, raced, replayed = advice.judged(name), advice.raced(name), advice.in_past(name)
        if change is None:
            row: tuple[str, ...] = (name, objective.unit, "unknown", "unknown", "", "")
        else:
            row = (
                name,
                objective.unit,
                _value(change.before),
                _value(change.after),
                _difference(change),
                "" if raced is None else _difference(raced),
            )
        if advice.replayed is not None:
            row = (*row, "" if replayed is None else _difference(replayed))
        rows.append(row)
    return rows


def event_rows(advice: Advice) -> list[tuple[str, ...]]:
    before, after = by_kind(advice.present), by_kind(advice.winner)
    return [
        (KINDS[kind], f"{rate:.2f}", _seconds(before[kind]), _seconds(after[kind]))
        for kind, rate in advice.mix.per_day.items()
    ]


def tried_columns(advice: Advice) -> tuple[str, ...]:
    return ("configuration", "days", *advice.aims.objectives)


def tried_rows(advice: Advice, contenders: Sequence[RacedContender]) -> list[tuple[str, ...]]:
    present = advice.present.configuration
    return [
        (
            name_of(each.configuration, present),
            str(len(each.days)),
            *(_value(each.mean(name)) if each.error is None else "" for name in advice.aims.objectives),
        )
        for each in contenders
    ]


def advice_document(
    advice: Advice, source: str, group: str, verified: Mapping[str, Any] | None, assumptions: Sequence[str]
) -> dict[str, Any]:
    forms = advice.group.forms(advice.changes)
    present = advice.present.configuration
    before, after = by_kind(advice.present), by_kind(advice.winner)
    own = {kind: promise(advice.winner, kind) for kind in advice.mix.per_day}
    return {
        "source": source,
        "group": group,
        "verified": verified,
        "sentence": the_answer(advice),
        "keep": not advice.changes,
        "interrupted": advice.is_interrupted,
        "changes": dict(advice.changes),
        "change": {**attrs.asdict(forms), "commands": forms.commands(group)},
        "mix": attrs.asdict(advice.mix),
        "objectives": list(advice.aims.objectives),
        "at_most": {each.objective: each.most for each in advice.aims.limits},
        "effort": attrs.asdict(advice.effort),
        "figures": {
            name: {
                "unit": objective.unit, "judged": _change(advice.judged(name)), "raced": _change(advice.raced(name)),
                "in_past": _change(advice.in_past(name)),
            }
            for name, objective in OBJECTIVES.items()
        },
        "events": {
            kind: {
                "per_day": _rounded(rate), "present_task_seconds": _rounded(before[kind]),
                "advised_task_seconds": _rounded(after[kind]),
                "advised_low": _rounded(own[kind].low), "advised_high": _rounded(own[kind].high),
            }
            for kind, rate in advice.mix.per_day.items()
        },
        "space": [{"key": each.key, "values": list(each.values)} for each in advice.space.dimensions],
        "front": [_contender(each, present, advice) for each in advice.front],
        "tried": [_contender(each, present, advice) for each in advice.race.contenders],
        "warnings": warnings(advice),
        "remarks": remarks(advice),
        "assumptions": list(assumptions),
    }  # fmt: skip


def refused_document(
    source: str, group: str, verified: Mapping[str, Any] | None, reasons: Sequence[str]
) -> dict[str, Any]:
    return {
        "source": source, "group": group, "verified": verified, "sentence": " ".join(reasons), "keep": None,
        "changes": {},
    }  # fmt: skip


def _contender(each: RacedContender, present: Mapping[str, str], advice: Advice) -> dict[str, Any]:
    own = {key: value for key, value in each.configuration.items() if value != present[key]}
    means = {name: each.mean(name) for name in OBJECTIVES}
    return {
        "name": name_of(each.configuration, present),
        "changes": own,
        "days": len(each.days),
        "error": each.error,
        "is_allowed": advice.aims.allows(each),
        **{name: _rounded(value) if math.isfinite(value) else None for name, value in means.items()},
    }


def _change(change: Change | None) -> dict[str, float | None] | None:
    if change is None:
        return None
    return {
        "present": _rounded(change.before), "advised": _rounded(change.after),
        "difference": _rounded(change.difference), "low": _rounded(change.low), "high": _rounded(change.high),
    }  # fmt: skip


def _rounded(value: float | None) -> float | None:
    """Later digits differ between machines."""
    return None if value is None else float(f"{value:.6g}")


def _difference(change: Change) -> str:
    share, bounds = change.share(change.difference), change.bounds
    if share is None:
        return "none" if not change.difference else f"{change.difference:+.3g}"
    if abs(share) < 0.005:
        return "none"
    if bounds is None or round(100 * bounds[0]) == round(100 * bounds[1]):
        return f"{100 * share:+.0f} %"
    return f"{100 * share:+.0f} % ({100 * bounds[0]:+.0f} to {100 * bounds[1]:+.0f} %)"


def _value(value: float) -> str:
    if not math.isfinite(value):
        return "unknown"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}" if value < 1e7 else f"{value:.3g}"


def _seconds(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"
