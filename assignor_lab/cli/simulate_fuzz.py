"""``assignor simulate --fuzz``: random episodes of Streams groups against the rules of safety."""

from __future__ import annotations

from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.cli.text import note, print_json, print_line
from assignor_lab.groups.streams_episode.fuzzing import Finding, fuzz

__all__ = ["play_random"]

#: Episodes between two words on the way.
_EVERY = 1_000


def play_random(
    episodes: int, seed: int, registry: Registry, given: ConfigSources, assignor: str | None, *, as_json: bool
) -> bool:
    """Plays random episodes and prints what broke a rule; whether all that did is Kafka's own."""
    found: list[Finding] = []
    for number, findings in enumerate(fuzz(episodes, seed, registry, given, assignor), 1):
        found += findings
        if number % _EVERY == 0 and number < episodes:
            note(f"{number:,} of {episodes:,} episodes, {len(found)} broke a rule")
    unknown = [each for each in found if each.known is None]
    if as_json:
        print_json(
            {
                "episodes": episodes,
                "seed": seed,
                "broken": [
                    {
                        "seed": each.seed, "assignor": each.assignor, "rule": each.broken.rule,
                        "told": each.broken.told, "known": each.known, "smallest": each.document,
                    }
                    for each in found
                ],
            }
        )  # fmt: skip
        return not unknown
    for cause in dict.fromkeys(each.known for each in found if each.known is not None):
        seeds = [each.seed for each in found if each.known == cause]
        shown = ", ".join(map(str, seeds[:10])) + (", ..." if len(seeds) > 10 else "")
        print_line(f"Kafka's own, {len(seeds)} times (seeds {shown}): {cause}")
    for each in unknown:
        print_line(f"seed {each.seed}, {each.assignor}: {each.broken.rule}: {each.broken.told}")
        print_line(f"  again: assignor simulate random-{each.seed} --assignor {each.assignor}; the smallest that does:")
        for event in each.document["events"]:
            print_line(f"  {event['at_ms'] / 1000:10.3f} s  {event['type']} {event.get('client', '')}")
    print_line(f"{episodes:,} episodes: {len(found)} broke a rule, {len(unknown)} of them for no reason that is known")
    return not unknown
