"""The options of a plan in the words and units of ``assignor plan``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TypedDict

from assignor_lab.documents.option_values import (
    MOST_SECONDS,
    flag_value,
    optional,
    seconds_value,
    text_value,
    texts_value,
    whole_value,
)
from assignor_lab.planning.making import Options, PlanError
from assignor_lab.planning.plans import CALM, READY, Wait
from assignor_lab.planning.starts import parse_starts

__all__ = ["PlanWords", "plan_options"]

#: Most brokers of a roll, and most threads of a new instance.
_MOST_BROKERS, _MOST_THREADS = 1_000, 10_000


class PlanWords(TypedDict, total=False):
    """Options of ``assignor plan`` by their names; an absent one has its default there.

    Keys:
        order, only, leaving: Names of instances, as ``a,b`` or one by one.
        batch: Instances that restart together, or ``all``.
        down_seconds: From the end of a process, or of a broker, to the next start.
        start_seconds: From the start of a process to its first join, as ``8``, or ``6..16`` for the bounds of 90 %.
        poll_seconds, revoke_seconds: Of consumers: time of a poll's records, and of ``onPartitionsRevoked``.
        wait: End of a step: ``ready``, ``calm``, or seconds.
        to: Number of instances of ``scale``, or release of ``upgrade``.
        back_after_seconds: From a kill to the next start.
        new_tags: ``KEY=VALUE`` of new instances.
    """

    order: str | Sequence[str]
    only: str | Sequence[str]
    batch: int | str
    down_seconds: float | None
    start_seconds: float | str | None
    poll_seconds: float | None
    revoke_seconds: float | None
    wait: float | str
    surge: int
    leave: bool
    replace: bool
    stuck: int
    crash_in: int
    upgrade_from: str | None
    brokers: int
    to: int | str
    leaving: str | Sequence[str]
    new_threads: int | None
    new_rack: str | None
    new_tags: Iterable[str]
    back_after_seconds: float | None
    wipe: bool


def plan_options(plan_name: str, words: PlanWords) -> Options:
    """The options that words mean.

    Raises:
        PlanError: if one is unknown or has no such value; the message names it as an option of the command.
        OptionValueError: if a value has another type, or is outside the limits of its option.
    """
    unknown = sorted(words.keys() - PlanWords.__annotations__.keys())
    if unknown:
        known = ", ".join(PlanWords.__annotations__)
        raise PlanError(f"a plan has no option {unknown[0]!r:.40}: {known}")
    start = words.get("start_seconds")
    start_ms, starts = (None, None) if start is None else parse_starts(str(start))
    to = str(words.get("to", ""))
    is_upgrade, is_of_brokers = plan_name == "upgrade", plan_name == "broker-roll"
    down_ms = optional(_ms, "--down-seconds", words.get("down_seconds"))
    return Options(
        order=_names("--order", words.get("order", "")),
        only=_names("--only", words.get("only", "")),
        batch=_batch(str(words.get("batch", 1))),
        down_ms=0 if is_of_brokers else down_ms or 0,
        broker_down_ms=down_ms if is_of_brokers else None,
        start_ms=start_ms,
        starts=starts,
        poll_ms=optional(_ms, "--poll-seconds", words.get("poll_seconds")),
        revoke_ms=optional(_ms, "--revoke-seconds", words.get("revoke_seconds")),
        wait=_wait(str(words.get("wait", READY))),
        leave=flag_value("--leave", words.get("leave", False)),
        surge=whole_value("--surge", words.get("surge", 0)),
        replace=flag_value("--replace", words.get("replace", False)),
        stuck=whole_value("--stuck", words.get("stuck", 0)),
        crash_in=whole_value("--crash-in", words.get("crash_in", 0)),
        upgrade_from=optional(text_value, "--upgrade-from", words.get("upgrade_from")),
        brokers=whole_value("--brokers", words.get("brokers", 3), 1, _MOST_BROKERS),
        to=0 if is_upgrade else _number(to),
        to_release=(to or None) if is_upgrade else None,
        leaving=_names("--leaving", words.get("leaving", "")),
        back_after_ms=optional(_ms, "--back-after", words.get("back_after_seconds")),
        wipe=flag_value("--wipe", words.get("wipe", False)),
        new_threads=optional(_threads, "--new-threads", words.get("new_threads")),
        new_rack=optional(text_value, "--new-rack", words.get("new_rack")),
        new_tags=dict(map(_tag, texts_value("--new-tag", words.get("new_tags", ())))),
    )


def _names(option: str, given: str | Sequence[str]) -> list[str]:
    parts = given.split(",") if isinstance(given, str) else texts_value(option, given)
    return [name.strip() for name in parts if name.strip()]


def _ms(option: str, seconds: float) -> int:
    return round(seconds_value(option, seconds) * 1000)


def _threads(option: str, threads: object) -> int:
    return whole_value(option, threads, 1, _MOST_THREADS)


def _number(text: str) -> int:
    if text and not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise PlanError(f"--to {text!r:.40} is no number of instances")
    return int(text or 0)


def _batch(text: str) -> int:
    if text == "all":
        return sys.maxsize
    if not (text.isascii() and text.isdecimal() and int(text[:9]) > 0 and len(text) < 10):
        raise PlanError(f"--batch {text!r:.40}: give a number of instances, from 1, or all")
    return int(text)


def _wait(text: str) -> Wait:
    if text == READY:
        return READY
    if text == CALM:
        return CALM
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= MOST_SECONDS:
        raise PlanError(f"--wait {text!r:.40}: give ready, calm, or seconds up to {MOST_SECONDS}")
    return round(seconds * 1000)


def _tag(text: str) -> tuple[str, str]:
    key, separator, value = text.partition("=")
    if not separator or not key:
        raise PlanError(f"--new-tag {text!r:.80}: write KEY=VALUE")
    return key, value
