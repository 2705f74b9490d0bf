"""Policies of `assignor advise --scaling` beside KEDA's default, on days that the choice did not see.

`python -m benchmarks.scaling` chooses a policy on one generated day of each shape (daily curve, bursts, steps, noise),
and plays it on 50 other days of that shape. It prints how often the policy has no more lag-seconds and no more
instance-hours than KEDA's default. The group is a captured Streams group (`--group P8` or `P5`), or a consumer group of
24 partitions.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median

import attrs

from assignment_api.plugins import config_sources, discover
from assignor_lab.advising.scaling_policy import advised_policy
from assignor_lab.planning.consumer_state import consumer_state
from assignor_lab.planning.making import Options
from assignor_lab.planning.predict import Terms
from assignor_lab.planning.scaling.consumer_group import ScaledConsumerGroup
from assignor_lab.planning.scaling.days import ScalingSteps, TraceCost, played_day
from assignor_lab.planning.scaling.plays import ScaledGroup, ScalingPlay
from assignor_lab.planning.scaling.policies import ScalingPolicy, kedas_default
from assignor_lab.planning.scaling.rates import InputCurve
from assignor_lab.planning.scaling.streams_group import ScaledStreamsGroup
from assignor_lab.planning.scaling.traces import SHAPES, generated_day
from assignor_lab.planning.state import present_state
from assignor_lab.scenarios import Place, scenario_from_document
from benchmarks.pages import put_between

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "scaling.md"
BEGIN = "<!-- written by python -m benchmarks.scaling --write: begin -->"
END = "<!-- written by python -m benchmarks.scaling --write: end -->"
PLANS = Path(__file__).parent.parent / "tests" / "data" / "captures" / "plans"
#: The group keeps up with the largest input of a day with six tenths of the largest count.
_USED = 0.6
#: Instance-hours are equal within one percent.
_EQUAL = 1.01


@attrs.frozen
class _Result:
    shape: str
    chosen: ScalingPolicy
    wins: int
    days: int
    lag_share: float
    hours_share: float
    scalings: tuple[float, float]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--days", type=int, default=50, help="held-out days of each shape (%(default)s)")
    parser.add_argument("--group", choices=("P8", "P5", "consumers"), help="this group alone")
    parser.add_argument("--write", action="store_true", help="put the table into docs/reference/scaling.md")
    options = parser.parse_args()
    lines = [
        "| group | shape | policy | days with no more lag and hours | lag-seconds | instance-hours | scalings a day |",
        "|---|---|---|---|---|---|---|",
    ]
    begun, wins, days = time.monotonic(), 0, 0
    for name in [options.group] if options.group else ["P8", "P5", "consumers"]:
        group, counts = _group(name)
        for each in _judged(group, counts, options.days):
            wins, days = wins + each.wins, days + each.days
            lines.append(
                f"| {_TITLES[name]} | {each.shape} | `{each.chosen.name}` | {each.wins} of {each.days} | "
                f"{each.lag_share:.0%} | {each.hours_share:.0%} | {each.scalings[0]:.0f} instead of "
                f"{each.scalings[1]:.0f} |"
            )
            print(lines[-1], flush=True)
    text = "\n".join(lines)
    summary = f"{wins} of {days} days ({wins / days:.1%})."
    print(f"{summary} {time.monotonic() - begun:.0f} s")
    if options.write:
        put_between(PAGE, BEGIN, f"{text}\n\n{summary}", END)
    return 0


_TITLES = {
    "P8": "Streams, classic protocol, 12 tasks",
    "P5": "Streams, streams protocol, 12 tasks",
    "consumers": "consumers, 24 partitions",
}


def _judged(group: ScaledGroup, counts: Sequence[int], days: int) -> list[_Result]:
    steps = ScalingSteps(group, partial(_play, group))
    weights = dict.fromkeys(group.tasks, 1.0)
    capacity = 1000.0
    peak = _USED * capacity * group.threads / len(group.names) * counts[-1]

    def cost(policy: ScalingPolicy, curve: InputCurve) -> TraceCost:
        lags = [0.0] * len(group.tasks)
        return played_day(policy, steps, curve, capacity, lags, len(group.names), group.commit_s)

    found = []
    for shape in SHAPES:
        day = generated_day(shape, "chosen on", peak, weights)
        throughput = partial(steps.throughput, curve=day, capacity=capacity)
        chosen = advised_policy(counts, day, throughput, group.commit_s, cost).chosen.policy
        wins, lags, hours, changes = 0, [], [], []
        for number in range(days):
            other = generated_day(shape, f"held out {number}", peak, weights)
            ours, kedas = cost(chosen, other), cost(kedas_default(counts), other)
            lags.append(ours.lag_seconds / kedas.lag_seconds if kedas.lag_seconds else 1.0)
            hours.append(ours.instance_hours / kedas.instance_hours)
            changes.append((ours.scalings, kedas.scalings))
            wins += ours.lag_seconds <= kedas.lag_seconds and ours.instance_hours <= _EQUAL * kedas.instance_hours
        own, theirs = (median(each[place] for each in changes) for place in (0, 1))
        found.append(_Result(shape, chosen, wins, days, median(lags), median(hours), (own, theirs)))
    return found


def _play(group: ScaledGroup, counts: Sequence[int]) -> ScalingPlay:
    return group.played(counts, "0-0")


def _group(name: str) -> tuple[ScaledGroup, list[int]]:
    terms = Terms(discover(), config_sources(environ={}))
    if name == "consumers":
        scenario = scenario_from_document(_consumers(), Place("consumers"))
        state = consumer_state(scenario, terms, Options())
        return ScaledConsumerGroup(scenario, state, terms, Options()), [2, 3, 4, 6, 8, 12]
    file = PLANS / name / "capture.jsonl"
    scenario = scenario_from_document(json.loads(file.read_text().splitlines()[0]), Place(str(file)))
    return ScaledStreamsGroup(present_state(scenario), terms, Options(start_ms=6000)), [1, 2, 3, 4, 6]


def _consumers() -> dict[str, object]:
    members: list[dict[str, object]] = [
        {
            "id": f"c{number}-0c9d2f4a-7b1e-4c55-9a3e-1d2f3a4b5c60", "client_id": f"c{number}", "instance_id": None,
            "rack": None, "topics": ["t"], "owned": {}, "generation": None, "user_data": None,
            "strategies": ["cooperative-sticky"],
        }
        for number in range(1, 5)
    ]  # fmt: skip
    held = {str(each["id"]): {"t": list(range(6 * place, 6 * place + 6))} for place, each in enumerate(members)}
    return {
        "format": 1,
        "kind": "consumer",
        "id": "consumers",
        "topics": [{"name": "t", "partitions": 24, "racks": None}],
        "members": members,
        "observed": {"assignor": "cooperative-sticky", "members": held},
        "source": {"group": "consumers", "generation": 7},
    }


if __name__ == "__main__":
    sys.exit(main())
