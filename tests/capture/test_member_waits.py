"""Waits of members between a decision and the next one, from the lines of one process."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from assignor_lab.capture.histories.episodes import episodes_of_past
from assignor_lab.capture.histories.past import PastSurroundings
from assignor_lab.capture.logs.import_log import read_decisions
from assignor_lab.capture.logs.surroundings import LoggedSurroundings
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.seen_waits import NO_WAITS

CAPTURES = Path("tests/data/captures")
START = "INFO stream-client [a] State transition from CREATED to REBALANCING"
CLOSE = "INFO stream-client [a] State transition from RUNNING to PENDING_SHUTDOWN"


def joined(thread: int) -> str:
    return f"{consumer(thread)} Successfully joined group with generation Generation{{generationId=2, memberId='x'}}"


def decided(thread: int) -> str:
    return f"{consumer(thread)} Finished assignment for group at generation 2: {{}}"


def revokes(thread: int) -> str:
    return f"{consumer(thread)} Revoke previously assigned partitions [in-1]"


def reads(thread: int, partitions: str = "in-0") -> str:
    return f"{consumer(thread)} Notifying assignor about the new Assignment(partitions=[{partitions}], userDataSize=40)"


def consumer(thread: int, client: str = "a") -> str:
    return f"INFO [Consumer clientId={client}-StreamThread-{thread}-consumer, groupId=g]"


def waits(tmp_path: Path, *lines: tuple[int, str]) -> list[tuple[str, int]]:
    log = tmp_path / "a.log"
    log.write_text("".join(f"[2026-11-28 10:00:{ms // 1000:02},{ms % 1000:03}] {text}\n" for ms, text in lines))
    around = LoggedSurroundings()
    list(read_decisions([log], lambda _: None, surroundings=around))
    return [(each.type, each.time.epoch_ms() - each.begun.epoch_ms()) for each in around.waits.found]


def test_a_busy_thread_reads_and_revokes_late(tmp_path: Path) -> None:
    lines = [(0, reads(1)), (0, reads(2)), (900, joined(1)), (1_000, decided(1)), (1_020, reads(1))]
    lines += [(2_200, revokes(2)), (4_800, reads(2))]
    assert waits(tmp_path, *lines) == [("assign", 100), ("read", 20), ("read", 1_200), ("revoke", 2_600)]


def test_a_thread_that_does_not_read_a_decision_misses_it(tmp_path: Path) -> None:
    lines = [(0, reads(1)), (0, reads(2)), (1_000, decided(1)), (1_010, reads(1)), (3_000, decided(1))]
    assert waits(tmp_path, *lines) == [("read", 10), ("miss", 2_000)]


def test_an_ended_thread_misses_one_decision_and_no_other(tmp_path: Path) -> None:
    lines = [(0, reads(1)), (0, reads(2))]
    lines += [each for at in range(1_000, 9_000, 1_000) for each in ((at, decided(1)), (at, reads(1)))]
    assert Counter(kind for kind, _ in waits(tmp_path, *lines)) == {"read": 8, "miss": 1}


def test_threads_without_tasks_and_first_decisions_show_no_wait(tmp_path: Path) -> None:
    lines = [(0, joined(1)), (900, decided(1)), (950, reads(1)), (960, reads(2, ""))]
    assert not waits(tmp_path, *lines)
    assert waits(tmp_path, *lines, (2_000, decided(1)), (2_500, reads(2))) == []


def test_a_restart_begins_anew(tmp_path: Path) -> None:
    lines = [(0, reads(1)), (500, CLOSE), (600, revokes(1)), (9_000, START), (12_000, decided(1)), (12_500, reads(1))]
    assert not waits(tmp_path, *lines)


def test_the_clock_of_another_process_counts_for_nothing(tmp_path: Path) -> None:
    other = reads(1).replace("clientId=a-", "clientId=b-")
    assert not waits(tmp_path, (0, other), (1_000, decided(1)), (1_700, other))


def test_a_past_has_the_waits_of_its_own_members() -> None:
    assert past("plain/p1.log.gz", "plain/p2.log.gz").waits.miss == (2_081,)
    assert max(past("versions/3.0.2.log.gz").waits.assign) == 3_350
    assert past("events/static/records.jsonl.gz").waits == NO_WAITS


def past(*sources: str) -> StreamsEpisode:
    quiet = PastSurroundings(on_problem=lambda _: None)
    (found,) = episodes_of_past([str(CAPTURES / each) for each in sources], around=quiet)
    return found
