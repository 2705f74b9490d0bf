"""Places of tasks at each recorded decision: in one play, in many plays of the same races, and one step at a time."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from assignment_api.plugins import Registry
from benchmarks.streams_simulation.one_step import one_step
from benchmarks.streams_simulation.recordings import RECORDINGS, episode_of, same_in

__all__ = ["Placements", "placements_of", "placements_table"]


@attrs.frozen
class Placements:
    """Recorded decisions, and those with the same active tasks of each process.

    Args:
        one_play: In the play of the whole history, with median acknowledgement times.
        plays: In each play with a seed of the races.
        reached: In at least one of these plays.
        one_step: After a history as recorded.
    """

    recorded: int
    one_play: int
    plays: tuple[int, ...]
    reached: int
    one_step: int


def placements_of(name: str, registry: Registry, plays: int) -> Placements:
    """Plays with the seeds 0, 1, 2, ..., then single decisions."""
    same = [same_in(name, registry, seed) for seed in range(plays)]
    step = one_step(episode_of(name), RECORDINGS[name][0], registry)
    reached = sum(map(any, zip(*same, strict=True)))
    return Placements(step.recorded, sum(same_in(name, registry, None)), tuple(map(sum, same)), reached, step.same)


def placements_table(found: Mapping[str, Placements]) -> str:
    plays = len(next(iter(found.values())).plays)
    lines = [
        f"| recording | decisions | one play | mean of {plays} plays | in one of {plays} plays | one step at a time |",
        "|---|---|---|---|---|---|",
    ]
    together = Placements(
        sum(each.recorded for each in found.values()),
        sum(each.one_play for each in found.values()),
        tuple(map(sum, zip(*(each.plays for each in found.values()), strict=True))),
        sum(each.reached for each in found.values()),
        sum(each.one_step for each in found.values()),
    )
    lines += [_row(name, each) for name, each in (*found.items(), ("all", together))]
    share = ", ".join(
        f"{label} {100 * count / together.recorded:.0f} %"
        for label, count in (
            ("one play", together.one_play),
            ("mean", sum(together.plays) / plays),
            (f"in one of {plays}", together.reached),
            ("one step at a time", together.one_step),
        )
    )
    return "\n".join([*lines, "", f"Of all {together.recorded}: {share}."])


def _row(name: str, each: Placements) -> str:
    mean = sum(each.plays) / len(each.plays)
    return f"| {name} | {each.recorded} | {each.one_play} | {mean:.1f} | {each.reached} | {each.one_step} |"
