"""Sentences and the JSON document of a verification."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assignor_lab.documents.values import plain_document
from assignor_lab.documents.wording import plain, plural
from assignor_lab.model.run_summary import GroupVerified, Verified, VerifiedCause, VerifiedReplay, VerifiedTrial
from assignor_lab.verification.causes import Cause
from assignor_lab.verification.verified import ReplayCheck, Verification, VerifiedGroup

__all__ = ["banner", "document_of", "remedy_of", "sentences", "verified_of"]

_REMEDIES: Mapping[str, str] = {
    "racks": "Give the racks that the group had with --racks, or correct that file.",
    "tags": "Give the application's own rack.aware.assignment.tags with --config.",
    "configuration": "Give the application's own configuration with --config.",
    "topology": "Give the text of the application's own topology with --topology, or leave it out.",
    "names": "Give the logs of all workers, with the lines of Kafka 2.7 and later that name member ids.",
    "version": "Give the release that the group ran, or its own assignor.",
    "client library": "Give that library with --client; history takes its strategy as --assignor.",
    "session timeout": "Leave it out: the recording has it. A --variant may have another one.",
}
_NO_RESTORING = (
    "Not verified: restoring. The source does not show it, and a task counts as running when it is assigned."
)
_TRIED = "racks, tags, configuration, topology and version"


def sentences(verification: Verification) -> list[str]:
    return [sentence for each in verification.groups for sentence in _of_group(verification, each)]


def banner(verification: Verification) -> list[str]:
    return [_refusal(verification, each) for each in verification.refused]


def document_of(verification: Verification) -> dict[str, Any] | None:
    found = verified_of(verification)
    return None if found is None else plain_document(found)


def verified_of(verification: Verification) -> Verified | None:
    """The verification as part of an answer; ``None`` without a real group."""
    if not verification.groups:
        return None
    groups = tuple(_group(each) for each in verification.groups)
    states = {each.status for each in groups}
    return Verified(
        status=next(each for each in ("refused", "verified", "not verifiable") if each in states),
        sentences=tuple(sentences(verification)),
        banner=tuple(banner(verification)),
        recorded=sum(each.recorded for each in groups),
        decisions=sum(each.decisions for each in groups),
        reproduced=sum(each.reproduced for each in groups),
        cause=next((each.cause for each in groups if each.cause is not None), None),
        groups=groups,
    )


def _of_group(verification: Verification, each: VerifiedGroup) -> Iterator[str]:
    if each.not_verifiable is not None:
        yield f"Not verifiable{_of(verification, each)}: {plain(each.not_verifiable)}.{_replay(each.replay)}"
    elif each.is_refused:
        yield _refusal(verification, each)
    else:
        yield f"Decisions{_of(verification, each)}: {_reproduced(each)}{_replay(each.replay)}"
    yield from _unverified(each)


def _unverified(each: VerifiedGroup) -> list[str]:
    replay = each.replay
    hides = replay is not None and replay.known_downtime_s is not None and not replay.shows_restoring
    return [*each.unverified, _NO_RESTORING] if hides else list(each.unverified)


def _refusal(verification: Verification, each: VerifiedGroup) -> str:
    begun = f"No verdict{_of(verification, each)}: {_count(each)}{_replay(each.replay)}"
    cause = each.cause
    if cause is None:
        return f"{begun} No single changed input explains it: {_TRIED} were tried."
    return f"{begun} Likely cause: {cause.input}. {_sentence(cause.evidence)} {remedy_of(cause)}"


def remedy_of(cause: Cause) -> str:
    return _REMEDIES[cause.input] if cause.remedy is None else _sentence(cause.remedy)


def _sentence(text: str) -> str:
    return f"{plain(text[:1].upper() + text[1:])}."


def _of(verification: Verification, each: VerifiedGroup) -> str:
    return f" ({plain(each.group)})" if each.group and len(verification.groups) > 1 else ""


def _count(each: VerifiedGroup) -> str:
    name = "Kafka's assignor" if each.is_kafkas else plain(each.assignor)
    sample = "" if each.checked >= each.recorded else f" (a sample of {each.recorded})"
    return f"{name} reproduces {each.reproduced} of {plural(each.checked, 'recorded decision')}{sample}."


def _reproduced(each: VerifiedGroup) -> str:
    by = "" if each.is_kafkas else f" by {plain(each.assignor)}"
    sample = "" if each.checked >= each.recorded else f" (a sample of {each.recorded})"
    return f"{each.reproduced} of {each.checked} reproduced{by}{sample}."


def _replay(check: ReplayCheck | None) -> str:
    if check is None:
        return ""
    band = check.band
    rebalances = plural(check.rebalances, "rebalance")
    if band is not None and band.rebalances_low < band.rebalances_high:
        rebalances = f"{band.rebalances_low} to {band.rebalances_high} rebalances"
    sentence = f" Play of the group's own assignor: {rebalances} (recorded {check.recorded_rebalances})"
    known_s = check.known_downtime_s
    if known_s is None:
        return f"{sentence}; the source does not show downtime.{_leaves(check)}"
    away = f"{check.downtime_s:,.0f}"
    if band is not None and round(band.downtime_s_low) < round(band.downtime_s_high):
        away = f"{band.downtime_s_low:,.0f} to {band.downtime_s_high:,.0f}"
    noun = "without an owner (recorded" if check.measured_downtime_s is None else "without output (measured"
    bounds, known = check.recorded_bounds_s, f"{known_s:,.0f}"
    if bounds is not None and round(bounds[0]) < round(bounds[1]):
        known = f"{known}, by inferred times {bounds[0]:,.0f} to {bounds[1]:,.0f}"
    return f"{sentence}, {away} task-seconds {noun} {known}).{_leaves(check)}"


def _leaves(check: ReplayCheck) -> str:
    if check.holds_recording or not check.leaves_at:
        return ""
    return f" It leaves the recording after the {plain(check.leaves_at)}."


def _group(each: VerifiedGroup) -> GroupVerified:
    status = "refused" if each.is_refused else "verified"
    return GroupVerified(
        group=each.group,
        status=status if each.not_verifiable is None else "not verifiable",
        assignor=each.assignor,
        recorded=each.recorded,
        decisions=each.checked,
        reproduced=each.reproduced,
        cause=None if each.cause is None else _cause(each.cause),
        tried=tuple(
            VerifiedTrial(one.input, one.words, one.decisions, one.reproduced, one.before) for one in each.tried
        ),
        replay=None if each.replay is None else _played(each.replay),
        not_verifiable=each.not_verifiable,
        not_verified=tuple(_unverified(each)),
    )


def _cause(cause: Cause) -> VerifiedCause:
    tried = cause.tried
    numbers = (None, None) if tried is None else (tried.reproduced, tried.decisions)
    return VerifiedCause(cause.input, cause.evidence, remedy_of(cause), *numbers)


def _played(replay: ReplayCheck) -> VerifiedReplay:
    return VerifiedReplay(
        rebalances=replay.rebalances,
        recorded_rebalances=replay.recorded_rebalances,
        downtime_s=replay.downtime_s,
        recorded_downtime_s=replay.recorded_downtime_s,
        shows_restoring=replay.shows_restoring,
        measured_downtime_s=replay.measured_downtime_s,
        downtime_difference=replay.downtime_difference,
        band=replay.band,
        leaves_at=None if replay.holds_recording else replay.leaves_at or None,
    )
