"""Timelines of Connect groups."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from assignor_lab.capture.histories.reasons import membership_words
from assignor_lab.capture.histories.timeline import JOBS, GroupTimeline, TimelineEntry
from assignor_lab.documents.wording import listed, natural_order, plural
from assignor_lab.groups.ownership.timeline import assigned_rows, last_moment

__all__ = ["HeldJobs", "connect_lanes", "connect_timelines", "held_jobs", "is_connect_past"]

_RANDOM = re.compile(r"-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_MOST_NAMED = 3
_BROKEN = "rounds before it are not there"


def is_connect_past(document: Mapping[str, Any]) -> bool:
    return bool(document.get("rounds") and document.get("observed", {}).get("rounds"))


def connect_timelines(documents: Iterable[Mapping[str, Any]]) -> list[GroupTimeline]:
    """By start. Missing rounds split a past into several histories: the first round after a gap has a mark."""
    grouped: dict[str, list[Mapping[str, Any]]] = {}
    for document in documents:
        grouped.setdefault(document.get("source", {}).get("group") or document["id"], []).append(document)
    made = []
    for group, of in grouped.items():
        of.sort(key=lambda document: document["rounds"][0]["time_ms"])
        entries: list[TimelineEntry] = []
        held: dict[str, set[str]] | None = None
        for document in of:
            # A revoked job runs nowhere until the next round.
            ran: dict[str, str] = {}
            answers, source = document["observed"]["rounds"], document.get("source", {})
            reasons = source.get("reasons") or [None] * len(answers)
            generations = source.get("generations") or [None] * len(answers)
            configured: Mapping[str, int] | None = None
            rounds = zip(document["rounds"], answers, reasons, generations, strict=False)
            for number, (each, answered, why, generation) in enumerate(rounds):
                after = _after(each, answered, is_eager=document["protocol"] == _EAGER)
                is_broken = not number and held is not None
                words = [*([why] if why else ()), *_words(each, answered, is_broken=is_broken)]
                words += _connector_words(configured, each["connectors"])
                entry = _entry(each, held, after, _moved(ran, after), words, is_known=bool(why))
                entries.append(attrs.evolve(entry, generation=generation))
                held, configured = after, each["connectors"]
        made.append(GroupTimeline(group, of[0]["protocol"], JOBS, tuple(entries)))
    return sorted(made, key=lambda timeline: timeline.entries[0].time_ms)


def connect_lanes(documents: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Lanes in the form of an episode's, for scenarios of one group that :func:`is_connect_past` accepts."""
    rounds = list(held_jobs(documents))
    holdings = [(each.time_ms, each.held) for each in rounds]
    times = [time_ms - holdings[0][0] for time_ms, _ in holdings]
    workers = sorted({name for _, held in holdings for name in held}, key=natural_order)
    until = last_moment(times)
    members = [{name: [name] for name in held} for _, held in holdings]
    there = assigned_rows(times, until, workers, members, natural_order, [() for _ in holdings])
    wanted = [each.wanted for each in rounds]
    return there, assigned_rows(times, until, workers, [held for _, held in holdings], natural_order, wanted)


@attrs.frozen
class HeldJobs:
    """The jobs of each worker after a round.

    Args:
        held: Workers without the random part of their names.
        wanted: All configured jobs.
        delay_ms: Announced delay of the jobs of lost workers.
    """

    time_ms: int
    held: Mapping[str, list[str]]
    wanted: set[str]
    delay_ms: int


def held_jobs(documents: Iterable[Mapping[str, Any]]) -> Iterator[HeldJobs]:
    """By time, for scenarios of one group that :func:`is_connect_past` accepts."""
    for document in sorted(documents, key=lambda document: document["rounds"][0]["time_ms"]):
        is_eager = document["protocol"] == _EAGER
        for each, answered in zip(document["rounds"], document["observed"]["rounds"], strict=False):
            held: dict[str, list[str]] = {}
            for worker, jobs in _after(each, answered, is_eager=is_eager).items():
                held.setdefault(_name(worker), []).extend(job.partition(" ")[2] for job in sorted(jobs))
            wanted = {job for name, count in each["connectors"].items() for job in _configured(name, count)}
            yield HeldJobs(each["time_ms"], held, wanted, (answered or {}).get("delay_ms") or 0)


