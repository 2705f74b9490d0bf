"""Changelogs are assigned by the members' offset sums; otherwise by likelihood."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assignor_lab.capture.topology.description import SubTopologyKey
from assignor_lab.capture.topology.sharing import Candidate, Share, shared_out

ENDS = {"a": (24, 12, 24), "b": (24, 12, 24), "both": (30, 12, 24), "counts": (15, 30, 65), "repartition": (15, 30, 65)}


def ends(partitions: Iterable[tuple[str, int]]) -> Mapping[tuple[str, int], int]:
    return {(topic, number): ENDS[topic][number] for topic, number in partitions}


def candidate(
    *sources: str, read: tuple[str, ...] = (), sums: Mapping[int, tuple[int, ...]] | None = None
) -> Candidate:
    return Candidate(3, sources, sources or read, (), sums or {})


def shared(sums_of_join: Mapping[int, tuple[int, ...]], sums_of_counts: Mapping[int, tuple[int, ...]]) -> list[Share]:
    candidates: dict[SubTopologyKey, Candidate] = {
        (None, 0): candidate("a", "b", sums=sums_of_join),
        (None, 1): candidate(read=("repartition",), sums=sums_of_counts),
    }
    return list(shared_out(candidates, ["both", "counts"], ends).values())


def test_two_tables_of_one_subtopology_may_both_be_read_back() -> None:
    join, counts = shared({0: (78,), 1: (36, 0)}, {2: (65,)})

    assert (sorted(join.topics), join.is_certain) == (["a", "b", "both"], True)
    assert (counts.topics, counts.is_certain) == (("counts",), True)


def test_without_sums_a_changelog_that_ends_where_its_input_ends_is_likely_and_not_certain() -> None:
    join, counts = shared({}, {})

    assert (join.topics, counts.topics) == (("both",), ("counts",))
    assert (join.is_certain, counts.is_certain) == (False, False)
    assert ("both", "a", "b") in join.possible


def test_source_topics_that_end_at_the_same_offsets_are_not_told_apart() -> None:
    (table,) = shared_out({(None, 0): candidate("a", "b", sums={0: (24,), 1: (12,)})}, [], ends).values()

    assert not table.is_certain


def test_a_changelog_may_be_left_over() -> None:
    found = shared_out({(None, 0): candidate("a", sums={0: (24,), 1: (12,)})}, ["counts"], ends)

    assert found[None, 0].topics == ("a",)
    assert found[None, 0].is_certain


def test_of_many_changelogs_those_that_end_where_inputs_end_are_likely() -> None:
    many = {f"s{number}": (number, 1, 2) for number in range(20)}
    logs = {f"c{number}": (number, 1, 2) for number in range(20)}
    candidates: dict[SubTopologyKey, Candidate] = {
        (None, number): Candidate(3, (name,), (name,), (), {0: (number,)}) for number, name in enumerate(many)
    }

    def of(partitions: Iterable[tuple[str, int]]) -> Mapping[tuple[str, int], int]:
        return {(topic, number): {**many, **logs}[topic][number] for topic, number in partitions}

    found = shared_out(candidates, list(logs), of)
    assert [share.topics for share in found.values()] == [(name,) for name in logs]
    assert not any(share.is_certain for share in found.values())


def test_too_many_changelogs_are_not_shared_out() -> None:
    names = [f"c{number}" for number in range(20)]
    alike = {(name, number): 7 for name in (*names, "a", "b") for number in range(3)}
    candidates: dict[SubTopologyKey, Candidate] = {(None, 0): candidate("a"), (None, 1): candidate("b")}
    assert shared_out(candidates, names, lambda asked: {each: alike[each] for each in asked}) == {}
