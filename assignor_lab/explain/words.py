"""An explanation in sentences, each confirmed by a call or by the state."""

from __future__ import annotations

from collections.abc import Iterator

from assignor_lab.documents.wording import listed, plural
from assignor_lab.explain.counterfactuals import Counterfactual
from assignor_lab.explain.explanation import Explained, Explanation
from assignor_lab.groups.shown_gaps import moves_sentence

__all__ = [
    "client_rows",
    "gap_sentence",
    "headline",
    "idle_sentences",
    "kafka_sentence",
    "moves_of_state",
    "no_rules_sentence",
    "nothing_moves",
    "stand_in_sentence",
    "step_sentences",
    "tried_sentence",
    "counterfactual_sentence",
    "counterfactual_sentences",
]


def headline(explained: Explained, each: Explanation) -> str:
    name, before, after = explained.assignor, each.before, each.after
    if before is None:
        if after is None:
            return f"{name} gives {each.task} to no client for now; no present client ran it."
        return f"{name} gives {each.task} to {explained.label(after)}; no present client ran it before."
    if before == after:
        return f"{name} leaves {each.task} on {explained.label(after)}, where it ran."
    if after is None:
        return f"{name} stops {each.task} on {explained.label(before)}; it has no owner for now."
    return f"{name} moves {each.task} from {explained.label(before)} to {explained.label(after)}."


def stand_in_sentence(explained: Explained) -> str | None:
    """A sentence on the assignor that replaces the requested one; ``None``: none does."""
    if explained.assignor == explained.named:
        return None
    return (
        f"{explained.named} was named; in this state {explained.assignor} answers in its place, as Kafka's leader has "
        "it where no lags are known."
    )


def nothing_moves(explained: Explained) -> str:
    name, noun, given = explained.assignor, explained.noun, len(explained.given)
    if not explained.tasks:
        return f"This state has no {noun}."
    if not given:
        return f"{name} moves no {noun}: each one stays with its client. Name one with --task."
    others = "" if given == explained.tasks else ", and the others stay with their clients"
    out = f"it gives out {plural(given, noun)} that no client here ran{others}"
    return f"{name} moves no {noun}: {out}. Name one with --task."


def kafka_sentence(explained: Explained, each: Explanation) -> str | None:
    """The comparison with Kafka's decision; ``None``: unknown."""
    if each.kafka is None:
        return None
    (owner,) = each.kafka
    if owner == each.after:
        return "Kafka decided the same."
    if not explained.is_kafkas:
        shown = explained.label(owner)
        return f"The recorded decision is {each.task} with {shown}; the group need not use {explained.assignor}."
    return (
        f"Kafka decided otherwise: {each.task} with {explained.label(owner)}. Its assignor or its settings were "
        "others, or the source lacks some of its input."
    )


def gap_sentence(explained: Explained) -> str | None:
    """The unavoidable moves of the answer; ``None``: nothing moves, or the gaps are unknown."""
    return moves_sentence(explained.gaps)


def moves_of_state(explained: Explained) -> str | None:
    """All moves of the answer and the unavoidable ones; ``None`` as for :func:`gap_sentence`."""
    unavoidable = gap_sentence(explained)
    moved = plural(len(explained.moved), explained.noun)
    return None if unavoidable is None else f"{explained.assignor} moves {moved} in this state. {unavoidable}"


def idle_sentences(explained: Explained) -> tuple[str, ...]:
    """The reason of clients without work; empty if there are none, or enough tasks."""
    if not explained.limits:
        return ()
    has = "has" if len(explained.idle) == 1 else "have"
    few = f"{plural(explained.tasks, explained.noun)} {'is' if explained.tasks == 1 else 'are'} too few for all threads"
    return (f"{listed(list(explained.idle))} {has} no {explained.noun}: {few}.", *explained.limits)


def client_rows(each: Explanation) -> list[list[str]]:
    """A row for each client with facts: the facts, then its role in the answer."""
    roles = {"active": "runs it", "standby": "copy", "warmup": "warm-up", None: ""}
    return [[client.label, client.facts, roles[client.after]] for client in each.clients]


def step_sentences(explained: Explained, each: Explanation) -> Iterator[tuple[str, str]]:
    """The rules' steps for the task, in order: id of the rule, and a sentence."""
    for step in each.steps:
        words = step.words(explained.label)
        start = words[:1] if step.text.startswith("{") else words[:1].upper()
        yield step.rule, f"{start}{words[1:]}."


def no_rules_sentence(explained: Explained) -> str | None:
    """The reason of missing rules; ``None``: there are rules."""
    if explained.tells_rules:
        return None
    return f"{explained.assignor} reports no rules here; repeated calls found the following."


def counterfactual_sentences(explained: Explained, each: Explanation) -> Iterator[str]:
    """Each found change, the smallest first; each was confirmed by a call."""
    return (counterfactual_sentence(explained, each, would) for would in each.would.found)


def counterfactual_sentence(explained: Explained, each: Explanation, would: Counterfactual) -> str:
    ends = f" (not yet at {would.before_it})" if would.before_it is not None else ""
    return f"If {would.change.words}{ends}, {each.task} would {_goes(explained, each, would.owner)}."


def _goes(explained: Explained, each: Explanation, owner: str | None) -> str:
    if owner is None:
        return "be without an owner for now"
    return f"stay on {explained.label(owner)}" if owner == each.before else f"go to {explained.label(owner)}"


def tried_sentence(each: Explanation) -> str:
    search = each.would
    named = {"time": "moment", "threads": "number of threads", "client": "client less"}
    many = {"threads": "numbers of threads", "client": "clients less"}
    tried = listed([plural(number, named.get(kind, kind), many.get(kind)) for kind, number in search.tried.items()])
    calls = plural(search.calls, "call")
    end = "" if search.stopped is None else f" Not everything was tried: {search.stopped}."
    if search.found:
        return f"Tried one at a time: {tried}; {calls} in all.{end}"
    if not search.tried:
        return f"Nothing was tried: {search.stopped}."
    return f"No single change that was tried would have it {each.wish}: {tried}; {calls} in all.{end}"
