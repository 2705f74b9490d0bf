"""Places of standbys, beside a plain search through all processes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assignment_api import ProcessID, TaskId
from assignment_api.optimum import Numbered, Problem
from assignor_optimal.standbys import standbys_of

PROCESSES = [ProcessID.parse(f"00000000-0000-0000-0000-00000000000{number}") for number in range(8)]


def group(
    threads: Sequence[int],
    copies: Sequence[Sequence[int]],
    ready: Sequence[Sequence[int]],
    tags: Sequence[Sequence[str | None]] = (),
    standbys: int = 1,
) -> Numbered:
    """Tasks without previous owners; all have state."""
    tasks = [TaskId(0, number) for number in range(len(copies))]
    problem = Problem(threads, [()] * len(tasks), ready)
    held = [tuple(each) for each in copies]
    return Numbered(
        problem, tasks, PROCESSES[: len(threads)], [True] * len(tasks), held, [list(each) for each in tags], standbys
    )


def searched(numbered: Numbered, owners: Sequence[int], warmups: dict[int, int]) -> list[tuple[int, ...]]:
    """The same rule, with all processes ranked for each copy."""
    threads, tags = numbered.problem.threads, numbered.tags
    share = [-(-len(owners) * numbered.standbys * each // sum(threads)) for each in threads]
    load = [owners.count(process) for process in range(len(threads))]
    found: list[tuple[int, ...]] = [()] * len(owners)
    for is_new in (False, True):
        for task, owner in enumerate(owners):
            while len(found[task]) < numbered.standbys:
                taken = (owner, *found[task])
                free = [each for each in range(len(threads)) if each not in (*taken, warmups.get(task))]
                clashes = {
                    each: sum(values[each] in {values[other] for other in taken} for values in tags) for each in free
                }
                usable = [each for each in free if is_new or each in numbered.copies[task]]
                if not usable:
                    break
                full = {each: sum(each in others for others in found) >= share[each] for each in usable}
                best = min(
                    usable,
                    key=lambda each: (
                        clashes[each],
                        full[each],
                        each not in numbered.copies[task],
                        each not in numbered.problem.ready[task],
                        (load[each] + sum(each in others for others in found)) / threads[each],
                        each,
                    ),
                )
                if not is_new and (full[best] or clashes[best] > min(clashes.values())):
                    break
                found[task] += (best,)
    return found


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_heaps_of_zones_find_the_same_places_as_a_plain_search(data: st.DataObject) -> None:
    count, tasks = data.draw(st.integers(1, 8)), data.draw(st.integers(0, 12))
    some = st.sets(st.integers(0, count - 1), max_size=3).map(sorted)
    numbered = group(
        data.draw(st.lists(st.integers(1, 3), min_size=count, max_size=count)),
        data.draw(st.lists(some, min_size=tasks, max_size=tasks)),
        data.draw(st.lists(some, min_size=tasks, max_size=tasks)),
        data.draw(
            st.lists(st.lists(st.sampled_from([None, "a", "b"]), min_size=count, max_size=count), max_size=2),
        ),
        data.draw(st.integers(0, min(3, count - 1))),
    )
    owners = data.draw(st.lists(st.integers(0, count - 1), min_size=tasks, max_size=tasks))
    moves = data.draw(st.dictionaries(st.integers(0, max(tasks - 1, 0)), st.integers(0, count - 1), max_size=2))
    warmups = {task: process for task, process in moves.items() if task < tasks and owners[task] != process}
    assert standbys_of(numbered, owners, warmups) == searched(numbered, owners, warmups)


@pytest.mark.parametrize("standbys", [1, 2])
def test_standbys_are_even_over_many_processes(standbys: int) -> None:
    tasks, count = 96, 8
    numbered = group([1] * count, [()] * tasks, [()] * tasks, standbys=standbys)
    placed = standbys_of(numbered, [task % count for task in range(tasks)], {})
    loads = [sum(process in copies for copies in placed) for process in range(count)]
    assert max(loads) - min(loads) <= standbys
    assert sum(loads) == tasks * standbys


def test_a_process_of_another_zone_comes_before_a_less_loaded_one() -> None:
    numbered = group([1, 1, 1], [(), ()], [(), ()], tags=[["a", "a", "b"]])
    assert standbys_of(numbered, [0, 0], {}) == [(2,), (2,)]
