"""The public sticky assignor keeps moving tasks that no copy reports, as Kafka's does.

A task held back for a follow-up has no owner at that time. So sticky places it again, other tasks move, and the next
follow-up is requested. ``python -m parity.episodes`` has run all decisions of this history on Kafka 4.3.1's classes.
It has also run those of a history with 20 instances, 500 tasks and 936 rebalances in an hour. The assignor and the
distribution over threads give the same answers.
"""

from __future__ import annotations

from assignment_api.plugins import config_sources, discover
from assignor_lab.groups.streams_episode.playing import play
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.simulation.streams.formats.episodes import read_episode
from tests.simulation.streams.episodes import document, happens, started, task

#: The order of consumers, and so the history, depends on the drawn member ids.
SEED = 6


def rebalances(assignor: str, *, stateless: bool) -> list[str]:
    """Each placement after an instance came back and another one joined."""
    tasks = [
        task(f"{number}_{partition}", stateful=not (stateless and number % 2))
        for number in range(10)
        for partition in range(10)
    ]
    made = document(
        [
            *(started(f"i{number}", number * 10, threads=2) for number in range(10)),
            happens("crash", "i3", 600_000), started("i3", 900_000), started("new", 1_500_000, threads=2),
        ],
        tasks, until_ms=3_600_000,
    )  # fmt: skip
    made["id"] = "big"  # the process ids depend on it
    made["timings"] = {"session_timeout_ms": 10_000}
    made["changelogs"] = {
        name: {"records": 100_000, "bytes_per_record": 100, "records_per_s": 1} for name in made["changelogs"]
    }
    episode = read_episode(scenario_from_document(made, Place("sticky.jsonl", 1)))
    _, played = play(episode, discover(), config_sources(environ={}), assignor, SEED, keep_log=False)
    since = played.first_ms + 900_000
    return [str(each.assigned) for each in played.generations if each.prepared_ms >= since]


def test_one_join_leads_to_many_rebalances_and_hardly_any_placement_twice() -> None:
    placements = rebalances("sticky@4.3", stateless=True)
    assert len(placements) > 20
    assert len(set(placements)) > len(placements) * 0.8


def test_where_every_task_has_state_its_directories_tell_whose_it_was() -> None:
    assert len(rebalances("sticky@4.3", stateless=False)) <= 8
