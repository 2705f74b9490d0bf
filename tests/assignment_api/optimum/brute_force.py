"""Small problems by seed, the optimum by trying everything, and answers of the built-ins to larger groups.

``python -m tests.assignment_api.optimum.brute_force --count 10000`` is the long run of ``make fuzz``.
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections.abc import Iterator, Sequence

from assignment_api import ApplicationMetadata, TaskAssignment
from assignment_api.optimum import DEFAULT_GOALS, Goal, Problem, gaps, goals_of, optimum, owners_of, problem_of
from assignment_api.optimum.problem import rounded_to_steps, value
from assignment_api.plugins import discover
from assignor_lab.groups.entries import kind_named
from assignor_lab.groups.runner.comparison import ComparisonRunner
from assignor_lab.groups.work import WorkItem

NEAR = 1e-5
#: Kind of group to its families and assignors.
LARGER = {
    "streams": (("streams_4x40", "streams_histories"), ("high_availability", "sticky", "legacy_sticky", "rack_aware")),
    "streams-group": (("group_histories", "group_mixed_processes"), ("group_sticky", "group_sticky_4_4")),
    "connect": (("connect_histories", "connect_scale_out"), ("connect_eager", "connect_incremental")),
}


def drawn(seed: int) -> tuple[Problem, tuple[Goal, ...]]:
    draw = random.Random(seed)
    processes, tasks = draw.randint(1, 3), draw.randint(0, 5)
    zone = [draw.randrange(3) for _ in range(processes)] if draw.random() < 0.4 else None
    rack = [draw.randrange(2) for _ in range(processes)] if draw.random() < 0.6 else None

    def some(sizes: list[int]) -> tuple[int, ...]:
        return tuple(sorted(draw.sample(range(processes), min(processes, draw.choice(sizes)))))

    loads = [
        draw.choice([0, 1, 1, 2, 5]) if draw.random() < 0.5 else round(10 * draw.random(), 2) for _ in range(tasks)
    ]
    tags = [tuple(float(draw.randint(0, 2)) for _ in range(max(zone) + 1)) for _ in range(tasks)] if zone else []
    far = [tuple(float(draw.randint(0, 2)) for _ in range(max(rack) + 1)) for _ in range(tasks)] if rack else []
    problem = Problem(
        threads=[draw.randint(1, 3) for _ in range(processes)],
        before=[some([0, 1, 1, 1, 2]) for _ in range(tasks)],
        ready=[some([0, 1, 1, 2]) for _ in range(tasks)],
        weights={
            "stateful": [draw.randint(0, 1) for _ in range(tasks)],
            "load": loads,
            "bytes": [draw.choice([1, 10, 100]) for _ in range(tasks)],
        },
        rack=rack,
        far={**({"partitions": far} if rack else {}), **({"tags": tags} if zone else {})},
        zone=zone,
    )
    if draw.random() < 0.4:
        return problem, problem.known(goals_of(DEFAULT_GOALS["streams"]))
    names = ["ready", "balance", "fill", "moves", "moves(bytes)", "ready(stateful)"]
    names += ["balance(stateful)", "balance(load)", "fill(load)"]
    if draw.random() < 0.3:
        slack = draw.choice([" within 5 %", " within 20%"])
        names = [f"{name}{slack}" if name.startswith(("balance", "moves")) else name for name in names]
    return problem, goals_of(
        ",".join(draw.sample([*names, *["racks"] * bool(rack), *["spread"] * bool(zone)], draw.randint(1, 4)))
    )


def difference(seed: int) -> str | None:
    """The difference of optimum or gaps from the best of all placements; ``None``: there is none."""
    problem, goals = drawn(seed)
    coarse, steps = rounded_to_steps(problem, goals)
    draw = random.Random(-seed - 1)

    def values_of(owners: Sequence[int]) -> tuple[float, ...]:
        return tuple(round(float(value(coarse, goal, owners)) * steps.get(goal.weight, 1.0), 9) for goal in goals)

    all_values = [values_of(owners) for owners in itertools.product(range(len(problem.threads)), repeat=problem.tasks)]
    found = optimum(problem, goals)
    reached = values_of(found.owners)
    left = all_values
    for number, goal in enumerate(goals):
        best = min(values[number] for values in left)
        most = best * (1 + float(goal.slack)) + NEAR
        if not best - NEAR <= reached[number] <= most:
            return f"seed {seed}: {found.goals} has no optimal {goal}: {best} is possible"
        bound = found.goals[number].bound
        if bound > best + NEAR:
            return f"seed {seed}: {found.goals} has a bound of {goal} above the best value {best}"
        # A slack is a share of the bound; without a slack only the best ones remain.
        within = max(bound * (1 + float(goal.slack)), reached[number]) if goal.slack else best
        left = [values for values in left if values[number] <= within + NEAR / 100]
    if not found.is_optimal:
        return f"seed {seed}: no proof of {found.goals}"
    answer = [draw.randrange(len(problem.threads)) for _ in range(problem.tasks)]
    # A slack is a share of the bound, which is at most the best value: the limits are between these two.
    strict = loose = all_values
    for number, gap in enumerate(gaps(problem, goals, answer)):
        slack = 1 + float(goals[number].slack)
        least = min(values[number] for values in loose)
        best = min(values[number] for values in strict)
        if min(best * slack, gap.value) < gap.bound - NEAR or (gap.is_exact and least > gap.bound + NEAR):
            return f"seed {seed}: the best value within the goals before is {least} to {best}, not {gap}"
        bound = min(found.goals[number].bound, best)
        strict = [values for values in strict if values[number] <= max(gap.value, bound * slack) + NEAR / 100]
        loose = [values for values in loose if values[number] <= max(gap.value, least * slack) + NEAR / 100]
    return None


def better_answers(seed: int) -> tuple[list[str], int]:
    """Answers to a generated history of each kind of group that are better than a bound, and the number of answers.

    There must be none: no answer is better in a goal than all that are as good in the goals before.
    """
    registry = discover()
    found: list[str] = []
    answers = 0
    for name, (families, assignors) in LARGER.items():
        kind = kind_named(name)
        family = registry.family(families[seed % len(families)])
        contenders = [kind.contender(registry, kind.find(registry, each)) for each in assignors]
        runner = ComparisonRunner(kind, contenders, {family.name: family.plugin})
        for answer in runner.answers(WorkItem(seed, 0, family=family.name, seed=seed)):
            given = answer.outcome.answer
            if answer.state is None or given is None:
                continue
            measured = kind.gaps(answer.state, given)
            if measured is None:
                continue
            answers += 1
            place = f"seed {seed}, {family.name}, round {answer.round}, {answer.assignor}"
            found += [f"{place}: {gap}" for gap in measured.values() if gap.value < gap.bound - NEAR]
            if isinstance(answer.state, ApplicationMetadata):
                found += [f"{place}: {text}" for text in _better_than_optimum(answer.state, given)]
    return found, answers


def _better_than_optimum(state: ApplicationMetadata, given: TaskAssignment) -> Iterator[str]:
    numbered = problem_of(state)
    owners = owners_of(numbered, given)
    assert owners is not None
    best = optimum(numbered.problem, numbered.problem.known(goals_of(DEFAULT_GOALS["streams"])))
    for goal in best.goals:
        reached = float(value(numbered.problem, goal.goal, owners))
        if reached < goal.bound - NEAR:
            yield f"{goal.goal} is {reached}, optimum {goal}"
        if abs(reached - goal.value) > NEAR:
            return


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.count)
    found = [text for text in map(difference, seeds) if text is not None]
    answers, seed = 0, options.seed
    while answers < options.count:
        better, more = better_answers(seed)
        found, answers, seed = found + better, answers + more, seed + 1
    print(f"{options.count} small problems, {answers} answers to larger groups: {len(found)} differences")
    for text in found[:20]:
        print(text)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
