"""An explanation in sentences, each of which a call or the state itself confirms."""

from __future__ import annotations

from collections.abc import Iterator

from assignor_lab.documents.wording import listed, plural
from assignor_lab.explain.explanation import Explained, Explanation
from assignor_lab.explain.would import Would

__all__ = [
    "client_rows",
    "headline",
    "kafka_sentence",
    "no_rules_sentence",
    "nothing_moves",
    "stand_in_sentence",
    "step_sentences",
    "tried_sentence",
    "would_sentence",
    "would_sentences",
]


def headline(explained: Explained, each: Explanation) -> str:
    """What becomes of the task, in one sentence."""
    name, before, after = explained.assignor, each.before, each.after
    if before is None:
        if after is None:
            return f"{name} leaves {each.task} to nobody for now; nobody who is there ran it."
        return f"{name} gives {each.task} to {explained.label(after)}; nobody who is there ran it before."
    if before == after:
        return f"{name} leaves {each.task} on {explained.label(after)}, where it ran."
    if after is None:
        return f"{name} stops {each.task} on {explained.label(before)}; nobody is to run it for now."
    return f"{name} moves {each.task} from {explained.label(before)} to {explained.label(after)}."


def stand_in_sentence(explained: Explained) -> str | None:
    """That another one answers than was named; ``None``: it is who was named."""
    if explained.assignor == explained.named:
        return None
    return (
        f"{explained.named} was named; in this state {explained.assignor} answers in its place, as Kafka's leader has "
        "it where no lags are known."
    )


def nothing_moves(explained: Explained) -> str:
    """What is said where no task was named and none moves."""
    return (
        f"{explained.assignor} moves no {explained.noun}: each one that somebody ran stays there. Name one with --task."
    )


def kafka_sentence(explained: Explained, each: Explanation) -> str | None:
    """Whether Kafka itself decided so; ``None``: not known."""
    if each.kafka is None:
        return None
    (owner,) = each.kafka
    if owner == each.after:
        return "Kafka decided the same."
    return (
        f"Kafka decided otherwise: {each.task} with {explained.label(owner)}. Its assignor or its settings were "
        "others, or the source does not tell all that it knew."
    )


def client_rows(each: Explanation) -> list[list[str]]:
    """A row for each client that the state or the answer says anything of: facts, then its role by the answer."""
    roles = {"active": "runs it", "standby": "copy", "warmup": "warm-up", None: ""}
    return [[client.label, client.facts, roles[client.after]] for client in each.clients]


def step_sentences(explained: Explained, each: Explanation) -> Iterator[tuple[str, str]]:
    """What the rules did with the task, in order: id of the rule, and a sentence."""
    for step in each.steps:
        words = step.words(explained.label)
        # The name of a client is written as it is.
        start = words[:1] if step.text.startswith("{") else words[:1].upper()
        yield step.rule, f"{start}{words[1:]}."


def no_rules_sentence(explained: Explained) -> str | None:
    """Why no rules are told; ``None``: they are."""
    if explained.tells_rules:
        return None
    return f"{explained.assignor} does not tell its rules here; what follows was found by asking it again."


def would_sentences(explained: Explained, each: Explanation) -> Iterator[str]:
    """Each change that was found, the smallest first; a call has confirmed each of them."""
    return (would_sentence(explained, each, would) for would in each.would.found)


def would_sentence(explained: Explained, each: Explanation, would: Would) -> str:
    """One change and what follows from it."""
    ends = f" (not yet at {would.before_it})" if would.before_it is not None else ""
    return f"If {would.change.words}{ends}, {each.task} would {_goes(explained, each, would.owner)}."


def _goes(explained: Explained, each: Explanation, owner: str | None) -> str:
    if owner is None:
        return "be with nobody for now"
    return f"stay on {explained.label(owner)}" if owner == each.before else f"go to {explained.label(owner)}"


def tried_sentence(each: Explanation) -> str:
    """What was tried, and that nothing else would have."""
    search = each.would
    named = {"time": "moment", "threads": "number of threads", "client": "client less"}
    many = {"threads": "numbers of threads", "client": "clients less"}
    tried = listed([plural(number, named.get(what, what), many.get(what)) for what, number in search.tried.items()])
    calls = plural(search.calls, "call")
    end = "" if search.stopped is None else f" Not everything was tried: {search.stopped}."
    if search.found:
        return f"Tried one at a time: {tried}; {calls} in all.{end}"
    if not search.tried:
        return f"Nothing was tried: {search.stopped}."
    return f"None of what was tried, one change at a time, would have it {each.wish}: {tried}; {calls} in all.{end}"
