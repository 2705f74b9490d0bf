"""Timelines of Connect groups: each rebalance with its time, which workers came and went, and how many jobs moved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from assignor_lab.capture.histories.reasons import membership_words
from assignor_lab.capture.histories.timeline import JOBS, GroupTimeline, TimelineEntry
from assignor_lab.documents.wording import natural_order
from assignor_lab.groups.given import given_rows, last_moment

__all__ = ["connect_lanes", "connect_timelines", "is_connect_past"]

#: What a broker makes of a worker's name: a random part is put behind it.
_RANDOM = re.compile(r"-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_BROKEN = "rounds before it are not there"


def is_connect_past(document: Mapping[str, Any]) -> bool:
    """Whether a scenario holds rebalances of a Connect group as they really were."""
    return bool(document.get("rounds") and document.get("observed", {}).get("rounds"))


def connect_timelines(documents: Iterable[Mapping[str, Any]]) -> list[GroupTimeline]:
    """A timeline for each group, in the order of their beginnings.

    A group's past is several histories where rounds are missing between them: the first round of each but the first
    one says so.

    Args:
        documents: Scenarios of kind ``connect`` that :func:`is_connect_past` knows.
    """
    grouped: dict[str, list[Mapping[str, Any]]] = {}
    for document in documents:
        grouped.setdefault(document.get("source", {}).get("group") or document["id"], []).append(document)
    made = []
    for group, of in grouped.items():
        of.sort(key=lambda document: document["rounds"][0]["time_ms"])
        entries: list[TimelineEntry] = []
        held: dict[str, set[str]] | None = None
        for document in of:
            # Job to the worker that ran it last: what is taken away runs nowhere until the next round.
            ran: dict[str, str] = {}
            answers = document["observed"]["rounds"]
            reasons = document.get("source", {}).get("reasons") or [None] * len(answers)
            for number, (each, answered, why) in enumerate(zip(document["rounds"], answers, reasons, strict=False)):
                after = _after(each, answered, is_eager=document["protocol"] == _EAGER)
                is_broken = not number and held is not None
                words = [*([why] if why else ()), *_words(each, answered, is_broken=is_broken)]
                entries.append(_entry(each, held, after, _moved(ran, after), words, is_told=bool(why)))
                held = after
        made.append(GroupTimeline(group, of[0]["protocol"], JOBS, tuple(entries)))
    return sorted(made, key=lambda timeline: timeline.entries[0].time_ms)


def connect_lanes(documents: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Pictures of one group's rounds, in the form of an episode's: when each worker was a member, and who had each job.

    Args:
        documents: Scenarios of kind ``connect`` of one group that :func:`is_connect_past` knows.
    """
    of = sorted(documents, key=lambda document: document["rounds"][0]["time_ms"])
    told: list[tuple[int, dict[str, list[str]]]] = []
    wanted = []
    for document in of:
        is_eager = document["protocol"] == _EAGER
        for each, answered in zip(document["rounds"], document["observed"]["rounds"], strict=False):
            held: dict[str, list[str]] = {}
            for worker, jobs in _after(each, answered, is_eager=is_eager).items():
                held.setdefault(_name(worker), []).extend(job.partition(" ")[2] for job in sorted(jobs))
            told.append((each["time_ms"], held))
            wanted.append({job for name, count in each["connectors"].items() for job in _configured(name, count)})
    times = [time_ms - told[0][0] for time_ms, _ in told]
    workers = sorted({name for _, held in told for name in held}, key=natural_order)
    until = last_moment(times)
    members = [{name: [name] for name in held} for _, held in told]
    there = given_rows(times, until, workers, members, natural_order, [() for _ in told])
    return there, given_rows(times, until, workers, [held for _, held in told], natural_order, wanted)


#: Most tasks of a connector that a picture asks for: one that nobody ever had has no row anyway.
_MOST_TASKS = 10_000


def _configured(connector: str, tasks: int) -> Iterator[str]:
    yield connector
    yield from (f"{connector}-{number}" for number in range(min(tasks, _MOST_TASKS)))


#: Under this protocol an answer is all that a worker runs afterwards; else it is what it is given and what it gives up.
_EAGER = "eager"


def _after(each: Mapping[str, Any], answered: Mapping[str, Any] | None, *, is_eager: bool) -> dict[str, set[str]]:
    """Worker to the jobs that it has after a round."""
    held: dict[str, set[str]] = {}
    for member in each["members"]:
        name = member["id"]
        told: Mapping[str, Mapping[str, Any]] = answered or {}
        owned = set() if is_eager else _jobs(member["owned"])
        held[name] = (owned - _jobs(told.get("revoked", {}).get(name))) | _jobs(told.get("assigned", {}).get(name))
    return held


def _moved(ran: dict[str, str], after: Mapping[str, set[str]]) -> int:
    """Jobs that are on another worker than the one that ran them last; notes who runs them now."""
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
    is_told: bool,
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
        inferred_reason="" if is_told else "; ".join(membership_words(joined, restarted, gone)),
    )


def _words(each: Mapping[str, Any], answered: Mapping[str, Any] | None, *, is_broken: bool) -> Iterable[str]:
    if is_broken:
        yield _BROKEN
    if each.get("new_leader"):
        yield "another worker leads"
    if answered is None:
        yield "what the leader answered is not known"
        return
    taken = sum(len(_jobs(held)) for held in answered["revoked"].values())
    if taken:
        yield f"{taken} {'job' if taken == 1 else 'jobs'} taken away first"
    if answered["delay_ms"]:
        yield f"jobs of lost workers wait {answered['delay_ms'] / 1000:g} s"


def _by_name(held: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Names of workers to their member ids."""
    found: dict[str, set[str]] = {}
    for worker in held:
        found.setdefault(_name(worker), set()).add(worker)
    return found


def _name(worker: str) -> str:
    return _RANDOM.sub("", worker)
