"""Recorded pasts, played with their own assignors beside the recordings.

``python -m calibration.accuracy.pasts --write`` writes a part of docs/reference/accuracy.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

import attrs

from assignment_api.plugins import Registry, config_sources, discover
from assignor_lab.capture.histories.episodes import past_scenarios
from assignor_lab.capture.histories.past import PastSurroundings
from assignor_lab.scenarios.settings import given_settings
from assignor_lab.verification.readings import terms_of
from assignor_lab.verification.replays import past_episodes, verify_past
from assignor_lab.verification.verified import ReplayCheck
from calibration.accuracy.changes import CAPTURES
from calibration.accuracy.foreign import FOREIGN, SAMPLED, recorded_files
from calibration.accuracy.page import table, write_page

__all__ = ["PASTS", "PlayedPast", "other_releases", "pasts_text", "played_pasts"]

_PART = "on plays of pasts, made by python -m calibration.accuracy.pasts"
#: Recordings of other applications, and those whose changes are not predicted.
PASTS = {
    **FOREIGN,
    "groups/static": SAMPLED,
    **{f"events/{name}": "records.jsonl.gz" for name in ("static", "moved", "looping")},
    "orders-2": "*[0-9].log.gz",
}
_RELEASES = "versions"


def other_releases() -> list[str]:
    """Recordings of releases that are in no other table."""
    found = sorted(
        f"{_RELEASES}/{file.name.removesuffix('.log.gz')}" for file in (CAPTURES / _RELEASES).glob("*.log.gz")
    )
    return [name for name in found if name not in PASTS]


@attrs.frozen
class PlayedPast:
    """The plays of one group.

    Args:
        check: ``None``: its decisions contradict the assignor, so it is not played.
    """

    recording: str
    group: str
    check: ReplayCheck | None


def played_pasts(registry: Registry, names: Sequence[str] = tuple(PASTS)) -> Iterator[PlayedPast]:
    for name in names:
        config = CAPTURES / name / "application.properties"
        sources = config_sources(config if config.is_file() else None, environ={})
        around = PastSurroundings(sources.above, on_problem=lambda _: None)
        with recorded_files(name, PASTS.get(name, "")) as files:
            decisions = [each for each in past_scenarios(files, around) if each.observed is not None]
        episodes = past_episodes(decisions, given_settings(sources.above))
        for each in verify_past(decisions, terms_of(registry, sources, around=around), episodes).groups:
            yield PlayedPast(name, each.group, each.replay)


def pasts_text(pasts: Sequence[PlayedPast]) -> str:
    played = [(each, each.check) for each in pasts if each.check is not None]
    held = sum(check.holds_recording for _, check in played)
    rows: list[tuple[str, ...]] = [
        ("recording", "rebalances", "plays", "task-seconds", "plays", "holds it", "differs most after")
    ]
    for each, check in played:
        band, bounds = check.band, check.recorded_bounds_s or (0.0, 0.0)
        assert band is not None
        recorded = f"{bounds[0]:.0f}" if round(bounds[0]) == round(bounds[1]) else f"{bounds[0]:.0f} to {bounds[1]:.0f}"
        rows.append(
            (
                f"{each.recording} ({each.group})",
                str(check.recorded_rebalances),
                f"{band.rebalances_low} to {band.rebalances_high}",
                recorded,
                f"{band.downtime_s_low:.0f} to {band.downtime_s_high:.0f}",
                "yes" if check.holds_recording else "**no**",
                check.leaves_at.partition(" (")[0],
            )
        )
    names = ", ".join(dict.fromkeys(f"`{each.recording}` ({each.group})" for each in pasts if each.check is None))
    sentence = f"{held} of {len(played)} recordings are in the band of their plays (goal 80 %)."
    return f"{sentence}\nNot played, because decisions contradict the assignor: {names}.\n\n{table(rows)}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m calibration.accuracy.pasts", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the part of the page")
    parser.add_argument("--releases", action="store_true", help="print the recordings of other releases alone")
    options = parser.parse_args()
    if options.releases and options.write:
        parser.error("--releases has no part of the page: leave out --write")
    text = pasts_text(list(played_pasts(discover(), other_releases() if options.releases else tuple(PASTS))))
    sys.stdout.write(f"{text}\n")
    if options.write:
        write_page(text, _PART)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