#: Of one connector in the lanes; a task without an owner has no lane.
_MOST_TASKS = 10_000


def _configured(connector: str, tasks: int) -> Iterator[str]:
    yield connector
    yield from (f"{connector}-{number}" for number in range(min(tasks, _MOST_TASKS)))


#: The assignment replaces all jobs; otherwise it adds and revokes.
_EAGER = "eager"


def _after(each: Mapping[str, Any], answered: Mapping[str, Any] | None, *, is_eager: bool) -> dict[str, set[str]]:
    held: dict[str, set[str]] = {}
    for member in each["members"]:
        name = member["id"]
        answers: Mapping[str, Mapping[str, Any]] = answered or {}
        owned = set() if is_eager else _jobs(member["owned"])
        held[name] = (owned - _jobs(answers.get("revoked", {}).get(name))) | _jobs(
            answers.get("assigned", {}).get(name)
        )
    return held


def _moved(ran: dict[str, str], after: Mapping[str, set[str]]) -> int:
    """Updates ``ran``."""
    moved = 0
    for worker, jobs in after.items():
        for job in jobs:
            moved += ran.get(job, _name(worker)) != _name(worker)
            ran[job] = _name(worker)
    return moved


def _jobs(held: Mapping[str, Sequence[str]] | None) -> set[str]:
    if held is None:
        return set()
    return {f"connector {name}" for name in held["connectors"]} | {f"task {name}" for name in held["tasks"]}


def _entry(
    each: Mapping[str, Any],
    before: Mapping[str, set[str]] | None,
    after: Mapping[str, set[str]],
    moved: int,
    words: Iterable[str],
    *,
    is_known: bool,
) -> TimelineEntry:
    there, here = _by_name(after if before is None else before), _by_name(after)
    joined, gone = tuple(sorted(here.keys() - there.keys())), tuple(sorted(there.keys() - here.keys()))
    restarted = tuple(sorted(name for name in here if name in there and here[name].isdisjoint(there[name])))
    return TimelineEntry(
        time_ms=each["time_ms"],
        generation=None,
        waited_ms=None,
        instances=len(here),
        members=len(after),
        joined=joined,
        gone=gone,
        restarted=restarted,
        active_moved=moved,
        copies_made=0,
        followup="none",
        reason="; ".join(words),
        missing=None,
        inferred_reason="" if is_known else "; ".join(membership_words(joined, restarted, gone)),
    )


def _words(each: Mapping[str, Any], answered: Mapping[str, Any] | None, *, is_broken: bool) -> Iterable[str]:
    if is_broken:
        yield _BROKEN
    if each.get("new_leader"):
        yield "another worker leads"
    if answered is None:
        yield "the leader's answer is unknown"
        return
    taken = sum(len(_jobs(held)) for held in answered["revoked"].values())
    if taken:
        yield f"{taken} {'job' if taken == 1 else 'jobs'} taken away first"
    if answered["delay_ms"]:
        yield f"jobs of lost workers wait {answered['delay_ms'] / 1000:g} s"


def _connector_words(before: Mapping[str, int] | None, now: Mapping[str, int]) -> Iterator[str]:
    """None for the first round."""
    if before is None:
        return
    created, deleted = sorted(now.keys() - before.keys()), sorted(before.keys() - now.keys())
    for names, action in ((created, "created"), (deleted, "deleted")):
        if names:
            noun = "connector" if len(names) == 1 else "connectors"
            more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
            yield f"{noun} {listed([*names[:_MOST_NAMED], *more])} {action}"
    changed = [name for name in sorted(now.keys() & before.keys()) if now[name] != before[name]]
    for name in changed[:_MOST_NAMED]:
        yield f"connector {name} has {plural(now[name], 'task')} ({before[name]} before)"
    if len(changed) > _MOST_NAMED:
        yield f"{plural(len(changed) - _MOST_NAMED, 'more connector')} with another number of tasks"


def _by_name(held: Mapping[str, set[str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for worker in held:
        found.setdefault(_name(worker), set()).add(worker)
    return found


def _name(worker: str) -> str:
    return _RANDOM.sub("", worker)
