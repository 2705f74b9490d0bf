"""The time from the start of a process until its first join, as a distribution: given, learned, or assumed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from statistics import median

import attrs

from assignor_lab.documents.wording import plural
from assignor_lab.planning.making import Options, PlanError
from assignor_lab.planning.plans import GIVEN, Starts
from assignor_lab.scenarios import Scenario
from assignor_lab.simulation.streams.timings import StreamsTimings

__all__ = ["learned_starts", "options_with_starts", "parse_starts"]

_SECONDS = r"([0-9]{1,6}(?:\.[0-9]{1,3})?)"
_GIVEN = re.compile(rf"\A{_SECONDS}(?:\.\.{_SECONDS})?\Z", re.ASCII)
#: Fewest logged starts of a group to learn from.
_FEWEST = 3
#: A busy machine starts a process within this time in 95 % of starts. Measured on busy machines: 7 to 14 s.
_BUSY_MS = 14_000
#: A JVM runs before the first line of its log for as long.
_BEFORE_LOG_MS = 600


def parse_starts(text: str) -> tuple[int, Starts | None]:
    """The median in milliseconds, and the distribution of ``6..16``; ``None`` of a single number.

    Raises:
        PlanError: if the text is neither.
    """
    found = _GIVEN.match(text.strip())
    low_ms = 0 if found is None else round(1000 * float(found[1]))
    high_ms = low_ms if found is None or found[2] is None else round(1000 * float(found[2]))
    if found is None or not 0 < low_ms <= high_ms:
        raise PlanError(f"--start-seconds {text!r:.40}: write seconds, such as 8, or the bounds of 90 %, such as 6..16")
    starts = Starts(low_ms, high_ms, GIVEN) if low_ms < high_ms else None
    return low_ms if starts is None else starts.median_ms, starts


def learned_starts(episodes: Iterable[Scenario]) -> Starts | None:
    """The starts that the logs of a group's past show; ``None`` with too few of them.

    A log begins after the start of the JVM, so its part is added.
    """
    found = sorted(
        event["startup_ms"] + _BEFORE_LOG_MS
        for episode in episodes
        for event in episode.document["events"]
        if event["type"] == "start" and "startup_ms" in event
    )
    if len(found) < _FEWEST:
        return None
    # The bounds of 90 % of few starts: by half of their spread outside.
    spread = max((found[-1] - found[0]) / 2, 0.25 * median(found))
    low, high = max(1, found[0] // 2, round(found[0] - spread)), round(found[-1] + spread)
    return Starts(low, high, f"as in {plural(len(found), 'start')} in its logs")


def options_with_starts(
    options: Options, episodes: Callable[[], Iterable[Scenario]], timings: StreamsTimings, *, are_known: bool
) -> Options:
    """The options with a distribution of starts: given, else learned of the group's past, else that of busy machines.

    Args:
        episodes: The episodes of the past; read only if they are needed.
        are_known: True if the timings are those of the group's machines (``--timings``).
    """
    if options.start_ms is not None or are_known:
        return options
    usual_ms = timings.startup_ms + timings.join_ms
    starts = learned_starts(episodes()) or Starts(min(usual_ms, _BUSY_MS), _BUSY_MS, "as on idle and busy machines")
    return attrs.evolve(options, start_ms=starts.median_ms, starts=starts)
