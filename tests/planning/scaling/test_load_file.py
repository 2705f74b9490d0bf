from __future__ import annotations

from pathlib import Path

import pytest

from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.planning.scaling.load_file import LoadTrace, curve_of, read_load

READS = {"0_0": [("orders", 0)], "0_1": [("orders", 1)], "1_0": [("joined", 0), ("orders", 0)]}
TASKS = tuple(READS)


def trace(tmp_path: Path, *lines: str) -> LoadTrace:
    file = tmp_path / "load.csv"
    file.write_text("\n".join(lines) + "\n")
    return read_load(file)


def test_a_trace_of_the_group_is_divided_by_the_weights(tmp_path: Path) -> None:
    made = trace(tmp_path, "time,records_per_second", "2026-11-27T00:00:00Z,100", "2026-11-27T00:01:00Z,200")
    curve, notes = curve_of(made, TASKS, READS, {"0_0": 1.0, "0_1": 3.0, "1_0": 0.0}, "task")
    assert curve.times_s == (0.0, 60.0)
    assert curve.until_s == 120.0
    assert curve.rates == ((25.0, 75.0, 0.0), (50.0, 150.0, 0.0))
    assert not notes
    assert curve.means == (37.5, 112.5, 0.0)


def test_without_weights_it_is_divided_equally_and_the_answer_says_so(tmp_path: Path) -> None:
    made = trace(tmp_path, "time,records_per_second", "0,300", "60,600")
    curve, notes = curve_of(made, TASKS, READS, None, "task")
    assert curve.rates == ((100.0,) * 3, (200.0,) * 3)
    assert "divided equally among the 3 tasks" in notes[0]


def test_a_topic_is_divided_among_its_partitions_and_each_reader_reads_all(tmp_path: Path) -> None:
    made = trace(tmp_path, "time,topic,records_per_second", "0,orders,100", "60,orders,100")
    curve, notes = curve_of(made, TASKS, READS, None, "task")
    assert curve.rates[0] == (50.0, 50.0, 50.0)
    assert not notes


def test_a_task_without_a_row_counts_as_without_input_and_is_named(tmp_path: Path) -> None:
    made = trace(tmp_path, "time,topic,partition,records_per_second", "0,joined,0,7", "60,joined,0,7")
    curve, notes = curve_of(made, TASKS, READS, None, "task")
    assert curve.rates[0] == (0.0, 0.0, 7.0)
    assert notes == ["the trace has no input of 0_0 and 0_1: they count as without input"]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["time,records_per_second"], "has no row"),
        ([], "has no row"),
        (["time,rate", "0,1"], "first line is none of a load trace"),
        (["time,records_per_second", "0,1"], "at least two"),
        (["time,records_per_second", "0,1", "60,1", "30,1"], "before the row above"),
        (["time,records_per_second", "0,1", "60,1", "120,1", "600,1"], "a gap of 480 s"),
        (["time,records_per_second", "0,1", "0,2", "60,1"], "two rates"),
        (["time,records_per_second", "0,-1", "60,1"], "no rate"),
        (["time,records_per_second", "0,nan", "60,1"], "no rate"),
        (["time,records_per_second", "0,1e99", "60,1"], "no rate"),
        (["time,records_per_second", "noon,1", "60,1"], "no time"),
        (["time,records_per_second", "nan,1", "60,1"], "no time"),
        (["time,records_per_second", "0,1,2", "60,1"], "has 3 values"),
        (["time,topic,partition,records_per_second", "0,orders,x,1"], "no partition"),
        (["time,topic,records_per_second", "0,a,1", "0,b,1", "60,a,1"], "b has no rate at this time"),
    ],
)
def test_a_faulty_trace_is_refused_with_its_place(tmp_path: Path, lines: list[str], reason: str) -> None:
    with pytest.raises(DocumentFormatError, match=reason) as caught:
        trace(tmp_path, *lines)
    assert "load.csv" in str(caught.value)


@pytest.mark.parametrize(
    ("row", "reason"),
    [("pizza,0", "does not read pizza-0: it reads joined and orders"), ("orders,9", "it reads orders 0 to 1")],
)
def test_partitions_that_the_group_does_not_read_are_refused(tmp_path: Path, row: str, reason: str) -> None:
    made = trace(tmp_path, "time,topic,partition,records_per_second", f"0,{row},1", f"60,{row},1")
    with pytest.raises(DocumentFormatError, match=reason):
        curve_of(made, TASKS, READS, None, "task")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b'time,records_per_second\n"0', b"\x00" * 200], ids=repr)
def test_any_bytes_end_in_a_typed_error(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "load.csv"
    file.write_bytes(content)
    with pytest.raises(DocumentFormatError):
        read_load(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DocumentFormatError, match="cannot be read"):
        read_load(tmp_path / "none.csv")
