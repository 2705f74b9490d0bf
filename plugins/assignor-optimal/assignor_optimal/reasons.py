"""The goal that decided the place of each task, for ``assignor explain``."""

from __future__ import annotations

from assignment_api.optimum import Goal, Numbered, Optimum, Problem
from assignment_api.tracing import RuleStep
from assignor_optimal.transition import Transition

__all__ = ["RULES", "steps_of"]

RULES = {
    "goal-balance": "The largest load of a process for each of its threads is as small as possible.",
    "goal-fill": "The smallest load of a process for each of its threads is as large as possible.",
    "goal-ready": "A task goes to a process with a copy of its state, if loads permit.",
    "goal-moves": "A task stays on its process, if goals before this one permit.",
    "goal-racks": "A task reads few partitions from other racks, if goals before this one permit.",
    "goal-spread": "The copies of a task can have different tags, if goals before this one permit.",
    "tie": "Several places are equally good: the present one, or else a fixed one.",
    "warm-up": "A task runs on a caught-up process until its copy at the wanted place is warm (KIP-441).",
    "standby": "A standby goes to another process: other tags first, then an existing copy, then the smallest load.",
}


def steps_of(numbered: Numbered, step: Transition, best: Optimum) -> list[RuleStep]:
    """Steps of all tasks, in their order."""
    problem = numbered.problem
    names = [str(process) for process in numbered.processes]
    goals = [each.goal for each in best.goals]
    loads = {goal.weight: _loads(problem, goal, best.owners) for goal in goals if goal.kind in {"balance", "fill"}}
    steps: list[RuleStep] = []
    for number, (task, place) in enumerate(zip(numbered.tasks, best.owners, strict=True)):
        before = problem.before[number]
        other = before[0] if before and place not in before else _lightest(problem, loads, place)
        goal = None if other is None else _worse(problem, goals, loads, number, place, other)
        rule = "tie" if goal is None else f"goal-{goal.kind}"
        because = "no goal prefers another place" if goal is None else f"{goal} would be worse on {{1}}"
        moves = before and place not in before
        text = f"{'moves to' if moves else 'stays on' if before else 'goes to'} {{0}}: {because}"
        clients = (names[place], names[other]) if other is not None and goal is not None else (names[place],)
        steps.append(RuleStep(rule, str(task), text, clients))
        if step.owners[number] != place:
            warm = "a warm-up starts there" if number in step.warmups else "max.warmup.replicas are in use"
            text = f"runs on {{0}} until its copy on {{1}} is caught up: {warm}"
            steps.append(RuleStep("warm-up", str(task), text, (names[step.owners[number]], names[place])))
        steps += [
            RuleStep("standby", str(task), "a standby of it is on {0}", (names[process],))
            for process in step.standbys[number]
        ]
    return steps


def _loads(problem: Problem, goal: Goal, owners: list[int]) -> list[float]:
    load: list[float] = [0] * len(problem.threads)
    weights = problem.weight(goal)
    for task, owner in enumerate(owners):
        load[owner] += 1 if weights is None else weights[task]
    return load


def _lightest(problem: Problem, loads: dict[str, list[float]], place: int) -> int | None:
    """The least loaded other process, or ``None``."""
    load = next(iter(loads.values()), [0.0] * len(problem.threads))
    others = [process for process in range(len(problem.threads)) if process != place]
    return min(others, key=lambda process: (load[process] / problem.threads[process], process), default=None)


def _worse(
    problem: Problem, goals: list[Goal], loads: dict[str, list[float]], task: int, place: int, other: int
) -> Goal | None:
    """The first goal that suffers if the task alone is on ``other``."""
    threads = problem.threads
    for goal in goals:
        in_places = goal.kind in ("racks", "spread")
        weights = None if in_places else problem.weight(goal)
        weight = 1 if weights is None else weights[task]
        if in_places:
            row, places = problem.far[goal.weight][task], problem.places(goal)
            assert places is not None
            worse = row[places[other]] > row[places[place]]
        elif goal.kind == "balance":
            load = loads[goal.weight]
            worst = max(each / count for each, count in zip(load, threads, strict=True))
            worse = (load[other] + weight) / threads[other] > worst
        elif goal.kind == "fill":
            load = loads[goal.weight]
            least = min(each / count for each, count in zip(load, threads, strict=True))
            worse = (load[place] - weight) / threads[place] < least
        else:
            good = problem.ready[task] if goal.kind == "ready" else problem.before[task]
            worse = bool(good) and place in good and other not in good and weight > 0
        if worse:
            return goal
    return None
